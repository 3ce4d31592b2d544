import pytest

from clearlane.kernel.finding import Severity
from clearlane.kernel.rule_registry import FindingType, RuleRegistry

ROW = FindingType("R1", Severity.ERROR, "A day is given.")


def test_rows_are_listed_by_id_in_order():
    other = FindingType("A1", Severity.WARNING, "A name is given.")
    assert list(RuleRegistry(FindingType, [ROW, other]).items()) == [("R1", ROW), ("A1", other)]


def test_a_rule_is_registered_with_its_docstring_as_sentence():
    rules = RuleRegistry(
        lambda name, severity, sentence, check, box: FindingType(
            name, severity, f"{sentence} {box}"
        )
    )

    def check():
        """A day
        is given."""

    assert rules.rule("R1", Severity.WARNING, box="14")(check) is check
    assert rules == {"R1": FindingType("R1", Severity.WARNING, "A day is given. 14")}


def test_an_id_is_used_once():
    with pytest.raises(ValueError, match="R1 is defined twice"):
        RuleRegistry(FindingType, [ROW, ROW])


def test_a_rule_has_a_sentence():
    rules = RuleRegistry(
        lambda name, severity, sentence, check: FindingType(name, severity, sentence)
    )
    with pytest.raises(ValueError, match="R1 needs a docstring"):
        rules.rule("R1", Severity.ERROR)(lambda: ())
