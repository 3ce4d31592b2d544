"""The type of a claim form: everything in which kinds of claim differ, as one value.

Rules, placement, decoding and matching ask the form of a claim and know no kind. The forms and their registry
are in ``claims.forms``.

Knows what a form must be able to tell; knows no kind and no field by name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from clearlane.claims import codes
from clearlane.claims.cob import EarlierDecision, EarlierLineDecision
from clearlane.claims.fields import ClaimPart, drop_empty_fields, filled_names
from clearlane.claims.kinds import ClaimKind
from clearlane.claims.view import ClaimView
from clearlane.claims.view_builder import (
    ClaimReading,
    Given,
    PartReading,
    Places,
    ViewTable,
    build,
    compile_line,
    compile_other_payer,
    compile_reading,
    field_name,
)
from clearlane.kernel import limits

if TYPE_CHECKING:
    from clearlane.claims.write.placement import PlacementTables

C = TypeVar("C", bound=ClaimPart)
L = TypeVar("L", bound=ClaimPart)

FilledFields = Mapping[str, Any]
"""The filled fields of a claim or line by name, decoded or still as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFieldNames:
    """What one form calls the fields that every kind of claim has; empty for a field it lacks."""

    # Of the claim.
    account: str
    """The patient's account number, which may be CLM01."""
    member_id: str
    billing_state: str
    billing_zip: str
    icd_version: str
    total_charge: str
    patient_paid: str
    frequency: str
    original_reference: str
    """The payer's number of the claim that this one replaces."""
    purpose: str
    """What is asked of the payer: a payment, or a predetermination."""
    other_coverage: str
    """The mark that there is another insurance."""
    earlier_paid: str
    """What an earlier payer paid for the whole claim."""
    coverage: str
    """The payer's type of coverage (SBR09)."""
    other_coverage_type: str
    """The other payer's type of coverage."""
    medicare_reason: str
    """Why Medicare pays after another payer."""
    remaining_liability: str
    """What the patient still owes for the claim after an earlier payer."""
    # Of a line.
    first_day: str
    last_day: str
    procedure: str
    line_control: str
    """The line's control number, by which answers find it."""
    line_remaining_liability: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ClaimForm(Generic[C, L]):
    """A kind of claim: its model, its fields under shared names, and functions that read them.

    ``C`` is the model of a claim, ``L`` that of a line.
    """

    name: str
    kind: ClaimKind
    form_name: str
    """The paper form."""
    box_titles: Mapping[str, str]
    """Names of boxes that several fields share."""
    document: type[ClaimPart]
    document_type: str
    claim: type[ClaimPart]
    line: type[ClaimPart]
    lines_field: str
    """The claim's field that holds its service lines."""
    line_segment: str
    """The segment that begins with a line's procedure."""
    load_placements: Callable[[], "PlacementTables[Any, Any]"]
    """Loads the tables that place its fields in an 837, at their first use: reading a claim needs none of them."""
    names: SharedFieldNames

    # Groups of fields.
    diagnoses_max: int
    persons: tuple[tuple[str, str, str], ...]
    """Patient's field, insured's field, and what it is: last name, first name, birth date, sex."""
    other_insurance_fields: frozenset[str]
    """Any of these means that there is another insurance, besides the mark ``names.other_coverage``."""
    other_payer_names: tuple[str, ...]
    """The fields that hold the other payer's name; the first that is filled counts."""
    decision_fields: frozenset[str]
    """A claim without any of these, on itself and on its lines, has no decision of an earlier payer."""

    # The view.
    view_table: ViewTable
    line_view_table: ViewTable
    view_places: Mapping[str, str]
    """Places of values that the tables of the view do not tell, by path."""
    view_names: Mapping[str, str]
    """What a sentence calls a value that several fields make, by path."""
    duplicate_paths: tuple[str, ...]
    """What a payer compares when it looks for duplicate lines."""
    decide: Callable[[Given, tuple[EarlierLineDecision | None, ...]], EarlierDecision | None]
    """The earlier payer's decision of a claim, by its fields and the decisions of its lines."""

    # Functions of the claim.
    diagnoses: Callable[[C], Sequence[str | None]]
    """The diagnoses by place; a place may be blank."""
    icd_version: Callable[[C], str]
    """``10`` or ``9``."""
    relationship: Callable[[C], str]
    """The X12 code of the patient's relationship to the insured."""
    is_predetermination: Callable[[C], bool]
    """Whether the claim asks what would be paid, for services not yet done."""
    billing_ids: Callable[[C], tuple[str | None, str | None]]
    """The billing provider's NPI and tax id."""
    missing_fields: Callable[[FilledFields, Sequence[FilledFields]], Iterator[str]]
    """The paths of missing fields that are required in one case and not in another: claim and lines in."""

    # Functions of a line.
    line_charge: Callable[[L], Decimal]

    def __repr__(self) -> str:
        """Return its name."""
        return self.name

    def view(self, claim: C) -> ClaimView:
        """Return the view of a claim."""
        reading = claim_reading(self, filled_names(claim))
        lines = [(line, line_reading(self, filled_names(line))) for line in self.lines(claim)]
        return build(self, claim, reading, lines)

    def value(self, claim: C, path: str) -> Any:
        """Return one value of a claim as it was sent, by its path in the view; None if it has none."""
        return claim.__dict__.get(field_at(self, path))

    def with_changes(self, claim: C, changes: Mapping[str, Any]) -> C:
        """Return a claim with other values, by their paths in the view; None removes a value."""
        fields = {self.locate(path): value for path, value in changes.items()}
        changed: C = claim.model_copy(update=fields)
        drop_empty_fields(changed)
        return changed

    def has(self, path: str) -> bool:
        """Return whether the form has a field for a path of the view."""
        return places(self).has(path)

    def locate(self, path: str) -> str:
        """Return the path of the field that holds the value of a path of the view."""
        return locate(self, path)

    def name_of(self, path: str) -> str:
        """Return the field that holds the value of a path of the view, as a sentence names it."""
        return self.view_names.get(path) or field_name(self.locate(path.replace("[]", "[0]")))

    @property
    def pointers(self) -> str:
        """The letters by which a line names the diagnoses."""
        return codes.POINTER_LETTERS

    @property
    def placements(self) -> "PlacementTables[Any, Any]":
        """The tables that place its fields in an 837."""
        return self.load_placements()

    def lines(self, claim: C) -> tuple[L, ...]:
        """Return the service lines."""
        found: tuple[L, ...] = claim.__dict__[self.lines_field]
        return found

    def charge(self, claim: C) -> Decimal:
        """Return the total charge that the claim states."""
        found: Decimal = claim.__dict__[self.names.total_charge]
        return found

    def patient_birth(self, claim: C) -> date:
        """Return the patient's birth date; a claim for the insured need not repeat it."""
        patient, insured, _ = self.persons[2]
        given = claim.__dict__
        found: date = given.get(patient) or given[insured]
        return found

    def accidents(self, claim: C) -> tuple[str, ...]:
        """Return the causes of the condition as X12 codes: AA auto, EM employment, OA other accident."""
        found: tuple[str, ...] = self.view_table.computed["causes"](claim.__dict__)
        return found

    def earlier_decision(self, claim: C) -> EarlierDecision | None:
        """Return the earlier payer's decision, or None."""
        decide_line = self.line_view_table.computed["decision"]
        lines = [line.__dict__ for line in self.lines(claim)]
        decided = [
            None if self.decision_fields.isdisjoint(line) else decide_line(line) for line in lines
        ]
        return self.decide(claim.__dict__, tuple(decided))

    def has_other_insurance(self, claim: C) -> bool:
        """Return whether the claim has fields of another insurance."""
        given = claim.__dict__
        return bool(given.get(self.names.other_coverage)) or not (
            self.other_insurance_fields.isdisjoint(given)
        )

    def other_payer_name(self, claim: C) -> str | None:
        """Return the other payer's name, or None."""
        given = claim.__dict__
        return next((given[name] for name in self.other_payer_names if name in given), None)

    def medicare_is_second(self, claim: C, *, decided: bool) -> bool:
        """Return whether Medicare pays after another payer, by the types of coverage that the claim states.

        ``decided`` is whether an earlier payer decided the claim: the payer is then second, else the other payer is.
        """
        name = self.names.coverage if decided else self.names.other_coverage_type
        return claim.__dict__.get(name) in codes.MEDICARE

    def service_days(self, line: L) -> tuple[date | None, date | None]:
        """Return the first and last day of a line; the last is None if it was not given."""
        given = line.__dict__
        return given.get(self.names.first_day), given.get(self.names.last_day)

    def procedure(self, line: L) -> str:
        """Return the procedure code of a line."""
        found: str = line.__dict__[self.names.procedure]
        return found

    def frequency(self, claim: C) -> str:
        """Return the claim frequency: 1 original, 7 replacement, 8 void; 6, corrected, is not accepted."""
        return self.value(claim, "frequency") or codes.ORIGINAL

    def agreeing_fields(self, claim: C, name: str) -> tuple[str, ...]:
        """Return the filled fields that must hold the same as this one: patient's and insured's of one person."""
        given = claim.__dict__
        if self.relationship(claim) != codes.SELF:
            return ()
        pairs = [pair[:2] for pair in self.persons if name in pair[:2]]
        return tuple(one for pair in pairs for one in pair if one != name and one in given)


AnyForm = ClaimForm[Any, Any]


@cache
def field_at(form: AnyForm, path: str) -> str:
    """Return the field that holds the value of a path; empty if the form has none."""
    return form.locate(path) if form.has(path) else ""


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def claim_reading(form: AnyForm, names: tuple[str, ...]) -> ClaimReading:
    """Return how a claim with certain filled fields is read into a view."""
    return ClaimReading(
        compile_reading(form.view_table, names),
        compile_other_payer(form.view_table, names),
        may_decide=not form.decision_fields.isdisjoint(names),
        names_other_payer=not form.other_insurance_fields.isdisjoint(names),
    )


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def line_reading(form: AnyForm, names: tuple[str, ...]) -> PartReading:
    """Return how a line with certain filled fields is read into a view."""
    return compile_line(form.line_view_table, names)


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def locate(form: AnyForm, path: str) -> str:
    """Return the path of the field that holds the value of a path of the view. Claims of one caller repeat findings."""
    return places(form).locate(path)


@cache
def places(form: AnyForm) -> Places:
    """Return where a form has the values of a view."""
    return Places(
        form.claim, form.view_table, form.lines_field, form.line_view_table, form.view_places
    )
