"""What is wrong with an enrollment, and what an operator is told of one that passed.

Every rule has an id and a sentence that says what would pass; no sentence holds a value. Knows the
fields, no JSON and no answer's form.
"""

import re
from collections.abc import Iterator, Mapping

from clearlane.enrollment.fields import NPI_TYPES, ROWS, Enrollment, Form, Row, TypeOfNpi
from clearlane.kernel import formats
from clearlane.kernel.finding import Finding, Severity, Stage

# Each id and what it stands for. The sentences are made where the field is known.
REQUIRED, REQUIRED_FOR_TYPE, NOT_TEXT = "ENR001", "ENR002", "ENR003"
WRONG_LENGTH, WRONG_FORM, PO_BOX = "ENR004", "ENR005", "ENR006"
NOT_UNIQUE, NOT_READABLE, NPI_CHECK_DIGIT = "ENR007", "ENR008", "ENR101"


def faults(values: Mapping[str, object], at: str) -> Iterator[Finding]:
    """Everything that is wrong with the fields of one request, in the order of the catalogue.

    ``values`` are as they came, without those that count as missing.
    """
    type = npi_type(values.get("NpiType"))
    for row in ROWS.values():
        value = values.get(row.name)
        if value is None:
            yield from _missing(row, type, at)
        elif row.form is Form.NPI_TYPE:
            if type is None:
                yield finding(WRONG_FORM, f"{at}.{row.name}", NPI_TYPE_WANTED)
        elif not isinstance(value, str):
            yield finding(NOT_TEXT, f"{at}.{row.name}", f"The {row.name} field must be a string.")
        else:
            yield from _wrong_text(value, row, at)


def npi_type(value: object) -> TypeOfNpi | None:
    """The type of NPI, from its name in any case or its number; None for anything else."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return NPI_TYPES.get(str(value).lower()) if is_number or isinstance(value, str) else None


def notes(enrollment: Enrollment) -> list[Finding]:
    """What is no fault of a request, but what an operator should see before he sends it on."""
    if formats.is_npi(enrollment.Npi):
        return []
    message = "The check digit of the NPI is wrong; ask the primary contact for the right number."
    return [finding(NPI_CHECK_DIGIT, "Npi", message, Severity.WARNING)]


def finding(rule: str, location: str, message: str, severity: Severity = Severity.ERROR) -> Finding:
    """A finding of this room."""
    return Finding(
        rule=rule, message=message, severity=severity, stage=Stage.SHAPE, location=location
    )


NPI_TYPE_WANTED = (
    "The NpiType field must be Unknown, Individual or Organization, or their number 0, 1 or 2."
)


def _missing(row: Row, type: TypeOfNpi | None, at: str) -> Iterator[Finding]:
    path = f"{at}.{row.name}"
    if row.required:
        yield finding(REQUIRED, path, f"The {row.name} field is required.")
    elif row.when is not None and row.when is type:
        message = f"The {row.name} field is required when NpiType is {type}."
        yield finding(REQUIRED_FOR_TYPE, path, message)


def _wrong_text(value: str, row: Row, at: str) -> Iterator[Finding]:
    path = f"{at}.{row.name}"
    fits = row.min <= len(value) and (row.max is None or len(value) <= row.max)
    if row.form in EXACT:
        if not fits or not re.fullmatch(EXACT[row.form], value):
            yield finding(WRONG_FORM, path, f"The {row.name} field must be {wanted(row)}.")
        return
    if not fits:
        yield finding(WRONG_LENGTH, path, f"The {row.name} field must be {wanted(row)}.")
    if row.form is Form.EMAIL and not _is_email(value):
        message = f"The {row.name} field must be a valid e-mail address, such as name@example.com."
        yield finding(WRONG_FORM, path, message)
    # "Box12" is as good a box as "Box 12".
    if row.form is Form.STREET and formats.is_po_box(_LETTER_AND_DIGIT.sub(" ", value)):
        message = f"The {row.name} field must name a street: a PO box is not accepted."
        yield finding(PO_BOX, path, message)


def wanted(row: Row) -> str:
    """What a text of this field must be, in words."""
    if row.form in EXACT:
        first = ", the first of them not 0 or 1" if row.form is Form.PHONE else ""
        return f"exactly {row.max} decimal digits{first}"
    if row.min == row.max:
        return f"exactly {row.max} characters"
    return f"{row.min} to {row.max} characters" if row.min else f"at most {row.max} characters"


# Forms that a pattern tells, and whose sentence tells the length, too.
EXACT: Mapping[Form, str] = {
    Form.DIGITS: "[0-9]*",
    Form.ZIP: "[0-9]*",
    Form.PHONE: "[2-9][0-9]*",
}

_LETTER_AND_DIGIT = re.compile(r"(?<=[A-Za-z])(?=[0-9])")

# Blanks, controls and what a mail program would read as something else. Letters of every alphabet may
# stand in an address (RFC 6531). The interface's own length is the only one that is held.
_NOT_IN_EMAIL = re.compile(r"[\s\x00-\x1f\x7f()<>\[\],;:\\\"]")


def _is_email(text: str) -> bool:
    """One name, one domain of at least two labels; no dot at the end of anything, none twice."""
    name, mark, domain = text.rpartition("@")
    if not mark or "@" in name or _NOT_IN_EMAIL.search(text):
        return False
    labels = domain.split(".")
    well_labelled = all(
        label and not label.startswith("-") and not label.endswith("-") for label in labels
    )
    return all(name.split(".")) and len(labels) >= 2 and well_labelled
