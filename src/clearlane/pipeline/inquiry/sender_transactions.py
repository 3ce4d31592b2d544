"""The table of transactions by which senders ask payers with files of their own: 270 and 276."""

from collections.abc import Sequence

from clearlane.accounts.model import Site
from clearlane.claims.inquiry import answer_277, read_276
from clearlane.eligibility import read_270, write_271
from clearlane.eligibility.model import Inquiry
from clearlane.eligibility.read_270 import SentPatient
from clearlane.payers.enrolled_transactions import EnrolledTransaction
from clearlane.payers.model import Payer
from clearlane.pipeline.inquiry.asked_claims import load_questions, note_asked_claims
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.inquiry.inquiry_plan import (
    AnySender,
    BuildInquiry,
    ClaimPlan,
    PatientPlan,
    SenderTransaction,
    StoredPlan,
)
from clearlane.pipeline.inquiry.status_transaction import CLAIM_STATUS
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx


async def _prepare_patients(
    context: WorkContext, site: Site, sent: Sequence[SentPatient]
) -> BuildInquiry[SentPatient, Inquiry]:
    return read_270.build_inquiry


async def _note_nothing(tx: Tx, site: Site, inquiries: Sequence[Inquiry], at: int) -> None:
    pass


PATIENTS = SenderTransaction(
    transaction=ELIGIBILITY,
    plan=PatientPlan,
    above=(read_270.SOURCE, read_270.RECEIVER),
    reader=read_270.PatientReader,
    read_all=read_270.read_patients,
    offers=lambda payer: payer.offers_eligibility,
    is_dental=lambda patient: patient.asks_only_dental,
    enrollment=EnrolledTransaction.ELIGIBILITY,
    providers=lambda patient: patient.providers,
    prepare=_prepare_patients,
    note=_note_nothing,
    answered=lambda patient, content, _: write_271.answered(patient, content),
    refused=lambda patient, refusal, _: write_271.refused(patient, refusal),
    code=lambda refusal: write_271.REFUSALS[refusal].reason,
    write_answer=write_271.write_answer,
)


def _takes_questions(payer: Payer) -> bool:
    """Return True: whether a payer answers a 276, its routes say."""
    return True


CLAIMS = SenderTransaction(
    transaction=CLAIM_STATUS,
    plan=ClaimPlan,
    above=(read_276.SOURCE, read_276.RECEIVER, read_276.PROVIDER),
    reader=read_276.ClaimReader,
    read_all=read_276.read_claims,
    offers=_takes_questions,
    is_dental=lambda claim: False,
    enrollment=EnrolledTransaction.CLAIM_STATUS,
    providers=lambda claim: claim.providers,
    prepare=load_questions,
    note=note_asked_claims,
    answered=answer_277.answered,
    refused=answer_277.refused,
    code=answer_277.REFUSALS.__getitem__,
    write_answer=answer_277.write_answer,
)

SENDER_TRANSACTIONS: dict[str, AnySender] = {
    one.transaction.inquiry_set: one for one in (PATIENTS, CLAIMS)
}
"""By the transaction set of the inquiries."""


def sender_of(plan: StoredPlan) -> AnySender:
    """Return the transaction of a stored plan."""
    return SENDER_TRANSACTIONS[str(type(plan).__struct_config__.tag)]
