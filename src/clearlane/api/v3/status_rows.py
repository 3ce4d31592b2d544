"""The rows of V3's status list, made from claim statuses.

A list has thousands of rows, so a row is one positional constructor call and a page is encoded at once.
Knows V3's names, order and conventions: ``0001-01-01`` for no day, dollars as numbers, null for no payer.
"""

from collections.abc import Iterable
from datetime import date
from typing import ClassVar

import msgspec

from clearlane.accounts.model import Site
from clearlane.api.v3.code_names import (
    CURRENT_STATES,
    DOCUMENT_TYPES,
    payer_action,
    payment_method,
)
from clearlane.claims.claim_status import ClaimStatus
from clearlane.eligibility.json_struct import JsonStruct

NO_DAY = date(1, 1, 1)


# gc=False: a row refers to no other container, so the garbage collector may ignore the thousands of a list.
class ClaimStatusJson(JsonStruct, frozen=True, gc=False):
    """The status of one claim."""

    SCHEMA_PREFIX: ClassVar[str] = ""

    VendorId: int
    VendorSiteId: str
    ClaimNumber: str
    CurrentState: str
    StateChangeDate: date
    PayerAction: str
    PayerActionDate: date
    PayerControlNumber: str
    CreateDate: date
    LastUpdateDate: date
    RelatedDocumentType: str
    RelatedDocumentId: str
    TotalClaimAmount: float
    PayerAmount: float
    Adjustments: float
    PatientAmount: float
    PayerName: str | None
    PaymentMethod: str | None
    PaymentReferenceNumber: str
    PaymentEffectiveDate: date
    VendorClaimId: str


def encode_rows(statuses: Iterable[ClaimStatus], site: Site) -> bytes:
    """Return the rows of a page, separated by commas."""
    vendor, site_id = site.vendor_id, site.vendor_site_id
    rows = [
        ClaimStatusJson(
            vendor,
            site_id,
            one.claim_number,
            CURRENT_STATES[one.state],
            one.state_changed_day,
            payer_action(one.status_category, one.payment_status),
            one.decided_day or NO_DAY,
            one.payer_control_number,
            one.created_day,
            one.updated_day,
            DOCUMENT_TYPES[one.document_kind],
            one.document_id,
            one.total_cents / 100,
            one.payer_cents / 100,
            one.adjustment_cents / 100,
            one.patient_cents / 100,
            one.payer_name or None,
            payment_method(one.payment_method),
            one.payment_reference,
            one.payment_effective_day or NO_DAY,
            one.vendor_claim_id,
        )
        for one in statuses
    ]
    return _ENCODER.encode(rows)[1:-1]


_ENCODER = msgspec.json.Encoder()
