"""Eligibility as a transaction of the engine: 270 and 271, and the event when an inquiry has ended.

Knows neither queue nor request.
"""

from datetime import datetime

from clearlane.eligibility import benefit_answer, model, read_271, write_270
from clearlane.eligibility.benefit_answer import BenefitAnswer
from clearlane.eligibility.inbound import PatientAnswer
from clearlane.eligibility.model import Inquiry
from clearlane.events.event import EventActor, NewEvent
from clearlane.inquiry.inquiry_result import CONNECTION
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.kernel.compared_names import search_name
from clearlane.kernel.ids import VendorId, random_text
from clearlane.pipeline.inquiry.inquiry_transaction import (
    AnswerReader,
    InquiryTransaction,
    NewResult,
    PayloadFormat,
    PendingInquiry,
)
from clearlane.store.database.database import Tx
from clearlane.store.vault.vault import Vault


def patient_key(vault: Vault, vendor_id: VendorId, inquiry: Inquiry) -> int:
    """Return the keyed hash that finds the requests about one patient.

    By last name and birth date; by member id if an inquiry lacks either.
    """
    person = inquiry.patient
    name = search_name(person.last)
    if name and person.birth:
        return vault.search_key(vendor_id, "asked patient", name, person.birth.isoformat())
    return vault.search_key(vendor_id, "asked member", search_name(inquiry.member_id))


def _build(answer: PatientAnswer, inquiry: Inquiry, trace: str, now: datetime) -> BenefitAnswer:
    id = random_text(limits.DOCUMENT_ID_CHARACTERS)
    return read_271.build_answer(answer, inquiry, document_id=id, created_at=now, trace=trace)


async def _record_event(
    tx: Tx,
    vault: Vault,
    pending: PendingInquiry,
    new: NewResult,
) -> None:
    """Add the event of an inquiry that ended, by an answer or without one."""
    error, now = new.result.error, new.now
    event = NewEvent(
        "eligibility.failed" if error else "eligibility.completed",
        to_micros(now),
        pending.scope.vendor,
        pending.scope.site,
        data={
            "eligibility_request_id": pending.request_number,
            "patient_number": pending.number,
            "late": now > pending.deadline,
        },
        actor=EventActor.SYSTEM if error and error.kind == CONNECTION else EventActor.PAYER,
    )
    tx.add_events([event])


ELIGIBILITY = InquiryTransaction(
    inquiry_set="270",
    answer_set=benefit_answer.ANSWER,
    group="HS",
    subject="eligibility",
    payload=PayloadFormat(
        payer=lambda inquiry: (inquiry.payer_type, inquiry.payer_names[0]),
        under_payer_id=model.under_payer_id,
        patient_key=patient_key,
        encode=model.encode,
        decode=model.restore,
        write=write_270.write_inquiries,
    ),
    reader=AnswerReader(
        read=read_271.read,
        trace_number=read_271.trace_number,
        match=read_271.match_answer,
        may_be_resent=read_271.may_be_resent,
        build=_build,
        decode=benefit_answer.decode_result,
    ),
    record=_record_event,
)
