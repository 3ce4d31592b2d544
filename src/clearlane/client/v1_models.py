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
class LeftOutInfo:
    """What the pre-printed form does not show of a claim; holds no value of it."""

    box: str = text()
    line: int = number()
    """The service line; 0 for a box of the whole claim."""
    holds: str = text()
    why: str = text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFormInfo:
    """A claim placed on the pre-printed form of its kind."""

    claim_number: str = text()
    form: str = text()
    pages: tuple[JSON, ...] = objects(shown=False)
    """The pages with their ``texts``: ``box``, ``x`` and ``y`` in points from the left and bottom edges, ``text``."""
    left_out: tuple[LeftOutInfo, ...] = list_of(LeftOutInfo)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimInfo:
    """A claim as lists show it."""

    id: str = text()
    claim_number: str = text()
    vendor_claim_id: str = text()
    site: str = text()
    kind: str = text()
    bill_type: str | None = optional_text()
    """Of an institutional claim: facility, classification and frequency."""
    state: str = text()
    label: str = text()
    """What people call it, as the console shows it."""
    reason: str = text(shown=False)
    """Why it has its label: the first thing to fix, or a sentence."""
    payer_id: str = text()
    payer_control_number: str | None = optional_text()
    awaiting: JSON | None = models.optional_object()
    """What it awaits: ``what``, ``from``, ``since``, ``by`` and ``overdue``; None for a closed claim."""
    filing_limit: JSON | None = models.optional_object()
    """By when it is to be with its payer: ``kind``, ``by`` (None if not known) and ``met``; None for a closed claim or a notice."""
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
    shadow: bool = flag()
    """Whether it came in a shadow file: it was judged, and is never sent."""
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
class PayerStatus:
    """One status of a payer's answer about a claim."""

    code: str = text()
    """Category, status and entity, such as ``A7:562:85``."""
    line: int = number()
    """The service line, from 1; 0 for the claim."""
    message: str = text()
    todo: str = text()
    act: str = text()
    fields: tuple[str, ...] = objects()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimInquiry:
    """A question to the payer about a claim (276), and its answer (277)."""

    id: str = text()
    claim_number: str = text()
    asked_at: str = text()
    answered_at: str | None = optional_text()
    by_file: bool = flag()
    keys: str = text()
    """By what the payer last searched: ``payer_number``, ``claim`` or ``days``."""
    result: str | None = optional_text()
    """What the payer answered; None while the question is open."""
    message: str = text()
    payer_control_number: str | None = optional_text()
    paid: Decimal | None = models.optional_amount()
    check_number: str | None = optional_text()
    payment_date: str | None = optional_text()
    statuses: tuple[PayerStatus, ...] = list_of(PayerStatus)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestionInfo:
    """What must be known before the next payer can be billed."""

    field: str = text()
    question: str = text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLinkInfo:
    """A claim of the chain of payers."""

    place: str = text()
    """Primary, secondary, tertiary, and so on."""
    claim_number: str = text()
    payer_id: str = text()
    label: str = text()
    charge: Decimal = models.amount()
    paid: Decimal = models.amount()
    patient: Decimal = models.amount()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondaryInfo:
    """What is known of the claim for the next payer, or how it goes out."""

    claim_number: str = text()
    """The number of the claim before."""
    state: str = text()
    secondary_claim: str | None = optional_text()
    """The number of the claim that was sent to the next payer."""
    sent_as: str | None = optional_text()
    """How a correction of it goes out: ``new`` or ``replacement``."""
    forwarded_to: str | None = optional_text()
    questions: tuple[OpenQuestionInfo, ...] = list_of(OpenQuestionInfo)
    not_by_itself: tuple[str, ...] = objects()
    """Why it waits for a person, if the site has such claims sent by themselves."""
    chain: tuple[ChainLinkInfo, ...] = list_of(ChainLinkInfo)
    patient_balance: Decimal | None = models.optional_amount()
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
class SubmittedClaimInfo:
    """What became of one claim of a document."""

    vendor_claim_id: str = text()
    claim_number: str = text()
    accepted: bool = flag()
    problems: tuple[ClaimFindingInfo, ...] = list_of(ClaimFindingInfo)
    warnings: tuple[ClaimFindingInfo, ...] = list_of(ClaimFindingInfo)
    note: str | None = optional_text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionInfo:
    """What became of a document of claims."""

    accepted: int = number()
    claims: tuple[SubmittedClaimInfo, ...] = list_of(SubmittedClaimInfo)
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
    accepts_institutional_claims: bool = flag()
    institutional_payer_id: str | None = optional_text()
    """Its id in institutional claims, if that is another."""
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
    event: str = text()
    """What it says of the claim, in words."""
    statuses: tuple[JSON, ...] = objects()
    """Its status codes with their words; empty for a payment."""
    findings: tuple[ClaimFindingInfo, ...] = list_of(ClaimFindingInfo)
    claim_payment: JSON | None = models.optional_object()
    """Of an 835: the decision with its lines, adjustments and remarks in words."""
    x12: str = text(shown=False)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimContentInfo:
    """A claim as it is sent."""

    claim_number: str = text()
    vendor_claim_id: str = text()
    kind: str = text()
    form: str = text()
    document_type: str | None = optional_text()
    """Of the document that would submit it again; None for a claim of a file, which has ``segments``."""
    claim: JSON | None = models.optional_object()
    """Its fields by the names of its form, which corrections and findings use."""
    segments: tuple[JSON, ...] = objects()
    repairs: tuple[JSON, ...] = objects()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteInfo:
    """A client of the vendor."""

    id: str = text()
    """The vendor site id."""
    client_id: str = text()
    name: str = text()
    time_zone: str = text()
    state: str = text()
    baa_accepted: bool = flag()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInfo:
    """A report: sums of claims or payments."""

    counted_at: str = text()
    data: tuple[JSON, ...] = objects(shown=False)
    """The rows, with amounts as text; what they are not of is None."""
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class InsuranceQuestion:
    """A question to a payer about a patient's insurance."""

    id: str = text()
    """As events name it; V3's ``RequestId``."""
    site: str = text()
    state: str = text()
    """complete, incomplete or nothing_sent."""
    verdict: str | None = optional_text()
    """active, inactive, refused or not_stated, of the first patient; None without the payer's answer."""
    asked_at: str = text()
    payer_id: str | None = optional_text()
    patient_name: str | None = field(default=None, repr=False, metadata={"read": str})
    member_id: str | None = field(default=None, repr=False, metadata={"read": str})
    patients: int = number()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class InsuranceAnswer(InsuranceQuestion):
    """A question about a patient's insurance, and what came for it."""

    answers: tuple[JSON, ...] = objects()
    """The benefits that payers state, one object a patient."""
    problems: tuple[str, ...] = objects()
    """Why a payer was not asked, or gave no answer."""
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerAliasInfo:
    """What the vendor's files call a payer."""

    id: str = text()
    alias: str = text()
    payer_id: str = text()
    name: str = text()
    """The payer's name; empty if it is gone."""
    counts: bool = flag()
    """False if the directory has a payer of this id now, or lost the payer."""
    set_at: str = text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrollmentInfo:
    """How far a provider is with a payer that requires enrollment."""

    id: str = text()
    enrollment_id: str = text()
    site: str = text()
    npi: str = text()
    payer_id: str = text()
    type: str = text()
    transaction: str = text()
    state: str = text()
    """pending, live, refused or ended."""
    since_at: str = text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowLineInfo:
    """What we and another clearinghouse say of one claim of a shadow file, or of a set that we rejected."""

    id: str = text()
    claim_number: str = text()
    set_id: str = text()
    vendor_claim_id: str = text()
    site: str = text()
    file_id: str = text()
    comparison: str = text()
    ours: str = text()
    our_reason: str = text()
    theirs: str = text()
    their_codes: str = text()
    their_reason: str = text()
    x12_differences: str = text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointInfo:
    """A signed checkpoint of the log of filings."""

    signed_at: str = text()
    leaves: int = number()
    """Deliveries and acknowledgements under it."""
    root: str = text()
    previous: str = text()
    digest: str = text()
    key: str = text()
    """The installation's public key."""
    fingerprint: str = text()
    signature: str = text()
    number: int = number()
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
    shadow: bool = flag()
    """Whether its claims are judged and never sent."""
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
class FileClaimInfo:
    """A claim of a file that was not accepted."""

    claim_number: str = text()
    vendor_claim_id: str = text(shown=False)
    set_id: str = text()
    position: int = number()
    findings: tuple[ClaimFindingInfo, ...] = list_of(ClaimFindingInfo)
    more_findings: int = number()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDetails(FileInfo):
    """A file with its sets, its claims that were not accepted, and what came back."""

    sets: tuple[JSON, ...] = objects()
    not_accepted_claims: tuple[FileClaimInfo, ...] = list_of(FileClaimInfo)
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
