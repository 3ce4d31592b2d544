"""The rules for enrollment fields, and the warnings that an operator sees on a valid enrollment.

Every finding has a rule id and a message that says what would pass; no message holds a value. Knows the fields;
knows no JSON and no response format.
"""

import re
from collections.abc import Iterator, Mapping

from clearlane.enrollment.fields import (
    FIELDS,
    NPI_TYPES,
    Enrollment,
    EnrollmentField,
    TextFormat,
    TypeOfNpi,
)
from clearlane.kernel import formats
from clearlane.kernel.finding import Finding, Severity, make_shape_finding
from clearlane.kernel.rule_registry import FindingType, RuleRegistry

RULES: RuleRegistry[FindingType] = RuleRegistry(
    FindingType,
    [
        FindingType("ENR001", Severity.ERROR, "A required field is given."),
        FindingType("ENR002", Severity.ERROR, "A field that the type of NPI calls for is given."),
        FindingType("ENR003", Severity.ERROR, "A text is a JSON string."),
        FindingType("ENR004", Severity.ERROR, "A text has a length that its field allows."),
        FindingType("ENR005", Severity.ERROR, "A value has the form of its field."),
        FindingType("ENR006", Severity.ERROR, "An address names a street, not a PO box."),
        FindingType("ENR007", Severity.ERROR, "A RequestId is used once in a request."),
        FindingType("ENR008", Severity.ERROR, "The document can be read as enrollments."),
        FindingType("ENR101", Severity.WARNING, "The NPI has a right check digit."),
    ],
)
"""What can be wrong with an enrollment. The messages are built where the field is known."""
(REQUIRED, REQUIRED_FOR_TYPE, NOT_TEXT, WRONG_LENGTH, WRONG_FORM, PO_BOX,
 NOT_UNIQUE, NOT_READABLE, NPI_CHECK_DIGIT) = RULES  # fmt: skip


def check_fields(values: Mapping[str, object], at: str) -> Iterator[Finding]:
    """Yield every finding about the fields of one enrollment, in the order of the catalogue.

    ``values`` are the fields as sent, without those that count as missing; ``at`` is the enrollment's path.
    """
    type = parse_npi_type(values.get("NpiType"))
    for spec in FIELDS.values():
        value = values.get(spec.name)
        if value is None:
            yield from _check_missing(spec, type, at)
        elif spec.format is TextFormat.NPI_TYPE:
            if type is None:
                yield make_finding(WRONG_FORM, f"{at}.{spec.name}", NPI_TYPE_MESSAGE)
        elif not isinstance(value, str):
            yield make_finding(
                NOT_TEXT, f"{at}.{spec.name}", f"The {spec.name} field must be a string."
            )
        else:
            yield from _check_text(value, spec, at)


def parse_npi_type(value: object) -> TypeOfNpi | None:
    """Return the type of NPI for its name in any case or its number; None for anything else."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return NPI_TYPES.get(str(value).lower()) if is_number or isinstance(value, str) else None


def operator_notes(enrollment: Enrollment) -> list[Finding]:
    """Return warnings that an operator should see before submitting the enrollment to payers."""
    if formats.is_npi(enrollment.Npi):
        return []
    message = "The check digit of the NPI is wrong; ask the primary contact for the right number."
    return [make_finding(NPI_CHECK_DIGIT, "Npi", message)]


def make_finding(rule: str, location: str, message: str) -> Finding:
    """Return a finding about an enrollment."""
    return make_shape_finding(rule, location, message, RULES[rule].severity)


NPI_TYPE_MESSAGE = (
    "The NpiType field must be Unknown, Individual or Organization, or their number 0, 1 or 2."
)


def _check_missing(spec: EnrollmentField, type: TypeOfNpi | None, at: str) -> Iterator[Finding]:
    path = f"{at}.{spec.name}"
    if spec.required:
        yield make_finding(REQUIRED, path, f"The {spec.name} field is required.")
    elif spec.required_for is not None and spec.required_for is type:
        message = f"The {spec.name} field is required when NpiType is {type}."
        yield make_finding(REQUIRED_FOR_TYPE, path, message)


def _check_text(value: str, spec: EnrollmentField, at: str) -> Iterator[Finding]:
    path = f"{at}.{spec.name}"
    fits = spec.min_length <= len(value) and (
        spec.max_length is None or len(value) <= spec.max_length
    )
    if spec.format in EXACT_PATTERNS:
        if not fits or not re.fullmatch(EXACT_PATTERNS[spec.format], value):
            yield make_finding(
                WRONG_FORM, path, f"The {spec.name} field must be {describe_format(spec)}."
            )
        return
    if not fits:
        yield make_finding(
            WRONG_LENGTH, path, f"The {spec.name} field must be {describe_format(spec)}."
        )
    if spec.format is TextFormat.EMAIL and not _is_email(value):
        message = f"The {spec.name} field must be a valid e-mail address, such as name@example.com."
        yield make_finding(WRONG_FORM, path, message)
    # "Box12" means the same as "Box 12".
    if spec.format is TextFormat.STREET and formats.is_po_box(_LETTER_AND_DIGIT.sub(" ", value)):
        message = f"The {spec.name} field must name a street: a PO box is not accepted."
        yield make_finding(PO_BOX, path, message)


def describe_format(spec: EnrollmentField) -> str:
    """Return in words what a text of this field must be."""
    if spec.format in EXACT_PATTERNS:
        first = ", the first of them not 0 or 1" if spec.format is TextFormat.PHONE else ""
        return f"exactly {spec.max_length} decimal digits{first}"
    if spec.min_length == spec.max_length:
        return f"exactly {spec.max_length} characters"
    return (
        f"{spec.min_length} to {spec.max_length} characters"
        if spec.min_length
        else f"at most {spec.max_length} characters"
    )


# Formats that one pattern checks, and whose message gives the length as well.
EXACT_PATTERNS: Mapping[TextFormat, str] = {
    TextFormat.DIGITS: "[0-9]*",
    TextFormat.ZIP: "[0-9]*",
    TextFormat.PHONE: "[2-9][0-9]*",
}

_LETTER_AND_DIGIT = re.compile(r"(?<=[A-Za-z])(?=[0-9])")

# Blanks, control characters and delimiters of mail headers. Letters of every alphabet are allowed
# (RFC 6531). Only the length limit of Vendor API V3 is checked, not those of the RFC.
_NOT_IN_EMAIL = re.compile(r"[\s\x00-\x1f\x7f()<>\[\],;:\\\"]")


def _is_email(text: str) -> bool:
    """Return whether a text is one name and a domain of at least two labels, with no empty part between dots."""
    name, at_sign, domain = text.rpartition("@")
    if not at_sign or "@" in name or _NOT_IN_EMAIL.search(text):
        return False
    labels = domain.split(".")
    well_labelled = all(
        label and not label.startswith("-") and not label.endswith("-") for label in labels
    )
    return all(name.split(".")) and len(labels) >= 2 and well_labelled
