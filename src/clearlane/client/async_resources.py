"""Clearlane's own API for an event loop: claims, payments, payers, documents, events and webhook endpoints.

::

    async for claim in client.claims.find(state="rejected", changed_after="2026-01-31T00:00:00Z"):
        print(claim.vendor_claim_id)
    await client.claims.correct(claim.claim_number, {"F01A_InsuredId": "W123"})

Lists are iterators over all pages. Without ``site`` a list is of all sites of the vendor. A change is sent with an
``Idempotency-Key``, so that it is repeated safely after a fault of the network.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, TypeVar

from clearlane.client import limits, v1_calls, webhook_endpoints
from clearlane.client.async_transport import AsyncTransport
from clearlane.client.calls import Call
from clearlane.client.errors import ClearlaneError, RateLimited, StillWaiting, Unavailable
from clearlane.client.events import Cursor, Event, EventPage, Following, events_call
from clearlane.client.protocol import CallProtocol, CallSteps, Pause, TransportResult
from clearlane.client.v1_calls import ListCall, segment
from clearlane.client.v1_models import (
    AuditedCall,
    CheckpointInfo,
    ClaimContentInfo,
    ClaimDetails,
    ClaimFormInfo,
    ClaimInfo,
    ClaimInquiry,
    ClaimPaymentInfo,
    ConsoleLink,
    CorrectionResult,
    DocumentInfo,
    EnrollmentInfo,
    FileDetails,
    FileInfo,
    InsuranceAnswer,
    InsuranceQuestion,
    PayerAliasInfo,
    PayerInfo,
    PaymentInfo,
    ReportInfo,
    SecondaryInfo,
    ShadowLineInfo,
    SiteInfo,
    SubmissionInfo,
    ValidationResult,
)
from clearlane.client.webhook_endpoints import WebhookDelivery, WebhookEndpoint

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AsyncCallRunner:
    """Runs the calls of a client's resources, for an event loop."""

    protocol: CallProtocol
    transport: AsyncTransport
    sleep: Callable[[float], Awaitable[object]]

    async def run(self, steps: CallSteps[T]) -> T:
        """Run the steps of a call and return its result."""
        result: TransportResult = None
        while True:
            try:
                step = steps.send(result)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]  # the value of a generator that the caller typed
            if isinstance(step, Pause):
                await self.sleep(step.seconds)
                result = None
                continue
            try:
                result = await self.transport.send(step)
            except ClearlaneError as fault:
                result = fault

    async def do(self, call: Call[T]) -> T:
        """Make one call."""
        return await self.run(self.protocol.perform(call))

    async def pages(self, pages: ListCall[T]) -> AsyncIterator[T]:
        """Yield what all pages of a list hold."""
        after: str | None = None
        while True:
            page = await self.do(pages(after))
            for item in page.items:
                yield item
            after = page.next
            if after is None:
                return


@dataclass(frozen=True, slots=True)
class AsyncClaims:
    """The vendor's claims, for an event loop."""

    _calls: AsyncCallRunner

    def find(self, **filters: object) -> AsyncIterator[ClaimInfo]:
        """Yield claims, newest first; filters have the names of the API, such as ``state`` and ``changed_after``."""
        return self._calls.pages(v1_calls.page("GetClaims", "claims", ClaimInfo, filters))

    async def get(self, claim_number: str) -> ClaimDetails:
        """Return one claim with its history, findings, batches, documents and payments."""
        return await self._calls.do(
            v1_calls.one("GetClaim", f"claims/{segment(claim_number)}", ClaimDetails)
        )

    async def content(self, claim_number: str) -> ClaimContentInfo:
        """Return a claim as it is sent, by the fields of its form."""
        path = f"claims/{segment(claim_number)}/content"
        return await self._calls.do(v1_calls.one("GetClaimContent", path, ClaimContentInfo))

    async def x12(self, claim_number: str) -> str:
        """Return the 837 of a claim."""
        return await self._calls.do(
            v1_calls.text("GetClaimX12", f"claims/{segment(claim_number)}/x12")
        )

    async def proof(self, claim_number: str) -> bytes:
        """Return the proof that a claim was filed, as PDF, with the evidence attached."""
        return await self._calls.do(v1_calls.claim_proof(claim_number))

    async def evidence(self, claim_number: str) -> bytes:
        """Return the evidence that a claim was filed, as one JSON file; save it byte for byte."""
        return await self._calls.do(v1_calls.claim_evidence(claim_number))

    async def form(self, claim_number: str) -> ClaimFormInfo:
        """Return the texts of a claim with their places on the pre-printed form, and what does not fit."""
        return await self._calls.do(
            v1_calls.one("GetClaimForm", f"claims/{segment(claim_number)}/form", ClaimFormInfo)
        )

    async def form_pdf(self, claim_number: str, *, sheet: str = "preprinted") -> bytes:
        """Return a claim on paper as PDF: ``preprinted`` for the form of the trade, or a ``plain`` sheet."""
        return await self._calls.do(v1_calls.claim_form_pdf(claim_number, sheet))

    def checkpoints(self, **filters: object) -> AsyncIterator[CheckpointInfo]:
        """Yield the signed checkpoints of the log of filings, oldest first."""
        return self._calls.pages(
            v1_calls.page("GetCheckpoints", "checkpoints", CheckpointInfo, filters)
        )

    async def submit(
        self, document: Mapping[str, Any], *, key: str | None = None
    ) -> SubmissionInfo:
        """Submit a document of claims of any kind; under the same ``key`` it is stored once."""
        site = self._calls.protocol.account.site
        return await self._calls.do(v1_calls.claim_submission(document, site, key))

    async def validate(self, document: Mapping[str, Any]) -> ValidationResult:
        """Return every finding of a document of claims; nothing is stored."""
        return await self._calls.do(
            v1_calls.validation(document, self._calls.protocol.account.site)
        )

    async def hold(self, claim_number: str) -> ClaimInfo:
        """Keep a claim back until it is released."""
        return await self._calls.do(v1_calls.claim_verb(claim_number, "hold"))

    async def release(self, claim_number: str) -> ClaimInfo:
        """Let a held claim be sent."""
        return await self._calls.do(v1_calls.claim_verb(claim_number, "release"))

    async def cancel(self, claim_number: str) -> ClaimInfo:
        """Take a claim back before it is sent."""
        return await self._calls.do(v1_calls.claim_verb(claim_number, "cancel"))

    async def correct(
        self, claim_number: str, fields: Mapping[str, Any], *, dry_run: bool = False
    ) -> CorrectionResult:
        """Correct a claim with the fields that change; ``dry_run`` shows what would be sent."""
        return await self._calls.do(v1_calls.correction(claim_number, fields, dry_run=dry_run))

    async def void(
        self, claim_number: str, *, reason: str, dry_run: bool = False
    ) -> CorrectionResult:
        """Cancel a claim at its payer; ``dry_run`` shows the void that would be sent."""
        return await self._calls.do(
            v1_calls.resending(claim_number, "void", reason, dry_run=dry_run)
        )

    async def resubmit(
        self, claim_number: str, *, reason: str = "", dry_run: bool = False
    ) -> CorrectionResult:
        """Send a claim again as it is; ``dry_run`` shows what would be sent."""
        return await self._calls.do(
            v1_calls.resending(claim_number, "resubmit", reason, dry_run=dry_run)
        )

    async def secondary(self, claim_number: str) -> SecondaryInfo:
        """Return what is known of the claim for the next payer, and what must be asked."""
        path = f"claims/{v1_calls.segment(claim_number)}/secondary"
        return await self._calls.do(v1_calls.one("GetSecondaryClaim", path, SecondaryInfo))

    async def bill_next_payer(
        self, claim_number: str, insurance: Mapping[str, Any], *, dry_run: bool = False
    ) -> SecondaryInfo:
        """Bill the next payer with what the payer before decided; ``dry_run`` shows what would be sent."""
        return await self._calls.do(v1_calls.next_payer(claim_number, insurance, dry_run=dry_run))

    async def send_anyway(self, claim_number: str, *, user: str, reason: str) -> CorrectionResult:
        """Send a claim in spite of the rules that stopped it, as a console user of the vendor decided."""
        return await self._calls.do(v1_calls.anyway(claim_number, user, reason))

    async def ask(self, claim_number: str) -> ClaimInquiry:
        """Ask the payer about a claim (276), and return what it answers."""
        return await self._calls.do(v1_calls.claim_question(claim_number))

    async def inquiries(self, claim_number: str) -> tuple[ClaimInquiry, ...]:
        """Return the questions to the payer about a claim, newest first."""
        path = f"claims/{segment(claim_number)}/inquiries"
        return await self._calls.do(v1_calls.few("GetClaimInquiries", path, ClaimInquiry))

    async def console_link(self, user: str, claim_number: str | None = None) -> ConsoleLink:
        """Return a one-time address that signs a user of the vendor in to the console."""
        body = {"user": user, "claim_number": claim_number}
        return await self._calls.do(
            v1_calls.change("CreateConsoleLink", "console_links", ConsoleLink, body=body)
        )


@dataclass(frozen=True, slots=True)
class AsyncPayments:
    """The payments that the vendor has a part in, for an event loop."""

    _calls: AsyncCallRunner

    def find(self, **filters: object) -> AsyncIterator[PaymentInfo]:
        """Yield payments, newest first; filters have the names of the API."""
        return self._calls.pages(v1_calls.page("GetPayments", "payments", PaymentInfo, filters))

    async def get(self, payment_id: str) -> PaymentInfo:
        """Return one payment; ``raw`` has its claims and adjustments."""
        return await self._calls.do(
            v1_calls.one("GetPayment", f"payments/{segment(payment_id)}", PaymentInfo)
        )

    def claim_payments(self, payment_id: str) -> AsyncIterator[ClaimPaymentInfo]:
        """Yield the vendor's claims in a payment."""
        path = f"payments/{segment(payment_id)}/claim_payments"
        return self._calls.pages(v1_calls.page("GetClaimPayments", path, ClaimPaymentInfo, {}))

    async def x12(self, payment_id: str) -> str:
        """Return the 835 of a payment."""
        return await self._calls.do(
            v1_calls.text("GetPaymentX12", f"payments/{segment(payment_id)}/x12")
        )

    async def csv(self, payment_id: str) -> str:
        """Return the vendor's claims and lines in a payment as CSV."""
        return await self._calls.do(
            v1_calls.text("GetPaymentCsv", f"payments/{segment(payment_id)}/csv")
        )

    async def deposit(
        self, payment_id: str, *, day: date, amount: Decimal | None = None, reference: str = ""
    ) -> PaymentInfo:
        """Record that your part of a payment was deposited; without an amount it is what the payer stated."""
        return await self._calls.do(v1_calls.deposit(payment_id, day, amount, reference))

    async def undo_deposit(self, payment_id: str) -> PaymentInfo:
        """Undo a deposit."""
        return await self._calls.do(
            v1_calls.removal("UndoDeposit", f"payments/{segment(payment_id)}/deposit", PaymentInfo)
        )

    async def settle(self, payment_id: str, *, because: str) -> PaymentInfo:
        """Record why nothing is left to do with your part of a payment."""
        path = f"payments/{segment(payment_id)}/settle"
        return await self._calls.do(
            v1_calls.change("SettlePayment", path, PaymentInfo, body={"because": because})
        )

    async def undo_settlement(self, payment_id: str) -> PaymentInfo:
        """Undo a settlement."""
        path = f"payments/{segment(payment_id)}/settle"
        return await self._calls.do(v1_calls.removal("UndoSettlement", path, PaymentInfo))


@dataclass(frozen=True, slots=True)
class AsyncPayerDirectory:
    """The payers that can be reached, and payer documents, for an event loop."""

    _calls: AsyncCallRunner

    def search(self, words: str | None = None, **filters: object) -> AsyncIterator[PayerInfo]:
        """Yield payers by name, or the best matches of words first; typing mistakes are tolerated."""
        query = {"search": words, **filters}
        return self._calls.pages(v1_calls.page("SearchPayers", "payers", PayerInfo, query))

    async def get(self, payer_id: str) -> tuple[PayerInfo, ...]:
        """Return a payer, for each type of claims that it takes."""
        return await self._calls.do(
            v1_calls.few("GetPayer", f"payers/{segment(payer_id)}", PayerInfo)
        )

    def enrollments(self, **filters: object) -> AsyncIterator[EnrollmentInfo]:
        """Yield how far providers are with the payers that require their enrollment."""
        return self._calls.pages(
            v1_calls.page("GetEnrollments", "enrollments", EnrollmentInfo, filters)
        )

    async def enrollment(self, enrollment_id: str) -> tuple[EnrollmentInfo, ...]:
        """Return one provider's enrollment, with each payer and for each transaction."""
        path = f"enrollments/{segment(enrollment_id)}"
        return await self._calls.do(v1_calls.few("GetEnrollment", path, EnrollmentInfo))

    def aliases(self) -> AsyncIterator[PayerAliasInfo]:
        """Yield what the vendor's files call payers, by alias."""
        return self._calls.pages(
            v1_calls.page("GetPayerAliases", "payer_aliases", PayerAliasInfo, {})
        )

    async def set_alias(self, alias: str, payer_id: str) -> PayerAliasInfo:
        """Let an id in the vendor's files stand for a payer."""
        body = {"alias": alias, "payer_id": payer_id}
        return await self._calls.do(
            v1_calls.change("SetPayerAlias", "payer_aliases", PayerAliasInfo, body=body)
        )

    async def remove_alias(self, alias: str) -> PayerAliasInfo:
        """Remove an alias; claims that came before stay with their payer."""
        path = f"payer_aliases/{segment(alias)}"
        return await self._calls.do(v1_calls.removal("RemovePayerAlias", path, PayerAliasInfo))

    async def document(self, document_id: str) -> DocumentInfo:
        """Return what a payer answered about a claim."""
        path = f"documents/{segment(document_id)}"
        return await self._calls.do(v1_calls.one("GetDocument", path, DocumentInfo))

    async def document_x12(self, document_id: str) -> str:
        """Return the claim's part of the payer's file."""
        path = f"documents/{segment(document_id)}/x12"
        return await self._calls.do(v1_calls.text("GetDocumentX12", path))

    async def ask(self, content: str | bytes) -> str:
        """Ask payers by a 270 or 276; return their 271 or 277, or the 999 or TA1 that refuses it."""
        site = self._calls.protocol.account.site
        return await self._calls.do(v1_calls.inquiry(content, site))


@dataclass(frozen=True, slots=True)
class AsyncEligibility:
    """Questions about patients' insurance, for an event loop."""

    _calls: AsyncCallRunner

    async def ask(self, question: Mapping[str, Any]) -> InsuranceAnswer:
        """Ask a payer: ``payer_id``, ``provider``, ``subscriber`` ...; the service responds within 55 seconds."""
        site = self._calls.protocol.account.site
        return await self._calls.do(v1_calls.insurance_question(question, site))

    def find(self, **filters: object) -> AsyncIterator[InsuranceQuestion]:
        """Yield what was asked, newest first, by V3 and the console too."""
        return self._calls.pages(
            v1_calls.page("GetEligibilityRequests", "eligibility", InsuranceQuestion, filters)
        )

    async def get(self, id: str) -> InsuranceAnswer:
        """Return a question and everything that came for it so far."""
        path = f"eligibility/{segment(id)}"
        return await self._calls.do(v1_calls.one("GetEligibilityRequest", path, InsuranceAnswer))


@dataclass(frozen=True, slots=True)
class AsyncSites:
    """The vendor's sites, for an event loop."""

    _calls: AsyncCallRunner

    def find(self, **filters: object) -> AsyncIterator[SiteInfo]:
        """Yield the sites, by their ids."""
        return self._calls.pages(v1_calls.page("GetSites", "sites", SiteInfo, filters))

    async def get(self, id: str) -> SiteInfo:
        """Return one site."""
        return await self._calls.do(v1_calls.one("GetSite", f"sites/{segment(id)}", SiteInfo))


@dataclass(frozen=True, slots=True)
class AsyncReports:
    """Sums of the vendor's claims and payments, for an event loop. ``by`` is words with commas, such as month,payer."""

    _calls: AsyncCallRunner

    async def claims(self, by: str | None = None, **filters: object) -> ReportInfo:
        """Return claims by the day of receipt: by month, payer, provider or label."""
        return await self._calls.do(v1_calls.report("GetClaimsReport", "claims", by, filters))

    async def denials(self, by: str | None = None, **filters: object) -> ReportInfo:
        """Return what payers denied: by reason, month, payer or provider."""
        return await self._calls.do(v1_calls.report("GetDenialsReport", "denials", by, filters))

    async def aging(self, by: str | None = None, **filters: object) -> ReportInfo:
        """Return open claims by age: by payer, provider or label."""
        return await self._calls.do(v1_calls.report("GetAgingReport", "aging", by, filters))

    async def payments(self, by: str | None = None, **filters: object) -> ReportInfo:
        """Return what payers paid and adjusted: by month, payer, provider or reason."""
        return await self._calls.do(v1_calls.report("GetPaymentsReport", "payments", by, filters))


@dataclass(frozen=True, slots=True)
class AsyncFiles:
    """The files that the vendor's sites send and fetch, for an event loop."""

    _calls: AsyncCallRunner

    async def send(
        self,
        content: bytes,
        *,
        name: str | None = None,
        site: str | None = None,
        channel: str | None = None,
        shadow: bool = False,
        key: str | None = None,
    ) -> FileInfo:
        """Send a file, such as an 837 as a practice system writes it; by default for the account's site. Claims of a shadow file are judged and never sent."""
        call = v1_calls.file_upload(
            content,
            name=name,
            site=site or self._calls.protocol.account.site,
            channel=channel,
            shadow=shadow,
            key=key,
        )
        return await self._calls.do(call)

    def shadow_report(self, **filters: object) -> AsyncIterator[ShadowLineInfo]:
        """Yield what we and another clearinghouse say of shadow files; by default for the account's site."""
        query = {"site": self._calls.protocol.account.site, **filters}
        return self._calls.pages(
            v1_calls.page("GetShadowReport", "shadow_report", ShadowLineInfo, query)
        )

    def find(self, **filters: object) -> AsyncIterator[FileInfo]:
        """Yield files, newest first; filters have the names of the API, such as ``direction`` and ``type``."""
        return self._calls.pages(v1_calls.page("GetFiles", "files", FileInfo, filters))

    async def get(self, file_id: str) -> FileDetails:
        """Return what became of a file: its sets, its claims, and the files that came back."""
        return await self._calls.do(
            v1_calls.one("GetFile", f"files/{segment(file_id)}", FileDetails)
        )

    async def content(self, file_id: str) -> bytes:
        """Return the bytes of a file."""
        return await self._calls.do(v1_calls.file_content(file_id))

    async def wait(self, file_id: str, *, seconds: float = limits.WAIT_SECONDS) -> FileDetails:
        """Wait until it is known what became of a file; raise ``StillWaiting`` when the time is over."""
        clock = self._calls.protocol.retry.clock
        began = clock()
        while True:
            file = await self.get(file_id)
            if file.is_processed:
                return file
            if clock() - began >= seconds:
                raise StillWaiting(
                    f"File {file_id} is not processed after {seconds:g} seconds.", file
                )
            await self._calls.sleep(limits.FILE_POLL_SECONDS)


@dataclass(frozen=True, slots=True)
class AsyncAuditedCalls:
    """What calls changed or read, by their ``X-Request-Id``, for an event loop."""

    _calls: AsyncCallRunner

    async def get(self, request_id: str) -> tuple[AuditedCall, ...]:
        """Return what a call changed or read, newest first; an exception's ``request_id`` is such an id."""
        return await self._calls.do(
            v1_calls.few("GetCall", f"calls/{segment(request_id)}", AuditedCall)
        )


@dataclass(frozen=True, slots=True)
class AsyncEvents:
    """The events of a vendor, for an event loop."""

    _calls: AsyncCallRunner

    async def page(
        self,
        after: str | None = None,
        *,
        types: Sequence[str] = (),
        site: str | None = None,
        limit: int = limits.EVENTS_PER_PAGE,
        wait_seconds: int = 0,
    ) -> EventPage:
        """Return the next events after a cursor, of all sites or one."""
        call = events_call(
            after=after, types=types, site=site, limit=limit, wait_seconds=wait_seconds
        )
        return await self._calls.do(call)

    async def follow(
        self, cursor: Cursor = None, *, types: Sequence[str] = (), site: str | None = None
    ) -> AsyncIterator[Event]:
        """Yield events from a cursor on, without end; wait for new ones and for a service that is away."""
        following = Following(cursor, types, site)
        while True:
            try:
                page = await self._calls.do(following.call())
            except (Unavailable, RateLimited) as fault:
                await self._calls.sleep(following.pause(fault))
                continue
            for event in page.events:
                yield event
                following.handled(event.id)
            following.handled(page.cursor)


@dataclass(frozen=True, slots=True)
class AsyncWebhookEndpoints:
    """The webhook endpoints of a vendor, for an event loop."""

    _calls: AsyncCallRunner

    async def add(
        self, url: str, types: Sequence[str] = (), sites: Sequence[str] = ()
    ) -> WebhookEndpoint:
        """Add an endpoint; its secret is in this answer only."""
        return await self._calls.do(webhook_endpoints.add_call(url, types, sites))

    async def list(self) -> "list[WebhookEndpoint]":
        """Return the endpoints."""
        return await self._calls.do(webhook_endpoints.list_call())

    async def get(self, id: str) -> WebhookEndpoint:
        """Return one endpoint."""
        return await self._calls.do(webhook_endpoints.get_call(id))

    async def change(
        self,
        id: str,
        *,
        url: str | None = None,
        types: Sequence[str] | None = None,
        sites: Sequence[str] | None = None,
    ) -> WebhookEndpoint:
        """Change the address, types or sites of an endpoint; what is left out stays."""
        return await self._calls.do(webhook_endpoints.change_call(id, url, types, sites))

    async def remove(self, id: str) -> None:
        """Remove an endpoint and its log."""
        await self._calls.do(webhook_endpoints.remove_call(id))

    async def rotate_secret(self, id: str) -> WebhookEndpoint:
        """Give an endpoint a new secret; the old one signs as well for a day."""
        return await self._calls.do(webhook_endpoints.rotate_call(id))

    async def enable(self, id: str, *, replay: bool = True) -> WebhookEndpoint:
        """Enable an endpoint, and have everything delivered since it failed."""
        return await self._calls.do(webhook_endpoints.enable_call(id, replay=replay))

    async def ping(self, id: str) -> None:
        """Send a ``ping`` to an endpoint."""
        await self._calls.do(webhook_endpoints.ping_call(id))

    async def replay(
        self, id: str, *, since_at: str | None = None, after: str | None = None
    ) -> None:
        """Deliver events again, from a moment or an event on."""
        await self._calls.do(webhook_endpoints.replay_call(id, since_at, after))

    async def deliveries(self, id: str, *, limit: int = 100) -> "Sequence[WebhookDelivery]":
        """Return what was sent to an endpoint, the newest events first."""
        return await self._calls.do(webhook_endpoints.log_call(id, limit))

    async def resend(self, id: str, event_id: str) -> None:
        """Deliver one event again."""
        await self._calls.do(webhook_endpoints.resend_call(id, event_id))
