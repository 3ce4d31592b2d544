"""How fast and how lean the X12 engine is, beside the bare split and two libraries that do the same work."""

import io
import logging
import resource
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

from bench.harness import Measure, bench, seconds, side_by_side
from clearlane.kernel.finding import Severity
from clearlane.x12 import guides
from clearlane.x12.checker.check import check, event_findings
from clearlane.x12.reader.lexer import Lexer
from clearlane.x12.reader.reader import UnitClosed, read
from clearlane.x12.writer import placement
from clearlane.x12.writer.writer import Envelope, wrap_sets

MOMENT = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)
LAST = ("ARDEN", "LUND", "QUILL", "BIRCH", "FENN")
FIRST = ("ROSA", "MILO", "IVO", "TESSA", "NORA")
MEGABYTE = 1024 * 1024


def header() -> list[str]:
    """The beginning of a set: submitter, receiver, billing provider."""
    return [
        "BHT*0019*00*17*20240501*1200*CH",
        "NM1*41*2*CLEARLANE*****46*CL0001",
        "PER*IC*SERVICE DESK*TE*2065550100",
        "NM1*40*2*MEADOW MUTUAL*****46*MM001",
        "HL*1**20*1",
        "PRV*BI*PXC*207Q00000X",
        "NM1*85*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
        "N3*12 FERN HILL ROAD",
        "N4*PORTLAND*OR*972011234",
        "REF*EI*911234567",
        "PER*IC*FRONT DESK*TE*5035550101",
    ]


def claim(number: int) -> list[str]:
    """One subscriber with one claim of four lines: 39 segments."""
    last, first = LAST[number % 5], FIRST[number % 5]
    rows = [
        f"HL*{number + 1}*1*22*0",
        "SBR*P*18*GRP0042******CI",
        f"NM1*IL*1*{last}*{first}****MI*M{number:08}",
        f"N3*{number % 900 + 1} LARK STREET",
        "N4*MADISON*WI*537031020",
        f"DMG*D8*19{number % 80 + 10}0{number % 9 + 1}1{number % 9}*F",
        "NM1*PR*2*MEADOW MUTUAL*****PI*MM001",
        "N3*PO BOX 1200",
        "N4*AUSTIN*TX*787010042",
        f"CLM*A{number}*400***11:B:1*Y*A*Y*Y",
        "DTP*431*D8*20240420",
        f"REF*G1*AUTH{number:07}",
        f"REF*D9*CL{number:09}",
        "HI*ABK:E119*ABF:I10*ABF:M545",
        "NM1*DN*1*FENN*OSKAR****XX*1679576722",
        "NM1*82*1*BIRCH*NORA****XX*1245319599",
        "PRV*PE*PXC*207Q00000X",
        "NM1*77*2*LARKSPUR CLINIC*****XX*1679576722",
        "N3*12 FERN HILL ROAD",
        "N4*PORTLAND*OR*972011234",
        "NTE*ADD*FOLLOW UP AFTER FIRST VISIT",
    ]
    # Notes precede the codes in the guide.
    rows.insert(13, rows.pop())
    for line in range(1, 5):
        rows += [
            f"LX*{line}",
            f"SV1*HC:9921{line}:25*100*UN*1***1:2",
            f"DTP*472*D8*202404{20 + line}",
            f"REF*6R*L{number}-{line}",
        ]
    return rows


def claims_text(count: int, first: int = 1) -> Iterator[str]:
    """Claims one after the other."""
    return chain.from_iterable(claim(number) for number in range(first, first + count))


def interchange(count: int, control: int = 1) -> bytes:
    """An 837P interchange of ``count`` claims in sets of at most 5,000."""
    envelope = Envelope(sender="CLEARLANE", receiver="MM001", control=control, moment=MOMENT)
    sets = [min(5_000, count - start) for start in range(0, count, 5_000)]
    bodies = ([*header(), *claims_text(size)] for size in sets)
    return b"".join(wrap_sets(envelope, guides.by_kind("837P"), bodies))


@bench("x12.tokenise")
def tokenise() -> Measure:
    """Bytes to lists of elements, against the same by two splits."""
    data = interchange(5_000)

    def run_clearlane() -> int:
        lexer = Lexer()
        return len(lexer.feed(data)) + len(lexer.finish())

    def bare() -> list[list[str]]:
        return [segment.split("*") for segment in data.decode("latin-1").split("~")]

    own_seconds, baseline = side_by_side(run_clearlane, bare, runs=9)
    return Measure(
        "x12.tokenise", len(data) / MEGABYTE / own_seconds, "MB/s", baseline / own_seconds, "split"
    )


@bench("x12.check837p")
def check_claims() -> list[Measure]:
    """A full check of 837P claims, against two libraries that validate."""
    count = 200
    data = interchange(count)
    assert not check(data).errors, "the benchmark's own claims are clean"
    rows = []
    for name, validate in (("pyx12", _pyx12), ("x12sdk", _x12sdk)):
        validate(data)
        own_seconds, theirs = side_by_side(partial(check, data), partial(validate, data), runs=9)
        rows.append(
            Measure("x12.check837p", count / own_seconds, "claims/s", theirs / own_seconds, name)
        )
    return rows


@bench("x12.check837i")
def check_bills() -> Measure:
    """A full check of 837I claims, against that of 837P claims, segment by segment: at least 0.8 of its speed."""
    from bench.claims import ENVELOPE, RECEIVER, SUBMITTER, stay
    from clearlane.claims.write.write_837 import write_claims

    count = 200
    stays = [stay(number) for number in range(1, count + 1)]
    bills = b"".join(write_claims(stays, ENVELOPE, SUBMITTER, RECEIVER))
    visits = interchange(count)
    assert not check(bills).errors, "the benchmark's own claims are clean"
    mine, theirs = side_by_side(lambda: check(bills), lambda: check(visits), runs=9)
    ratio = (bills.count(b"~") / mine) / (visits.count(b"~") / theirs)
    return Measure("x12.check837i", count / mine, "claims/s", ratio, "check837p a segment")


def _pyx12(data: bytes) -> None:
    import pyx12.params
    import pyx12.x12n_document

    logging.getLogger("pyx12").setLevel(logging.CRITICAL)
    passed = pyx12.x12n_document.x12n_document(
        pyx12.params.params(), io.StringIO(data.decode()), io.StringIO(), None
    )
    assert passed, "the benchmark's own claims are clean"


def _x12sdk(data: bytes) -> None:
    import x12sdk.io

    reader = x12sdk.io.X12ModelReader(data.decode())
    with reader:
        for _ in reader.models():
            pass


# A claim's fields and where they go, as a table of placements has them.
SUBSCRIBER = {
    "level": "2000B/HL/01",
    "parent": "2000B/HL/02",
    "child": "2000B/HL/04",
    "relationship": "2000B/SBR/02",
    "group": "2000B/SBR/03",
    "last": "2010BA/NM1/03",
    "first": "2010BA/NM1/04",
    "member": "2010BA/NM1/09",
    "street": "2010BA/N3/01",
    "city": "2010BA/N4/01",
    "state": "2010BA/N4/02",
    "zip": "2010BA/N4/03",
    "born": "2010BA/DMG/02",
    "sex": "2010BA/DMG/03",
    "payer": "2010BB/NM1/03",
    "payer_id": "2010BB/NM1/09",
    "payer_street": "2010BB/N3/01",
    "payer_city": "2010BB/N4/01",
    "payer_state": "2010BB/N4/02",
    "payer_zip": "2010BB/N4/03",
}
CLAIM = {
    "account": "2300/CLM/01",
    "total": "2300/CLM/02",
    "place": "2300/CLM/05-1",
    "frequency": "2300/CLM/05-3",
    "onset": "2300/DTP:431/03",
    "authorization": "2300/REF:G1/02",
    "trace": "2300/REF:D9/02",
    "note": "2300/NTE/02",
    "diagnosis_1": "2300/HI:ABK/01-2",
    "diagnosis_2": "2300/HI:ABK/02-2",
    "diagnosis_3": "2300/HI:ABK/03-2",
    "referrer": "2310A/NM1/03",
    "referrer_first": "2310A/NM1/04",
    "referrer_npi": "2310A/NM1/09",
    "rendering": "2310B/NM1/03",
    "rendering_first": "2310B/NM1/04",
    "rendering_npi": "2310B/NM1/09",
    "taxonomy": "2310B/PRV/03",
    "facility": "2310C/NM1/03",
    "facility_npi": "2310C/NM1/09",
    "facility_street": "2310C/N3/01",
    "facility_city": "2310C/N4/01",
    "facility_state": "2310C/N4/02",
    "facility_zip": "2310C/N4/03",
}
LINE = {
    "number": "2400/LX/01",
    "procedure": "2400/SV1/01-2",
    "modifier": "2400/SV1/01-3",
    "charge": "2400/SV1/02",
    "units": "2400/SV1/04",
    "pointer_1": "2400/SV1/07-1",
    "pointer_2": "2400/SV1/07-2",
    "day": "2400/DTP:472/period",
    "control": "2400/REF:6R/02",
}
CONSTANTS = {
    "2000B/SBR/01": "P",
    "2000B/SBR/09": "CI",
    "2010BA/NM1/02": "1",
    "2010BA/NM1/08": "MI",
    "2010BB/NM1/08": "PI",
    "2300/CLM/06": "Y",
    "2300/CLM/07": "A",
    "2300/CLM/08": "Y",
    "2300/CLM/09": "Y",
    "2300/NTE/01": "ADD",
    "2300/HI:ABK/02-1": "ABF",
    "2300/HI:ABK/03-1": "ABF",
    "2310A/NM1/01": "DN",
    "2310B/NM1/02": "1",
    "2400/SV1/01-1": "HC",
    "2400/SV1/03": "UN",
}


def fields(number: int) -> tuple[dict[str, object], dict[str, object], list[dict[str, object]]]:
    """The same claim as ``claim`` makes, as fields: subscriber, claim, lines."""
    subscriber = {
        "level": str(number + 1), "parent": "1", "child": "0", "relationship": "18",
        "group": "GRP0042", "last": LAST[number % 5], "first": FIRST[number % 5],
        "member": f"M{number:08}", "street": f"{number % 900 + 1} LARK STREET", "city": "MADISON",
        "state": "WI", "zip": "537031020",
        "born": date(1900 + number % 80 + 10, number % 9 + 1, 10 + number % 9), "sex": "F",
        "payer": "MEADOW MUTUAL", "payer_id": "MM001", "payer_street": "PO BOX 1200",
        "payer_city": "AUSTIN", "payer_state": "TX", "payer_zip": "787010042",
    }  # fmt: skip
    whole = {
        "account": f"A{number}", "total": Decimal("400.00"), "place": "11", "frequency": "1",
        "onset": date(2024, 4, 20), "authorization": f"AUTH{number:07}",
        "trace": f"CL{number:09}", "note": "FOLLOW UP AFTER FIRST VISIT", "diagnosis_1": "E119",
        "diagnosis_2": "I10", "diagnosis_3": "M545", "referrer": "FENN", "referrer_first": "OSKAR",
        "referrer_npi": "1679576722", "rendering": "BIRCH", "rendering_first": "NORA",
        "rendering_npi": "1245319599", "taxonomy": "207Q00000X", "facility": "LARKSPUR CLINIC",
        "facility_npi": "1679576722", "facility_street": "12 FERN HILL ROAD",
        "facility_city": "PORTLAND", "facility_state": "OR", "facility_zip": "972011234",
    }  # fmt: skip
    lines: list[dict[str, object]] = [
        {
            "number": str(line), "procedure": f"9921{line}", "modifier": "25",
            "charge": Decimal("100.00"), "units": "1", "pointer_1": "1", "pointer_2": "2",
            "day": (date(2024, 4, 20 + line), date(2024, 4, 20 + line)),
            "control": f"L{number}-{line}",
        }
        for line in range(1, 5)
    ]  # fmt: skip
    return subscriber, whole, lines


def placements() -> tuple[placement.Placement, placement.Placement, placement.Placement]:
    """The three scopes of a claim."""
    guide = guides.by_kind("837P")
    found = []
    for scope, rows in (("2000B", SUBSCRIBER), ("2300", CLAIM), ("2400", LINE)):
        loops = {text.partition("/")[0] for text in rows.values()}
        own = {k: v for k, v in CONSTANTS.items() if k.partition("/")[0] in loops}
        found.append(placement.compile_placement(guide, scope, rows, own))
    return found[0], found[1], found[2]


@bench("x12.write837p")
def write_claims() -> list[Measure]:
    """Fields of claims to text, against pyx12's writer and against joining lists that are ready."""
    count = 1_000
    claims = [fields(number) for number in range(1, count + 1)]
    ready = [[row.split("*") for row in claim(number)] for number in range(1, count + 1)]
    subscriber, whole, line = placements()

    def run_clearlane() -> list[str]:
        return [
            "~".join((subscriber.text(a), whole.text(b), *[line.text(c) for c in lines]))
            for a, b, lines in claims
        ]

    def joined() -> list[str]:
        return ["~".join(["*".join(row) for row in rows]) for rows in ready]

    assert run_clearlane() == joined(), "fields and lists make the same claim"
    own_seconds, baseline = side_by_side(run_clearlane, joined, runs=9)
    peer = seconds(lambda: _pyx12_write(count), runs=3)
    return [
        Measure("x12.write837p", count / own_seconds, "claims/s", peer / own_seconds, "pyx12"),
        Measure("x12.write837p", count / own_seconds, "claims/s", baseline / own_seconds, "join"),
    ]


def _pyx12_write(count: int) -> None:
    from pyx12.segment import Segment
    from pyx12.x12file import X12Writer

    out = X12Writer(io.StringIO(), "~", "*", ":", "", "^")
    for number in range(1, count + 1):
        for row in claim(number):
            out.Write(Segment(row, "~", "*", ":"))


@bench("x12.memory")
def memory() -> Measure:
    """The peak of the whole process over a check of a file of 100 MB and more than 25,000 claims."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "claims.x12"
        # Another process makes the file, so that its own memory does not count.
        maker = get_context("spawn").Process(target=_large_file, args=(path, 100 * MEGABYTE))
        maker.start()
        maker.join()
        claims = 0
        with path.open("rb") as file:
            for event in read(file):
                claims += event.__class__ is UnitClosed
                assert not [f for f in event_findings(event) if f.severity is Severity.ERROR]
        assert claims > 25_000, "the file holds more claims than asked for"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Measure("x12.memory", peak / 1024, "MB")


def _large_file(path: Path, size: int) -> None:
    """Write interchanges until the file has the size."""
    control = 0
    guide = guides.by_kind("837P")
    with path.open("wb") as file:
        while file.tell() < size:
            control += 1
            envelope = Envelope(
                sender="CLEARLANE", receiver="MM001", control=control, moment=MOMENT
            )
            for piece in wrap_sets(envelope, guide, [[*header(), *claims_text(5_000)]]):
                file.write(piece)
