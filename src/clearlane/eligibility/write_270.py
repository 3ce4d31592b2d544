"""Write inquiries as a 270 (005010X279A1), from placement tables for each level.

    write_inquiries([(inquiry, trace), ...], envelope)           # one patient for real time, many for a batch

Each patient is a transaction set of its own, so that an answer at any level finds its inquiry: our trace number is in
BHT03 and in the patient's TRN; the caller's trace number is in a second TRN.

Knows the tables and the levels of a 270; knows no clock, no control number and no payer's route.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from clearlane.eligibility.model import (
    ORIGINATOR,
    BenefitQuestion,
    Inquiry,
    InquiryPerson,
)
from clearlane.inquiry.inquiry_result import InquiryTrace
from clearlane.inquiry.traced_sets import write_traced_sets
from clearlane.x12 import guides
from clearlane.x12.writer import placement
from clearlane.x12.writer.writer import Envelope, clean

__all__ = [
    "GUIDE", "ORIGINATOR", "SCOPES", "Envelope", "set_texts", "write_inquiries",
]  # fmt: skip

GUIDE = guides.by_kind("270")
ORIGINATOR_CHARACTERS = 10
_ORIGINATOR_FORM = re.compile(r"[139][0-9A-Z]{9}", re.ASCII)
_NOT_IN_ORIGINATOR = re.compile(r"[^0-9A-Z]", re.ASCII)

_LEVEL = {"hl": "HL/01", "parent": "HL/02", "child": "HL/04"}
_TRACES = {
    "trace": "TRN/02", "originator": "TRN/03", "payee_trace": "TRN#2/02",
    "payee_originator": "TRN#2/03",
}  # fmt: skip


def _places(loop: str, rows: dict[str, str]) -> dict[str, str]:
    return {field: f"{loop}/{place}" for field, place in rows.items()}


def _name_places(loop: str) -> dict[str, str]:
    return _places(
        loop, {"role": "NM1/01", "entity_type": "NM1/02", "name": "NM1/03", "id": "NM1/09"}
    )


def _patient_places(loop: str) -> dict[str, str]:
    return _places(
        loop,
        {
            "last": "NM1/03", "first": "NM1/04", "birth": "DMG/02", "sex": "DMG/03",
            "period": "DTP:291/period",
        },
    )  # fmt: skip


def _benefit_places(loop: str) -> dict[str, str]:
    return _places(loop, {"services": "EQ/01", "period": "DTP:291/period"})


SOURCE = placement.compile_placement(
    GUIDE,
    "2000A",
    {"hl": "2000A/HL/01", **_name_places("2100A")},
    {"2100A/NM1/08": "PI"},
)
RECEIVER = placement.compile_placement(
    GUIDE,
    "2000B",
    {
        "hl": "2000B/HL/01", "parent": "2000B/HL/02", **_name_places("2100B"),
        "first": "2100B/NM1/04",
    },
    {"2100B/NM1/08": "XX"},
)  # fmt: skip
SUBSCRIBER = placement.compile_placement(
    GUIDE,
    "2000C",
    {
        **_places("2000C", _LEVEL | _TRACES), **_patient_places("2100C"), "member_id": "2100C/NM1/09",
    },
    {"2100C/NM1/02": "1", "2100C/NM1/08": "MI"},
)  # fmt: skip
DEPENDENT = placement.compile_placement(
    GUIDE,
    "2000D",
    {
        "hl": "2000D/HL/01", "parent": "2000D/HL/02", **_places("2000D", _TRACES), **_patient_places("2100D"),
        "relationship": "2100D/INS/02",
    },
)  # fmt: skip
# Only a subscriber's benefits can be those of the family: EQ03 is not used for a dependent.
SUBSCRIBER_BENEFIT = placement.compile_placement(
    GUIDE, "2110C", {**_benefit_places("2110C"), "family": "2110C/EQ/03"}
)
DEPENDENT_BENEFIT = placement.compile_placement(GUIDE, "2110D", _benefit_places("2110D"))

SCOPES = (SOURCE, RECEIVER, SUBSCRIBER, DEPENDENT, SUBSCRIBER_BENEFIT, DEPENDENT_BENEFIT)


def write_inquiries(
    inquiries: Iterable[tuple[Inquiry, str]], envelope: Envelope
) -> Iterator[bytes]:
    """Yield an interchange with inquiries, each with its trace number, piece by piece.

    Raises ValueError for a trace number that cannot be written.
    """
    return write_traced_sets(inquiries, envelope, GUIDE, set_texts)


def set_texts(inquiry: Inquiry, envelope: Envelope, trace: str) -> list[str]:
    """Return the texts between ST and SE for one inquiry."""
    moment = envelope.moment
    type = f"*{inquiry.transaction_type}" if inquiry.transaction_type else ""
    heading = f"BHT*0022*{inquiry.purpose}*{trace}*{moment:%Y%m%d}*{moment:%H%M}{type}"
    dependent = inquiry.dependent
    traces = _traces(inquiry.trace, trace)
    if inquiry.levels:
        return [heading, *_with_traces(inquiry.levels, traces)]
    period = _common_period(inquiry.questions)
    patient = traces | ({"period": period} if period else {})
    subscriber = {
        "hl": "3", "parent": "2", "child": "1" if dependent else "0",
        **({} if dependent else patient), **_person(inquiry.subscriber),
        "member_id": inquiry.member_id,
    }  # fmt: skip
    texts = [
        heading,
        SOURCE.text({"hl": "1"} | _party(inquiry.payer)),
        RECEIVER.text({"hl": "2", "parent": "1"} | _party(inquiry.payee)),
        SUBSCRIBER.text(subscriber),
    ]
    if dependent:
        own = {"relationship": inquiry.relationship} if inquiry.relationship else {}
        texts.append(
            DEPENDENT.text({"hl": "4", "parent": "3"} | patient | _person(dependent) | own)
        )
    scope = DEPENDENT_BENEFIT if dependent else SUBSCRIBER_BENEFIT
    for question in inquiry.questions:
        values: dict[str, Any] = {"services": "^".join(question.services)}
        if question.family and not dependent:
            values["family"] = "FAM"
        if question.period and not period:
            values["period"] = question.period
        texts.append(scope.text(values))
    return texts


def _party(party: Any) -> dict[str, Any]:
    values = {name: getattr(party, name) for name in ("role", "entity_type", "name", "first", "id")}
    return {name: value for name, value in values.items() if value}


def _person(person: InquiryPerson) -> dict[str, Any]:
    values = {name: getattr(person, name) for name in ("last", "first", "birth", "sex")}
    return {name: value for name, value in values.items() if value}


def _common_period(questions: tuple[BenefitQuestion, ...]) -> Any:
    """Return the period that all questions share; it is then written at the patient, where payers expect it."""
    periods = {question.period for question in questions}
    return periods.pop() if len(periods) == 1 else None


def _traces(payee: InquiryTrace | None, trace: str) -> dict[str, str]:
    """Return our trace number, and the caller's if there is one."""
    found = {"trace": trace, "originator": ORIGINATOR}
    number = clean(payee.number)[0] if payee else ""
    if payee and number:
        found |= {"payee_trace": number, "payee_originator": format_originator(payee.originator)}
    return found


def _with_traces(levels: tuple[str, ...], traces: dict[str, str]) -> list[str]:
    """Return the segments of a sender's 270 with trace numbers at the patient, which is the last level."""
    patient = max(at for at, text in enumerate(levels) if text.startswith("HL*"))
    own = [f"TRN*1*{traces['trace']}*{traces['originator']}"]
    if "payee_trace" in traces:
        own.append(f"TRN*1*{traces['payee_trace']}*{traces['payee_originator']}")
    return [*levels[: patient + 1], *own, *levels[patient + 1 :]]


def format_originator(text: str) -> str:
    """Return TRN03 for a caller's id: ten characters, the first 1, 3 or 9. Any other id gets 9, for user-assigned."""
    plain = _NOT_IN_ORIGINATOR.sub("", clean(text)[0])
    if _ORIGINATOR_FORM.fullmatch(plain):
        return plain
    return f"9{plain}"[:ORIGINATOR_CHARACTERS].ljust(ORIGINATOR_CHARACTERS, "0")
