"""A client of Vendor API V3, sync and async, for Clearlane and any other service that implements it.

::

    from clearlane.client import Client, MedicalClaim

    claim: MedicalClaim = {"Svc_PayerId": "TST01", ...}
    with Client("https://clearlane.example", "KEY", "PASSWORD", "SITE-1") as client:
        for result in client.submit([claim]):
            print(result.VendorClaimId, result.Status)

Methods have Python names, payloads the field names of V3. Errors are exceptions of one tree, see ``errors``.
Imports no other package of Clearlane, so that it can be installed alone in a vendor's program.
"""

from clearlane.client import webhooks
from clearlane.client.account import Account, from_environment, from_sandbox
from clearlane.client.async_client import AsyncClient
from clearlane.client.async_transport import AsyncHttpTransport, AsyncTransport
from clearlane.client.benefits import Benefit, BenefitResponse, Patient
from clearlane.client.build import (
    ClaimKind,
    claim_document,
    eligibility_request,
    enrollment_request,
)
from clearlane.client.errors import (
    AnswerLost,
    BaaMissing,
    BadCredentials,
    CertificateRefused,
    ClearlaneError,
    Conflict,
    InvalidRequest,
    NotAllowed,
    NotFound,
    NotImported,
    NotReached,
    RateLimited,
    SignatureRefused,
    StillWaiting,
    TooLarge,
    Unavailable,
    UnexpectedAnswer,
)
from clearlane.client.events import CursorFile, Event, EventPage
from clearlane.client.input_types import (
    BenefitInquiry,
    DentalClaim,
    DentalDocument,
    DentalLine,
    EligibilityRequest,
    Enrollment,
    EnrollmentRequest,
    MedicalClaim,
    MedicalDocument,
    MedicalLine,
    RequestDependent,
    RequestPayee,
    RequestPayer,
    RequestSubscriber,
)
from clearlane.client.models import (
    ClaimError,
    ClaimResult,
    ClaimStatus,
    ClaimSubmission,
    EligibilityAnswer,
    EnrollmentAnswer,
    EnrollmentResult,
    InstanceToken,
    LoginUrl,
    Payer,
    PayerDocuments,
    TokenDeletion,
)
from clearlane.client.retry import Retry
from clearlane.client.sync_client import Client
from clearlane.client.sync_transport import HttpTransport, Transport
from clearlane.client.transport import Request, Response
from clearlane.client.v1_models import (
    AuditedCall,
    ClaimDetails,
    ClaimFindingInfo,
    ClaimHistoryEntry,
    ClaimInfo,
    ClaimPaymentInfo,
    ConsoleLink,
    CorrectionResult,
    DocumentInfo,
    FileDetails,
    FileInfo,
    FileResponseInfo,
    PayerInfo,
    PaymentInfo,
    ValidatedClaimInfo,
    ValidationResult,
)
from clearlane.client.webhook_endpoints import WebhookDelivery, WebhookEndpoint

__all__ = [
    "Account",
    "AnswerLost",
    "AsyncClient",
    "AsyncHttpTransport",
    "AsyncTransport",
    "AuditedCall",
    "BaaMissing",
    "BadCredentials",
    "Benefit",
    "BenefitInquiry",
    "BenefitResponse",
    "CertificateRefused",
    "ClaimDetails",
    "ClaimError",
    "ClaimFindingInfo",
    "ClaimHistoryEntry",
    "ClaimInfo",
    "ClaimKind",
    "ClaimPaymentInfo",
    "ClaimResult",
    "ClaimStatus",
    "ClaimSubmission",
    "ClearlaneError",
    "Client",
    "Conflict",
    "ConsoleLink",
    "CorrectionResult",
    "CursorFile",
    "DentalClaim",
    "DentalDocument",
    "DentalLine",
    "DocumentInfo",
    "EligibilityAnswer",
    "EligibilityRequest",
    "Enrollment",
    "EnrollmentAnswer",
    "EnrollmentRequest",
    "EnrollmentResult",
    "Event",
    "EventPage",
    "FileDetails",
    "FileInfo",
    "FileResponseInfo",
    "HttpTransport",
    "InstanceToken",
    "InvalidRequest",
    "LoginUrl",
    "MedicalClaim",
    "MedicalDocument",
    "MedicalLine",
    "NotAllowed",
    "NotFound",
    "NotImported",
    "NotReached",
    "Patient",
    "Payer",
    "PayerDocuments",
    "PayerInfo",
    "PaymentInfo",
    "RateLimited",
    "Request",
    "RequestDependent",
    "RequestPayee",
    "RequestPayer",
    "RequestSubscriber",
    "Response",
    "Retry",
    "SignatureRefused",
    "StillWaiting",
    "TokenDeletion",
    "TooLarge",
    "Transport",
    "Unavailable",
    "UnexpectedAnswer",
    "ValidatedClaimInfo",
    "ValidationResult",
    "WebhookDelivery",
    "WebhookEndpoint",
    "claim_document",
    "eligibility_request",
    "enrollment_request",
    "from_environment",
    "from_sandbox",
    "webhooks",
]
