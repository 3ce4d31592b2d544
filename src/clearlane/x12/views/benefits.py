"""A 271 as benefits, and the 270 that asked for them.

Sources hold receivers, receivers hold subscribers, subscribers hold dependents. A refusal (AAA) may stand at
each of the four levels and beside a benefit; no active coverage told is not the same as inactive.
Knows eligibility loops; knows no question that was sent.
"""

from collections.abc import Iterator
from decimal import Decimal

from clearlane.x12.views import shared_types
from clearlane.x12.views.binding import (
    KINDS,
    Below,
    Composite,
    Row,
    Sorter,
    Value,
    each,
    fill,
    into,
    once,
    remembered,
)


class Refusal(Value, frozen=True):
    """AAA: why an answer is not given, and what to do."""

    valid: str = ""
    agency: str = ""
    reason: str = ""
    reason_words: str = ""
    follow_up: str = ""
    follow_up_words: str = ""


class Delivery(Value, frozen=True):
    """HSD: how often a service may be given."""

    qualifier: str = ""
    qualifier_words: str = ""
    quantity: Decimal | None = None
    unit: str = ""
    every: Decimal | None = None
    period: str = ""
    period_words: str = ""
    periods: Decimal | None = None
    pattern: str = ""
    time: str = ""


class Condition(Value, frozen=True):
    """III: where or for what a benefit holds."""

    code_list: str = ""
    code: str = ""
    category: str = ""
    text: str = ""
    other: tuple[list[str], ...] = ()


class Benefit(Value, frozen=True):
    """EB and what belongs to it."""

    benefit: str = ""
    benefit_words: str = ""
    level: str = ""
    level_words: str = ""
    service_types: tuple[str, ...] = ()
    service_types_words: tuple[str, ...] = ()
    insurance: str = ""
    insurance_words: str = ""
    plan: str = ""
    period: str = ""
    period_words: str = ""
    amount: Decimal | None = None
    fraction: Decimal | None = None
    """The patient's share: 0.2 is twenty per cent."""
    quantity_qualifier: str = ""
    quantity_qualifier_words: str = ""
    quantity: Decimal | None = None
    authorisation: str = ""
    in_network: str = ""
    procedure: shared_types.Procedure | None = None
    pointers: tuple[str, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    references: tuple[shared_types.Reference, ...] = ()
    dates: tuple[shared_types.Dated, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    messages: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    section_start: str = ""
    parties: tuple[shared_types.Party, ...] = ()
    """Those between LS and LE."""
    section_end: str = ""
    other: tuple[list[str], ...] = ()


class Question(Value, frozen=True):
    """EQ and what belongs to it: what a 270 asks for."""

    service_types: tuple[str, ...] = ()
    service_types_words: tuple[str, ...] = ()
    procedure: shared_types.Procedure | None = None
    level: str = ""
    level_words: str = ""
    insurance: str = ""
    pointers: tuple[str, ...] = ()
    amounts: tuple[shared_types.Amount, ...] = ()
    conditions: tuple[Condition, ...] = ()
    references: tuple[shared_types.Reference, ...] = ()
    dates: tuple[shared_types.Dated, ...] = ()
    other: tuple[list[str], ...] = ()


class Standing(Value, frozen=True):
    """INS: how a person is insured."""

    subscriber: str = ""
    relationship: str = ""
    relationship_words: str = ""
    maintenance: str = ""
    maintenance_reason: str = ""
    student: str = ""
    handicapped: str = ""
    birth_sequence: str = ""


class Diagnosis(Value, frozen=True):
    """One code of an HI."""

    qualifier: str = ""
    code: str = ""


class Member(Value, frozen=True):
    """A subscriber or a dependent, and the benefits."""

    level: shared_types.Level | None = None
    traces: tuple[shared_types.Trace, ...] = ()
    party: shared_types.Party | None = None
    standing: Standing | None = None
    diagnoses: tuple[Diagnosis, ...] = ()
    dates: tuple[shared_types.Dated, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    benefits: tuple[Benefit, ...] = ()
    questions: tuple[Question, ...] = ()
    dependents: tuple["Member", ...] = ()
    other: tuple[list[str], ...] = ()


class Receiver(Value, frozen=True):
    """Who asked: a provider, as a rule."""

    level: shared_types.Level | None = None
    party: shared_types.Party | None = None
    refusals: tuple[Refusal, ...] = ()
    subscribers: tuple[Member, ...] = ()
    other: tuple[list[str], ...] = ()


class Source(Value, frozen=True):
    """Who answers: a payer, as a rule."""

    level: shared_types.Level | None = None
    party: shared_types.Party | None = None
    refusals: tuple[Refusal, ...] = ()
    receivers: tuple[Receiver, ...] = ()
    other: tuple[list[str], ...] = ()


class Eligibility(Value, frozen=True, tag_field="view", tag="eligibility"):
    """All of a 270 or a 271."""

    start: shared_types.Start | None = None
    heading: shared_types.Heading | None = None
    sources: tuple[Source, ...] = ()
    end: shared_types.End | None = None
    other: tuple[list[str], ...] = ()

    @property
    def members(self) -> Iterator[Member]:
        """Every subscriber, each followed by the dependents."""
        for source in self.sources:
            for receiver in source.receivers:
                for subscriber in receiver.subscribers:
                    yield subscriber
                    yield from subscriber.dependents

    @property
    def refusals(self) -> Iterator[Refusal]:
        """The refusals of all levels, in file order as far as levels tell it."""
        for source in self.sources:
            yield from source.refusals
            for receiver in source.receivers:
                yield from receiver.refusals
        for member in self.members:
            yield from member.refusals
            for benefit in member.benefits:
                yield from benefit.refusals


def _text(segment: list[str], other: list[list[str]]) -> str:
    """MSG holds one text."""
    if len(segment) != 2:
        other.append(segment)
    return segment[1] if len(segment) > 1 else ""


KINDS["diagnosis"] = Composite(Diagnosis, "qualifier code")

_REFUSALS = each(
    "refusals", into(Refusal, "valid agency reason?reject_reasons follow_up?follow_up_actions")
)
_BENEFIT = (
    "benefit?benefits level?coverage_levels service_types?service_types=repeats insurance?insurance_types plan"
    " period?time_periods amount$ fraction$ quantity_qualifier?quantities quantity$ authorisation"
    " in_network procedure=procedure pointers=parts"
)
_DELIVERY = "qualifier?quantities quantity$ unit every$ period?time_periods periods$ pattern time"
_STANDING = (
    "subscriber relationship?relationships maintenance maintenance_reason - - - - student"
    " handicapped - - - - - - birth_sequence"
)
_CONDITION = into(Condition, "code_list code category text")
CONDITION = Sorter(Condition, {"III": fill("code_list code category text")})
PLACE = shared_types.PARTY

_FACTS: dict[str, Row] = {"REF": shared_types.REFERENCES, "DTP": shared_types.DATES}
BENEFIT = Sorter(
    Benefit,
    {
        **_FACTS,
        "EB": fill(_BENEFIT, remember=True),
        "HSD": each("deliveries", into(Delivery, _DELIVERY), remember=True),
        "AAA": _REFUSALS,
        "MSG": each("messages", _text),
        "LS": fill("section_start"),
        "LE": fill("section_end"),
    },
    loops={
        **dict.fromkeys(("2115C", "2115D"), Below("conditions", CONDITION)),
        **dict.fromkeys(("2120C", "2120D"), Below("parties", shared_types.PARTY)),
    },
)
QUESTION = Sorter(
    Question,
    {
        **_FACTS,
        "EQ": fill(
            "service_types?service_types=repeats procedure=procedure level?coverage_levels insurance"
            " pointers=parts"
        ),
        "AMT": shared_types.AMOUNTS,
        "III": each("conditions", _CONDITION),
    },
)
_MEMBER: dict[str, Row] = {
    "HL": shared_types.LEVEL,
    "TRN": shared_types.TRACES,
    "AAA": _REFUSALS,
    "INS": once("standing", remembered(into(Standing, _STANDING))),
    "HI": fill(" ".join(["diagnoses+=diagnosis"] * 12)),
    "DTP": shared_types.DATES,
}
_ANSWERS = dict.fromkeys(("2110C", "2110D"), Below("benefits", BENEFIT))
_QUESTIONS = dict.fromkeys(("2110C", "2110D"), Below("questions", QUESTION))
_LEVEL: dict[str, Row] = {"HL": shared_types.LEVEL, "AAA": _REFUSALS}


def _view(inner: dict[str, Below]) -> Sorter:
    """The sorter of a whole set."""
    dependent = Sorter(Member, _MEMBER, loops=inner, inline=("2100D",), party=shared_types.PARTY)
    subscriber = Sorter(
        Member,
        _MEMBER,
        loops={**inner, "2000D": Below("dependents", dependent)},
        inline=("2100C",),
        party=shared_types.PARTY,
    )
    receiver = Sorter(
        Receiver,
        _LEVEL,
        loops={"2000C": Below("subscribers", subscriber)},
        inline=("2100B",),
        party=shared_types.PARTY,
    )
    source = Sorter(
        Source,
        _LEVEL,
        loops={"2000B": Below("receivers", receiver)},
        inline=("2100A",),
        party=shared_types.PARTY,
    )
    return Sorter(Eligibility, shared_types.FRAME, loops={"2000A": Below("sources", source)})


ANSWER = _view(_ANSWERS)
INQUIRY = _view(_QUESTIONS)
