"""Claims made by mutation of the samples, so that every claim rule fires often. The same seed gives the same claims.

A claim starts as a minimal, an extended or a random sample. It gets the changes that break one to three rules (the
cases of ``test_rules``), and half of them get values of other claims in a few fields, or lose these fields.
"""

import copy
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from random import Random
from typing import Any, NamedTuple

from clearlane.claims.forms import V3_FORMS, AnyForm, samples
from clearlane.claims.rules import RuleInputs
from tests.claims.test_rules import CASES, DAY, LINE, PAYERS, TEETH, TODAY, Case, T
from tests.claims.variety import random_claim

OTHER_DAYS = (date(2015, 9, 30), date(2004, 1, 5), date(2025, 3, 21), date(1899, 7, 1))

# What a rule asks for may be in an extended or a random sample, so that its case alone breaks it too seldom.
ALSO: dict[str, dict[str, Any]] = {
    "C154": {"F33B_BillingProviderTaxonomyCode": ...},
    "C155": {"F23_ClinicalLaboratoryImprovementAmendmentNumber": ...},
    "C207": {"F18_PatientRelationship": "Self"},
    "C524": {"F03_PatientSex": "Female", "F24_ClaimLines": [LINE]},
    "C808": {"F18_HospitalizationDateFrom": ...},
    "D107": {f"{T}F25_AreaOfOralCavity": ..., TEETH: ...},
    "D114": {"F44_ProsthesisDateOfPriorPlacement": ...},
}
# Rules of medical and dental claims that no field of V3's forms can break, and why. ``not_in_json`` of a rule says why as
# well. Faults of files break them: ``test_known_faults``.
NOT_OF_V3 = {
    "C418": "A line of V3 has no referring provider.",
    "C432": "An address of V3 has no country.",
    "C618": "V3 has no fields for a transport by ambulance.",
}


class MutatedClaim(NamedTuple):
    """A claim as a caller would send it, with the inputs of the rules."""

    kind: AnyForm
    raw: str
    inputs: RuleInputs


def mutated_claims(count: int, seed: int = 25) -> list[MutatedClaim]:
    """Return claims for V3's forms; with 5,000 every rule that they can break fires at least 20 times."""
    rng = Random(seed)
    values = _values(rng)
    every = [case for cases in CASES.values() for case in cases]
    return [_mutated(case, rng, every, values) for case in itertools.islice(_in_turns(), count)]


def _in_turns() -> Iterator[Case]:
    """Yield a case of each rule, then the next case of each, without end."""
    for turn in itertools.count():
        for rule, cases in CASES.items():
            case = cases[turn % len(cases)]
            yield case._replace(breaks={**ALSO.get(rule, {}), **case.breaks})


def _mutated(
    case: Case, rng: Random, every: list[Case], values: dict[AnyForm, dict[str, list]]
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
    if rng.random() < 0.5:
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
    found: dict[AnyForm, dict[str, list]] = {kind: defaultdict(list) for kind in V3_FORMS}
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
