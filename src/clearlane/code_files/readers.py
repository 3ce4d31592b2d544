"""The lists of codes that can be imported, and how the file of each is read.

A reader yields the codes of a file as it comes, and raises ``CodeFileRefused`` as soon as the file is not one of its
list. What it yielded before counts only if it ends: a file may be found to be truncated at its last line.
"""

import re
from collections.abc import Callable, Iterator, Mapping, MutableSequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import IO

from clearlane.code_files.columns import CodeRow, Columns, HeadedTable, parse_day
from clearlane.code_files.content import (
    MASK,
    MEGABYTE,
    CodeFileRefused,
    Content,
    open_contents,
    shape,
)
from clearlane.code_files.fixed_width import (
    HCPCS_CONTINUED,
    HCPCS_RECORDS,
    read_hcpcs,
    read_order_file,
)

FOREIGN_ROWS_MAX = 10
"""Rows beside those above that are no codes: titles, copyright, notes below the list."""
CODES_TRIED = 20
"""Codes that are read to tell which list a file is of."""

CMS = "CMS"
X12 = "X12"
PROCEDURE = r"[0-9A-Z]\d{3}[0-9A-Z]"
PTP_COLUMNS = 6
PTP_INDICATORS = {"0": "never", "1": "modifier", "9": "none"}
"""What lets a pair pass: nothing, a modifier, or no such thing because the edit is not applied."""
MUE_INDICATORS = {"1": "line", "2": "day", "3": "day"}
NPPES_HEADINGS = re.compile(r'"?NPI"?,"?Entity Type Code"?,', re.IGNORECASE)
NPPES_ROW = re.compile(r'"?(\d{10})"?,"?([12]?)"?,')
NPPES_TYPES = {"1": "person", "2": "organization"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeListReader:
    """How the publisher's file of one list is read."""

    name: str
    title: str
    publisher: str
    bytes_max: int
    rows: Callable[[Content], Iterator[CodeRow | None]]
    """The codes of a file; None for each row that is none."""
    form: str
    """What a code of the list looks like."""
    example: str
    members: str
    """The names of the files to read in the publisher's zip."""
    file_name: str
    """One such name, for messages."""
    file: str
    """Which file it is and what of it is read, for the reference."""
    windows: bool = False
    """The publisher also writes Windows-1252."""
    part: str = ""
    """What tells the parts of one edition apart in the names of a zip; without it a zip holds one file of the list."""

    def read(
        self, stream: IO[bytes], left_out: MutableSequence[int] | None = None
    ) -> Iterator[CodeRow]:
        """Yield the codes of a file, plain or zipped. The stream must be seekable.

        ``left_out`` gets the number of each line that is no code.
        """
        form = re.compile(self.form, re.ASCII)
        left_out = [] if left_out is None else left_out
        codes, before = 0, None
        contents = open_contents(
            stream,
            members=self.members,
            file_name=self.file_name,
            bytes_max=self.bytes_max,
            windows=self.windows,
            part=self.part,
        )
        for content in contents:
            refusal = None
            for row in self.rows(content):
                if row is not None and form.fullmatch(row.code):
                    codes += 1
                    # A long description may go on in the next line, after the same code.
                    if row != before:
                        yield row
                    before = row
                    continue
                left_out.append(content.number)
                refusal = refusal or self._not_a_code(content, row)
                if len(left_out) > FOREIGN_ROWS_MAX:
                    raise refusal
            if not codes:
                raise refusal or self._not_a_code(content, None)

    def _not_a_code(self, content: Content, row: CodeRow | None) -> CodeFileRefused:
        found = f"{shape(row.code)!r} {MASK}" if row and row.code else "something else"
        return content.refused(
            f"expected a code of {self.title} such as {self.example}, found {found}"
        )

    def may_read(self, stream: IO[bytes]) -> bool:
        """Return whether a file begins with codes of the list."""
        try:
            return any(list(islice(self.read(stream), CODES_TRIED)))
        except CodeFileRefused:
            return False
        finally:
            stream.seek(0)


def _read_hcpcs_file(content: Content) -> Iterator[CodeRow | None]:
    """Return the codes of CMS's text, or of its workbook or the CSV that was saved from it."""
    if not content.starts_with("HCPC"):
        yield from read_hcpcs(content)
        return
    for row in HCPCS_TABLE(content):
        if row is None or row.attributes not in HCPCS_CONTINUED:
            yield row and row._replace(attributes=HCPCS_RECORDS.get(row.attributes, ""))


def _read_ptp(content: Content) -> Iterator[CodeRow | None]:
    """Return the pairs of codes, with whether a modifier lets them pass.

    The headings are over several lines, so a row of the table is known by its two codes. An edit that was deleted with
    effect from its first day was never in force.
    """
    for cells in content.rows():
        if len(cells) < 2 or not all(re.fullmatch(PROCEDURE, code) for code in cells[:2]):
            yield None
            continue
        if len(cells) < PTP_COLUMNS:
            raise content.refused(
                f"expected {PTP_COLUMNS} columns, found {len(cells)}: it is truncated"
            )
        try:
            first, last = parse_day(cells[3]), parse_day(cells[4])
            indicator = PTP_INDICATORS[cells[5]]
        except (ValueError, KeyError):
            yield None
            continue
        if first != last:
            yield CodeRow(f"{cells[0]}-{cells[1]}", first, last, indicator)


def _read_plain(content: Content) -> Iterator[CodeRow | None]:
    """Return the first word of each line: holders of licenses get codes alone, or a code, a tab and a description."""
    for line in content.lines():
        found = re.match(r'"?([0-9A-Z]{5})"?(?=[\s,|]|$)', line)
        yield CodeRow(found[1]) if found else None


def _read_nppes(content: Content) -> Iterator[CodeRow | None]:
    """Return each NPI with whether it is a person's or an organization's.

    The file has 330 columns and 15 GB; the two that are read come first, so a row is not taken apart. An NPI without a
    type is deactivated.
    """
    lines = content.lines()
    headings = next(lines, "")
    if not NPPES_HEADINGS.match(headings):
        raise content.refused('expected the headings "NPI" and "Entity Type Code", found others')
    for line in lines:
        found = NPPES_ROW.match(line)
        if found is None or (content.ends_open and line.count(",") < headings.count(",")):
            if content.ends_open:
                raise content.refused(
                    "expected a whole row, found the end of the file: it is truncated"
                )
            yield None
        elif found[2]:
            yield CodeRow(found[1], attributes=NPPES_TYPES[found[2]])


def _product_ndc(row: CodeRow) -> CodeRow:
    """Return the product with nine digits, as the first nine of the eleven on a claim: labeler 5, product 4."""
    labeler, _, product = row.code.partition("-")
    return row._replace(code=f"{labeler:0>5}{product:0>4}")


def _units(row: CodeRow) -> CodeRow:
    """Return how many units are likely, of a line or of a day, by the adjudication indicator: 1 line, 2 and 3 day."""
    units, indicator, *_ = row.attributes.split()
    return row._replace(attributes=f"units={int(units)} {MUE_INDICATORS[indicator]}")


def _place(row: CodeRow) -> CodeRow:
    """Return a place; CMS lists numbers that it has not assigned, too."""
    if row.attributes.lower().startswith("unassigned"):
        raise ValueError("not assigned")
    return row._replace(attributes="")


def _section(row: CodeRow) -> CodeRow:
    """Return whether a taxonomy is one of persons or of organizations."""
    is_organization = row.attributes.lower().startswith("non")
    return row._replace(attributes="organization" if is_organization else "person")


HCPCS_TABLE = HeadedTable(
    Columns("hcpcs?(code)?", "add(ed)?(dt|date)", "term(ination)?(dt|date)", ("recid",)),
    "HCPC, RECID, ADD DT and TERM DT",
)
X12_CODES = HeadedTable(
    Columns(
        "((carc|rarc|reason|remark|status|category)code|code)",
        "(start|effective|begin)(date)?",
        "(stop|end|deactivat(ed|ion)|termination)(date)?",
    ),
    "Code, Start and Stop",
    has_days_always=False,
)
SHEET_OR_TEXT = r"\.(txt|csv|xlsx)"

PLACES = HeadedTable(
    Columns(
        "(placeofservice)?codes?",
        "(start|effective|first|from).*",
        "(stop|end|last|to).*",
        ("(placeofservice)?name",),
    ),
    "Place of Service Code(s) and Place of Service Name",
    _place,
    has_days_always=False,
)

_READERS = (
    CodeListReader(
        name="icd-10-cm", file_name="icd10cm_order_2027.txt", file="The order file of a fiscal year or of April. Codes that can be billed are read; headings are left out.",
        title="ICD-10-CM", publisher=CMS, bytes_max=64 * MEGABYTE, rows=read_order_file,
        form=r"[A-Z][0-9A][0-9A-Z]{1,5}", example="I10", members=r"icd-?10-?cm[-_ ]?order(?!.*addenda).*\.txt", windows=True,
    ),
    CodeListReader(
        name="icd-10-pcs", file_name="icd10pcs_order_2027.txt", file="The order file of a fiscal year or of April. Whole codes are read; headings are left out.",
        title="ICD-10-PCS", publisher=CMS, bytes_max=64 * MEGABYTE, rows=read_order_file,
        form=r"[0-9A-HJ-NP-Z]{7}", example="0DTJ4ZZ", members=r"icd-?10-?pcs[-_ ]?order(?!.*addenda).*\.txt", windows=True,
    ),
    CodeListReader(
        name="hcpcs", file_name="HCPC2026_OCT_ANWEB.txt", file="The alphanumeric file of a quarter: the text of fixed positions, the workbook, or a CSV saved from it. Codes and modifiers with the day added and the last day.",
        title="HCPCS level II", publisher=CMS, bytes_max=64 * MEGABYTE, rows=_read_hcpcs_file,
        form=r"[A-Z]\d{4}|[A-Z0-9]{2}", example="A0428", members=rf"HCPC.*ANWEB.*{SHEET_OR_TEXT}", windows=True,
    ),
    CodeListReader(
        name="hipps", file_name="HIPPS Code Master List.xlsx", file="The master list: the workbook, or a text or CSV saved from it. Codes with their first and last day.",
        title="HIPPS", publisher=CMS, bytes_max=64 * MEGABYTE,
        rows=HeadedTable(
            Columns("(hipps)?code", "(?!.*thr).*(effective|from).*", ".*(thru|through).*"),
            "Code, Effective Date and Through Date",
        ),
        form=r"[0-9A-Z]{5}", example="1AFKS", members=rf".*HIPPS.*{SHEET_OR_TEXT}", windows=True,
    ),
    CodeListReader(
        name="place-of-service", file_name="place of service codes.csv", file="CMS shows the code set as a table of its web site: a CSV, a text separated by tabs, or a workbook of that table, with the headings Place of Service Code(s) and Place of Service Name. Columns Effective and End give days, if there are any.",
        title="places of service", publisher=CMS, bytes_max=MEGABYTE, rows=PLACES,
        form=r"\d{2}", example="11", members=rf".*(place.?of.?service|\bPOS\b).*{SHEET_OR_TEXT}", windows=True,
    ),
    CodeListReader(
        name="ncci-ptp", file_name="ccipra-v323r0-f1.txt", file="The practitioner edits of a quarter: the texts or the workbooks. CMS publishes four parts: put them into one zip. Each pair with its days and whether a modifier lets it pass.",
        title="NCCI procedure pairs for practitioners", publisher=CMS, bytes_max=1024 * MEGABYTE,
        rows=_read_ptp, form=rf"{PROCEDURE}-{PROCEDURE}", example="11042-97597", members=rf"ccipra.*{SHEET_OR_TEXT}", windows=True, part=r"-f\d+",
    ),
    CodeListReader(
        name="mue", file_name="MCR_MUE_PractitionerServices_Eff_10-01-2026.csv", file="The practitioner table of a quarter: the CSV or the workbook. Units and adjudication indicator of each code.",
        title="medically unlikely units for practitioners", publisher=CMS, bytes_max=64 * MEGABYTE,
        rows=HeadedTable(
            Columns("hcpcscptcode", attributes=("practitionerservicesmuevalues?", "mueadjudicationindicator")),
            "HCPCS/CPT Code, Practitioner Services MUE Values and MUE Adjudication Indicator",
            _units,
        ),
        form=PROCEDURE, example="99213", members=rf".*MUE.*Practitioner.*{SHEET_OR_TEXT}", windows=True,
    ),
    CodeListReader(
        name="ndc", file_name="product.txt", file="The product file of the NDC directory, separated by tabs. The first nine digits of each NDC with the days of marketing.",
        title="NDC products", publisher="FDA", bytes_max=512 * MEGABYTE,
        rows=HeadedTable(
            Columns("productndc", "startmarketingdate", "endmarketingdate"),
            "PRODUCTNDC, STARTMARKETINGDATE and ENDMARKETINGDATE",
            _product_ndc,
        ),
        form=r"\d{9}", example="0002-0152", members=r"product\.txt", windows=True,
    ),
    CodeListReader(
        name="taxonomy", file_name="nucc_taxonomy_261.csv", file="The CSV of a release. Codes, and whether they are for persons or organizations.",
        title="provider taxonomy", publisher="NUCC", bytes_max=16 * MEGABYTE,
        rows=HeadedTable(
            Columns("code", attributes=("section",)), "Code and Section", _section,
        ),
        form=r"[0-9A-Z]{9}X", example="207Q00000X", members=r"nucc_taxonomy.*\.csv", windows=True,
    ),
    CodeListReader(
        name="nppes-deactivated", file_name="NPPES Deactivated NPI Report 20261012.xlsx", file="The monthly report of deactivated NPIs: the workbook, or a CSV saved from it. Each NPI with the day of its deactivation.",
        title="deactivated NPIs", publisher=CMS, bytes_max=256 * MEGABYTE,
        rows=HeadedTable(
            Columns("npi", "(nppes)?deactivationdate"), "NPI and NPPES Deactivation Date",
        ),
        form=r"[12]\d{9}", example="1234567893", members=rf"NPPES.?Deactivated.*{SHEET_OR_TEXT}", windows=True,
    ),
    CodeListReader(
        name="nppes", file_name="npidata_pfile_20050523-20261011.csv", file="The monthly file of the NPI registry. Each NPI that is active, and whether it is a person's or an organization's. The other columns are not kept.",
        title="NPIs", publisher=CMS, bytes_max=15 * 1024 * MEGABYTE, rows=_read_nppes,
        form=r"[12]\d{9}", example="1234567893", members=r"npidata_pfile_\d+-\d+(_v\d)?\.csv",
    ),
    CodeListReader(
        name="cpt", file_name="cpt2026.txt", file="A list that the AMA licenses: one code on each line, alone or before a tab, a comma or a space.",
        title="CPT", publisher="AMA", bytes_max=64 * MEGABYTE, rows=_read_plain,
        form=r"\d{4}[0-9AFMTU]", example="99213", members=r"(LONGU\w*|.*cpt.*)\.(txt|csv)", windows=True, part=r"LONGU\w*",
    ),
    CodeListReader(
        name="cdt", file_name="cdt2026.txt", file="A list that the ADA licenses: one code on each line, alone or before a tab, a comma or a space.",
        title="CDT", publisher="ADA", bytes_max=16 * MEGABYTE, rows=_read_plain,
        form=r"D\d{4}", example="D0120", members=r".*cdt.*\.(txt|csv)", windows=True,
    ),
    CodeListReader(
        name="carc", file_name="CARC.csv", file="A CSV, a text separated by tabs, or a workbook with the headings Code, Start and Stop (the days may be left out).",
        title="claim adjustment reason codes", publisher=X12, bytes_max=16 * MEGABYTE, rows=X12_CODES,
        form=r"\d{1,3}|[A-Z]\d{1,2}", example="45", members=rf".*(CARC|adjustment.?reason).*{SHEET_OR_TEXT}", windows=True,
    ),
    CodeListReader(
        name="rarc", file_name="RARC.csv", file="As for `carc`.",
        title="remittance advice remark codes", publisher=X12, bytes_max=16 * MEGABYTE, rows=X12_CODES,
        form=r"MA?\d{1,3}|N\d{1,4}", example="MA130", members=rf".*(RARC|remark).*{SHEET_OR_TEXT}", windows=True,
    ),
    CodeListReader(
        name="claim-status", file_name="claim status codes.csv", file="As for `carc`.",
        title="claim status codes", publisher=X12, bytes_max=16 * MEGABYTE, rows=X12_CODES,
        form=r"\d{1,4}", example="21", members=rf"(?!.*categor).*status.*{SHEET_OR_TEXT}", windows=True,
    ),
    CodeListReader(
        name="status-category", file_name="claim status category codes.csv", file="As for `carc`.",
        title="claim status category codes", publisher=X12, bytes_max=16 * MEGABYTE, rows=X12_CODES,
        form=r"[A-Z]\d[0-9A-Z]?", example="A3", members=rf".*categor.*{SHEET_OR_TEXT}", windows=True,
    ),
)  # fmt: skip
READERS: Mapping[str, CodeListReader] = MappingProxyType({each.name: each for each in _READERS})
"""Every list that can be imported, by the name that commands use."""


def find_readers(name: str, stream: IO[bytes]) -> list[CodeListReader]:
    """Return the lists that a file may be of: by its name if publishers use it, and by its first codes."""
    named = [
        each for each in _READERS if re.fullmatch(each.members, name, re.ASCII | re.IGNORECASE)
    ]
    found = [each for each in named or _READERS if each.may_read(stream)]
    # A list of words on lines of their own is what many other files look like.
    return [each for each in found if each.rows is not _read_plain] or found
