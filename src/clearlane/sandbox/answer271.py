"""The 271: what a payer tells of a patient, or why it cannot.

Knows decisions; decides nothing, and knows no clock.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from clearlane.sandbox.benefits import Benefit, DateRow, Party, Row
from clearlane.sandbox.coverage import PatientTold, ReceiverTold, SourceTold
from clearlane.sandbox.model import Profile
from clearlane.sandbox.read_270 import Patient, SetRead
from clearlane.sandbox.styles import Style
from clearlane.x12 import guides
from clearlane.x12.delimiters import CANONICAL
from clearlane.x12.encode import clean
from clearlane.x12.writer import Envelope, period, seal, segment

PAYER_TELEPHONE = "8005550100"
NAME_CHARACTERS = 60
# How a 270 and a 271 name the same relationship.
RELATIONSHIPS = {"01": "01", "19": "19", "34": "G8"}


def write(
    profile: Profile,
    style: Style,
    sets: Iterable[tuple[SetRead, Sequence[SourceTold]]],
    envelope: Envelope,
) -> bytes:
    """The interchange: one set for each set of the file, in the payer's manner."""
    bodies = [
        ["*".join(segment(*row)) for row in _Set(profile, style, asked, envelope).rows(told)]
        for asked, told in sets
    ]
    guide = guides.by_kind("271")
    try:
        return b"".join(seal(replace(envelope, delimiters=style.delimiters), guide, bodies))
    except ValueError:
        # What is given back as it came holds one of this payer's separators.
        return b"".join(seal(replace(envelope, delimiters=CANONICAL), guide, bodies))


class _Set:
    """One set while it is written."""

    def __init__(self, profile: Profile, style: Style, asked: SetRead, envelope: Envelope) -> None:
        self._profile = profile
        self._style = style
        self._reference = asked.reference
        self._moment = envelope.moment
        self._level = 0

    def rows(self, sources: Iterable[SourceTold]) -> Iterator[Row]:
        """Everything between ST and SE."""
        moment = self._moment
        yield ("BHT", "0022", "11", self._reference, moment.date(), f"{moment:%H%M}")
        for told in sources:
            parent = self._next()
            yield ("HL", parent, "", "20", "1" if told.receivers else "0")
            yield from (one.row() for one in told.envelope)
            name = told.source.name
            yield ("NM1", *name[:2], clean(self._profile.name)[0][:NAME_CHARACTERS], *name[3:])
            if not self._style.terse:
                yield ("PER", "IC", "PROVIDER SERVICE", "TE", PAYER_TELEPHONE)
            yield from (one.row() for one in told.refusals)
            for receiver in told.receivers:
                yield from self._receiver(receiver, parent)

    def _receiver(self, told: ReceiverTold, parent: str) -> Iterator[Row]:
        level = self._next()
        yield ("HL", level, parent, "21", "1" if told.subscribers else "0")
        yield ("NM1", *told.receiver.name)
        yield from (one.row() for one in told.refusals)
        for one in told.subscribers:
            yield from self._patient(one, level, "22")

    def _patient(self, told: PatientTold, parent: str, level: str) -> Iterator[Row]:
        own = self._next()
        patient = told.patient
        yield ("HL", own, parent, level, "1" if told.dependents else "0")
        yield from (("TRN", "2", *one) for one in told.traces)
        if told.traced:
            yield ("TRN", "1", self._trace(patient), f"1{self._profile.tax}")
        yield ("NM1", *patient.name)
        yield from (("REF", *one) for one in told.references)
        yield from told.address
        yield from (one.row() for one in told.refusals)
        if patient.birth and not self._style.terse:
            yield ("DMG", "D8", patient.birth, patient.sex)
        yield from self._standing(told, level)
        yield from map(_date, told.dates)
        for benefit in told.benefits:
            yield from _benefit(benefit)
        for one in told.dependents:
            yield from self._patient(one, own, "23")

    def _standing(self, told: PatientTold, level: str) -> Iterator[Row]:
        """Whether this is the insured, and whether the payer knows the patient otherwise."""
        changed = ("001", "25") if told.changed else ()
        relationship = RELATIONSHIPS.get(told.patient.relationship, "")
        if told.refusals or self._style.terse:
            return
        if level == "22" and told.traced:
            yield ("INS", "Y", "18", *changed)
        elif level == "23" and relationship:
            yield ("INS", "N", relationship, *changed)

    def _trace(self, patient: Patient) -> str:
        """The payer's own number: the same for the same question on the same day."""
        asked = (self._reference, *patient.name, *(text for one in patient.traces for text in one))
        mark = zlib.crc32("\n".join((self._profile.id, *asked)).encode())
        return f"{self._profile.file_stem}{self._moment:%Y%m%d}{mark:010}"

    def _next(self) -> str:
        self._level += 1
        return str(self._level)


def _date(row: DateRow) -> Row:
    qualifier, first, last = row
    return ("DTP", qualifier, *period(first, last))


def _benefit(one: Benefit) -> Iterator[Row]:
    """An EB and what stands below it, in the order of the guide."""
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
