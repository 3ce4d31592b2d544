"""Claims made by mutation of the samples, so that every claim rule fires often. The same seed gives the same claims.

A claim starts as a minimal, an extended or a random sample. It gets the changes that break one to three rules (the
cases of ``test_rules``), and half of them get values of other claims in a few fields, or lose these fields.
"""

import copy
import json
import re
from collections import defaultdict
from datetime import date
from random import Random
from typing import Any, NamedTuple

from clearlane.claims.forms import FORMS, AnyForm, samples
from clearlane.claims.rules import RuleInputs
from tests.claims.test_rules import CASES, DAY, PAYERS, TODAY, Case
from tests.claims.variety import random_claim

RULE_CLAIMS = 30
"""Claims made for each rule; the rest break rules at random."""
OTHER_DAYS = (date(2015, 9, 30), date(2004, 1, 5), date(2025, 3, 21), date(1899, 7, 1))


class MutatedClaim(NamedTuple):
    """A claim as a caller would send it, with the inputs of the rules."""

    kind: AnyForm
    raw: str
    inputs: RuleInputs


def mutated_claims(count: int, seed: int = 25) -> list[MutatedClaim]:
    """Return claims of every kind; with 5,000 every rule fires at least 20 times."""
    rng = Random(seed)
    values = _values(rng)
    wanted = [case for cases in CASES.values() for case in _cycled(cases, RULE_CLAIMS)]
    every = [case for cases in CASES.values() for case in cases]
    wanted += [rng.choice(every) for _ in range(count - len(wanted))]
    return [_mutated(case, at, rng, every, values) for at, case in enumerate(wanted[:count])]


def _cycled(cases: list[Case], count: int) -> list[Case]:
    return [cases[at % len(cases)] for at in range(count)]


def _mutated(
    case: Case, at: int, rng: Random, every: list[Case], values: dict[AnyForm, dict[str, list]]
) -> MutatedClaim:
    claim = _sample(case, rng)
    inputs: dict[str, Any] = {"today": TODAY, "payer": PAYERS[case.kind]}
    others = [other for other in every if other.kind is case.kind]
    for other in rng.sample(others, rng.choice((0, 0, 1, 2))):
        _change(claim, other.breaks)
        inputs |= other.facts
    _change(claim, case.breaks)
    inputs |= case.facts
    if (payer := inputs["payer"]) is None or not payer.member_id_pattern:
        # What a payer wants is said by its own row: without a pattern it wants none.
        inputs["edits"] = frozenset(inputs.get("edits", ())) - {"member_id"}
    if at % 2:
        for path in rng.sample(sorted(values[case.kind]), rng.randint(1, 8)):
            choice = rng.choice([*values[case.kind][path], ...])
            _change(claim, {path: str(rng.choice(OTHER_DAYS)) if _is_day(choice) else choice})
    return MutatedClaim(case.kind, json.dumps(claim, default=str), RuleInputs(**inputs))


def _sample(case: Case, rng: Random) -> dict[str, Any]:
    if case.full or rng.random() < 0.2:
        return samples.extended_claim(case.kind, DAY)
    if rng.random() < 0.6:
        return samples.minimal_claim(case.kind, DAY)
    return random_claim(case.kind, rng, DAY)


def _change(claim: dict[str, Any], changes: dict[str, Any]) -> None:
    for path, value in changes.items():
        part, name = claim, path
        inside = re.fullmatch(r"(\w+)\[(\d+)\]\.(.+)", path)
        if inside:
            lines, index, name = claim[inside[1]], int(inside[2]), inside[3]
            lines += [copy.deepcopy(lines[0]) for _ in range(index + 1 - len(lines))]
            part = lines[index]
        if value is ...:
            part.pop(name, None)
        else:
            part[name] = copy.deepcopy(value)


def _values(rng: Random) -> dict[AnyForm, dict[str, list]]:
    """Return the values that samples and cases have in each field, by path; of lines the first."""
    found: dict[AnyForm, dict[str, list]] = {kind: defaultdict(list) for kind in FORMS.values()}
    for case in (case for cases in CASES.values() for case in cases):
        for changes in (case.breaks, case.keeps):
            for path, value in changes.items():
                if value is not ...:
                    found[case.kind][path].append(value)
    for kind, own in found.items():
        lines = kind.lines_field
        own.pop(lines, None)
        made = [random_claim(kind, rng, DAY) for _ in range(40)]
        for claim in (samples.extended_claim(kind, DAY), *made):
            for name, value in claim.items():
                if name != lines:
                    own[name].append(value)
            for name, value in claim[lines][0].items():
                own[f"{lines}[0].{name}"].append(value)
    return found


def _is_day(value: object) -> bool:
    return isinstance(value, date) or bool(re.fullmatch(r"\d{4}-\d\d-\d\d", str(value)))
