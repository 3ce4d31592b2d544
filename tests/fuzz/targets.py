"""What is fuzzed: each target takes bytes, and must return, whatever they are. What it asserts must hold for all input.

``SEEDS`` are good inputs to begin with. A fault that fuzzing finds becomes a row of ``tests/fuzz/test_fuzz.py``.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from random import Random

from clearlane.claims.fields import encode
from clearlane.claims.forms import FORMS, samples
from clearlane.claims.forms.x12_loops import claim_findings, claim_of_unit
from clearlane.claims.kinds import X12
from clearlane.claims.read.decode import read_document, restore_claim
from clearlane.claims.responses.ack_verdicts import not_accepted
from clearlane.claims.responses.acknowledged_claim import acknowledged_claim
from clearlane.claims.responses.sender_set import sender_set_of
from clearlane.claims.responses.write_277ca import Acknowledgement277CA, clearinghouse_source
from clearlane.claims.rules import RuleInputs
from clearlane.claims.rules.file_claims import check_file_claim
from clearlane.claims.write.write_x12 import plain_text
from clearlane.claims.x12_claim import X12Claim
from clearlane.enrollment.decode import decode_enrollment, split_request
from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import views
from clearlane.x12.checker.ack import acknowledge
from clearlane.x12.checker.check import check, iter_findings
from clearlane.x12.reader.outline import OutlineSegment, iter_outline
from clearlane.x12.reader.reader import UnitClosed, parse
from clearlane.x12.show.page import UnreadablePageError, write_page
from clearlane.x12.show.redact import redact
from clearlane.x12.writer.writer import write
from tests.claims.file_claims import CROWN, VISITS, claims_in, sent, units_in
from tests.claims.outgoing import written
from tests.eligibility.invented import decode_request
from tests.eligibility.invented import document as eligibility_document
from tests.enrollment.invented import a_document, a_practice
from tests.x12 import samples837, samples_other
from tests.x12.guide_files import guide_file
from tests.x12.injected_faults import good

NOW = datetime(2024, 5, 1, tzinfo=UTC)
TODAY = date(2024, 5, 1)
CLAIM_KINDS = ("837P", "837D", "837I")
# A 999 names group and set by the values of GS and ST, a TA1 the interchange by those of ISA, right or wrong.
REPEATED_AS_RECEIVED = {"AK1", "AK2", "TA1"}
SEED_BYTES_MAX = 6_000
OTHER_KINDS = ("270", "271", "276", "277", "277CA", "835", "999")


@dataclass(frozen=True, slots=True)
class FuzzTarget:
    """One thing that is fuzzed."""

    name: str
    run: Callable[[bytes], None]
    seeds: Callable[[], tuple[bytes, ...]]
    words: tuple[bytes, ...]
    """Pieces that mean something in the format: mutations put them in."""


def read_and_write(data: bytes) -> None:
    """Reading keeps every segment, and writing is stable."""
    file = parse(data)
    once = write(file)
    assert write(parse(once)) == once
    inside = [segment for set in file.sets() for segment in set.all_segments()]
    followed = [
        event.segment
        for event in iter_outline(data)
        if isinstance(event, OutlineSegment) and event.loop is not None
    ]
    assert followed == inside


def check_file(data: bytes) -> None:
    """Every finding has a sentence and a place in the file, whether it is read at once or in pieces."""
    found = check(data).findings
    _expect_sentences(found)
    halves = [data[: len(data) // 2], data[len(data) // 2 :]]
    assert sorted(map(_place, iter_findings(halves))) == sorted(map(_place, found))


def acknowledge_file(data: bytes) -> None:
    """Whatever comes, the answers are sound files themselves, but for what they repeat as it was received."""
    for answer in acknowledge(data, control=1, moment=NOW):
        for reply in filter(None, (answer.ta1, answer.ack_999)):
            errors = [f for f in check(reply).findings if f.severity is Severity.ERROR]
            assert {f.position.segment_id for f in errors if f.position} <= REPEATED_AS_RECEIVED


def show_file(data: bytes) -> None:
    """Typed readings, pages and redacted copies are made of any file."""
    for _ in views.read_views(data):
        pass
    for _ in views.stream_views(data):
        pass
    for _ in redact(data, b"key"):
        pass
    try:
        page = "".join(write_page(lambda: data, title="file"))
    except UnreadablePageError:
        return
    assert "<script" not in page


def pass_claims(data: bytes) -> None:
    """Claims of any file are stored, judged and acknowledged; those of a clean file go out as they came."""
    units = units_in(data)
    receipts: dict[int, Acknowledgement277CA] = {}
    for unit in units:
        claim = claim_of_unit(unit)
        assert restore_claim(X12, encode(claim)) == claim
        own = claim_findings(claim, unit.set.findings)
        judged = check_file_claim(claim, RuleInputs(today=TODAY), own)
        _expect_sentences(judged.findings)
        named = acknowledged_claim(unit.loop, unit.parents, unit.set.first_segment)
        if id(unit.set) not in receipts:
            sender = sender_set_of(unit.set)
            receipts[id(unit.set)] = Acknowledgement277CA(
                clearinghouse_source("Clearlane", sender),
                sender,
                received=TODAY,
                control=1,
                moment=NOW,
            )
        receipts[id(unit.set)].add(named, not_accepted(judged.findings, named))
    for receipt in receipts.values():
        assert check(receipt.write()).readable
    if units and not check(data).errors:
        _expect_same_claims(units)


def _expect_same_claims(units: list[UnitClosed]) -> None:
    """Write each claim by itself, and compare its segments with those that came."""
    for out in sent([claim_of_unit(unit) for unit in units]):
        (back,) = claims_in(written([out]))
        assert isinstance(out.claim, X12Claim)
        for before, after in zip(out.claim.parts, back.parts, strict=True):
            came, went = before.segments, after.segments
            for one in (came, went):
                one[:] = [each for each in one if each[0] != "HL" and each[:2] != ["REF", "D9"]]
            assert [[plain_text(text) for text in each] for each in came] == went


def decode_claims(data: bytes) -> None:
    """A document of claims is decoded or refused with findings."""
    for kind in FORMS.values():
        document, claims = read_document(data, kind)
        _expect_sentences(document.findings)
        for read in claims:
            _expect_sentences(read.findings)
            assert read.claim is not None or read.findings


def decode_eligibility(data: bytes) -> None:
    """An eligibility request is decoded or refused with findings."""
    read = decode_request(data)
    _expect_sentences(read.findings)
    assert read.request is not None or read.findings


def decode_enrollments(data: bytes) -> None:
    """An enrollment request is decoded or refused with findings."""
    request = split_request(data)
    _expect_sentences(request.findings)
    for at, raw in enumerate(request.elements):
        read = decode_enrollment(bytes(raw), f"Enrollments[{at}]")
        _expect_sentences(read.findings)
        assert read.enrollment is not None or read.findings


def _expect_sentences(findings: Iterable[Finding]) -> None:
    for finding in findings:
        assert finding.message
        assert finding.rule


def _place(finding: Finding) -> tuple[str, int, int, int]:
    position = finding.position
    assert position is not None
    return finding.rule, position.file_segment, position.element, position.component


@cache
def x12_seeds() -> tuple[bytes, ...]:
    """One small file of each kind."""
    found = ["".join(row + "~\n" for row in good(kind)).encode() for kind in ("837P", "837D")]
    for kind in CLAIM_KINDS:
        rows = samples837.claims(Random(5), kind, subscribers=1)
        found.append(samples837.interchange(kind, [rows]).encode())
    for kind in OTHER_KINDS:
        rows = samples_other.made(Random(5), kind)
        found.append(samples_other.interchange(kind, [rows]).encode())
    found.append(next(iter(acknowledge(found[0], control=1, moment=NOW))).ta1)
    return tuple(found)


@cache
def file_seeds() -> tuple[bytes, ...]:
    """Small files of claims, in several separators."""
    made = [
        guide_file(number, {"837P": ("MM001",), "837D": ("SD003",)}) for number in range(10, 40)
    ]
    own = [one.read_bytes() for one in (VISITS, CROWN)]
    return (*own, *(one.content for one in made if len(one.content) < SEED_BYTES_MAX))


@cache
def claim_seeds() -> tuple[bytes, ...]:
    """A minimal and a full document of each kind of claim."""
    return tuple(
        json.dumps(samples.document(kind, day=TODAY, full=full), default=str).encode()
        for kind in FORMS.values()
        for full in (False, True)
    )


@cache
def eligibility_seeds() -> tuple[bytes, ...]:
    """A request with one subscriber."""
    return (json.dumps(eligibility_document()).encode(),)


@cache
def enrollment_seeds() -> tuple[bytes, ...]:
    """A request with one practice."""
    return (a_document(a_practice()),)


X12_WORDS = (
    b"~", b"*", b":", b"^", b"ISA", b"GS*HC*A*B*20240501*1200*1*X*005010X222A1~", b"GE*1*1~", b"IEA*1*000000001~",
    b"ST*837*0001*005010X222A1~", b"SE*2*0001~", b"HL*1**20*1~", b"LX*1~", b"CLM*A*1***11:B:1~", b"TA1*1~", b"\x00",
    b"\xff", b"\xef\xbb\xbf", b"~~", b"**", b"*" * 30, b":::", b"-", b"99999999999", b"D8*20240230", b"RD8*2024-", b"\r\n",
    b"NM1", b"CAS*CO*45", b"PLB*1*20240101", b"00501", b" ", b"0", b"A" * 81, b"\xc3\x91",
)  # fmt: skip
JSON_WORDS = (
    b"null", b"true", b"[]", b"{}", b"[" * 80, b'"\\ud800"', b'"\\u0000"', b"1e999", b"-0", b"0.1", b"1" * 400, b'""',
    b'"', b",", b":", b"}", b"]", b"\xff", b"\xef\xbb\xbf", b'"0001-01-01"', b'"9999-12-31"', b'"/Date(99999999999999999)/"',
    b'{"a":1,"a":2}', b"NaN", b"\\", b"12345678901234567890",
)  # fmt: skip

TARGETS: dict[str, FuzzTarget] = {
    target.name: target
    for target in (
        FuzzTarget("reader", read_and_write, x12_seeds, X12_WORDS),
        FuzzTarget("checker", check_file, x12_seeds, X12_WORDS),
        FuzzTarget("acknowledger", acknowledge_file, x12_seeds, X12_WORDS),
        FuzzTarget("readings", show_file, x12_seeds, X12_WORDS),
        FuzzTarget("file claims", pass_claims, file_seeds, X12_WORDS),
        FuzzTarget("claims", decode_claims, claim_seeds, JSON_WORDS),
        FuzzTarget("eligibility", decode_eligibility, eligibility_seeds, JSON_WORDS),
        FuzzTarget("enrollment", decode_enrollments, enrollment_seeds, JSON_WORDS),
    )
}
