"""The status of one claim: its state, the payer's latest decision on it, and the money.

    status = new_claim_status(claim_number="C1", vendor_claim_id="V1", total_cents=15_000, day=today)
    status = update_claim_status(status, lifecycle.fold(facts, total=15_000), today)
    decode_claim_status(encode_claim_status(status))           # as it is stored

Codes are those of X12; their names in an API are made where that API is. Knows no API, no file and no database.
"""

from datetime import date

import msgspec

from clearlane.claims.codes import NOTICES, ORIGINAL, VOID
from clearlane.claims.lifecycle import ClaimState, LifecycleStatus, PayerDocumentKind
from clearlane.kernel.redacted_repr import shows


@shows("claim_number", "state")
class ClaimStatus(LifecycleStatus, frozen=True):
    """The status of a claim as it is stored and listed. Days are those of the site's time zone."""

    claim_number: str
    """The clearinghouse's number of the claim."""
    vendor_claim_id: str
    state_changed_day: date
    created_day: date
    updated_day: date
    frequency: str = ORIGINAL
    """CLM05-3: 1 original, 7 replacement, 8 void."""
    has_next_payer: bool = False
    """Whether it names another insurance, to be billed once the payer has decided."""
    notice_due: date | None = None
    """Of a notice: the last day on which the payer is to have accepted it."""

    @property
    def is_void(self) -> bool:
        """Whether it asks the payer to cancel an earlier claim."""
        return self.frequency == VOID

    @property
    def is_notice(self) -> bool:
        """Whether it tells of an admission or election, and asks for no money."""
        return self.frequency in NOTICES

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
    has_next_payer: bool = False,
    notice_due: date | None = None,
) -> ClaimStatus:
    """Return the status of a claim that was just accepted."""
    return ClaimStatus(
        claim_number=claim_number,
        vendor_claim_id=vendor_claim_id,
        state_changed_day=day,
        created_day=day,
        updated_day=day,
        total_cents=total_cents,
        frequency=frequency,
        has_next_payer=has_next_payer,
        notice_due=notice_due,
    )


def update_claim_status(before: ClaimStatus, status: LifecycleStatus, today: date) -> ClaimStatus:
    """Return the status that the facts of a claim give; what identifies the claim stays.

    A notice is complete once the payer has accepted it: nothing else is to come.
    """
    found = msgspec.structs.asdict(status)
    if before.is_notice and status.state is ClaimState.ACKNOWLEDGED:
        found["state"] = ClaimState.COMPLETE
    found["state_changed_day"] = status.state_changed_day or before.created_day
    return ClaimStatus(
        claim_number=before.claim_number,
        vendor_claim_id=before.vendor_claim_id,
        frequency=before.frequency,
        has_next_payer=before.has_next_payer,
        notice_due=before.notice_due,
        created_day=before.created_day,
        updated_day=today,
        **found,
    )


def encode_claim_status(status: ClaimStatus) -> bytes:
    """Return the stored form of a claim status."""
    return _ENCODER.encode(status)


def decode_claim_status(stored: bytes) -> ClaimStatus:
    """Return the claim status that :func:`encode_claim_status` was given."""
    return _DECODER.decode(stored)


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(ClaimStatus)
