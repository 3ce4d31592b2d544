"""Build request bodies from dictionaries or typed objects.

Any object with the field names of V3 will do: a dictionary, a dataclass, a msgspec Struct, a pydantic model
or a plain object. A date is written as ``yyyy-mm-dd``, a ``Decimal`` as a number with every digit.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec

from clearlane.client import limits
from clearlane.client.input_types import EligibilityRequest, RequestDependent, RequestSubscriber

Claim: TypeAlias = Any
"""A dictionary, or any object with the field names of V3."""
ENROLLMENT_VERSION = 1


class ClaimKind(StrEnum):
    """The kinds of claims. V3 has the first two; institutional claims go by Clearlane's own API."""

    MEDICAL = "medical"
    DENTAL = "dental"
    INSTITUTIONAL = "institutional"


DOCUMENT_TYPES = {
    ClaimKind.MEDICAL: "MedicalClaim",
    ClaimKind.DENTAL: "DentalClaim",
    ClaimKind.INSTITUTIONAL: "InstitutionalClaim",
}
PAYER_TYPES = {
    ClaimKind.MEDICAL: "medical",
    ClaimKind.DENTAL: "dental",
    ClaimKind.INSTITUTIONAL: "medical",
}
"""The types of the payers that take claims of each kind, as the payer lists name them."""


def encode_json(value: Any) -> bytes:
    """Return a request body as JSON."""
    return _encoder.encode(value)


def claim_document(kind: ClaimKind | str, claims: Claim | Iterable[Claim]) -> dict[str, Any]:
    """Return a submission document from one claim, several, or a whole document."""
    if isinstance(claims, Mapping) and "Claims" in claims:
        return {"DocumentType": DOCUMENT_TYPES[ClaimKind(kind)], **claims}
    return {"DocumentType": DOCUMENT_TYPES[ClaimKind(kind)], "Claims": _as_list(claims)}


def split_claims(
    claims: Iterable[Claim], claims_max: int = limits.CLAIMS_PER_DOCUMENT
) -> Iterator[list[msgspec.Raw]]:
    """Yield the claims, encoded, in lists that each fit in a document; reads no further than the next list."""
    if claims_max < 1:
        raise ValueError("A document holds one claim at least.")
    part: list[msgspec.Raw] = []
    size = 0
    for claim in [claims] if isinstance(claims, Mapping) else claims:
        encoded = msgspec.Raw(encode_json(claim))
        length = memoryview(encoded).nbytes
        if part and (len(part) >= claims_max or size + length > limits.DOCUMENT_BYTES_MAX):
            yield part
            part, size = [], 0
        part.append(encoded)
        size += length
    if part:
        yield part


def document_kind(document: Mapping[str, Any]) -> ClaimKind:
    """Return the kind of claims in a document, by its ``DocumentType``."""
    for kind, name in DOCUMENT_TYPES.items():
        if document.get("DocumentType") == name:
            return kind
    raise ValueError(f"DocumentType must be {' or '.join(DOCUMENT_TYPES.values())}.")


def eligibility_request(
    *,
    payer_id: str,
    npi: str,
    provider: str,
    member_id: str,
    last_name: str,
    first_name: str,
    birth_date: date | str,
    gender: str = "",
    trace: str = "",
    benefits: Iterable[str] = (),
    dependents: Iterable[RequestDependent] = (),
    payer_name: str = "",
    test: bool = False,
) -> EligibilityRequest:
    """Return a request about one subscriber; ``dependents`` are dictionaries with the field names of V3."""
    subscriber: RequestSubscriber = {
        "CommonName": last_name,
        "FirstName": first_name,
        "BirthDate": birth_date.isoformat() if isinstance(birth_date, date) else birth_date,
        "MemberId": member_id,
        "Dependents": list(dependents) or None,
    }
    if gender:
        subscriber["Gender"] = gender
    if trace:
        subscriber["PayeeTraceNumber"] = {"Number": trace}
    types = list(benefits)
    if types:
        subscriber["RequestedBenefits"] = [{"IsFamilyBenefit": False, "Type": types}]
    return {
        "IsTest": test,
        "BenefitInquiries": [
            {
                "RequestType": "Request",
                "Payers": [
                    {
                        "Type": "Payer",
                        "PayerId": payer_id,
                        "CommonName": payer_name or payer_id,
                        "EntityType": "Organization",
                        "Payees": [
                            {
                                "Type": "Facility",
                                "EntityType": "Organization",
                                "CommonName": provider,
                                "NationalProviderId": npi,
                                "Subscribers": [subscriber],
                            }
                        ],
                    }
                ],
            }
        ],
    }


def enrollment_request(enrollments: Any) -> dict[str, Any]:
    """Return a request from one enrollment, several, or a whole request."""
    if isinstance(enrollments, Mapping) and "Enrollments" in enrollments:
        return {"Version": ENROLLMENT_VERSION, **enrollments}
    return {"Version": ENROLLMENT_VERSION, "Enrollments": _as_list(enrollments)}


def _as_list(given: Any) -> list[Any]:
    """Return one item or several as a list. A dictionary and a typed object are one item."""
    if isinstance(given, list | tuple):
        return list(given)
    if isinstance(given, Iterable) and not isinstance(given, Mapping | str | bytes):
        return [given] if hasattr(given, "model_dump") else list(given)
    return [given]


def _to_builtin(value: Any) -> Any:
    """Convert what msgspec cannot encode by itself: pydantic models and plain objects."""
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "__dict__"):
        return {name: item for name, item in vars(value).items() if not name.startswith("_")}
    raise TypeError(
        f"A {type(value).__name__} cannot be sent: give a dictionary or a typed object."
    )


_encoder = msgspec.json.Encoder(enc_hook=_to_builtin, decimal_format="number")
