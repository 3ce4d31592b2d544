"""Build the view of a JSON claim by a table: what the form calls each value, and its path in the view.

Claims of one caller have few shapes (sets of filled fields), so the reading of a part is compiled once per shape:
one getter for its plain fields, and a reading for each part inside that the shape has.

Knows how a view is put together; knows no form and no field by name.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

from clearlane.claims.cob import EarlierDecision, EarlierLineDecision
from clearlane.claims.fields import ClaimField, ClaimPart, fields_of, nested_parts
from clearlane.claims.institutional_view import InstitutionalView
from clearlane.claims.kinds import ClaimKind
from clearlane.claims.view import (
    ClaimAttachmentView,
    ClaimContractView,
    ClaimView,
    DatesView,
    LineDrugView,
    LineView,
    MeasurementView,
    PayerView,
    PersonView,
    ProviderView,
    ViewedForm,
)

Given = Mapping[str, Any]
"""The filled fields of a claim or line by name."""
OTHER_PAYER = "other_payers[0]"

_PARTS: Mapping[type, Mapping[str, type]] = {
    ClaimView: {
        "payer": PayerView,
        "subscriber": PersonView,
        "patient": PersonView,
        **dict.fromkeys(
            (
                "billing",
                "pay_to",
                "rendering",
                "referring",
                "supervising",
                "ordering",
                "attending",
                "operating",
                "other_operating",
                "facility",
            ),
            ProviderView,
        ),
        "dates": DatesView,
        ClaimKind.INSTITUTIONAL.value: InstitutionalView,
        "contract": ClaimContractView,
        "attachments[0]": ClaimAttachmentView,
        OTHER_PAYER: PayerView,
    },
    LineView: {
        "rendering": ProviderView,
        "referring": ProviderView,
        "contract": ClaimContractView,
        "measurement": MeasurementView,
        "drug": LineDrugView,
    },
    PayerView: {"insured": PersonView},
}
_INDEX = re.compile(r"\[(\d+)\]")
_ITEM = re.compile(r"(.+)\[(\d+)\]")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ViewTable:
    """Where the fields of a part are in the view."""

    view: type
    paths: Mapping[str, str]
    """The path of each field's value; several fields may make one value."""
    converted: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    """How the value of a field becomes the value of its path, if not as it is."""
    computed: Mapping[str, Callable[[Given], Any]] = field(default_factory=dict)
    """Values made from several fields, by path."""
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The computed values that a field makes beside the one at its path."""
    written: Mapping[str, Callable[[Any, Given], Mapping[str, Any]]] = field(default_factory=dict)
    """The fields that state a value of a path that is converted or computed: the value and the other fields in."""
    items: Mapping[str, "ViewTable"] = field(default_factory=dict)
    """Tables of the parts in a list, by field."""

    def fields_at(self, path: str) -> list[str]:
        """Return the names of the fields that make the value of a path."""
        return [name for name, own in self.paths.items() if own == path]

    def reader(self, path: str) -> Callable[[Given], Any]:
        """Return what reads the value of a path; None if its field is not filled."""
        if path in self.computed:
            return self.computed[path]
        name = next(iter(self.fields_at(path)), "")
        convert = self.converted.get(name)
        if convert is None:
            return lambda given: given.get(name)
        return lambda given: convert(given[name]) if name in given else None

    def write(self, path: str, value: Any, given: Given) -> Mapping[str, Any] | None:
        """Return the fields that state a value; None if the path has one field, which states it as it is."""
        item = _ITEM.fullmatch(path)
        if item and item[1] in self.written:
            items = [*self.reader(item[1])(given)]
            items[int(item[2])] = value
            return self.written[item[1]](tuple(items), given)
        if value is not None and path in self.written:
            return self.written[path](value, given)
        if path not in self.computed:
            return None
        if value is not None:
            raise ValueError(f"{path} cannot be written: several fields make it")
        return dict.fromkeys(self.fields_at(path))

    def rows(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return certain fields, each with each path whose value it makes."""
        known = [name for name in names if name in self.paths]
        return [
            *((name, self.paths[name]) for name in known),
            *((name, path) for name in known for path in self.also.get(name, ())),
        ]

    def filled_paths(self, names: Iterable[str]) -> set[str]:
        """Return the paths that certain filled fields have, and those of the parts around them."""
        found: set[str] = set()
        for _, path in self.rows(names):
            words = path.split(".")
            found.update(".".join(words[:count]) for count in range(1, len(words) + 1))
        return found


def split(text: str) -> tuple[str, ...]:
    """Return the values of a field that holds several, separated by commas."""
    return tuple(text.split(","))


def joined(name: str) -> Callable[[Sequence[str], Given], dict[str, str]]:
    """Return what writes several values into one field, separated by commas."""
    return lambda words, given: {name: ",".join(words)}


Reading = Callable[[Given], dict[str, Any]]
"""The compiled reading of a part with certain filled fields: the attributes of the part that are filled."""
PartReading = Callable[[Given], Any]
"""The compiled reading of one value of a view: a part, or what several fields make."""


def make(view: type, values: dict[str, Any]) -> Any:
    """Return a part of a view with certain values; the others are read from the class, as its defaults are."""
    # A frozen dataclass would set each attribute, filled or not, by a call of its own.
    part: Any = object.__new__(view)
    object.__setattr__(part, "__dict__", values)
    return part


def _item(table: ViewTable, item: ClaimPart) -> Any:
    given = item.__dict__
    return make(table.view, {table.paths[name]: value for name, value in given.items()})


DecisionMaker = Callable[[Given, tuple[EarlierLineDecision | None, ...]], EarlierDecision | None]
"""Returns the earlier payer's decision of a claim, by its fields and the decisions of its lines."""


class ClaimReading(NamedTuple):
    """The compiled reading of a claim with certain filled fields."""

    own: Reading
    other_payer: Reading
    may_decide: bool
    """Whether the claim has fields of an earlier payer's decision, beside those of its lines."""
    names_other_payer: bool


def build(
    form: ViewedForm,
    decide: DecisionMaker,
    claim: ClaimPart,
    reading: ClaimReading,
    lines: Iterable[tuple[ClaimPart, PartReading]],
) -> ClaimView:
    """Return the view of a claim by the readings of its shape and of those of its lines."""
    given = claim.__dict__
    values = reading.own(given)
    values["form"] = form
    found = tuple([own(line.__dict__) for line, own in lines])
    values["lines"] = found
    decided = tuple([line.decision for line in found])
    decision = decide(given, decided) if reading.may_decide or any(decided) else None
    is_named = reading.names_other_payer or bool(values.get("other_coverage"))
    # A form with several other payers has read them already.
    if (is_named or decision) and "other_payers" not in values:
        other = reading.other_payer(given)
        other |= {"decision": decision, "is_named": is_named}
        values["other_payers"] = (make(PayerView, other),)
    view: ClaimView = make(ClaimView, values)
    return view


def compile_claim(table: ViewTable, names: Iterable[str]) -> tuple[Reading, Reading]:
    """Return the readings of a claim whose filled fields these are, and of another payer on it."""
    rows = table.rows(names)
    other = [row for row in rows if row[1].startswith(OTHER_PAYER)]
    own = [row for row in rows if not row[1].startswith(OTHER_PAYER)]
    return (
        _values(*_compile(table, table.view, own, "")),
        _values(*_compile(table, PayerView, other, f"{OTHER_PAYER}.")),
    )


def compile_line(table: ViewTable, names: Iterable[str]) -> PartReading:
    """Return the reading of a line whose filled fields these are."""
    return _part(table.view, *_compile(table, table.view, table.rows(names), ""))


def _compile(
    table: ViewTable, view: type, rows: Sequence[tuple[str, str]], at: str
) -> tuple[dict[str, str], dict[str, PartReading]]:
    """Return the plain fields and the readings of other values by attribute; the paths of the rows begin with ``at``."""
    plain: dict[str, str] = {}
    computed: dict[str, PartReading] = {}
    inside: dict[str, list[tuple[str, str]]] = {}
    for name, path in rows:
        attribute, dot, _ = path[len(at) :].partition(".")
        if at + attribute in table.computed:
            computed[attribute] = table.computed[at + attribute]
        elif dot:
            inside.setdefault(attribute, []).append((name, path))
        elif name in table.items:
            computed[attribute] = _items(table.items[name], name)
        else:
            plain[attribute] = name
            if name in table.converted:
                computed[attribute] = _conversion(table.converted[name], name)
    for word, own in inside.items():
        # A decision is not a part by itself: the form makes it.
        if word in _PARTS[view]:
            kind = _PARTS[view][word]
            attribute = word.removesuffix("[0]")
            read = _part(kind, *_compile(table, kind, own, f"{at}{word}."))
            computed[attribute] = read if attribute == word else _list_of(read)
    return plain, computed


def _values(plain: Mapping[str, str], computed: Mapping[str, PartReading]) -> Reading:
    attributes, get, others = tuple(plain), _getter(tuple(plain.values())), tuple(computed.items())

    def read(given: Given) -> dict[str, Any]:
        values = dict(zip(attributes, get(given), strict=True))
        for attribute, compute in others:
            values[attribute] = compute(given)
        return values

    return read


def _part(view: type, plain: Mapping[str, str], computed: Mapping[str, PartReading]) -> PartReading:
    # One call a part: most of the time that a view takes is in calls.
    attributes, get = tuple(plain), _getter(tuple(plain.values()))
    new, set_attribute = object.__new__, object.__setattr__
    reading = _values(plain, computed)

    def read_plain(given: Given) -> Any:
        part: Any = new(view)
        set_attribute(part, "__dict__", dict(zip(attributes, get(given), strict=True)))
        return part

    return (lambda given: make(view, reading(given))) if computed else read_plain


def _list_of(read: Callable[[Given], Any]) -> Callable[[Given], tuple[Any, ...]]:
    return lambda given: (read(given),)


def _items(table: ViewTable, name: str) -> Callable[[Given], tuple[Any, ...]]:
    return lambda given: tuple([_item(table, item) for item in given[name]])


def _conversion(convert: Callable[[Any], Any], name: str) -> Callable[[Given], Any]:
    return lambda given: convert(given[name])


def _getter(names: tuple[str, ...]) -> Callable[[Given], tuple[Any, ...]]:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda given: tuple([given[name] for name in names])


# --- where the sender wrote a value ----------------------------------------------------------------------------


class Places:
    """The places of a form's values, by path."""

    def __init__(
        self,
        claim: type[ClaimPart],
        table: ViewTable,
        lines_field: str,
        line_table: ViewTable,
        more: Mapping[str, str],
    ) -> None:
        line = nested_parts(claim)[lines_field]
        # A place of the form for each item of a list: its index is filled in.
        numbered = {path: place for path, place in more.items() if "[]" in path}
        self._templates = {
            "lines": lines_field,
            "lines[]": f"{lines_field}[{{0}}]",
            **_templates(table, claim, "", "", 0),
            **_templates(line_table, line, "lines[].", f"{lines_field}[{{0}}].", 1),
            **numbered,
        }
        self._rows = [
            ("lines", lines_field),
            *((_INDEX.sub("[]", path), name) for name, path in table.paths.items()),
            *(("lines[]." + path, name) for name, path in line_table.paths.items()),
            *((path, field_name(place)) for path, place in numbered.items()),
        ]
        self._more = more
        words = [path.split(".") for path in (*self._templates, *more)]
        self._known = {
            ".".join(each[:count]) for each in words for count in range(1, len(each) + 1)
        }

    def locate(self, path: str) -> str:
        """Return the path of the field that holds the value of a path."""
        if path in self._more:
            return self._more[path]
        indexes = _INDEX.findall(path)
        return self._template(_INDEX.sub("[]", path), len(indexes)).format(*indexes)

    def _template(self, pattern: str, indexes: int) -> str:
        """Return the template of a path; of one that the form lacks, that of a value beside it."""
        found = self._templates.get(pattern)
        if found is not None:
            return found
        part = pattern.rpartition(".")[0]
        near = (
            template
            for path, template in self._templates.items()
            if (path == part or path.startswith(f"{part}.")) and template.count("{") <= indexes
        )
        found = next(near, None) if part else None
        if found is None:
            raise KeyError(pattern)
        return found

    def has(self, path: str) -> bool:
        """Return whether the form has a field for a path, or for a part of it; an index may be left out."""
        return path in self._more or _INDEX.sub("[]", path) in self._known

    def fields(self, path: str) -> list[str]:
        """Return the names of the fields that hold the value of a path, or of the part at it."""
        pattern = _INDEX.sub("[]", path)
        return [
            name
            for known, name in self._rows
            if known == pattern or known.startswith(f"{pattern}.")
        ]


def field_name(place: str) -> str:
    """Return the name of the field at a place, without the parts around it and an index."""
    return place.rpartition(".")[2].partition("[")[0]


def _templates(
    table: ViewTable, part: type[ClaimPart], at: str, place: str, depth: int
) -> dict[str, str]:
    found: dict[str, str] = {}
    known: Mapping[str, ClaimField] = fields_of(part)
    for name, path in table.paths.items():
        pattern = at + _INDEX.sub("[]", path)
        numbered = f"{place}{name}[{{{depth}}}]"
        is_numbered = known[name].is_array or name in table.items
        found.setdefault(pattern, place + name)
        found.setdefault(f"{pattern}[]", numbered if is_numbered else place + name)
        if name in table.items:
            inner = nested_parts(part)[name]
            found |= _templates(
                table.items[name], inner, f"{pattern}[].", f"{numbered}.", depth + 1
            )
    return found
