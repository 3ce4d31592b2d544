"""Our own 277CA: in the sender's numbers, clean by our checker, with counts that are those of its claims.

The map of pyx12 is compared with our guide in ``tests/x12/guides``; the library itself refuses every 277CA.

Also tests `claims/responses/sender_set`, `claims/responses/acknowledged_claim`, `claims/responses/ack_verdicts`.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest

from clearlane.claims.finding import LEFT_OUT, ClaimFinding
from clearlane.claims.responses.ack_verdicts import (
    FORWARDED,
    RECEIPT,
    ClaimVerdict,
    entity_of,
    not_accepted,
)
from clearlane.claims.responses.acknowledged_claim import AcknowledgedClaim, acknowledged_claim
from clearlane.claims.responses.rule_status import status_of
from clearlane.claims.responses.sender_set import sender_set_of
from clearlane.claims.responses.write_277ca import Acknowledgement277CA, AckSource
from clearlane.claims.rules import RULES
from clearlane.kernel.finding import SegmentPosition, Severity
from clearlane.x12 import codes
from clearlane.x12.checker.check import check
from clearlane.x12.reader.reader import UnitClosed, read
from tests.corpus import OWN, Sample, samples

NOW = datetime(2026, 11, 18, 6, 30, tzinfo=UTC)
US = AckSource("Clearlane", "CLEARLANE")
VISIT = (OWN / "837P" / "visit_and_second_payer.x12").read_bytes()
SAMPLES = [
    sample for sample in samples() if sample.kind in ("837P", "837D", "837I") and sample.clean
]


def units(content: bytes) -> Iterator[tuple[UnitClosed, AcknowledgedClaim]]:
    for event in read(content, check=False):
        if isinstance(event, UnitClosed):
            first = event.set.first_segment
            yield event, acknowledged_claim(event.loop, event.parents, first)


def acknowledge(content: bytes, verdict: ClaimVerdict = RECEIPT) -> list[bytes]:
    """Return the acknowledgement of each set, with the same verdict on each claim."""
    made: dict[int, Acknowledgement277CA] = {}
    for unit, claim in units(content):
        if unit.set.number not in made:
            sender = sender_set_of(unit.set)
            made[unit.set.number] = Acknowledgement277CA(
                US, sender, received=NOW.date(), control=17, moment=NOW
            )
        made[unit.set.number].add(claim, verdict)
    return [one.write() for one in made.values()]


def rows(content: bytes, *starts: str) -> list[str]:
    found = content.decode().split("~")
    return [row for row in found if row.startswith(starts)] if starts else found


def error(rule: str, location: str = "", **more: object) -> ClaimFinding:
    return ClaimFinding(rule=rule, message="It is wrong.", location=location, **more)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_every_clean_837_is_acknowledged_without_a_finding(sample: Sample):
    for made in acknowledge(sample.path.read_bytes()):
        assert check(made).findings == ()


def test_the_sender_reads_his_own_numbers():
    [made] = acknowledge(VISIT)
    isa, gs, st, bht, *_ = rows(made)
    assert isa.split("*")[5:9] == ["ZZ", "CLEARLANE".ljust(15), "ZZ", "FERNHILL".ljust(15)]
    assert isa.split("*")[13:16] == ["000000017", "0", "T"]
    assert gs.startswith("GS*HN*CLEARLANE*FERNHILL*20261118*0630*17*X*005010X214")
    assert (st, bht) == ("ST*277*0001*005010X214", "BHT*0085*08*000000017*20261118*0630*TH")
    assert rows(made, "NM1*AY", "NM1*41", "NM1*85") == [
        "NM1*AY*2*CLEARLANE*****46*CLEARLANE",
        "NM1*41*2*FERNHILL FAMILY PRACTICE*****46*FERNHILL",
        "NM1*85*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
    ]
    assert rows(made, "TRN*2")[:2] == ["TRN*2*FB0101", "TRN*2*FB-1001"]
    assert rows(made, "STC")[2] == "STC*A1:19:AY*20261118*WQ*205.5"


def test_counts_and_charges_are_those_of_the_claims():
    [(first, claim), (_, other)] = list(units(VISIT))
    made = Acknowledgement277CA(
        US, sender_set_of(first.set), received=NOW.date(), control=17, moment=NOW
    )
    made.add(claim, RECEIPT)
    made.add(other, not_accepted([error("C101", "2010BB/NM109 (segment 20)")], other))
    content = made.write()
    assert (made.accepted, made.not_accepted) == (1, 1)
    assert check(content).findings == ()
    assert rows(content, "QTY", "AMT") == [
        row
        for accepted, refused in (("90", "AA"), ("QA", "QC"))
        for row in (
            f"QTY*{accepted}*1",
            f"QTY*{refused}*1",
            f"AMT*YU*{claim.charge}",
            f"AMT*YY*{other.charge}",
        )
    ]
    assert rows(content, "STC*A3") == [
        f"STC*A3:116*20261118*U*{other.charge}********IT IS WRONG. (2010BB/NM109 (SEGMENT 20))"
    ]


def test_what_he_wrote_comes_back_in_his_separators():
    """A CLM01 with a character that is our separator, and one in small letters, are returned as they were."""
    table = str.maketrans("*:~^", "|>!\\")
    content = (
        VISIT.decode().replace("FB-1001", "fb=10").translate(table).replace("fb=10", "fb*10~a")
    )
    [made] = acknowledge(content.encode())
    assert "TRN|2|fb*10~a!" in made.decode()
    assert made.startswith(b"ISA|00|")
    assert made.decode()[104:106] == ">!"
    assert not check(made).errors


def test_a_finding_about_a_line_is_reported_at_the_line():
    claim = next(claim for _, claim in units(VISIT))
    line = claim.lines[0]
    place = SegmentPosition(loop="2400", segment_id="SV1", element=1, segment=line.position + 1)
    at_line = error("C603", position=place)
    verdict = not_accepted([at_line, error("C301", severity=Severity.WARNING)], claim)
    assert [status.codes[0] for status in verdict.statuses] == [("A6", "247", "")]
    assert not verdict.accepts
    number = claim.first_segment + line.position
    located = error("C603", f"2400/SV101-2 (segment {number})")
    assert not_accepted([located], claim).lines.keys() == verdict.lines.keys() == {0}
    [made] = acknowledge(VISIT, verdict)
    assert check(made).findings == ()
    svc = made.decode().index("SVC*HC:")
    assert made.decode()[svc:].split("~")[1].startswith("STC*A6:306*20261118*U*")
    assert rows(made, "STC*A6:247") == [
        f"STC*A6:247*20261118*U*{claim.charge}" for _, claim in units(VISIT)
    ]


def test_every_rule_has_a_status_that_an_acknowledgement_can_state():
    """Category, status code and entity of each rule are on the lists that are built in, and never A2."""
    claim = next(claim for _, claim in units(VISIT))
    needing = codes.load_column("statuses", 2)
    for rule in RULES.values():
        if status_of(rule) is None:
            continue
        loop = rule.x12.partition("/")[0] if rule.x12[:1].isdigit() else "2010BA"
        location = f"{loop}/NM103 (segment {claim.first_segment + 1})"
        verdict = not_accepted([error(rule.id, location)], claim)
        [status] = verdict.statuses
        for category, code, entity in status.codes:
            assert category in ("A3", "A6", "A7", "A8"), rule.id
            assert category in codes.load("status_categories"), rule.id
            assert code in codes.load("statuses"), rule.id
            assert not entity or entity in codes.load("entities"), rule.id
            assert entity or code not in needing, rule.id
        [made] = acknowledge(VISIT, verdict)
        assert check(made).findings == (), rule.id


def test_an_engine_rule_and_a_finding_without_a_place_are_reported_as_well():
    claim = next(claim for _, claim in units(VISIT))
    place = SegmentPosition(loop="2010AA", segment_id="N3", element=1, segment=10)
    verdict = not_accepted(
        [error("E-CHARS", position=place), error("none"), error(LEFT_OUT)], claim
    )
    assert [status.codes for status in verdict.statuses] == [
        (("A7", "503", "85"),),
        (("A7", "21", ""), ("A7", "481", "")),
    ]
    assert check(acknowledge(VISIT, verdict)[0]).findings == ()
    assert not_accepted([], claim).accepts is False
    assert (entity_of("837D", "2310D"), entity_of("837P", "2310D")) == ("85", "DQ")


def test_a_forwarded_claim_names_the_payer_and_its_number():
    [made] = acknowledge(VISIT, FORWARDED._replace(payer_number="PCN-7"))
    assert check(made).findings == ()
    assert len(rows(made, "REF*1K*PCN-7")) == len(rows(made, "STC*A0:16:PR*20261118*WQ")) == 2


def test_nothing_of_a_patient_is_printed():
    unit, claim = next(units(VISIT))
    shown = f"{claim!r}{claim.lines!r}{sender_set_of(unit.set)!r}"
    assert "ARDEN" not in shown
    assert "FB-1001" not in shown
    assert "FERNHILL" not in shown


def test_an_acknowledgement_of_nothing_is_refused():
    unit, _ = next(units(VISIT))
    empty = Acknowledgement277CA(
        US, sender_set_of(unit.set), received=date(2026, 11, 18), control=17, moment=NOW
    )
    with pytest.raises(ValueError, match="at least one claim"):
        empty.write()
