"""The rows of the status list, byte for byte as V3 has them."""

from datetime import date

import msgspec
import pytest

from clearlane.accounts.model import Site
from clearlane.api.v3.status_rows import ClaimStatusJson, encode_rows
from clearlane.claims.claim_status import ClaimStatus, new_claim_status
from clearlane.claims.lifecycle import ClaimState, PayerDocumentKind
from clearlane.kernel.ids import SiteId, VendorId

SITE = Site(
    id=SiteId(3),
    vendor_id=VendorId(7),
    vendor_site_id="SITE-1",
    client_id="SITE-1",
    name="FERNHILL",
)
DAY, LATER = date(2026, 11, 1), date(2026, 11, 14)
NEW = new_claim_status(claim_number="C1", vendor_claim_id='V"1é', total_cents=12_345, day=DAY)
PAID = ClaimStatus(
    claim_number="C1", vendor_claim_id='V"1é', state=ClaimState.COMPLETE, state_changed_day=LATER, created_day=DAY,
    updated_day=LATER, total_cents=12_345, payer_cents=10_000, patient_cents=2_005, adjustment_cents=340,
    payment_status="1", decided_day=LATER, payer_control_number="P1", document_kind=PayerDocumentKind.PAYMENT,
    document_id="D1", payer_name="MEADOW MUTUAL", payment_method="CHK", payment_reference="1000001",
    payment_effective_day=date(2026, 11, 15),
)  # fmt: skip
NEW_ROW = (
    '{"VendorId":7,"VendorSiteId":"SITE-1","ClaimNumber":"C1","CurrentState":"Received",'
    '"StateChangeDate":"2026-11-01","PayerAction":"","PayerActionDate":"0001-01-01","PayerControlNumber":"",'
    '"CreateDate":"2026-11-01","LastUpdateDate":"2026-11-01","RelatedDocumentType":"","RelatedDocumentId":"",'
    '"TotalClaimAmount":123.45,"PayerAmount":0.0,"Adjustments":0.0,"PatientAmount":0.0,"PayerName":null,'
    '"PaymentMethod":null,"PaymentReferenceNumber":"","PaymentEffectiveDate":"0001-01-01",'
    '"VendorClaimId":"V\\"1é"}'
).encode()
PAID_ROW = (
    '{"VendorId":7,"VendorSiteId":"SITE-1","ClaimNumber":"C1","CurrentState":"Complete",'
    '"StateChangeDate":"2026-11-14","PayerAction":"ProcessedAsPrimary","PayerActionDate":"2026-11-14",'
    '"PayerControlNumber":"P1","CreateDate":"2026-11-01","LastUpdateDate":"2026-11-14",'
    '"RelatedDocumentType":"RemittanceAdvice","RelatedDocumentId":"D1","TotalClaimAmount":123.45,'
    '"PayerAmount":100.0,"Adjustments":3.4,"PatientAmount":20.05,"PayerName":"MEADOW MUTUAL",'
    '"PaymentMethod":"Check","PaymentReferenceNumber":"1000001","PaymentEffectiveDate":"2026-11-15",'
    '"VendorClaimId":"V\\"1é"}'
).encode()


@pytest.mark.parametrize(
    ("page", "rows"),
    [([], b""), ([NEW], NEW_ROW), ([PAID], PAID_ROW), ([NEW, PAID], NEW_ROW + b"," + PAID_ROW)],
)
def test_a_page_is_its_rows_with_commas_between_them(page, rows):
    assert encode_rows(page, SITE) == rows


# V3 knows neither: a held claim waits as a received one does, a canceled one will never be sent.
OTHER_NAMES = {ClaimState.HELD: "Received", ClaimState.CANCELED: "Rejected"}


@pytest.mark.parametrize("state", ClaimState)
def test_every_state_is_named(state):
    row = msgspec.json.decode(encode_rows([msgspec.structs.replace(PAID, state=state)], SITE))
    assert row["CurrentState"] == OTHER_NAMES.get(state, state.value.title().replace("_", ""))


def test_a_status_of_a_payer_is_named_by_its_category():
    status = msgspec.structs.replace(
        NEW, status_category="A7", document_kind=PayerDocumentKind.STATUS
    )
    row = msgspec.json.decode(encode_rows([status], SITE))
    assert row["PayerAction"] == "AcknowledgementRejectedForInvalidInformation"
    assert row["RelatedDocumentType"] == "ClaimStatus"


def test_a_row_prints_no_value():
    row = ClaimStatusJson(*msgspec.json.decode(NEW_ROW).values())
    assert "SITE-1" not in repr(row)
