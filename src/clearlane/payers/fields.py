"""The fields of a payer as files and lists write them: THE table of wire names.

A value is read here and nowhere else, whatever file it came from. Knows no format and no other
payer: what two payers may not share is told by ``merge``.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from clearlane.kernel import limits
from clearlane.kernel.finding import Finding, Stage
from clearlane.payers.model import ERAS, PAYER_TYPES, Payer

ALIAS_SEPARATOR = "|"


class UnreadableError(ValueError):
    """A value that cannot be used. The text says what would pass."""


@dataclass(frozen=True, slots=True)
class Column:
    """One row: the wire name, our attribute, how a value is read and whether it may be left out."""

    wire: str
    attribute: str
    read: Callable[[object], object]
    optional: bool = False
    listed: bool = True
    """Whether the interface's payer lists show it."""


def findings_of(columns: Collection[str]) -> Iterator[Finding]:
    """What is wrong with the names of the columns or keys themselves."""
    for name in columns:
        if name.casefold() not in BY_NAME:
            known = ", ".join(column.wire for column in COLUMNS)
            yield finding("PAY003", shown(name), f"There is no such field. Known are {known}.")


def read_payer(
    values: Mapping[str, object], absent: Collection[str] = ()
) -> tuple[Payer | None, list[Finding]]:
    """A payer from its values by wire name, or everything that is wrong with them.

    ``absent`` names columns that the whole file lacks: they are reported once, not in every row.
    """
    found: dict[str, object] = {}
    findings: list[Finding] = []
    for column in COLUMNS:
        value = values.get(column.wire)
        if _blank(value):
            if not column.optional and column.wire not in absent:
                findings.append(finding("PAY001", column.wire, "The field is required."))
            continue
        try:
            found[column.attribute] = column.read(value)
        except UnreadableError as wanted:
            findings.append(
                finding("PAY002", column.wire, f"{_quoted(value)} cannot be used: give {wanted}.")
            )
    if findings or absent:
        return None, findings
    found.setdefault("svc_payer_id", found["payer_id"])
    return Payer(**found), findings  # type: ignore[arg-type]  # each reader returns its field's type


def finding(rule: str, location: str, message: str) -> Finding:
    """A finding of a payer file: the location is the field."""
    return Finding(rule=rule, stage=Stage.SHAPE, location=location, message=message)


def shown(text: str) -> str:
    """A text from a file, short and harmless enough for a message."""
    short = text[: limits.PAYER_VALUE_SHOWN_CHARACTERS_MAX]
    more = "..." if len(text) > len(short) else ""
    return "".join(c if c.isprintable() else "?" for c in short) + more


def _quoted(value: object) -> str:
    return f"'{shown(value)}'" if isinstance(value, str) else f"A JSON {_kind(value)}"


def _kind(value: object) -> str:
    kinds = {bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}
    return kinds.get(type(value), "value")


def _blank(value: object) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise UnreadableError("text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UnreadableError("text in UTF-8") from None
    return " ".join(value.split())


# X12 carries payer ids, so what X12 separates with cannot stand in one.
_IDENTIFIER = re.compile(r"[!-)+-9;-\]_-{}]+", re.ASCII)


def _identifier(value: object) -> str:
    text = _text(value)
    if len(text) > limits.PAYER_ID_CHARACTERS_MAX or not _IDENTIFIER.fullmatch(text):
        raise UnreadableError(
            f"up to {limits.PAYER_ID_CHARACTERS_MAX} visible ASCII characters without blanks, "
            "none of them * : ^ | ~"
        )
    return text


def _name(value: object) -> str:
    text = _text(value)
    if len(text) > limits.PAYER_NAME_CHARACTERS_MAX or not text.isprintable():
        raise UnreadableError(f"up to {limits.PAYER_NAME_CHARACTERS_MAX} printable characters")
    return text


def _one_of(words: tuple[str, ...]) -> Callable[[object], str]:
    by_folded = {word.casefold(): word for word in words}

    def read(value: object) -> str:
        word = by_folded.get(_text(value).casefold())
        if word is None:
            raise UnreadableError(f"{', '.join(words[:-1])} or {words[-1]}")
        return word

    return read


_SWITCH = {"true": True, "yes": True, "y": True, "1": True}
_SWITCH |= {"false": False, "no": False, "n": False, "0": False}


def _switch(value: object) -> bool:
    found = value if isinstance(value, bool) else _SWITCH.get(str(value).strip().casefold())
    if found is None:
        raise UnreadableError("true or false")
    return found


def _aliases(value: object) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else _text(value).split(ALIAS_SEPARATOR)
    names = tuple(dict.fromkeys(name for part in parts if (name := _name(part))))
    if len(names) > limits.PAYER_ALIASES_MAX:
        raise UnreadableError(f"at most {limits.PAYER_ALIASES_MAX} aliases")
    if any(ALIAS_SEPARATOR in name for name in names):
        raise UnreadableError(
            f"aliases without {ALIAS_SEPARATOR}, which separates them in CSV files"
        )
    return names


# In the order of the interface document; the last two are ours.
COLUMNS = (
    Column("Type", "type", _one_of(PAYER_TYPES)),
    Column("Name", "name", _name),
    Column("SvcPayerId", "svc_payer_id", _identifier, optional=True),
    Column("PayerId", "payer_id", _identifier),
    Column("NationalPayerId", "national_payer_id", _identifier, optional=True),
    Column("EraAvailability", "era_availability", _one_of(ERAS)),
    Column("OffersEligibility", "offers_eligibility", _switch),
    Column("ClaimEnrollmentRequired", "claim_enrollment_required", _switch),
    Column("Aliases", "aliases", _aliases, optional=True, listed=False),
    Column("Active", "active", _switch, optional=True, listed=False),
)
BY_NAME = {column.wire.casefold(): column for column in COLUMNS}
