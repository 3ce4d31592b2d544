"""Claims, payments, payers and documents of Clearlane's own API, for threads and for asyncio.

::

    for claim in client.claims.find(state="Rejected", changed_after="2026-01-31T00:00:00Z"):
        print(claim.vendor_claim_id)
    client.claims.correct(claim.claim_number, {"F01A_InsuredId": "W123"})

Lists are iterators over all pages. Without ``site`` a list is of all sites of the vendor. A change is sent with an
``Idempotency-Key``, so that it is repeated safely after a fault of the network.
"""

from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from clearlane.client import v1_calls
from clearlane.client.calls import Call
from clearlane.client.protocol import CallProtocol, CallSteps
from clearlane.client.v1_calls import ListCall, segment
from clearlane.client.v1_models import (
    AuditedCall,
    ClaimDetails,
    ClaimInfo,
    ClaimPaymentInfo,
    ConsoleLink,
    CorrectionResult,
    DocumentInfo,
    PayerInfo,
    PaymentInfo,
    ValidationResult,
)

T = TypeVar("T")


class RunSteps(Protocol):
    """Runs the steps of a call and returns its result."""

    def __call__(self, steps: CallSteps[T]) -> T: ...


class RunStepsAsync(Protocol):
    """Runs the steps of a call without blocking and returns its result."""

    def __call__(self, steps: CallSteps[T]) -> Awaitable[T]: ...


def find_claims(filters: Mapping[str, object]) -> ListCall[ClaimInfo]:
    """Return the calls of a claim search; filters have the names of the API."""
    return v1_calls.page("GetClaims", "claims", ClaimInfo, filters)


def claim_verb(number: str, verb: str) -> Call[ClaimInfo]:
    """Return the call of hold, release or cancel."""
    name = f"{verb.capitalize()}Claim"
    return v1_calls.change(name, f"claims/{segment(number)}/{verb}", ClaimInfo)


def correction(number: str, fields: Mapping[str, Any], *, dry_run: bool) -> Call[CorrectionResult]:
    """Return the call of a correction."""
    return v1_calls.change(
        "CorrectClaim",
        f"claims/{segment(number)}/correct",
        CorrectionResult,
        body={"fields": dict(fields)},
        query={"dry_run": "true"} if dry_run else {},
    )


def find_payments(filters: Mapping[str, object]) -> ListCall[PaymentInfo]:
    """Return the calls of a payment search."""
    return v1_calls.page("GetPayments", "payments", PaymentInfo, filters)


def payment_claim_payments(payment_id: str) -> ListCall[ClaimPaymentInfo]:
    """Return the calls of a payment's claims."""
    path = f"payments/{segment(payment_id)}/claim_payments"
    return v1_calls.page("GetClaimPayments", path, ClaimPaymentInfo, {})


def find_payers(words: str | None, filters: Mapping[str, object]) -> ListCall[PayerInfo]:
    """Return the calls of a payer search."""
    return v1_calls.page("SearchPayers", "payers", PayerInfo, {"search": words, **filters})


def payer_of(payer_id: str) -> Call[tuple[PayerInfo, ...]]:
    """Return the call for one payer."""
    return v1_calls.few("GetPayer", f"payers/{segment(payer_id)}", PayerInfo)


def audited_call(request_id: str) -> Call[tuple[AuditedCall, ...]]:
    """Return the call for what a call changed or read."""
    return v1_calls.few("GetCall", f"calls/{segment(request_id)}", AuditedCall)


@dataclass(frozen=True, slots=True)
class CallRunner:
    """Runs the calls of a client's resources."""

    protocol: CallProtocol
    run: RunSteps

    def do(self, call: Call[T]) -> T:
        """Make one call."""
        return self.run(self.protocol.perform(call))

    def pages(self, pages: ListCall[T]) -> Iterator[T]:
        """Yield what all pages of a list hold."""
        after: str | None = None
        while True:
            page = self.do(pages(after))
            yield from page.items
            after = page.next
            if after is None:
                return


@dataclass(frozen=True, slots=True)
class AsyncCallRunner:
    """Runs the calls of an async client's resources."""

    protocol: CallProtocol
    run: RunStepsAsync

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
class Claims:
    """The vendor's claims."""

    _calls: CallRunner

    def find(self, **filters: object) -> Iterator[ClaimInfo]:
        """Yield claims, newest first; filters have the names of the API, such as ``state`` and ``changed_after``."""
        return self._calls.pages(find_claims(filters))

    def get(self, claim_number: str) -> ClaimDetails:
        """Return one claim with its history, findings, batches, documents and payments."""
        return self._calls.do(
            v1_calls.one("GetClaim", f"claims/{segment(claim_number)}", ClaimDetails)
        )

    def x12(self, claim_number: str) -> str:
        """Return the 837 of a claim."""
        return self._calls.do(v1_calls.text("GetClaimX12", f"claims/{segment(claim_number)}/x12"))

    def validate(self, document: Mapping[str, Any]) -> ValidationResult:
        """Return every finding of a document of V3; nothing is stored."""
        return self._calls.do(v1_calls.validation(document, self._calls.protocol.account.site))

    def hold(self, claim_number: str) -> ClaimInfo:
        """Keep a claim back until it is released."""
        return self._calls.do(claim_verb(claim_number, "hold"))

    def release(self, claim_number: str) -> ClaimInfo:
        """Let a held claim be sent."""
        return self._calls.do(claim_verb(claim_number, "release"))

    def cancel(self, claim_number: str) -> ClaimInfo:
        """Take a claim back before it is sent."""
        return self._calls.do(claim_verb(claim_number, "cancel"))

    def correct(
        self, claim_number: str, fields: Mapping[str, Any], *, dry_run: bool = False
    ) -> CorrectionResult:
        """Correct a claim with the fields that change; ``dry_run`` shows what would be sent."""
        return self._calls.do(correction(claim_number, fields, dry_run=dry_run))

    def console_link(self, user: str, claim_number: str | None = None) -> ConsoleLink:
        """Return a one-time address that signs a user of the vendor in to the console."""
        body = {"user": user, "claim_number": claim_number}
        return self._calls.do(
            v1_calls.change("CreateConsoleLink", "console_links", ConsoleLink, body=body)
        )


@dataclass(frozen=True, slots=True)
class AsyncClaims:
    """The vendor's claims, for asyncio."""

    _calls: AsyncCallRunner

    def find(self, **filters: object) -> AsyncIterator[ClaimInfo]:
        """Yield claims, newest first; filters have the names of the API, such as ``state`` and ``changed_after``."""
        return self._calls.pages(find_claims(filters))

    async def get(self, claim_number: str) -> ClaimDetails:
        """Return one claim with its history, findings, batches, documents and payments."""
        return await self._calls.do(
            v1_calls.one("GetClaim", f"claims/{segment(claim_number)}", ClaimDetails)
        )

    async def x12(self, claim_number: str) -> str:
        """Return the 837 of a claim."""
        return await self._calls.do(
            v1_calls.text("GetClaimX12", f"claims/{segment(claim_number)}/x12")
        )

    async def validate(self, document: Mapping[str, Any]) -> ValidationResult:
        """Return every finding of a document of V3; nothing is stored."""
        return await self._calls.do(
            v1_calls.validation(document, self._calls.protocol.account.site)
        )

    async def hold(self, claim_number: str) -> ClaimInfo:
        """Keep a claim back until it is released."""
        return await self._calls.do(claim_verb(claim_number, "hold"))

    async def release(self, claim_number: str) -> ClaimInfo:
        """Let a held claim be sent."""
        return await self._calls.do(claim_verb(claim_number, "release"))

    async def cancel(self, claim_number: str) -> ClaimInfo:
        """Take a claim back before it is sent."""
        return await self._calls.do(claim_verb(claim_number, "cancel"))

    async def correct(
        self, claim_number: str, fields: Mapping[str, Any], *, dry_run: bool = False
    ) -> CorrectionResult:
        """Correct a claim with the fields that change; ``dry_run`` shows what would be sent."""
        return await self._calls.do(correction(claim_number, fields, dry_run=dry_run))

    async def console_link(self, user: str, claim_number: str | None = None) -> ConsoleLink:
        """Return a one-time address that signs a user of the vendor in to the console."""
        body = {"user": user, "claim_number": claim_number}
        return await self._calls.do(
            v1_calls.change("CreateConsoleLink", "console_links", ConsoleLink, body=body)
        )


@dataclass(frozen=True, slots=True)
class Payments:
    """The payments that the vendor has a part in."""

    _calls: CallRunner

    def find(self, **filters: object) -> Iterator[PaymentInfo]:
        """Yield payments, newest first; filters have the names of the API."""
        return self._calls.pages(find_payments(filters))

    def get(self, payment_id: str) -> PaymentInfo:
        """Return one payment; ``raw`` has its claims and adjustments."""
        return self._calls.do(
            v1_calls.one("GetPayment", f"payments/{segment(payment_id)}", PaymentInfo)
        )

    def claim_payments(self, payment_id: str) -> Iterator[ClaimPaymentInfo]:
        """Yield the vendor's claims in a payment."""
        return self._calls.pages(payment_claim_payments(payment_id))

    def x12(self, payment_id: str) -> str:
        """Return the 835 of a payment."""
        return self._calls.do(v1_calls.text("GetPaymentX12", f"payments/{segment(payment_id)}/x12"))

    def csv(self, payment_id: str) -> str:
        """Return the vendor's claims and lines in a payment as CSV."""
        return self._calls.do(v1_calls.text("GetPaymentCsv", f"payments/{segment(payment_id)}/csv"))


@dataclass(frozen=True, slots=True)
class AsyncPayments:
    """The payments that the vendor has a part in, for asyncio."""

    _calls: AsyncCallRunner

    def find(self, **filters: object) -> AsyncIterator[PaymentInfo]:
        """Yield payments, newest first; filters have the names of the API."""
        return self._calls.pages(find_payments(filters))

    async def get(self, payment_id: str) -> PaymentInfo:
        """Return one payment; ``raw`` has its claims and adjustments."""
        return await self._calls.do(
            v1_calls.one("GetPayment", f"payments/{segment(payment_id)}", PaymentInfo)
        )

    def claim_payments(self, payment_id: str) -> AsyncIterator[ClaimPaymentInfo]:
        """Yield the vendor's claims in a payment."""
        return self._calls.pages(payment_claim_payments(payment_id))

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


@dataclass(frozen=True, slots=True)
class PayerDirectory:
    """The payers that can be reached, and payer documents."""

    _calls: CallRunner

    def search(self, words: str | None = None, **filters: object) -> Iterator[PayerInfo]:
        """Yield payers by name, or the best matches of words first; typing mistakes are tolerated."""
        return self._calls.pages(find_payers(words, filters))

    def get(self, payer_id: str) -> tuple[PayerInfo, ...]:
        """Return a payer, for each type of claims that it takes."""
        return self._calls.do(payer_of(payer_id))

    def document(self, document_id: str) -> DocumentInfo:
        """Return what a payer answered about a claim."""
        path = f"documents/{segment(document_id)}"
        return self._calls.do(v1_calls.one("GetDocument", path, DocumentInfo))

    def document_x12(self, document_id: str) -> str:
        """Return the claim's part of the payer's file."""
        path = f"documents/{segment(document_id)}/x12"
        return self._calls.do(v1_calls.text("GetDocumentX12", path))


@dataclass(frozen=True, slots=True)
class AsyncPayerDirectory:
    """The payers that can be reached, and payer documents, for asyncio."""

    _calls: AsyncCallRunner

    def search(self, words: str | None = None, **filters: object) -> AsyncIterator[PayerInfo]:
        """Yield payers by name, or the best matches of words first; typing mistakes are tolerated."""
        return self._calls.pages(find_payers(words, filters))

    async def get(self, payer_id: str) -> tuple[PayerInfo, ...]:
        """Return a payer, for each type of claims that it takes."""
        return await self._calls.do(payer_of(payer_id))

    async def document(self, document_id: str) -> DocumentInfo:
        """Return what a payer answered about a claim."""
        path = f"documents/{segment(document_id)}"
        return await self._calls.do(v1_calls.one("GetDocument", path, DocumentInfo))

    async def document_x12(self, document_id: str) -> str:
        """Return the claim's part of the payer's file."""
        path = f"documents/{segment(document_id)}/x12"
        return await self._calls.do(v1_calls.text("GetDocumentX12", path))


@dataclass(frozen=True, slots=True)
class AuditedCalls:
    """What calls changed or read, by their ``X-Request-Id``."""

    _calls: CallRunner

    def get(self, request_id: str) -> tuple[AuditedCall, ...]:
        """Return what a call changed or read, newest first; an exception's ``request_id`` is such an id."""
        return self._calls.do(audited_call(request_id))


@dataclass(frozen=True, slots=True)
class AsyncAuditedCalls:
    """What calls changed or read, by their ``X-Request-Id``, for asyncio."""

    _calls: AsyncCallRunner

    async def get(self, request_id: str) -> tuple[AuditedCall, ...]:
        """Return what a call changed or read, newest first; an exception's ``request_id`` is such an id."""
        return await self._calls.do(audited_call(request_id))
