"""A file is identified in one pass, and its TA1 and 999 are read in the same."""

import pytest

from clearlane.claims.responses import acks
from clearlane.claims.responses.ack_messages import GroupAck, InterchangeAck
from clearlane.claims.responses.claim_parts import AckParts
from clearlane.claims.responses.facts import Fact
from clearlane.claims.responses.identify import identify
from clearlane.claims.responses.inbound_file import read_inbound
from clearlane.claims.write.sent_layout import read_layout
from tests.cases import every_case, fewer_in_quick
from tests.claims.answers import nine, outgoing, paid, patient, payment, sent, status, ta1
from tests.corpus import corpus_files

FILE = sent(outgoing("C1"), outgoing("C2"))
REFUSED = nine(21, ["AK2*837*0001*005010X222A1", "IK5*R*4"], verdict="R")
STATUS = status(patient("C1", "A2:20:PR*20261102*WQ*100"))
PAYMENT = payment(paid("C1"))
MARK, JUNK = b"\xef\xbb\xbf", b"left by a transfer program\r\n"


def read_once(content):
    """Read from a source that yields its bytes once."""
    return read_inbound(content[at : at + 50] for at in range(0, len(content), 50))


@pytest.mark.parametrize("before", [b"", MARK, JUNK])
def test_acknowledgements_are_identified_and_read_in_one_pass(before):
    content = before + ta1(21, own=700) + REFUSED
    found = read_once(content)
    assert found.identified == identify(content)
    assert found.identified.kinds == {"TA1", "999"}
    assert [type(one) for one in found.messages] == [InterchangeAck, GroupAck]
    for one, again in zip(found.messages, acks.read(content), strict=True):
        assert (one.reference, one.verdict, one.where) == (
            again.reference, again.verdict, again.where,
        )  # fmt: skip


def test_facts_and_parts_need_no_second_pass():
    found = read_once(ta1(21, own=700) + REFUSED)
    layout = read_layout(FILE)
    for message, part in zip(found.messages, (ta1(21, own=700), REFUSED), strict=True):
        facts = list(acks.derive_facts(message, layout))
        assert len(facts) == 2
        assert all(isinstance(fact, Fact) for fact in facts)
        assert [AckParts(message).of(fact) for fact in facts] == [part, part]


@pytest.mark.parametrize("content", [STATUS, PAYMENT, REFUSED + STATUS, REFUSED + PAYMENT])
def test_files_that_may_be_large_are_identified_alone(content):
    found = read_once(content)
    assert found.identified == identify(content)
    assert found.identified.usable
    assert found.messages is None


def test_sets_that_answer_nothing_do_not_hide_acknowledgements():
    found = read_once(FILE + REFUSED)
    assert found.identified.others == {"837P"}
    assert [type(one) for one in found.messages] == [GroupAck]


def test_an_incomplete_file_has_no_messages():
    for content in (REFUSED[: REFUSED.index(b"IEA")], REFUSED[:-5], b"", FILE):
        found = read_once(content)
        assert found.identified == identify(content)
        assert found.identified.reason
        assert found.messages is None


@every_case("sample", fewer_in_quick(corpus_files(), 3))
def test_public_files_are_identified_alike(sample):
    content = sample.path.read_bytes()
    assert read_inbound(content).identified == identify(content)
