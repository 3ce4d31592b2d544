"""The types of what the client sends: fresh, complete, and of use to a type checker over every documented example.

Also tests `client/input_types` and `client/limits`.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

from clearlane.claims.forms import V3_DENTAL, V3_MEDICAL, samples
from clearlane.client import input_types
from tests.patience import PATIENCE_SECONDS
from tools.docs import client_types
from tools.docs.record_examples import PROVIDER

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TYPED = """\
from clearlane.client import Client, DentalClaim, Enrollment, MedicalClaim, MedicalLine, RequestSubscriber

line: MedicalLine = {
    "F24A_DateOfServiceFrom": "2026-01-15", "F24B_PlaceOfServiceCode": "11",
    "F24D_HcpcsProcedureCode": "99213", "F24E_DiagnosisPointers": ["A"], "F24F_Charges": 100,
}
wrong_line: MedicalLine = {**line, "F24G_DayOrUnits": 1}
line["F24G_DayOrUnits"] = 1
line["F24F_Charges"] = None
short: DentalClaim = {"Svc_PayerId": "TST02"}
patient: RequestSubscriber = {"MemberId": "1", "Birthday": "1980-01-01"}
provider: Enrollment = {"RequestId": "1", "NpiType": "Organisation"}
"""
# One row per line with a mistake: what the type checker says of it.
FOUND = {
    7: 'Extra key "F24G_DayOrUnits"',
    8: 'no key "F24G_DayOrUnits"',
    9: "F24F_Charges",
    10: "Missing keys",
    11: 'Extra key "Birthday"',
    12: "Missing keys",
}


def test_the_types_agree_with_the_catalogues():
    written = client_types.TARGET.read_text(encoding="utf-8")
    assert written == client_types.text(), f"{client_types.TARGET.name} is old: run `make docs`"


@pytest.mark.parametrize(
    ("type", "sample"),
    [
        (input_types.MedicalDocument, V3_MEDICAL),
        (input_types.DentalDocument, V3_DENTAL),
    ],
)
def test_a_sample_with_every_field_fits_its_type(type, sample, day):
    """Names and required fields are checked here, the types of values by the type checker."""
    unknown = list(strangers(samples.document(sample, day=day, full=True), type))
    assert not unknown
    assert len(get_type_hints(type)) == 2


def test_an_enrollment_fits_its_type():
    assert not list(strangers(PROVIDER, input_types.Enrollment))


@pytest.fixture
def day():
    from datetime import date

    return date(2026, 1, 15)


def strangers(value, type):
    """Names of a value that its type does not have, and required names that are missing."""
    hints = get_type_hints(type)
    yield from value.keys() - hints.keys()
    yield from type.__required_keys__ - value.keys()
    for name, inner in value.items():
        classes = re.findall(r"input_types\.(\w+)", str(hints.get(name)))
        for each in inner if isinstance(inner, list) and classes else []:
            yield from strangers(each, getattr(input_types, classes[0]))


def program_of(block: str) -> str:
    """The code of an example; where it shows a session, without prompts and answers."""
    if not block.startswith(">>> "):
        return block
    lines = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "... "))]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What mypy says of every Python example of the documentation, and of a program with mistakes."""
    folder = tmp_path_factory.mktemp("typed")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if blocks := FENCE.findall(page.read_text(encoding="utf-8")):
            code = "\n".join(map(program_of, blocks))
            (folder / f"page_{page.stem.replace('-', '_')}.py").write_text(code)
    for file in sorted((ROOT / "examples").glob("*.py")):
        (folder / f"example_{file.name}").write_bytes(file.read_bytes())
    (folder / "mistakes.py").write_text(TYPED)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--python-version", "3.11", "."],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip
    files = {file.name for file in folder.glob("*.py")}
    return files, [line for line in done.stdout.splitlines() if ": error:" in line]


def test_the_examples_of_the_documentation_have_no_type_errors(checked):
    files, errors = checked
    assert {"page_client.py", "page_x12_library.py", "example_python_sync.py"} <= files
    assert [line for line in errors if not line.startswith("mistakes.py")] == []


def test_a_type_checker_finds_a_wrong_name_and_a_missing_field(checked):
    found = {int(line.split(":")[1]): line for line in checked[1] if line.startswith("mistakes.py")}
    assert found.keys() == FOUND.keys(), found
    assert not [found[at] for at, words in FOUND.items() if not re.search(words, found[at])]
