"""Responses of Vendor API V3 that several of its endpoints give: error bodies, claim results, payer lists.

Only ``api/v3`` imports this module (an architecture test holds it); the rest of the API takes V3's errors
as an :class:`~clearlane.api.frame.error_shape.ErrorShape`. Knows no endpoint, no check and no database.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from pydantic import ConfigDict, Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import JSON_UTF8, header_text, json_response
from clearlane.api.http.static_content import accepts_gzip
from clearlane.api.http.stream import stream_text
from clearlane.kernel.finding import Finding
from clearlane.payers.directory import PayerList
from clearlane.pipeline.intake.read import MalformedDocument, TooManyClaims
from clearlane.pipeline.intake.store import ClaimResult
from clearlane.pipeline.intake.submission_result import (
    SubmissionNotStored,
    SubmissionReceipt,
    SubmissionResult,
)

VALUE_SHOWN_CHARACTERS_MAX = 60
CLAIM_RESULTS_AT_ONCE = 100


INVALID = "The request is invalid."
NO_RESOURCE = "No HTTP resource was found that matches the request URI."
DOCUMENT = "Document"
"""The key in ``ModelState`` for the body as a whole."""


class PayerListItem(JsonModel):
    """An element of a payer list."""

    # The name in the OpenAPI document.
    __qualname__ = "Payer"
    model_config = ConfigDict(title="Payer")

    Type: Literal["Dental", "Medical"]
    Name: Annotated[str, Field(description="Display name.")]
    SvcPayerId: Annotated[
        str, Field(description="Legacy identifier; it will be phased out.", deprecated=True)
    ]
    PayerId: Annotated[str, Field(description="Preferred identifier.")]
    NationalPayerId: Annotated[str, Field(description="May be an empty string.")]
    EraAvailability: Literal["Available", "RequiresEnrollment", "NotAvailable"]
    OffersEligibility: bool
    ClaimEnrollmentRequired: bool


class Message(JsonModel):
    """An error in one sentence."""

    Message: str


class MessageDetail(Message):
    """An error in one sentence, and its detail."""

    MessageDetail: str


class ModelState(Message):
    """All errors of a document, by field."""

    ModelState: Annotated[
        dict[str, list[str]],
        Field(description="Sentences by field; `Document` is the body as a whole."),
    ]


class ClaimError(JsonModel):
    """An error of a claim, or of a document as a whole."""

    Type: Literal["Validation", "System"]
    Code: Literal["Validation", "InvalidSourceDocument"]
    Location: Annotated[str | None, Field(description="The field's path, as in `ModelState`.")]
    SupplementalInformation: Annotated[
        str, Field(description="What is wrong, what was found, and what would pass.")
    ]


class ClaimResultJson(JsonModel):
    """The result of one claim."""

    # The name in the OpenAPI document.
    __qualname__ = "ClaimResult"
    model_config = ConfigDict(title="ClaimResult")

    VendorClaimId: str
    Status: Literal["Accepted", "NotAccepted"]
    Errors: list[ClaimError]
    RequestId: Annotated[str, Field(description="Opaque; one per claim.")]


class ClaimSubmission(JsonModel):
    """The response to a document of claims."""

    ClaimResults: Annotated[
        list[ClaimResultJson],
        Field(description="One per claim, in order; empty on a document-level error."),
    ]
    DocumentLevelErrors: list[ClaimError]


async def submission_response(outcome: SubmissionResult) -> Response:
    """Return the response to a document of claims; that of a large one is streamed."""
    match outcome:
        case MalformedDocument():
            return findings_response(outcome.findings)
        case TooManyClaims(claims_max=most):
            return message(413, f"A document holds {most} claims at most.")
        case SubmissionNotStored():
            return no_result(
                "The claims could not be imported. Nothing was stored; send them again."
            )
        case SubmissionReceipt(results=results):
            if len(results) <= CLAIM_RESULTS_AT_ONCE:
                content = _RESULTS_BEGIN + _encode_results(results) + _RESULTS_END
                return Response(content, headers={"Content-Type": JSON_UTF8})
            return await stream_text(_claim_results(results), JSON_UTF8)


def account_in_bad_state(client_id: str) -> Response:
    """Return 200 with the document-level error of a suspended account."""
    error = {
        "Type": "System",
        "Code": "InvalidSourceDocument",
        "Location": "Document",
        "SupplementalInformation": f"Unknown client {client_id}: the client account is suspended.",
    }
    return json_response(200, {"ClaimResults": [], "DocumentLevelErrors": [error]})


async def _claim_results(results: Sequence[ClaimResult]) -> AsyncIterator[bytes]:
    """Give the results as JSON, a few claims at a time."""
    yield _RESULTS_BEGIN
    for start in range(0, len(results), CLAIM_RESULTS_AT_ONCE):
        page = results[start : start + CLAIM_RESULTS_AT_ONCE]
        yield (b"," if start else b"") + _encode_results(page)
        await asyncio.sleep(0)
    yield _RESULTS_END


_RESULTS_BEGIN, _RESULTS_END = b'{"ClaimResults":[', b'],"DocumentLevelErrors":[]}'


def _encode_results(results: Iterable[ClaimResult]) -> bytes:
    return msgspec.json.encode([_claim_result(each) for each in results])[1:-1]


def _claim_result(result: ClaimResult) -> dict[str, object]:
    return {
        "VendorClaimId": result.vendor_claim_id,
        "Status": "Accepted" if result.accepted else "NotAccepted",
        "Errors": [
            {
                "Type": "Validation",
                "Code": "Validation",
                "Location": finding.location,
                "SupplementalInformation": finding.message,
            }
            for finding in result.findings
        ],
        "RequestId": result.claim_number,
    }


def message(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error of one sentence."""
    return json_response(status, {"Message": text}, headers)


def message_detail(status: int, text: str, detail: str) -> Response:
    """Return an error of one sentence and its detail."""
    return json_response(status, {"Message": text, "MessageDetail": detail})


def model_state(faults: Mapping[str, Sequence[str]]) -> Response:
    """Return 400 with all errors of a document by field."""
    return json_response(400, {"Message": INVALID, "ModelState": faults})


def findings_response(findings: Iterable[Finding]) -> Response:
    """Return 400 with the findings of a document by field."""
    faults: dict[str, list[str]] = {}
    for finding in findings:
        faults.setdefault(finding.location, []).append(finding.message)
    return model_state(faults)


def no_action(controller: str) -> Response:
    """Return 404 for a call without the parameter that selects the action."""
    detail = f"No action was found on the controller '{controller}' that matches the request."
    return message_detail(404, NO_RESOURCE, detail)


def bad_parameter(name: str, value: str, wanted: str) -> Response:
    """Return 400 for a parameter whose value cannot be used."""
    return message_detail(
        400, INVALID, f"The value '{shortened(value)}' of the parameter '{name}' is not {wanted}."
    )


def null_entry(name: str, type: str, method: str) -> Response:
    """Return 400 for a required parameter without a readable value, in the words of ASP.NET."""
    detail = (
        f"The parameters dictionary contains a null entry for parameter '{name}' of non-nullable "
        f"type '{type}' for method '{method}'."
    )
    return message_detail(400, INVALID, detail)


async def refuse_suspended(call: Call) -> Response:
    """Return 400 for a suspended account."""
    return message(400, "The client account is suspended.")


def no_result(text: str) -> Response:
    """Return 204 with the reason in a header, because HTTP forbids a body here."""
    return Response(status_code=204, headers={"X-Message": header_text(text)})


def payer_list(listing: PayerList, accept_encoding: str) -> Response:
    """Return a payer list from memory, compressed if the caller accepts that."""
    if accepts_gzip(accept_encoding):
        headers = {"Content-Encoding": "gzip", "Content-Type": JSON_UTF8, "Vary": "Accept-Encoding"}
        return Response(listing.gzipped, 200, headers)
    return Response(listing.body, 200, {"Content-Type": JSON_UTF8, "Vary": "Accept-Encoding"})


def shortened(value: str) -> str:
    """Return a refused value cut to a length that may be quoted."""
    most = VALUE_SHOWN_CHARACTERS_MAX
    return value if len(value) <= most else value[:most] + "..."
