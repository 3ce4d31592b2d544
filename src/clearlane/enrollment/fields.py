"""The field catalogue of an enrollment, one entry per field.

The attribute is the name on the wire; its entry gives the label, the lengths, the format of the text and when it
is required. Decoding, rules, the stored form, the export and the OpenAPI schema are derived from these entries.
Knows no message of a rule and no JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from clearlane.kernel.redacted_repr import redact_repr


class TypeOfNpi(StrEnum):
    """The kind of provider that an NPI identifies."""

    UNKNOWN = "Unknown"
    INDIVIDUAL = "Individual"
    ORGANIZATION = "Organization"


# Callers send the name in any case, or its number: its position in the enumeration.
NPI_TYPES: Mapping[str, TypeOfNpi] = MappingProxyType(
    {str(number): type for number, type in enumerate(TypeOfNpi)}
    | {type.lower(): type for type in TypeOfNpi}
)


class TextFormat(StrEnum):
    """The format that a text must have, beside its length."""

    TEXT = "text"
    DIGITS = "digits"
    PHONE = "phone"
    ZIP = "zip"
    EMAIL = "email"
    STREET = "street"
    NPI_TYPE = "npi type"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrollmentField:
    """One field of the catalogue."""

    name: str
    label: str
    min_length: int
    max_length: int | None
    format: TextFormat
    required: bool
    required_for: TypeOfNpi | None
    """The field is required for NPIs of this type only."""
    deprecated: bool


def required(
    label: str,
    min: int = 1,
    max: int | None = None,
    format: TextFormat = TextFormat.TEXT,
    **more: Any,
) -> Any:
    """Declare a field that must be present."""
    return _declare(label, min, max, format, required=True, **more)


def optional(
    label: str,
    min: int = 0,
    max: int | None = None,
    format: TextFormat = TextFormat.TEXT,
    **more: Any,
) -> Any:
    """Declare a field that may be absent; ``required_for`` names the type of NPI that requires it."""
    return _declare(label, min, max, format, required=False, **more)


def _declare(
    label: str,
    min: int,
    max: int | None,
    format: TextFormat,
    *,
    required: bool,
    required_for: TypeOfNpi | None = None,
    deprecated: bool = False,
) -> Any:
    metadata = {
        "label": label, "min_length": min, "max_length": max, "format": format,
        "required": required, "required_for": required_for, "deprecated": deprecated,
    }  # fmt: skip
    return field(metadata=metadata) if required else field(default=None, metadata=metadata)


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class Enrollment:
    """One element of ``Enrollments``: a billing provider and its contacts."""

    RequestId: str = required("Caller's id of the request")
    SiteId: str | None = optional("Site", deprecated=True)
    Npi: str = required("NPI", 10, 10, TextFormat.DIGITS)
    NpiType: TypeOfNpi = required("Type of NPI", format=TextFormat.NPI_TYPE)  # noqa: RUF009 (a field declaration)
    Tin: str = required("Tax id", 9, 9, TextFormat.DIGITS)
    PracticeName: str | None = optional("Practice", 1, 60, required_for=TypeOfNpi.ORGANIZATION)
    DbaName: str | None = optional("Doing business as", max=60)
    ProviderTitle: str | None = optional("Provider's title", max=60)
    ProviderLastName: str | None = optional(
        "Provider's last name", 1, 60, required_for=TypeOfNpi.INDIVIDUAL
    )
    ProviderFirstName: str | None = optional(
        "Provider's first name", 1, 35, required_for=TypeOfNpi.INDIVIDUAL
    )
    ProviderMiddleName: str | None = optional("Provider's middle name", max=25)
    Address1: str = required("Street", 1, 55, TextFormat.STREET)
    Address2: str | None = optional("Second address line", max=55, format=TextFormat.STREET)
    City: str = required("City", 2, 30)
    State: str = required("State", 2, 2)
    Zip: str = required("ZIP code", 5, 5, TextFormat.ZIP)
    ZipExtension: str | None = optional("ZIP code extension", 4, 4)
    PreviousClearingHouse: str | None = optional("Previous clearinghouse", max=250)
    EnrollmentContactLastName: str | None = optional("Enrollment contact's last name", max=60)
    EnrollmentContactFirstName: str | None = optional("Enrollment contact's first name", max=35)
    EnrollmentContactMiddleName: str | None = optional("Enrollment contact's middle name", max=25)
    EnrollmentContactEmail: str | None = optional("Enrollment contact's e-mail", max=256)
    EnrollmentContactPhoneNumber: str | None = optional("Enrollment contact's phone", max=10)
    PrimaryContactLastName: str = required("Primary contact's last name", 1, 60)
    PrimaryContactFirstName: str = required("Primary contact's first name", 1, 35)
    PrimaryContactMiddleName: str | None = optional("Primary contact's middle name", max=25)
    PrimaryContactEmail: str = required("Primary contact's e-mail", 1, 256, TextFormat.EMAIL)
    PrimaryContactPhoneNumber: str = required("Primary contact's phone", 10, 10, TextFormat.PHONE)


FIELDS: Mapping[str, EnrollmentField] = MappingProxyType(
    {entry.name: EnrollmentField(name=entry.name, **entry.metadata) for entry in fields(Enrollment)}
)
