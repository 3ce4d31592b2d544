"""Files that arrive at a payer, written by hand with the engine's writer: the claim code has no part in them."""

import logging
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from clearlane.sandbox.model import Profile
from clearlane.sandbox.payer import SandboxPayer
from clearlane.x12 import guides
from clearlane.x12.checker import check
from clearlane.x12.reader import reader
from clearlane.x12.writer.writer import Envelope, format_segment, wrap_sets
from tests.connect.memory import MemoryLedger
from tests.x12.pyx12_witness import is_accepted

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
SERVICE = date(2026, 2, 16)
MEDICAL = Profile("TST01", "Sandbox Medical", frozenset({"TST01"}))
DENTAL = Profile("TST02", "Sandbox Dental", frozenset({"TST02"}))
CHECK_NPI, TRANSFER_NPI = "1234567893", "1679576722"


@dataclass(frozen=True)
class Billed:
    """One claim as a test writes it."""

    member: str
    account: str = "A1"
    lines: tuple[tuple, ...] = (("99213", "100", "HC"),)
    """Procedure code, charge, whose code; for each line."""
    number: str = ""
    day: date | None = SERVICE
    frequency: str = "1"
    original: str = ""
    npi: str = CHECK_NPI
    child: bool = False
    order: str = "P"
    before: str = ""
    """What an earlier payer paid."""
    birth: date = date(1980, 5, 17)
    predetermination: bool = False
    payer: str = "TST01"

    @property
    def trace(self) -> str:
        return self.number or f"CL{self.account}"

    @property
    def charge(self) -> str:
        return str(sum(Decimal(line[1]) for line in self.lines))

    @property
    def kind(self) -> str:
        return "837D" if self.lines[0][0].startswith("D") else "837P"


def medical(member: str, *charges: str, account: str = "A1", **more) -> Billed:
    codes = ["99213", "71046", "97110"]
    lines = tuple((code, charge, "HC") for code, charge in zip(codes, charges, strict=False))
    return Billed(member, account, lines or (("99213", "100", "HC"),), **more)


def services(member: str, *lines: tuple[str, str], account: str = "A1", **more) -> Billed:
    """Lines by code and charge."""
    rows = tuple((code, charge, "AD" if code[0] == "D" else "HC") for code, charge in lines)
    payer = "TST02" if rows[0][2] == "AD" else "TST01"
    return Billed(member, account, rows, **{"payer": payer, **more})


def file(*claims: Billed, control: int = 1, sets: int = 1, acknowledge: bool = False) -> bytes:
    """An interchange: the claims shared out over its sets."""
    guide = guides.by_kind(claims[0].kind)
    envelope = Envelope(
        sender="CLEARLANE", receiver="SANDBOX", control=control, moment=NOW, acknowledge=acknowledge
    )
    size = -(-len(claims) // sets)
    parts = [claims[at : at + size] for at in range(0, len(claims), size)]
    bodies = [
        ["*".join(format_segment(*row)) for row in _rows(part, f"{control:09}{n:04}")]
        for n, part in enumerate(parts, 1)
    ]
    return b"".join(wrap_sets(envelope, guide, bodies))


def _rows(claims, reference):
    yield ("BHT", "0019", "00", reference, NOW.date(), "0930", "CH")
    yield ("NM1", "41", "2", "CLEARLANE", "", "", "", "", "46", "CL001")
    yield ("PER", "IC", "DESK", "TE", "5035550111")
    yield ("NM1", "40", "2", "SANDBOX", "", "", "", "", "46", "SB001")
    level, provider = 0, None
    for one in claims:
        if one.npi != provider:
            level += 1
            billing, provider = str(level), one.npi
            yield ("HL", billing, "", "20", "1")
            yield ("NM1", "85", "2", "FERNHILL FAMILY PRACTICE", "", "", "", "", "XX", one.npi)
            yield ("N3", "12 FERN STREET")
            yield ("N4", "PORTLAND", "OR", "972011234")
            yield ("REF", "EI", "931234567")
        rows = list(_claim(one, level, billing))
        level += sum(row[0] == "HL" for row in rows)
        yield from rows


def _claim(one, level, billing):
    mine = str(level + 1)
    address = [("N3", "7 OAK LANE"), ("N4", "PORTLAND", "OR", "97201")]
    born = ("DMG", "D8", one.birth, "F")
    yield ("HL", mine, billing, "22", "1" if one.child else "0")
    yield ("SBR", one.order, "" if one.child else "18", "G77", *[""] * 5, "CI")
    yield ("NM1", "IL", "1", "ARDEN", "ROSA", "", "", "", "MI", one.member)
    yield from [] if one.child else [*address, born]
    yield ("NM1", "PR", "2", "SANDBOX", "", "", "", "", "PI", one.payer)
    if one.child:
        yield ("HL", str(level + 2), mine, "23", "0")
        yield ("PAT", "19")
        yield ("NM1", "QC", "1", "ARDEN", "MILO")
        yield from [*address, born]
    tail = [""] * 9 + ["PB"] if one.predetermination else []
    place = ("11", "B", one.frequency)
    yield ("CLM", one.account, one.charge, "", "", place, "Y", "A", "Y", "Y", *tail)
    if one.original:
        yield ("REF", "F8", one.original)
    yield ("REF", "D9", one.trace)
    if one.kind == "837P":
        yield ("HI", ("ABK", "J0190"))
    if one.before or one.order != "P":
        yield ("SBR", "P", "18", "", "", "", "", "", "", "CI")
        if one.before:
            yield ("CAS", "CO", "45", Decimal(one.charge) - Decimal(one.before))
            yield ("AMT", "D", one.before)
        yield ("OI", "", "", "Y", "", "", "Y")
        yield ("NM1", "IL", "1", "ARDEN", "ROSA", "", "", "", "MI", "X1")
        yield ("NM1", "PR", "2", "MEADOW MUTUAL", "", "", "", "", "PI", "MDW10")
        if one.before:
            yield ("DTP", "573", "D8", NOW.date())
    for at, (code, charge, whose, *more) in enumerate(one.lines, 1):
        yield ("LX", str(at))
        if whose == "HC":
            units = more[0] if more else "1"
            yield ("SV1", ("HC", code), charge, "UN", units, "", "", ("1",))
        else:
            yield ("SV3", ("AD", code), charge, "", "", "", "1")
        if one.day:
            yield ("DTP", "472", "D8", one.day)
        yield ("REF", "6R", f"{one.trace}-{at}")


@dataclass
class Stage:
    """A payer, its ledger, and everything it has left."""

    profile: Profile = MEDICAL
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    now: datetime = NOW
    files: dict[str, bytes] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    control: int = 0

    def __post_init__(self) -> None:
        self.payer = self.another_node()

    def another_node(self) -> SandboxPayer:
        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        return SandboxPayer(self.profile, self.ledger, sleep=sleep)

    async def send(self, *claims: Billed, **more) -> dict[str, bytes]:
        """Send claims in a new interchange and work at once."""
        self.control += 1
        content = file(*claims, control=self.control, **more)
        await self.payer.receive(f"batch{self.control}.837", content, self.now)
        return await self.work()

    async def work(self) -> dict[str, bytes]:
        left = dict(await self.payer.work(self.now))
        assert not left.keys() & self.files.keys(), "each file is left once"
        self.files |= left
        await self.payer.confirm_delivered(left)
        return left

    async def days(self, number: int) -> dict[str, bytes]:
        """Let days pass, one by one; the files of all of them."""
        found: dict[str, bytes] = {}
        for _ in range(number):
            self.now += timedelta(days=1)
            found |= await self.work()
        return found


def rows(content: bytes) -> list[str]:
    return content.decode().rstrip("~").split("~")


def kind(left: dict[str, bytes], name: str) -> list[bytes]:
    """The contents of the files whose names end so."""
    return [content for key, content in left.items() if key.endswith(f".{name}")]


def one(left: dict[str, bytes], name: str) -> list[str]:
    """The segments of the only file of a kind."""
    (content,) = kind(left, name)
    return rows(content)


def starting(segments: list[str], *starts: str) -> list[str]:
    return [row for row in segments if row.startswith(starts)]


def clean(content: bytes) -> bool:
    """Whether our checker finds nothing at all."""
    found = check.check(content).findings
    assert not found, [(f.rule, f.message, f.position) for f in found]
    return True


def witnessed(content: bytes) -> bool:
    """Whether pyx12 accepts an 835."""
    logging.getLogger("pyx12").setLevel(logging.CRITICAL)
    return is_accepted(content)


def guide_of(content: bytes) -> str:
    guide = next(iter(reader.parse(content).sets())).guide
    assert guide is not None
    return guide.kind
