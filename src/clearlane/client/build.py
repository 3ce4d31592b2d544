"""Request bodies from plain dictionaries or typed objects.

Anything that holds the document's field names will do: a dictionary, a dataclass, a msgspec Struct, a
pydantic model, or an object with attributes of those names. Days become ``yyyy-mm-dd``, ``Decimal`` a
number with every digit.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec

from clearlane.client.benefits import AskedPatient, EligibilityRequest

Claim: TypeAlias = Any
"""A dictionary, or any object with the document's field names."""
ENROLLMENT_VERSION = 1


class Kind(StrEnum):
    """The two kinds of claims, as the payer lists name them."""

    MEDICAL = "medical"
    DENTAL = "dental"


DOCUMENT_TYPES = {Kind.MEDICAL: "MedicalClaim", Kind.DENTAL: "DentalClaim"}


def encoded(value: Any) -> bytes:
    """The JSON of a request body."""
    return _encoder.encode(value)


def claim_document(kind: Kind | str, claims: Claim | Iterable[Claim]) -> dict[str, Any]:
    """A submission document from one claim or several; a document already made is taken as it is."""
    if isinstance(claims, Mapping) and "Claims" in claims:
        return {"DocumentType": DOCUMENT_TYPES[Kind(kind)], **claims}
    return {"DocumentType": DOCUMENT_TYPES[Kind(kind)], "Claims": _several(claims)}


def document_kind(document: Mapping[str, Any]) -> Kind:
    """Which of the two calls takes a document."""
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
    dependents: Iterable[AskedPatient] = (),
    payer_name: str = "",
    test: bool = False,
) -> EligibilityRequest:
    """A request about one subscriber; ``dependents`` are dictionaries with the document's names."""
    subscriber: AskedPatient = {
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
    asked = list(benefits)
    if asked:
        subscriber["RequestedBenefits"] = [{"IsFamilyBenefit": False, "Type": asked}]
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
    """A request from one enrollment or several; a request already made is taken as it is."""
    if isinstance(enrollments, Mapping) and "Enrollments" in enrollments:
        return {"Version": ENROLLMENT_VERSION, **enrollments}
    return {"Version": ENROLLMENT_VERSION, "Enrollments": _several(enrollments)}


def _several(given: Any) -> list[Any]:
    """One thing or many, as a list. A dictionary and a typed object are one."""
    if isinstance(given, list | tuple):
        return list(given)
    if isinstance(given, Iterable) and not isinstance(given, Mapping | str | bytes):
        return [given] if hasattr(given, "model_dump") else list(given)
    return [given]


def _plain(value: Any) -> Any:
    """What the encoder does not know by itself: models and objects with attributes."""
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "__dict__"):
        return {name: held for name, held in vars(value).items() if not name.startswith("_")}
    raise TypeError(
        f"A {type(value).__name__} cannot be sent: give a dictionary or a typed object."
    )


_encoder = msgspec.json.Encoder(enc_hook=_plain, decimal_format="number")
