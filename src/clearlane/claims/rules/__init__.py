"""Claim rules by family, and the check that applies them all.

``repair_and_check`` is pure: a claim and the rules' inputs in, the repaired claim and every finding out. Errors
make the claim ``NotAccepted``; warnings are recorded with it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

from clearlane.claims.claim_form import claim_reading, line_reading
from clearlane.claims.fields import (
    Claim,
    ClaimField,
    ClaimPart,
    JsonClaim,
    fields_of,
    filled_names,
    nested_parts,
)
from clearlane.claims.finding import ClaimFinding, LimitedFindings
from clearlane.claims.forms import FORMS, AnyForm, form_of
from clearlane.claims.given_values import given_values
from clearlane.claims.header import ClaimHeader, header_of
from clearlane.claims.read.repairs import Repair, repair

# Importing a family is what registers its rules. Findings are listed in that order, those about people first.
from clearlane.claims.rules import people  # noqa: F401

# isort: split
from clearlane.claims.read.tolerant_reading import AS_SHORT_TEXT
from clearlane.claims.rules import (  # noqa: F401
    addresses,
    code_list_age,
    dates,
    dental,
    diagnoses,
    diagnoses_of_patient,
    drugs,
    imported_lists,
    institutional,
    insurance,
    money,
    numbers,
    payer,
    payer_edits,
    places,
    providers,
    remaining_liability,
    services,
)
from clearlane.claims.rules.registry import (
    COMING_ENROLLMENTS,
    ENROLLED_RULE,
    RULES,
    ClaimRule,
    EnrollmentGap,
    ExternalData,
    RuleInputs,
    RuleScope,
)
from clearlane.claims.rules.values import PLAIN, QuickTest, plain_texts_fit, quick_test
from clearlane.claims.value_types import ValueType
from clearlane.claims.view import ClaimView
from clearlane.claims.view_builder import ClaimReading, PartReading, ViewTable, build
from clearlane.kernel import limits
from clearlane.kernel.finding import Severity

__all__ = [
    "COMING_ENROLLMENTS",
    "ENROLLED_RULE",
    "RULES",
    "CheckedClaim",
    "ClaimRule",
    "EnrollmentGap",
    "ExternalData",
    "RuleInputs",
    "apply_rule",
    "check",
    "repair_and_check",
    "skipped_rules",
]


class CheckedClaim(NamedTuple):
    """A repaired claim with its repairs and findings."""

    claim: Claim
    header: ClaimHeader
    repairs: tuple[Repair, ...]
    findings: tuple[ClaimFinding, ...]
    given: Mapping[str, str] = MappingProxyType({})
    """The values of repaired fields as they were given, by path."""

    @property
    def accepted(self) -> bool:
        """Whether the claim can be sent: no finding is an error."""
        findings = self.findings  # most claims have none, and are asked several times
        return not findings or not any(one.severity is Severity.ERROR for one in findings)

    def __repr__(self) -> str:
        """Leave out what the claim says."""
        return f"CheckedClaim({len(self.repairs)} repairs, {len(self.findings)} findings)"


NO_LEADING_ZEROS = (
    "It came as a JSON number, which has no leading zeros; send it as text with all its digits."
)


def repair_and_check(
    claim: JsonClaim, inputs: RuleInputs, *, at: str = "", tolerated: tuple[Repair, ...] = ()
) -> CheckedClaim:
    """Repair a claim and apply every rule.

    ``at`` is the claim's own path, such as ``Claims[1]``; ``tolerated`` is what its reading recorded.
    """
    repaired, repairs = repair(claim)
    findings, view = check(repaired, inputs, at=at)
    if tolerated:
        prefix = f"{at}." if at else ""
        short = {prefix + each.field for each in tolerated if each.kind == AS_SHORT_TEXT}
        findings = [
            replace(each, message=f"{each.message} {NO_LEADING_ZEROS}")
            if each.location in short
            else each
            for each in findings
        ]
    given = given_values(claim, repairs)
    return CheckedClaim(repaired, header_of(view), (*tolerated, *repairs), tuple(findings), given)


def check(
    claim: JsonClaim, inputs: RuleInputs, *, at: str = ""
) -> tuple[list[ClaimFinding], ClaimView]:
    """Return the findings of a repaired claim, the first and how many more there are; and the view that rules read."""
    form = form_of(claim)
    prefix = f"{at}." if at else ""
    name = form.lines_field
    lines: tuple[ClaimPart, ...] = form.lines(claim)
    plan = _plan(type(claim), filled_names(claim))
    looks: list[tuple[ClaimPart, str, _Plan]] = [(claim, prefix, plan)]
    looks += [
        (line, f"{prefix}{name}[{index}].", _plan(type(line), filled_names(line)))
        for index, line in enumerate(lines)
    ]
    findings = LimitedFindings(at, inputs.severities)
    _check_texts(looks, findings)
    for part, path, own in looks:
        _check_values(part, own, path, findings)
    view = build(
        form, form.decide, claim, plan.view, [(line, own.view) for line, _, own in looks[1:]]
    )
    _check_claim(view, plan, inputs, prefix, findings)
    for index, (line_view, (_, _, own)) in enumerate(zip(view.lines, looks[1:], strict=True)):
        for rule in own.rules:
            for path, message in rule.check(line_view, view, inputs):
                location = prefix + form.locate(f"lines[{index}].{path}")
                findings.add(rule.id, rule.severity, location, message)
    return findings.all(), view


def apply_rule(rule_id: str, claim: Claim, inputs: RuleInputs) -> list[tuple[str, str]]:
    """Return what one rule about a claim as a whole finds: the field and the message of each finding."""
    view = form_of(claim).view(claim)
    found = RULES[rule_id].check(view, inputs)
    return [(view.form.locate(path), message) for path, message in found]


def skipped_rules(form: AnyForm, inputs: RuleInputs) -> list[ClaimRule]:
    """Return the rules that were not applied because data they require is not available."""
    own = (rule for rule in RULES.values() if rule.applies_to(form))
    return [rule for rule in own if rule.requires and rule.requires not in inputs.available]


# --- plans by filled fields ----------------------------------------------------------------------------------

Test = tuple[str, QuickTest, ClaimField]
# Lines are checked by themselves, not as parts of the claim.
LINES = frozenset(form.lines_field for form in FORMS.values())


_VIEW_TABLES: Mapping[type[ClaimPart], ViewTable] = {
    part: table
    for form in FORMS.values()
    for part, table in ((form.claim, form.view_table), (form.line, form.line_view_table))
}
_READINGS: Mapping[type[ClaimPart], Callable[[tuple[str, ...]], ClaimReading | PartReading]] = {
    **{form.claim: partial(claim_reading, form) for form in FORMS.values()},
    **{form.line: partial(line_reading, form) for form in FORMS.values()},
}


class _Plan(NamedTuple):
    """The checks of a part with certain filled fields."""

    texts: tuple[ClaimField, ...]
    """Fields of plain text, tested in bulk."""
    single: tuple[Test, ...]
    """Other fields of one value, with their quick test."""
    many: tuple[Test, ...]
    """Arrays of values."""
    parts: tuple[str, ...]
    """Arrays of smaller parts: teeth and adjustments."""
    rules: tuple[ClaimRule, ...]
    requires: frozenset[ExternalData] = frozenset()
    """The data beside the claim that these rules need."""
    view: Any = None
    """The reading of a claim or of a line into the view."""
    shared: tuple[tuple[Callable[[Any, RuleInputs], Any], tuple[ClaimRule, ...]], ...] = ()
    """Rules with a shared reading of the view, by reading."""
    edits: tuple[ClaimRule, ...] = ()
    """Rules that only some payers want."""
    names: tuple[str, ...] = ()
    least: tuple[int, ...] = ()
    most: tuple[int, ...] = ()


@lru_cache(maxsize=limits.SHAPES_REMEMBERED_MAX)
def _plan(part: type[ClaimPart], names: tuple[str, ...]) -> _Plan:
    """Return the plan of a class, reduced to the filled fields: each of its lists by a loop of its own, once a shape."""
    whole = _whole_plan(part)
    given = set(names)
    texts = [field for field in whole.texts if field.name in given]
    own = _applicable_rules(part, names)
    readings = dict.fromkeys([rule.reading for rule in own if rule.reading])
    return _Plan(
        texts=tuple(texts),
        names=tuple([field.name for field in texts]),
        least=tuple([field.min_length for field in texts]),
        most=tuple([field.max_length or 0 for field in texts]),
        single=tuple([test for test in whole.single if test[0] in given]),
        many=tuple([test for test in whole.many if test[0] in given]),
        parts=tuple([name for name in whole.parts if name in given]),
        rules=tuple([rule for rule in own if not (rule.reading or rule.edit)]),
        requires=frozenset([rule.requires for rule in own if rule.requires]),
        edits=tuple([rule for rule in own if rule.edit]),
        view=_READINGS[part](names) if part in _READINGS else None,
        shared=tuple(
            [(reading, tuple([r for r in own if r.reading is reading])) for reading in readings]
        ),
    )


def _applicable_rules(part: type[ClaimPart], names: tuple[str, ...]) -> list[ClaimRule]:
    """Return the rules about a part that these filled fields do not exclude."""
    table = _VIEW_TABLES.get(part)
    paths = table.filled_paths(names) if table else set()
    return [
        rule
        for rule in _whole_plan(part).rules
        if not rule.when_filled or not rule.when_filled.isdisjoint(paths)
    ]


@cache
def _whole_plan(part: type[ClaimPart]) -> _Plan:
    own = fields_of(part).values()
    tests = [(field.name, test, field) for field in own if (test := quick_test(field))]
    return _Plan(
        texts=tuple(field for field in own if field.value_type in PLAIN),
        single=tuple(test for test in tests if not test[2].is_array),
        many=tuple(test for test in tests if test[2].is_array),
        parts=tuple(name for name in nested_parts(part) if name not in LINES),
        rules=_rules(part),
    )


def _rules(part: type[ClaimPart]) -> tuple[ClaimRule, ...]:
    """Return the rules about a claim or a line; smaller parts have none of their own."""
    for form in FORMS.values():
        scopes: dict[type[ClaimPart], RuleScope] = {
            form.claim: RuleScope.CLAIM,
            form.line: RuleScope.LINE,
        }
        if part in scopes:
            own = (rule for rule in RULES.values() if rule.scope is scopes[part])
            return tuple(rule for rule in own if rule.applies_to(form))
    return ()


# --- checking -------------------------------------------------------------------------------------------------


def _check_claim(
    view: ClaimView, plan: _Plan, inputs: RuleInputs, at: str, findings: LimitedFindings
) -> None:
    """Apply the rules about the claim as a whole; a reading that several need is made once."""
    locate = view.form.locate
    own = plan.rules
    if inputs.edits:
        own += tuple(rule for rule in plan.edits if rule.edit in inputs.edits)
    if not plan.requires <= inputs.available:
        own = tuple(rule for rule in own if not rule.requires or rule.requires in inputs.available)
    for rule in own:
        for path, message in rule.check(view, inputs):
            findings.add(rule.id, rule.severity, at + locate(path), message)
    for reading, rules in plan.shared:
        found = reading(view, inputs)
        if found is not None:
            for rule in rules:
                for path, message in rule.check(view, inputs, found):
                    findings.add(rule.id, rule.severity, at + locate(path), message)


def _check_texts(looks: list[tuple[ClaimPart, str, _Plan]], findings: LimitedFindings) -> None:
    """Test all plain text of a claim in one pass, and each text only if that fails."""
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
            for field in plan.texts:
                _check_value(part.__dict__[field.name], field, at + field.name, findings)


def _check_values(part: ClaimPart, plan: _Plan, at: str, findings: LimitedFindings) -> None:
    """Apply the value rules to every value that fails the quick test of its field."""
    given = part.__dict__
    for name, passes, field in plan.single:
        if not passes(given[name]):
            _check_value(given[name], field, at + name, findings)
    for name, passes, field in plan.many:
        for index, item in enumerate(given[name]):
            if item is not None and not passes(item):
                _check_value(item, field, f"{at}{name}[{index}]", findings)
    for name in plan.parts:
        inners: tuple[ClaimPart, ...] = given[name]
        for index, inner in enumerate(inners):
            inside = f"{at}{name}[{index}]."
            inner_plan = _plan(type(inner), filled_names(inner))
            _check_texts([(inner, inside, inner_plan)], findings)
            _check_values(inner, inner_plan, inside, findings)


def _check_value(value: Any, field: ClaimField, at: str, findings: LimitedFindings) -> None:
    for rule in _value_rules(field.value_type):
        message = rule.check(value, field)
        if message is not None:
            findings.add(rule.id, rule.severity, at, message)


@cache
def _value_rules(kind: ValueType) -> tuple[ClaimRule, ...]:
    return tuple(rule for rule in RULES.values() if kind in rule.value_types)
