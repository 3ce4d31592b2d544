"""A 270 as a payer understands it, from the file alone.

    for interchange in read(content): ...

Every question is read as far as it can be, whatever is wrong with its set: whether the set is answered is decided
afterwards, by what the engine found. Knows the loops of a 270; knows nothing of who wrote it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from msgspec.structs import replace

from clearlane.kernel import formats
from clearlane.kernel.limits import CHUNK_BYTES
from clearlane.kernel.redacted_repr import discreet
from clearlane.sandbox.model import Parties
from clearlane.sandbox.read_837 import identifier, parties_of, party
from clearlane.x12 import reader, tree
from clearlane.x12.ack import BUSINESS_UNITS, GroupVerdict, SetVerdict
from clearlane.x12.delimiters import learn
from clearlane.x12.encode import clean
from clearlane.x12.tree import Loop, components, element, repetitions

KIND, GROUP = "270", "HS"
NAMES, NUMBER, TRACES = range(1, 9), 9, range(2, 5)
"""What of an NM1 and a TRN a payer gives back."""
SEXES = frozenset({"F", "M", "U"})
UNIT_NAME = BUSINESS_UNITS[KIND][0]


@discreet
@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One EQ: what is asked about."""

    services: tuple[str, ...] = ()
    procedure: tuple[str, ...] = ()
    family: bool = False


@discreet
@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """A subscriber or a dependent who is named in a question."""

    traces: tuple[tuple[str, ...], ...]
    """TRN02, TRN03 and TRN04 of each."""
    name: tuple[str, ...]
    """NM101 to NM109."""
    birth: date | None
    sex: str
    relationship: str
    address: tuple[tuple[str, ...], ...]
    """N3 and N4 with their ids."""
    wanted: tuple[Wanted, ...]
    day: date | None
    """The first day that is asked about."""
    at: int
    """Where the NM1 stands in the set."""
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
    def asked(self) -> bool:
        """Whether the question is about this person: benefits are named, or nobody else is."""
        return bool(self.wanted) or not self.dependents


@discreet
@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """Who asks."""

    name: tuple[str, ...]
    subscribers: tuple[Patient, ...]

    @property
    def npi(self) -> str | None:
        """The national provider id, None where another number names the receiver."""
        return self.name[8] if self.name[7] == "XX" else None


@discreet
@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who is asked."""

    name: tuple[str, ...]
    receivers: tuple[Receiver, ...]


@dataclass(slots=True)
class SetRead:
    """A set: its number (BHT03), its questions, and what the engine found."""

    verdict: SetVerdict
    known: bool
    """Whether it is a 270 of a version that this payer reads."""
    reference: str = ""
    sources: tuple[Asked, ...] = ()

    def subscribers(self) -> Iterator[Patient]:
        """Every subscriber."""
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
        """ISA13, or 1 where it is no number."""
        text = self.source.control
        return int(text) if text.isascii() and text.isdigit() and int(text) else 1

    def sets(self) -> Iterator[SetRead]:
        """Every set of every group."""
        for group in self.groups:
            yield from group.sets


def read(content: bytes) -> list[InterchangeRead]:
    """The interchanges of a file."""
    return [_interchange(one) for one in reader.parse(content).interchanges]


def is_inquiry(content: bytes) -> bool:
    """Whether the first group of a file asks for eligibility: a look at its head, cheap for any size."""
    text = content[:CHUNK_BYTES].decode("latin-1").lstrip()
    learnt = learn(text)
    if learnt is None:
        return False
    separators, length = learnt
    segments = (one.strip() for one in text[length:].split(separators.terminator))
    start = "GS" + separators.element
    header = next((one for one in segments if one.startswith(start)), "")
    return header.split(separators.element)[1:2] == [GROUP]


def _interchange(source: tree.Interchange) -> InterchangeRead:
    parties = parties_of(source)
    if source.groups:
        sender, receiver = (party(element(source.groups[0].header, at)) for at in (2, 3))
        parties = replace(parties, application_sender=sender, application_receiver=receiver)
    wants_ta1 = element(source.header, 14) == "1"
    return InterchangeRead(source, parties, wants_ta1, [_group(one) for one in source.groups])


def _group(group: tree.Group) -> GroupRead:
    functional, control, version = (element(group.header, at) for at in (1, 6, 8))
    sets = [_set(one) for one in group.sets]
    verdicts = [one.verdict for one in sets]
    return GroupRead(GroupVerdict(functional, control, version, verdicts, group.findings), sets)


def _set(set: tree.Set) -> SetRead:
    transaction, control, version = (element(set.header, at) for at in (1, 2, 3))
    verdict = SetVerdict(transaction, control, version, set.findings)
    if set.guide is None or set.guide.kind != KIND:
        return SetRead(verdict, set.guide is None)
    verdict.units = list(_units(set.root))
    reference = identifier(set.root.value("BHT", 3))
    return SetRead(verdict, True, reference, tuple(map(_source, set.root.loops("2000A"))))


def _units(root: Loop) -> Iterator[tuple[int, int, str, str]]:
    """The business units, so that a 999 can name the one in which a fault stands."""
    for level in root.descend("2000C"):
        key = next((element(one, 2) for one in level.walk() if one[0] == "TRN"), "")
        if key and clean(key)[0] == key:
            yield level.position, level.position + level.size() - 1, UNIT_NAME, key


def _source(level: Loop) -> Asked:
    receivers = tuple(map(_receiver, level.loops("2000B")))
    return Asked(name=_name(level.loop("2100A")), receivers=receivers)


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
            tuple(identifier(element(one, at)) for at in TRACES) for one in level.segments("TRN")
        ),
        name=_name(loop),
        birth=formats.x12_date(loop.value("DMG", 2)),
        sex=sex if sex in SEXES else "",
        relationship=loop.value("INS", 2),
        address=tuple(
            tuple(clean(text)[0] for text in one)
            for one in (loop.segment("N3"), loop.segment("N4"))
            if one
        ),
        wanted=tuple(_wanted(one.segment("EQ") or ["EQ"]) for one in benefits),
        day=next(filter(None, (formats.x12_date(text[:8]) for text in dates)), None),
        at=loop.position,
        dependents=tuple(_patient(one, "D") for one in level.loops("2000D")),
    )


def _wanted(eq: tree.Segment) -> Wanted:
    return Wanted(
        services=tuple(filter(None, repetitions(element(eq, 1)))),
        procedure=tuple(clean(one)[0] for one in components(element(eq, 2))),
        family=element(eq, 3) == "FAM",
    )


def _name(loop: Loop | None) -> tuple[str, ...]:
    """NM101 to NM109 as an answer can carry them; only the number keeps its small letters."""
    found = (loop.segment("NM1") if loop is not None else None) or ["NM1"]
    texts = (clean(element(found, at))[0] for at in NAMES)
    return (*texts, identifier(element(found, NUMBER)))
