"""Write a claim for the payer that comes next, with what the payer before it decided.

    insurance = insurance_of(view)                              # what the claim says of its other insurance
    questions = open_questions(insurance)                       # what it does not say, by field
    secondary = next_payers_claim(claim, insurance, decision)

The claim before, as it was sent, is taken apart and put together again: its payer and subscriber become another payer
(2320, 2330A, 2330B) with the decision (CAS, AMT, SVD), and the next insurance takes their place. All that the guide can
say can be said so: several payers, adjustments by reason, of the claim and of its lines. V3 has no fields for that, so the
result is a claim in X12 whatever the first one came as; it keeps the vendor's claim id.

Knows the loops of an 837; knows no 835, no directory and no clock.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple

import msgspec

from clearlane.claims import codes
from clearlane.claims.cob import (
    EarlierDecision,
    EarlierLineDecision,
    Groups,
    RemainingLiability,
    remaining_liability,
    total_adjusted,
)
from clearlane.claims.forms import form_of
from clearlane.claims.forms.x12_loops import CLAIM, ClaimLoops, loops_of
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.value_types import ADJUSTMENT_GROUPS
from clearlane.claims.view import ClaimView
from clearlane.claims.write.claim_context import UNKNOWN_COVERAGE
from clearlane.claims.x12_claim import X12Claim, X12Part
from clearlane.kernel import limits
from clearlane.kernel.redacted_repr import shows
from clearlane.x12.tree import Loop, Segment, get_element
from clearlane.x12.writer.encode import clean, format_day, format_money

ORDER = "PSTABCDEFGH"
"""SBR01 in the order of payment: primary, secondary, tertiary, and so on."""
REMARKS_MAX = 5
"""MOA03 to MOA07."""
OF_THE_PAYER = ("G1", "9F")
"""REF of an authorization or referral: it is the payer's who gave it."""
LEFT_OUT = ("F8", "D9")
"""REF of the number that the payer before has for the claim, and of our own number."""
PATIENT_DETAILS = slice(5, 10)
"""PAT05 to PAT09: death, weight, pregnancy."""
PROCEDURE_PARTS = 6
"""The qualifier, the code and four modifiers of a procedure."""
LINE_SEGMENTS = {"SV1": 1, "SV3": 1, "SV2": 2}
"""The segments of a line's service, and the element of each that holds the procedure."""
BILL_TYPE = "A"
"""The qualifier of CLM05 if its frequency is the last digit of a type of bill."""


@shows("payer_id")
class NextInsurance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The insurance that is billed next. What is not known is empty."""

    payer_id: str = ""
    payer_name: str = ""
    coverage: str = ""
    """The type of coverage (SBR09)."""
    medicare_reason: str = ""
    """Why Medicare pays after another payer (SBR05)."""
    member_id: str = ""
    group_number: str = ""
    plan_name: str = ""
    relationship: str = ""
    """The patient's relationship to the insured, as an X12 code."""
    last_name: str = ""
    first_name: str = ""
    middle_name: str = ""
    suffix: str = ""

    def with_answers(self, answers: "NextInsurance") -> "NextInsurance":
        """Return it with what a person adds or changes."""
        return msgspec.structs.replace(
            self,
            **{name: value for name, value in msgspec.structs.asdict(answers).items() if value},
        )


class OpenQuestion(msgspec.Struct, frozen=True):
    """What must be known before a claim for the next payer can be sent."""

    field: str
    """The field of ``NextInsurance`` that answers it; ``claim_payment`` if the payer's decision is in the way."""
    sentence: str


class DecidedService(NamedTuple):
    """What a payer decided of a service line; one that it split has several."""

    line: int
    """The number of the line in the claim, from 1."""
    decision: EarlierLineDecision
    procedure: str = ""
    """The code that was paid, if it is not the one that was billed."""
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PayerDecision:
    """What a payer decided of a claim, as the next payer gets it."""

    paid: Decimal
    groups: Groups
    """The adjustments of the claim as a whole."""
    day: date
    services: tuple[DecidedService, ...] = ()
    """Empty if the payer decided the claim as a whole."""
    payer_number: str = ""
    """The payer's number of the claim (CLP07)."""
    remarks: tuple[str, ...] = ()

    def remaining(self, patient_paid: Decimal) -> RemainingLiability:
        """Return what the patient still owes: of the claim, or of each of the services."""
        lines = tuple(one.decision for one in self.services)
        decided = EarlierDecision(self.paid, self.groups, self.day, lines)
        return remaining_liability(decided, patient_paid)

    @property
    def explained(self) -> Decimal:
        """What was paid for the claim plus all adjustments: its charge, if the decision balances."""
        adjusted = sum((total_adjusted(one.decision.groups) for one in self.services), Decimal(0))
        return self.paid + total_adjusted(self.groups) + adjusted


def next_payer_at(view: ClaimView) -> int | None:
    """Return which of the other payers of a claim comes next: the first that has not decided; None if there is none."""
    for at, other in enumerate(view.other_payers):
        if other.decision is None:
            return at
    return None


def insurance_of(view: ClaimView) -> NextInsurance:
    """Return what a claim says of the insurance that comes next. A policy number is not taken for a member id.

    A branch for each value, since a claim may leave out any: what is empty here is asked for.
    """
    at = next_payer_at(view)
    if at is None:
        return NextInsurance()
    other = view.other_payers[at]
    insured = other.insured
    is_patient = insured.relationship == codes.SELF
    person = view.patient if is_patient and view.patient.last_name else insured
    return NextInsurance(
        payer_id=other.id or "",
        payer_name=other.name or other.plan_name or "",
        coverage=other.coverage or "",
        medicare_reason=view.medicare_reason or "" if other.coverage in codes.MEDICARE else "",
        member_id=insured.member_id or "",
        group_number=insured.group_number or insured.policy_number or "",
        plan_name=other.plan_name or "" if other.name else "",
        relationship=insured.relationship or "",
        last_name=insured.last_name or person.last_name or "",
        first_name=insured.first_name or person.first_name or "",
        middle_name=insured.middle_name or "",
        suffix=insured.suffix or "",
    )


NEEDED = {
    "payer_id": "Which payer is billed next? Give its id of the payer list.",
    "member_id": "What is the insured's member id at the next payer? The claim does not state it.",
    "relationship": "What is the patient's relationship to the insured of the next payer (18: the patient is the insured)?",
    "last_name": "Who is the insured of the next payer? Give the last name, and the first name of a person.",
}
WHY_MEDICARE = (
    "Why does Medicare pay after another payer? Give the reason as X12 has it in SBR05, such as 12 (working aged) or "
    "43 (disabled)."
)


def open_questions(insurance: NextInsurance, kind: ClaimKind) -> tuple[OpenQuestion, ...]:
    """Return what is not known of the next insurance and must be in a claim of this kind."""
    missing = [
        OpenQuestion(field, sentence)
        for field, sentence in NEEDED.items()
        if not getattr(insurance, field)
    ]
    is_asked = KINDS[kind].states_medicare_reason and insurance.coverage in codes.MEDICARE
    if is_asked and not insurance.medicare_reason:
        missing.append(OpenQuestion("medicare_reason", WHY_MEDICARE))
    return tuple(missing)


def next_payers_claim(
    claim: X12Claim,
    insurance: NextInsurance,
    decision: PayerDecision,
    *,
    replaces: int | None = None,
    number: str = "",
    vendor_claim_id: str = "",
    patient_paid: Decimal = Decimal(0),
) -> X12Claim:
    """Return the claim for the next payer.

    ``claim`` is the claim as it was sent, ``replaces`` the place among its other payers of the one that is billed now, and
    ``number`` our number of the claim before: numbers that we made from it are made another, so that answers of two payers
    are kept apart.
    """
    loops = loops_of(claim)
    before = _read_before(loops)
    others = [loop for loop in loops.claim.loops() if loop.node.id == "2320"]
    replaced = others[replaces] if replaces is not None and replaces < len(others) else None
    order = _next_order(before.order, replaced)
    has_reason = KINDS[form_of(claim).kind].states_medicare_reason
    reason = insurance.medicare_reason if has_reason else ""
    written = _Writing(before, decision, decision.remaining(patient_paid), number + order)
    own = written.claim(loops.claim, [one for one in others if one is not replaced], number)
    levels: list[tuple[str, list[Segment]]] = [
        ("2000A", [*_segments(loops.parents[1].heading("2000B"))]),
        ("2000B", [*_subscriber_level(before, insurance, order, reason)]),
    ]
    if insurance.relationship != codes.SELF:
        levels.append(("2000C", [*_patient_level(before, insurance.relationship)]))
    levels.append((CLAIM, own))
    return msgspec.structs.replace(
        claim, parts=tuple(_numbered(levels)), sender_trace="", vendor_claim_id=vendor_claim_id
    )


def _numbered(levels: Iterable[tuple[str, list[Segment]]]) -> Iterator[X12Part]:
    """Yield the parts of a claim, its segments numbered from 1: it came in no file."""
    first = 1
    for loop, segments in levels:
        yield X12Part(loop, first, "~".join(["*".join(_trimmed(one)) for one in segments]))
        first += len(segments)


def _trimmed(segment: Sequence[str]) -> list[str]:
    found = list(segment)
    while not found[-1]:
        found.pop()
    return found


def _segments(items: Iterable[Segment | Loop]) -> Iterator[Segment]:
    for item in items:
        if isinstance(item, list):
            yield item
        else:
            yield from item.all_segments()


class _Before(NamedTuple):
    """What the claim before says of its payer, subscriber and patient."""

    order: str
    coverage: Segment
    """SBR of 2000B."""
    relationship: str
    subscriber: Loop
    payer: Loop
    patient: Loop
    """2010CA, or 2010BA if the subscriber is the patient."""
    details: list[str]
    """PAT05 to PAT09."""
    benefits: str
    release: str
    authorizations: tuple[Segment, ...]

    @property
    def payer_id(self) -> str:
        return self.payer.value("NM1", 9)


def _read_before(loops: ClaimLoops) -> _Before:
    """Return what the levels around a claim say. The guide requires each of these loops."""
    level = next(one for one in loops.parents if one.node.id == "2000B")
    dependent = next((one for one in loops.parents if one.node.id == "2000C"), None)
    coverage = level.segment("SBR") or ["SBR"]
    subscriber, payer = level.loop("2010BA"), level.loop("2010BB")
    assert subscriber is not None, "a claim that was sent has a subscriber"
    assert payer is not None, "a claim that was sent has a payer"
    own = dependent or level
    patient = (dependent.loop("2010CA") if dependent else None) or subscriber
    relationship = dependent.value("PAT", 1) if dependent else codes.SELF
    details = (own.segment("PAT") or [])[PATIENT_DETAILS]
    return _Before(
        get_element(coverage, 1) or ORDER[0],
        coverage,
        relationship,
        subscriber,
        payer,
        patient,
        details,
        loops.claim.value("CLM", 8) or "N",
        loops.claim.value("CLM", 9) or "Y",
        tuple(loops.claim.segments("REF", *OF_THE_PAYER)),
    )


def _next_order(before: str, replaced: Loop | None) -> str:
    stated = replaced.value("SBR", 1) if replaced else ""
    if stated and stated in ORDER[ORDER.find(before) + 1 :]:
        return stated
    return ORDER[min(ORDER.find(before) + 1, len(ORDER) - 1)]


def _subscriber_level(
    before: _Before, insurance: NextInsurance, order: str, medicare_reason: str
) -> Iterator[Segment]:
    """Yield 2000B of the next insurance."""
    is_patient = insurance.relationship == codes.SELF
    group = _text(insurance.group_number)
    plan = "" if group else _text(insurance.plan_name)
    coverage = insurance.coverage or UNKNOWN_COVERAGE
    yield ["HL", "2", "1", "22", "0" if is_patient else "1"]
    yield [
        "SBR", order, codes.SELF if is_patient else "", group, plan, medicare_reason, "", "", "", coverage,
    ]  # fmt: skip
    if is_patient and any(before.details):
        yield ["PAT", "", "", "", "", *before.details]
    names = map(_text, (insurance.last_name, insurance.first_name, insurance.middle_name))
    entity = "1" if insurance.first_name else "2"
    yield [
        "NM1",
        "IL",
        entity,
        *names,
        "",
        _text(insurance.suffix),
        "MI",
        _text(insurance.member_id),
    ]
    if is_patient:
        yield from _copies(before.patient, "N3", "N4", "DMG")
    yield [
        "NM1",
        "PR",
        "2",
        _text(insurance.payer_name)[:60],
        "",
        "",
        "",
        "",
        "PI",
        insurance.payer_id,
    ]


def _patient_level(before: _Before, relationship: str) -> Iterator[Segment]:
    """Yield 2000C: the patient, who is not the insured of the next payer."""
    yield ["HL", "3", "2", "23", "0"]
    yield ["PAT", relationship, "", "", "", *before.details]
    name = before.patient.segment("NM1") or ["NM1"]
    yield ["NM1", "QC", "1", *(name[3:8])]
    yield from _copies(before.patient, "N3", "N4", "DMG")


def _copies(loop: Loop, *ids: str) -> Iterator[Segment]:
    for id in ids:
        yield from loop.segments(id)


def _text(value: str) -> str:
    return clean(value)[0]


class _Writing:
    """The claim before while its decision is written into it."""

    def __init__(
        self, before: _Before, decision: PayerDecision, remaining: RemainingLiability, control: str
    ) -> None:
        self._before = before
        self._decision = decision
        self._remaining = remaining
        self._control = control
        """What stands for our number of the claim before, in numbers that we made from it."""

    def claim(self, loop: Loop, others: Sequence[Loop], number: str) -> list[Segment]:
        """Return 2300 with the decision. Payers that decided come before this one, the others after it."""
        found: list[Segment] = []
        lines = 0
        is_written = False
        for item in loop.items:
            if isinstance(item, list):
                found += self._own_segment(item, number)
                continue
            id = item.node.id
            is_later = id == "2320" and item.segment("AMT", "D") is None
            if not is_written and (
                id == "2400" or (is_later and any(item is one for one in others))
            ):
                found += self._other_payer()
                is_written = True
            if id == "2400":
                lines += 1
                found += self._line(item, lines, number)
            elif id != "2320" or any(item is one for one in others):
                found += item.all_segments()
        return found

    def _own_segment(self, segment: Segment, number: str) -> Iterator[Segment]:
        id = get_element(segment, 1)
        if segment[0] == "REF" and id in (*OF_THE_PAYER, *LEFT_OUT):
            return
        if segment[0] != "CLM":
            yield segment
            return
        changed = list(segment)
        if number and id == number:
            changed[1] = self._control
        words = changed[5].split(":")
        of_bill = words[1] == BILL_TYPE and words[2] not in {codes.REPLACEMENT, codes.VOID}
        changed[5] = ":".join([*words[:2], words[2] if of_bill else codes.ORIGINAL])
        yield changed

    def _other_payer(self) -> Iterator[Segment]:
        """Yield 2320, 2330A and 2330B of the payer that decided."""
        before, decision = self._before, self._decision
        coverage = [get_element(before.coverage, at) for at in (3, 4, 5)]
        filing = get_element(before.coverage, 9) or UNKNOWN_COVERAGE
        yield ["SBR", before.order, before.relationship, *coverage, "", "", "", filing]
        yield from _adjustments(decision.groups)
        yield ["AMT", "D", format_money(decision.paid)]
        if self._remaining.claim is not None:
            yield ["AMT", "EAF", format_money(self._remaining.claim)]
        yield ["OI", "", "", before.benefits, "", "", before.release]
        if decision.remarks:
            yield ["MOA", "", "", *decision.remarks[:REMARKS_MAX]]
        yield from _copies(before.subscriber, "NM1", "N3", "N4")
        yield from before.subscriber.segments("REF", "SY")
        yield from _copies(before.payer, "NM1", "N3", "N4")
        if not decision.services:
            yield ["DTP", "573", "D8", format_day(decision.day)]
        yield from [*before.payer.segments("REF", "2U", "EI", "FY", "NF")][:2]
        for qualifier in OF_THE_PAYER:
            yield from [one for one in before.authorizations if one[1] == qualifier][:1]
        if decision.payer_number:
            yield ["REF", "F8", _text(decision.payer_number)]

    def _line(self, loop: Loop, line: int, number: str) -> Iterator[Segment]:
        """Yield 2400 with what the payer decided of it."""
        is_written = False
        for item in loop.items:
            if isinstance(item, list):
                yield self._line_segment(item, line, number)
                continue
            if item.node.id == "2440" and not is_written:
                yield from self._services(loop, line)
                is_written = True
            yield from item.all_segments()
        if not is_written:
            yield from self._services(loop, line)

    def _line_segment(self, segment: Segment, line: int, number: str) -> Segment:
        if segment[0] != "REF":
            return segment
        if segment[1] in OF_THE_PAYER and not get_element(segment, 4):
            return [*segment[:3], "", f"2U:{self._before.payer_id}"]
        if segment[1] == "6R" and number and get_element(segment, 2).startswith(f"{number}-"):
            return ["REF", "6R", f"{self._control}-{line}"]
        return segment

    def _services(self, loop: Loop, line: int) -> Iterator[Segment]:
        """Yield 2430 for each service that the payer made of a line."""
        for at, service in enumerate(self._decision.services):
            if service.line != line:
                continue
            decided = service.decision
            units = format_money(decided.units) if decided.units else "1"
            procedure = _procedure(loop, service)
            revenue = loop.value("SV2", 1)
            yield [
                "SVD",
                self._before.payer_id,
                format_money(decided.paid),
                procedure,
                revenue,
                units,
            ]
            yield from _adjustments(decided.groups)
            yield ["DTP", "573", "D8", format_day(decided.day or self._decision.day)]
            owed = self._remaining.lines[at]
            if owed is not None:
                yield ["AMT", "EAF", format_money(owed)]


def _procedure(loop: Loop, service: DecidedService) -> str:
    """Return SVD03: the procedure as it was billed, or the one that the payer put in its place."""
    for id, element in LINE_SEGMENTS.items():
        billed = loop.value(id, element).split(":")
        if len(billed) > 1:
            is_changed = service.procedure and service.procedure != billed[1]
            parts = [billed[0], service.procedure, *service.modifiers] if is_changed else billed
            return ":".join(parts[:PROCEDURE_PARTS]).rstrip(":")
    return ""


def _adjustments(groups: Groups) -> Iterator[Segment]:
    """Yield the CAS of each group; one has six adjustments at most."""
    for group in ADJUSTMENT_GROUPS:
        own = groups.get(group, ())
        for at in range(0, len(own), limits.ADJUSTMENTS_PER_GROUP_MAX):
            segment = ["CAS", group]
            for one in own[at : at + limits.ADJUSTMENTS_PER_GROUP_MAX]:
                quantity = format_money(one.quantity) if one.quantity else ""
                segment += [one.reason or "", format_money(one.amount), quantity]
            yield segment
