"""TA1, 999, 277CA and 277 become facts about claims.

Also tests `claims/responses/statuses`, `claims/responses/ack_messages`, `claims/responses/facts` and `claims/responses/identify`.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearlane.claims.lifecycle import ClaimState, fold
from clearlane.claims.responses import acks, provenance
from clearlane.claims.responses.claim_parts import AckParts, extract_claim
from clearlane.claims.responses.facts import Fact, FactKind, StatusVerdict, UnmatchedFact
from clearlane.claims.responses.identify import identify
from clearlane.claims.responses.statuses import verdict_of
from clearlane.claims.write import sent_layout
from clearlane.payments import read_835
from clearlane.x12.checker import ack
from tests.cases import every_case, full_or_quick
from tests.claims.answers import (
    NOW,
    claim,
    nine,
    outgoing,
    paid,
    patient,
    payment,
    sealed,
    sent,
    status,
    ta1,
)
from tests.corpus import corpus_files

OTHER = {"F33_BillingProviderNameLast": "Larkspur Clinic", "F33A_BillingProviderNpi": "1679576722"}
CLAIMS = [outgoing("C1"), outgoing("C2"), outgoing("C3", claim(**OTHER))]
FILE = sent(*CLAIMS)
SET = FILE.decode().split("~")[2:-3]


def position(text, nth=1):
    """Return the position in the sent set of the nth segment with this beginning, the ST being 1."""
    return [at for at, segment in enumerate(SET, 1) if segment.startswith(text)][nth - 1]


def facts_by_claim(answer, content=FILE):
    """The facts of an answer, by our claim number; those without one under the reason."""
    found = {}
    for message in acks.read(answer):
        layout = (
            sent_layout.read_layout(content, positions=message.reference.positions)
            if message.reference
            else None
        )
        for fact in acks.derive_facts(message, layout):
            key = (
                fact.reason
                if isinstance(fact, UnmatchedFact)
                else fact.claim.claim_number or fact.claim.account_number
            )
            found.setdefault(key, []).append(fact)
    return found


def kinds(answer, content=FILE):
    return {
        key: [fact.kind.value for fact in facts]
        for key, facts in facts_by_claim(answer, content).items()
    }


def answered(*rows, verdict="R*5", control="0001"):
    return [f"AK2*837*{control}*005010X222A1", *rows, f"IK5*{verdict}"]


# TA1.


def test_a_ta1_that_refuses_concerns_all_claims_of_the_interchange():
    facts = facts_by_claim(ta1(21))
    assert {key: [f.kind for f in found] for key, found in facts.items()} == {
        number: [FactKind.TA1_REFUSED] for number in ("C1", "C2", "C3")
    }
    assert facts["C1"][0].complaints[0].code == "006"
    assert fold(facts["C1"]).state is ClaimState.REJECTED


@pytest.mark.parametrize("verdict", ["A", "E"])
def test_a_ta1_that_accepts_says_nothing_of_claims(verdict):
    assert facts_by_claim(ta1(21, verdict, "000")) == {}


def test_a_ta1_tells_which_interchange_it_answers():
    [message] = acks.read(ta1(21))
    assert (message.reference.level, message.reference.number) == ("interchange", "000000021")
    [fact] = acks.derive_facts(message, None)
    assert isinstance(fact, UnmatchedFact)
    assert fact.kind is FactKind.TA1_REFUSED


# 999.


def test_a_999_that_accepts_accepts_every_claim_of_the_set():
    assert kinds(nine(21, answered(verdict="A"))) == {
        n: ["ACCEPTED_999"] for n in ("C1", "C2", "C3")
    }


def test_a_999_without_sets_speaks_of_all_sets_of_the_group():
    assert kinds(nine(21, verdict="A")) == {n: ["ACCEPTED_999"] for n in ("C1", "C2", "C3")}
    assert kinds(nine(21, verdict="R")) == {n: ["SET_REFUSED"] for n in ("C1", "C2", "C3")}
    assert kinds(nine(21, verdict="P")) == {}


def test_a_999_accepts_with_errors_and_keeps_the_complaint_with_its_claim():
    at = position("SV1", 2)
    facts = facts_by_claim(
        nine(21, answered(f"IK3*SV1*{at}**8", "IK4*2*782*1", verdict="E*5"), verdict="E")
    )
    assert {f.kind for found in facts.values() for f in found} == {FactKind.ACCEPTED_999}
    [complaint] = facts["C2"][0].complaints
    assert (complaint.loop, complaint.segment, complaint.element, complaint.line) == (
        "2400",
        "SV1",
        2,
        1,
    )
    assert facts["C1"][0].complaints == ()


def test_a_999_that_names_a_single_claim_refuses_it_and_sends_the_others_again():
    at = position("CLM", 2)
    facts = facts_by_claim(
        nine(21, answered(f"IK3*CLM*{at}*2300*8", "IK4*5:1*1331*7*X"), verdict="R")
    )
    assert [facts[n][0].kind for n in ("C1", "C2", "C3")] == [
        FactKind.SEND_AGAIN, FactKind.CLAIM_REFUSED, FactKind.SEND_AGAIN,
    ]  # fmt: skip
    [complaint] = facts["C2"][0].complaints
    assert (complaint.element, complaint.component, complaint.code) == (5, 1, "7")
    assert fold(facts["C1"]).send_again
    assert fold(facts["C2"]).state is ClaimState.REJECTED


def test_a_subscribers_segment_names_its_claim_and_a_billing_providers_all_claims_below():
    subscriber = nine(
        21, answered(f"IK3*NM1*{position('NM1*IL', 2)}*2010*8", "IK4*9*67*1"), verdict="R"
    )
    assert kinds(subscriber) == {
        "C1": ["SEND_AGAIN"],
        "C2": ["CLAIM_REFUSED"],
        "C3": ["SEND_AGAIN"],
    }
    billing = nine(21, answered(f"IK3*N4*{position('N4', 1)}*2010*8", "IK4*3*116*1"), verdict="R")
    assert kinds(billing) == {
        "C1": ["CLAIM_REFUSED"],
        "C2": ["CLAIM_REFUSED"],
        "C3": ["SEND_AGAIN"],
    }


def test_the_business_unit_is_believed_before_the_position():
    at = position("HL*", 4)
    missing = answered(f"IK3*REF*{at}*2300*3", "CTX*CLM01:C1")
    assert kinds(nine(21, missing, verdict="R"))["C1"] == ["CLAIM_REFUSED"]
    deeper = answered(f"IK3*CLM*{at}*2300*8", "IK4*2*782*1", "CTX*CLM01:C2")
    assert kinds(nine(21, deeper, verdict="R"))["C1"] == ["SEND_AGAIN"]
    unknown = answered(f"IK3*REF*{position('CLM')}*2300*3", "CTX*CLM01:WHO")
    assert kinds(nine(21, unknown, verdict="R"))["C1"] == ["CLAIM_REFUSED"]


@pytest.mark.parametrize(
    "answer",
    [
        answered("IK3*BHT*2**8", "IK4*4*373*8"),
        answered(f"IK3*SE*{len(SET)}**8"),
        answered("IK3*CLM***8"),
        answered(verdict="R*4"),
        answered(f"IK3*CLM*{position('CLM')}*2300*8", verdict="R*5*3"),
        answered(),
    ],
)
def test_what_is_no_single_claims_fault_refuses_the_whole_set(answer):
    assert kinds(nine(21, answer, verdict="R")) == {n: ["SET_REFUSED"] for n in ("C1", "C2", "C3")}


def test_a_refused_group_refuses_its_sets_whatever_else_it_says():
    facts = facts_by_claim(sealed(
        "FA", "005010X231A1",
        ["999*005010X231A1", "AK1*HC*21*005010X222A1", *answered(verdict="A"), "AK9*R*1*1*0*2"],
    ))  # fmt: skip
    assert facts["C1"][0].kind is FactKind.SET_REFUSED
    assert facts["C1"][0].complaints[0].level == "group"


def test_a_999_of_what_we_did_not_send_comes_back_unmatched():
    [reason] = kinds(nine(99, answered(verdict="A")))
    assert reason == "It answers a group that we did not send."
    [reason, *_] = [
        r for r in kinds(nine(21, answered(verdict="A", control="0077"))) if "a set" in r
    ]
    assert reason == "It answers a set that we did not send."
    [message] = acks.read(nine(21))
    [fact] = acks.derive_facts(message)
    assert fact.kind is FactKind.ACCEPTED_999


def test_a_claim_that_goes_out_again_is_reported_by_its_attempt():
    [message] = acks.read(nine(21, answered(verdict="A")))
    layout = sent_layout.read_layout(FILE, attempts={"C2": 2})
    assert [fact.attempt for fact in acks.derive_facts(message, layout)] == [1, 2, 1]


# 277CA and 277.


def test_a_277ca_tells_each_claim_by_itself():
    answer = status(
        patient("C1", "A2:20:PR*20261102*WQ*100", extra=["REF*1K*P1"]),
        patient("C2", "A7:562:85*20261102*U*100****", extra=["REF*D9*C2"]),
    )
    facts = facts_by_claim(answer)
    [first], [second] = facts["C1"], facts["C2"]
    assert (first.verdict, first.claim.payer_control_number, first.charged) == (
        StatusVerdict.ACCEPTED,
        "P1",
        10000,
    )
    assert first.complaints == ()
    assert (second.verdict, second.claim.claim_number) == (StatusVerdict.REJECTED, "C2")
    assert [(c.code, c.entity, c.category) for c in second.complaints] == [("562", "85", "A7")]
    assert first.payer == "MEADOW MUTUAL"


def test_a_status_with_several_codes_is_named_by_the_weightiest():
    [fact] = facts_by_claim(
        status(patient("C1", "A1:19:PR*20261102*WQ*100", "A6:21*20261103*U*100******A6:562:82"))
    )["C1"]
    assert fact.verdict is StatusVerdict.REJECTED
    assert [code.category for code in fact.codes] == ["A6", "A6", "A1"]
    assert fact.day.isoformat() == "2026-11-03"


def test_a_rejected_receiver_concerns_all_claims_below():
    answer = status(patient("C1", "A1:19:PR*20261102*WQ*100"), receiver="A3:24:41*20261102*U*300")
    [fact] = facts_by_claim(answer)["C1"]
    assert fact.verdict is StatusVerdict.REJECTED
    assert fact.codes[0].category == "A3"
    assert [c.level for c in fact.complaints] == ["above"]


def test_a_rejected_provider_concerns_all_claims_below():
    answer = status(
        patient("C1", "A1:19:PR*20261102*WQ*100"), provider=["TRN*1*0", "A3:96:85*20261102*U*100"]
    )
    assert facts_by_claim(answer)["C1"][0].verdict is StatusVerdict.REJECTED


def test_a_rejected_receiver_that_names_no_claim_concerns_the_whole_batch():
    facts = facts_by_claim(status(receiver="A3:24:41*20261102*U*300"))
    assert {n: f[0].verdict for n, f in facts.items()} == dict.fromkeys(
        ("C1", "C2", "C3"), StatusVerdict.REJECTED
    )
    by_control = facts_by_claim(status(receiver="A3:24:41*20261102*U*300", batch="21"))
    assert by_control.keys() == facts.keys()
    [reason] = facts_by_claim(status(receiver="A3:24:41*20261102*U*300", batch="WHO"))
    assert reason == "It concerns a batch or provider that we did not send."
    [message] = acks.read(status(receiver="A3:24:41*20261102*U*300"))
    assert isinstance(next(acks.derive_facts(message)), UnmatchedFact)


def test_a_rejected_provider_that_names_no_claim_concerns_its_claims_of_the_batch():
    content = sent(outgoing("C1", claim(F33A_BillingProviderNpi="1234567893")), CLAIMS[2])
    answer = status(provider=["TRN*1*0", "A3:96:85*20261102*U*100"])
    assert list(facts_by_claim(answer, content)) == ["C1"]
    accepted = status(provider=["TRN*1*0", "A1:19:85*20261102*WQ*100"])
    assert facts_by_claim(accepted, content) == {}


def test_the_lines_of_a_277ca_are_reported_with_their_control_numbers():
    line = ["SVC*HC:99213*100", "STC*A7:454**U", "REF*FJ*C1-1"]
    [fact] = facts_by_claim(status(patient("C1", "A7:247*20261102*U*100", extra=line)))["C1"]
    assert [(c.level, c.code, c.control) for c in fact.complaints] == [
        ("claim", "247", ""),
        ("line", "454", "C1-1"),
    ]
    assert fact.claim.line_controls == ("C1-1",)
    fine = ["SVC*HC:99213*100", "STC*A1:20**WQ"]
    [fact] = facts_by_claim(status(patient("C1", "A1:19:PR*20261102*WQ*100", extra=fine)))["C1"]
    assert fact.complaints == ()


def test_a_277_pends_a_claim_and_asks_for_information():
    rows = [
        "277*005010X212", "BHT*0010*08*77*20261105*0900*DG",
        "HL*1**20*1", "NM1*PR*2*MEADOW MUTUAL*****PI*TST01",
        "HL*2*1*21*1", "NM1*41*2*CLEARLANE*****46*CLEARLANE",
        "HL*3*2*19*1", "NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
        "HL*4*3*22*1", "NM1*IL*1*ARDEN*ROSA****MI*M123",
        "HL*5*4*23", "NM1*QC*1*ARDEN*MILO", "TRN*2*C1", "STC*P3:297*20261105**100",
        "REF*1K*P1",
    ]  # fmt: skip
    [fact] = facts_by_claim(sealed("HN", "005010X212", rows))["C1"]
    assert (fact.verdict, fact.source, fact.claim.payer_control_number) == (
        StatusVerdict.PENDING,
        "277",
        "P1",
    )
    assert fold([fact]).state is ClaimState.PENDING


@every_case(
    ("kind", "categories", "action", "expected"),
    [
        ("277CA", ["A1"], "WQ", "accepted"), ("277CA", ["A2"], "", "accepted"),
        ("277CA", ["A2"], "U", "rejected"), ("277CA", ["A8"], "WQ", "rejected"),
        ("277CA", ["A1", "A7"], "", "rejected"), ("277CA", ["A4"], "", "rejected"),
        ("277", ["A4"], "", "noted"), ("277", ["D0"], "", "noted"), ("277", ["E1"], "", "noted"),
        ("277", ["P1"], "", "pending"), ("277", ["F1"], "", "pending"), ("277", ["R4"], "", "pending"),
        ("277", ["X0"], "", "noted"), ("277CA", ["Z9"], "", "noted"), ("277CA", [], "U", "rejected"),
    ],
)  # fmt: skip
def test_a_status_gives_the_verdict_on_the_claim(kind, categories, action, expected):
    assert verdict_of(kind, categories, action).value == expected


# Files.


def test_a_mixed_file_with_any_separators_gives_the_facts_of_all_its_parts():
    mixed = (
        ta1(21, "A", "000")
        + nine(21, answered(verdict="A"), control=501, separators="|>^\n")
        + status(patient("C1", "A2:20:PR*20261102*WQ*100"), control=502, separators="+,!'")
        + payment(paid("C1"), control=503)
    )
    assert identify(mixed).kinds == {"TA1", "999", "277CA", "835"}
    facts = facts_by_claim(mixed)["C1"]
    assert [fact.kind for fact in facts] == [FactKind.ACCEPTED_999, FactKind.STATUS]
    assert all(isinstance(fact, Fact) and fact.serial for fact in facts)


def test_values_come_back_as_the_file_had_them():
    odd = status(patient("A*1", "A2:20:PR*20261102*WQ*100"), separators="|:^~").replace(
        b"A|1", b"A*1"
    )
    assert list(facts_by_claim(odd)) == ["A*1"]


GOOD = status(patient("C1", "A2:20:PR*20261102*WQ*100"))


@every_case(
    ("content", "part"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"\xef\xbb\xbf<HTML>", "a web page"),
        (b'{"error": 1}', "JSON"),
        (b"PK\x03\x04rest", "ZIP"),
        (b"no such mailbox", "something else"),
        (b"ISA*00*short~", "ISA) cannot be read"),
        (GOOD[:105] + b"*" + GOOD[106:], "ISA) cannot be read"),
        (GOOD[:104] + b"**" + GOOD[106:], "ISA) cannot be read"),
        (GOOD[:104] + b"*" + GOOD[105:], "ISA) cannot be read"),
        (GOOD[:-2], "cut off"),
        (GOOD[: GOOD.index(b"IEA")], "ISA has no IEA"),
        (GOOD[: GOOD.index(b"GE*")], "GS has no GE"),
        (GOOD[: GOOD.index(b"SE*2")], "ST has no SE"),
        (GOOD.replace(b"TRN*2*C1~", b""), "SE01"),
        (GOOD.replace(b"GE*1*", b"GE*2*"), "GE01"),
        (GOOD.replace(b"GE*1*500", b"GE*1*501"), "GE02"),
        (GOOD.replace(b"IEA*1*", b"IEA*3*"), "IEA01"),
        (GOOD + GOOD[:300], "cut off"),
        (GOOD + b"ISA*broken", "begins in a way"),
        (FILE, "837P"),
        (GOOD.replace(b"005010X214", b"004010X999"), "277 of the version 004010X999"),
        (GOOD[: GOOD.index(b"GS*")] + b"IEA*0*000000500~", "no transaction set"),
        (GOOD.replace(b"TRN*2*C1~", b"TRN*2*" + b"X" * 70_000 + b"~"), "longer than"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_in_words(content, part):
    found = identify(content)
    assert not found.usable
    assert part in found.reason


def test_every_cut_of_a_file_is_recognized_as_one():
    for end in range(1, len(GOOD) - 1):
        assert identify(GOOD[:end]).reason, end


@pytest.mark.parametrize(
    "content", [GOOD, GOOD + b"\r\n", GOOD.replace(b"SE*20", b"SE*3"), GOOD + FILE]
)
def test_what_can_be_used_is_recognized(content):
    found = identify(content)
    assert found.usable
    assert found.kinds == {"277CA"}


def test_stray_ends_do_not_confuse_the_look():
    assert identify(GOOD.replace(b"SE*20*0001~", b"SE*20*0001~SE*20*0001~")).usable
    assert not identify(GOOD.replace(b"GE*1*500~", b"GE*1*500~GE*1*500~ST*277*1~")).usable


@every_case("sample", corpus_files("TA1", "999", "277CA", "277", "835"))
def test_public_samples_are_read_without_a_crash(sample):
    content = sample.path.read_bytes()
    identify(content)
    for message in acks.read(content):
        layout = (
            sent_layout.read_layout(FILE, positions=message.reference.positions)
            if message.reference
            else None
        )
        assert all(
            isinstance(fact, Fact | UnmatchedFact) for fact in acks.derive_facts(message, layout)
        )


def test_our_own_engines_999_names_the_single_claim():
    whole = claim(F33_BillingProviderZip="78701", F33A_BillingProviderNpi="1234567893")
    file = sent(*(outgoing(number, whole) for number in ("C1", "C2", "C3")))
    broken = file.replace(b"CLM*C2*100*", b"CLM*C2*ONE*")
    [reply] = ack.acknowledge(broken, control=77, moment=NOW)
    facts = facts_by_claim(reply.ack_999, broken)
    assert {number: [fact.kind for fact in found] for number, found in facts.items()} == {
        "C1": [FactKind.SEND_AGAIN],
        "C2": [FactKind.CLAIM_REFUSED],
        "C3": [FactKind.SEND_AGAIN],
    }
    assert {(one.loop, one.segment, one.element) for one in facts["C2"][0].complaints} >= {
        ("2300", "CLM", 2)
    }


MIXED = (
    ta1(21) + nine(21, answered("IK3*CLM*20*2300*8", "IK4*2*782*1")) + GOOD + payment(paid("C1"))
)


@settings(max_examples=full_or_quick(150, 15), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(MIXED) - 1), st.binary(max_size=3)), max_size=6),
    st.integers(0, len(MIXED)),
)
def test_damaged_files_never_crash_a_reader(damages, end):
    content = bytearray(MIXED)
    for at, put in damages:
        content[at : at + 1] = put
    damaged = bytes(content[:end])
    identify(damaged)
    for message in acks.read(damaged):
        layout = (
            sent_layout.read_layout(FILE, positions=message.reference.positions)
            if message.reference
            else None
        )
        parts = AckParts(message)
        for fact in acks.derive_facts(message, layout):
            if isinstance(fact, Fact):
                assert parts.of(fact).startswith(b"ISA")
                list(provenance.explain_complaints(fact, CLAIMS[0].claim))
    for one in read_835.read(damaged):
        if isinstance(one, read_835.ClaimPaymentLoop):
            assert extract_claim(one.unit).startswith(b"ISA")


@settings(max_examples=full_or_quick(100, 10), deadline=None)
@given(st.binary(max_size=300))
def test_garbage_is_never_taken_for_an_answer(content):
    assert not identify(content).usable
    assert list(acks.read(content)) == []


@every_case("sample", corpus_files("277CA", "277", "835"))
def test_the_parts_of_public_samples_say_the_same_as_the_whole(sample):
    content = sample.path.read_bytes()
    for one in read_835.read(content):
        if isinstance(one, read_835.ClaimPaymentLoop):
            [again] = [
                two
                for two in read_835.read(extract_claim(one.unit))
                if isinstance(two, read_835.ClaimPaymentLoop)
            ]
            assert again.claim_payment.identity == one.claim_payment.identity
    for message in acks.read(content):
        if message.reference is None:
            [again] = [
                two
                for two in acks.read(AckParts(message).of(message.fact))
                if two.reference is None
            ]
            assert again.fact.identity == message.fact.identity
            assert again.fact.claim == message.fact.claim
