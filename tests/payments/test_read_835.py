"""An 835 becomes payments of claims, with every amount and reason.

Also tests `payments/read_claim_part`.
"""

import time
import tracemalloc
from datetime import date, datetime

import msgspec
import pytest

from clearlane.claims.lifecycle import ClaimState, fold
from clearlane.claims.responses.facts import Fact
from clearlane.kernel import limits
from clearlane.payments import read_835
from clearlane.payments.model import ClaimPaymentFact
from clearlane.payments.payment import PaymentSummary
from clearlane.x12.reader.envelope_time import NEVER
from tests.cases import full_or_quick
from tests.claims.answers import nine, paid, payment, sealed, ta1

LINE = ["SVC*HC:99213*60*50**1", "DTM*472*20261001", "CAS*CO*45*8", "CAS*PR*3*2", "REF*6R*C1-1"]
OTHER = ["SVC*HC:85025*40*30**1", "DTM*472*20261001", "CAS*CO*45*7", "CAS*PR*3*3", "REF*6R*C1-2"]


def read(content):
    found = list(read_835.read(content))
    claim_payments = [
        one.claim_payment for one in found if isinstance(one, read_835.ClaimPaymentLoop)
    ]
    return claim_payments, [one for one in found if isinstance(one, PaymentSummary)]


def test_a_claim_payment_becomes_a_fact():
    [one], [end] = read(
        payment(
            paid("C1", "1", "100", "80", *LINE, *OTHER, share="5"), plb=["PLB*1*20261231*WO:9*0"]
        )
    )
    assert (one.account_number, one.status_code, one.payer_control_number) == (
        "C1",
        "1",
        "P1",
    )
    assert (one.charged, one.paid, one.patient, one.adjusted) == (10000, 8000, 500, 1500)
    assert one.balance == 0
    assert one.line_controls == ("C1-1", "C1-2")
    assert one.kind == "REMIT"
    assert one.at == datetime(2026, 11, 14, 9, 0)
    assert (one.method, one.trace_number, one.effective_date) == ("ACH", "EFT1", date(2026, 11, 14))
    assert (one.payment.handling, one.payment.amount) == ("I", 8000)
    assert (one.payment.payee_name, one.payment.payee_npi) == (
        "FERNHILL FAMILY PRACTICE",
        "1234567893",
    )
    assert (one.payer_name, one.payment.payer_id) == ("MEADOW MUTUAL", "TST01")
    assert one.serial == 500
    assert not one.unreadable
    assert (end.claims, end.paid, end.balance, end.unbalanced_claims) == (1, 8000, 0, 0)


def test_adjustments_of_the_claim_and_of_its_lines_are_added():
    [one], _ = read(
        payment(paid("C1", "1", "100", "80", "CAS*PR*1*5**2*3", *LINE[:1], "CAS*OA*23*12"))
    )
    assert (one.patient, one.adjusted) == (800, 1200)


@pytest.mark.parametrize(
    ("row", "is_balanced"),
    [
        (LINE, True),
        (LINE + OTHER, True),
        (["SVC*HC:99213*60*50**1"], False),
        ([*LINE, "SVC*HC:85025*40*39**1"], False),
        # What is too little on one line is not made up by another.
        (["SVC*HC:99213*60*50**1", "SVC*HC:85025*40*50**1"], False),
    ],
)
def test_each_line_is_explained_by_its_own_payment_and_adjustments(row, is_balanced):
    [one], _ = read(payment(paid("C1", "1", "100", "80", *row)))
    assert one.lines_balanced is is_balanced


def test_a_remark_that_a_claim_cannot_be_processed_counts_if_nothing_was_paid():
    def unprocessable(paid_amount, remark):
        row = paid("C1", "4", "100", paid_amount, f"MOA***{remark}")
        return read(payment(row, amount=paid_amount))[0][0].unprocessable

    assert unprocessable("0", "MA130")
    assert not unprocessable("80", "MA130")
    assert not unprocessable("0", "MA01")


def test_claim_payments_are_ordered_by_group_then_set_then_segment():
    places = [(1, 1, 90), (1, 2, 1), (1, 9_999, 1), (2, 1, 1), (2, 1, 40), (30, 1, 1)]
    [one], _ = read(payment(paid("C1")))
    placed = [
        msgspec.structs.replace(one, group=group, set=set, position=position)
        for group, set, position in places
    ]
    assert sorted([*placed[3:], *placed[:3]], key=lambda each: each.order) == placed


def test_our_own_trace_is_found_where_a_payer_gives_it_back():
    [one], _ = read(payment(paid("C1", "1", "100", "100", "REF*D9*C1")))
    assert one.claim_number == "C1"


def test_several_checks_in_one_file_are_several_payments():
    rows = [
        ["835", f"BPR*I*{amount}*C*CHK************20261114", f"TRN*1*{number}*1512345678", "N1*PR*MEADOW MUTUAL",
         "N3*1 LANE", "N4*AUSTIN*TX*78701", "PER*BL*HELP*TE*5125550100", "N1*PE*FERNHILL*XX*1234567893", "LX*1",
         *paid(account, "1", amount, amount)]
        for number, account, amount in (("K1", "C1", "10"), ("K2", "C2", "20"))
    ]  # fmt: skip
    claim_payments, ends = read(sealed("HP", "005010X221A1", *rows))
    assert [(one.account_number, one.trace_number, one.method, one.set) for one in claim_payments] == [
        ("C1", "K1", "CHK", 1), ("C2", "K2", "CHK", 2),
    ]  # fmt: skip
    assert [end.balance for end in ends] == [0, 0]
    assert claim_payments[0].order < claim_payments[1].order
    assert claim_payments[0].day == date(2026, 11, 2)
    assert claim_payments[0].payment.payer_id == "1512345678"


@pytest.mark.parametrize(
    ("payer", "id"),
    [
        (["N1*PR*MEADOW MUTUAL*XV*PLAN7", "REF*2U*OWN8"], "PLAN7"),
        (["N1*PR*MEADOW MUTUAL", "REF*2U*OWN8"], "OWN8"),
        (["N1*PR*MEADOW MUTUAL", "REF*NF*NAIC9"], "1512345678"),
    ],
)
def test_a_payer_is_known_by_its_plan_id_or_its_own_or_that_of_the_trace(payer, id):
    [name, reference] = payer
    rows = [
        "835", "BPR*I*10*C*CHK************20261114", "TRN*1*K1*1512345678", name, "N3*1 LANE", "N4*AUSTIN*TX*78701", reference,
        "PER*BL*HELP*TE*5125550100", "N1*PE*FERNHILL*XX*1234567893", "LX*1", *paid("C1", "1", "10", "10"),
    ]  # fmt: skip
    [one], _ = read(sealed("HP", "005010X221A1", rows))
    assert one.payment.payer_id == id


def test_an_adjustment_without_an_amount_adjusts_nothing():
    [one], _ = read(payment(paid("C1", "1", "100", "80", "CAS*CO*45*20", "CAS*PR*3*")))
    assert (one.adjusted, one.patient, one.balance, one.unreadable) == (2000, 0, 0, ())


def test_separators_of_any_kind_give_the_same_values():
    plain, _ = read(payment(paid("C1", "1", "100", "80", *LINE)))
    odd, _ = read(payment(paid("C1", "1", "100", "80", *LINE), separators="|>!\n"))
    assert plain == odd
    [swapped], _ = read(
        payment(paid("A-1", "1", "1", "1"), separators="|>!~").replace(b"A-1", b"A*1")
    )
    assert swapped.account_number == "A*1"


def test_other_sets_of_a_mixed_file_are_left_alone():
    mixed = ta1(21) + nine(21) + payment(paid("C1"), control=501) + nine(21, control=502)
    claim_payments, ends = read(mixed)
    assert [one.interchange for one in claim_payments] == [3]
    assert len(ends) == 1


@pytest.mark.safe_default(13)
@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (paid("C1", "1", "9" * 19, "80"), "CLP03"),
        (paid("C1", "1", "100", "-" + "9" * 30), "CLP04"),
        (paid("C1", "1", "100", "0." + "0" * 30 + "1"), "CLP04"),
        (paid("C1", "1", "100", "80", "CAS*CO*45*" + "9" * 19), "CAS"),
        (paid("C1", "1", "100", "1" + "0" * 9), "CLP04"),
    ],
)
def test_an_amount_of_more_than_18_digits_is_a_fault_that_every_database_can_store(row, fault):
    [one], [end] = read(payment(row))
    assert fault in one.unreadable
    stored = (one.charged, one.paid, one.patient, one.adjusted, one.balance or 0, end.paid)
    assert all(abs(cents) < 2**63 for cents in stored)


@pytest.mark.safe_default(13)
def test_payers_texts_are_read_as_utf8_or_latin1_without_control_characters_of_either():
    plain = payment(paid("C1", "1", "100", "80", *LINE))
    for name, shown in (
        ("MEADOW ÉCOLE — Ł".encode(), "MEADOW ÉCOLE — Ł"),
        ("MEADOW\x85 \x9bÉ".encode(), "MEADOW É"),
        (b"MEADOW\x80 \x9f\xc9", "MEADOW É"),  # not UTF-8
        (b"ME\x1bADOW \xc9", "MEADOW É"),
    ):
        content = plain.replace(b"MEADOW MUTUAL", name)
        assert content != plain
        for sent in (content, content.replace(b"*", b"\x1d").replace(b"~", b"\x1c")):
            [one], _ = read(sent)
            assert (one.payer_name, one.charged) == (shown, 10000)


@pytest.mark.safe_default(13)
def test_sums_of_many_large_amounts_are_numbers_that_every_database_can_store():
    largest = "999999999.99"
    rows = [paid("C1", "1", largest, largest, f"CAS*PR*1*{largest}") for _ in range(200)]
    lines = [each for _ in range(200) for each in (*LINE[:1], f"CAS*PR*1*{largest}")]
    plb = [f"PLB*1234567893*20261231*WO*{largest}" for _ in range(200)]
    found, [end] = read(payment(*rows, paid("C2", "1", "100", "0", *lines), plb=plb))
    assert (found[0].paid, found[-1].unreadable) == (10**11 - 1, ())
    sums = (found[-1].patient, end.paid, sum(one.amount for one in end.adjustments))
    assert [abs(cents) for cents in sums] == [200 * (10**11 - 1)] * 3
    # An amount takes two bytes at least.
    assert (10**11 - 1) * limits.TRANSFER_BYTES_MAX // 2 < 2**63


@pytest.mark.safe_default(13)
def test_control_characters_of_payers_are_dropped_on_reading():
    plain = payment(paid("C1", "1", "100", "80", *LINE))
    spoiled = plain.replace(b"MEADOW", b"ME\x00A\x07D\x1bO\x7fW").replace(b"~CLP", b"~\x02CLP")
    assert spoiled != plain
    for content in (spoiled, spoiled.replace(b"*", b"\x1d").replace(b":", b"\x1f")):
        [one], _ = read(content)
        assert (one.payer_name, one.charged, one.account_number) == ("MEADOW MUTUAL", 10000, "C1")


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (paid("C1", "1", "1OO", "80"), "CLP03"),
        (paid("C1", "1", "100", ""), "CLP04"),
        (paid("C1", "1", "100", "80.001"), "CLP04"),
        (paid("C1", "77", "100", "80"), "CLP02"),
        (paid("C1", "1", "100", "80", "CAS*CO*45*X"), "CAS"),
    ],
)
def test_what_cannot_be_read_is_a_fault_and_no_amount(row, fault):
    [one], [end] = read(payment(row))
    assert fault in one.unreadable
    assert end.unreadable_claims == 1


def test_an_empty_trailing_adjustment_is_no_fault():
    [one], _ = read(payment(paid("C1", "1", "100", "80", "CAS*CO*45*20**")))
    assert one.unreadable == ()


def test_a_payment_without_claims_or_with_a_debit_is_read():
    claim_payments, [end] = read(payment(amount="0", plb=["PLB*1*20261231*WO:9*10*L6*-10"]))
    assert claim_payments == []
    assert [(one.reason, one.reference, one.amount) for one in end.adjustments] == [
        ("WO", "9", -1000),
        ("L6", "", 1000),
    ]
    _, [debit] = read(
        payment(paid("C1", "22", "-100", "-80"), amount="80").replace(b"*80*C*", b"*80*D*")
    )
    assert (debit.payment.amount, debit.balance) == (-8000, 0)
    _, [unknown] = read(payment(amount="?"))
    assert unknown.balance is None


def test_a_file_without_a_readable_date_is_still_ordered():
    [one], _ = read(
        payment(paid("C1"), moment="2026XX14*9999")
        .replace(b"DTM*405*20261114~", b"")
        .replace(b"*26XX14*", b"*2611XX*")
    )
    assert one.at == NEVER
    [one], _ = read(payment(paid("C1"), moment="20261114*9999"))
    assert one.at == datetime(2026, 11, 14)
    [one], _ = read(payment(paid("C1"), moment="20261114*101112"))
    assert one.at == datetime(2026, 11, 14, 10, 11, 12)
    [one], _ = read(payment(paid("C1"), moment="2026XX14*0900").replace(b"*26XX14*", b"*261114*"))
    assert one.at == datetime(2026, 11, 14, 9, 0)


def test_the_same_payment_in_another_file_is_the_same_fact():
    [one], _ = read(payment(paid("C1", "1", "100", "80", *LINE)))
    [again], _ = read(
        payment(paid("C1", "1", "100", "80", *LINE), control=900, moment="20261201*0900")
    )
    [corrected], _ = read(payment(paid("C1", "1", "100", "70", *LINE)))
    assert one.identity == again.identity
    assert one.identity != corrected.identity


def test_a_fact_survives_being_stored():
    [one], _ = read(payment(paid("C1", "1", "100", "80", *LINE)))
    stored = msgspec.json.encode(one)
    assert msgspec.json.decode(stored, type=Fact | ClaimPaymentFact) == one


def test_a_reversal_and_its_correction_in_one_file_move_the_claim():
    first, _ = read(payment(paid("C1", "1", "100", "80", "CAS*CO*45*20")))
    back = paid("C1", "22", "-100", "-80", "CAS*CO*45*-20")
    second, [end] = read(
        payment(back, paid("C1", "1", "100", "60", "CAS*CO*45*40"), amount="-20", day="20261120")
    )
    found = fold([*second, *first], total=10000)
    assert (found.state, found.payer_cents, found.adjustment_cents, found.total_cents) == (
        ClaimState.COMPLETE,
        6000,
        4000,
        10000,
    )
    assert end.balance == 0


def large(claims):
    head, _, end = payment([], amount="0").partition(b"TS3")
    yield head
    for number in range(claims):
        yield "~".join([*paid(f"C{number}", "1", "100", "80", *LINE, *OTHER), ""]).encode()
    yield end.partition(b"~")[2]


def test_memory_stays_flat_over_a_large_file():
    peaks = []
    for claims in (full_or_quick(500, 100), full_or_quick(4_000, 800)):
        tracemalloc.start()
        count = sum(
            isinstance(one, read_835.ClaimPaymentLoop) for one in read_835.read(large(claims))
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert count == claims
    assert peaks[1] < 2 * peaks[0] + 500_000


def test_each_claim_of_a_large_file_takes_as_long_as_one_of_a_small_file():
    """In time of the processor: what else the machine does has no part in it."""
    seconds = []
    for claims in (full_or_quick(2_000, 500), full_or_quick(16_000, 4_000)):
        content = b"".join(large(claims))
        start = time.process_time()
        count = sum(isinstance(one, read_835.ClaimPaymentLoop) for one in read_835.read(content))
        seconds.append(time.process_time() - start)
        assert count == claims
    assert seconds[1] < 8 * seconds[0] * 4  # a time that grows with the square is 64 times as long
