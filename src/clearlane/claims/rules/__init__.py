"""The rules of the trade, by family, and the judge who asks them all.

``judge`` is pure: a claim and the facts of the day in, the repaired claim and every finding out. Errors
make the claim ``NotAccepted``; warnings are recorded with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from clearlane.claims.fields import (
    PAPERS,
    Claim,
    ClaimKind,
    Fields,
    Row,
    filled,
    kind_of,
    lines_of,
    parts,
    rows,
)
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.repairs import Repair, repair
from clearlane.claims.rules import (  # noqa: F401 - importing a family is what registers its rules
    dates,
    dental,
    diagnoses,
    drugs,
    insurance,
    money,
    numbers,
    payer,
    people,
    providers,
    services,
)
from clearlane.claims.rules.registry import RULES, Facts, Need, Rule, Scope
from clearlane.claims.rules.values import PLAIN, Screen, plain_texts_fit, screen
from clearlane.claims.value_types import Kind
from clearlane.kernel import limits
from clearlane.kernel.finding import Severity

__all__ = ["RULES", "Facts", "Judgement", "Need", "Rule", "check", "judge", "unchecked"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a claim: repaired, with everything that was found."""

    claim: Claim
    repairs: tuple[Repair, ...]
    findings: tuple[ClaimFinding, ...]

    @property
    def accepted(self) -> bool:
        """Whether nothing stands against sending the claim."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


def judge(claim: Claim, facts: Facts, *, at: str = "") -> Judgement:
    """Repair a claim and ask every rule. ``at`` is the claim's own path, such as ``Claims[1]``."""
    repaired, repairs = repair(claim)
    return Judgement(repaired, repairs, tuple(check(repaired, facts, at=at)))


def check(claim: Claim, facts: Facts, *, at: str = "") -> list[ClaimFinding]:
    """Every finding of a repaired claim."""
    kind = kind_of(claim)
    prefix = f"{at}." if at else ""
    name = PAPERS[kind].lines
    plan = _plan(type(claim), filled(claim))
    looks: list[tuple[Fields, str, _Plan]] = [(claim, prefix, plan)]
    looks += [
        (line, f"{prefix}{name}[{index}].", _plan(type(line), filled(line)))
        for index, line in enumerate(lines_of(claim))
    ]
    findings: list[ClaimFinding] = []
    _check_texts(looks, findings)
    for part, path, own in looks:
        _check_values(part, own, path, findings)
    _check_claim(claim, plan, facts, prefix, findings)
    for line, inside, own in looks[1:]:
        for rule in own.rules:
            for path, message in rule.check(line, claim, facts):
                findings.append(_finding(rule, inside + path, message))
    return findings


def unchecked(kind: ClaimKind, facts: Facts) -> list[Rule]:
    """The rules that could not speak, because a fact they need is not known."""
    own = (rule for rule in RULES.values() if kind in rule.kinds)
    return [rule for rule in own if rule.need and rule.need not in facts.known]


# --- what there is to do for a shape -------------------------------------------------------------------------

Test = tuple[str, Screen, Row]
# Lines are looked at by themselves, not as parts of the claim.
LINES = frozenset(paper.lines for paper in PAPERS.values())


class _Plan(NamedTuple):
    """What there is to look at in a part of one shape."""

    texts: tuple[Row, ...]
    """Fields of plain text, tested in bulk."""
    single: tuple[Test, ...]
    """Other fields of one value, with their quick test."""
    many: tuple[Test, ...]
    """Arrays of values."""
    parts: tuple[str, ...]
    """Arrays of smaller parts: teeth and adjustments."""
    rules: tuple[Rule, ...]
    given: tuple[tuple[Callable[[Any], Any], tuple[Rule, ...]], ...] = ()
    """Rules that share a reading of the claim, by reading."""
    names: tuple[str, ...] = ()
    least: tuple[int, ...] = ()
    most: tuple[int, ...] = ()


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def _plan(part: type[Fields], names: tuple[str, ...]) -> _Plan:
    """The whole plan of a class, cut down to the fields that are filled."""
    whole = _whole_plan(part)
    given = set(names)
    texts = [row for row in whole.texts if row.name in given]
    own = [rule for rule in whole.rules if not rule.when or not rule.when.isdisjoint(given)]
    readings = dict.fromkeys([rule.given for rule in own if rule.given])
    return _Plan(
        texts=tuple(texts),
        names=tuple([row.name for row in texts]),
        least=tuple([row.min for row in texts]),
        most=tuple([row.max or 0 for row in texts]),
        single=tuple([test for test in whole.single if test[0] in given]),
        many=tuple([test for test in whole.many if test[0] in given]),
        parts=tuple([name for name in whole.parts if name in given]),
        rules=tuple([rule for rule in own if not rule.given]),
        given=tuple(
            [(reading, tuple([r for r in own if r.given is reading])) for reading in readings]
        ),
    )


@cache
def _whole_plan(part: type[Fields]) -> _Plan:
    own = rows(part).values()
    tests = [(row.name, test, row) for row in own if (test := screen(row))]
    return _Plan(
        texts=tuple(row for row in own if row.kind in PLAIN),
        single=tuple(test for test in tests if not test[2].many),
        many=tuple(test for test in tests if test[2].many),
        parts=tuple(name for name in parts(part) if name not in LINES),
        rules=_rules(part),
    )


def _rules(part: type[Fields]) -> tuple[Rule, ...]:
    """The rules about a claim or a line; smaller parts have none of their own."""
    for kind, paper in PAPERS.items():
        scopes: dict[type[Fields], Scope] = {paper.claim: Scope.CLAIM, paper.line: Scope.LINE}
        if part in scopes:
            return tuple(r for r in RULES.values() if kind in r.kinds and r.scope is scopes[part])
    return ()


# --- asking ---------------------------------------------------------------------------------------------------


def _check_claim(
    claim: Claim, plan: _Plan, facts: Facts, at: str, findings: list[ClaimFinding]
) -> None:
    """Ask the rules about the claim as a whole; what several want to know is read once."""
    for rule in plan.rules:
        if rule.need is None or rule.need in facts.known:
            for path, message in rule.check(claim, facts):
                findings.append(_finding(rule, at + path, message))
    for reading, asked in plan.given:
        found = reading(claim)
        if found is not None:
            for rule in asked:
                for path, message in rule.check(claim, facts, found):
                    findings.append(_finding(rule, at + path, message))


def _check_texts(looks: list[tuple[Fields, str, _Plan]], findings: list[ClaimFinding]) -> None:
    """Test all plain text of a claim in one stroke; ask about each text only if something is wrong."""
    texts: list[str] = []
    least: list[int] = []
    most: list[int] = []
    for part, _, plan in looks:
        given = part.__dict__
        texts += [given[name] for name in plan.names]
        least += plan.least
        most += plan.most
    if not plain_texts_fit(texts, least, most):
        for part, at, plan in looks:
            for row in plan.texts:
                _ask(part.__dict__[row.name], row, at + row.name, findings)


def _check_values(part: Fields, plan: _Plan, at: str, findings: list[ClaimFinding]) -> None:
    """Ask about every value that fails the quick test of its field."""
    given = part.__dict__
    for name, passes, row in plan.single:
        if not passes(given[name]):
            _ask(given[name], row, at + name, findings)
    for name, passes, row in plan.many:
        for index, item in enumerate(given[name]):
            if item is not None and not passes(item):
                _ask(item, row, f"{at}{name}[{index}]", findings)
    for name in plan.parts:
        inners: tuple[Fields, ...] = given[name]
        for index, inner in enumerate(inners):
            inside = f"{at}{name}[{index}]."
            inner_plan = _plan(type(inner), filled(inner))
            _check_texts([(inner, inside, inner_plan)], findings)
            _check_values(inner, inner_plan, inside, findings)


def _ask(value: Any, row: Row, at: str, findings: list[ClaimFinding]) -> None:
    for rule in _value_rules(row.kind):
        message = rule.check(value, row)
        if message is not None:
            findings.append(_finding(rule, at, message))


@cache
def _value_rules(kind: Kind) -> tuple[Rule, ...]:
    return tuple(rule for rule in RULES.values() if kind in rule.values)


def _finding(rule: Rule, location: str, message: str) -> ClaimFinding:
    return ClaimFinding(rule=rule.id, message=message, severity=rule.severity, location=location)
