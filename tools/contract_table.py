"""Write the facts of the interface document as a table: ``python -m tools.contract_table [DOCUMENT]``.

The table, ``tests/contract/v3_fields.csv``, has a row for each field of each V3 object: its JSON type, whether it is
required, its length, and its values (the whole list, or those that were seen). ``v3_calls.csv`` has a row for each call.
Tests compare both with the service, so that a checkout without the document proves the interface too. A test compares
the tables with the document if it is there.

The document is prose with tables. What is not said is left empty; nothing is concluded from our own code.
"""

import csv
import io
import re
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT.parent / "shared" / "spec" / "vendor-api-v3.md"
TABLES = ROOT / "tests" / "contract"


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """What the document says of one field."""

    object: str
    field: str
    type: str = ""
    required: str = ""
    """``yes``, ``minimal`` (in the minimal example), or the value of `NpiType` that requires it."""
    min: str = ""
    max: str = ""
    values: str = ""
    """Every allowed value."""
    seen: str = ""
    """Values that occur in examples; others may be allowed."""
    also: str = ""
    """Another spelling of the name."""


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What the document says of one call."""

    name: str
    method: str
    path: str
    parameters: str


TYPE = re.compile(
    r"\b(array of strings|array|boolean|integer|number|string or null|string|date|timestamp|yyyy-mm-dd|object|human-readable text)"
)
TYPE_NAMES = {"timestamp": "date", "yyyy-mm-dd": "date", "human-readable text": "string"}
LENGTHS = (
    (r"exactly (\d+)", (1, 1)),
    (r"(\d+) to (\d+)", (1, 2)),
    (r"max (\d+)", (None, 1)),
)
QUOTED = r"`([^`]+)`"
LIST = re.compile(rf"{QUOTED}(?:, {QUOTED})* or {QUOTED}|(?<=string: ){QUOTED}(?:, {QUOTED})+")
SEEN = re.compile(rf"seen(?: include)?:? ({QUOTED}(?:, {QUOTED})*)")
ALSO = re.compile(rf"spells it {QUOTED}")
ROLES = ("Referring", "Supervising", "Ordering")


def facts_of(object: str, field: str, notes: str, default: str = "") -> FieldFacts:
    """Return what the notes of a field say."""
    words = re.sub(r"`[^`]*`", "", notes)
    found = TYPE.search(words)
    type = TYPE_NAMES.get(found[1], found[1]) if found else default
    required = "minimal" if re.search(r"\bmin\b(?! \d)", words) else ""
    if condition := re.search(r"required when NpiType is (\w+)", words):
        required = condition[1]
    elif re.search(r"\brequired\b", words):
        required = "yes"
    low, high = next(
        (
            (length[at[0]] if at[0] else "", length[at[1]])
            for pattern, at in LENGTHS
            if (length := re.search(pattern, words))
        ),
        ("", ""),
    )
    whole, seen, also = LIST.search(notes), SEEN.search(notes), ALSO.search(notes)
    values = re.findall(QUOTED, whole[0]) if whole else re.findall(r"must be (\d+)", words)
    return FieldFacts(
        object,
        field,
        type,
        required,
        "1" if re.search("at least one", words) else low,
        high,
        "|".join(values),
        "|".join(re.findall(QUOTED, seen[1])) if seen and type != "object" else "",
        also[1] if also else "",
    )


def section(text: str, heading: str) -> str:
    """Return the text below a heading, to the next one."""
    _, _, rest = text.partition(f"\n### {heading}")
    assert rest, heading
    return re.split(r"\n##+ ", rest)[0]


def table(text: str) -> list[list[str]]:
    """Return the cells of a table, without its head."""
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in row] for row in rows if not set(row[0]) <= set("- ")][1:]


ITEM = re.compile(
    rf"{QUOTED}|\((?P<notes>(?:[^()`]|`[^`]*`)*)\)|(?P<end>;| plus )|(?P<type>date|range object|identifier)(?: field)?s "
)
LISTED_TYPES = {"date": "date", "range object": "object", "identifier": "string"}


def listed(object: str, text: str, default: str = "") -> list[FieldFacts]:
    """Return the fields of a list in prose: names, each with notes in parentheses, or several joined by a slash."""
    found: list[FieldFacts] = []
    joined, type, after = 0, default, 0
    for item in ITEM.finditer(text):
        if name := item[1]:
            joined = joined + 1 if text[after : item.start()] == " / " else 1
            names = [name.replace("<Role>", role) for role in ROLES] if "<Role>" in name else [name]
            found += [FieldFacts(object, one, type) for one in names]
        elif item["end"]:
            type = default
        elif item["type"]:
            type = LISTED_TYPES[item["type"]]
        elif found and text[after : item.start()] == " ":
            found[-joined:] = [
                facts_of(object, one.field, item["notes"], one.type) for one in found[-joined:]
            ]
        after = item.end()
    return found


def line_of(text: str, start: str) -> str:
    """Return the rest of the line that starts so."""
    (found,) = [one for one in text.splitlines() if one.startswith(start)]
    return found.removeprefix(start)


def objects_in(object: str, text: str, start: str) -> list[FieldFacts]:
    """Return the fields of an object that is described in the notes of another's field."""
    found = re.search(rf"{re.escape(start)}([^()]*)\)", text)
    assert found, start
    # The notes of a field follow its name without parentheses of their own.
    notes = re.compile(r"(?<=`),? (an array[^,;]*|seen `[^;]*|number)")
    return listed(object, notes.sub(r" (\1)", found[1]))


def claim(object: str, text: str, default: str) -> Iterator[FieldFacts]:
    """Yield the fields of a claim's table, whose rows are groups."""
    for group, cell in table(text):
        heading = facts_of(object, "", "".join(re.findall(r"\(.*\)", group)), default)
        for one in listed(object, re.sub(r"^for each of [^:]*: ", "", cell), heading.type):
            # In a row of booleans a field behind a semicolon is a string, as the row says.
            is_string = f"string `{one.field}`" in cell
            yield replace(
                one,
                type="string" if is_string else one.type,
                required=one.required or heading.required,
            )


def medical_line(text: str) -> Iterator[FieldFacts]:
    for names, notes in table(text):
        for name in names.split(", "):
            yield facts_of("MedicalLine", name, notes)


def plain_table(object: str, text: str, prefix: str = "") -> Iterator[FieldFacts]:
    """Yield the fields of a table with a row each; those of a nested object have its name as prefix."""
    for name, *notes in table(text):
        field = name.removeprefix(prefix)
        if name.startswith(prefix) and "." not in field:
            yield facts_of(object, field, "; ".join(notes))


REQUEST = "EligibilityRequest"
REQUEST_PARTS = {
    "BenefitInquiries": f"{REQUEST}BenefitInquiry",
    "Payers": f"{REQUEST}Payer",
    "Payees": f"{REQUEST}Payee",
    "Subscribers": f"{REQUEST}Subscriber",
    "RequestedBenefits": f"{REQUEST}RequestedBenefit",
}


def eligibility_request(text: str) -> Iterator[FieldFacts]:
    """Yield the fields of the nested request, whose rows are paths that start in the middle."""
    for path, type, notes in table(text):
        above, _, names = path.removeprefix("...").rpartition("[].")
        object = REQUEST_PARTS.get(above, REQUEST)
        if names == "Payers[]":
            object = REQUEST_PARTS["BenefitInquiries"]
        for name in names.split(", "):
            if type == "object":
                yield FieldFacts(object, name, type)
                part = "TraceNumber" if name.endswith("TraceNumber") else "RequestedDays"
                inner = notes.split(": ")[-1] if part == "RequestedDays" else notes
                dates = "date" if part == "RequestedDays" else ""
                yield from (
                    one
                    for one in listed(f"{REQUEST}{part}", inner, dates)
                    if one.field[0].isupper()
                )
            else:
                yield facts_of(object, name.removesuffix("[]"), f"{type}; {notes}")


def enrollment_result(text: str) -> Iterator[FieldFacts]:
    yield FieldFacts("EnrollmentSubmission", "EnrollmentResults", "array")
    _, _, rest = text.partition("Fields of a result:")
    yield from listed("EnrollmentResult", rest)


def proxy_login(text: str) -> Iterator[FieldFacts]:
    objects = {"Token": "TokenResult", "Login URL": "LoginUrlResult", "Delete": "DeleteResult"}
    for name, cell in table(text):
        yield from listed(objects[name.removesuffix(" result")], cell)


def field_facts(text: str) -> Iterator[FieldFacts]:
    """Yield the facts of every field of every object, in the order of the document."""
    yield from plain_table("Payer", section(text, "Payer (element"))
    yield from plain_table("ClaimDocument", section(text, "Claim submission document"))
    medical, _, lines = section(text, "Medical claim object").partition("Medical claim line object")
    yield from claim("MedicalClaim", medical, "string")
    yield from medical_line(lines)
    dental, _, lines = section(text, "Dental claim object").partition("Dental line object:")
    yield from claim("DentalClaim", dental, "string")
    line = lines.partition("Which claim fields")[0]
    yield from listed("DentalLine", line, "string")
    yield from objects_in("Tooth", line, "`Teeth` (array of objects with ")
    yield from objects_in("DentalAdjustment", line, "`Adjustments` (null or array of objects with ")
    result = section(text, "Claim submission result")
    yield from plain_table("ClaimSubmission", result)
    yield from plain_table("ClaimResult", result, "ClaimResults[].")
    yield from listed("ClaimError", line_of(result, "Error object: ").partition(". One")[0])
    yield from plain_table("ClaimStatus", section(text, "Claim status record"))
    yield from eligibility_request(section(text, "Eligibility request"))
    response = section(text, "Eligibility response")
    yield from listed("EligibilityResponse", line_of(response, "Top level: "))
    yield from listed("EligibilityBenefitResponse", line_of(response, "Response object: "))
    yield from listed("EligibilityPayer", line_of(response, "Payer element: "))
    yield from listed("EligibilityPayee", line_of(response, "Payee element: "))
    yield from listed("EligibilitySubscriber", line_of(response, "Subscriber element: "))
    yield from objects_in("EligibilityTrace", response, "(objects with ")
    yield from objects_in("EligibilityDateRange", response, "(each with ")
    benefit = line_of(response, "Benefit element: ")
    yield from listed("EligibilityBenefit", benefit)
    yield from objects_in("EligibilityQuantity", benefit, "`BenefitQuantity` (object: ")
    enrollment = section(text, "Enrollment request")
    top = line_of(enrollment, "Top level: ").partition(" Element")[0]
    yield from listed("EnrollmentRequest", top)
    yield from plain_table("Enrollment", enrollment)
    yield from enrollment_result(section(text, "Enrollment result"))
    yield from proxy_login(section(text, "Proxy login objects"))


def call_facts(text: str) -> Iterator[CallFacts]:
    """Yield the facts of every call."""
    calls = text.partition("\n## Endpoints")[2].partition("\n###")[0]
    for name, address, parameters, *_ in table(calls):
        method, path = address.split(" ")
        names = re.findall(QUOTED, re.sub(r" = .*|\([^)]*\)", "", parameters))
        yield CallFacts(name.split(" (deprecated")[0], method, path.strip("`"), "|".join(names))


def as_csv(rows: list[FieldFacts] | list[CallFacts]) -> str:
    """Return rows as a table with a head."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([one.name for one in fields(rows[0])])
    writer.writerows(astuple(one) for one in rows)
    return out.getvalue()


def tables_of(text: str) -> dict[str, str]:
    """Return the content of each table, by the name of its file."""
    return {
        "v3_fields.csv": as_csv([*field_facts(text)]),
        "v3_calls.csv": as_csv([*call_facts(text)]),
    }


def main() -> None:
    document = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENT
    for name, content in tables_of(document.read_text(encoding="utf-8")).items():
        (TABLES / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
