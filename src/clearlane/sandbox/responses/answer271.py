"""Write the 271: a patient's benefits, or the refusals.

Knows decisions; decides nothing, and knows no clock.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from clearlane.sandbox.model import Profile
from clearlane.sandbox.read_270 import Patient, SetRead
from clearlane.sandbox.responses.benefits import Benefit, DateRow, Party, Row
from clearlane.sandbox.responses.coverage import PatientResponse, ReceiverResponse, SourceResponse
from clearlane.sandbox.responses.styles import Style271
from clearlane.x12 import guides
from clearlane.x12.delimiters import CANONICAL
from clearlane.x12.writer.encode import clean
from clearlane.x12.writer.writer import Envelope, format_period, format_segment, wrap_sets

PAYER_TELEPHONE = "8005550100"
NAME_CHARACTERS = 60
# How a 270 and a 271 name the same relationship.
RELATIONSHIPS = {"01": "01", "19": "19", "34": "G8"}


def write(
    profile: Profile,
    style: Style271,
    sets: Iterable[tuple[SetRead, Sequence[SourceResponse]]],
    envelope: Envelope,
) -> bytes:
    """Return the interchange: one set for each set of the inquiry, in the payer's style."""
    bodies = [
        [
            "*".join(format_segment(*row))
            for row in _Set(profile, style, inquiry, envelope).rows(response)
        ]
        for inquiry, response in sets
    ]
    guide = guides.by_kind("271")
    try:
        return b"".join(wrap_sets(replace(envelope, delimiters=style.delimiters), guide, bodies))
    except ValueError:
        # A value returned as it came contains one of this payer's separators.
        return b"".join(wrap_sets(replace(envelope, delimiters=CANONICAL), guide, bodies))


class _Set:
    """Writes one set."""

    def __init__(
        self, profile: Profile, style: Style271, inquiry: SetRead, envelope: Envelope
    ) -> None:
        self._profile = profile
        self._style = style
        self._reference = inquiry.reference
        self._moment = envelope.moment
        self._level = 0

    def rows(self, sources: Iterable[SourceResponse]) -> Iterator[Row]:
        """Yield everything between ST and SE."""
        moment = self._moment
        yield ("BHT", "0022", "11", self._reference, moment.date(), f"{moment:%H%M}")
        for response in sources:
            parent = self._next()
            yield ("HL", parent, "", "20", "1" if response.receivers else "0")
            yield from (one.row() for one in response.envelope)
            name = response.source.name
            yield ("NM1", *name[:2], clean(self._profile.name)[0][:NAME_CHARACTERS], *name[3:])
            if not self._style.terse:
                yield ("PER", "IC", "PROVIDER SERVICE", "TE", PAYER_TELEPHONE)
            yield from (one.row() for one in response.refusals)
            for receiver in response.receivers:
                yield from self._receiver(receiver, parent)

    def _receiver(self, response: ReceiverResponse, parent: str) -> Iterator[Row]:
        level = self._next()
        yield ("HL", level, parent, "21", "1" if response.subscribers else "0")
        yield ("NM1", *response.receiver.name)
        yield from (one.row() for one in response.refusals)
        for one in response.subscribers:
            yield from self._patient(one, level, "22")

    def _patient(self, response: PatientResponse, parent: str, level: str) -> Iterator[Row]:
        own = self._next()
        patient = response.patient
        yield ("HL", own, parent, level, "1" if response.dependents else "0")
        yield from (("TRN", "2", *one) for one in response.traces)
        if response.traced:
            yield ("TRN", "1", self._trace(patient), f"1{self._profile.tax}")
        yield ("NM1", *patient.name)
        yield from (("REF", *one) for one in response.references)
        yield from response.address
        yield from (one.row() for one in response.refusals)
        if patient.birth and not self._style.terse:
            yield ("DMG", "D8", patient.birth, patient.sex)
        yield from self._relationship(response, level)
        yield from map(_date, response.dates)
        for benefit in response.benefits:
            yield from _benefit(benefit)
        for one in response.dependents:
            yield from self._patient(one, own, "23")

    def _relationship(self, response: PatientResponse, level: str) -> Iterator[Row]:
        """Yield the INS: the relationship, and whether the payer's data on the patient differ."""
        changed = ("001", "25") if response.changed else ()
        relationship = RELATIONSHIPS.get(response.patient.relationship, "")
        if response.refusals or self._style.terse:
            return
        if level == "22" and response.traced:
            yield ("INS", "Y", "18", *changed)
        elif level == "23" and relationship:
            yield ("INS", "N", relationship, *changed)

    def _trace(self, patient: Patient) -> str:
        """Return the payer's own trace number, the same for the same inquiry on the same day."""
        identity = (
            self._reference,
            *patient.name,
            *(text for one in patient.traces for text in one),
        )
        digest = zlib.crc32("\n".join((self._profile.id, *identity)).encode())
        return f"{self._profile.file_stem}{self._moment:%Y%m%d}{digest:010}"

    def _next(self) -> str:
        self._level += 1
        return str(self._level)


def _date(row: DateRow) -> Row:
    qualifier, first, last = row
    return ("DTP", qualifier, *format_period(first, last))


def _benefit(one: Benefit) -> Iterator[Row]:
    """Yield an EB with its loop, in the order of the guide."""
    yield one.row()
    yield from (("HSD", *row) for row in one.deliveries)
    yield from (("REF", *row) for row in one.references)
    yield from map(_date, one.dates)
    yield from (("AAA", *row) for row in one.refusals)
    yield from (("MSG", words) for words in one.messages)
    yield from (("III", *row) for row in one.conditions)
    if one.parties:
        yield ("LS", "2120")
        for party in one.parties:
            yield from _party(party)
        yield ("LE", "2120")


def _party(one: Party) -> Iterator[Row]:
    yield ("NM1", one.role, one.entity, one.name, one.first, "", "", "", one.qualifier, one.number)
    if one.street:
        yield ("N3", one.street)
        yield ("N4", *one.city)
    if one.telephone:
        yield ("PER", "IC", "", "TE", one.telephone)
    if one.taxonomy:
        yield ("PRV", "PC", "PXC", one.taxonomy)
