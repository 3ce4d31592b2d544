"""Examples of claim rules for the reference and the console: the cases of the tests, which prove that they fail and pass."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearlane.claims.responses import rule_examples
from clearlane.claims.rules import RULES
from tests.claims.institutional_faults import FAULTS, OF_FIELDS, BillFault
from tests.claims.test_known_faults import FILES, Fault
from tests.claims.test_rules import CASES, Case

TARGET = Path(rule_examples.__file__).with_name(rule_examples.FILE)
SAMPLE = "the sample claim"
CHARACTERS_MAX = 160


def example_of(rule_id: str) -> tuple[str, str]:
    """Return what fails by a rule and what passes: values of fields, or segments of a file."""
    if rule_id in CASES:
        case = CASES[rule_id][0]
        return _claim(case, case.breaks, case.facts), _claim(case, case.keeps, case.fine)
    if rule_id in OF_FIELDS:
        fails, passes = (
            "; ".join(f"`{name}` {_code(json.dumps(value))}" for name, value in given.items())
            for given in OF_FIELDS[rule_id]
        )
        return fails, passes
    every: list[Fault | BillFault] = [*FILES.values(), *FAULTS.values()]
    # The first rule of a fault is the one that it is about.
    changes = next(fault.changes for fault in every if rule_id == fault.rules.split()[0])
    return _code("; ".join(changes.values()) or "nothing"), _code("; ".join(changes))


def _claim(case: Case, changes: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Return the fields of a claim that matter, and what else is known of it."""
    kind = "full sample" if case.full else SAMPLE.removeprefix("the ")
    fields = [
        f"no `{name}`" if value is ... else f"`{name}` {_code(json.dumps(value, default=str))}"
        for name, value in changes.items()
    ]
    known = [f"{name.replace('_', ' ')}: {_text(value)}" for name, value in facts.items()]
    return "; ".join([*fields, *known]) or f"the {kind}"


def _text(value: object) -> str:
    """Return a fact in short: a payer by its name, what it wants in words, yes or no."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, (set, frozenset)):
        return ", ".join(sorted(map(str, value))) or "none"
    name = getattr(value, "name", None)
    text = str(name) if name else str(value)
    return "imported" if text.startswith("<") else text[:CHARACTERS_MAX]


def _code(text: str) -> str:
    short = text if len(text) <= CHARACTERS_MAX else f"{text[:CHARACTERS_MAX]}..."
    return f"`{short.replace('|', '/')}`"


def examples_text() -> str:
    """Return the file of examples in the package, which the console shows."""
    lines = ("\t".join((id, *example_of(id))).replace("`", "") for id in sorted(RULES))
    return "\n".join(lines) + "\n"
