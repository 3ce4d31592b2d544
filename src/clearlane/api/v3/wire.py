"""The shapes of V3 on the wire: envelopes, errors, headers. Nothing else in the house knows them.

Knows no route, no check and no database: values in, answers out.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Literal
from urllib.parse import quote

import msgspec
from pydantic import BaseModel, Field
from starlette.responses import Response

from clearlane.kernel import limits
from clearlane.kernel.finding import Finding
from clearlane.payers.directory import Listing
from clearlane.pipeline.intake.submit import (
    Answered,
    Malformed,
    NotImported,
    Outcome,
    Submitted,
    TooMany,
)

JSON = "application/json"
TEXT = "text/plain"

INVALID = "The request is invalid."
NO_RESOURCE = "No HTTP resource was found that matches the request URI."
FAULT = "An error has occurred."
DOCUMENT = "Document"
REALM = "Invalid or unknown credentials or vendor not authorized"


class Payer(BaseModel):
    """An element of a payer list."""

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


class Message(BaseModel):
    """What went wrong, in a sentence."""

    Message: str


class MessageDetail(Message):
    """What went wrong, and with what."""

    MessageDetail: str


class ModelState(Message):
    """What went wrong, field by field."""

    ModelState: Annotated[
        dict[str, list[str]],
        Field(description="Sentences by field; `Document` stands for the body as a whole."),
    ]


class ClaimError(BaseModel):
    """What stands against a claim, or against a document as a whole."""

    Type: Literal["Validation", "System"]
    Code: Literal["Validation", "InvalidSourceDocument"]
    Location: Annotated[str | None, Field(description="The field's path, as in `ModelState`.")]
    SupplementalInformation: Annotated[
        str, Field(description="What is wrong, what was found, and what would pass.")
    ]


class ClaimResult(BaseModel):
    """What became of one claim."""

    VendorClaimId: str
    Status: Literal["Accepted", "NotAccepted"]
    Errors: list[ClaimError]
    RequestId: Annotated[str, Field(description="Opaque; one per claim.")]


class ClaimSubmission(BaseModel):
    """The answer to a document of claims."""

    ClaimResults: Annotated[
        list[ClaimResult],
        Field(description="One per claim, in order; empty on a document-level error."),
    ]
    DocumentLevelErrors: list[ClaimError]


def submission(outcome: Outcome) -> Response:
    """The answer to a document of claims, whatever became of it."""
    match outcome:
        case Malformed():
            return findings(outcome.findings)
        case TooMany(claims_max=most):
            return message(413, f"A document holds {most} claims at most.")
        case NotImported():
            return no_result(
                "The claims could not be imported. Nothing was stored; send them again."
            )
        case Submitted(answers=answers):
            results = [_claim_result(each) for each in answers]
            return answer(200, {"ClaimResults": results, "DocumentLevelErrors": []})


def account_in_bad_state(client_id: str) -> Response:
    """200: the document as a whole is refused, because the account is suspended."""
    error = {
        "Type": "System",
        "Code": "InvalidSourceDocument",
        "Location": "Document",
        "SupplementalInformation": f"Unknown client {client_id}: the client account is suspended.",
    }
    return answer(200, {"ClaimResults": [], "DocumentLevelErrors": [error]})


def _claim_result(told: Answered) -> dict[str, object]:
    return {
        "VendorClaimId": told.vendor_claim_id,
        "Status": "Accepted" if told.accepted else "NotAccepted",
        "Errors": [
            {
                "Type": "Validation",
                "Code": "Validation",
                "Location": finding.location,
                "SupplementalInformation": finding.message,
            }
            for finding in told.findings
        ],
        "RequestId": told.request_id,
    }


def message(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """The plain error: one sentence."""
    return answer(status, {"Message": text}, headers)


def message_detail(status: int, text: str, detail: str) -> Response:
    """The error of a parameter: a sentence and its detail."""
    return answer(status, {"Message": text, "MessageDetail": detail})


def model_state(faults: Mapping[str, Sequence[str]]) -> Response:
    """400: every fault of a document at once, by field."""
    return answer(400, {"Message": INVALID, "ModelState": faults})


def findings(found: Iterable[Finding]) -> Response:
    """400: what was found in a document, by field."""
    faults: dict[str, list[str]] = {}
    for finding in found:
        faults.setdefault(finding.location, []).append(finding.message)
    return model_state(faults)


def bad_document(sentence: str) -> Response:
    """400: the body as a whole cannot be read."""
    return model_state({DOCUMENT: [sentence]})


def https_required() -> Response:
    return message(403, "HTTPS is required.")


def no_resource() -> Response:
    """404: an unknown path, or no ``vendorSiteId``."""
    return message(404, NO_RESOURCE)


def no_action(controller: str) -> Response:
    """404: a call without the parameter that chooses the action."""
    detail = f"No action was found on the controller '{controller}' that matches the request."
    return message_detail(404, NO_RESOURCE, detail)


def bad_parameter(name: str, value: str, wanted: str) -> Response:
    """400: a parameter whose value cannot be used."""
    return message_detail(
        400, INVALID, f"The value '{shown(value)}' of the parameter '{name}' is not {wanted}."
    )


def null_entry(name: str, type: str, method: str) -> Response:
    """400: a parameter that must have a value has none that can be read."""
    detail = (
        f"The parameters dictionary contains a null entry for parameter '{name}' of non-nullable "
        f"type '{type}' for method '{method}'."
    )
    return message_detail(400, INVALID, detail)


def wrong_verb(verb: str, allowed: str) -> Response:
    text = f"The requested resource does not support http method '{verb}'."
    return message(405, text, {"Allow": allowed})


def bad_credentials(status: int) -> Response:
    """401 with its challenge, or the 404 of the proxy login family with the same text."""
    challenge = {"WWW-Authenticate": f'Basic realm="{REALM}"'} if status == 401 else {}
    text = "101: Invalid or unknown vendor credentials or vendor not authorized."
    return plain(status, text, challenge)


def baa_missing() -> Response:
    return plain(401, "201: The client has not accepted the Business Associate Agreement.")


def bad_site() -> Response:
    return message(400, "Invalid VendorSiteId")


def suspended() -> Response:
    return message(400, "The client account is suspended.")


def too_large(bytes_max: int) -> Response:
    return message(413, f"The request body is larger than {bytes_max} bytes.")


def wrong_media_type() -> Response:
    return message(415, "The Content-Type of a request with a body is application/json in UTF-8.")


def too_slow() -> Response:
    return message(408, "The request was not received in time.", {"Connection": "close"})


def too_many_calls(rate_per_minute: int, retry_seconds: int) -> Response:
    text = f"The limit of {rate_per_minute} calls a minute is exceeded."
    return message(429, text, {"Retry-After": str(retry_seconds)})


def unavailable(text: str = "The service cannot answer this call at the moment.") -> Response:
    """503: a part does not answer. Nothing was stored; the same call may be sent again."""
    return message(503, text, {"Retry-After": str(limits.RETRY_SECONDS)})


def no_result(text: str) -> Response:
    """204: the claims could not be imported. HTTP forbids a body here, so a header carries it."""
    return Response(status_code=204, headers={"X-Message": header_text(text)})


def fault() -> Response:
    """500: our fault. The caller learns the request id and nothing else."""
    return message(500, FAULT)


def answer(status: int, value: object, headers: Mapping[str, str] | None = None) -> Response:
    """A value as JSON."""
    content = msgspec.json.encode(value)
    return Response(content, status, {"Content-Type": JSON, **(headers or {})})


def plain(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """A text that clients read up to its first colon."""
    return Response(text.encode(), status, {"Content-Type": TEXT, **(headers or {})})


def payer_list(listing: Listing, accept_encoding: str) -> Response:
    """A list that stands ready in memory, compressed where the caller can read that."""
    if accepts_gzip(accept_encoding):
        headers = {"Content-Encoding": "gzip", "Content-Type": JSON, "Vary": "Accept-Encoding"}
        return Response(listing.gzipped, 200, headers)
    return Response(listing.body, 200, {"Content-Type": JSON, "Vary": "Accept-Encoding"})


def ignored_fields(paths: Iterable[str]) -> str:
    """The value of ``X-Ignored-Fields``: the first paths, made safe for a header."""
    first = list(dict.fromkeys(paths))[: limits.IGNORED_FIELDS_SHOWN_MAX]
    return ", ".join(_header_path(path) for path in first)


def header_text(text: str) -> str:
    """A text that cannot break out of its header line."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)


def shown(value: str) -> str:
    """A refused value, short enough to be quoted back."""
    most = limits.VALUE_SHOWN_CHARACTERS_MAX
    return value if len(value) <= most else value[:most] + "..."


@lru_cache(maxsize=256)
def accepts_gzip(accept_encoding: str) -> bool:
    """Whether gzip is acceptable and not less welcome than plain (RFC 9110, 12.5.3)."""
    weights = dict(_weights(accept_encoding))
    gzip = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0)))
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


def _weights(accept_encoding: str) -> Iterable[tuple[str, float]]:
    for element in accept_encoding.lower().split(","):
        coding, *parameters = (part.strip() for part in element.split(";"))
        weight = next((p[2:].strip() for p in parameters if p.startswith("q=")), "1")
        try:
            yield coding, float(weight)
        except ValueError:
            yield coding, 0.0


def _header_path(path: str) -> str:
    short = path[: limits.IGNORED_FIELD_CHARACTERS_MAX]
    return quote(short, safe="!#$&'()*+./:;<=>?@[]^_`{|}~-", errors="replace")
