"""Read a 270 as a payer does, from the file alone.

    for interchange in read(content): ...

Every inquiry is read as far as possible, whatever is wrong with its set: the engine's findings decide afterward
whether the set is answered. Knows the loops of a 270; does not know its writer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from msgspec.structs import replace

from clearlane.kernel import formats
from clearlane.kernel.limits import CHUNK_BYTES
from clearlane.kernel.redacted_repr import redact_repr
from clearlane.sandbox.model import Parties
from clearlane.sandbox.read_837 import identifier, parties_of, party
from clearlane.x12 import tree
from clearlane.x12.checker.ack import BUSINESS_UNITS, GroupVerdict, SetVerdict, counted_sets
from clearlane.x12.delimiters import read_delimiters
from clearlane.x12.reader import reader
from clearlane.x12.tree import Loop, get_element, split_components, split_repetitions
from clearlane.x12.writer.encode import clean

KIND, GROUP = "270", "HS"
NAMES, NUMBER, TRACES = range(1, 9), 9, range(2, 5)
"""Elements of an NM1 and a TRN that a payer returns."""
SEXES = frozenset({"F", "M", "U"})
UNIT_NAME = BUSINESS_UNITS[KIND][0]


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class BenefitInquiry:
    """One EQ: services or a procedure inquired about."""

    services: tuple[str, ...] = ()
    procedure: tuple[str, ...] = ()
    family: bool = False


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """A subscriber or a dependent."""

    traces: tuple[tuple[str, ...], ...]
    """TRN02, TRN03 and TRN04 of each."""
    name: tuple[str, ...]
    """NM101 to NM109."""
    birth: date | None
    sex: str
    relationship: str
    address: tuple[tuple[str, ...], ...]
    """N3 and N4 with their ids."""
    inquiries: tuple[BenefitInquiry, ...]
    day: date | None
    """First day inquired about."""
    at: int
    """Position of the NM1 in the set."""
    dependents: "tuple[Patient, ...]" = ()

    @property
    def last(self) -> str:
        return self.name[2]

    @property
    def first(self) -> str:
        return self.name[3]

    @property
    def member(self) -> str:
        """The member id."""
        return self.name[8]

    @property
    def is_inquired(self) -> bool:
        """Whether the inquiry is about this person: benefits are named, or there is no dependent."""
        return bool(self.inquiries) or not self.dependents


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """An information receiver: the provider that inquires."""

    name: tuple[str, ...]
    subscribers: tuple[Patient, ...]

    @property
    def npi(self) -> str | None:
        """The NPI; None if another number identifies the receiver."""
        return self.name[8] if self.name[7] == "XX" else None


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class InformationSource:
    """An information source: the payer inquired of."""

    name: tuple[str, ...]
    receivers: tuple[Receiver, ...]


@dataclass(slots=True)
class SetRead:
    """A set: its number (BHT03), its inquiries, and the engine's findings."""

    verdict: SetVerdict
    known: bool
    """Whether this payer reads the transaction and version."""
    reference: str = ""
    sources: tuple[InformationSource, ...] = ()

    def subscribers(self) -> Iterator[Patient]:
        """Yield every subscriber."""
        for source in self.sources:
            for receiver in source.receivers:
                yield from receiver.subscribers


@dataclass(slots=True)
class GroupRead:
    """A group with its sets."""

    verdict: GroupVerdict
    sets: list[SetRead]


@dataclass(slots=True)
class InterchangeRead:
    """An interchange with its groups."""

    source: tree.Interchange
    parties: Parties
    wants_ta1: bool
    groups: list[GroupRead]

    @property
    def control(self) -> int:
        """ISA13, or 1 if it is not a number."""
        text = self.source.control
        return int(text) if text.isascii() and text.isdigit() and int(text) else 1

    def sets(self) -> Iterator[SetRead]:
        """Yield every set of every group."""
        for group in self.groups:
            yield from group.sets


def read(content: bytes) -> list[InterchangeRead]:
    """Return the interchanges of a file."""
    return [_interchange(one) for one in reader.parse(content).interchanges]


def functional_group(content: bytes) -> str:
    """Return GS01 of the first group of a file, reading its start alone; empty if it has none."""
    text = content[:CHUNK_BYTES].decode("latin-1").lstrip()
    learned = read_delimiters(text)
    if learned is None:
        return ""
    separators, length = learned
    segments = (one.strip() for one in text[length:].split(separators.terminator))
    start = "GS" + separators.element
    header = next((one for one in segments if one.startswith(start)), "")
    return "".join(header.split(separators.element)[1:2])


def _interchange(source: tree.Interchange) -> InterchangeRead:
    parties = parties_of(source)
    if source.groups:
        sender, receiver = (party(get_element(source.groups[0].header, at)) for at in (2, 3))
        parties = replace(parties, application_sender=sender, application_receiver=receiver)
    wants_ta1 = get_element(source.header, 14) == "1"
    return InterchangeRead(source, parties, wants_ta1, [_group(one) for one in source.groups])


def _group(group: tree.FunctionalGroup) -> GroupRead:
    functional, control, version = (get_element(group.header, at) for at in (1, 6, 8))
    sets = [_set(one) for one in group.sets]
    verdicts = [one.verdict for one in sets]
    verdict = GroupVerdict(
        functional, control, version, verdicts, group.findings, counted_sets(group)
    )
    return GroupRead(verdict, sets)


def _set(set: tree.TransactionSet) -> SetRead:
    transaction, control, version = (get_element(set.header, at) for at in (1, 2, 3))
    verdict = SetVerdict(transaction, control, version, set.findings)
    if set.guide is None or set.guide.kind != KIND:
        return SetRead(verdict, set.guide is None)
    verdict.units = list(_units(set.root))
    reference = identifier(set.root.value("BHT", 3))
    return SetRead(verdict, True, reference, tuple(map(_source, set.root.loops("2000A"))))


def _units(root: Loop) -> Iterator[tuple[int, int, str, str]]:
    """Yield the business units, so that a 999 can name the one with a fault."""
    for level in root.descendants("2000C"):
        key = next((get_element(one, 2) for one in level.all_segments() if one[0] == "TRN"), "")
        if key and clean(key)[0] == key:
            yield level.position, level.position + level.size() - 1, UNIT_NAME, key


def _source(level: Loop) -> InformationSource:
    receivers = tuple(map(_receiver, level.loops("2000B")))
    return InformationSource(name=_name(level.loop("2100A")), receivers=receivers)


def _receiver(level: Loop) -> Receiver:
    subscribers = tuple(_patient(one, "C") for one in level.loops("2000C"))
    return Receiver(name=_name(level.loop("2100B")), subscribers=subscribers)


def _patient(level: Loop, letter: str) -> Patient:
    loop = level.loop(f"2100{letter}") or Loop(level.node, level.position)
    benefits = list(loop.loops(f"2110{letter}"))
    dates = [one.value("DTP", 3, "291") for one in (*benefits, loop)]
    sex = loop.value("DMG", 3)
    return Patient(
        traces=tuple(
            tuple(identifier(get_element(one, at)) for at in TRACES)
            for one in level.segments("TRN")
        ),
        name=_name(loop),
        birth=formats.parse_x12_date(loop.value("DMG", 2)),
        sex=sex if sex in SEXES else "",
        relationship=loop.value("INS", 2),
        address=tuple(
            tuple(clean(text)[0] for text in one)
            for one in (loop.segment("N3"), loop.segment("N4"))
            if one
        ),
        inquiries=tuple(_inquiry(one.segment("EQ") or ["EQ"]) for one in benefits),
        day=next(filter(None, (formats.parse_x12_date(text[:8]) for text in dates)), None),
        at=loop.position,
        dependents=tuple(_patient(one, "D") for one in level.loops("2000D")),
    )


def _inquiry(eq: tree.Segment) -> BenefitInquiry:
    return BenefitInquiry(
        services=tuple(filter(None, split_repetitions(get_element(eq, 1)))),
        procedure=tuple(clean(one)[0] for one in split_components(get_element(eq, 2))),
        family=get_element(eq, 3) == "FAM",
    )


def _name(loop: Loop | None) -> tuple[str, ...]:
    """Return NM101 to NM109 as a response can carry them; only the number keeps its small letters."""
    found = (loop.segment("NM1") if loop is not None else None) or ["NM1"]
    texts = (clean(get_element(found, at))[0] for at in NAMES)
    return (*texts, identifier(get_element(found, NUMBER)))
