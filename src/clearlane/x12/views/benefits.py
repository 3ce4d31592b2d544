"""View of a 271 and of the 270 that requested it.

Information sources contain receivers, receivers subscribers, subscribers dependents. A refusal (AAA) may occur at each of
the four levels and in a benefit. Absence of active coverage does not mean inactive coverage.
Knows eligibility loops; knows no inquiry that was sent.
"""

from collections.abc import Iterator
from decimal import Decimal

from clearlane.x12.views import shared_types
from clearlane.x12.views.binding import (
    ELEMENT_READERS,
    Binding,
    ChildLoop,
    CompositeReader,
    View,
    ViewBuilder,
    append,
    cached,
    fill,
    read_into,
    set_once,
)


class RefusalView(View, frozen=True):
    """AAA: why a request was not answered, and what to do."""

    valid: str = ""
    agency: str = ""
    reason: str = ""
    reason_words: str = ""
    follow_up: str = ""
    follow_up_words: str = ""


class ServiceDeliveryView(View, frozen=True):
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


class BenefitConditionView(View, frozen=True):
    """III: where or for what a benefit applies."""

    code_list: str = ""
    code: str = ""
    category: str = ""
    text: str = ""
    other: tuple[list[str], ...] = ()


class BenefitView(View, frozen=True):
    """EB and its details."""

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
    authorization: str = ""
    in_network: str = ""
    procedure: shared_types.ProcedureView | None = None
    pointers: tuple[str, ...] = ()
    deliveries: tuple[ServiceDeliveryView, ...] = ()
    references: tuple[shared_types.ReferenceView, ...] = ()
    dates: tuple[shared_types.DateView, ...] = ()
    refusals: tuple[RefusalView, ...] = ()
    messages: tuple[str, ...] = ()
    conditions: tuple[BenefitConditionView, ...] = ()
    section_start: str = ""
    parties: tuple[shared_types.PartyView, ...] = ()
    """The parties between LS and LE."""
    section_end: str = ""
    other: tuple[list[str], ...] = ()


class BenefitInquiryView(View, frozen=True):
    """EQ and its details: what a 270 requests."""

    service_types: tuple[str, ...] = ()
    service_types_words: tuple[str, ...] = ()
    procedure: shared_types.ProcedureView | None = None
    level: str = ""
    level_words: str = ""
    insurance: str = ""
    pointers: tuple[str, ...] = ()
    amounts: tuple[shared_types.AmountView, ...] = ()
    conditions: tuple[BenefitConditionView, ...] = ()
    references: tuple[shared_types.ReferenceView, ...] = ()
    dates: tuple[shared_types.DateView, ...] = ()
    other: tuple[list[str], ...] = ()


class InsuredStatusView(View, frozen=True):
    """INS: how a person is insured."""

    subscriber: str = ""
    relationship: str = ""
    relationship_words: str = ""
    maintenance: str = ""
    maintenance_reason: str = ""
    student: str = ""
    handicapped: str = ""
    birth_sequence: str = ""


class DiagnosisView(View, frozen=True):
    """One code of an HI."""

    qualifier: str = ""
    code: str = ""


class MemberView(View, frozen=True):
    """A subscriber or a dependent, with benefits or inquiries."""

    level: shared_types.LevelView | None = None
    traces: tuple[shared_types.TraceView, ...] = ()
    party: shared_types.PartyView | None = None
    insured_status: InsuredStatusView | None = None
    diagnoses: tuple[DiagnosisView, ...] = ()
    dates: tuple[shared_types.DateView, ...] = ()
    refusals: tuple[RefusalView, ...] = ()
    benefits: tuple[BenefitView, ...] = ()
    questions: tuple[BenefitInquiryView, ...] = ()
    dependents: tuple["MemberView", ...] = ()
    other: tuple[list[str], ...] = ()


class InformationReceiverView(View, frozen=True):
    """The receiver of the information, usually a provider."""

    level: shared_types.LevelView | None = None
    party: shared_types.PartyView | None = None
    refusals: tuple[RefusalView, ...] = ()
    subscribers: tuple[MemberView, ...] = ()
    other: tuple[list[str], ...] = ()


class InformationSourceView(View, frozen=True):
    """The source of the information, usually a payer."""

    level: shared_types.LevelView | None = None
    party: shared_types.PartyView | None = None
    refusals: tuple[RefusalView, ...] = ()
    receivers: tuple[InformationReceiverView, ...] = ()
    other: tuple[list[str], ...] = ()


class EligibilityView(View, frozen=True, tag_field="view", tag="eligibility"):
    """All of a 270 or a 271."""

    start: shared_types.SetHeaderView | None = None
    heading: shared_types.HeadingView | None = None
    sources: tuple[InformationSourceView, ...] = ()
    end: shared_types.SetTrailerView | None = None
    other: tuple[list[str], ...] = ()

    @property
    def members(self) -> Iterator[MemberView]:
        """Every subscriber, each followed by the dependents."""
        for source in self.sources:
            for receiver in source.receivers:
                for subscriber in receiver.subscribers:
                    yield subscriber
                    yield from subscriber.dependents

    @property
    def refusals(self) -> Iterator[RefusalView]:
        """The refusals of all levels, sources first."""
        for source in self.sources:
            yield from source.refusals
            for receiver in source.receivers:
                yield from receiver.refusals
        for member in self.members:
            yield from member.refusals
            for benefit in member.benefits:
                yield from benefit.refusals


def _text(segment: list[str], other: list[list[str]]) -> str:
    """Read the text of an MSG."""
    if len(segment) != 2:
        other.append(segment)
    return segment[1] if len(segment) > 1 else ""


ELEMENT_READERS["diagnosis"] = CompositeReader(DiagnosisView, "qualifier code")

_REFUSALS = append(
    "refusals",
    read_into(RefusalView, "valid agency reason?reject_reasons follow_up?follow_up_actions"),
)
_BENEFIT = (
    "benefit?benefits level?coverage_levels service_types?service_types=repeats insurance?insurance_types plan"
    " period?time_periods amount$ fraction$ quantity_qualifier?quantities quantity$ authorization"
    " in_network procedure=procedure pointers=parts"
)
_DELIVERY = "qualifier?quantities quantity$ unit every$ period?time_periods periods$ pattern time"
_INSURED_STATUS = (
    "subscriber relationship?relationships maintenance maintenance_reason - - - - student"
    " handicapped - - - - - - birth_sequence"
)
_CONDITION = read_into(BenefitConditionView, "code_list code category text")
CONDITION = ViewBuilder(BenefitConditionView, {"III": fill("code_list code category text")})
PLACE = shared_types.PARTY

_FACTS: dict[str, Binding] = {"REF": shared_types.REFERENCES, "DTP": shared_types.DATES}
BENEFIT = ViewBuilder(
    BenefitView,
    {
        **_FACTS,
        "EB": fill(_BENEFIT, cache=True),
        "HSD": append("deliveries", read_into(ServiceDeliveryView, _DELIVERY), cache=True),
        "AAA": _REFUSALS,
        "MSG": append("messages", _text),
        "LS": fill("section_start"),
        "LE": fill("section_end"),
    },
    loops={
        **dict.fromkeys(("2115C", "2115D"), ChildLoop("conditions", CONDITION)),
        **dict.fromkeys(("2120C", "2120D"), ChildLoop("parties", shared_types.PARTY)),
    },
)
BENEFIT_INQUIRY = ViewBuilder(
    BenefitInquiryView,
    {
        **_FACTS,
        "EQ": fill(
            "service_types?service_types=repeats procedure=procedure level?coverage_levels insurance"
            " pointers=parts"
        ),
        "AMT": shared_types.AMOUNTS,
        "III": append("conditions", _CONDITION),
    },
)
_MEMBER: dict[str, Binding] = {
    "HL": shared_types.LEVEL,
    "TRN": shared_types.TRACES,
    "AAA": _REFUSALS,
    "INS": set_once("insured_status", cached(read_into(InsuredStatusView, _INSURED_STATUS))),
    "HI": fill(" ".join(["diagnoses+=diagnosis"] * 12)),
    "DTP": shared_types.DATES,
}
_RESPONSES = dict.fromkeys(("2110C", "2110D"), ChildLoop("benefits", BENEFIT))
_INQUIRIES = dict.fromkeys(("2110C", "2110D"), ChildLoop("questions", BENEFIT_INQUIRY))
_LEVEL: dict[str, Binding] = {"HL": shared_types.LEVEL, "AAA": _REFUSALS}


def _view(inner: dict[str, ChildLoop]) -> ViewBuilder:
    """Return the builder of a whole set."""
    dependent = ViewBuilder(
        MemberView, _MEMBER, loops=inner, inline=("2100D",), party=shared_types.PARTY
    )
    subscriber = ViewBuilder(
        MemberView,
        _MEMBER,
        loops={**inner, "2000D": ChildLoop("dependents", dependent)},
        inline=("2100C",),
        party=shared_types.PARTY,
    )
    receiver = ViewBuilder(
        InformationReceiverView,
        _LEVEL,
        loops={"2000C": ChildLoop("subscribers", subscriber)},
        inline=("2100B",),
        party=shared_types.PARTY,
    )
    source = ViewBuilder(
        InformationSourceView,
        _LEVEL,
        loops={"2000B": ChildLoop("receivers", receiver)},
        inline=("2100A",),
        party=shared_types.PARTY,
    )
    return ViewBuilder(
        EligibilityView, shared_types.FRAME, loops={"2000A": ChildLoop("sources", source)}
    )


RESPONSE = _view(_RESPONSES)
INQUIRY = _view(_INQUIRIES)
