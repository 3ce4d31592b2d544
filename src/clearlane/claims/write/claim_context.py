"""A claim that is about to be written, and the values that every kind of claim computes in the same way.

``ClaimContext`` is the claim, ``LineContext`` one of its lines: the placement tables call their functions with
these. A function that only one kind of claim needs is in ``placements_837p`` or ``placements_837d``.

Knows claims; knows no place in a file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any

from clearlane.claims import codes
from clearlane.claims.claim_form import AnyForm
from clearlane.claims.cob import (
    ZERO,
    EarlierDecision,
    EarlierLineDecision,
    Groups,
    OtherPayerDecision,
    RemainingLiability,
    remaining_liability,
)
from clearlane.claims.fields import Claim, Line
from clearlane.claims.value_types import ADJUSTMENT_GROUPS, DEFAULT_REASONS, EarlierAdjustment
from clearlane.claims.write.placement import ClaimShape, shape_of
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel import limits
from clearlane.x12.writer.encode import clean, format_money, format_period

UNKNOWN_COVERAGE = "ZZ"
"""SBR09 if the claim does not name the kind of insurance."""
ORDER_OF_PAYMENT = "PSTABCDEFGH"
"""SBR01 of the first payer, the second, and so on."""
PERSON, ORGANIZATION = "1", "2"
PAYER_NAME_CHARACTERS_MAX = 60
"""NM103."""
ONE = Decimal(1)
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OutgoingClaim:
    """An accepted claim with the numbers and names under which it goes to its payer."""

    claim: Claim
    number: str
    """The clearinghouse's claim number, at most 20 characters."""
    payer_id: str
    kind_payer_id: str = ""
    """The payer's id in claims of this kind; empty if that is ``payer_id``."""
    hop_payer_id: str = ""
    """The payer's id as the hop has it that the claim is sent over; empty if it goes to the payer."""
    payer_name: str = ""
    """The payer's name in the directory; if empty, the caller's is sent."""
    other_payer_id: str = ""
    """The other payer's id in the directory; empty if the directory has no payer of its name."""
    account_as_number: bool = False
    """Whether the patient's account number is sent as CLM01."""
    capital_letters: bool = False
    """Whether small letters of a claim from a file go out as capital ones."""

    @property
    def sent_payer_id(self) -> str:
        """The payer's id in the file that is sent."""
        return self.hop_payer_id or self.kind_payer_id or self.payer_id


class ClaimContext:
    """A claim, with what its placement tables need to know of it."""

    __slots__ = (
        "claim", "claim_values", "decision", "diagnoses", "diagnosis_numbers", "form", "line_shapes", "lines",
        "others", "outgoing", "patient_is_insured", "remaining", "shape", "tables", "values",
    )  # fmt: skip

    def __init__(self, outgoing: OutgoingClaim, form: AnyForm) -> None:
        self.outgoing = outgoing
        self.form = form
        self.tables = form.placements
        claim = outgoing.claim
        assert not isinstance(claim, X12Claim), "claims of files are written from their segments"
        self.claim: Any = claim
        self.values: Mapping[str, Any] = claim.__dict__
        self.claim_values: Mapping[str, Any] = NOTHING
        self.shape = shape_of(tuple(self.values))
        self.lines: Sequence[Line] = form.lines(self.claim)
        repeated = _repeated(self.shape, self.tables.line.repeated_claim_fields)
        self.line_shapes = _line_shapes(self.lines, repeated)
        relationship, diagnoses = form.values(self.claim, "subscriber.relationship", "diagnoses")
        self.patient_is_insured: bool = relationship == codes.SELF
        """Whether the patient is the insured."""
        decided = any(
            _has_any(shape, form.decision_fields) for shape in {self.shape, *self.line_shapes}
        )
        self.decision: EarlierDecision | None = (
            form.earlier_decision(self.claim) if decided else None
        )
        self.remaining: RemainingLiability | None = None
        """What the patient still owes after the earlier payer, as far as it is computed."""
        if self.decision:
            patient_paid = form.value(self.claim, "patient_paid") or ZERO
            self.remaining = remaining_liability(self.decision, patient_paid)
        self.diagnoses = tuple(diagnoses or ())
        self.diagnosis_numbers = hi_numbers(self.diagnoses)
        """The number in HI of each diagnosis of the claim."""
        self.others = other_payers(self, form.payer_decisions) if form.payer_decisions else ()
        """The other payers of a form that has several."""


class OtherPayerContext:
    """Another payer of a claim that may have several, with its insured and its decision."""

    __slots__ = (
        "claim_context", "claim_values", "decision", "order", "payer_id", "remaining", "shape", "values",
    )  # fmt: skip

    def __init__(
        self, payer: OtherPayerDecision, context: ClaimContext, order: str, directory_id: str
    ) -> None:
        self.claim_context = context
        self.values: Mapping[str, Any] = payer.part.__dict__
        self.claim_values: Mapping[str, Any] = NOTHING
        self.shape = shape_of(tuple(self.values))
        self.decision = payer.decision
        self.remaining = remaining_liability(payer.decision, ZERO) if payer.decision else None
        """What the patient still owes after this payer, as far as it is computed."""
        self.order = order
        """SBR01."""
        self.payer_id = payer.id or directory_id or _id_of_name(payer.name)


def other_payers(
    context: ClaimContext, read: Callable[[Mapping[str, Any]], Sequence[OtherPayerDecision]]
) -> tuple[OtherPayerContext, ...]:
    """Return the other payers of a claim: those that decided come before the claim's own, the others after it."""
    payers = read(context.values)
    earlier = [payer for payer in payers if payer.decision]
    later = [payer for payer in payers if not payer.decision]
    order = dict(zip(map(id, [*earlier, None, *later]), ORDER_OF_PAYMENT, strict=False))
    first, directory_id = payers[:1], context.outgoing.other_payer_id
    return tuple(
        OtherPayerContext(
            payer, context, order[id(payer)], directory_id if [payer] == first else ""
        )
        for payer in payers
    )


class LineContext:
    """A service line with its claim. What few lines have, an earlier decision, is looked up when it is asked for."""

    __slots__ = ("at", "claim_context", "claim_place", "line", "shape", "values")

    at: int
    """The line's place among the lines of the claim, from 0."""
    line: Any
    values: Mapping[str, Any]
    shape: ClaimShape

    def __init__(self, context: ClaimContext, place: str) -> None:
        self.claim_context = context
        self.claim_place = place
        """The claim's place of service; a line sends its own only if it differs."""

    @property
    def claim_values(self) -> Mapping[str, Any]:
        """The values of the claim, of which a line repeats some."""
        return self.claim_context.values

    @property
    def decision(self) -> EarlierLineDecision | None:
        """What an earlier payer decided about the line."""
        decision = self.claim_context.decision
        return decision.lines[self.at] if decision else None

    @property
    def remaining(self) -> Decimal | None:
        """What the patient still owes for the line after the earlier payer, as it is computed."""
        remaining = self.claim_context.remaining
        return remaining.lines[self.at] if remaining else None


def line_contexts(context: ClaimContext) -> Iterator[LineContext]:
    """Yield the context of each line: one object, which moves from line to line, so use it before the next."""
    current = LineContext(context, context.tables.place(context))
    for at, (line, shape) in enumerate(zip(context.lines, context.line_shapes, strict=True)):
        current.at = at
        current.line = line
        current.values = line.__dict__
        current.shape = shape
        yield current


def _line_shapes(lines: Sequence[Line], repeated: tuple[str, ...]) -> list[ClaimShape]:
    """Return the shape of each line; the fields of a line are mostly those of the line before."""
    shapes: list[ClaimShape] = []
    before: tuple[str, ...] = ()
    for line in lines:
        names = tuple(line.__dict__)
        if names != before or not shapes:
            shape, before = shape_of(names, repeated), names
        shapes.append(shape)
    return shapes


def _has_any(shape: ClaimShape, names: frozenset[str]) -> bool:
    """Return whether any of these fields is filled."""
    found: bool | None = shape.plans.get(names)
    if found is None:
        found = shape.plans[names] = not names.isdisjoint(shape.names)
    return found


def _repeated(shape: ClaimShape, names: frozenset[str]) -> tuple[str, ...]:
    found: tuple[str, ...] | None = shape.plans.get(names)
    if found is None:
        found = shape.plans[names] = tuple(name for name in shape.names if name in names)
    return found


def patient_is_insured(context: ClaimContext) -> bool:
    """Return whether the patient is the insured."""
    return context.patient_is_insured


def order_of_payment(context: ClaimContext) -> str:
    """Return SBR01 of the payer: it comes after the payers that have decided."""
    if context.others:
        return ORDER_OF_PAYMENT[sum(other.decision is not None for other in context.others)]
    return "S" if context.decision else "P"


def other_order_of_payment(context: ClaimContext) -> str:
    """Return SBR01 of the other payer."""
    return "P" if context.decision else "S"


def self_code(context: ClaimContext) -> str | None:
    """Return 18 if the patient is the insured, else None."""
    return codes.SELF if context.patient_is_insured else None


def directory_name(context: ClaimContext) -> str:
    """Return the payer's name in the directory, in characters that X12 can carry."""
    return _directory_name(context.outgoing.payer_name)


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _directory_name(name: str) -> str:
    return clean(name)[0][:PAYER_NAME_CHARACTERS_MAX]


def payer_id(context: ClaimContext) -> str:
    """Return the payer's id in the directory."""
    return context.outgoing.sent_payer_id


def other_payer_id(context: ClaimContext) -> str | None:
    """Return the id under which lines refer to the other payer.

    X12 requires an id (at least two characters) and a claim has no field for it. If the directory has no payer of
    this name, it is the name without blanks, so that 2430/SVD01 can refer to 2330B/NM109; a rule warns of that.
    """
    name = context.form.other_payer_name(context.claim)
    return context.outgoing.other_payer_id or (name and _id_of_name(name))


def _id_of_name(name: str) -> str:
    return name.replace(" ", "").ljust(2, "0")


def person(context: object) -> str:
    """Return the entity type of a person. Tables call it when a first name is filled."""
    return PERSON


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def days(first: date, last: date) -> str:
    """Return a period as DTP02 and DTP03. Cached, because the same days recur."""
    return "*".join(format_period(first, last))


def first_of(*names: str) -> Callable[[Any], Any]:
    """Return a function that picks the first of these fields that is filled."""

    def pick(context: Any) -> Any:
        values = context.values
        return next((values[name] for name in names if name in values), None)

    return pick


def insured_or_patient(*names: str) -> Callable[[ClaimContext], Any]:
    """Return a function for an insured's field that falls back on the patient's if both are one person."""
    insured, *_ = names
    pick = first_of(*names)
    return lambda context: (
        pick(context) if context.patient_is_insured else context.values.get(insured)
    )


def unless_zero(name: str) -> Callable[[Any], Decimal | None]:
    """Return a function for an amount or count that omits zero: some callers fill every number."""
    return lambda context: context.values.get(name) or None


def yes_if_set(name: str) -> Callable[[Any], str | None]:
    """Return a function that gives Y if a flag is set, else None."""
    return lambda context: "Y" if context.values.get(name) else None


def earlier_adjustments(context: Any) -> list[str] | None:
    """Return the earlier payer's adjustments, one text per group: the elements of a CAS."""
    decision: EarlierDecision | EarlierLineDecision | None = context.decision
    return adjustment_texts(decision.groups) if decision and decision.groups else None


def adjustment_texts(groups: Groups) -> list[str]:
    """Return adjustments as the elements of a CAS, one text per group."""
    return [_adjustments(group, groups[group]) for group in ADJUSTMENT_GROUPS if group in groups]


def _adjustments(group: str, adjustments: Sequence[EarlierAdjustment]) -> str:
    parts = [group]
    for one in adjustments[: limits.ADJUSTMENTS_PER_GROUP_MAX]:
        quantity = "" if one.quantity is None else format_money(one.quantity)
        parts += [one.reason or DEFAULT_REASONS[group], format_money(one.amount), quantity]
    return "*".join(parts).rstrip("*")


def earlier_paid(context: Any) -> Decimal | None:
    """Return what the earlier payer paid; 0 for a denial."""
    decision: EarlierDecision | EarlierLineDecision | None = context.decision
    return decision.paid if decision else None


def claim_remaining_liability(context: ClaimContext) -> Decimal | None:
    """Return what the patient still owes for the claim; None if lines were decided, since they send their own."""
    if context.remaining is None or context.remaining.claim is None:
        return None
    stated: Decimal | None = context.form.value(context.claim, "remaining_liability")
    return context.remaining.claim if stated is None else stated


def line_remaining_liability(context: LineContext) -> Decimal | None:
    """Return what the patient still owes for a decided line, as it is stated, else as it is computed."""
    form = context.claim_context.form
    stated: Decimal | None = form.value(context.line, "lines[].remaining_liability")
    return context.remaining if stated is None else stated


def medicare_reason(context: ClaimContext) -> str | None:
    """Return why Medicare, the payer, pays second; None if it does not."""
    return _medicare_reason(context) if context.decision else None


def other_medicare_reason(context: ClaimContext) -> str | None:
    """Return why Medicare, the other payer, pays second; None if it does not."""
    return None if context.decision else _medicare_reason(context)


def _medicare_reason(context: ClaimContext) -> str | None:
    value = partial(context.form.value, context.claim)
    # An earlier payer decided: then the payer is second, else the other payer is.
    coverage = value("payer.coverage" if context.decision else "other_payers[0].coverage")
    return value("medicare_reason") if coverage in codes.MEDICARE else None


def has_earlier_decision(context: Any) -> bool:
    """Return whether an earlier payer decided the claim or line."""
    return context.decision is not None


def claim_decision_day(context: ClaimContext) -> Any:
    """Return the day of the claim's decision; None if lines were decided, since they send their own."""
    decision = context.decision
    return decision.day if decision and not any(decision.lines) else None


def line_decision_day(context: LineContext) -> Any:
    """Return the day of a line's decision, else the claim's."""
    own, whole = context.decision, context.claim_context.decision
    return (own and own.day) or (whole and whole.day)


def line_payer(context: LineContext) -> str | None:
    """Return the id of the payer that decided the line."""
    return other_payer_id(context.claim_context)


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def pointer_text(pointers: tuple[str | None, ...], places: tuple[int, ...]) -> str | None:
    """Return pointers as X12 counts them; ``places`` holds the number in HI of each diagnosis."""
    found = []
    for pointer in pointers:
        at = codes.POINTED_PLACES.get(pointer) if pointer else None
        number = places[at - 1] if at and at <= len(places) else 0
        if number and str(number) not in found:
            found.append(str(number))
    return ":".join(found[: limits.POINTERS_PER_LINE_MAX]) or None


def hi_numbers(codes: Sequence[str | None]) -> tuple[int, ...]:
    """Return the number in HI of each diagnosis; 0 for a blank one."""
    if all(codes):
        return tuple(range(1, len(codes) + 1))
    number, numbers = 0, []
    for code in codes:
        number += bool(code)
        numbers.append(number if code else 0)
    return tuple(numbers)


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def health_care_codes(version: str, codes: tuple[str | None, ...]) -> tuple[str, ...]:
    """Return diagnoses as components of HI: the first is the principal one."""
    first, rest = ("ABK", "ABF") if version == "10" else ("BK", "BF")
    values = [code for code in codes if code]
    return tuple(f"{rest if at else first}:{code}" for at, code in enumerate(values))


def same_place(context: ClaimContext, one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two addresses (street, city, state, ZIP code) are the same."""
    values = context.values
    for a, b in zip(one, other, strict=True):
        if values.get(a) != values.get(b) and _key(values.get(a)) != _key(values.get(b)):
            return False
    return True


def _key(text: str | None) -> str:
    """Return an address part for comparison; for a ZIP code, its first five digits."""
    text = text or ""
    return text[:5] if len(text) == 9 and text.isdigit() else text
