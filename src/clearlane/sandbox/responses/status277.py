"""Write the unsolicited 277: the claims are pending.

Knows cases; knows no benefits and no clock.
"""

from collections.abc import Iterator, Sequence

from clearlane.sandbox.model import Case, File, Profile
from clearlane.sandbox.responses.status277ca import (
    NOT_KNOWN,
    person_name,
    provider_name,
    provider_number,
)
from clearlane.x12 import guides
from clearlane.x12.writer.encode import clean
from clearlane.x12.writer.writer import Envelope, format_period, format_segment, wrap_sets

REVIEWED = ("P2", "46")


def write(profile: Profile, file: File, cases: Sequence[Case], envelope: Envelope) -> bytes:
    """Return the interchange: one set for each set of the file."""
    bodies = []
    for number in range(len(file.sets)):
        mine = [case for case in cases if case.claim.set == number]
        if mine:
            rows = _Set(profile, file, number, envelope).rows(mine)
            bodies.append(["*".join(format_segment(*row)) for row in rows])
    return b"".join(wrap_sets(envelope, guides.by_kind("277"), bodies))


class _Set:
    """Writes one set."""

    def __init__(self, profile: Profile, file: File, number: int, envelope: Envelope) -> None:
        self._profile = profile
        self._file = file
        self._head = file.sets[number]
        self._moment = envelope.moment
        self._trace = f"{envelope.control:09}{number + 1:04}"
        self._level = 0

    def rows(self, cases: Sequence[Case]) -> Iterator[tuple[object, ...]]:
        """Yield everything between ST and SE."""
        moment, head = self._moment, self._head
        yield ("BHT", "0010", "08", self._trace, moment.date(), f"{moment:%H%M}", "DG")
        yield ("HL", self._next(), "", "20", "1")
        name = clean(self._profile.name)[0][:60]
        yield ("NM1", "PR", "2", name, "", "", "", "", "PI", clean(self._profile.id)[0])
        yield ("HL", self._next(), "1", "21", "1")
        submitter = (head.submitter or NOT_KNOWN, "", "", "", "", "46", head.submitter_id)
        yield ("NM1", "41", "2", *submitter)
        for provider in dict.fromkeys(case.claim.provider for case in cases):
            parent, known = self._next(), self._file.providers[provider]
            yield ("HL", parent, "2", "19", "1")
            yield ("NM1", "1P", *provider_name(known), *provider_number(known))
            for case in cases:
                if case.claim.provider == provider:
                    yield from self._claim(case, parent)

    def _claim(self, case: Case, parent: str) -> Iterator[tuple[object, ...]]:
        claim, level = case.claim, self._next()
        yield ("HL", level, parent, "22", "1" if claim.patient else "0")
        insured = claim.subscriber
        yield ("NM1", "IL", insured.entity, *person_name(insured), "MI", claim.member or "0")
        if claim.patient:
            yield ("HL", self._next(), level, "23")
            yield ("NM1", "QC", "1", *person_name(claim.patient))
        yield ("TRN", "2", claim.account)
        yield ("STC", REVIEWED, self._moment.date(), "", claim.charge)
        yield ("REF", "1K", case.number)
        yield ("REF", "EJ", claim.account)
        if claim.number:
            yield ("REF", "D9", claim.number)
        if claim.days:
            yield ("DTP", "472", *format_period(*claim.days))

    def _next(self) -> str:
        self._level += 1
        return str(self._level)
