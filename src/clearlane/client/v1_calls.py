"""The calls of Clearlane's own API as values: path, query, body, and how the answer is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import uuid4

from clearlane.client import build, limits, models, v1_models
from clearlane.client.calls import V1, Call, RetryRule

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """One page of a list."""

    items: list[T] = field(repr=False)
    next: str | None


ListCall = Callable[[str | None], Call[ListPage[T]]]
"""Returns the call for the page after a cursor; None for the first."""


def query_of(filters: Mapping[str, object]) -> dict[str, str]:
    """Return filters as a query: those that are None are left out, true and false are words, several values have commas between them."""
    return {name: _query_text(value) for name, value in filters.items() if value is not None}


def _query_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(map(str, value))
    return str(value)


def page(name: str, path: str, model: type[T], filters: Mapping[str, object]) -> ListCall[T]:
    """Return the calls for the pages of a list."""

    def call(after: str | None) -> Call[ListPage[T]]:
        return Call(
            name=name,
            path=path,
            read=lambda value: _page(model, value),
            query=query_of({**filters, "after": after}),
            verb="GET",
            version=V1,
        )

    return call


def one(name: str, path: str, model: type[T], query: Mapping[str, str] | None = None) -> Call[T]:
    """Return the call for one object."""
    return Call(
        name=name,
        path=path,
        read=lambda value: models.read(model, value),
        query=query or {},
        verb="GET",
        version=V1,
    )


def report(
    name: str, report: str, by: str | None, filters: Mapping[str, object]
) -> Call[v1_models.ReportInfo]:
    """Return the call for a report. A filter whose name is a word of Python ends in an underscore: ``from_``."""
    given = {name.rstrip("_"): value for name, value in filters.items()}
    return one(name, f"reports/{report}", v1_models.ReportInfo, query_of({**given, "by": by}))


def few(name: str, path: str, model: type[T]) -> Call[tuple[T, ...]]:
    """Return the call for a list that is one page."""
    return Call(
        name=name,
        path=path,
        read=lambda value: tuple(_page(model, value).items),
        query={},
        verb="GET",
        version=V1,
    )


def text(name: str, path: str) -> Call[str]:
    """Return the call for a text, such as an 837."""
    return Call(name=name, path=path, read=str, query={}, verb="GET", version=V1, reads_text=True)


def change(
    name: str,
    path: str,
    model: type[T],
    *,
    body: object = None,
    query: Mapping[str, str] | None = None,
    key: str | None = None,
) -> Call[T]:
    """Return a call that changes something. Its key lets it be repeated: it is done once."""
    return Call(
        name=name,
        path=path,
        read=lambda value: models.read(model, value),
        query=query or {},
        body=b"" if body is None else build.encode_json(body),
        version=V1,
        idempotency_key=key or str(uuid4()),
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
    )


def removal(name: str, path: str, model: type[T]) -> Call[T]:
    """Return a call that removes something."""
    return Call(
        name=name,
        path=path,
        read=lambda value: models.read(model, value),
        query={},
        verb="DELETE",
        version=V1,
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
    )


def claim_verb(number: str, verb: str) -> Call[v1_models.ClaimInfo]:
    """Return the call of hold, release or cancel."""
    name = f"{verb.capitalize()}Claim"
    return change(name, f"claims/{segment(number)}/{verb}", v1_models.ClaimInfo)


def correction(
    number: str, fields: Mapping[str, Any], *, dry_run: bool
) -> Call[v1_models.CorrectionResult]:
    """Return the call of a correction."""
    return change(
        "CorrectClaim",
        f"claims/{segment(number)}/correct",
        v1_models.CorrectionResult,
        body={"fields": dict(fields)},
        query={"dry_run": "true"} if dry_run else {},
    )


def resending(
    number: str, verb: str, reason: str, *, dry_run: bool
) -> Call[v1_models.CorrectionResult]:
    """Return the call of a void, or of a claim that is sent again as it is."""
    return change(
        f"{verb.capitalize()}Claim",
        f"claims/{segment(number)}/{verb}",
        v1_models.CorrectionResult,
        body={"reason": reason},
        query={"dry_run": "true"} if dry_run else {},
    )


def next_payer(
    number: str, insurance: Mapping[str, Any], *, dry_run: bool
) -> Call[v1_models.SecondaryInfo]:
    """Return the call that bills the next payer."""
    return change(
        "BillNextPayer",
        f"claims/{segment(number)}/secondary",
        v1_models.SecondaryInfo,
        body=dict(insurance),
        query={"dry_run": "true"} if dry_run else {},
    )


def anyway(number: str, user: str, reason: str) -> Call[v1_models.CorrectionResult]:
    """Return the call that sends a claim in spite of a rule."""
    return change(
        "SendClaimAnyway",
        f"claims/{segment(number)}/send_anyway",
        v1_models.CorrectionResult,
        body={"user": user, "reason": reason},
    )


def deposit(
    payment_id: str, day: date, amount: Decimal | None, reference: str
) -> Call[v1_models.PaymentInfo]:
    """Return the call that records a deposit."""
    return change(
        "DepositPayment",
        f"payments/{segment(payment_id)}/deposit",
        v1_models.PaymentInfo,
        body={
            "day": day.isoformat(),
            "amount": None if amount is None else str(amount),
            "reference": reference,
        },
    )


def claim_question(number: str) -> Call[v1_models.ClaimInquiry]:
    """Return the call that asks the payer about a claim. It is sent again only if no payer can have been asked."""
    return Call(
        name="InquireClaim",
        path=f"claims/{segment(number)}/inquire",
        read=lambda value: models.read(v1_models.ClaimInquiry, value),
        query={},
        version=V1,
        timeout_seconds=limits.ELIGIBILITY_SECONDS_MAX,
        retry_rule=RetryRule.IF_NOT_PROCESSED,
    )


def claim_submission(
    document: Mapping[str, Any], site: str | None, key: str | None
) -> Call[v1_models.SubmissionInfo]:
    """Return the call that submits a document of claims. Its key lets it be repeated: it is stored once."""
    return Call(
        name="PostClaims",
        path="claims",
        read=lambda value: models.read(v1_models.SubmissionInfo, value),
        query=query_of({"site": site}),
        body=build.encode_json(document),
        version=V1,
        idempotency_key=key or str(uuid4()),
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
    )


def validation(document: Mapping[str, Any], site: str | None) -> Call[v1_models.ValidationResult]:
    """Return the call that validates a document."""
    return Call(
        name="ValidateClaims",
        path="claims/validate",
        read=lambda value: models.read(v1_models.ValidationResult, value),
        query=query_of({"site": site}),
        body=build.encode_json(document),
        version=V1,
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
    )


def file_upload(
    content: bytes,
    *,
    name: str | None,
    site: str | None,
    channel: str | None,
    shadow: bool,
    key: str | None,
) -> Call[v1_models.FileInfo]:
    """Return the call that sends a file. Its key lets it be repeated: it is stored once."""
    return Call(
        name="SendFile",
        path="files",
        read=lambda value: models.read(v1_models.FileInfo, value),
        query=query_of({"name": name, "site": site, "channel": channel, "shadow": shadow or None}),
        body=content,
        version=V1,
        idempotency_key=key or str(uuid4()),
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
        content_type="application/octet-stream",
    )


def file_content(file_id: str) -> Call[bytes]:
    """Return the call for the bytes of a file."""
    return _content("GetFileContent", f"files/{segment(file_id)}/content")


def claim_proof(number: str) -> Call[bytes]:
    """Return the call for the proof that a claim was filed."""
    return _content("GetClaimProof", f"claims/{segment(number)}/proof")


def claim_evidence(number: str) -> Call[bytes]:
    """Return the call for the evidence of such a proof."""
    return _content("GetClaimProofEvidence", f"claims/{segment(number)}/proof/evidence")


def claim_form_pdf(number: str, sheet: str) -> Call[bytes]:
    """Return the call for a claim on paper."""
    path = f"claims/{segment(number)}/form.pdf"
    return _content("GetClaimFormPdf", path, query_of({"sheet": sheet}))


def _content(name: str, path: str, query: Mapping[str, str] | None = None) -> Call[bytes]:
    return Call(
        name=name,
        path=path,
        # The text of a body has a character for each byte.
        read=lambda text: str(text).encode("latin-1"),
        query=query or {},
        verb="GET",
        version=V1,
        timeout_seconds=limits.CLAIMS_SECONDS_MAX,
        reads_text=True,
    )


def inquiry(content: str | bytes, site: str | None) -> Call[str]:
    """Return the call of a 270 or 276. It is sent again only if no payer can have been asked."""
    return Call(
        name="AnswerX12",
        path="x12",
        read=str,
        query=query_of({"site": site}),
        body=content.encode() if isinstance(content, str) else content,
        version=V1,
        reads_text=True,
        retry_rule=RetryRule.IF_NOT_PROCESSED,
    )


def insurance_question(
    question: Mapping[str, Any], site: str | None
) -> Call[v1_models.InsuranceAnswer]:
    """Return the call of a question about insurance. It is sent again only if no payer can have been asked."""
    return Call(
        name="AskEligibility",
        path="eligibility",
        read=lambda value: models.read(v1_models.InsuranceAnswer, value),
        query=query_of({"site": site or None}),
        body=build.encode_json(question),
        version=V1,
        timeout_seconds=limits.ELIGIBILITY_SECONDS_MAX,
        retry_rule=RetryRule.IF_NOT_PROCESSED,
    )


def segment(value: str) -> str:
    """Return a value as one segment of a path."""
    if not value:
        raise ValueError("An id must be given.")
    return quote(value, safe="")


def _page(model: type[T], value: Any) -> ListPage[T]:
    if not isinstance(value, Mapping):
        raise TypeError(f"an object was expected, not {type(value).__name__}")
    following = value.get("next")
    return ListPage(
        models.read_list(model)(value.get("data")), None if following is None else str(following)
    )
