"""Write the 277CA: which claims a payer accepts, at four levels: payer, submitter, billing provider, patient.

Knows cases; knows no benefits and no clock.
"""

from collections.abc import Iterator, Sequence
from datetime import date

from clearlane.sandbox.model import Case, File, Person, Profile, Provider, Refusal, total
from clearlane.x12 import guides
from clearlane.x12.writer.encode import clean
from clearlane.x12.writer.writer import Envelope, format_period, format_segment, wrap_sets

RECEIPT, TAKEN_IN = ("A1", "19", "PR"), ("A2", "20", "PR")
ACCEPTS, REFUSES = "WQ", "U"
NOT_KNOWN = "NOT KNOWN"


def write(profile: Profile, file: File, cases: Sequence[Case], envelope: Envelope) -> bytes:
    """Return the interchange: one set for each set of the file."""
    bodies = []
    for number, head in enumerate(file.sets):
        mine = [case for case in cases if case.claim.set == number]
        if mine:
            rows = _Set(profile, file, number, envelope).rows(mine)
            bodies.append(["*".join(format_segment(*row)) for row in rows])
            assert head is file.sets[number]
    return b"".join(wrap_sets(envelope, guides.by_kind("277CA"), bodies))


class _Set:
    """Writes one set."""

    def __init__(self, profile: Profile, file: File, number: int, envelope: Envelope) -> None:
        self._profile = profile
        self._file = file
        self._head = file.sets[number]
        self._moment = envelope.moment
        self._trace = f"{envelope.control:09}{number + 1:04}"
        self._level = 0

    @property
    def _today(self) -> date:
        return self._moment.date()

    def rows(self, cases: Sequence[Case]) -> Iterator[tuple[object, ...]]:
        """Yield everything between ST and SE."""
        head = self._head
        yield ("BHT", "0085", "08", self._trace, self._today, f"{self._moment:%H%M}", "TH")
        yield ("HL", self._next(), "", "20", "1")
        name = clean(self._profile.name)[0][:60]
        yield ("NM1", "PR", "2", name, "", "", "", "", "PI", clean(self._profile.id)[0])
        yield ("TRN", "1", self._trace)
        yield ("DTP", "050", "D8", self._file.received.date())
        yield ("DTP", "009", "D8", self._today)
        yield ("HL", self._next(), "1", "21", "1")
        submitter = (head.submitter or NOT_KNOWN, "", "", "", "", "46", head.submitter_id)
        yield ("NM1", "41", "2", *submitter)
        yield ("TRN", "2", head.reference)
        yield from self._sums(cases, "90", "AA", self._today)
        providers = dict.fromkeys(case.claim.provider for case in cases)
        for provider in providers:
            mine = [case for case in cases if case.claim.provider == provider]
            yield from self._provider(self._file.providers[provider], mine)

    def _provider(self, provider: Provider, cases: Sequence[Case]) -> Iterator[tuple[object, ...]]:
        number = self._next()
        yield ("HL", number, "2", "19", "1")
        yield ("NM1", "85", *provider_name(provider), *provider_number(provider))
        yield ("TRN", "1", f"{self._trace}-{number}")
        # STC02 does not exist at the provider level.
        yield from self._sums(cases, "QA", "QC", "")
        for case in cases:
            yield from self._patient(case, number)

    def _sums(
        self, cases: Sequence[Case], accepted: str, refused: str, day: date | str
    ) -> Iterator[tuple[object, ...]]:
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

    def _patient(self, case: Case, parent: str) -> Iterator[tuple[object, ...]]:
        claim = case.claim
        yield ("HL", self._next(), parent, "PT")
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
            yield from (self._refusal(one, case) for one in case.refusals)
        else:
            yield ("STC", TAKEN_IN, self._today, ACCEPTS, claim.charge)
            yield ("REF", "1K", case.number)
        if claim.number:
            yield ("REF", "D9", claim.number)
        # A predetermination has no service date, and the guide requires one: the day it was received.
        received = self._file.received.date()
        yield ("DTP", "472", *format_period(*(claim.days or (received, received))))

    def _refusal(self, refusal: Refusal, case: Case) -> tuple[object, ...]:
        code = (refusal.category, refusal.status, refusal.entity)
        between = ("",) * 7
        return ("STC", code, self._today, REFUSES, case.claim.charge, *between, refusal.message)

    def _next(self) -> str:
        self._level += 1
        return str(self._level)


def person_name(one: Person) -> tuple[str, ...]:
    """Return NM103 to NM107 of a person."""
    return (one.last or NOT_KNOWN, one.first, one.middle, "", one.suffix)


def provider_name(provider: Provider) -> tuple[str, ...]:
    """Return NM102 to NM107 of a provider."""
    return (provider.entity, provider.name or NOT_KNOWN, provider.first, provider.middle, "", "")


def provider_number(provider: Provider) -> tuple[str, str]:
    """Return NM108 and NM109 of a provider."""
    return ("XX", provider.npi) if provider.npi else ("FI", provider.tax)
