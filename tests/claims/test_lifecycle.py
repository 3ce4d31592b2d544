from datetime import date, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clearlane.claims.lifecycle import (
    CLOSING_EVENTS,
    NEXT,
    SENDING_EVENTS,
    VERDICT_EVENTS,
    ClaimClosing,
    ClaimEvent,
    ClaimState,
    Closing,
    LifecycleStatus,
    PayerDocumentKind,
    RemittanceRole,
    diagram,
    first_category,
    fold,
    remittance_roles,
)
from clearlane.claims.responses.facts import (
    ClaimKey,
    ClaimStatusCode,
    Fact,
    FactKind,
    StatusVerdict,
)
from clearlane.payments.model import ClaimPaymentFact, PaymentHeading
from clearlane.x12 import codes
from tests.cases import by_profile

START = datetime(2026, 11, 1, 9, 0)


def day(number):
    return (START + timedelta(days=number)).date()


def sent(on=0, *, attempt=1):
    return Fact(kind=FactKind.SENT, at=START + timedelta(days=on), attempt=attempt)


def nine(kind=FactKind.ACCEPTED_999, on=0, *, attempt=1):
    return Fact(
        kind=kind, at=START + timedelta(days=on), attempt=attempt, source="999", document_id=f"D{kind}{attempt}"
    )  # fmt: skip


def status(category, verdict, on, **more):
    at = START + timedelta(days=on)
    return Fact(
        kind=FactKind.STATUS, at=at, day=at.date(), source="277CA", verdict=verdict, serial=on,
        codes=(ClaimStatusCode(category=category, status="20", entity="PR"),), document_id=f"{category}@{on}",
        claim=ClaimKey(payer_control_number=more.pop("payer_number", "")), **more,
    )  # fmt: skip


def remit(
    on, *, code="1", charged=10000, paid=8000, patient=500, adjusted=1500, serial=None, **more
):
    at = START + timedelta(days=on)
    payment = PaymentHeading(
        written_at=at, production_date=at.date(), serial=on if serial is None else serial, amount=paid, method="CHK",
        trace_number=f"CHK{on}", effective_date=at.date() + timedelta(days=1), payer_name="MEADOW MUTUAL", payer_id="TST01",
    )  # fmt: skip
    return ClaimPaymentFact(
        payment=payment, status_code=code, charged=charged, paid=paid, patient=patient,
        adjusted=adjusted, account_number="C1", document_id=f"R{on}-{code}", **more,
    )  # fmt: skip


def reversal(on, **more):
    amounts = {"charged": -10000, "paid": -8000, "patient": -500, "adjusted": -1500}
    return remit(on, code="22", **{**amounts, **more})


ACCEPT = status("A1", StatusVerdict.ACCEPTED, 1)
ADJUDICATE = status("A2", StatusVerdict.ACCEPTED, 2)
PEND = status("P1", StatusVerdict.PENDING, 5)
REJECT = status("A7", StatusVerdict.REJECTED, 2)
CORRECTED = {"paid": 6000, "patient": 2500}

SETS = {
    "accepted, pended, paid": (
        [sent(), nine(), ACCEPT, PEND, remit(14)],
        {"state": ClaimState.COMPLETE, "payment_status": "1", "payer_cents": 8000, "total_cents": 10000},
    ),
    "rejected": (
        [sent(), nine(), ACCEPT, REJECT, status("A1", StatusVerdict.ACCEPTED, 0)],
        {"state": ClaimState.REJECTED, "status_category": "A7", "document_id": "A7@2"},
    ),
    "paid, reversed, corrected in one file": (
        [sent(), ACCEPT, remit(14), reversal(20, position=40), remit(20, position=90, **CORRECTED)],
        {"state": ClaimState.COMPLETE, "payer_cents": 6000, "patient_cents": 2500, "state_changed_day": day(20)},
    ),
    "paid, reversed, corrected in several files of one minute": (
        [
            sent(),
            nine(),
            remit(14, serial=7),
            replace(reversal(14, serial=8), document_id="back"),
            replace(remit(14, serial=9, **CORRECTED), document_id="new"),
        ],
        {"state": ClaimState.COMPLETE, "payer_cents": 6000, "total_cents": 10000, "document_id": "new"},
    ),
    "correction before reversal in the file": (
        [sent(), ACCEPT, remit(14), remit(20, position=40, **CORRECTED), reversal(20, position=90)],
        {"state": ClaimState.COMPLETE, "payer_cents": 6000, "document_id": "R20-1"},
    ),
    "paid, then reversed": (
        [sent(), nine(), ACCEPT, remit(14), reversal(20)],
        {"state": ClaimState.PENDING, "payment_status": "22", "payer_cents": 0, "total_cents": 10000},
    ),
    "835 before 277CA": (
        [sent(), nine(), remit(3), status("A2", StatusVerdict.ACCEPTED, 9), status("A1", StatusVerdict.ACCEPTED, 8)],
        {"state": ClaimState.COMPLETE, "document_kind": PayerDocumentKind.PAYMENT, "decided_day": day(3)},
    ),
    "partial denial": (
        [
            sent(),
            ACCEPT,
            ADJUDICATE,
            remit(14, charged=6000, paid=5000, patient=0, adjusted=1000, line_controls=("C1-1",)),
            remit(15, code="4", charged=4000, paid=0, patient=0, adjusted=4000, line_controls=("C1-2",)),
        ],
        {"state": ClaimState.COMPLETE, "total_cents": 10000, "payer_cents": 5000, "adjustment_cents": 5000, "payment_status": "4"},
    ),
    "refused by 999": (
        [sent(), nine(FactKind.CLAIM_REFUSED), nine(), nine(FactKind.SET_REFUSED), nine(FactKind.TA1_REFUSED)],
        {"state": ClaimState.REJECTED, "document_kind": PayerDocumentKind.STATUS, "status_category": "", "decided_day": day(0)},
    ),
    "refused with others, sent again, accepted": (
        [sent(), nine(FactKind.SEND_AGAIN), sent(1, attempt=2), nine(attempt=2), ADJUDICATE],
        {"state": ClaimState.ACKNOWLEDGED, "send_again": False},
    ),
    "refused with the whole file, sent again": (
        [sent(), nine(FactKind.TA1_REFUSED), nine(FactKind.REQUEUED), sent(1, attempt=2), nine(attempt=2)],
        {"state": ClaimState.SENT, "send_again": False, "file_refused": False},
    ),
    "refused with the whole file twice": (
        [sent(), nine(FactKind.TA1_REFUSED), nine(FactKind.REQUEUED), sent(1, attempt=2), nine(FactKind.TA1_REFUSED, attempt=2)],
        {"state": ClaimState.REJECTED, "send_again": False, "file_refused": True},
    ),
    "refused by 999 and with the whole file": (
        [sent(), nine(FactKind.CLAIM_REFUSED), nine(FactKind.TA1_REFUSED), nine(), nine()],
        {"state": ClaimState.REJECTED, "file_refused": False},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_every_order_of_five_responses_ends_in_the_same_status(name):
    facts, expected = SETS[name]
    assert len(facts) == 5
    first = fold(facts, total=10000)
    assert (
        expected.items()
        <= {n: getattr(first, n) for n in LifecycleStatus.__struct_fields__}.items()
    )
    orders = list(permutations(facts))
    assert len(orders) == 120
    for order in orders:
        assert fold(order, total=10000) == first
        assert fold([*order, *reversed(order), order[0]], total=10000) == first


@pytest.mark.parametrize("name", SETS)
def test_a_response_that_comes_again_in_another_file_counts_once(name):
    facts, _ = SETS[name]
    later = []
    for fact in facts:
        at = fact.at + timedelta(hours=3)
        if isinstance(fact, Fact):
            later.append(replace(fact, at=at, document_id="again"))
        else:
            later.append(
                replace(fact, payment=replace(fact.payment, written_at=at), document_id="again")
            )
    assert fold([*later, *facts], total=10000) == fold(facts, total=10000)


def test_a_claim_without_facts_is_received():
    assert fold([], total=12300) == LifecycleStatus(total_cents=12300)


def test_a_claim_goes_through_its_life_step_by_step():
    applied, seen = [], []
    for fact in [sent(), nine(), ACCEPT, ADJUDICATE, PEND, remit(14)]:
        applied.append(fact)
        seen.append(fold(applied, total=10000).state.value)
    assert seen == ["sent", "sent", "acknowledged", "acknowledged", "pending", "complete"]


def test_the_amounts_are_nothing_before_a_remittance_and_make_the_total_after_it():
    before = fold([sent(), ACCEPT], total=10000)
    assert (
        before.total_cents,
        before.payer_cents,
        before.patient_cents,
        before.adjustment_cents,
    ) == (10000, 0, 0, 0)
    after = fold([sent(), ACCEPT, remit(14)], total=10000)
    assert (
        after.total_cents
        == after.payer_cents + after.patient_cents + after.adjustment_cents
        == 10000
    )


def test_before_a_payers_own_statement_there_is_no_document_to_show():
    found = fold([sent(), nine()])
    assert (found.document_kind, found.document_id, found.decided_day) == (None, "", None)
    assert (found.status_category, found.payment_status) == ("", "")
    assert fold([sent(), nine(), ACCEPT]).document_id == "A1@1"


def test_two_facts_of_one_sending_are_read_in_their_order_however_they_come():
    for event in (FactKind.CLAIM_REFUSED, FactKind.SEND_AGAIN, FactKind.TA1_REFUSED):
        said = [nine(event), sent()]
        assert fold(said) == fold(said[::-1]) != fold([sent()])
    again = [sent(3, attempt=2), nine(FactKind.TA1_REFUSED)]
    assert fold(again).state is fold(again[::-1]).state is ClaimState.SENT


def test_a_remittance_brings_its_payment():
    found = fold([remit(14, payer_control_number="P7")])
    assert found.payment_method == "CHK"
    assert found.payment_reference == "CHK14"
    assert found.payment_effective_day == day(15)
    assert found.payer_name == "MEADOW MUTUAL"
    assert found.payer_control_number == "P7"


def test_the_payers_number_of_a_status_stays_until_a_remittance_tells_another():
    facts = [
        status("A2", StatusVerdict.ACCEPTED, 1, payer_number="S1"),
        status("A2", StatusVerdict.ACCEPTED, 2),
    ]
    assert fold(facts).payer_control_number == "S1"
    assert fold([*facts, remit(14)]).payer_control_number == "S1"


def test_a_newer_status_wins_over_an_older_one_that_comes_late():
    assert fold([REJECT, status("A2", StatusVerdict.ACCEPTED, 1)]).state is ClaimState.REJECTED
    assert fold([REJECT, status("A2", StatusVerdict.ACCEPTED, 3)]).state is ClaimState.ACKNOWLEDGED


def test_a_status_counts_by_its_own_day_and_by_the_files_if_it_has_none():
    written = START + timedelta(days=9)
    early = replace(status("A1", StatusVerdict.ACCEPTED, 1), at=written)
    assert fold([REJECT, early]).state is ClaimState.REJECTED
    undated = replace(early, day=None)
    assert fold([REJECT, undated]).state is ClaimState.ACKNOWLEDGED
    assert fold([REJECT, undated]).state_changed_day == written.date()


def test_an_acceptance_does_not_move_a_pended_claim_back():
    found = fold([PEND, status("A2", StatusVerdict.ACCEPTED, 6)])
    assert (found.state, found.status_category) == (ClaimState.PENDING, "P1")


def test_what_a_clearinghouse_passes_on_is_not_the_payers_acceptance():
    taken = status("A1", StatusVerdict.ACCEPTED, 1, by_clearinghouse=True)
    found = fold([sent(), taken])
    assert (found.state, found.status_category, found.document_kind) == (ClaimState.SENT, "", None)
    own = replace(taken, by_clearinghouse=False)  # the payer says the same on the same day
    assert fold([sent(), own, taken]).state is ClaimState.ACKNOWLEDGED
    assert taken.identity != own.identity
    late = status("A1", StatusVerdict.ACCEPTED, 9, by_clearinghouse=True)
    assert fold([sent(), own, PEND, late]).state is ClaimState.PENDING
    refused = status("A3", StatusVerdict.REJECTED, 2, by_clearinghouse=True)
    assert fold([sent(), taken, refused]).state is ClaimState.REJECTED
    report = Fact(kind=FactKind.REPORT, at=START, serial=7)
    assert fold([report, sent(), taken]) == found


def test_a_noted_status_moves_nothing_but_leaves_the_payers_number():
    found = fold([sent(), status("D0", StatusVerdict.NOTED, 3, payer_number="S1")])
    assert (found.state, found.status_category, found.payer_control_number) == (
        ClaimState.SENT,
        "",
        "S1",
    )
    assert fold([status("D0", StatusVerdict.NOTED, 3)]).state is ClaimState.RECEIVED


def test_a_claim_of_a_refused_set_waits_to_be_sent_again():
    facts = [sent(), nine(FactKind.SEND_AGAIN)]
    assert fold(facts).send_again
    assert fold([*facts, status("X0", StatusVerdict.NOTED, 1)]).send_again
    assert not fold([*facts, sent(2, attempt=2)]).send_again
    assert fold([nine(FactKind.SEND_AGAIN)]).send_again


def test_a_refused_batch_that_is_sent_again_lives_again_whatever_the_payers_clock_says():
    refused = replace(nine(FactKind.TA1_REFUSED), at=START - timedelta(hours=6))
    assert fold([sent(), refused]).state is ClaimState.REJECTED
    assert fold([sent(), refused, sent(1, attempt=2)]).state is ClaimState.SENT


def test_a_reversal_of_what_we_never_saw_takes_nothing_back():
    found = fold([reversal(20, position=1), remit(20, position=50, **CORRECTED)])
    assert (found.state, found.payer_cents) == (ClaimState.COMPLETE, 6000)
    assert fold([reversal(20)], total=10000).state is ClaimState.PENDING


def test_a_correction_with_the_same_amounts_survives_its_reversal():
    facts = [
        remit(14),
        reversal(20, position=1),
        replace(remit(20, position=50), document_id="new"),
    ]
    found = fold(facts)
    assert (found.state, found.document_id) == (ClaimState.COMPLETE, "new")
    # Paid and taken back in one file: nothing is left.
    assert fold([remit(14, position=1), reversal(14, position=9)]).state is ClaimState.PENDING


def test_a_reversal_takes_back_what_stands_before_it_in_its_file_with_the_same_figures():
    before, after = remit(14, position=1), remit(14, position=90)
    back = reversal(14, position=40)
    assert fold([before, back]).payer_cents == 0
    assert fold([after, back]).payer_cents == 8000
    other = reversal(14, position=40, paid=-7500, adjusted=-2000)
    assert fold([before, other]).payer_cents == 8000


def test_a_reversal_with_other_figures_takes_the_payment_of_the_same_charge_back():
    found = fold([remit(14), reversal(20, paid=-7500, adjusted=-2000)], total=10000)
    assert (found.state, found.payer_cents) == (ClaimState.PENDING, 0)
    # A reversal of another charge, or one before the payment, does not.
    assert fold([remit(14), reversal(20, charged=-5)]).state is ClaimState.COMPLETE
    assert fold([remit(14), reversal(10)]).state is ClaimState.COMPLETE


def test_a_newer_remittance_of_the_same_lines_takes_the_place_of_the_older_one():
    found = fold(
        [
            remit(14, line_controls=("C1-1",)),
            remit(20, code="2", line_controls=("C1-1",), **CORRECTED),
        ]
    )
    assert (found.payment_status, found.payer_cents, found.state_changed_day) == (
        "2",
        6000,
        day(20),
    )


def test_a_reversal_takes_back_the_best_fit_and_of_equal_ones_the_oldest():
    both = [remit(10), remit(14)]
    assert fold([*both, reversal(20)]).document_id == "R14-1"
    exact = remit(14, paid=7500, adjusted=2000)
    back = reversal(20, paid=-7500, adjusted=-2000)
    assert fold([remit(10), exact, back]).document_id == "R10-1"
    twice = [*both, reversal(20), reversal(21)]  # each takes another one back
    assert (fold(twice).state, fold(twice).payer_cents) == (ClaimState.PENDING, 0)
    assert [one.reverses for one in roles_of(*twice)] == [None, None, *both]


def test_what_could_not_be_processed_and_what_a_file_was_refused_for_is_of_the_last_sending():
    assert fold([sent(), remit(14)]).unprocessable is False
    assert fold([sent(), remit(14, code="4", unprocessable=True)]).unprocessable is True
    first = [sent(), nine(FactKind.CLAIM_REFUSED)]
    again = [sent(1, attempt=2), nine(FactKind.TA1_REFUSED, attempt=2)]
    assert [fold(first).file_refused, fold([*first, *again]).file_refused] == [False, True]
    assert fold([sent(), nine(FactKind.TA1_REFUSED)]).file_refused is True


def roles_of(*remittances):
    """Return the roles, which the order of arrival and a second report must not change."""
    found = remittance_roles(remittances)
    assert remittance_roles([*reversed(remittances), remittances[0]]) == found
    return found


def test_a_remittance_was_reversed_or_replaced_or_is_in_force():
    paid, back = remit(14), reversal(20, position=1)
    corrected = replace(remit(20, position=50, **CORRECTED), document_id="new")
    assert roles_of(paid) == [RemittanceRole(paid)]
    assert roles_of(paid, back, corrected) == [
        RemittanceRole(paid, in_force=False),
        RemittanceRole(back, reverses=paid, in_force=False),
        RemittanceRole(corrected, is_correction=True),
    ]
    assert roles_of(back, corrected) == [  # of what we never saw
        RemittanceRole(back, in_force=False),
        RemittanceRole(corrected, is_correction=True),
    ]
    assert roles_of(paid, corrected) == [  # without a reversal
        RemittanceRole(paid, in_force=False, replaced=True),
        RemittanceRole(corrected, is_correction=True),
    ]
    parts = [remit(14, line_controls=("L1",)), remit(15, code="4", line_controls=("L2",))]
    assert roles_of(*parts) == [RemittanceRole(one) for one in parts]


def test_a_remittance_that_is_reported_twice_has_one_role_from_its_earliest_report():
    paid = remit(14)
    later = replace(paid.payment, written_at=paid.payment.written_at + timedelta(hours=3))
    again = replace(paid, payment=later, document_id="again")
    assert remittance_roles([again, paid]) == [RemittanceRole(paid)]


def test_of_several_codes_the_category_of_the_first_one_counts():
    assert first_category(()) == ""
    assert first_category((ClaimStatusCode(category="A7"), ClaimStatusCode(category="A2"))) == "A7"


def test_the_table_reaches_every_state_and_uses_every_event():
    assert set(NEXT.values()) | {ClaimState.RECEIVED} == set(ClaimState)
    assert {event for _, event in NEXT} == set(ClaimEvent)
    applied = {event for event in (*SENDING_EVENTS.values(), *VERDICT_EVENTS.values()) if event}
    decided = {ClaimEvent.HELD, ClaimEvent.RELEASED, ClaimEvent.CANCELED}  # by a vendor or a person
    closed = set(CLOSING_EVENTS.values())
    paid = {ClaimEvent.REMITTED, ClaimEvent.REVERSED}
    assert applied | paid | decided | closed == set(ClaimEvent)


def test_nothing_but_a_remittance_moves_a_complete_claim():
    complete = ClaimState.COMPLETE
    assert NEXT[complete, ClaimEvent.VOIDED] is complete
    leaving = {event for (state, event) in NEXT if state is complete} - {ClaimEvent.VOIDED}
    assert leaving == {ClaimEvent.REMITTED, ClaimEvent.REVERSED}


def test_the_diagram_is_drawn_from_the_table():
    drawn = diagram()
    assert drawn.startswith("stateDiagram-v2\n")
    arrows = {tuple(line.split(":")[0].split(" --> ")) for line in drawn.splitlines()[2:] if line}
    assert {(one.strip(), two.strip()) for one, two in arrows} == {
        (state.value, after.value) for (state, _), after in NEXT.items()
    }
    assert "    [*] --> received\n" in drawn
    assert "    received --> sent: delivered, taken in\n" in drawn


def test_facts_print_no_values():
    assert "MEADOW" not in repr(remit(1))
    assert "P9" not in repr(status("A1", StatusVerdict.ACCEPTED, 1, payer_number="P9"))


# Properties.

days = st.integers(0, 30)
some_fact = st.one_of(
    st.builds(sent, days, attempt=st.integers(1, 3)),
    st.builds(nine, st.sampled_from([k for k in SENDING_EVENTS if k is not FactKind.SENT]), days, attempt=st.integers(1, 3)),
    st.builds(status, st.sampled_from(sorted(codes.load("status_categories"))), st.sampled_from(StatusVerdict), days),
    st.builds(remit, days, paid=st.sampled_from([8000, 6000]), position=st.integers(1, 3)),
    st.builds(reversal, days, paid=st.sampled_from([-8000, -6000]), position=st.integers(1, 3)),
    st.builds(remit, days, code=st.sampled_from(["2", "4", "19"]), line_controls=st.sampled_from([("L1",), ("L2",)])),
)  # fmt: skip
some_facts = st.lists(some_fact, max_size=8)


@settings(max_examples=by_profile(thorough=300, usual=100, quick=30), deadline=None)
@given(some_facts, st.randoms(use_true_random=False))
def test_the_status_does_not_depend_on_order_or_repetition(facts, rng):
    first = fold(facts, total=777)
    shuffled = [*facts, *rng.choices(facts, k=len(facts))] if facts else []
    rng.shuffle(shuffled)
    assert fold(shuffled, total=777) == first


@settings(max_examples=by_profile(thorough=200, usual=70, quick=20), deadline=None)
@given(some_facts)
def test_a_complete_claim_has_amounts_and_no_other_and_the_charge_never_changes(facts):
    found = fold(facts, total=777)
    assert found.total_cents == 777
    if found.state is ClaimState.COMPLETE:
        assert found.document_kind is PayerDocumentKind.PAYMENT
    else:
        assert (found.payer_cents, found.patient_cents, found.adjustment_cents) == (0, 0, 0)


@settings(max_examples=by_profile(thorough=200, usual=70, quick=20), deadline=None)
@given(some_facts, some_fact)
def test_an_older_fact_that_comes_late_never_undoes_a_decision(facts, late):
    before = fold(facts)
    if before.state is ClaimState.COMPLETE and isinstance(late, Fact):
        assert replace(fold([*facts, late]), payer_control_number="") == replace(
            before, payer_control_number=""
        )


VOIDED = Closing(ClaimClosing.VOIDED, day(25))
REPLACED = Closing(ClaimClosing.REPLACED, day(25))
RESENT = Closing(ClaimClosing.REPLACED, day(25), only_taken_back=True)


@pytest.mark.parametrize("closing", [VOIDED, REPLACED, RESENT], ids=["void", "replaced", "resent"])
@settings(max_examples=by_profile(thorough=200, usual=70, quick=20), deadline=None)
@given(facts=some_facts, rng=st.randoms(use_true_random=False))
def test_what_closes_a_claim_does_so_in_any_order_and_never_hides_money(closing, facts, rng):
    own, found = fold(facts, total=777), fold(facts, total=777, closing=closing)
    shuffled = [*facts, *facts]
    rng.shuffle(shuffled)
    assert fold(shuffled, total=777, closing=closing) == found
    assert (found.payer_cents, found.patient_cents, found.document_id, found.decided_day) == (
        own.payer_cents, own.patient_cents, own.document_id, own.decided_day,
    )  # fmt: skip
    if found.closing is None:
        assert found == own
    else:
        assert (found.state, found.payer_cents, found.send_again) == (ClaimState.COMPLETE, 0, False)
        assert own.state not in {ClaimState.RECEIVED, ClaimState.REJECTED}
    taken_back = own.state is ClaimState.PENDING and own.payment_status == "22"
    assert found.closing is closing.by or not taken_back
    if closing is RESENT:
        assert (found.closing is not None) == taken_back


def test_a_claim_is_closed_on_the_day_of_what_closed_it_unless_a_payer_paid_a_cent():
    closed = fold([sent(), ACCEPT], total=10000, closing=VOIDED)
    assert (closed.state, closed.state_changed_day, closed.closing) == (
        ClaimState.COMPLETE,
        day(25),
        ClaimClosing.VOIDED,
    )
    denied = remit(14, paid=0, patient=0, adjusted=10000)
    again = fold([sent(), denied], total=10000, closing=VOIDED)
    assert (again.state_changed_day, again.closing) == (day(14), ClaimClosing.VOIDED)
    cent = remit(14, paid=1, patient=0, adjusted=9999)
    assert fold([sent(), cent], total=10000, closing=VOIDED).closing is None


def test_the_day_of_a_fact_is_the_day_it_was_said():
    found = fold([sent(), ACCEPT])
    assert found.state_changed_day == found.decided_day == date(2026, 11, 2)
