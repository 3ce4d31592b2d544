"""Questions that arrive at a payer, written by hand with the engine's writer, and what witnesses say of the answers."""

from dataclasses import dataclass
from datetime import UTC, datetime

from x12sdk.io import X12ModelReader

from clearlane.sandbox.clock import SandboxClock
from clearlane.sandbox.eligibility import EligibilityPayer
from clearlane.sandbox.model import Profile
from clearlane.x12 import guides
from clearlane.x12.delimiters import CANONICAL, Delimiters
from clearlane.x12.reader import reader
from clearlane.x12.writer.writer import Envelope, format_segment, wrap_sets
from tests.manual_clock import ManualClock

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
PAYERS = {
    "TST01": "Sandbox Medical",
    "TST02": "Sandbox Dental",
    "TST1E": "Sandbox Medical Eligibility One",
    "TST2E": "Sandbox Medical Eligibility Two",
    "TST3E": "Sandbox Medical Eligibility Three",
}
TRACE = ("17-1", "9123456789")
X12SDK_REASONS = {"41", "43", "51", "79", "AE", "T4"}


@dataclass(frozen=True, kw_only=True)
class Question:
    """One 270 as a test writes it."""

    member: str
    child: bool = False
    payer: str = "TST01"
    npi: str = "1234567893"
    last: str = "ARDEN"
    birth: str = "19800229"
    benefits: tuple[tuple, ...] = (("EQ", ["30"]),)
    traces: tuple[tuple[str, ...], ...] = (TRACE,)
    day: str = ""
    reference: str = "R17"

    def rows(self) -> list[tuple]:
        traces = [("TRN", "1", *one) for one in self.traces]
        born = [("DMG", "D8", self.birth, "F")] if self.birth else []
        when = [("DTP", "291", "D8", self.day)] if self.day else []
        ask = [*born, *([("INS", "N", "19")] if self.child else []), *when, *self.benefits]
        if self.child:
            below = [("HL", "4", "3", "23", "0"), *traces, ("NM1", "03", "1", self.last, "MILO")]
        return [
            ("BHT", "0022", "13", self.reference, NOW.date(), "0930"),
            ("HL", "1", "", "20", "1"),
            ("NM1", "PR", "2", "SANDBOX", "", "", "", "", "PI", self.payer),
            ("HL", "2", "1", "21", "1"),
            ("NM1", "1P", "2", "FERNHILL FAMILY PRACTICE", "", "", "", "", "XX", self.npi),
            ("HL", "3", "2", "22", "1" if self.child else "0"),
            *([] if self.child else traces),
            ("NM1", "IL", "1", self.last, "ROSA", "", "", "", *(("MI", self.member) if self.member else ())),
            *(below if self.child else []),
            *ask,
        ]  # fmt: skip


def ask(member: str, **more) -> bytes:
    """An interchange with one question."""
    return asked(Question(member=member, **more))


def asked(
    *questions: Question,
    control: int = 17,
    delimiters: Delimiters = CANONICAL,
    acknowledge: bool = False,
) -> bytes:
    """An interchange with a set for each question."""
    envelope = Envelope(
        sender="CLEARLANE",
        receiver="SANDBOX",
        control=control,
        moment=NOW,
        delimiters=delimiters,
        acknowledge=acknowledge,
    )
    bodies = [["*".join(format_segment(*row)) for row in one.rows()] for one in questions]
    return b"".join(wrap_sets(envelope, guides.by_kind("270"), bodies))


def clock() -> SandboxClock:
    """A clock that stands until it is advanced."""
    return SandboxClock(ManualClock(NOW))


def payer(id: str = "TST01", *, time: SandboxClock | None = None) -> EligibilityPayer:
    return EligibilityPayer(Profile(id, PAYERS.get(id, id)), time or clock())


async def answer(id: str, content: bytes) -> list[str]:
    """The canonical segments of what a payer answers."""
    return canonical(await payer(id).answer(content, NOW))


def canonical(content: bytes) -> list[str]:
    """Every segment from ST to SE of a file, in the usual separators."""
    return ["*".join(one) for set in reader.parse(content).sets() for one in set.all_segments()]


def read_by_x12sdk(content: bytes) -> int:
    """How many sets x12sdk reads, without what it is known not to take."""
    parts: list[list[list[str]]] = []
    for set in reader.parse(content).sets():
        parts.append([])
        source = True
        for one in set.all_segments():
            source = source and one[:1] != ["TRN"]
            parts[-1] += _taken(list(one), source=source and one[0] == "PER")
    texts = []
    for rows in parts:
        rows[-1][1] = str(len(rows))
        texts += ["*".join(row) for row in rows]
    tail = ["GE*1*17", "IEA*1*000000017"]
    with X12ModelReader("~".join([*_head().split("~"), *texts, *tail]) + "~") as found:
        return len(list(found.models()))


def _head() -> str:
    envelope = Envelope(sender="SANDBOX", receiver="CLEARLANE", control=17, moment=NOW)
    whole = b"".join(wrap_sets(envelope, guides.by_kind("271"), []))
    return whole.decode().split("~GE*")[0]


def _taken(row: list[str], *, source: bool) -> list[list[str]]:
    """A segment as x12sdk can take it; the same limits stand in the tests of the guides."""
    if source or row[0] == "III":  # It loses the payer's contact, and wants LS and LE around III.
        return []
    if row[0] == "HL" and row[3] == "20":  # It knows no payer that refuses everything.
        row[4] = "1"
    if row[0] == "AAA":  # It has the provider's reasons at every level but the benefits'.
        row[3] = row[3] if row[3] in X12SDK_REASONS else "15"
    if row[0] == "EB":
        row += [""] * (14 - len(row))
        row[9] = row[10] = ""  # It takes the kind of quantity for a number.
        row[1] = "1" if row[1] == "R" else row[1]  # It takes other payers for a charity.
        row[3] = row[3] or "30"  # It wants service types always.
        while not row[-1]:
            row.pop()
    return [row]
