"""The changes that are tried are programs that differ in one place: `mutation/mutants`."""

import textwrap
from pathlib import Path

import pytest

from tests.mutation.mutants import compile_mutant, mutants_of, sample
from tests.mutation.packages import PACKAGES
from tests.mutation.plugin import in_turn
from tests.mutation.survivors import EQUIVALENT, PRODUCT, UNNOTICED, by_change, change_of

ROOT = Path(__file__).resolve().parents[2]

MODULE = '''
LIMIT = 3

class Range:
    """A range."""

    def holds(self, number: int = 5) -> bool:
        """Say whether a number is in it."""
        if number < LIMIT and number != 2:
            return True
        return False

def total(numbers):
    found = 0
    for each in numbers:
        if each is None:
            continue
        found += each
    return found
'''


@pytest.fixture
def root(tmp_path):
    (tmp_path / "module.py").write_text(textwrap.dedent(MODULE), encoding="utf-8")
    return tmp_path


def found_in(root):
    return [*mutants_of(Path("module.py"), root)]


def run(root, mutant):
    """Return what the functions say once one of them is changed."""
    names: dict[str, object] = {}
    exec(compile(MODULE, str(root / "module.py"), "exec"), names)
    made = names["Range"]()
    function = type(made).holds if "." in mutant.function else names[mutant.function]
    function.__code__ = compile_mutant(mutant, root)
    return [made.holds(number) for number in range(5)], names["total"]([1, None, 2])


def test_each_change_is_of_one_place_and_no_text_or_default_is_changed(root):
    assert [(each.before, each.after) for each in found_in(root)] == [
        ("if number < LIMIT and number != 2:", "if not (number < LIMIT and number != 2):"),
        ("number < LIMIT and number != 2", "number < LIMIT or number != 2"),
        ("number < LIMIT", "number <= LIMIT"),
        ("number != 2", "number == 2"),
        ("2", "3"),
        ("return True", "return None"),
        ("True", "False"),
        ("return False", "return None"),
        ("False", "True"),
        ("0", "1"),
        ("if each is None:", "if not each is None:"),
        ("each is None", "each is not None"),
        ("continue", "break"),
        ("found += each", "pass"),
        ("return found", "return None"),
    ]


def test_every_change_of_this_module_changes_what_it_does(root):
    usual = ([True, True, False, False, False], 3)
    for mutant in found_in(root):
        try:
            assert run(root, mutant) != usual, mutant
        except TypeError:  # a number is added to nothing
            assert mutant.before == "each is None" or "not each" in mutant.after


def test_the_same_seed_draws_the_same_changes(root):
    every = found_in(root)
    assert sample(every, 5, 7) == sample(every, 5, 7) != sample(every, 5, 8)
    assert len(sample(every, 500, 7)) == len(every)


def test_changes_that_read_the_same_have_numbers(tmp_path):
    (tmp_path / "module.py").write_text("def both():\n    return 1, 1\n", encoding="utf-8")
    ones = [each for each in found_in(tmp_path) if each.before == "1"]
    assert [each.which for each in ones] == [1, 2]
    assert [str(each).partition("`2`")[2] for each in ones] == ["", " (2)"]


def test_what_survives_by_judgement_is_a_change_of_the_code_judged_once():
    judged = [
        change
        for reasons in (EQUIVALENT, UNNOTICED)
        for every in reasons.values()
        for change in every
    ]
    assert len(judged) == len({*judged})
    found = {
        change_of(mutant)
        for file in {change.file for change in judged}
        for mutant in mutants_of(Path(PRODUCT, file), ROOT)
    }
    assert {*by_change(EQUIVALENT), *by_change(UNNOTICED)} <= found


def test_likelier_tests_go_first_and_each_is_run_once():
    seconds = {
        "tests/x12/test_tree.py::test_slow": 5.0,
        "tests/x12/test_tree.py::test_fast": 0.1,
        "tests/x12/test_reader.py::test_own": 9.0,
    }
    slow, fast, own = tests = [*seconds]
    reader = Path("src/clearlane/x12/reader/reader.py")
    assert in_turn(tests, seconds, reader, []) == [own, fast, slow]
    assert in_turn(tests, seconds, reader, [slow, fast]) == [fast, slow, own]
    assert in_turn([slow], seconds, reader, [fast]) == [slow]


def test_every_package_has_files_and_tests():
    for package in PACKAGES.values():
        assert all([*ROOT.glob(files)] for files in package.files)
        assert all((ROOT / tests).is_dir() for tests in package.tests)
