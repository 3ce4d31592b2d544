"""A claim about to be written, with what the tables ask about it.

``Case`` is the claim, ``LineCase`` one of its lines. What both kinds of claim work out in the same way
stands here; what only one of them knows stands with its table.

Knows claims; knows no place in a file.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

from clearlane.claims import cob, codes
from clearlane.claims.cob import Decision, LineDecision
from clearlane.claims.fields import Claim, Line, lines_of
from clearlane.claims.placement import Shape, shape_of
from clearlane.claims.rules.diagnoses import diagnoses, pointed
from clearlane.claims.rules.people import relationship
from clearlane.claims.value_types import DEFAULT_REASONS, GROUPS, Adjusted
from clearlane.kernel import limits
from clearlane.x12.encode import clean, money, period

UNKNOWN_COVERAGE = "ZZ"
"""SBR09 where nobody said what kind of insurance it is."""
PERSON, ORGANISATION = "1", "2"
PAYER_NAME_CHARACTERS_MAX = 60
"""NM103."""
ONE = Decimal(1)
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Outgoing:
    """An accepted claim on its way to a payer."""

    claim: Claim
    number: str
    """Our claim number, at most 20 characters."""
    payer_id: str
    payer_name: str = ""
    """The payer's name as the directory has it; the caller's where empty."""
    other_payer_id: str = ""
    """How the directory knows the other payer of a shared claim, if it does."""
    account_as_number: bool = False
    """Whether the patient's account number is free to be CLM01."""


class Case:
    """A claim and what its table asks about it."""

    __slots__ = (
        "above", "claim", "decision", "given", "line_shapes", "lines", "lines_above", "out", "own_patient",
        "pointed", "shape",
    )  # fmt: skip

    def __init__(self, out: Outgoing, repeated: frozenset[str]) -> None:
        self.out = out
        self.claim: Any = out.claim
        self.given: Mapping[str, Any] = out.claim.__dict__
        self.above: Mapping[str, Any] = NOTHING
        self.shape = shape_of(tuple(self.given))
        self.lines: Sequence[Line] = lines_of(out.claim)
        above = _repeated(self.shape, repeated)
        self.lines_above = {name: self.given[name] for name in above} if above else NOTHING
        """What every line repeats of the claim."""
        self.line_shapes = [shape_of(tuple(line.__dict__), above) for line in self.lines]
        self.own_patient = relationship(out.claim) == codes.SELF
        """Whether the patient is the insured."""
        told = _tells_a_decision(self.shape) or any(map(_tells_a_decision, set(self.line_shapes)))
        self.decision: Decision | None = cob.decision(out.claim) if told else None
        self.pointed = places_in_hi(diagnoses(out.claim))
        """For each place of the claim's diagnoses its number in HI."""


class LineCase:
    """A line, its claim, and what an earlier payer decided about it."""

    __slots__ = ("above", "case", "decision", "given", "line", "place", "shape")

    def __init__(
        self, line: Line, shape: Shape, case: Case, place: str, decision: LineDecision | None
    ) -> None:
        self.line: Any = line
        self.given: Mapping[str, Any] = line.__dict__
        self.above = case.lines_above
        self.shape = shape
        self.case = case
        self.place = place
        """The claim's place of service; a line tells its own only where it differs."""
        self.decision = decision


# A decision is told by one of these fields; without them nobody need look for one.
_SIGNS = frozenset(
    {
        *cob.CLAIM_GROUPS,
        *cob.LINE_GROUPS,
        "X12_ClaimPrimaryPayerPaidAmount",
        "F29_PayerAmountPaid",
        "X12_ClaimAdjudicationDate",
        "X12_PrimaryPayerPaidAmount",
        "X12_AdjudicationOrPaymentDate",
        "X12_PrimaryPaidAmount",
        "X12_AdjudicationDate",
        "Adjustments",
    }
)


def _tells_a_decision(shape: Shape) -> bool:
    told: bool | None = shape.plans.get(_SIGNS)
    if told is None:
        told = shape.plans[_SIGNS] = not _SIGNS.isdisjoint(shape.names)
    return told


def _repeated(shape: Shape, names: frozenset[str]) -> tuple[str, ...]:
    found: tuple[str, ...] | None = shape.plans.get(names)
    if found is None:
        found = shape.plans[names] = tuple(name for name in shape.names if name in names)
    return found


def is_own_patient(case: Case) -> bool:
    """Whether the patient is the insured."""
    return case.own_patient


def order_of_payment(case: Case) -> str:
    """Second if an earlier payer has decided, else first."""
    return "S" if case.decision else "P"


def other_order_of_payment(case: Case) -> str:
    """The other payer's place in the order."""
    return "P" if case.decision else "S"


def self_code(case: Case) -> str | None:
    """18 where the patient is the insured; nothing otherwise."""
    return codes.SELF if case.own_patient else None


def directory_name(case: Case) -> str:
    """The payer's name as the directory has it, as X12 can carry it."""
    return clean(case.out.payer_name)[0][:PAYER_NAME_CHARACTERS_MAX]


def payer_id(case: Case) -> str:
    """The payer as the directory knows it."""
    return case.out.payer_id


def other_payer_id(case: Case) -> str | None:
    """What lines name the other payer by.

    X12 wants an id, and a claim has no field for it: without one from the directory the name without its
    blanks serves, so that the decisions of lines can point at the payer. An id has two characters at least.
    """
    name = cob.other_payer_name(case.claim)
    return case.out.other_payer_id or (name and name.replace(" ", "").ljust(2, "0"))


def person(told: object) -> str:
    """A first name makes a person; what has none is an organisation."""
    return PERSON


@lru_cache(maxsize=limits.VERDICTS_REMEMBERED_MAX)
def days(first: date, last: date) -> str:
    """A period as it stands in DTP02 and DTP03; days recur, so their texts are remembered."""
    return "*".join(period(first, last))


def first_of(*names: str) -> Callable[[Any], Any]:
    """The first of these fields that is filled."""

    def pick(told: Any) -> Any:
        given = told.given
        return next((given[name] for name in names if name in given), None)

    return pick


def when_own_patient(*names: str) -> Callable[[Case], Any]:
    """The insured's field; where the patient is the insured, the patient's serves too."""
    insured, *_ = names
    pick = first_of(*names)
    return lambda case: pick(case) if case.own_patient else case.given.get(insured)


def unless_zero(name: str) -> Callable[[Any], Decimal | None]:
    """An amount or count; some callers fill every number, and a zero says nothing."""
    return lambda told: told.given.get(name) or None


def yes(name: str) -> Callable[[Any], str | None]:
    """Y where a mark is set, else nothing."""
    return lambda told: "Y" if told.given.get(name) else None


def adjustments(told: Any) -> list[str] | None:
    """What the earlier payer adjusted, one text a group: the elements of a CAS from the first on."""
    decision: Decision | LineDecision | None = told.decision
    if not decision or not decision.groups:
        return None
    groups = decision.groups
    return [_adjustments(group, groups[group]) for group in GROUPS if group in groups]


def _adjustments(group: str, adjustments: Sequence[Adjusted]) -> str:
    parts = [group]
    for one in adjustments[: limits.ADJUSTMENTS_PER_GROUP_MAX]:
        quantity = "" if one.quantity is None else money(one.quantity)
        parts += [one.reason or DEFAULT_REASONS[group], money(one.amount), quantity]
    return "*".join(parts).rstrip("*")


def paid(told: Any) -> Decimal | None:
    """What the earlier payer paid; 0 for a denial."""
    decision: Decision | LineDecision | None = told.decision
    return decision.paid if decision else None


def decided(told: Any) -> bool:
    """Whether the earlier payer decided this."""
    return told.decision is not None


def decided_on(case: Case) -> Any:
    """The day of the claim's decision; where lines were decided, theirs are told instead."""
    decision = case.decision
    return decision.day if decision and not any(decision.lines) else None


def line_decided_on(told: LineCase) -> Any:
    """The day of a line's decision, else the claim's."""
    own, whole = told.decision, told.case.decision
    return (own and own.day) or (whole and whole.day)


def line_payer(told: LineCase) -> str | None:
    """The payer that decided the line."""
    return other_payer_id(told.case)


@lru_cache(maxsize=limits.VERDICTS_REMEMBERED_MAX)
def pointer_text(pointers: tuple[str | None, ...], places: tuple[int, ...]) -> str | None:
    """Pointers as X12 counts them; ``places`` gives for each place of the claim its number in HI."""
    found = []
    for pointer in pointers:
        at = pointed(pointer) if pointer else None
        number = places[at - 1] if at and at <= len(places) else 0
        if number and str(number) not in found:
            found.append(str(number))
    return ":".join(found[: limits.POINTERS_PER_LINE_MAX]) or None


def places_in_hi(codes: Sequence[str | None]) -> tuple[int, ...]:
    """For each place of the claim's diagnoses its number in HI; a blank place has none."""
    if all(codes):
        return tuple(range(1, len(codes) + 1))
    number, out = 0, []
    for code in codes:
        number += bool(code)
        out.append(number if code else 0)
    return tuple(out)


@lru_cache(maxsize=limits.VERDICTS_REMEMBERED_MAX)
def health_care_codes(version: str, codes: tuple[str | None, ...]) -> tuple[str, ...]:
    """Diagnoses as HI holds them: the first is the principal one."""
    first, rest = ("ABK", "ABF") if version == "10" else ("BK", "BF")
    given = [code for code in codes if code]
    return tuple(f"{rest if at else first}:{code}" for at, code in enumerate(given))


def same_place(case: Case, one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two addresses (street, city, state, ZIP code) are the same."""
    given = case.given
    for a, b in zip(one, other, strict=True):
        if given.get(a) != given.get(b) and _key(given.get(a)) != _key(given.get(b)):
            return False
    return True


def _key(text: str | None) -> str:
    """An address part for comparison; a ZIP code counts by its first five digits."""
    text = text or ""
    return text[:5] if len(text) == 9 and text.isdigit() else text
