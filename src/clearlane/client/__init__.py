"""A client of Vendor API V3, sync and async, for Clearlane and any other service that implements it.

::

    from clearlane.client import Client

    with Client.from_sandbox(".data") as client:
        answer = client.submit_medical_claims({"Svc_PayerId": "TST01", ...})
        for result in answer.ClaimResults:
            print(result.VendorClaimId, result.Status)

Methods have Python names, payloads the field names of V3. Errors are exceptions of one tree, see ``errors``.
Imports no other package of Clearlane, so that it can be installed alone in a vendor's program.
"""

from clearlane.client import webhooks
from clearlane.client.account import Account, from_environment, from_sandbox
from clearlane.client.async_client import AsyncClient
from clearlane.client.benefits import Benefit, BenefitResponse, EligibilityRequest, Patient
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
    InvalidRequest,
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
from clearlane.client.https import AsyncHttpTransport, HttpTransport
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
from clearlane.client.transport import AsyncTransport, Request, Response, Transport
from clearlane.client.v1_models import (
    ClaimDetails,
    ClaimFindingInfo,
    ClaimHistoryEntry,
    ClaimInfo,
    ConsoleLink,
    CorrectionResult,
    DocumentInfo,
    OccurrenceInfo,
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
    "BaaMissing",
    "BadCredentials",
    "Benefit",
    "BenefitResponse",
    "CertificateRefused",
    "ClaimDetails",
    "ClaimError",
    "ClaimFindingInfo",
    "ClaimHistoryEntry",
    "ClaimInfo",
    "ClaimKind",
    "ClaimResult",
    "ClaimStatus",
    "ClaimSubmission",
    "ClearlaneError",
    "Client",
    "ConsoleLink",
    "CorrectionResult",
    "CursorFile",
    "DocumentInfo",
    "EligibilityAnswer",
    "EligibilityRequest",
    "EnrollmentAnswer",
    "EnrollmentResult",
    "Event",
    "EventPage",
    "HttpTransport",
    "InstanceToken",
    "InvalidRequest",
    "LoginUrl",
    "NotFound",
    "NotImported",
    "NotReached",
    "OccurrenceInfo",
    "Patient",
    "Payer",
    "PayerDocuments",
    "PayerInfo",
    "PaymentInfo",
    "RateLimited",
    "Request",
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
