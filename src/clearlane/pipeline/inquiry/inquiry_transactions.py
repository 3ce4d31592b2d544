"""The table of transactions that ask payers: eligibility (270), and the status of claims (276)."""

from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.inquiry_transaction import AnyTransaction
from clearlane.pipeline.inquiry.status_transaction import CLAIM_STATUS

TRANSACTIONS: dict[str, AnyTransaction] = {
    one.inquiry_set: one for one in (ELIGIBILITY, CLAIM_STATUS)
}
"""By the transaction set of the inquiry, which is stored with it."""
