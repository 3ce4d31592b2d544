"""Write questions about claims as a 276 (005010X212), from placement tables for each level.

    write_questions([(inquiry, trace), ...], envelope)           # one claim for real time, many for a file

Each claim is a transaction set of its own, so that an answer at any level finds its question: our trace number is in BHT03,
which a payer returns at the receiver's level, and in the claim's TRN. Knows the tables and the levels of a 276; knows no clock,
no control number and no payer's route.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from clearlane.claims.inquiry.status_inquiry import (
    QuestionKeys,
    StatusInquiry,
    StatusParty,
    StatusPerson,
)
from clearlane.inquiry.traced_sets import write_traced_sets
from clearlane.x12 import guides
from clearlane.x12.writer import placement
from clearlane.x12.writer.writer import Envelope

GUIDE = guides.by_kind("276")
NOT_KNOWN = "NOT KNOWN"
"""The name of a provider, subscriber or payer that has none: NM103 is required."""


def _level(letter: str, *more: str) -> dict[str, str]:
    fields = {"hl": "01", "parent": "02", "child": "04"}
    return {name: f"2000{letter}/HL/{at}" for name, at in fields.items() if name in ("hl", *more)}


def _names(letter: str) -> dict[str, str]:
    fields = {"entity_type": "02", "name": "03", "first": "04", "id_type": "08", "id": "09"}
    return {name: f"2100{letter}/NM1/{at}" for name, at in fields.items()}


def _claim(letter: str) -> placement.Placement:
    loop = f"2200{letter}"
    return placement.compile_placement(
        GUIDE,
        loop,
        {
            "trace": f"{loop}/TRN/02",
            "payer_number": f"{loop}/REF:1K/02",
            "type_of_bill": f"{loop}/REF:BLT/02",
            "account_number": f"{loop}/REF:EJ/02",
            "claim_number": f"{loop}/REF:D9/02",
            "charge": f"{loop}/AMT/02",
            "period": f"{loop}/DTP:472/period",
        },
    )


def _person_places(letter: str) -> dict[str, str]:
    return {
        "birth": f"2000{letter}/DMG/02",
        "sex": f"2000{letter}/DMG/03",
        "name": f"2100{letter}/NM1/03",
        "first": f"2100{letter}/NM1/04",
    }


SOURCE = placement.compile_placement(
    GUIDE, "2000A", {**_level("A"), "name": "2100A/NM1/03", "id": "2100A/NM1/09"},
    {"2100A/NM1/08": "PI"},
)  # fmt: skip
RECEIVER = placement.compile_placement(
    GUIDE, "2000B", {**_level("B", "parent"), "name": "2100B/NM1/03", "id": "2100B/NM1/09"},
    {"2100B/NM1/02": "2"},
)  # fmt: skip
PROVIDER = placement.compile_placement(GUIDE, "2000C", {**_level("C", "parent"), **_names("C")})
SUBSCRIBER = placement.compile_placement(
    GUIDE, "2000D",
    {
        **_level("D", "parent", "child"), **_person_places("D"), "entity_type": "2100D/NM1/02",
        "member_id": "2100D/NM1/09",
    },
    {"2100D/NM1/08": "MI"},
)  # fmt: skip
DEPENDENT = placement.compile_placement(
    GUIDE, "2000E", {**_level("E", "parent"), **_person_places("E")}
)
SUBSCRIBER_CLAIM, DEPENDENT_CLAIM = _claim("D"), _claim("E")

SCOPES = (SOURCE, RECEIVER, PROVIDER, SUBSCRIBER, DEPENDENT, SUBSCRIBER_CLAIM, DEPENDENT_CLAIM)


def write_questions(
    inquiries: Iterable[tuple[StatusInquiry, str]], envelope: Envelope
) -> Iterator[bytes]:
    """Yield an interchange with questions, each with its trace number, piece by piece.

    Raises ValueError for a trace number that cannot be written.
    """
    return write_traced_sets(inquiries, envelope, GUIDE, question_texts)


def question_texts(inquiry: StatusInquiry, envelope: Envelope, trace: str) -> list[str]:
    """Return the texts between ST and SE for one question."""
    moment = envelope.moment
    heading = f"BHT*0010*13*{trace}*{moment:%Y%m%d}*{moment:%H%M}"
    if inquiry.levels:
        return [heading, *with_trace(inquiry.levels, trace)]
    dependent = inquiry.dependent
    receiver = {"name": inquiry.receiver_name, "id": envelope.sender}
    subscriber = {
        "hl": "4", "parent": "3", "child": "1" if dependent else "0",
        "entity_type": inquiry.subscriber.entity_type, **_person(inquiry.subscriber),
        "member_id": inquiry.member_id or "0",
    }  # fmt: skip
    texts = [
        heading,
        SOURCE.text({"hl": "1", **_party(inquiry.payer, "name", "id")}),
        RECEIVER.text({"hl": "2", "parent": "1", **_filled(receiver)}),
        PROVIDER.text({"hl": "3", "parent": "2", **_party(inquiry.provider)}),
        SUBSCRIBER.text(subscriber),
    ]
    if dependent:
        texts.append(DEPENDENT.text({"hl": "5", "parent": "4", **_person(dependent)}))
    scope = DEPENDENT_CLAIM if dependent else SUBSCRIBER_CLAIM
    texts.append(scope.text({"trace": trace, **_keys(inquiry)}))
    return texts


def with_trace(levels: tuple[str, ...], trace: str) -> list[str]:
    """Return the segments of a sender's 276 with our trace number where the claim begins."""
    claim = max(at for at, text in enumerate(levels) if text.startswith("NM1*")) + 1
    return [*levels[:claim], f"TRN*1*{trace}", *levels[claim:]]


def _keys(inquiry: StatusInquiry) -> dict[str, Any]:
    """Return what the payer is to find the claim by."""
    keys: dict[str, Any] = {"type_of_bill": inquiry.type_of_bill, "period": inquiry.period}
    if inquiry.keys is QuestionKeys.PAYER_NUMBER:
        keys["payer_number"] = inquiry.payer_control_number
    elif inquiry.keys is QuestionKeys.CLAIM:
        keys |= {
            "account_number": inquiry.account_number,
            "claim_number": inquiry.claim_number,
            "charge": inquiry.charge,
        }
    return _filled(keys)


def _party(party: StatusParty, *names: str) -> dict[str, Any]:
    wanted = names or ("entity_type", "name", "first", "id_type", "id")
    values = {name: getattr(party, name) for name in wanted}
    return _filled({**values, "name": party.name or NOT_KNOWN})


def _person(person: StatusPerson) -> dict[str, Any]:
    return _filled(
        {
            "birth": person.birth,
            "sex": person.sex if person.birth else "",
            "name": person.last or NOT_KNOWN,
            "first": person.first,
        }
    )


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}
