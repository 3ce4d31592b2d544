"""What is found in every example of a claim rule, with place and sentence, as a list that a run writes.

The examples say which rule finds them; the list, ``recorded_findings.txt``, has all that is found: each finding of the rule
that an example is about with its sentence, those of others by their place. Write it again when a rule, a place or a sentence
changes, and read the difference::

    .venv/bin/python -m tests.claims.recorded_findings
"""

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import AnyForm, form_of
from clearlane.claims.rules import RULES, RuleInputs
from clearlane.claims.rules.file_findings import FileFindings
from clearlane.claims.rules.registry import ClaimRule, RuleScope
from clearlane.claims.view import ClaimView
from clearlane.kernel.finding import Finding
from clearlane.x12.checker.check import check
from tests.claims import test_institutional_rules as bills
from tests.claims import test_known_faults as known_faults
from tests.claims import test_rules as examples
from tests.claims.bill_edges import EDGES
from tests.claims.institutional_claims import TODAY
from tests.claims.institutional_faults import FAULTS
from tests.claims.test_ub04 import judged
from tests.claims.ub04_of_file import ub04_of
from tests.recorded_list import RecordedList


def _of_examples() -> Iterator[str]:
    for rule_id, cases in examples.CASES.items():
        for at, case in enumerate(cases):
            usual = _of_sample(case.kind, full=case.full)
            for name, changes, facts in (
                (f"{rule_id} {at}", case.breaks, case.facts),
                (f"{rule_id} {at} kept", case.keeps, case.fine),
            ):
                found = examples.checked(case, changes, facts).findings
                more = [one for one in found if one.rule == rule_id or one not in usual]
                yield from _shown(name, more, {rule_id})


def _paths_of_examples() -> Iterator[str]:
    """Yield the paths of the view that each rule states: a form gives a path that it does not know the place of a part."""
    for rule_id, cases in examples.CASES.items():
        for at, case in enumerate(cases):
            claim = examples.checked(case, case.breaks, case.facts).claim
            inputs = examples.inputs_of(case, case.facts)
            paths = [*_paths(RULES[rule_id], form_of(claim).view(claim), inputs)]
            if paths:  # a rule about values has none
                yield f"{rule_id} {at}: {', '.join(paths)}"


def _paths(rule: ClaimRule, view: ClaimView, inputs: RuleInputs) -> Iterator[str]:
    if rule.scope is RuleScope.LINE:
        for at, line in enumerate(view.lines):
            yield from (f"lines[{at}].{path}" for path, _ in rule.check(line, view, inputs))
    elif rule.scope is RuleScope.CLAIM:
        read = [rule.reading(view, inputs)] if rule.reading else []
        if read != [None]:
            yield from (path for path, _ in rule.check(view, inputs, *read))


@cache
def _of_sample(kind: AnyForm, *, full: bool) -> Collection[ClaimFinding]:
    """Return what is said of a sample claim before it is changed."""
    return examples.checked(examples.Case(kind, {}, "", {}, full=full), {}, {}).findings


def _of_json() -> Iterator[str]:
    for name, fault in known_faults.JSON.items():
        found = known_faults.of_json(fault.form, fault.changes)
        yield from _shown(name, found, fault.rules.split())


def _of_files() -> Iterator[str]:
    for name, fault in known_faults.FILES.items():
        found = known_faults.of_file(fault.form, fault.changes)
        yield from _shown(name, found, fault.rules.split())


def _of_bills() -> Iterator[str]:
    for name, fault in FAULTS.items():
        found = check(fault.file(), findings_of=FileFindings(TODAY, bills.known_of)).findings
        yield from _shown(name, found, fault.rules.split())


def _of_bills_as_json() -> Iterator[str]:
    for name, fault in FAULTS.items():
        result, _ = judged(ub04_of(fault.file()))
        yield from _shown(name, result.findings if result else (), fault.rules.split())


def _of_bill_edges() -> Iterator[str]:
    for at, edge in enumerate(EDGES):
        for bill, name in (
            (edge.beyond, f"{edge.rule} {at}"),
            (edge.within, f"{edge.rule} {at} kept"),
        ):
            found = check(bill.file(), findings_of=FileFindings(TODAY, bills.known_of)).findings
            yield from _shown(name, found, {edge.rule})


def _of_bill_edges_as_json() -> Iterator[str]:
    for at, edge in enumerate(EDGES):
        result, _ = judged(ub04_of(edge.beyond.file()))
        yield from _shown(f"{edge.rule} {at}", result.findings if result else (), {edge.rule})


def _shown(name: str, findings: Iterable[Finding], about: Collection[str] = ()) -> Iterator[str]:
    """Yield an example and what is found in it; nothing if there is nothing."""
    for at, one in enumerate(findings):
        if not at:
            yield name
        said = f": {one.message}" if one.rule in about else ""
        yield f"  {one.severity} {one.rule} at {_place(one)}{said}"


def _place(finding: Finding) -> str:
    at = finding.position
    if at is None:
        return finding.location
    component = f"-{at.component}" if at.component else ""
    element = f"{at.element:02}" if at.element else ""
    return f"{at.file_segment} {at.loop}/{at.segment_id}{element}{component}"


RECORDED = RecordedList(
    Path(__file__).with_suffix(".txt"),
    {
        "examples": _of_examples,
        "paths of the view in examples": _paths_of_examples,
        "known faults as JSON": _of_json,
        "known faults as files": _of_files,
        "faults of bills as files": _of_bills,
        "faults of bills as JSON": _of_bills_as_json,
        "bills at a limit, as files": _of_bill_edges,
        "bills beyond a limit, as JSON": _of_bill_edges_as_json,
    },
)

if __name__ == "__main__":
    RECORDED.write()
