"""Write the unsolicited 277: the claims are pending.

Knows cases; knows no benefits and no clock.
"""

from collections.abc import Iterator, Sequence

from clearlane.sandbox.model import Case, File, Profile
from clearlane.sandbox.responses.status_set import (
    Row,
    StatusSet,
    person_name,
    provider_name,
    provider_number,
    write_sets,
)
from clearlane.x12.writer.writer import Envelope, format_period

REVIEWED = ("P2", "46")


def write(profile: Profile, file: File, cases: Sequence[Case], envelope: Envelope) -> bytes:
    """Return the interchange: one set for each set of the file."""
    return write_sets("277", _rows, profile, file, cases, envelope)


def _rows(set: StatusSet, cases: Sequence[Case]) -> Iterator[Row]:
    yield from set.heading("0010", "DG")
    yield from set.submitter()
    for provider in dict.fromkeys(case.claim.provider for case in cases):
        parent, known = set.next_level(), set.file.providers[provider]
        yield ("HL", parent, "2", "19", "1")
        yield ("NM1", "1P", *provider_name(known), *provider_number(known))
        for case in cases:
            if case.claim.provider == provider:
                yield from _claim(set, case, parent)


def _claim(set: StatusSet, case: Case, parent: str) -> Iterator[Row]:
    claim, level = case.claim, set.next_level()
    yield ("HL", level, parent, "22", "1" if claim.patient else "0")
    insured = claim.subscriber
    yield ("NM1", "IL", insured.entity, *person_name(insured), "MI", claim.member or "0")
    if claim.patient:
        yield ("HL", set.next_level(), level, "23")
        yield ("NM1", "QC", "1", *person_name(claim.patient))
    yield ("TRN", "2", claim.account)
    yield ("STC", REVIEWED, set.moment.date(), "", claim.charge)
    yield ("REF", "1K", case.number)
    yield ("REF", "EJ", claim.account)
    if claim.number:
        yield ("REF", "D9", claim.number)
    if claim.days:
        yield ("DTP", "472", *format_period(*claim.days))
