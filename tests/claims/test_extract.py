"""Parts of a file for many claims are the same as for each alone, and cost one reading."""

from clearlane.claims import acks
from clearlane.claims.extract import FileExtracts, extract_part
from clearlane.claims.facts import Fact
from clearlane.claims.sent_layout import read_layout
from tests.claims.answers import nine, outgoing, sent, status, ta1

FILE = sent(*(outgoing(f"C{number}") for number in range(1, 6)))
SEGMENTS = FILE.decode().split("~")
START = next(at for at, one in enumerate(SEGMENTS) if one.startswith("ST*"))
CLAIMS = [at - START + 1 for at, one in enumerate(SEGMENTS) if one.startswith("CLM*")]
ERRORS = [row for at in CLAIMS[:3] for row in (f"IK3*CLM*{at}*2300*8", "CTX*CLM01:x", "IK4*2**7*X")]
SINGLE = nine(21, ["AK2*837*0001*005010X222A1", *ERRORS, "IK5*R*5"], verdict="R")
ANSWERS = [
    SINGLE,
    nine(21, ["AK2*837*0001*005010X222A1", "IK5*R*4"], verdict="R"),
    ta1(21),
    status(receiver="A3:24:PR*20261102*U*300"),
    SINGLE + ta1(21) + nine(21, verdict="R", control=501),
]


def facts_of(answer):
    for message in acks.read(answer):
        sent_file = read_layout(
            FILE, positions=message.reference.positions if message.reference else ()
        )
        yield from (one for one in acks.derive_facts(message, sent_file) if isinstance(one, Fact))


def test_clippings_are_the_parts_of_the_file():
    for answer in ANSWERS:
        extracts = FileExtracts(answer)
        found = list(facts_of(answer))
        assert found
        for fact in found:
            assert extracts.of(fact) == extract_part(answer, fact)


def test_a_claims_part_of_a_999_has_its_own_errors_alone():
    extracts = FileExtracts(SINGLE)
    parts = [extracts.of(fact) for fact in facts_of(SINGLE) if fact.complaints]
    assert len(parts) == 3
    for at, part in zip(CLAIMS, parts, strict=False):
        assert f"IK3*CLM*{at}*".encode() in part
        assert part.count(b"IK3*") == 1
