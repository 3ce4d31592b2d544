"""The table of transactions that ask payers. A second one is a second row here."""

from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.inquiry_transaction import AnyTransaction

TRANSACTIONS: dict[str, AnyTransaction] = {one.inquiry_set: one for one in (ELIGIBILITY,)}
"""By the transaction set of the inquiry, which is stored with it."""
