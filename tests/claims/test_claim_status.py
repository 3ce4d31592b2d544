from datetime import date

import msgspec

from clearlane.claims.claim_status import (
    ClaimStatus,
    decode_claim_status,
    encode_claim_status,
    new_claim_status,
    update_claim_status,
)
from clearlane.claims.lifecycle import (
    ClaimClosing,
    ClaimState,
    LifecycleStatus,
    PayerDocumentKind,
)

DAY, LATER = date(2026, 11, 1), date(2026, 11, 14)
NEW = new_claim_status(claim_number="C1", vendor_claim_id="V1", total_cents=15_000, day=DAY)
PAID = LifecycleStatus(
    state=ClaimState.COMPLETE, state_changed_day=LATER, payment_status="1", decided_day=LATER,
    payer_control_number="P1", document_kind=PayerDocumentKind.PAYMENT, document_id="D1", total_cents=15_000,
    payer_cents=10_000, patient_cents=2_000, adjustment_cents=3_000, payment_method="CHK", payment_reference="1000001",
    payment_effective_day=date(2026, 11, 15), payer_name="MEADOW MUTUAL", closing=ClaimClosing.REPLACED,
    unprocessable=True,
)  # fmt: skip


def test_a_status_is_restored_as_it_was_stored():
    for status in (NEW, update_claim_status(NEW, PAID, LATER)):
        assert decode_claim_status(encode_claim_status(status)) == status


def test_what_is_stored_has_one_order():
    """Stored statuses are arrays: a field that moves would be read as another one."""
    assert msgspec.msgpack.decode(encode_claim_status(update_claim_status(NEW, PAID, LATER))) == [
        "2026-11-14", "C1", "V1", "2026-11-01", "2026-11-14", "1", False, None, "complete", "", "1", "2026-11-14", "P1",
        "payment", "D1", 15_000, 10_000, 2_000, 3_000, "CHK", "1000001", "2026-11-15", "MEADOW MUTUAL",
        False, False, "replaced", True,
    ]  # fmt: skip


def test_an_update_sets_everything_but_the_claims_identity():
    """A field that the update forgets would keep the value of an earlier status for ever."""
    status = update_claim_status(NEW, PAID, LATER)
    kept = {
        "claim_number",
        "vendor_claim_id",
        "created_day",
        "total_cents",
        "status_category",
        "frequency",
        "has_next_payer",
        "notice_due",
        "send_again",
        "file_refused",
    }
    same = {
        name
        for name in ClaimStatus.__struct_fields__
        if getattr(status, name) == getattr(NEW, name)
    }
    assert same == kept
    back = update_claim_status(status, LifecycleStatus(total_cents=15_000), DAY)
    assert back == NEW


def test_a_notice_is_complete_once_the_payer_accepted_it():
    notice = msgspec.structs.replace(NEW, frequency="A", notice_due=LATER)
    accepted = LifecycleStatus(state=ClaimState.ACKNOWLEDGED, state_changed_day=DAY)
    after = update_claim_status(notice, accepted, LATER)
    assert (after.state, after.is_notice, after.notice_due) == (ClaimState.COMPLETE, True, LATER)
    assert update_claim_status(NEW, accepted, LATER).state is ClaimState.ACKNOWLEDGED
    refused = LifecycleStatus(state=ClaimState.REJECTED)
    assert update_claim_status(notice, refused, LATER).state is ClaimState.REJECTED


def test_a_status_prints_no_value_of_a_patient():
    assert repr(NEW) == "ClaimStatus(C1 received)"
