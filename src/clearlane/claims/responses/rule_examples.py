"""An example of each claim rule: what fails by it, and what passes.

    example_of("C703")                  # fails: F28_TotalCharge "0.00"; passes: the sample claim

The examples are the cases of the tests, which send every one of them; ``make docs`` writes them into ``rule_examples.txt``,
a line each: rule, what fails, what passes, separated by tabs.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

FILE = "rule_examples.txt"


class RuleExample(NamedTuple):
    """What fails by a rule and what passes: values of fields, or segments of a file."""

    fails: str
    passes: str


def example_of(rule_id: str) -> RuleExample | None:
    """Return the example of a rule; None if there is none."""
    return _examples().get(rule_id)


@cache
def _examples() -> Mapping[str, RuleExample]:
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines())
    return {rule: RuleExample(fails, passes) for rule, fails, passes in rows}
