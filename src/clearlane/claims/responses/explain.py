"""Explain a claim field by field: box on the form, place in the 837, value sent, and findings.

    for row in explain(outgoing, findings): row.field, row.box, row.label, row.sent, row.findings

The claim is written and read back, so the values shown are those of the file and not of the tables. A refused
claim is not written: its rows have the places and no values. Returns data; ``cli`` prints it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

from clearlane.claims.fields import ClaimPart
from clearlane.claims.finding import path_in_claim
from clearlane.claims.forms import AnyForm, form_of
from clearlane.claims.responses.field_lookup import FieldPlace, field_places, source_field
from clearlane.claims.write.claim_context import ClaimContext, OutgoingClaim
from clearlane.claims.write.derived_values import DerivedValue, derived_values
from clearlane.claims.write.explain_file_claim import explain_file_claim
from clearlane.claims.write.field_explanation import REFUSED, FieldExplanation, SentValue
from clearlane.claims.write.write_837 import Envelope, TradingPartner, context_of, write_claims
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import tree
from clearlane.x12.path import get
from clearlane.x12.reader.reader import parse
from clearlane.x12.writer.encode import format_element

__all__ = ["FieldExplanation", "SentValue", "explain"]


def explain(
    out: OutgoingClaim,
    findings: Sequence[Finding] = (),
    given: Mapping[str, str] = MappingProxyType({}),
) -> list[FieldExplanation]:
    """Return a row for each filled field of a claim, each value that was derived, and each field that a finding names.

    ``given`` has the values of repaired fields before their repair.
    """
    if isinstance(out.claim, X12Claim):
        return list(explain_file_claim(out, findings))
    form = form_of(out.claim)
    found = [(path_in_claim(finding.location), finding) for finding in findings]
    rows = [_with_given(row, given) for row in _rows(form, out, found)]
    shown = {finding.location for row in rows for finding in row.findings}
    for location, finding in found:
        if location and finding.location not in shown:
            rows.append(_missing_field(form, location, finding))
            shown.add(finding.location)
    return rows


NOT_USED = "Another field of this claim has the value, or the claim does not need it."
# Any valid envelope: it is not shown.
_ENVELOPE = Envelope(
    sender="CLEARLANE", receiver="PAYER", control=1, moment=datetime(2000, 1, 1, tzinfo=UTC)
)
_PARTY = TradingPartner(name="CLEARLANE", id="CLEARLANE", phone="2065550100")
OTHER_PAYER_LOOP = "2330B"
_LINE_LOOPS = ("2400", "2410", "2420", "2430")


def _with_given(row: FieldExplanation, given: Mapping[str, str]) -> FieldExplanation:
    """Return a row with what was given, and what it was repaired to."""
    before = given.get(row.field)
    if before is None or before == row.given:
        return row
    return replace(row, given=before, repaired=row.given)


class _WrittenClaim(NamedTuple):
    """A claim read back from its file: the whole set, and its lines."""

    root: tree.Loop
    lines: Sequence[tree.Loop]

    def sent(self, place: FieldPlace, number: int) -> str:
        """Return the value at a place; in the line of this number, or the first one for a field of the claim."""
        of_line = place.place.startswith(_LINE_LOOPS)
        return _value(self.lines[max(number - 1, 0)] if of_line else self.root, place)


def _write(out: OutgoingClaim) -> _WrittenClaim:
    data = b"".join(write_claims([out], _ENVELOPE, _PARTY, _PARTY))
    root = next(parse(data, check=False).sets()).root
    return _WrittenClaim(root, list(root.descendants("2400")))


def _rows(
    form: AnyForm, out: OutgoingClaim, found: Sequence[tuple[str, Finding]]
) -> Iterator[FieldExplanation]:
    refused = any(finding.severity is Severity.ERROR for _, finding in found)
    written = None if refused else _write(out)
    context = context_of(out)
    values = context.values
    # Of the fields that may name the other payer only the first that is filled does.
    unused = [name for name in context.form.other_payer_names if name in values][1:]
    places = [
        place
        for place in field_places(form)
        if (context.patient_is_insured or not place.of_patient)
        and not (place.name in unused and place.path.loop == OTHER_PAYER_LOOP)
    ]
    derived = {(one.name, one.line): one for one in derived_values(context)} if written else {}
    for name, number, value in _filled_fields(context):
        row = _row(form, name, value, places, written, number, found)
        own = derived.pop((name, number), None)
        yield _with_derived(row, own, places, written) if own and written else row
    for (name, number), own in derived.items():
        field = source_field(form, name, of_line=bool(number), line=number)
        about = tuple(one for location, one in found if _is_at(location, field.field))
        row = FieldExplanation(
            field=field.field,
            box=field.box,
            label=field.label,
            given="",
            repaired="",
            sent=(),
            not_sent="",
            findings=about,
        )
        yield _with_derived(row, own, places, written) if written else row


def _filled_fields(context: ClaimContext) -> Iterator[tuple[str, int, Any]]:
    """Yield each filled field of a claim and its lines: name, number of the line or 0, value."""
    for name, value in context.values.items():
        if name != context.form.lines_field:
            yield name, 0, value
            continue
        for number, line in enumerate(value, 1):
            for inner, inner_value in line.__dict__.items():
                yield inner, number, inner_value


def _with_derived(
    row: FieldExplanation,
    derived: DerivedValue,
    places: Sequence[FieldPlace],
    written: _WrittenClaim,
) -> FieldExplanation:
    """Return a row with a value that the claim does not state, and what it was made of."""
    at = next(one for one in places if (one.name, one.place) == (derived.name, derived.place))
    sent = SentValue(derived.place, written.sent(at, derived.line))
    return replace(
        row, sent=tuple(dict.fromkeys((*row.sent, sent))), not_sent="", derived=derived.reason
    )


def _row(
    form: AnyForm,
    name: str,
    value: Any,
    places: Sequence[FieldPlace],
    written: _WrittenClaim | None,
    number: int,
    found: Sequence[tuple[str, Finding]],
) -> FieldExplanation:
    field = source_field(form, name, of_line=bool(number), line=number)
    own = [place for place in places if place.name == name and place.of_line == bool(number)]
    sent = _sent(own, value, written, number)
    reason = form.placements.not_sent.get(name, NOT_USED if written else REFUSED)
    return FieldExplanation(
        field=field.field,
        box=field.box,
        label=field.label,
        given=_text(value),
        repaired="",
        sent=sent,
        not_sent="" if sent and written else reason,
        findings=tuple(one for location, one in found if _is_at(location, field.field)),
    )


def _sent(
    own: Sequence[FieldPlace], value: Any, written: _WrittenClaim | None, number: int
) -> tuple[SentValue, ...]:
    if written is None:
        return tuple(dict.fromkeys(SentValue(place.place, "") for place in own if not place.echo))
    sent = [
        SentValue(place.place, text)
        for place in own
        if (text := written.sent(place, number))
        and (text == _text(value) or not (place.echo or value is False))
    ]
    # If several fields share a place, it counts for this one only if it holds its value.
    exact = [one for one in sent if one.value == _text(value)]
    return tuple(dict.fromkeys(exact or sent))


def _missing_field(form: AnyForm, location: str, finding: Finding) -> FieldExplanation:
    """Return the row of a field that is missing from the claim."""
    of_line = location.startswith(form.lines_field + "[")
    name = location.rpartition("].")[2] if of_line else location
    try:
        field = source_field(form, name, of_line=of_line)
    except KeyError:
        box, label = "", ""
    else:
        box, label = field.box, field.label
    return FieldExplanation(
        field=location,
        box=box,
        label=label,
        given="",
        repaired="",
        sent=(),
        not_sent="It is not given.",
        findings=(finding,),
    )


def _value(loop: tree.Loop, place: FieldPlace) -> str:
    if place.path.id != "CAS":
        return get(loop, place.place)
    # CAS groups differ in their first element, which is not a qualifier in the guide.
    holders = [loop, *loop.descendants(place.path.loop)]
    rows = [
        row
        for holder in holders
        if holder.id == place.path.loop
        for row in holder.segments("CAS")
        if place.path.qualifier in ("", row[1])
    ]
    return " ".join("*".join(row[1:]) for row in rows)


def _text(value: Any) -> str:
    """Return a value as text, as it would appear in an element."""
    if isinstance(value, bool):
        return "Y" if value else "N"
    if isinstance(value, str | date | Decimal):
        return format_element(value)
    if isinstance(value, ClaimPart):
        return " ".join(_text(item) for item in value.__dict__.values())
    return ", ".join(_text(item) for item in value if item is not None)


def _is_at(location: str, field: str) -> bool:
    return location == field or location.startswith((field + "[", field + "."))
