"""Whose answer it is: of the payer that was asked, and about the patient that was asked about.

Knows answers and inquiries; knows no file.
"""

from clearlane.eligibility.inbound import Answer, Match
from clearlane.eligibility.model import ORIGINATOR, Inquiry, Person
from clearlane.x12.encode import clean
from clearlane.x12.views import shared_types


def trace_of(answer: Answer) -> str:
    """Our trace number: the TRN that we signed, else the echo in BHT03; empty where there is neither."""
    for trace in answer.traces:
        if trace.originator == ORIGINATOR and trace.number:
            return trace.number
    return answer.reference


def match(answer: Answer, inquiry: Inquiry, trace: str) -> Match:
    """Whether the answer is for this question, which went out with that trace number of ours."""
    if not _from_payer(answer, inquiry):
        return Match.WRONG_PAYER
    return Match.OURS if _speaks_of(answer, inquiry, trace) else Match.WRONG_PATIENT


PASSING = frozenset({"42", "80"})
"""Reasons that pass by themselves: unable to respond at this time, no response received."""
AGAIN = frozenset({"", "P", "R"})
"""Follow-up actions that allow the same question again."""


def may_be_asked_again(answer: Answer) -> bool:
    """Whether the same question may be sent again: nothing was told but reasons that pass, and none forbids it."""
    refusals = list(answer.refusals)
    told = any(member.benefits for member in (answer.subscriber, answer.dependent) if member)
    passing = all(one.reason in PASSING and one.follow_up in AGAIN for one in refusals)
    return bool(refusals) and passing and not told


def _from_payer(answer: Answer, inquiry: Inquiry) -> bool:
    """Whether the payer goes by this id or name. A source that names itself not at all is believed."""
    party = answer.source.party if answer.source else None
    if party is None or not (party.id or party.name):
        return True
    known = {clean(name)[0] for name in (*inquiry.payer_names, inquiry.payer.id)}
    if party.id:
        return clean(party.id)[0] in known
    return clean(party.name)[0] in known | {inquiry.payer.name}


def _speaks_of(answer: Answer, inquiry: Inquiry, trace: str) -> bool:
    """Whether the patient is the one asked about.

    An echo of our trace number decides, unless the patient is plainly another. Without an echo the member id must be
    the same, or name and birth date: payers correct either. Where the payer speaks of no patient, the echo in BHT03
    must not be another's.
    """
    echoes = [one for one in answer.traces if one.kind != "1"]
    if trace in {one.number for one in echoes}:
        return not _is_another(answer, inquiry)
    if any(one.originator == ORIGINATOR for one in echoes):
        return False
    if answer.subscriber is None:
        return answer.reference in {"", trace}
    if _is_another(answer, inquiry):
        return False
    return _same_member(answer, inquiry) or _same_person(answer, inquiry)


def _is_another(answer: Answer, inquiry: Inquiry) -> bool:
    """Whether first name and birth date are both another's, or both names and the member id."""
    party = answer.patient.party if answer.patient else None
    if party is None:
        return False
    # A payer may refuse the subscriber before it looks for the dependent.
    people = {inquiry.patient} if answer.dependent else {inquiry.patient, inquiry.subscriber}
    return all(_differs(party, person, answer, inquiry) for person in people)


def _differs(party: shared_types.Party, person: Person, answer: Answer, inquiry: Inquiry) -> bool:
    first = bool(party.first) and clean(party.first)[0] != person.first
    last = bool(party.name) and clean(party.name)[0] != person.last
    birth = party.birth is not None and person.birth is not None and party.birth != person.birth
    return first and (birth or (last and not _same_number(answer, inquiry)))


def _same_number(answer: Answer, inquiry: Inquiry) -> bool:
    """Whether the subscriber has the member id, now or before the payer corrected it."""
    party = answer.subscriber.party if answer.subscriber else None
    if party is None:
        return False
    ids = {party.id, *(one.value for one in party.references if one.qualifier in {"1W", "Q4"})}
    return inquiry.member_id in {clean(id)[0] for id in ids}


def _same_member(answer: Answer, inquiry: Inquiry) -> bool:
    """Whether the member id is the same, and of a family that shares it the patient."""
    patient = answer.dependent.party if answer.dependent else None
    return _same_number(answer, inquiry) and (
        patient is None or clean(patient.first)[0] == inquiry.patient.first
    )


def _same_person(answer: Answer, inquiry: Inquiry) -> bool:
    party = answer.patient.party if answer.patient else None
    asked = inquiry.patient
    return (
        party is not None
        and party.birth is not None
        and party.birth == asked.birth
        and clean(party.name)[0] == asked.last
        and clean(party.first)[0] == asked.first
    )
