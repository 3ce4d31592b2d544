"""A claim side by side: the field, its form box, where it stands in the 837, what was sent, what was found.

    for row in explain(outgoing, findings): row.field, row.form, row.label, row.sent, row.findings

The claim is written and read again, so what is shown is what the file holds, not what the tables mean to put
there. A claim that was refused is not written: its rows tell where each field would stand, and no value.
Data only: a face prints it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from clearlane.claims.claim_context import Outgoing
from clearlane.claims.field_lookup import Place, places, source
from clearlane.claims.fields import PAPERS, ClaimKind, Fields, kind_of
from clearlane.claims.write_837 import TABLES, Envelope, Party, case_of, write_claims
from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import tree
from clearlane.x12.encode import element_text
from clearlane.x12.path import get
from clearlane.x12.reader import parse

__all__ = ["Explained", "Sent", "explain"]


class Sent(NamedTuple):
    """A place of the file and what stands there."""

    place: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explained:
    """One field of a claim. What it holds is patient data: nothing of it is printed by accident."""

    field: str
    """The field's path in the claim, such as ``F24_ClaimLines[0].F24F_Charges``."""
    form: str
    label: str
    given: str
    """The value as the house keeps it; empty for a field that only a finding names."""
    sent: tuple[Sent, ...]
    not_sent: str
    """Why nothing is sent, where nothing is. A refused claim has places too, without values."""
    findings: tuple[Finding, ...]


def explain(out: Outgoing, findings: Sequence[Finding] = ()) -> list[Explained]:
    """A row for each filled field of a claim, and for each field that a finding names."""
    kind = kind_of(out.claim)
    found = [(_path_in_claim(finding.location), finding) for finding in findings]
    rows = list(_rows(kind, out, found))
    shown = {finding.location for row in rows for finding in row.findings}
    for location, finding in found:
        if location and finding.location not in shown:
            rows.append(_only_found(kind, location, finding))
            shown.add(finding.location)
    return rows


REFUSED = "The claim was not accepted, so nothing is sent."
NOT_THIS_TIME = "Another field of this claim says it, or nothing asks for it."
# The envelope is cut away again; it only has to be one.
_ENVELOPE = Envelope(
    sender="CLEARLANE", receiver="PAYER", control=1, moment=datetime(2000, 1, 1, tzinfo=UTC)
)
_PARTY = Party(name="CLEARLANE", id="CLEARLANE", phone="2065550100")
_LINE_LOOPS = ("2400", "2410", "2420", "2430")


class _Page(NamedTuple):
    """A claim as it was written: the whole set, and its lines."""

    root: tree.Loop
    lines: Sequence[tree.Loop]

    def sent(self, place: Place, number: int) -> str:
        """What stands at a place; of the line's number, or of the first line for a field of the claim."""
        of_line = place.text.startswith(_LINE_LOOPS)
        return _value(self.lines[max(number - 1, 0)] if of_line else self.root, place)


def _page(kind: ClaimKind, out: Outgoing) -> _Page:
    data = b"".join(write_claims(kind, [out], _ENVELOPE, _PARTY, _PARTY))
    root = next(parse(data, check=False).sets()).root
    return _Page(root, list(root.descend("2400")))


def _rows(
    kind: ClaimKind, out: Outgoing, found: Sequence[tuple[str, Finding]]
) -> Iterator[Explained]:
    refused = any(finding.severity is Severity.ERROR for _, finding in found)
    page = None if refused else _page(kind, out)
    own_patient = case_of(TABLES[kind], out).own_patient
    told = [place for place in places(kind) if own_patient or not _is_echo_of_patient(kind, place)]
    paper = PAPERS[kind]
    for name, value in out.claim.__dict__.items():
        if name != paper.lines:
            yield _row(kind, name, value, told, page, 0, found)
            continue
        for number, line in enumerate(value, 1):
            for inner, held in line.__dict__.items():
                yield _row(kind, inner, held, told, page, number, found)


def _row(
    kind: ClaimKind,
    name: str,
    value: Any,
    told: Sequence[Place],
    page: _Page | None,
    number: int,
    found: Sequence[tuple[str, Finding]],
) -> Explained:
    field = source(kind, name, of_line=bool(number), line=number)
    mine = [place for place in told if place.name == name and place.of_line == bool(number)]
    told_here = _sent(mine, value, page, number)
    reason = TABLES[kind].not_sent.get(name, NOT_THIS_TIME if page else REFUSED)
    return Explained(
        field=field.field,
        form=field.form,
        label=field.label,
        given=_text(value),
        sent=told_here,
        not_sent="" if told_here and page else reason,
        findings=tuple(one for location, one in found if _is_at(location, field.field)),
    )


def _sent(mine: Sequence[Place], value: Any, page: _Page | None, number: int) -> tuple[Sent, ...]:
    if page is None:
        return tuple(dict.fromkeys(Sent(place.text, "") for place in mine if not place.echo))
    sent = [
        Sent(place.text, text)
        for place in mine
        if (text := page.sent(place, number))
        and (text == _text(value) or not (place.echo or value is False))
    ]
    # Where several fields share a place, it is this one's only if its own value stands there.
    exact = [one for one in sent if one.value == _text(value)]
    return tuple(dict.fromkeys(exact or sent))


def _only_found(kind: ClaimKind, location: str, finding: Finding) -> Explained:
    """A field that is not there, and should be."""
    paper = PAPERS[kind]
    of_line = location.startswith(paper.lines + "[")
    name = location.rpartition("].")[2] if of_line else location
    try:
        field = source(kind, name, of_line=of_line)
    except KeyError:
        form, label = "", ""
    else:
        form, label = field.form, field.label
    return Explained(
        field=location,
        form=form,
        label=label,
        given="",
        sent=(),
        not_sent="It is not given.",
        findings=(finding,),
    )


def _is_echo_of_patient(kind: ClaimKind, place: Place) -> bool:
    """The insured's places tell the patient's fields only where both are one person."""
    patient = {name for name, _ in TABLES[kind].patient.own()}
    return place.scope == "2000B" and place.name in patient


def _value(loop: tree.Loop, place: Place) -> str:
    if place.at.id != "CAS":
        return get(loop, place.text)
    # The groups of CAS are told apart by their first element, which is no key in the guide.
    holders = [loop, *loop.descend(place.at.loop)]
    rows = [
        row
        for holder in holders
        if holder.id == place.at.loop
        for row in holder.segments("CAS")
        if place.at.qualifier in ("", row[1])
    ]
    return " ".join("*".join(row[1:]) for row in rows)


def _text(value: Any) -> str:
    """A value as a reader of the claim knows it."""
    if isinstance(value, bool):
        return "Y" if value else "N"
    if isinstance(value, str | date | Decimal):
        return element_text(value)
    if isinstance(value, Fields):
        return " ".join(_text(item) for item in value.__dict__.values())
    return ", ".join(_text(item) for item in value if item is not None)


def _path_in_claim(location: str) -> str:
    """A finding's location without the place of the claim in its document."""
    head, dot, rest = location.partition(".")
    return rest if dot and head.startswith("Claims[") else location


def _is_at(location: str, field: str) -> bool:
    return location == field or location.startswith((field + "[", field + "."))
