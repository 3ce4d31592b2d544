"""The fields of a payer in files and lists: the table of wire names, and how values are read.

Values of every file format are read here. Knows no file format and no other payer: ``merge`` checks what two
payers may not share.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.payers.edits import (
    FILING_DAYS_MAX,
    NO_ATTACHMENTS,
    PATTERN_WANTED,
    PAYER_EDITS,
    TRANSMISSIONS,
    member_id_pattern,
)
from clearlane.payers.model import (
    ERAS,
    INQUIRY_ENROLLMENTS,
    PAYER_TYPES,
    PROGRAMS,
    REPLACEMENTS,
    Payer,
)

PAYER_ID_CHARACTERS_MAX = 80
PAYER_NAME_CHARACTERS_MAX = 120
PAYER_ALIASES_MAX = 20
PAYER_VALUE_SHOWN_CHARACTERS_MAX = 40

ALIAS_SEPARATOR = "|"


class InvalidPayerValueError(ValueError):
    """A value that cannot be used. The text states what would pass."""


@dataclass(frozen=True, slots=True)
class PayerField:
    """A field of a payer: its wire name, its attribute, its reader, and whether it is required."""

    wire_name: str
    attribute: str
    read: Callable[[object], object]
    required: bool = True


def unknown_field_findings(columns: Collection[str]) -> Iterator[Finding]:
    """Yield a finding for each column or key that is not a field of a payer."""
    for name in columns:
        if name.casefold() not in FIELDS_BY_NAME:
            known = ", ".join(field.wire_name for field in PAYER_FIELDS)
            yield make_shape_finding(
                "PAY003", printable(name), f"There is no such field. The fields are {known}."
            )


def read_payer(
    values: Mapping[str, object], absent: Collection[str] = ()
) -> tuple[Payer | None, list[Finding]]:
    """Read a payer from its values by wire name; return it, or every finding.

    ``absent`` names columns that the whole file lacks: they are reported once, not in every row.
    """
    found: dict[str, object] = {}
    findings: list[Finding] = []
    for field in PAYER_FIELDS:
        value = values.get(field.wire_name)
        if _blank(value):
            if field.required and field.wire_name not in absent:
                findings.append(
                    make_shape_finding("PAY001", field.wire_name, "The field is required.")
                )
            continue
        try:
            found[field.attribute] = field.read(value)
        except InvalidPayerValueError as wanted:
            findings.append(
                make_shape_finding(
                    "PAY002", field.wire_name, f"{_quoted(value)} cannot be used: give {wanted}."
                )
            )
    if findings or absent:
        return None, findings
    found.setdefault("svc_payer_id", found["payer_id"])
    return Payer(**found), findings  # type: ignore[arg-type]  # each reader returns its field's type


def printable(text: str) -> str:
    """Return a text from a file, shortened and without control characters, for a message."""
    short = text[:PAYER_VALUE_SHOWN_CHARACTERS_MAX]
    more = "..." if len(text) > len(short) else ""
    return "".join(c if c.isprintable() else "?" for c in short) + more


def _quoted(value: object) -> str:
    return f"'{printable(value)}'" if isinstance(value, str) else f"A JSON {_kind(value)}"


def _kind(value: object) -> str:
    kinds = {bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}
    return kinds.get(type(value), "value")


def _blank(value: object) -> bool:
    return value is None or value in ([], ()) or (isinstance(value, str) and not value.strip())


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidPayerValueError("text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidPayerValueError("text in UTF-8") from None
    return " ".join(value.split())


# X12 carries payer ids, so they cannot contain its separators.
_IDENTIFIER = re.compile(r"[!-)+-9;-\]_-{}]+", re.ASCII)


def read_identifier(value: object) -> str:
    """Read an id that X12 can carry; raise :class:`InvalidPayerValueError` with what would pass."""
    text = _text(value)
    if len(text) > PAYER_ID_CHARACTERS_MAX or not _IDENTIFIER.fullmatch(text):
        raise InvalidPayerValueError(
            f"up to {PAYER_ID_CHARACTERS_MAX} visible ASCII characters without blanks, "
            "none of them * : ^ | ~"
        )
    return text


def _name(value: object) -> str:
    text = _text(value)
    if len(text) > PAYER_NAME_CHARACTERS_MAX or not text.isprintable():
        raise InvalidPayerValueError(f"up to {PAYER_NAME_CHARACTERS_MAX} printable characters")
    return text


def _one_of(words: tuple[str, ...]) -> Callable[[object], str]:
    by_folded = {word.casefold(): word for word in words}

    def read(value: object) -> str:
        word = by_folded.get(_text(value).casefold())
        if word is None:
            raise InvalidPayerValueError(f"{', '.join(words[:-1])} or {words[-1]}")
        return word

    return read


_FLAGS = {"true": True, "yes": True, "y": True, "1": True}
_FLAGS |= {"false": False, "no": False, "n": False, "0": False}


def _flag(value: object) -> bool:
    found = value if isinstance(value, bool) else _FLAGS.get(str(value).strip().casefold())
    if found is None:
        raise InvalidPayerValueError("true or false")
    return found


def _aliases(value: object) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else _text(value).split(ALIAS_SEPARATOR)
    names = tuple(dict.fromkeys(name for part in parts if (name := _name(part))))
    if len(names) > PAYER_ALIASES_MAX:
        raise InvalidPayerValueError(f"at most {PAYER_ALIASES_MAX} aliases")
    if any(ALIAS_SEPARATOR in name for name in names):
        raise InvalidPayerValueError(
            f"aliases without {ALIAS_SEPARATOR}, which separates them in CSV files"
        )
    return names


def _some_of(words: tuple[str, ...]) -> Callable[[object], tuple[str, ...]]:
    """Return a reader of some of these words, each once: a JSON array, or separated as aliases are."""
    read_one = _one_of(words)

    def read(value: object) -> tuple[str, ...]:
        parts = value if isinstance(value, list) else _text(value).split(ALIAS_SEPARATOR)
        try:
            return tuple(dict.fromkeys(map(read_one, parts)))
        except InvalidPayerValueError as one:
            raise InvalidPayerValueError(f"some of {one}, separated by {ALIAS_SEPARATOR}") from None

    return read


def _attachments(value: object) -> tuple[str, ...]:
    found = _some_of((*TRANSMISSIONS, NO_ATTACHMENTS))(value)
    if NO_ATTACHMENTS in found and len(found) > 1:
        raise InvalidPayerValueError(f"{NO_ATTACHMENTS} alone, or the codes that the payer takes")
    return found


def _days(value: object) -> int:
    text = str(value).strip()
    is_number = isinstance(value, (str, int)) and not isinstance(value, bool)
    if not (is_number and text.isascii() and text.isdigit() and len(text) <= 4):
        raise InvalidPayerValueError(f"a number of days from 0 (not known) to {FILING_DAYS_MAX}")
    if int(text) > FILING_DAYS_MAX:
        raise InvalidPayerValueError(f"at most {FILING_DAYS_MAX} days")
    return int(text)


def _pattern(value: object) -> str:
    text = _text(value).upper()
    try:
        member_id_pattern(text)
    except ValueError:
        raise InvalidPayerValueError(PATTERN_WANTED) from None
    return text


# In the order of the interface document; those from Aliases on are Clearlane's own.
PAYER_FIELDS = (
    PayerField("Type", "type", _one_of(PAYER_TYPES)),
    PayerField("Name", "name", _name),
    PayerField("SvcPayerId", "svc_payer_id", read_identifier, required=False),
    PayerField("PayerId", "payer_id", read_identifier),
    PayerField("NationalPayerId", "national_payer_id", read_identifier, required=False),
    PayerField("EraAvailability", "era_availability", _one_of(ERAS)),
    PayerField("OffersEligibility", "offers_eligibility", _flag),
    PayerField("ClaimEnrollmentRequired", "claim_enrollment_required", _flag),
    PayerField("Aliases", "aliases", _aliases, required=False),
    PayerField("Active", "active", _flag, required=False),
    PayerField("AcceptsClaims", "accepts_claims", _flag, required=False),
    PayerField("Replacements", "replacements", _one_of(REPLACEMENTS), required=False),
    PayerField("BillingZipRequired", "billing_zip_required", _flag, required=False),
    PayerField("Program", "program", _one_of(PROGRAMS), required=False),
    PayerField("Edits", "edits", _some_of(tuple(PAYER_EDITS)), required=False),
    PayerField("MemberIdPattern", "member_id_pattern", _pattern, required=False),
    PayerField("FilingDays", "filing_days", _days, required=False),
    PayerField("CorrectedFilingDays", "corrected_filing_days", _days, required=False),
    PayerField("SecondaryFilingDays", "secondary_filing_days", _days, required=False),
    PayerField("AppealFilingDays", "appeal_filing_days", _days, required=False),
    PayerField("Attachments", "attachments", _attachments, required=False),
    PayerField("InstitutionalPayerId", "institutional_payer_id", read_identifier, required=False),
    PayerField(
        "InquiryEnrollments", "inquiry_enrollments", _some_of(INQUIRY_ENROLLMENTS), required=False
    ),
)
FIELDS_BY_NAME = {field.wire_name.casefold(): field for field in PAYER_FIELDS}
