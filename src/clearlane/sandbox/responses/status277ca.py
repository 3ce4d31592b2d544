"""Write the 277CA: which claims a payer accepts, at four levels: payer, submitter, billing provider, patient.

Knows cases; knows no benefits and no clock.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial

from clearlane.sandbox.model import Case, File, Profile, Provider, Refusal, total
from clearlane.sandbox.responses.status_set import (
    Row,
    Source,
    StatusSet,
    person_name,
    provider_name,
    provider_number,
    write_sets,
)
from clearlane.x12.writer.writer import Envelope, format_period

RECEIPT, TAKEN_IN = ("A1", "19", "PR"), ("A2", "20", "PR")
PASSED_ON = ("A1", "19", "AY")
ACCEPTS, REFUSES = "WQ", "U"
PAYER, CLEARINGHOUSE = ("PR", "PI"), ("AY", "46")


def write(
    profile: Profile,
    file: File,
    cases: Sequence[Case],
    envelope: Envelope,
    source: Source = PAYER,
) -> bytes:
    """Return the interchange: one set for each set of the file. A clearinghouse as source only passes claims on."""
    rows = partial(_rows, source=source)
    return write_sets("277CA", rows, profile, file, cases, envelope)


def _rows(set: StatusSet, cases: Sequence[Case], source: Source) -> Iterator[Row]:
    today = set.moment.date()
    yield from set.heading("0085", "TH", source)
    yield ("TRN", "1", set.trace)
    yield ("DTP", "050", "D8", set.file.received.date())
    yield ("DTP", "009", "D8", today)
    yield from set.submitter()
    yield ("TRN", "2", set.head.reference)
    yield from _sums(cases, "90", "AA", today)
    for provider in dict.fromkeys(case.claim.provider for case in cases):
        mine = [case for case in cases if case.claim.provider == provider]
        yield from _provider(set, set.file.providers[provider], mine, source)


def _provider(
    set: StatusSet, provider: Provider, cases: Sequence[Case], source: Source
) -> Iterator[Row]:
    number = set.next_level()
    yield ("HL", number, "2", "19", "1")
    yield ("NM1", "85", *provider_name(provider), *provider_number(provider))
    yield ("TRN", "1", f"{set.trace}-{number}")
    # STC02 does not exist at the provider level.
    yield from _sums(cases, "QA", "QC", "")
    for case in cases:
        yield from _patient(set, case, number, source)


def _sums(cases: Sequence[Case], accepted: str, refused: str, day: date | str) -> Iterator[Row]:
    """Yield the receipt of a level, and how many of its claims are accepted and refused."""
    whole = total(case.claim.charge for case in cases)
    yield ("STC", RECEIPT, day, ACCEPTS, whole)
    parts = ([c for c in cases if not c.refusals], [c for c in cases if c.refusals])
    nonempty = [
        part for part in zip((accepted, refused), ("YU", "YY"), parts, strict=True) if part[2]
    ]
    for quantity, _, part in nonempty:
        yield ("QTY", quantity, len(part))
    for _, amount, part in nonempty:
        yield ("AMT", amount, total(case.claim.charge for case in part))


def _patient(set: StatusSet, case: Case, parent: str, source: Source) -> Iterator[Row]:
    claim = case.claim
    yield ("HL", set.next_level(), parent, "PT")
    yield (
        "NM1",
        "QC",
        "1",
        *person_name(claim.patient or claim.subscriber),
        "MI",
        claim.member or "0",
    )
    yield ("TRN", "2", claim.account)
    if case.refusals:
        yield from (_refusal(one, case, set.moment.date()) for one in case.refusals)
    elif source == CLEARINGHOUSE:
        yield ("STC", PASSED_ON, set.moment.date(), ACCEPTS, claim.charge)
    else:
        yield ("STC", TAKEN_IN, set.moment.date(), ACCEPTS, claim.charge)
        yield ("REF", "1K", case.number)
    if claim.number:
        yield ("REF", "D9", claim.number)
    # A predetermination has no service date, and the guide requires one: the day it was received.
    received = set.file.received.date()
    yield ("DTP", "472", *format_period(*(claim.days or (received, received))))


def _refusal(refusal: Refusal, case: Case, today: date) -> Row:
    code = (refusal.category, refusal.status, refusal.entity)
    between = ("",) * 7
    return ("STC", code, today, REFUSES, case.claim.charge, *between, refusal.message)
