"""The typed answers of Clearlane's own API, under its own field names. Read tolerantly, as those of V3 are."""

# ruff: noqa: RUF009  (fields are declared by function calls)

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from clearlane.client import models
from clearlane.client.models import (
    JSON,
    flag,
    list_of,
    number,
    objects,
    optional_text,
    text,
)


def _raw() -> Any:
    return field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFindingInfo:
    """What is wrong with a claim, in the vendor's field names."""

    rule: str = text()
    severity: str = text()
    field: str = text()
    message: str = text(shown=False)
    act: str | None = optional_text()
    """What the payer's answer asks for, such as ``correct`` or ``appeal``; None for a finding of our own checks."""
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimInfo:
    """A claim as lists show it."""

    id: str = text()
    claim_number: str = text()
    vendor_claim_id: str = text()
    site: str = text()
    kind: str = text()
    state: str = text()
    label: str = text()
    """What people call it, as the console shows it."""
    reason: str = text(shown=False)
    """Why it has its label: the first thing to fix, or a sentence."""
    payer_id: str = text()
    payer_control_number: str | None = optional_text()
    charge: Decimal = models.amount()
    paid: Decimal | None = models.optional_amount()
    """None before a payer decided; so is what the patient owes."""
    patient: Decimal | None = models.optional_amount()
    adjustments: Decimal = models.amount()
    document_id: str | None = optional_text()
    created_at: str = text()
    changed_at: str = text()
    predecessor: str | None = optional_text()
    successor: str | None = optional_text()
    prior_payer_claim: str | None = optional_text()
    """Of a secondary claim: the claim whose payer's decision it carries."""
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimHistoryEntry:
    """One thing that happened to a claim."""

    happened_at: str = text()
    event: str = text()
    file: str | None = optional_text()
    document_id: str | None = optional_text()
    sentences: tuple[str, ...] = objects()
    findings: tuple[ClaimFindingInfo, ...] = list_of(ClaimFindingInfo)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimDetails(ClaimInfo):
    """One claim with everything known about it."""

    also_billed_as: tuple[str, ...] = objects()
    """The claims under the same id that bill the same services to another payer."""
    findings: tuple[ClaimFindingInfo, ...] = list_of(ClaimFindingInfo)
    history: tuple[ClaimHistoryEntry, ...] = list_of(ClaimHistoryEntry)
    batches: tuple[JSON, ...] = objects()
    documents: tuple[JSON, ...] = objects()
    payments: tuple[JSON, ...] = objects()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionResult:
    """How a correction goes out."""

    claim_number: str | None = optional_text()
    """The number of the new claim; None for a dry run."""
    predecessor: str = text()
    sent_as: str = text()
    """``new``, ``replacement`` or ``void``."""
    reason: str = text()
    findings: tuple[ClaimFindingInfo, ...] = list_of(ClaimFindingInfo)
    x12: str | None = field(default=None, repr=False, metadata={"read": str})
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedClaimInfo:
    """What would become of one claim."""

    vendor_claim_id: str = text()
    accepted: bool = flag()
    findings: tuple[ClaimFindingInfo, ...] = list_of(ClaimFindingInfo)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationResult:
    """What would become of a document."""

    accepted: int = number()
    claims: tuple[ValidatedClaimInfo, ...] = list_of(ValidatedClaimInfo)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentInfo:
    """A check or transfer, with the part of it that is the vendor's."""

    id: str = text()
    payment_id: str = text()
    state: str = text()
    label: str = text()
    """What a person has to do about it, as the console shows it."""
    payer_id: str = text()
    payer_name: str = text()
    trace_number: str = text()
    method: str = text()
    amount: Decimal = models.amount()
    your_amount: Decimal = models.amount()
    effective_date: str | None = optional_text()
    received_at: str | None = optional_text()
    fetched_at: str | None = optional_text()
    balanced: bool = flag()
    duplicate_of: str | None = optional_text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPaymentInfo:
    """What a payment says about one claim."""

    id: str = text()
    claim_payment_id: str = text()
    type: str = text()
    label: str = text()
    claim_number: str = text()
    vendor_claim_id: str = text()
    charge: Decimal = models.amount()
    paid: Decimal = models.amount()
    patient: Decimal = models.amount()
    lines: tuple[JSON, ...] = objects()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerInfo:
    """A payer for one type of claims, and what it offers."""

    id: str = text()
    payer_id: str = text()
    type: str = text()
    name: str = text()
    aliases: tuple[str, ...] = objects()
    accepts_claims: bool = flag()
    claim_enrollment_required: bool = flag()
    era: str = text()
    eligibility: bool = flag()
    replacements: bool = flag()
    test: bool = flag()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentInfo:
    """A payer's answer about a claim."""

    id: str = text()
    document_id: str = text()
    type: str = text()
    claim_number: str = text()
    created_at: str = text()
    source: str = text()
    x12: str = text(shown=False)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """A file that a site sent, or one for it to fetch."""

    id: str = text()
    file_id: str = text()
    site: str = text()
    direction: str = text()
    """``in`` if the site sent it, ``out`` if it is for the site to fetch."""
    name: str = text()
    channel: str = text()
    type: str | None = optional_text()
    """What it holds, such as ``837P`` or ``999``; None while that is not known."""
    state: str = text()
    bytes: int = number()
    claims: int = number()
    accepted: int = number()
    not_accepted: int = number()
    answers: str | None = optional_text()
    """The file that it answers."""
    note: str | None = optional_text()
    created_at: str = text()
    received_at: str | None = optional_text()
    processed_at: str | None = optional_text()
    fetched_at: str | None = optional_text()
    raw: JSON = _raw()

    @property
    def is_processed(self) -> bool:
        """Whether it is known what became of the file."""
        return self.state not in ("received", "uploading")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileResponseInfo:
    """A file that came back for a file."""

    id: str = text()
    file_id: str = text()
    type: str = text()
    name: str = text()
    bytes: int = number()
    created_at: str = text()
    fetched_at: str | None = optional_text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDetails(FileInfo):
    """A file with its sets and what came back."""

    sets: tuple[JSON, ...] = objects()
    responses: tuple[FileResponseInfo, ...] = list_of(FileResponseInfo)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleLink:
    """A one-time address into the console."""

    url: str = text(shown=False)
    expires_at: str = text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedCall:
    """One thing that a call changed or read."""

    id: int = number()
    happened_at: str = text()
    action: str = text()
    site: str | None = optional_text()
    ids: tuple[str, ...] = objects()
    count: int = number()
    detail: str = text()
    raw: JSON = _raw()
