"""What the 277 and the 277CA of a payer share: their sets, the levels above the provider, and names.

Knows cases; knows no benefits and no clock.
"""

from collections.abc import Callable, Iterator, Sequence

from clearlane.sandbox.model import Case, File, Person, Profile, Provider
from clearlane.x12 import guides
from clearlane.x12.writer.encode import clean
from clearlane.x12.writer.writer import Envelope, format_segment, wrap_sets

NOT_KNOWN = "NOT KNOWN"
Row = tuple[object, ...]
Source = tuple[str, str]
"""NM101 of who reports, and NM108 of its id."""


class StatusSet:
    """A set that is written: what it answers, its trace number, and the count of its levels."""

    def __init__(self, profile: Profile, file: File, number: int, envelope: Envelope) -> None:
        self._profile = profile
        self.file = file
        self.head = file.sets[number]
        self.moment = envelope.moment
        self.trace = f"{envelope.control:09}{number + 1:04}"
        self._level = 0

    def next_level(self) -> str:
        """Return the number of the next level (HL01)."""
        self._level += 1
        return str(self._level)

    def heading(self, structure: str, kind: str, source: Source = ("PR", "PI")) -> Iterator[Row]:
        """Yield BHT and the level of the source: the payer, or a clearinghouse on the way to it."""
        moment = self.moment
        yield ("BHT", structure, "08", self.trace, moment.date(), f"{moment:%H%M}", kind)
        yield ("HL", self.next_level(), "", "20", "1")
        name = clean(self._profile.name)[0][:60]
        role, qualifier = source
        yield ("NM1", role, "2", name, "", "", "", "", qualifier, clean(self._profile.id)[0])

    def submitter(self) -> Iterator[Row]:
        """Yield the level of the submitter."""
        yield ("HL", self.next_level(), "1", "21", "1")
        known = (self.head.submitter or NOT_KNOWN, "", "", "", "", "46", self.head.submitter_id)
        yield ("NM1", "41", "2", *known)


def write_sets(
    kind: str,
    rows: Callable[[StatusSet, Sequence[Case]], Iterator[Row]],
    profile: Profile,
    file: File,
    cases: Sequence[Case],
    envelope: Envelope,
) -> bytes:
    """Return the interchange: one set for each set of the file; ``rows`` yields everything between ST and SE."""
    bodies = []
    for number in range(len(file.sets)):
        mine = [case for case in cases if case.claim.set == number]
        if mine:
            found = rows(StatusSet(profile, file, number, envelope), mine)
            bodies.append(["*".join(format_segment(*row)) for row in found])
    return b"".join(wrap_sets(envelope, guides.by_kind(kind), bodies))


def person_name(one: Person) -> tuple[str, ...]:
    """Return NM103 to NM107 of a person."""
    return (one.last or NOT_KNOWN, one.first, one.middle, "", one.suffix)


def provider_name(provider: Provider) -> tuple[str, ...]:
    """Return NM102 to NM107 of a provider."""
    return (provider.entity, provider.name or NOT_KNOWN, provider.first, provider.middle, "", "")


def provider_number(provider: Provider) -> tuple[str, str]:
    """Return NM108 and NM109 of a provider."""
    return ("XX", provider.npi) if provider.npi else ("FI", provider.tax)
