"""The client for an event loop: each call of V3 as a method.

Runs the steps of ``protocol`` over a transport; does not know requests, retries or responses.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

from clearlane.client import account as accounts
from clearlane.client import calls, limits
from clearlane.client.account import Account
from clearlane.client.async_resources import (
    AsyncAuditedCalls,
    AsyncCallRunner,
    AsyncClaims,
    AsyncEligibility,
    AsyncEvents,
    AsyncFiles,
    AsyncPayerDirectory,
    AsyncPayments,
    AsyncReports,
    AsyncSites,
    AsyncWebhookEndpoints,
)
from clearlane.client.async_transport import AsyncHttpTransport, AsyncTransport
from clearlane.client.build import ClaimKind, document_kind, split_claims
from clearlane.client.calls import PayerList
from clearlane.client.claim_watch import wait_for_claim
from clearlane.client.input_types import (
    DentalClaim,
    DentalDocument,
    EligibilityRequest,
    Enrollment,
    EnrollmentRequest,
    InstitutionalClaim,
    InstitutionalDocument,
    MedicalClaim,
    MedicalDocument,
)
from clearlane.client.models import (
    ClaimResult,
    ClaimStatus,
    ClaimSubmission,
    EligibilityAnswer,
    EnrollmentAnswer,
    InstanceToken,
    LoginUrl,
    Payer,
    PayerDocuments,
    TokenDeletion,
)
from clearlane.client.protocol import (
    CallProtocol,
    date_windows,
    to_date,
)
from clearlane.client.retry import Retry

T = TypeVar("T")


class AsyncClient:
    """A vendor's client of a service that implements V3, for an event loop."""

    def __init__(
        self,
        url: str | Account,
        key: str = "",
        password: str = "",
        site: str = "",
        *,
        api_key: str = "",
        ca_file: Path | str | None = None,
        timeout: float | None = None,
        retry: Retry | None = None,
        transport: AsyncTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """``url`` may be an :class:`Account`, which has everything that says who calls.

        ``api_key`` is for calls of Clearlane's own API alone; V3 needs the vendor key and its password.
        ``ca_file``, if given, is the only certificate authority to trust; ``timeout`` is in seconds for each
        answer (by default as long as the call needs).
        """
        account = (
            url
            if isinstance(url, Account)
            else Account.of(url, key, password, site, ca_file, api_key)
        )
        self.account = account
        self._calls = AsyncCallRunner(
            CallProtocol(account, retry or Retry(), timeout_seconds=timeout),
            transport or AsyncHttpTransport(account.ca_file),
            sleep,
        )

    @classmethod
    def from_sandbox(cls, data: Path | str | None = None, **options: Any) -> "AsyncClient":
        """Return a client of the sandbox with a data directory (by default ``CLEARLANE_DATA``)."""
        return cls(accounts.from_sandbox(data), **options)

    @classmethod
    def from_environment(cls, **options: Any) -> "AsyncClient":
        """Return a client from ``CLEARLANE_CLIENT_URL``, ``_KEY``, ``_PASSWORD``, ``_API_KEY``, ``_SITE``, ``_CA_FILE``."""
        return cls(accounts.from_environment(), **options)

    def at_site(self, site: str) -> "AsyncClient":
        """Return a client for another site of the vendor on the same connections; closing one closes both."""
        return AsyncClient(
            replace(self.account, site=site),
            transport=self._calls.transport,
            timeout=self._calls.protocol.timeout_seconds,
            retry=self._calls.protocol.retry,
            sleep=self._calls.sleep,
        )

    def __repr__(self) -> str:
        return f"AsyncClient({self.account.base_url!r}, key={self.account.key!r}, site={self.account.site!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._calls.transport.close()

    async def today(self) -> date:
        """Return the service's day in UTC, by its last answer; a sandbox may be ahead of this machine."""
        return await self._calls.run(self._calls.protocol.today())

    @property
    def claims(self) -> AsyncClaims:
        """The vendor's claims: find, follow and correct them (Clearlane's own API)."""
        return AsyncClaims(self._calls)

    @property
    def payments(self) -> AsyncPayments:
        """The payments that the vendor has a part in (Clearlane's own API)."""
        return AsyncPayments(self._calls)

    @property
    def payer_directory(self) -> AsyncPayerDirectory:
        """The payers that can be reached, with what each offers (Clearlane's own API)."""
        return AsyncPayerDirectory(self._calls)

    @property
    def eligibility(self) -> AsyncEligibility:
        """Questions about patients' insurance, and the answers."""
        return AsyncEligibility(self._calls)

    @property
    def reports(self) -> AsyncReports:
        """Sums of claims, denials, open claims and payments (Clearlane's own API)."""
        return AsyncReports(self._calls)

    @property
    def sites(self) -> AsyncSites:
        """The vendor's sites."""
        return AsyncSites(self._calls)

    @property
    def files(self) -> AsyncFiles:
        """The files that sites send and fetch: 837 in, 999, 277CA and 835 out (Clearlane's own API)."""
        return AsyncFiles(self._calls)

    @property
    def audited_calls(self) -> AsyncAuditedCalls:
        """What the vendor's calls changed or read (Clearlane's own API)."""
        return AsyncAuditedCalls(self._calls)

    @property
    def events(self) -> AsyncEvents:
        """The events of the vendor, in order (Clearlane's own API)."""
        return AsyncEvents(self._calls)

    @property
    def webhook_endpoints(self) -> AsyncWebhookEndpoints:
        """The vendor's webhook endpoints (Clearlane's own API)."""
        return AsyncWebhookEndpoints(self._calls)

    # --- payers -----------------------------------------------------------------------------------

    async def payers(self, kind: ClaimKind | str = ClaimKind.MEDICAL) -> list[Payer]:
        """Return the payers that claims can be sent to."""
        return await self._calls.do(calls.payers(PayerList.LIVE, kind))

    async def test_payers(self, kind: ClaimKind | str = ClaimKind.MEDICAL) -> list[Payer]:
        """Return the test payers of a sandbox."""
        return await self._calls.do(calls.payers(PayerList.TEST, kind))

    async def eligibility_payers(self, kind: ClaimKind | str = ClaimKind.MEDICAL) -> list[Payer]:
        """Return the payers that answer eligibility requests."""
        return await self._calls.do(calls.payers(PayerList.ELIGIBILITY, kind))

    # --- claims -----------------------------------------------------------------------------------

    async def submit(
        self,
        claims: Iterable[MedicalClaim]
        | Iterable[DentalClaim]
        | Iterable[InstitutionalClaim]
        | Iterable[Mapping[str, Any]],
        kind: ClaimKind | str = ClaimKind.MEDICAL,
        *,
        claims_per_document: int = limits.CLAIMS_PER_DOCUMENT,
    ) -> AsyncIterator[ClaimResult]:
        """Submit any number of claims in documents of a good size, and yield their results in order.

        Claims are taken as they are needed, so they may come from a generator. Sending the same claims again
        after an error is safe: those that are known are answered as before.
        """
        for part in split_claims(claims, claims_per_document):
            for result in await self._calls.run(
                self._calls.protocol.submit_part(ClaimKind(kind), part)
            ):
                yield result

    async def submit_medical_claims(
        self, claims: MedicalClaim | MedicalDocument | Iterable[MedicalClaim] | Any
    ) -> ClaimSubmission:
        """Submit one medical claim, several, or a whole document."""
        return await self._calls.do(calls.submission(ClaimKind.MEDICAL, claims))

    async def submit_dental_claims(
        self, claims: DentalClaim | DentalDocument | Iterable[DentalClaim] | Any
    ) -> ClaimSubmission:
        """Submit one dental claim, several, or a whole document."""
        return await self._calls.do(calls.submission(ClaimKind.DENTAL, claims))

    async def submit_institutional_claims(
        self,
        claims: InstitutionalClaim | InstitutionalDocument | Iterable[InstitutionalClaim] | Any,
    ) -> ClaimSubmission:
        """Submit one institutional claim, several, or a whole document (Clearlane's own API)."""
        site = self._calls.protocol.account.site
        return await self._calls.do(calls.submission(ClaimKind.INSTITUTIONAL, claims, site))

    async def submit_document(self, document: Mapping[str, Any]) -> ClaimSubmission:
        """Submit a document to the call that its ``DocumentType`` names."""
        call = calls.submission(
            document_kind(document), document, self._calls.protocol.account.site
        )
        return await self._calls.do(call)

    async def claim_status(self, start: date | str, end: date | str) -> list[ClaimStatus]:
        """Return the status of all claims created between two dates, both included."""
        return await self._calls.do(calls.status(start, end))

    async def iter_status(
        self, start: date | str, end: date | str, *, days: int = limits.STATUS_DAYS
    ) -> AsyncIterator[ClaimStatus]:
        """Yield the status of claims, requested a few days at a time, so that a long range fits in memory."""
        for first, last in date_windows(to_date(start), to_date(end), days):
            for row in await self.claim_status(first, last):
                yield row

    async def wait_for(
        self,
        claim_id: str,
        *,
        created: date | str | None = None,
        seconds: float = limits.WAIT_SECONDS,
    ) -> ClaimStatus:
        """Wait until a claim is decided or rejected; by its ``Svc_VendorClaimId`` or its ``RequestId``.

        ``created`` is the day it was sent, if that was before yesterday. Raises :class:`StillWaiting` with the
        last status when the time is over, :class:`NotFound` if there is no such claim.
        """
        steps = wait_for_claim(self._calls.protocol, claim_id, created=created, seconds=seconds)
        return await self._calls.run(steps)

    async def payer_documents(self, ids: Iterable[str]) -> PayerDocuments:
        """Return payer documents by the ``RelatedDocumentId`` of status records."""
        return await self._calls.do(calls.documents(ids))

    # --- eligibility ------------------------------------------------------------------------------

    async def submit_eligibility(
        self, request: EligibilityRequest | Mapping[str, Any]
    ) -> EligibilityAnswer:
        """Submit an eligibility request; the service responds within about 55 seconds with what it has."""
        return await self._calls.do(calls.eligibility(request))

    async def eligibility_responses(self, eligibility_request_id: int) -> EligibilityAnswer:
        """Return all responses that have arrived for a request."""
        return await self._calls.do(calls.eligibility_responses(eligibility_request_id))

    async def wait_for_eligibility(
        self,
        about: EligibilityAnswer | EligibilityRequest | Mapping[str, Any] | int,
        *,
        seconds: float = limits.WAIT_SECONDS,
    ) -> EligibilityAnswer:
        """Poll until every response has arrived: for an answer, its RequestId, or a request to submit first.

        Raises :class:`StillWaiting`, with what has arrived, when the time is over.
        """
        return await self._calls.run(self._calls.protocol.wait_for_eligibility(about, seconds))

    # --- enrollment and proxy login ---------------------------------------------------------------

    async def submit_enrollments(
        self, enrollments: Enrollment | EnrollmentRequest | Iterable[Enrollment] | Any
    ) -> EnrollmentAnswer:
        """Submit one enrollment, several, or a whole request."""
        return await self._calls.do(calls.enrollments(enrollments))

    async def create_instance_token(
        self, instance_id: UUID | str, instance_name: str
    ) -> InstanceToken:
        """Create a token for an instance (deprecated in V3)."""
        return await self._calls.do(calls.create_token(instance_id, instance_name))

    async def login_url(self, instance_id: UUID | str, token: str) -> LoginUrl:
        """Return a one-time URL of the login page (deprecated in V3)."""
        return await self._calls.do(calls.login_url(instance_id, token))

    async def delete_instance_token(self, instance_id: UUID | str) -> TokenDeletion:
        """Delete a token (deprecated in V3)."""
        return await self._calls.do(calls.delete_token(instance_id))
