"""How fast files become typed values, beside the bare split and a library whose models hold the same."""

import gc
from collections.abc import Callable
from datetime import UTC, datetime

from bench.harness import Measure, bench, side_by_side
from clearlane.x12 import guides
from clearlane.x12.views import remittance as views_remittance
from clearlane.x12.views import stream_views
from clearlane.x12.writer.writer import Envelope, wrap_sets

MOMENT = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)


def sealed(kind: str, body: list[str]) -> bytes:
    """One set in an interchange."""
    envelope = Envelope(sender="MM001", receiver="CLEARLANE", control=1, moment=MOMENT)
    return b"".join(wrap_sets(envelope, guides.by_kind(kind), [body]))


def payment(number: int) -> list[str]:
    """One claim of three lines as a payer decided it: 26 segments, charges that differ."""
    charge = 100 + number % 97
    paid = charge - 20
    day = number % 28 + 1
    rows = [
        f"CLP*A{number}*1*{3 * charge}*{3 * paid}*30*12*P{number:09}*11*1",
        f"NM1*QC*1*ARDEN*ROSA****MI*M{number:08}",
        f"NM1*IL*1*ARDEN*ROSA****MI*M{number:08}",
        "NM1*82*1*FENN*OSKAR****XX*1679576722",
        "MOA***MA01*MA07",
        f"DTM*232*202404{day:02}",
        "DTM*050*20240410",
        f"AMT*AU*{3 * charge}",
    ]
    for line in range(1, 4):
        rows += [
            f"SVC*HC:9921{line}:25*{charge}*{paid}**1",
            f"DTM*472*202404{day:02}",
            "CAS*CO*45*10",
            "CAS*PR*2*10",
            f"REF*6R*L{number}-{line}",
            f"AMT*B6*{charge - 10}",
        ]
    return rows


def remittance(count: int) -> bytes:
    """An 835 with a number of claims that balances at every level."""
    total = sum(3 * (80 + number % 97) for number in range(1, count + 1))
    body = [
        f"BPR*I*{total}*C*CHK************20240501",
        "TRN*1*CHECK17*1512345678",
        "DTM*405*20240501",
        "N1*PR*MEADOW MUTUAL",
        "N3*PO BOX 1200",
        "N4*AUSTIN*TX*787010042",
        "PER*BL*SERVICE DESK*TE*8005550100",
        "N1*PE*FERNHILL FAMILY PRACTICE*XX*1234567893",
        "LX*1",
    ]
    for number in range(1, count + 1):
        body += payment(number)
    return sealed("835", body)


def answer(count: int) -> bytes:
    """A 271 with a number of subscribers with eight benefits each."""
    body = [
        "BHT*0022*11*17*20240501*1200",
        "HL*1**20*1",
        "NM1*PR*2*MEADOW MUTUAL*****PI*MM001",
        "HL*2*1*21*1",
        "NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
    ]
    for number in range(1, count + 1):
        body += [
            f"HL*{number + 2}*2*22*0",
            f"TRN*2*T{number:08}*9CLEARLANE",
            f"NM1*IL*1*ARDEN*ROSA****MI*M{number:08}",
            "N3*17 LARK STREET",
            "N4*MADISON*WI*537031020",
            "DMG*D8*19800101*F",
            "DTP*291*D8*20240501",
            "EB*1*IND*30^35^88*HM*GOLD PLAN",
            "DTP*292*RD8*20240101-20241231",
        ]
        for kind, amount in (("C", 500), ("G", 2000), ("B", 25)):
            body += [
                f"EB*{kind}*IND*30**GOLD PLAN*23*{amount}*****Y",
                f"EB*{kind}*FAM*30**GOLD PLAN*29*{amount * 2}*****N",
                "MSG*AS THE PLAN SAYS",
            ]
        body.append("EB*A*IND*98***27**.2")
    return sealed("271", body)


@bench("x12.read835")
def read_remittance() -> list[Measure]:
    """Typed claims that are balanced at line, claim and check level."""
    count = 400
    data = remittance(count)

    def run_clearlane() -> None:
        claims = 0
        for piece in views_remittance.stream_remittances(data):
            if isinstance(piece, views_remittance.RemittanceView):
                totals = piece.totals
                assert totals is not None, "a remittance ends with its totals"
                assert not totals.balance, "the benchmark's own payments balance"
                assert not totals.unbalanced_claims, "the benchmark's own claims balance"
            else:
                claims += 1
        assert claims == count, "every claim comes"

    return _against("x12.read835", "claims/s", run_clearlane, data, count)


@bench("x12.read271")
def read_benefits() -> list[Measure]:
    """Typed benefits, subscriber by subscriber."""
    count = 400
    data = answer(count)

    def run_clearlane() -> None:
        members = sum(piece.unit is not None for piece in stream_views(data))
        assert members == count, "every subscriber comes"

    return _against("x12.read271", "subscribers/s", run_clearlane, data, count)


def _against(
    name: str, unit: str, run_clearlane: Callable[[], None], data: bytes, count: int
) -> list[Measure]:
    def bare() -> list[list[str]]:
        return [segment.split("*") for segment in data.decode("latin-1").split("~")]

    run_clearlane()
    _x12sdk(data)
    # What both have loaded by now is not part of the work: the collector need not look at it again.
    gc.collect()
    gc.freeze()
    with_peer, peer = side_by_side(run_clearlane, lambda: _x12sdk(data), runs=5)
    own_seconds, baseline = side_by_side(run_clearlane, bare, runs=15)
    return [
        Measure(name, count / with_peer, unit, peer / with_peer, "x12sdk"),
        Measure(name, count / own_seconds, unit, baseline / own_seconds, "split"),
    ]


def _x12sdk(data: bytes) -> None:
    import x12sdk.io

    with x12sdk.io.X12ModelReader(data.decode()) as reader:
        assert sum(1 for _ in reader.models()) == 1, "one set is read"
