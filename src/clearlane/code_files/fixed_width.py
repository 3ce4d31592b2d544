"""Read the files of CMS whose fields have fixed positions: ICD-10 order files and HCPCS level II."""

from collections.abc import Iterator

from clearlane.code_files.columns import CodeRow, parse_day
from clearlane.code_files.content import Content, shape

# The order file of ICD-10-CM and ICD-10-PCS. The long description begins at position 78 of every line.
ORDER_NUMBER = slice(0, 5)
ORDER_CODE = slice(6, 13)
ORDER_BILLABLE = slice(14, 15)
ORDER_BEFORE_LONG_DESCRIPTION = 77

# The record layout of the HCPCS file: positions 1-5 code (4-5 modifier), 11 record, 269-276 day added, 285-292 last day.
HCPCS_CODE = slice(0, 5)
HCPCS_RECORD = slice(10, 11)
HCPCS_ADDED = slice(268, 276)
HCPCS_LAST_DAY = slice(284, 292)
HCPCS_CHARACTERS_MIN = 276
HCPCS_RECORDS = {"3": "", "7": "modifier"}
"""Records with which a procedure and a modifier begin, and the attribute of the code."""
HCPCS_CONTINUED = {"4", "8"}


def read_order_file(content: Content) -> Iterator[CodeRow | None]:
    """Return the billable codes of an ICD-10 order file. Headings have finer codes and are no codes of a claim."""
    before = 0
    for line in content.lines():
        number = line[ORDER_NUMBER]
        if not number.isdecimal():
            yield None
            continue
        if len(line) <= ORDER_BEFORE_LONG_DESCRIPTION:
            raise content.refused(
                f"expected more than {ORDER_BEFORE_LONG_DESCRIPTION} characters, found {len(line)}: it is truncated"
            )
        if int(number) <= before:
            raise content.refused("expected order numbers that rise, found a smaller one")
        before = int(number)
        if line[ORDER_BILLABLE] == "1":
            yield CodeRow(line[ORDER_CODE].strip())
        elif line[ORDER_BILLABLE] != "0":
            raise content.refused(
                f"expected 0 or 1 at position 15, found {shape(line[ORDER_BILLABLE])!r}"
            )


def read_hcpcs(content: Content) -> Iterator[CodeRow | None]:
    """Return the codes and modifiers of the HCPCS file, each with the day it was added and its last day."""
    for line in content.lines():
        record = line[HCPCS_RECORD]
        if record in HCPCS_CONTINUED:
            continue
        if record not in HCPCS_RECORDS:
            yield None
            continue
        if len(line) < HCPCS_CHARACTERS_MIN:
            raise content.refused(
                f"expected at least {HCPCS_CHARACTERS_MIN} characters, found {len(line)}: it is truncated"
            )
        try:
            days = parse_day(line[HCPCS_ADDED].strip()), parse_day(line[HCPCS_LAST_DAY].strip())
            yield CodeRow(line[HCPCS_CODE].strip(), *days, HCPCS_RECORDS[record])
        except ValueError:
            yield None
