"""What the service answers, typed, under the document's field names.

Reading is patient: a field that is missing or of another shape gets its default, a field nobody knows is
kept, and ``raw`` holds the object exactly as it came. Amounts are ``Decimal``, days are ``date``, and the
day that stands for none (0001-01-01) is None.
"""

# ruff: noqa: RUF009  (the rows of the tables are calls)

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from clearlane.client import limits
from clearlane.client.benefits import BenefitResponse, Patient

T = TypeVar("T")
NO_DAY = date.min


# --- kinds of fields ------------------------------------------------------------------------------


def _kind(read: Callable[[Any], Any], default: Any, *, shown: bool = True) -> Any:
    return field(default=default, repr=shown, metadata={"read": read})


def text(*, shown: bool = True) -> Any:
    """A text; the empty one where there is none. Secrets and patient data are not shown."""
    return _kind(lambda value: "" if value is None else str(value), "", shown=shown)


def maybe_text() -> Any:
    """A text or None."""
    return _kind(str, None)


def number() -> Any:
    """A whole number."""
    return _kind(lambda value: int(_read_number(value)), 0)


def flag() -> Any:
    """Yes or no."""
    return _kind(lambda value: str(value).lower() == "true", False)


def amount() -> Any:
    """Money."""
    return _kind(_read_number, Decimal(0))


def day() -> Any:
    """A day or None; a time after it is not looked at."""
    return _kind(_read_day, None)


def objects(*, shown: bool = False) -> Any:
    """A list as it came."""
    return _kind(tuple, (), shown=shown)


def many(cls: type[Any]) -> Any:
    """A list of another answer."""
    return _kind(lambda value: tuple(read(cls, item) for item in value), ())


def _raw() -> Any:
    return field(default_factory=dict, repr=False, compare=False)


def _read_number(value: Any) -> Decimal:
    """A number of a size that somebody can mean: 1e99999999 would take all memory to write out."""
    found = Decimal(str(value))
    if not found.is_finite() or found.adjusted() >= limits.NUMBER_DIGITS_MAX:
        raise ValueError("not a number that can be used")
    return found


def _read_day(value: Any) -> date | None:
    found = date.fromisoformat(str(value)[:10])
    return None if found == NO_DAY else found


# --- the answers ----------------------------------------------------------------------------------

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
    """What stands against a claim, or against a document as a whole."""

    Type: str = text()
    Code: str = text()
    Location: str | None = maybe_text()
    SupplementalInformation: str = text(shown=False)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult:
    """What became of one claim."""

    VendorClaimId: str = text()
    Status: str = text()
    Errors: tuple[ClaimError, ...] = many(ClaimError)
    RequestId: str = text()
    raw: JSON = _raw()

    @property
    def accepted(self) -> bool:
        """Whether the service keeps this claim."""
        return self.Status == "Accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSubmission:
    """The answer to a document of claims."""

    ClaimResults: tuple[ClaimResult, ...] = many(ClaimResult)
    DocumentLevelErrors: tuple[ClaimError, ...] = many(ClaimError)
    raw: JSON = _raw()
    ignored_fields: tuple[str, ...] = ()
    """Fields that the service did not know (``X-Ignored-Fields``): typing mistakes, mostly."""

    @property
    def accepted(self) -> bool:
        """Whether the service keeps every claim."""
        results = self.ClaimResults
        return (
            bool(results) and not self.DocumentLevelErrors and all(one.accepted for one in results)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimStatus:
    """Where a claim stands now."""

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
    PayerName: str | None = maybe_text()
    PaymentMethod: str | None = maybe_text()
    PaymentReferenceNumber: str = text()
    PaymentEffectiveDate: date | None = day()
    VendorClaimId: str = text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerDocuments:
    """What payers wrote, by the ids of status records. The interface shows no shape of the items."""

    RemittanceAdvices: tuple[dict[str, Any], ...] = objects()
    PayerClaimStatuses: tuple[dict[str, Any], ...] = objects()
    raw: Any = _raw()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Every document, whatever its kind and whatever list it came in."""
        if isinstance(self.raw, list):
            yield from _inner({"Documents": self.raw}, "Documents")
            return
        for name in self.raw:
            yield from _inner(self.raw, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class EligibilityAnswer:
    """What is known so far about the patients of one request."""

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
        """Every subscriber and dependent that has been answered about."""
        found: list[dict[str, Any]] = [dict(self.raw)]
        for path in ("Responses", "Payers", "Payees", "Subscribers"):
            found = [inner for each in found for inner in _inner(each, path)]
        for subscriber in found:
            yield cast("Patient", subscriber)
            yield from cast("list[Patient]", _inner(subscriber, "Dependents"))


ALREADY_EXISTS = "Provider already exists."


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrollmentResult:
    """What became of one enrollment request."""

    RequestId: str = text()
    ClientId: str = text()
    LastName: str | None = maybe_text()
    FirstName: str | None = maybe_text()
    LineNumber: int = number()
    Message: str | None = maybe_text()
    Exception: str | None = maybe_text()
    raw: JSON = _raw()

    @property
    def already_exists(self) -> bool:
        """Whether this provider was submitted before, which is no failure."""
        return not self.Exception and "already exists" in (self.Message or "").lower()

    @property
    def submitted(self) -> bool:
        """Whether the request is with the service, now or since before."""
        return self.already_exists or not (self.Message or self.Exception)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrollmentAnswer:
    """What became of each request."""

    EnrollmentResults: tuple[EnrollmentResult, ...] = many(EnrollmentResult)
    raw: JSON = _raw()

    @property
    def submitted(self) -> bool:
        """Whether every request is with the service. An answer without results tells of none."""
        results = self.EnrollmentResults
        return bool(results) and all(result.submitted for result in results)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceToken:
    """The token of an installation; it is highly sensitive and does not print."""

    token: str = text(shown=False)
    resultCode: int = number()
    errorMessage: str = text()
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginUrl:
    """An address that works once and soon; it does not print."""

    resultCode: int = number()
    errorMessage: str = text()
    url: str = text(shown=False)
    raw: JSON = _raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """Whether a token was there to delete."""

    resultCode: int = number()
    deleted: bool = flag()
    errorMessage: str = text()
    raw: JSON = _raw()


# --- reading and showing --------------------------------------------------------------------------


def read(cls: type[T], value: Any) -> T:
    """An answer of a type from the object that came."""
    if not isinstance(value, Mapping):
        raise TypeError(f"an object was expected, not {type(value).__name__}")
    known = {}
    for name, reader in _readers(cast("Any", cls)):
        if value.get(name) is not None:
            try:
                known[name] = reader(value[name])
            except (ValueError, TypeError, ArithmeticError):
                continue  # the default stands, and raw has what came
    answer: T = cast("Any", cls)(**known, raw=value)
    return answer


def read_list(cls: type[T]) -> Callable[[Any], list[T]]:
    """A reader of a JSON array."""

    def reader(value: Any) -> list[T]:
        if not isinstance(value, list):
            raise TypeError(f"an array was expected, not {type(value).__name__}")
        return [read(cls, item) for item in value]

    return reader


def read_documents(value: Any) -> PayerDocuments:
    """Payer documents, also from a service that answers with a bare list."""
    return PayerDocuments(raw=value) if isinstance(value, list) else read(PayerDocuments, value)


def parse(body: bytes) -> Any:
    """JSON with exact numbers. Some services write a mark of the byte order before it."""
    return _decoder.decode(body.removeprefix(BOM_UTF8))


def _inner(value: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects in a field that is a list of them; nothing where it is not."""
    held = value.get(name)
    return [each for each in held if isinstance(each, dict)] if isinstance(held, list) else []


@cache
def _readers(cls: type[Any]) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    return tuple((f.name, f.metadata["read"]) for f in fields(cls) if "read" in f.metadata)


_decoder = msgspec.json.Decoder(float_hook=Decimal)
