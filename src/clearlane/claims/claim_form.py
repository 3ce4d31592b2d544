"""The type of a claim form: everything in which kinds of claim differ, as one value.

Rules, placement, decoding and matching ask the form of a claim and know no kind. The forms and their registry
are in ``claims.forms``.

Knows what a form must be able to tell; knows no kind and no field by name.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from clearlane.claims import codes
from clearlane.claims.cob import EarlierDecision, OtherPayerDecision
from clearlane.claims.fields import ClaimPart, filled_names, value_at, with_fields
from clearlane.claims.kinds import ClaimKind
from clearlane.claims.view import ClaimView, FormPaths
from clearlane.claims.view_builder import (
    ClaimReading,
    DecisionMaker,
    Given,
    PartReading,
    Places,
    ViewTable,
    build,
    compile_claim,
    compile_line,
    field_name,
)
from clearlane.kernel import limits

if TYPE_CHECKING:
    from clearlane.claims.write.placement import PlacementTables

C = TypeVar("C", bound=ClaimPart)
L = TypeVar("L", bound=ClaimPart)

_LINE_PATH = re.compile(r"lines\[(\d+)\]\.(.+)")

AnyPlacements: TypeAlias = "PlacementTables[Any, Any]"  # Any: of the claims of any form
FilledFields = Mapping[str, Any]
"""The filled fields of a claim or line by name, decoded or still as JSON."""


class AnyClaimForm(FormPaths, Protocol):
    """What the form of any claim can do, whether it came as JSON or as a file."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> ClaimKind: ...
    @property
    def line_segment(self) -> str: ...

    def view(self, claim: Any) -> ClaimView:
        """Return the view of a claim."""
        ...

    def value(self, claim: Any, path: str) -> Any:
        """Return one value of a claim, by its path in the view; None if it has none."""
        ...

    def values(self, claim: Any, *paths: str) -> list[Any]:
        """Return several values of a claim, as :meth:`value` returns each."""
        ...

    def frequency(self, claim: Any) -> str:
        """Return the claim frequency."""
        ...

    def agreeing_fields(self, claim: Any, name: str) -> tuple[str, ...]:
        """Return the filled fields that must hold the same as this one."""
        ...


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
    load_placements: Callable[[], AnyPlacements]
    """Loads the tables that place its fields in an 837, at their first use: reading a claim needs none of them."""

    # Groups of fields.
    diagnoses_max: int
    persons: tuple[tuple[str, str, str], ...]
    """Patient's field, insured's field, and what it is: last name, first name, birth date, sex."""
    other_insurance_fields: frozenset[str]
    """Any of these means that there is another insurance, besides the mark ``other_coverage``."""
    other_payer_names: tuple[str, ...]
    """The paths of the fields that hold the other payer's name; the first that is filled counts."""
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
    decide: DecisionMaker

    # Functions of the claim.
    missing_fields: Callable[[FilledFields, Sequence[FilledFields]], Iterator[str]]
    """The paths of missing fields that are required in one case and not in another: claim and lines in."""
    payer_decisions: Callable[[FilledFields], Sequence[OtherPayerDecision]] | None = None
    """For a form with several other payers: what each of them decided, by the fields of the claim."""

    def __repr__(self) -> str:
        """Return its name."""
        return self.name

    def view(self, claim: C) -> ClaimView:
        """Return the view of a claim."""
        reading = claim_reading(self, filled_names(claim))
        lines = [(line, line_reading(self, filled_names(line))) for line in self.lines(claim)]
        return build(self, self.decide, claim, reading, lines)

    def value(self, claim: ClaimPart, path: str) -> Any:
        """Return one value as its field has it, by its path in the view; None if it has none.

        Of a line, ``claim`` is the line and the path begins with ``lines[]``. A view is read for many values.
        """
        return reader_at(self, path)(claim.__dict__)

    def values(self, claim: ClaimPart, *paths: str) -> list[Any]:
        """Return several values, as :meth:`value` returns each: what is read of every claim is looked up once."""
        given = claim.__dict__
        return [read(given) for read in readers_at(self, paths)]

    def with_changes(self, claim: C, changes: Mapping[str, Any]) -> C:
        """Return a claim with other values, by their paths in the view (``lines[2].charge``); None removes a value.

        The tables that read a path write it. A path that several fields make, and that no table writes, is a ValueError.
        """
        fields: dict[str, Any] = {}
        for path, value in changes.items():
            fields |= self._fields_for(claim, path, value)
        return with_fields(claim, fields)

    def _fields_for(self, claim: C, path: str, value: Any) -> dict[str, Any]:
        """Return the fields, by their paths, that state a value at a path of the view."""
        of_line = _LINE_PATH.fullmatch(path)
        if of_line is None:
            at, own = "", self.view_table.write(path, value, claim.__dict__)
        else:
            at, line = f"{self.lines_field}[{of_line[1]}].", self.lines(claim)[int(of_line[1])]
            own = self.line_view_table.write(of_line[2], value, line.__dict__)
        return (
            {self.locate(path): value}
            if own is None
            else {at + name: one for name, one in own.items()}
        )

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
    def id_field(self) -> str:
        """The field that holds the caller's claim id."""
        return field_at(self, "vendor_claim_id")

    @property
    def payer_id_hint(self) -> str:
        """Which ids of a payer are accepted."""
        return "give a PayerId or SvcPayerId of the payer list"

    @property
    def pointers(self) -> str:
        """The letters by which a line names the diagnoses."""
        return codes.POINTER_LETTERS

    @property
    def placements(self) -> AnyPlacements:
        """The tables that place its fields in an 837."""
        return self.load_placements()

    def lines(self, claim: C) -> tuple[L, ...]:
        """Return the service lines."""
        found: tuple[L, ...] = claim.__dict__[self.lines_field]
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
        # The few fields are looked up among those of the claim, not the other way around.
        given = claim.__dict__
        return bool(self.value(claim, "other_coverage")) or not (
            given.keys().isdisjoint(self.other_insurance_fields)
        )

    def other_payer_name(self, claim: C) -> str | None:
        """Return the other payer's name, or None."""
        for name in self.other_payer_names:  # of every claim: most fields need no path
            value = claim.__dict__.get(name) if name.isidentifier() else value_at(claim, name)
            if value:
                return str(value)
        return None

    def frequency(self, claim: C) -> str:
        """Return the claim frequency: 1 original, 7 replacement, 8 void; 6, corrected, is not accepted."""
        return self.value(claim, "frequency") or codes.ORIGINAL

    def agreeing_fields(self, claim: C, name: str) -> tuple[str, ...]:
        """Return the filled fields that must hold the same as this one: patient's and insured's of one person."""
        given = claim.__dict__
        if self.value(claim, "subscriber.relationship") != codes.SELF:
            return ()
        pairs = [pair[:2] for pair in self.persons if name in pair[:2]]
        return tuple(one for pair in pairs for one in pair if one != name and one in given)


AnyForm = ClaimForm[Any, Any]


@cache
def field_at(form: AnyForm, path: str) -> str:
    """Return the name of the field that holds the value of a path; empty if the form has none."""
    return field_name(form.locate(path.replace("[]", "[0]"))) if form.has(path) else ""


@cache
def reader_at(form: AnyForm, path: str) -> Callable[[Given], Any]:
    """Return what reads the value of a path from the filled fields of a claim or line."""
    _, line, own = path.rpartition("lines[].")
    return (form.line_view_table if line else form.view_table).reader(own)


@cache
def readers_at(form: AnyForm, paths: tuple[str, ...]) -> tuple[Callable[[Given], Any], ...]:
    """Return what reads the values of several paths."""
    return tuple([reader_at(form, path) for path in paths])


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def claim_reading(form: AnyForm, names: tuple[str, ...]) -> ClaimReading:
    """Return how a claim with certain filled fields is read into a view."""
    return ClaimReading(
        *compile_claim(form.view_table, names),
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
