"""Files of payers: everything good in them is read, everything bad is named with its line."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearlane.kernel import limits
from clearlane.payers.model import ERAS, PAYER_TYPES, Payer
from clearlane.payers.samples import LIVE_PAYERS
from clearlane.payers.transfer import as_wire, read_payers, write_csv, write_json

HEADER = (
    "Type,Name,SvcPayerId,PayerId,NationalPayerId,EraAvailability,OffersEligibility,"
    "ClaimEnrollmentRequired,Aliases,Active,AcceptsClaims"
)
GOOD = "Medical,Meadow Mutual,MM010,MDW10,,RequiresEnrollment,true,false,Meadow|MMIC,true,true"
MEADOW = Payer(
    "Medical",
    "Meadow Mutual",
    "MM010",
    "MDW10",
    "",
    "RequiresEnrollment",
    True,
    False,
    aliases=("Meadow", "MMIC"),
)


def read(text: str | bytes):
    return read_payers(text.encode() if isinstance(text, str) else text)


def found(text: str | bytes):
    return [(row.line, row.finding.rule, row.finding.location) for row in read(text).findings]


def csv_of(*rows: str) -> str:
    return "\n".join((HEADER, *rows)) + "\n"


# ---- CSV ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("order_mark", ["", "\ufeff"])
def test_a_csv_file_is_read_whatever_its_line_ends_and_byte_order_mark(end, order_mark):
    text = order_mark + HEADER + end + GOOD + end
    assert read(text).payers == ((2, MEADOW),)
    assert found(text) == []


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_of_spreadsheets_are_read(delimiter):
    text = csv_of(GOOD).replace(",", delimiter)
    assert read(text).payers == ((2, MEADOW),)


def test_columns_may_stand_in_any_order_and_case_and_optional_ones_may_be_left_out():
    text = (
        "payerid,NAME,Type,OffersEligibility,ClaimEnrollmentRequired,EraAvailability\n"
        "SMD05,Summit Dental,dental,yes,no,available\n"
    )
    payer = Payer("Dental", "Summit Dental", "SMD05", "SMD05", "", "Available", True)
    assert read(text).payers == ((2, payer),)


def test_lines_are_counted_over_blank_rows_and_line_breaks_in_cells():
    text = csv_of(
        "", GOOD, ",,,,,,,,,", '"Medical","Meadow\nMutual"' + GOOD[21:], "Vision" + GOOD[7:]
    )
    assert [line for line, _ in read(text).payers] == [3, 5]
    assert found(text) == [(7, "PAY002", "Type")]


def test_every_bad_row_is_reported_with_line_field_and_reason():
    text = csv_of(
        GOOD,
        "Vision,Harbor Health Plan,,HHP20,,Available,true,false,,",
        "Medical,,,A*B,,Sometimes,maybe,,,",
        "Medical,Harbor Health Plan,,HHP20,,Available,true,false,,,,surplus",
    )
    assert found(text) == [
        (3, "PAY002", "Type"),
        (4, "PAY001", "Name"),
        (4, "PAY002", "PayerId"),
        (4, "PAY002", "EraAvailability"),
        (4, "PAY002", "OffersEligibility"),
        (4, "PAY001", "ClaimEnrollmentRequired"),
        (5, "PAY008", ""),
    ]
    assert "Medical or Dental" in read(text).findings[0].finding.message


def test_blank_cells_beyond_the_header_are_nothing():
    assert read(csv_of(GOOD + ",,,")).payers == ((2, MEADOW),)


def test_a_missing_column_is_reported_once_and_the_rest_of_the_rows_still_checked():
    text = "Type,Name,PayerId,OffersEligibility,ClaimEnrollmentRequired,Color,Name\n" + (
        "Vision,Meadow Mutual,MDW10,true,true,green,x\n" * 2
    )
    assert found(text) == [
        (1, "PAY003", "Color"),
        (1, "PAY003", "Name"),
        (1, "PAY001", "EraAvailability"),
        (2, "PAY002", "Type"),
        (3, "PAY002", "Type"),
    ]


def test_a_file_without_a_header_says_so():
    assert found(GOOD) == [(1, "PAY007", "")]


def test_bytes_that_are_not_utf8_are_found_in_their_field_and_the_rest_is_checked():
    text = csv_of(GOOD, "Vision" + GOOD[7:]).encode().replace(b"Meadow Mutual", b"M\xe9adow", 1)
    assert found(text) == [(2, "PAY002", "Name"), (3, "PAY002", "Type")]
    assert "UTF-8" in read(text).findings[0].finding.message


def test_a_utf16_file_is_recognized():
    assert "UTF-16" in read(csv_of(GOOD).encode("utf-16")).findings[0].finding.message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (csv_of(GOOD, '"Medical'), 3),
        (csv_of('"Medical"x,y'), 2),
        (csv_of("x" * 200_000), 2),
        ('"Type', 1),
    ],
)
def test_a_row_that_is_no_csv_is_reported_with_its_line(text, line):
    assert (line, "PAY007", "") in found(text)


@pytest.mark.parametrize("text", ["", "\n\n", HEADER, csv_of(), "[]", " [ ]\n"])
def test_a_file_without_payers_is_refused(text):
    assert read(text).payers == ()
    assert [rule for _, rule, _ in found(text)] == ["PAY007"]


def test_a_file_beyond_the_limit_is_refused_unread():
    assert found(b" " * (limits.PAYER_FILE_BYTES_MAX + 1)) == [(1, "PAY007", "")]


# ---- JSON --------------------------------------------------------------------------------------

WIRE = as_wire(MEADOW)


def test_a_json_array_is_read_with_lines():
    text = json.dumps([WIRE, WIRE | {"PayerId": "MDW11", "Active": "false"}], indent=1)
    (one, meadow), (other, second) = read(text).payers
    assert (one, meadow) == (2, MEADOW)
    assert other == text.splitlines().index(" {", 2) + 1
    assert (second.payer_id, second.active) == ("MDW11", False)


def test_every_bad_element_is_reported_with_its_line():
    text = "[\n" + ",\n".join(
        [
            json.dumps(WIRE),
            "17",
            json.dumps(WIRE | {"Type": "Vision", "PayerId": 5}),
            json.dumps(WIRE | {"Color": "green"}),
            json.dumps(WIRE | {"Name": None}),
            '{"Type": "Medical", "Name": "\\ud800"}',
        ]
    )
    text += "\n]\n"
    assert found(text) == [
        (3, "PAY008", ""),
        (4, "PAY002", "Type"),
        (4, "PAY002", "PayerId"),
        (5, "PAY003", "Color"),
        (6, "PAY001", "Name"),
        (7, "PAY002", "Name"),
        (7, "PAY001", "PayerId"),
        (7, "PAY001", "EraAvailability"),
        (7, "PAY001", "OffersEligibility"),
        (7, "PAY001", "ClaimEnrollmentRequired"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[\n{,}]", 2),
        ("[\n", 2),
        ("[{}", 1),
        ("[{}\n,\n]", 3),
        ("[{} {}]", 1),
        ("[{}]\n\nx", 3),
        ('[{"Name": NaN}]', 1),
        ('[{"Name": ' + "9" * 5_000 + "}]", 1),
        ("[" * 100_000, 1),
        ('{"Payers": []}', 1),
    ],
)
def test_a_file_that_is_no_json_array_is_reported_with_its_line(text, line):
    assert (line, "PAY007", "") in found(text)


# ---- both ways ---------------------------------------------------------------------------------

IDS = st.text("ABCabc019-=+@'&_", min_size=1, max_size=12)
NAMES = (
    st.text(min_size=1, max_size=30)
    .map(lambda t: " ".join(t.split()))
    .filter(lambda t: t and t.isprintable())
)
PAYERS = st.builds(
    Payer,
    type=st.sampled_from(PAYER_TYPES),
    name=NAMES,
    svc_payer_id=IDS,
    payer_id=IDS,
    national_payer_id=IDS | st.just(""),
    era_availability=st.sampled_from(ERAS),
    offers_eligibility=st.booleans(),
    claim_enrollment_required=st.booleans(),
    active=st.booleans(),
    aliases=st.lists(NAMES.filter(lambda t: "|" not in t), max_size=3, unique=True).map(tuple),
)


@given(st.lists(PAYERS, min_size=1, max_size=5))
@settings(deadline=None)
def test_what_is_exported_imports_as_the_same_payers(payers):
    for write in (write_csv, write_json):
        incoming = read(write(payers))
        assert incoming.findings == ()
        assert [payer for _, payer in incoming.payers] == payers


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: (csv_of(t)).encode()))
@settings(deadline=None)
def test_no_file_raises(content):
    incoming = read_payers(content)
    assert incoming.payers or incoming.findings


def test_an_exported_cell_is_never_a_formula():
    payers = [
        Payer("Medical", name, "=1", "@2")
        for name in ("=1+1", "+1", "-1", "@SUM", "'quoted", "\uff1d1", "plain")
    ]
    for row in write_csv(payers).splitlines()[1:]:
        assert all(cell[:1] not in "=+-@\uff1d" for cell in row.split(",") if cell)
    assert [p for _, p in read(write_csv(payers)).payers] == payers


def test_a_quote_that_guards_nothing_stays():
    ((_, payer),) = read(csv_of(GOOD.replace("Meadow Mutual", "'Tis Health"))).payers
    assert payer.name == "'Tis Health"


def test_the_samples_round_trip():
    assert [p.payer_id for _, p in read(write_csv(LIVE_PAYERS)).payers] == [
        p.payer_id for p in LIVE_PAYERS
    ]


def test_progress_is_reported_while_reading():
    reported = []
    read_payers(csv_of(*[GOOD] * 600).encode(), lambda done, of: reported.append((done, of)))
    read_payers(write_json([MEADOW] * 600).encode(), lambda done, of: reported.append((done, of)))
    assert len(reported) == 6
    assert all(0 <= done <= of for done, of in reported)
