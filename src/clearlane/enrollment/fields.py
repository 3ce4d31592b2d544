"""The fields of an enrollment, one line a field.

The attribute is the name on the wire; the line says the label, the lengths, the form of the text and
when it is required. Decoding, rules, the stored form, the export and the OpenAPI schema are derived
from these lines. Knows no rule's sentence and no JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from clearlane.kernel.redacted_repr import discreet


class TypeOfNpi(StrEnum):
    """Whose number an NPI is."""

    UNKNOWN = "Unknown"
    INDIVIDUAL = "Individual"
    ORGANIZATION = "Organization"


# The number of each name is its place: callers send either.
NPI_TYPES: Mapping[str, TypeOfNpi] = MappingProxyType(
    {str(number): type for number, type in enumerate(TypeOfNpi)}
    | {type.lower(): type for type in TypeOfNpi}
)


class Form(StrEnum):
    """What a text must look like, beside its length."""

    TEXT = "text"
    DIGITS = "digits"
    PHONE = "phone"
    ZIP = "zip"
    EMAIL = "email"
    STREET = "street"
    NPI_TYPE = "npi type"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the catalogue."""

    name: str
    label: str
    min: int
    max: int | None
    form: Form
    required: bool
    when: TypeOfNpi | None
    """The field is required for NPIs of this type only."""
    deprecated: bool


def must(
    label: str, min: int = 1, max: int | None = None, form: Form = Form.TEXT, **more: Any
) -> Any:
    """A field that every enrollment has."""
    return _line(label, min, max, form, required=True, **more)


def may(
    label: str, min: int = 0, max: int | None = None, form: Form = Form.TEXT, **more: Any
) -> Any:
    """A field that may be left out; ``when`` names the type of NPI for which it may not."""
    return _line(label, min, max, form, required=False, **more)


def _line(
    label: str,
    min: int,
    max: int | None,
    form: Form,
    *,
    required: bool,
    when: TypeOfNpi | None = None,
    deprecated: bool = False,
) -> Any:
    told = {
        "label": label, "min": min, "max": max, "form": form,
        "required": required, "when": when, "deprecated": deprecated,
    }  # fmt: skip
    return field(metadata=told) if required else field(default=None, metadata=told)


@discreet
@dataclass(frozen=True, slots=True, kw_only=True)
class Enrollment:
    """One request of the array: a billing provider, and whom to ask about it."""

    RequestId: str = must("Caller's id of the request")
    SiteId: str | None = may("Site", deprecated=True)
    Npi: str = must("NPI", 10, 10, Form.DIGITS)
    NpiType: TypeOfNpi = must("Type of NPI", form=Form.NPI_TYPE)  # noqa: RUF009 (a field's line)
    Tin: str = must("Tax id", 9, 9, Form.DIGITS)
    PracticeName: str | None = may("Practice", 1, 60, when=TypeOfNpi.ORGANIZATION)
    DbaName: str | None = may("Doing business as", max=60)
    ProviderTitle: str | None = may("Provider's title", max=60)
    ProviderLastName: str | None = may("Provider's last name", 1, 60, when=TypeOfNpi.INDIVIDUAL)
    ProviderFirstName: str | None = may("Provider's first name", 1, 35, when=TypeOfNpi.INDIVIDUAL)
    ProviderMiddleName: str | None = may("Provider's middle name", max=25)
    Address1: str = must("Street", 1, 55, Form.STREET)
    Address2: str | None = may("Second address line", max=55, form=Form.STREET)
    City: str = must("City", 2, 30)
    State: str = must("State", 2, 2)
    Zip: str = must("ZIP code", 5, 5, Form.ZIP)
    ZipExtension: str | None = may("ZIP code extension", 4, 4)
    PreviousClearingHouse: str | None = may("Previous clearinghouse", max=250)
    EnrollmentContactLastName: str | None = may("Enrollment contact's last name", max=60)
    EnrollmentContactFirstName: str | None = may("Enrollment contact's first name", max=35)
    EnrollmentContactMiddleName: str | None = may("Enrollment contact's middle name", max=25)
    EnrollmentContactEmail: str | None = may("Enrollment contact's e-mail", max=256)
    EnrollmentContactPhoneNumber: str | None = may("Enrollment contact's phone", max=10)
    PrimaryContactLastName: str = must("Primary contact's last name", 1, 60)
    PrimaryContactFirstName: str = must("Primary contact's first name", 1, 35)
    PrimaryContactMiddleName: str | None = may("Primary contact's middle name", max=25)
    PrimaryContactEmail: str = must("Primary contact's e-mail", 1, 256, Form.EMAIL)
    PrimaryContactPhoneNumber: str = must("Primary contact's phone", 10, 10, Form.PHONE)


ROWS: Mapping[str, Row] = MappingProxyType(
    {line.name: Row(name=line.name, **line.metadata) for line in fields(Enrollment)}
)
