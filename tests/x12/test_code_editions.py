"""Code lists in force: imported editions over the list of the package, each for its days."""

from datetime import date

import pytest

from clearlane.x12.codes import dated_codes
from clearlane.x12.codes.code_editions import (
    EMBEDDED,
    CodeEdition,
    CodeLists,
    EditionCode,
    combine,
)
from clearlane.x12.codes.dated_codes import DatedCodes, Period
from tests.cases import every_case


def day(text):
    return date.fromisoformat(text)


def edition(id, first, last):
    return CodeEdition(id, "letters", str(id), day(first), day(last), 0)


def rows(*codes):
    return [EditionCode(code, None, None) for code in codes]


YEAR = Period(day("2026-01-01"), day("2026-12-31"), frozenset({"adult"}))
BELOW = DatedCodes([(day("2026-01-01"), day("2026-12-31"))], [(YEAR, ["A", "B"])])


def valid(known, text):
    return "".join(code for code in "ABCD" if known.is_valid(code, day(text), day(text)))


@every_case(
    ("on", "codes"),
    [
        ("2025-12-31", ""),
        ("2026-01-01", "AB"),
        ("2026-03-31", "AB"),
        ("2026-04-01", "BC"),
        ("2026-05-31", "BC"),
        ("2026-06-01", "AD"),
        ("2026-07-01", "BC"),
        ("2026-12-31", "AB"),
    ],
)
def test_the_edition_that_was_imported_last_decides_on_its_days(on, codes):
    known = combine(
        BELOW,
        [
            (edition(1, "2026-04-01", "2026-09-30"), rows("B", "C")),
            (edition(2, "2026-06-01", "2026-06-30"), rows("A", "D")),
        ],
    )
    assert valid(known, on) == codes


def test_an_edition_that_another_hides_decides_on_no_day():
    days = ("2026-04-01", "2026-09-30")
    known = combine(None, [(edition(1, *days), rows("A")), (edition(2, *days), rows("B"))])
    assert [code for code, _ in known] == ["B"]
    assert not known.is_valid_throughout("B", day("2026-03-31"), day("2026-04-01"))


def test_an_edition_extends_the_list_and_leaves_gaps_uncovered():
    later = edition(1, "2027-03-01", "2027-03-31")
    known = combine(BELOW, [(later, rows("A"))])
    assert (known.first_day, known.last_day) == (YEAR.first_day, later.last_day)
    assert [known.covers(day(text)) for text in ("2026-12-31", "2027-01-01", "2027-03-01")] == [
        True, False, True,
    ]  # fmt: skip
    assert known.nearest_day(day("2027-02-01")) == YEAR.last_day
    assert known.nearest_day(day("2020-01-01")) == YEAR.first_day


def test_a_code_that_goes_on_in_the_next_edition_has_one_period_with_its_marks():
    known = combine(BELOW, [(edition(1, "2027-01-01", "2027-12-31"), rows("A", "C"))])
    assert known.periods("A") == [YEAR._replace(last_day=day("2027-12-31"))]
    assert known.periods("C") == [Period(day("2027-01-01"), day("2027-12-31"))]


def test_a_code_is_valid_on_its_own_days_within_the_edition():
    own = [
        EditionCode("A", day("2026-02-01"), day("2030-01-01"), "one two"),
        EditionCode("B", None, day("2025-01-01")),
    ]
    known = combine(None, [(edition(1, "2026-01-01", "2026-03-31"), own)])
    assert [*known] == [
        ("A", Period(day("2026-02-01"), day("2026-03-31"), frozenset({"one", "two"})))
    ]


def test_lists_speak_without_a_gap_until_the_first_of_them_ends():
    embedded = min(dated_codes.load(name).last_day for name in dated_codes.names())
    assert [EMBEDDED.complete_until, EMBEDDED.complete_until] == [embedded, embedded]
    assert CodeLists({"letters": BELOW}).complete_until == YEAR.last_day
    gap = combine(BELOW, [(edition(1, "2030-01-01", "2030-12-31"), rows("A"))])
    assert CodeLists({"letters": gap}).complete_until == YEAR.last_day


def test_a_list_that_nobody_imported_is_that_of_the_package():
    assert EMBEDDED["icd-10-cm"] is dated_codes.load("icd-10-cm")
    assert EMBEDDED.find("npi") is None
    assert dated_codes.find_days("npi") is None
    for load in (EMBEDDED.__getitem__, dated_codes.load):
        with pytest.raises(KeyError):
            load("npi")
    lists = CodeLists({"letters": BELOW}, {"npi": (edition(1, "2026-01-01", "2026-12-31"),)})
    assert {"icd-10-cm", "letters", "npi"} <= {*lists}
    assert lists.with_asked({"npi": BELOW})["npi"] is BELOW
    assert lists.with_asked({})["letters"] is BELOW
