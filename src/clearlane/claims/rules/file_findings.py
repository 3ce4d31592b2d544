"""Apply the claim rules to the claims of an 837 file, beside the checks of the X12 engine.

    result = check(chunks, findings_of=FileFindings(today))

Each claim is read into its view when the reader closes its loop, and is dropped after its rules: memory stays constant.
Only rules that need nothing from outside the claim are applied; with ``known_of``, which knows payers and settings, also
those that a payer wants, with the severities that rules are set to. Their findings come with those of the set. A finding of
an X12 rule is left out if a claim rule that covers it found something in the same part of the same claim. One
about a single value is shown as a finding of the claim rule about such values.

Knows events of the reader and the claim rules; knows no file system.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from typing import NamedTuple

from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms.x12_form import FORMS_BY_TRANSACTION, LoopsAround, X12Form
from clearlane.claims.forms.x12_places import ClaimPlaces, Place, position_of
from clearlane.claims.rule_settings import RuleSeverities
from clearlane.claims.rules.registry import (
    RULES,
    ClaimRule,
    ExternalData,
    RuleInputs,
    RuleScope,
)
from clearlane.claims.view import ClaimView
from clearlane.kernel.finding import Finding, Severity
from clearlane.x12.checker.check import event_findings
from clearlane.x12.checker.collector import FindingCollector
from clearlane.x12.reader.reader import Event, SetClosed, UnitClosed
from clearlane.x12.tree import Loop, TransactionSet

KnownOfClaim = Callable[[RuleInputs, ClaimView], RuleInputs]
LEVELS = "2"
"""Loops of providers, subscribers, patients and claims have numbers that begin with this; submitter and receiver do not."""


class CoveredPart(NamedTuple):
    """A part of a file, by the numbers of its segments, in which findings of an X12 rule are those of a claim rule."""

    first: int
    last: int
    loop: str
    """The loop that it is about; empty for a line with the loops in it."""

    def has(self, finding: Finding) -> bool:
        """Return whether a finding is about the part."""
        at = finding.position
        return (
            at is not None
            and self.first <= at.file_segment <= self.last
            and self.loop in ("", at.loop)
        )


class RuleFindingInClaim(NamedTuple):
    """What a rule finds in a claim of a file."""

    rule: ClaimRule
    severity: Severity
    path: str
    message: str
    place: Place


def find_in_claim(
    form: X12Form, view: ClaimView, inputs: RuleInputs
) -> Iterator[RuleFindingInClaim]:
    """Yield what the rules find in a claim of a file, with the severities that rules are set to."""
    places = view.form
    assert isinstance(places, ClaimPlaces), "the form of a claim in a file tells places"
    seen: set[tuple[str, int, str]] = set()
    for rule, path, message in _findings(form, view, inputs):
        place = places.place(path)
        # Lines that share a value of the claim have one finding.
        key = (rule.id, id(place.segment), message)
        severity = inputs.severities.get(rule.id, rule.severity)
        if severity and path not in places.faulty and key not in seen:
            seen.add(key)
            yield RuleFindingInClaim(rule, severity, path, message, place)


class CoveredFindings:
    """The parts of a set in which findings of X12 rules are those of claim rules."""

    def __init__(self) -> None:
        self._parts: dict[str, list[CoveredPart]] = {}

    def add(self, found: RuleFindingInClaim, places: ClaimPlaces) -> None:
        """Note what a claim rule has found."""
        if found.rule.covers:
            part = _part(found.place, found.path, places)
            for covered in found.rule.covers:
                self._parts.setdefault(covered, []).append(part)

    def others(self, findings: Iterable[Finding], severities: RuleSeverities) -> list[Finding]:
        """Return the findings of X12 rules that no claim rule covers, those about values as claim rules say them.

        ``severities`` are those that claim rules are set to.
        """
        own = (
            _as_claim_rule(finding, severities)
            for finding in findings
            if not any(part.has(finding) for part in self._parts.get(finding.rule, ()))
        )
        return [finding for finding in own if finding is not None]


class FileFindings:
    """The findings of a file by its events: those of the engine, and those of the claim rules."""

    def __init__(self, today: date, known_of: KnownOfClaim | None = None) -> None:
        """``known_of`` adds what is known of a claim's payer and site."""
        self._inputs = RuleInputs(today=today, available=frozenset())
        self._known_of = known_of
        self._set: TransactionSet | None = None
        self._loops_around = LoopsAround()
        self._open_set(None)

    def __call__(self, event: Event) -> list[Finding]:
        """Return the findings that an event completes."""
        if event.__class__ is UnitClosed:
            self._check(event)
        elif event.__class__ is SetClosed:
            return self._close_set(event.set)
        return event_findings(event)

    def _open_set(self, set: TransactionSet | None) -> None:
        self._set = set
        self._found: list[Finding] = []
        self._covered = CoveredFindings()
        self._severities: dict[str, Severity | None] | None = None
        """What rules are set to for every claim of the set; values of a loop around claims belong to all of them."""
        self._around: dict[tuple[str, str], int] = {}
        """The position of the last finding about a loop around claims, by rule and path: each claim in it has the same."""
        if set is not None:
            self._collector = FindingCollector(
                self._found,
                interchange=set.group.interchange.number,
                group=set.group.number,
                set=set.number,
                first_segment=set.first_segment,
                # Its message may quote a value, so its repr has none.
                finding_type=ClaimFinding,
            )

    def _close_set(self, set: TransactionSet) -> list[Finding]:
        is_claims = set.guide is not None and set.guide.kind in FORMS_BY_TRANSACTION
        own = set.findings
        if is_claims:
            own = self._covered.others(set.findings, self._severities or {})
        found, self._found = own + self._found, []
        self._open_set(None)
        return found

    def _check(self, event: UnitClosed) -> None:
        form = FORMS_BY_TRANSACTION.get(event.set.guide.kind) if event.set.guide else None
        if form is None or _is_cut_off((*event.parents, event.loop)):
            return
        if self._set is not event.set:
            self._open_set(event.set)
        if self._collector.is_full:
            return
        view = form.view_of_loops(
            event.loop,
            event.parents,
            event.set.first_segment,
            self._loops_around,
            claim_type=event.set.root.value("BHT", 6),
        )
        places = view.form
        assert isinstance(places, ClaimPlaces), "the form of a claim in a file tells places"
        inputs = self._known_of(self._inputs, view) if self._known_of else self._inputs
        common = inputs.severities.items() if self._severities is None else self._severities.items()
        self._severities = dict(common & inputs.severities.items())
        for found in find_in_claim(form, view, inputs):
            self._add(found, places, event.loop)

    def _add(self, found: RuleFindingInClaim, places: ClaimPlaces, claim: Loop) -> None:
        rule, severity, path, message, place = found
        position = position_of(place)
        if position < claim.position:
            if self._around.get((rule.id, path)) == position:
                return
            self._around[rule.id, path] = position
        before = len(self._found)
        self._collector.add(
            rule.id,
            message,
            place.segment[0],
            position,
            loop=place.loop.id,
            element=place.element,
            component=place.component,
            severity=severity,
        )
        if len(self._found) > before:
            self._covered.add(found, places)


@cache
def _value_rules() -> dict[str, ClaimRule]:
    """Return the claim rules about single values by the rules of the engine that check the same in files."""
    own = (rule for rule in RULES.values() if rule.scope is RuleScope.VALUE)
    return {covered: rule for rule in own for covered in rule.covers}


def _as_claim_rule(finding: Finding, severities: RuleSeverities) -> Finding | None:
    """Return a finding about a value of a claim as one of the claim rule that covers the engine's; None if that is off."""
    rule, at = _value_rules().get(finding.rule), finding.position
    if rule is None or at is None or not at.loop.startswith(LEVELS):
        return finding
    severity, message = severities.get(rule.id, rule.severity), finding.message
    if severity is None:
        return None
    if severity is Severity.ERROR:  # the engine only warns of some
        message = message.replace(" should ", " must ", 1)
    return replace(finding, rule=rule.id, severity=severity, message=message)


def _is_cut_off(loops: Iterable[Loop]) -> bool:
    """Return whether a claim, or a loop around it, did not fit into memory, which the reader reports."""
    # Claims that were dropped after their check have a node; what was dropped to save memory has none.
    return any(drop.node is None for loop in loops for drop in loop.dropped or ())


def _part(place: Place, path: str, places: ClaimPlaces) -> CoveredPart:
    """Return the part of the set that a finding is about: its line, else its loop."""
    line = places.loops.get(path.partition(".")[0])
    is_in_line = line is not None and line.node.id == "2400" and line.find(place.segment)
    loop = line if line is not None and is_in_line else place.loop
    first, last = places.numbers_of(loop)
    return CoveredPart(first, last, "" if is_in_line else loop.id)


def _findings(
    form: X12Form, view: ClaimView, inputs: RuleInputs
) -> Iterator[tuple[ClaimRule, str, str]]:
    """Yield what the rules find: the rule, the path and the message."""
    rules, line_rules = file_rules(form, inputs.available)
    made: dict[object, object] = {}
    for rule in rules:
        if rule.edit and rule.edit not in inputs.edits:
            continue
        more: tuple[object, ...] = ()
        if rule.reading is not None:
            if rule.reading not in made:
                made[rule.reading] = rule.reading(view, inputs)
            if made[rule.reading] is None:
                continue
            more = (made[rule.reading],)
        for path, message in rule.check(view, inputs, *more):
            yield rule, path, message
    for at, line in enumerate(view.lines):
        for rule in line_rules:
            for path, message in rule.check(line, view, inputs):
                yield rule, f"lines[{at}].{path}", message


def applies_to_files(
    rule: ClaimRule, form: X12Form, available: frozenset[ExternalData] = frozenset()
) -> bool:
    """Return whether a rule applies to the claims of a transaction: it needs nothing but the claim, what its payer wants, and
    what is available, and the guide has its value."""
    if rule.scope is RuleScope.VALUE or rule.not_in_files:
        return False
    if rule.requires and not rule.edit and rule.requires not in available:
        return False
    return rule.applies_to(form)


@cache
def file_rules(
    form: X12Form, available: frozenset[ExternalData] = frozenset()
) -> tuple[tuple[ClaimRule, ...], tuple[ClaimRule, ...]]:
    """Return the rules about claims and those about lines that apply to the claims of a transaction."""
    own = [rule for rule in RULES.values() if applies_to_files(rule, form, available)]
    return (
        tuple(rule for rule in own if rule.scope is RuleScope.CLAIM),
        tuple(rule for rule in own if rule.scope is RuleScope.LINE),
    )
