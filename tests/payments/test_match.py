"""Which claim a payment is for: by number, account and payer number, never by chance.

Also tests `x12/reader/envelope_time`.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from clearlane.claims.responses import acks
from clearlane.payments.match import (
    AMBIGUOUS,
    CONTRADICTORY,
    UNKNOWN,
    ClaimCandidate,
    choose_claim,
    claim_number_in,
    possible_claim_numbers,
)
from clearlane.payments.model import ClaimPaymentFact, PaymentHeading
from clearlane.x12.reader.envelope_time import NEVER
from tests.cases import every_case, full_or_quick
from tests.claims.answers import patient, status

A = ClaimCandidate(
    claim_number="K1", account_number="ACC7", line_controls=frozenset({"K1-1", "K1-2"})
)
B = ClaimCandidate(claim_number="K2", account_number="ACC7", line_controls=frozenset({"K2-1"}))
C = ClaimCandidate(claim_number="K3", account_number="K3")
WITHOUT_LINES = ClaimCandidate(claim_number="K4", account_number="ACC7")


def named(account="", trace="", controls=()):
    payment = PaymentHeading(written_at=NEVER, production_date=NEVER.date())
    return ClaimPaymentFact(
        payment=payment, account_number=account, claim_number=trace, line_controls=controls
    )


@every_case(
    ("response", "candidates", "expected"),
    [
        (named("ACC7"), [A], A),
        (named("K3"), [C], C),
        (named("K1"), [A], A),
        (named("", "K1"), [A, B], A),
        (named("ACC7", "K2"), [A, B], B),
        (named("ACC7", controls=("K1-2",)), [A, B], A),
        (named("ACC7", controls=("K1-2",)), [WITHOUT_LINES, A], A),
        (named(controls=("K2-1",)), [A, B], B),
        (named("ACC7", controls=("K1-1", "BUNDLED")), [A], A),
        (named("ACC7"), [A, A], A),
        (named("ACC7"), [A, B], AMBIGUOUS),
        (named("WHO"), [A, B, C], UNKNOWN),
        (named(), [A], UNKNOWN),
        (named("ACC7"), [], UNKNOWN),
        (named("ACC7", "K9"), [A], CONTRADICTORY),
        (named("ACC7", controls=("K2-1",)), [A], CONTRADICTORY),
        (named("K3", controls=("ANY",)), [C], C),
    ],
)
def test_a_response_finds_the_one_claim_that_everything_it_holds_agrees_with(
    response, candidates, expected
):
    assert choose_claim(response, candidates) == expected


def test_the_numbers_to_look_for_come_from_the_trace_the_account_and_the_lines():
    assert possible_claim_numbers(named("ACC7", "K1", ("K1-1", "K2-1X", "LINE", "-1", "A-B"))) == [
        "K1",
        "ACC7",
        "K2",
    ]
    assert possible_claim_numbers(named()) == []


def test_a_status_is_matched_by_the_same_rule():
    [message] = acks.read(status(patient("ACC7", "A2:20:PR*20261102*WQ*100", extra=["REF*D9*K1"])))
    assert choose_claim(message.fact.claim, [A, B]) == A


def test_a_candidate_prints_no_account_number():
    assert "ACC7" not in repr(A)


texts = st.sampled_from(["", "K1", "K2", "ACC7", "ACC8"])


@settings(max_examples=full_or_quick(200, 20), deadline=None)
@given(
    texts,
    texts,
    st.lists(st.sampled_from(["K1-1", "K2-1", "X"]), max_size=2),
    st.permutations([A, B, C]),
)
def test_the_order_of_candidates_never_decides(account, trace, controls, candidates):
    response = named(account, trace, tuple(controls))
    assert choose_claim(response, candidates) == choose_claim(response, [A, B, C])


@every_case(
    ("control", "number"),
    [
        ("K1-1", "K1"), ("K1-12X", "K1"), ("K1-1XX", "K1"), ("K1-1~", ""), ("A-B-3", "A-B"), ("K1-", ""), ("K1", ""), ("K1-X", ""), ("K1-1A", ""), ("", ""),
    ],
)  # fmt: skip
def test_our_line_numbers_hold_the_claim_number_and_a_vendors_own_do_not(control, number):
    assert claim_number_in(control) == number
