"""Match answers to inquiries: the answer must be from the payer and about the patient of the inquiry.

Knows answers and inquiries; knows no file.
"""

from clearlane.eligibility.inbound import PatientAnswer
from clearlane.eligibility.model import ORIGINATOR, Inquiry, InquiryPerson
from clearlane.inquiry.response_file import AnswerMatch
from clearlane.x12.views import shared_types
from clearlane.x12.writer.encode import clean


def trace_number(answer: PatientAnswer) -> str:
    """Return our trace number: TRN02 with our originator id, else BHT03; empty if there is neither."""
    for trace in answer.traces:
        if trace.originator == ORIGINATOR and trace.number:
            return trace.number
    return answer.reference


def match_answer(answer: PatientAnswer, inquiry: Inquiry, trace: str) -> AnswerMatch:
    """Return whether an answer belongs to the inquiry that was sent with this trace number."""
    if not _from_payer(answer, inquiry):
        return AnswerMatch.WRONG_PAYER
    return (
        AnswerMatch.MATCHED
        if _is_about_patient(answer, inquiry, trace)
        else AnswerMatch.WRONG_PATIENT
    )


TRANSIENT_REASONS = frozenset({"42", "80"})
"""AAA03 of temporary failures: unable to respond at current time, no response received."""
RESEND_ACTIONS = frozenset({"", "P", "R"})
"""AAA04 that allows sending the same inquiry again."""


def may_be_resent(answer: PatientAnswer) -> bool:
    """Return whether the inquiry may be sent again: the answer has no benefits, only temporary refusals that allow it."""
    refusals = list(answer.refusals)
    has_benefits = any(
        member.benefits for member in (answer.subscriber, answer.dependent) if member
    )
    is_temporary = all(
        one.reason in TRANSIENT_REASONS and one.follow_up in RESEND_ACTIONS for one in refusals
    )
    return bool(refusals) and is_temporary and not has_benefits


def _from_payer(answer: PatientAnswer, inquiry: Inquiry) -> bool:
    """Return whether the answer's source has an id or name of the payer. A source without either is accepted."""
    party = answer.source.party if answer.source else None
    if party is None or not (party.id or party.name):
        return True
    known = {clean(name)[0] for name in (*inquiry.payer_names, inquiry.payer.id)}
    if party.id:
        return clean(party.id)[0] in known
    return clean(party.name)[0] in known | {inquiry.payer.name}


def _is_about_patient(answer: PatientAnswer, inquiry: Inquiry, trace: str) -> bool:
    """Return whether the answer is about the patient of the inquiry.

    Our trace number decides, unless the patient is clearly another. Without it the member id must agree, or name and
    birth date, because payers correct either. If the answer has no patient, BHT03 must be our trace number or empty.
    """
    returned_traces = [one for one in answer.traces if one.kind != "1"]
    if trace in {one.number for one in returned_traces}:
        return not _is_other_patient(answer, inquiry)
    if any(one.originator == ORIGINATOR for one in returned_traces):
        return False
    if answer.subscriber is None:
        return answer.reference in {"", trace}
    if _is_other_patient(answer, inquiry):
        return False
    return _same_member(answer, inquiry) or _same_person(answer, inquiry)


def _is_other_patient(answer: PatientAnswer, inquiry: Inquiry) -> bool:
    """Return whether first name and birth date both differ, or both names and the member id."""
    party = answer.patient.party if answer.patient else None
    if party is None:
        return False
    # A payer may reject the subscriber before it looks for the dependent.
    people = {inquiry.patient} if answer.dependent else {inquiry.patient, inquiry.subscriber}
    return all(_differs(party, person, answer, inquiry) for person in people)


def _differs(
    party: shared_types.PartyView, person: InquiryPerson, answer: PatientAnswer, inquiry: Inquiry
) -> bool:
    first = bool(party.first) and clean(party.first)[0] != person.first
    last = bool(party.name) and clean(party.name)[0] != person.last
    birth = party.birth is not None and person.birth is not None and party.birth != person.birth
    return first and (birth or (last and not _same_member_id(answer, inquiry)))


def _same_member_id(answer: PatientAnswer, inquiry: Inquiry) -> bool:
    """Return whether the subscriber has the inquiry's member id, or had it before the payer corrected it."""
    party = answer.subscriber.party if answer.subscriber else None
    if party is None:
        return False
    ids = {party.id, *(one.value for one in party.references if one.qualifier in {"1W", "Q4"})}
    return inquiry.member_id in {clean(id)[0] for id in ids}


def _same_member(answer: PatientAnswer, inquiry: Inquiry) -> bool:
    """Return whether the member id agrees, and the first name too if a family shares the id."""
    patient = answer.dependent.party if answer.dependent else None
    return _same_member_id(answer, inquiry) and (
        patient is None or clean(patient.first)[0] == inquiry.patient.first
    )


def _same_person(answer: PatientAnswer, inquiry: Inquiry) -> bool:
    party = answer.patient.party if answer.patient else None
    patient = inquiry.patient
    return (
        party is not None
        and party.birth is not None
        and party.birth == patient.birth
        and clean(party.name)[0] == patient.last
        and clean(party.first)[0] == patient.first
    )
