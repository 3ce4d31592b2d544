"""`clearlane codes`, as an operator types it.

Also tests `cli/codes/list_facts`.
"""

import json
import zipfile

import pytest
from typer.testing import CliRunner

from clearlane.cli.codes import codes_command
from clearlane.x12.codes import dated_codes

pytestmark = pytest.mark.one_database

NUCC = '"Code","Grouping","Classification","Specialization","Definition","Section"\r\n'
DAYS = "--from 2026-10-01 --to 2027-09-30"


def taxonomy(count):
    rows = (f'"207Q{at:05}X","A","B","","","Individual"\r\n' for at in range(count))
    return NUCC + "".join(rows)


@pytest.fixture
def clearlane(place, monkeypatch):
    """Run a command in this installation, in a folder of its own: ``clearlane("codes list")``."""
    monkeypatch.setenv("CLEARLANE_DATA", str(place.data))
    monkeypatch.setenv("CLEARLANE_DATABASE_URL", place.url)
    monkeypatch.chdir(place.data)

    def run(line, *, code=0):
        result = CliRunner().invoke(codes_command.app, line.split()[1:])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return run


def status(clearlane):
    return {row["list"]: row for row in json.loads(clearlane("codes status --json").stdout)}


def test_an_edition_is_imported_shown_and_removed(clearlane, place):
    (place.data / "nucc.csv").write_text(taxonomy(200))
    assert "taxonomy" not in status(clearlane)
    done = clearlane(f"codes import taxonomy nucc.csv {DAYS}")
    assert "edition 2026-10-01 with 200 codes is in force from 2026-10-01 to 2027-09" in done.stdout
    assert "nothing changed" in clearlane(f"codes import taxonomy nucc.csv {DAYS}").stdout
    assert status(clearlane)["taxonomy"] == {
        "list": "taxonomy",
        "edition": "2026-10-01",
        "first_day": "2026-10-01",
        "last_day": "2027-09-30",
        "codes": 200,
    }
    (period,) = json.loads(clearlane("codes show taxonomy 207q00007x --json").stdout)
    assert period == {
        "first_day": "2026-10-01", "last_day": "2027-09-30", "attributes": "person",
    }  # fmt: skip
    said = clearlane("codes show taxonomy 207Q99999X", code=1).stderr
    assert said.startswith("There is no code 207Q99999X in taxonomy on any day from 2026-10-01")
    shown = json.loads(clearlane("codes show taxonomy --json").stdout)
    assert (shown["publisher"], shown["editions"][0]["source"]) == ("NUCC", "nucc.csv")
    assert "nucc.csv" in clearlane("codes list").stdout
    assert "out of force" in clearlane("codes remove taxonomy --yes").stdout
    assert "taxonomy" not in status(clearlane)
    clearlane("codes remove taxonomy --yes", code=1)
    clearlane("codes show taxonomy", code=1)


def test_the_lists_of_the_package_are_listed_with_their_days(clearlane):
    known = dated_codes.load("icd-10-cm")
    assert status(clearlane)["icd-10-cm"] == {
        "list": "icd-10-cm",
        "edition": "embedded",
        "first_day": known.first_day.isoformat(),
        "last_day": known.last_day.isoformat(),
        "codes": len({code for code, _ in known}),
    }
    assert "2026-09-30" in clearlane("codes show ICD-10-CM i42.0").stdout
    shown = json.loads(clearlane("codes show place-of-service --json").stdout)
    assert (shown["publisher"], shown["editions"][0]["last_day"]) == ("CMS", "2025-04-26")
    assert "CMS's code set of 20240502" in shown["editions"][0]["source"]


def test_the_lists_of_meanings_say_their_last_day(clearlane):
    known = status(clearlane)
    last_days = {
        name: known[name]["last_day"] for name in ("claim-status", "status-category", "carc")
    }
    assert last_days == {
        "claim-status": "2020-12-31", "status-category": "2020-12-31", "carc": "2026-06-30",
    }  # fmt: skip
    assert known["claim-status"]["codes"] > 500
    assert "X12" in clearlane("codes show claim-status").stdout
    assert json.loads(clearlane("codes show status-category A3 --json").stdout)["meaning"]
    assert "no code ZZZ in carc" in clearlane("codes show carc ZZZ", code=1).stderr


def test_what_a_file_lacks_and_what_was_no_code_is_said(clearlane, place):
    (place.data / "nucc.csv").write_text(taxonomy(200))
    clearlane(f"codes import taxonomy nucc.csv {DAYS}")
    (place.data / "cut.csv").write_text(taxonomy(198) + '"Notes","","","","",""\r\n')
    said = clearlane(f"codes import taxonomy cut.csv {DAYS}").stdout
    assert "Codes that were valid before and are not in it: 2.\n" in said
    assert "Rows of the file that are no codes: 1 (line 200).\n" in said
    newest, before = json.loads(clearlane("codes show taxonomy --json").stdout)["editions"]
    assert (newest["state"], newest["left_out"], newest["missing"]) == ("in force", 1, 2)
    assert before["state"] == "covered"


def test_a_file_alone_tells_its_list_or_is_asked_for_it(clearlane, place):
    (place.data / "any.csv").write_text(taxonomy(1))
    said = clearlane(f"codes import any.csv {DAYS}").stdout
    assert "taxonomy: edition 2026-10-01 with 1 code is in force" in said
    (place.data / "codes.csv").write_text("Code,Start,Stop\r\n45,1/1/1995,\r\n")
    said = clearlane(f"codes try codes.csv {DAYS}", code=2).stderr
    assert "codes.csv may be of carc or claim-status: give the list before the file" in said
    (place.data / "other.csv").write_text("something else\r\n")
    assert "does not tell" in clearlane(f"codes import other.csv {DAYS}", code=2).stderr


def test_a_file_that_is_not_the_list_is_refused_and_the_edition_before_stays(clearlane, place):
    whole = taxonomy(200)
    (place.data / "nucc.csv").write_text(whole)
    clearlane(f"codes import taxonomy nucc.csv {DAYS}")
    bad = {
        "other.csv": b"ISA*00*          *00*~\n" * 100,
        "short.csv": taxonomy(20).encode(),
        "cut.csv": whole[: len(whole) // 2].encode(),
        "utf16.csv": whole.encode("utf-16"),
        "large.csv": (whole + " " * 17_000_000).encode(),
        "broken.zip": b"PK\x03\x04" + b"\0" * 100,
    }
    for name, content in bad.items():
        (place.data / name).write_bytes(content)
    with zipfile.ZipFile(place.data / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("nucc_taxonomy_270.csv", b"0" * 20_000_000)
    for name in (*bad, "bomb.zip"):
        said = clearlane(f"codes import taxonomy {name} {DAYS}", code=1).stderr
        assert said.startswith(name), said
        assert "Nothing is imported" in said
    assert status(clearlane)["taxonomy"]["codes"] == 200
    assert "207Q" not in clearlane(f"codes import taxonomy other.csv {DAYS}", code=1).output


def test_a_command_that_cannot_be_meant_says_what_would_pass(clearlane):
    assert "icd-10-cm" in clearlane(f"codes import icd-9 file {DAYS}", code=2).stderr
    backwards = "--from 2026-10-01 --to 2026-09-30"
    assert "--to is before" in clearlane(f"codes import taxonomy file {backwards}", code=2).stderr
    assert "cannot be read" in clearlane(f"codes import taxonomy file {DAYS}", code=2).stderr
    assert "icd-10-cm" in clearlane("codes show icd-9", code=1).stderr


def order_file(*codes):
    return "".join(f"{at:05} {code:7} 1 {'Short':60} Long\r\n" for at, code in enumerate(codes, 1))


def test_an_edition_is_tried_and_nothing_changes(clearlane, place):
    (place.data / "order.txt").write_text(order_file("I4200", "J4B"))
    line = f"codes try icd-10-cm order.txt {DAYS}"
    assert "lacks" in clearlane(line, code=1).stderr
    before = clearlane("codes list --json").stdout
    done = clearlane(f"{line} --force").stdout
    assert "0 of 0 claims use codes that end. 0 claims that were not accepted would lose" in done
    found = json.loads(clearlane("codes trial 1 --json").stdout)
    assert (found["state"], found["list"], found["codes"]) == ("done", "icd-10-cm", {})
    assert json.loads(clearlane("codes trial 1 --claims ending --json").stdout) == []
    started = json.loads(clearlane(f"{line} --force --background --since 2026-01-01 --json").stdout)
    assert (started["id"], started["state"]) == (2, "open")
    assert "Trial 2 is canceled." in clearlane("codes cancel 2").stdout
    assert "No trial 2 is open." in clearlane("codes cancel 2", code=1).stderr
    assert "There is no trial 9." in clearlane("codes trial 9", code=1).stderr
    rows = json.loads(clearlane("codes trials --json").stdout)
    assert [(row["id"], row["state"]) for row in rows] == [(2, "canceled"), (1, "done")]
    assert clearlane("codes list --json").stdout == before


def test_a_file_that_cannot_be_tried_is_refused(clearlane, place):
    (place.data / "order.txt").write_text("another kind of file\n")
    assert "order.txt: " in clearlane(f"codes try icd-10-cm order.txt {DAYS}", code=1).stderr
    assert "no list" in clearlane(f"codes try icd order.txt {DAYS}", code=2).stderr
    assert "cannot be tried" in clearlane(f"codes try ndc order.txt {DAYS}", code=1).stderr
    assert clearlane("codes trials --json").stdout.strip() == "[]"
