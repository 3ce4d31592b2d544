"""The status of one claim: its state, the payer's latest decision on it, and the money.

    status = new_claim_status(claim_number="C1", vendor_claim_id="V1", total_cents=15_000, day=today)
    status = update_claim_status(status, lifecycle.fold(facts, total=15_000), today)
    decode_claim_status(encode_claim_status(status))           # as it is stored

Codes are those of X12; their names in an API are made where that API is. Knows no API, no file and no database.
"""

from datetime import date

import msgspec

from clearlane.claims.lifecycle import ClaimClosing, ClaimState, LifecycleStatus, PayerDocumentKind
from clearlane.claims.resubmission import ORIGINAL, VOID
from clearlane.kernel.redacted_repr import shows


# array_like: a status is stored as an array, which opens in a third of the time of an object, and lists have
# thousands. So a new field goes to the end and has a default. gc=False: it refers to no other container.
@shows("claim_number", "state")
class ClaimStatus(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """The status of a claim as it is stored and listed. Days are those of the site's time zone."""

    claim_number: str
    """The clearinghouse's number of the claim."""
    vendor_claim_id: str
    state: ClaimState
    state_changed_day: date
    created_day: date
    updated_day: date
    total_cents: int
    payer_cents: int = 0
    patient_cents: int = 0
    adjustment_cents: int = 0
    status_category: str = ""
    """The category of the payer's status (STC01-1), if a status decided last."""
    payment_status: str = ""
    """CLP02, if a claim payment decided last."""
    decided_day: date | None = None
    """The day of that status or claim payment, or of the TA1 or 999 that refused the claim."""
    payer_control_number: str = ""
    document_kind: PayerDocumentKind | None = None
    document_id: str = ""
    payer_name: str = ""
    payment_method: str = ""
    """BPR04."""
    payment_reference: str = ""
    """The number of the check or transfer (TRN02)."""
    payment_effective_day: date | None = None
    frequency: str = ORIGINAL
    """CLM05-3: 1 original, 7 replacement, 8 void."""
    closing: ClaimClosing | None = None
    """How it was closed by the decision on a void or replacement."""
    unprocessable: bool = False
    """Whether the claim payment that decided last says that the claim could not be processed."""

    @property
    def is_void(self) -> bool:
        """Whether it asks the payer to cancel an earlier claim."""
        return self.frequency == VOID

    @property
    def is_decided(self) -> bool:
        """Whether a payer decided on it, also if that was taken back later."""
        return self.document_kind is PayerDocumentKind.PAYMENT or self.closing is not None


def new_claim_status(
    *,
    claim_number: str,
    vendor_claim_id: str,
    total_cents: int,
    day: date,
    frequency: str = ORIGINAL,
) -> ClaimStatus:
    """Return the status of a claim that was just accepted."""
    return ClaimStatus(
        claim_number=claim_number,
        vendor_claim_id=vendor_claim_id,
        state=ClaimState.RECEIVED,
        state_changed_day=day,
        created_day=day,
        updated_day=day,
        total_cents=total_cents,
        frequency=frequency,
    )


def update_claim_status(before: ClaimStatus, status: LifecycleStatus, today: date) -> ClaimStatus:
    """Return the status that the facts of a claim give; what identifies the claim stays."""
    return ClaimStatus(
        claim_number=before.claim_number,
        vendor_claim_id=before.vendor_claim_id,
        frequency=before.frequency,
        closing=status.closing,
        state=status.state,
        state_changed_day=status.state_changed_day or before.created_day,
        created_day=before.created_day,
        updated_day=today,
        total_cents=status.total,
        payer_cents=status.payer,
        patient_cents=status.patient,
        adjustment_cents=status.adjustments,
        status_category=status.status_category,
        payment_status=status.payment_status,
        decided_day=status.decided_day,
        payer_control_number=status.payer_control_number,
        document_kind=status.document_kind,
        document_id=status.document_id,
        payer_name=status.payer_name,
        payment_method=status.payment_method,
        payment_reference=status.payment_reference,
        payment_effective_day=status.payment_effective_day,
        unprocessable=status.unprocessable,
    )


def encode_claim_status(status: ClaimStatus) -> bytes:
    """Return the stored form of a claim status."""
    return _ENCODER.encode(status)


def decode_claim_status(stored: bytes) -> ClaimStatus:
    """Return the claim status that :func:`encode_claim_status` was given."""
    return _DECODER.decode(stored)


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(ClaimStatus)
