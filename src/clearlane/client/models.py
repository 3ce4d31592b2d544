"""The typed responses of the service, under the field names of V3.

Reading is tolerant: a field that is missing or of another type gets its default, and ``raw`` has the object
as it came, with fields unknown here. Amounts are ``Decimal``, dates are ``date``; V3's date for none
(0001-01-01) is None.
"""

# ruff: noqa: RUF009  (fields are declared by function calls)

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from clearlane.client import limits
from clearlane.client.benefits import BenefitResponse, Patient

T = TypeVar("T")
NO_DAY = date.min


# --- field types ----------------------------------------------------------------------------------


def _field(read: Callable[[Any], Any], default: Any, *, shown: bool = True) -> Any:
    return field(default=default, repr=shown, metadata={"read": read})


def text(*, shown: bool = True) -> Any:
    """Declare a text, empty if absent; ``shown=False`` keeps secrets and patient data out of the repr."""
    return _field(lambda value: "" if value is None else str(value), "", shown=shown)


def optional_text() -> Any:
    """Declare a text or None."""
    return _field(str, None)


def number() -> Any:
    """Declare a whole number."""
    return _field(lambda value: int(_read_number(value)), 0)


def flag() -> Any:
    """Declare a boolean."""
    return _field(lambda value: str(value).lower() == "true", False)


def amount() -> Any:
    """Declare an amount of money."""
    return _field(_read_number, Decimal(0))


def optional_amount() -> Any:
    """Declare an amount of money or None."""
    return _field(_read_number, None)


def day() -> Any:
    """Declare a date or None; a time after it is ignored."""
    return _field(_read_day, None)


def optional_object() -> Any:
    """Declare a plain object or None."""
    return _field(dict, None)


def objects(*, shown: bool = False) -> Any:
    """Declare a list of plain objects."""
    return _field(tuple, (), shown=shown)


def list_of(cls: type[Any]) -> Any:
    """Declare a list of another model."""
    return _field(lambda value: tuple(read(cls, item) for item in value), ())


def _raw() -> Any:
    return field(default_factory=dict, repr=False, compare=False)


def _read_number(value: Any) -> Decimal:
    """Return a number of limited size: 1e99999999 would take all memory to write out."""
    found = Decimal(str(value))
    if not found.is_finite() or found.adjusted() >= limits.NUMBER_DIGITS_MAX:
        raise ValueError("not a number that can be used")
    return found


def _read_day(value: Any) -> date | None:
    found = date.fromisoformat(str(value)[:10])
    return None if found == NO_DAY else found


# --- models ---------------------------------------------------------------------------------------

JSON = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """An element of a payer list."""

    Type: str = text()
    Name: str = text()
    SvcPayerId: str = text()
    PayerId: str = text()
    NationalPayerId: str = text()
    EraAvailability: str = text()
    OffersEligibility: bool = flag()
    ClaimEnrollmentRequired: bool = flag()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimError:
    """An error of a claim, or of a document as a whole."""

    Type: str = text()
    Code: str = text()
    Location: str | None = optional_text()
    SupplementalInformation: str = text(shown=False)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult:
    """The result of one claim."""

    VendorClaimId: str = text()
    Status: str = text()
    Errors: tuple[ClaimError, ...] = list_of(ClaimError)
    RequestId: str = text()
    raw: JSON = _raw()

    @property
    def accepted(self) -> bool:
        """Whether the service accepted this claim."""
        return self.Status == "Accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSubmission:
    """The response to a document of claims."""

    ClaimResults: tuple[ClaimResult, ...] = list_of(ClaimResult)
    DocumentLevelErrors: tuple[ClaimError, ...] = list_of(ClaimError)
    raw: JSON = _raw()
    ignored_fields: tuple[str, ...] = ()
    """Fields unknown to the service (``X-Ignored-Fields``), mostly typing mistakes."""
    notes: tuple[str, ...] = ()
    """What the service did with the claims (``X-Notes``): how a correction goes out, and why; what accepted claims are warned of."""

    @property
    def accepted(self) -> bool:
        """Whether the service accepted every claim."""
        results = self.ClaimResults
        return (
            bool(results)
            and not self.DocumentLevelErrors
            and all(each.accepted for each in results)
        )


def read_v1_submission(value: Any) -> ClaimSubmission:
    """Return the answer of V1 to a document of claims as V3 would give it; warnings are notes."""
    claims = value["claims"]
    as_v3 = {
        "ClaimResults": [
            {
                "VendorClaimId": claim["vendor_claim_id"],
                "Status": "Accepted" if claim["accepted"] else "NotAccepted",
                "Errors": [
                    {
                        "Type": "Validation",
                        "Code": "Validation",
                        "Location": f"Claims[{at}].{one['field']}",
                        "SupplementalInformation": one["message"],
                    }
                    for one in claim["problems"]
                ],
                "RequestId": claim["claim_number"],
            }
            for at, claim in enumerate(claims)
        ],
        "DocumentLevelErrors": [],
    }
    noted = [f"Claims[{at}]: {claim['note']}" for at, claim in enumerate(claims) if claim["note"]]
    warned = [
        f"Claims[{at}].{one['field']} (warning): {one['message']}"
        for at, claim in enumerate(claims)
        for one in claim["warnings"]
    ]
    return replace(read(ClaimSubmission, as_v3), notes=(*noted, *warned))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimStatus:
    """The current status of a claim."""

    VendorId: int = number()
    VendorSiteId: str = text()
    ClaimNumber: str = text()
    CurrentState: str = text()
    StateChangeDate: date | None = day()
    PayerAction: str = text()
    PayerActionDate: date | None = day()
    PayerControlNumber: str = text()
    CreateDate: date | None = day()
    LastUpdateDate: date | None = day()
    RelatedDocumentType: str = text()
    RelatedDocumentId: str = text()
    TotalClaimAmount: Decimal = amount()
    PayerAmount: Decimal = amount()
    Adjustments: Decimal = amount()
    PatientAmount: Decimal = amount()
    PayerName: str | None = optional_text()
    PaymentMethod: str | None = optional_text()
    PaymentReferenceNumber: str = text()
    PaymentEffectiveDate: date | None = day()
    VendorClaimId: str = text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerDocuments:
    """Payer documents, by the ids of status records. V3 does not define the shape of the items.

    Every call brings the whole chain of a claim's remittances, in order: book each ``DocumentId`` once.
    """

    RemittanceAdvices: tuple[dict[str, Any], ...] = objects()
    PayerClaimStatuses: tuple[dict[str, Any], ...] = objects()
    raw: Any = _raw()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over all documents of all kinds."""
        if isinstance(self.raw, list):
            yield from _inner({"Documents": self.raw}, "Documents")
            return
        for name in self.raw:
            yield from _inner(self.raw, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class EligibilityAnswer:
    """The responses to one eligibility request so far."""

    RequestId: int = number()
    Status: str = text()
    Responses: tuple[BenefitResponse, ...] = objects()
    ValidationResults: tuple[dict[str, Any], ...] = objects()
    ErrorResponses: tuple[dict[str, Any], ...] = objects()
    InterchangeStatuses: tuple[dict[str, Any], ...] = objects()
    raw: JSON = _raw()

    @property
    def waiting(self) -> bool:
        """Whether responses are still to come."""
        return self.Status == "ResultsIncomplete"

    def patients(self) -> Iterator[Patient]:
        """Yield every subscriber and dependent in the responses."""
        found: list[dict[str, Any]] = [dict(self.raw)]
        for path in ("Responses", "Payers", "Payees", "Subscribers"):
            found = [inner for each in found for inner in _inner(each, path)]
        for subscriber in found:
            yield cast("Patient", subscriber)
            yield from cast("list[Patient]", _inner(subscriber, "Dependents"))


ALREADY_EXISTS = "Provider already exists."


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrollmentResult:
    """The result of one enrollment."""

    RequestId: str = text()
    ClientId: str = text()
    LastName: str | None = optional_text()
    FirstName: str | None = optional_text()
    LineNumber: int = number()
    Message: str | None = optional_text()
    Exception: str | None = optional_text()
    raw: JSON = _raw()

    @property
    def already_exists(self) -> bool:
        """Whether this provider was submitted before, which is not a failure."""
        return not self.Exception and "already exists" in (self.Message or "").lower()

    @property
    def submitted(self) -> bool:
        """Whether the service has this enrollment, submitted now or earlier."""
        return self.already_exists or not (self.Message or self.Exception)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrollmentAnswer:
    """The results of an enrollment request."""

    EnrollmentResults: tuple[EnrollmentResult, ...] = list_of(EnrollmentResult)
    raw: JSON = _raw()

    @property
    def submitted(self) -> bool:
        """Whether the service has every enrollment; False for an answer without results."""
        results = self.EnrollmentResults
        return bool(results) and all(result.submitted for result in results)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceToken:
    """The token of an instance; it is highly sensitive and does not print."""

    token: str = text(shown=False)
    resultCode: int = number()
    errorMessage: str = text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginUrl:
    """A URL that works once and for a short time; it does not print."""

    resultCode: int = number()
    errorMessage: str = text()
    url: str = text(shown=False)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenDeletion:
    """The result of deleting a token."""

    resultCode: int = number()
    deleted: bool = flag()
    errorMessage: str = text()
    raw: JSON = _raw()


# --- reading --------------------------------------------------------------------------------------


def read(cls: type[T], value: Any) -> T:
    """Return a model from a JSON object."""
    if not isinstance(value, Mapping):
        raise TypeError(f"an object was expected, not {type(value).__name__}")
    known = {}
    for name, reader in _readers(cast("Any", cls)):
        if value.get(name) is not None:
            try:
                known[name] = reader(value[name])
            except (ValueError, TypeError, ArithmeticError):
                continue  # keep the default; raw has what came
    answer: T = cast("Any", cls)(**known, raw=value)
    return answer


def read_list(cls: type[T]) -> Callable[[Any], list[T]]:
    """Return a reader of a JSON array of a model."""

    def reader(value: Any) -> list[T]:
        if not isinstance(value, list):
            raise TypeError(f"an array was expected, not {type(value).__name__}")
        return [read(cls, item) for item in value]

    return reader


def read_documents(value: Any) -> PayerDocuments:
    """Return payer documents, also from a service that responds with a bare list."""
    return PayerDocuments(raw=value) if isinstance(value, list) else read(PayerDocuments, value)


def parse(body: bytes) -> Any:
    """Decode JSON with exact numbers. Some services write a byte order mark before it."""
    return _decoder.decode(body.removeprefix(BOM_UTF8))


def _inner(value: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects in a field that is a list; empty if it is none."""
    items = value.get(name)
    return [each for each in items if isinstance(each, dict)] if isinstance(items, list) else []


@cache
def _readers(cls: type[Any]) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    return tuple((f.name, f.metadata["read"]) for f in fields(cls) if "read" in f.metadata)


_decoder = msgspec.json.Decoder(float_hook=Decimal)
