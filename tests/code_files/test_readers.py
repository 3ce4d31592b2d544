"""Every list is read from its publisher's own file, and a file of another kind is refused with what was expected.

Also tests `code_files/columns`, `code_files/fixed_width`, `code_files/content`.
"""

import io
import random
import re
import zipfile
from dataclasses import replace
from datetime import date

import pytest

from clearlane.code_files import content
from clearlane.code_files.content import CodeFileRefused
from clearlane.code_files.readers import READERS, find_readers
from tests.cases import every_case
from tests.code_files.workbooks import packed, workbook


def order_line(number: int, code: str, *, billable: bool = True) -> str:
    return f"{number:05} {code:7} {billable:d} {'Short description':60} Long description of it\r\n"


def hcpcs_line(code: str, record: str = "3", added: str = "19860101", last: str = "") -> str:
    line = f"{code:>5}00100{record}{'Long description':80}{'Short':28}"
    return f"{line:268}{added:8}{added:8}{last:8}N\r\n"


ORDER_CM = order_line(1, "A00", billable=False) + order_line(2, "A000") + order_line(3, "I4200")
ORDER_PCS = order_line(1, "001", billable=False) + order_line(2, "0016070")
PTP = (
    "CPT only copyright 2025 American Medical Association.  All rights reserved.\t\t\t\t\t\t\r\n"
    "Column1/Column2 Edits\t\t\t\t\t\t\r\n"
    "Column 1\tColumn 2\t*=in existence\tEffective\tDeletion\tModifier\tPTP Edit Rationale\r\n"
    "\t\tprior to 1996\tDate\tDate\t0=not allowed\t\r\n"
    "11042\t97597\t\t20110101\t*\t1\tMisuse of column two code\r\n"
    "11042\tG0127\t*\t19960101\t20051231\t0\tStandards\r\n"
    "11042\t99999\t\t20200101\t20200101\t0\tNever in force\r\n"
)
MUE = (
    '"CPT codes, descriptions and other data only are copyright 2025,\nall rights reserved."\r\n'
    "HCPCS/CPT Code,Practitioner Services MUE Values,MUE Adjudication Indicator,MUE Rationale\r\n"
    "99213,2,3 Date of Service Edit: Clinical,Clinical: Data\r\n"
    'J0171,"120","3 Date of Service Edit: Clinical",Prescribing Information\r\n'
)
NDC = (
    "PRODUCTID\tPRODUCTNDC\tPROPRIETARYNAME\tSTARTMARKETINGDATE\tENDMARKETINGDATE\tLISTING\r\n"
    '0002-0152_a\t0002-0152\tZepbound 1" caf\xe9\t20231108\t\t20261231\r\n'
    "50090-481_b\t50090-481\tAspirin\t20141128\t20250630\t20261231\r\n"
)
TAXONOMY = (
    '"Code","Grouping","Classification","Definition","Notes","Display Name","Section"\r\n'
    '"207Q00000X","Physicians","Family Medicine","Doctors, \u201cof\u201d families\r\nover two lines","","FM","Individual"\r\n'
    '"261QA1903X","Clinics","Surgical","","","ASC","Non-Individual"\r\n'
)
NPPES = (
    '"NPI","Entity Type Code","Replacement NPI","Employer Identification Number (EIN)"\n'
    '"1679576722","1","",""\n"1588667638","2","","<UNAVAIL>"\n"1104095225","","",""\n'
)
X12_CODES = (
    "Code,Description,Start Date,Modified Date,Stop Date\r\n"
    '{0},"A reason, with a comma",01/01/1995,7/1/2017,\r\n'
    "{1},Another,1/1/1995,,06/30/2007\r\n"
)
DAY_1995, DAY_2007 = date(1995, 1, 1), date(2007, 6, 30)


def x12_case(name: str, member: str, first: str, second: str) -> tuple:
    rows = [(first, DAY_1995, None, ""), (second, DAY_1995, DAY_2007, "")]
    return name, member, X12_CODES.format(first, second), rows


CASES = [
    ("icd-10-cm", "icd10cm_order_2027.txt", ORDER_CM, [("A000",), ("I4200",)]),
    ("icd-10-pcs", "icd10pcs_order_2027.txt", ORDER_PCS, [("0016070",)]),
    (
        "hcpcs",
        "HCPC2026_JUL_ANWEB_06172026.txt",
        hcpcs_line("A0021", last="20261231") + hcpcs_line("A0021", "4") + hcpcs_line("GT", "7", "20011001"),
        [("A0021", date(1986, 1, 1), date(2026, 12, 31), ""), ("GT", date(2001, 10, 1), None, "modifier")],
    ),
    (
        "hcpcs",
        "HCPC2026_JUL_ANWEB.csv",
        "HCPC,SEQNUM,RECID,LONG DESCRIPTION,ADD DT,ACT EFF DT,TERM DT\r\n"
        'A0021,100,3,"Ambulance, outside",19860101,20030101,\r\nA0021,200,4,more,,,\r\nGT,100,7,Via,20011001,,\r\n',
        [("A0021", date(1986, 1, 1)), ("GT", date(2001, 10, 1), None, "modifier")],
    ),
    (
        "hipps",
        "HIPPS Code Master List.csv",
        "HIPPS codes\r\nCode,Code Effective From Date,Code Effective Through Date,Payment System,Description\r\n"
        "1AFKS,10/1/2019,9/30/2020,HH,Early\r\n1AFKT,45566,,HH,Late\r\n",
        [("1AFKS", date(2019, 10, 1), date(2020, 9, 30)), ("1AFKT", date(2024, 10, 1))],
    ),
    (
        "ncci-ptp",
        "ccipra-v323r0-f1.TXT",
        PTP,
        [
            ("11042-97597", date(2011, 1, 1), None, "modifier"),
            ("11042-G0127", date(1996, 1, 1), date(2005, 12, 31), "never"),
        ],
    ),
    (
        "mue",
        "MCR_MUE_PractitionerServices_Eff_10-01-2026.csv",
        MUE,
        [("99213", None, None, "units=2 day"), ("J0171", None, None, "units=120 day")],
    ),
    (
        "ndc",
        "product.txt",
        NDC,
        [("000020152", date(2023, 11, 8)), ("500900481", date(2014, 11, 28), date(2025, 6, 30))],
    ),
    (
        "taxonomy",
        "nucc_taxonomy_261.csv",
        TAXONOMY,
        [("207Q00000X", None, None, "person"), ("261QA1903X", None, None, "organization")],
    ),
    (
        "nppes-deactivated",
        "NPPES Deactivated NPI Report 20261012.csv",
        "NPPES Deactivated Records as of Oct 12 2026,\r\nNPI,NPPES Deactivation Date\r\n1679576722,04/15/2026\r\n",
        [("1679576722", date(2026, 4, 15))],
    ),
    (
        "nppes",
        "npidata_pfile_20050523-20261011.csv",
        NPPES,
        [("1679576722", None, None, "person"), ("1588667638", None, None, "organization")],
    ),
    (
        "place-of-service",
        "place of service codes.csv",
        "Place of Service Code(s),Place of Service Name,Place of Service Description\r\n"
        '11,Office,"Location, other than a hospital"\r\n28-30,Unassigned,N/A\r\n59,Unassigned,N/A\r\n66,PACE,A center\r\n',
        [("11",), ("66",)],
    ),
    ("cpt", "LONGULT.txt", "Notice\n\n99213\tOffice visit\n99213\tlonger\n0001F\tMeasure", [("99213",), ("0001F",)]),
    ("cdt", "cdt2026.txt", "D0120\nD0140", [("D0120",), ("D0140",)]),
    x12_case("carc", "CARC.csv", "45", "A2"),
    x12_case("rarc", "RARC.csv", "MA130", "N1"),
    x12_case("claim-status", "claim status codes.csv", "21", "9"),
    x12_case("status-category", "claim status category codes.csv", "A3", "F3F"),
]  # fmt: skip


def read(name: str, data: bytes) -> list[tuple]:
    return [tuple(row) for row in READERS[name].read(io.BytesIO(data))]


def zipped(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def test_every_list_has_a_case_and_an_example_that_fits():
    assert READERS.keys() == {name for name, *_ in CASES}
    for reader in READERS.values():
        assert re.fullmatch(reader.members, reader.file_name, re.IGNORECASE), reader.name


@every_case("case", CASES, ids=lambda case: f"{case[0]} {case[1]}")
def test_a_list_is_read_from_its_publishers_file_plain_and_zipped(case):
    name, member, text, rows = case
    expected = [(*row, *(None, None, "")[len(row) - 1 :]) for row in rows]
    encoded = text.encode("cp1252" if READERS[name].windows else "utf-8")
    assert read(name, encoded) == expected
    others = {"readme.txt": b"Read me", "icd10cm_order_addenda_2027.txt": b"Add: A00"}
    assert read(name, zipped({f"folder/{member}": encoded, **others})) == expected


def test_parts_of_a_list_in_one_zip_are_read_together():
    second = PTP.replace("11042", "11043")
    parts = {"ccipra-v323r0-f2.txt": second.encode(), "ccipra-v323r0-f1.txt": PTP.encode()}
    codes = [row[0] for row in read("ncci-ptp", zipped(parts))]
    assert codes == ["11042-97597", "11042-G0127", "11043-97597", "11043-G0127"]


def test_a_workbook_is_read_by_itself_and_in_its_zip():
    sheet = workbook(
        [
            ["NPPES Deactivated Records"],
            ["NPI", "NPPES Deactivation Date"],
            ["1679576722", "04/15/2026"],
        ]
    )
    expected = [("1679576722", date(2026, 4, 15), None, "")]
    assert read("nppes-deactivated", sheet) == expected
    in_zip = zipped({"NPPES Deactivated NPI Report 20261012.xlsx": sheet})
    assert read("nppes-deactivated", in_zip) == expected


REFUSED = [
    ("icd-10-cm", b"", "empty"),
    ("icd-10-cm", ORDER_PCS.encode(), "line 2: expected a code of ICD-10-CM such as I10, found '9999999' (A for a letter, 9 for a digit)"),
    ("icd-10-cm", ORDER_CM[:150].encode(), "line 2: expected more than 77 characters, found"),
    ("icd-10-cm", ORDER_CM.encode() + ORDER_CM.encode(), "line 4: expected order numbers that rise"),
    ("icd-10-cm", ORDER_CM.encode("utf-16"), "line 1: expected text, found binary data or UTF-16"),
    ("icd-10-cm", b"ISA*00*          *00*~\n" * 20, "line 1: expected a code of ICD-10-CM"),
    ("icd-10-cm", order_line(1, "A000").replace(" 1 ", " 7 ").encode(), "line 1: expected 0 or 1 at position 15, found '9'"),
    ("hcpcs", hcpcs_line("A0021")[:200].encode(), "line 1: expected at least 276 characters, found 200"),
    ("hcpcs", b"JOHN DOE 1\n", "line 1: expected a code of HCPCS level II"),
    ("hcpcs", hcpcs_line("A0021", added="2026AB01").encode(), "line 1: expected a code"),
    ("nppes", TAXONOMY.encode("cp1252"), "line 1: expected the headings"),
    ("nppes", NPPES[:-12].encode(), "line 4: expected a whole row, found the end of the file: it is truncated"),
    ("nppes", NPPES.replace("167", "x67").replace("158", "x58").replace("110", "x10").encode(), "line 2: expected"),
    ("nppes", NPPES.encode().replace(b"UNAVAIL", b"\xe9"), "line 3: expected UTF-8, found another encoding"),
    ("cpt", b"99213\n\x81\n", "line 2: expected UTF-8 or Windows-1252"),
    ("cpt", b"9" * 300_000, "line 1: expected a line of text, found more than"),
    ("mue", MUE.replace("Practitioner", "Outpatient Hospital").encode(), "expected the headings HCPCS/CPT Code, Practitioner"),
    ("mue", MUE.encode()[:-40], "line 5: expected whole cells"),
    ("ndc", NDC.encode("cp1252")[:-12], "line 3: expected 6 columns, found"),
    ("ndc", NDC.replace("2014", "14XX").replace("2023", "23XX").encode("cp1252"), "line 2: expected a code of NDC products"),
    ("ncci-ptp", PTP.encode()[:300].rpartition(b"*")[0], "expected 6 columns, found"),
    ("ncci-ptp", PTP.replace("2011", "11XX").replace("1996", "96XX").replace("2020", "20XX").encode(), "line 1: expected"),
    ("nppes-deactivated", b"PK\x03\x04 and no zip", "damaged or truncated"),
    ("nppes-deactivated", packed("<worksheet"), "the workbook is damaged"),
    ("taxonomy", zipped({"other.csv": b"Code"}), "expected a name such as nucc_taxonomy_261.csv"),
    ("taxonomy", zipped({"nucc_taxonomy_261.csv": b"\0" * 2_000_000}), "nucc_taxonomy_261.csv is a zip bomb"),
    ("icd-10-cm", zipped({f"icd10cm_order_{year}.txt": ORDER_CM.encode() for year in (2026, 2027)}), "the zip has 2 files of this list, such as icd10cm_order_2026.txt and icd10cm_order_2027.txt: give the one of the edition"),
    ("ncci-ptp", zipped({f"ccipra-v32{q}r0-f1.txt": PTP.encode() for q in "23"}), "the zip has 2 files of this list"),
    ("taxonomy", zipped({f"{n}.csv": b"" for n in range(1001)}), "1,001 entries"),
    ("taxonomy", zipped({"nucc_taxonomy_261.csv": TAXONOMY.encode("cp1252")})[:-60], "damaged or truncated"),
]  # fmt: skip


@every_case("case", REFUSED, ids=lambda case: f"{case[0]} {case[2]}")
def test_another_file_is_refused_with_what_was_expected_and_where(case):
    name, data, message = case
    with pytest.raises(CodeFileRefused) as refused:
        read(name, data)
    assert message in str(refused.value)
    assert "JOHN" not in str(refused.value)


def test_a_damaged_member_of_a_zip_is_refused():
    damaged = bytearray(zipped({"cdt.txt": b"".join(b"D%04d\n" % n for n in range(9999))}))
    damaged[len(damaged) // 2] ^= 0xFF
    with pytest.raises(CodeFileRefused, match="zip is damaged"):
        read("cdt", bytes(damaged))


def test_an_encrypted_zip_is_refused():
    encrypted = zipped({"cdt.txt": b"D0120\n"}).replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"
    )
    with pytest.raises(CodeFileRefused, match="encrypted"):
        read("cdt", encrypted)


def test_a_file_over_the_limit_of_its_list_is_refused():
    # The description is long, so that few rows make a megabyte.
    reader = replace(READERS["cdt"], bytes_max=content.MEGABYTE)
    words = random.Random(0).randbytes(1_000_000).hex()
    large = "".join(f"D{n:04}\t{words[n * 1000 :][:1000]}\n" for n in range(2_000)).encode()
    for data in (large, zipped({"cdt.txt": large})):
        with pytest.raises(CodeFileRefused, match="larger than 1 MB"):
            list(reader.read(io.BytesIO(data)))


def test_a_few_rows_below_a_list_are_let_pass_and_many_are_not():
    codes = "".join(f"D{n:04}\n" for n in range(1000))
    notes = "Current Dental Terminology\n"
    left_out: list[int] = []
    data = io.BytesIO((codes + notes * 10).encode())
    assert len(list(READERS["cdt"].read(data, left_out))) == 1000
    assert left_out == list(range(1001, 1011))
    with pytest.raises(CodeFileRefused, match="line 1001"):
        read("cdt", (codes + notes * 31).encode())


@every_case("case", CASES, ids=lambda case: f"{case[0]} {case[1]}")
def test_a_file_tells_its_list_by_its_name_or_by_its_codes(case):
    name, member, text, _ = case
    encoded = text.encode("cp1252" if READERS[name].windows else "utf-8")
    assert [one.name for one in find_readers(member, io.BytesIO(encoded))] == [name]
    in_zip = io.BytesIO(zipped({member: encoded}))
    assert [one.name for one in find_readers("download.zip", in_zip)] == [name]
    by_content = [one.name for one in find_readers("download", io.BytesIO(encoded))]
    assert by_content == TOLD.get(name, [name])
    assert find_readers("download", io.BytesIO(b"ISA*00*~\n" * 20)) == []


TOLD = {
    "carc": ["carc", "claim-status", "status-category"],
    "claim-status": ["carc", "claim-status"],
    "rarc": ["carc", "rarc", "status-category"],
    "status-category": ["carc", "status-category"],
}
"""The lists that files without a publisher's name may be of, if their codes have one form."""
