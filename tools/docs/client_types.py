"""Write the types of what the client library sends, from the catalogues: ``clearlane/client/input_types.py``.

The client imports nothing from the rest of the package, so its types are a file that ``make docs`` writes and a
test compares with the catalogues.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearlane.claims.fields import ClaimPart

TARGET = Path(__file__).parents[2] / "src" / "clearlane" / "client" / "input_types.py"

HEAD = '''"""The types of claims, inquiries and enrollments as they are sent, with the field names of V3.

An editor completes the names, a type checker finds a wrong one and a missing one; at run time each is a plain
dictionary. Written by ``make docs`` from the catalogues of fields; do not edit.
"""

from datetime import date
from decimal import Decimal
from typing import Literal, Required, TypeAlias, TypedDict

Amount: TypeAlias = Decimal | int | float | str
"""Money; a ``Decimal`` is written with every digit."""
Count: TypeAlias = int | str
Day: TypeAlias = date | str
"""A date, or its text ``yyyy-mm-dd``."""'''

# How the type of a claim's field is written; every other one is a text.
CLAIM_TYPES: Mapping[str, str] = {
    "date": "Day",
    "amount": "Amount",
    "count": "Count",
    "boolean": "bool",
    "adjustments": "Amount",
}
INQUIRY_TYPES: Mapping[str, str] = {
    "text": "str",
    "boolean": "bool",
    "date": "Day",
    "birth date": "Day",
    "texts": "list[str]",
}


def text() -> str:
    """Return the whole file."""
    return "\n".join([HEAD, *_claims(), *_inquiries(), *_enrollments()]) + "\n"


def _claims() -> Iterator[str]:
    from clearlane.claims.fields import fields_of, nested_parts
    from clearlane.claims.forms import FORMS

    for form in FORMS.values():
        # A type comes before the types that name it.
        parts = _parts(form.claim)
        for part in parts:
            inner = {name: each.__name__ for name, each in nested_parts(part).items()}
            yield from _class(part.__name__, part.__doc__)
            for name, field in fields_of(part).items():
                type = inner.get(name) or CLAIM_TYPES.get(field.value_type, "str")
                type = f"list[{type}]" if field.is_array else type
                box = f", {form.form_name} box {field.box}" if field.box else ""
                when = f" Required when {field.required_when}." if field.required_when else ""
                own = " Clearlane's own field, beside the interface's." if field.own else ""
                text = f"{field.label}{box}.{when}{own}"
                yield from _field(name, type, text, required=field.required)
        yield from _class(form.document.__name__, form.document.__doc__)
        yield from _field(
            "DocumentType",
            f'Literal["{form.document_type}"]',
            "Which claims they are.",
            required=True,
        )
        claims = f"list[{form.claim.__name__}]"
        yield from _field("Claims", claims, "The claims.", required=True)


def _parts(part: type["ClaimPart"]) -> list[type["ClaimPart"]]:
    """Return a part of the catalogue after the parts inside it, each once."""
    from clearlane.claims.fields import nested_parts

    inner = [one for each in nested_parts(part).values() for one in _parts(each)]
    return list(dict.fromkeys([*inner, part]))


def _inquiries() -> Iterator[str]:
    from clearlane.eligibility import fields
    from clearlane.eligibility.json_struct import eligibility_fields, nested_struct

    for struct in (
        fields.RequestedDays,
        fields.RequestedBenefit,
        fields.RequestTraceNumber,
        fields.RequestDependent,
        fields.RequestSubscriber,
        fields.RequestPayee,
        fields.RequestPayer,
        fields.BenefitInquiry,
        fields.EligibilityRequest,
    ):
        yield from _class(struct.__name__, struct.__doc__)
        for name, field in eligibility_fields(struct).items():
            if field.type in INQUIRY_TYPES:
                type = INQUIRY_TYPES[field.type]
            else:
                inner = nested_struct(struct, name).__name__
                type = f"list[{inner}]" if field.type == "objects" else inner
            when = f" Required if {field.required_when}." if field.required_when else ""
            yield from _field(name, type, f"{field.label}.{when}", required=field.required)


def _enrollments() -> Iterator[str]:
    from clearlane.enrollment.fields import FIELDS, TextFormat, TypeOfNpi

    yield from _class("Enrollment", "A billing provider, and whom to ask about it.")
    npi_types = ", ".join(f'"{each}"' for each in TypeOfNpi)
    for name, field in FIELDS.items():
        type = f"Literal[{npi_types}]" if field.format is TextFormat.NPI_TYPE else "str"
        when = f" Required when NpiType is {field.required_for}." if field.required_for else ""
        old = " Deprecated." if field.deprecated else ""
        yield from _field(name, type, f"{field.label}.{when}{old}", required=field.required)
    yield from _class("EnrollmentRequest", "Providers to be enrolled with payers.")
    yield from _field("Version", "Literal[1]", "The version of the request.", required=True)
    yield from _field("Enrollments", "list[Enrollment]", "The providers.", required=True)


def _class(name: str, docstring: str | None) -> Iterator[str]:
    yield ""
    yield ""
    yield f"class {name}(TypedDict, total=False):"
    yield f'    """{(docstring or name).strip().splitlines()[0]}"""'
    yield ""


def _field(name: str, type: str, label: str, *, required: bool) -> Iterator[str]:
    yield f"    {name}: {f'Required[{type}]' if required else f'{type} | None'}"
    yield f'    """{label}"""'


def main() -> None:
    TARGET.write_text(text(), encoding="utf-8")
    print(f"wrote {TARGET.name}")


if __name__ == "__main__":
    main()
