"""Claim rules and their registry.

A rule has an id, a sentence (its docstring), the paths of the view it is about, an X12 place, a severity and a small
function. A rule reads the view of a claim and knows no form; it applies to the claims whose form can state
its first path; a few also name a path that the form must have, or lack. There are three scopes:

- ``value_rule``: one value, in every field of certain value types;
- ``rule``: the claim as a whole, including a loop over its lines;
- ``line_rule``: one service line with its claim, for fields that few lines have: a call per line takes more time.

A function yields ``(path, message)`` pairs, the path relative to the view or to the line; the form tells which field
that is. The message states what is wrong, what was found, and what would pass.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import cache
from inspect import signature
from typing import Any, TypeVar

from clearlane.claims.claim_form import places
from clearlane.claims.fields import ClaimField, fields_of
from clearlane.claims.finding import NO_CHANGES
from clearlane.claims.forms import FORMS, AnyForm, x12_forms
from clearlane.claims.value_types import ValueType
from clearlane.claims.view import FormPaths
from clearlane.kernel import limits
from clearlane.kernel.finding import Severity
from clearlane.kernel.rule_registry import FindingType, RuleRegistry
from clearlane.payers.model import Payer
from clearlane.x12.checker.finding_catalogue import FINDING_TYPES
from clearlane.x12.codes.code_editions import EMBEDDED, CodeLists
from clearlane.x12.rules import find_rule

FieldFinding = tuple[str, str]
"""Path and message."""

LINE = "lines[]."
TEETH = "lines[].teeth"
"""What only dental forms can state."""
BILL_TYPE = "institutional.bill_type"
"""What only institutional forms can state."""
WARNING = Severity.WARNING

# Why a rule is not applied to a claim that comes as a file, or as JSON.
GUIDE_REQUIRES = (
    "The guide requires what this rule asks for, and its check reports what is missing."
)
GUIDE_LIMITS = "The guide has the same limit, and its check reports more."
OUR_WRITER = "It tells what we send of a claim that we write; a file says itself what is sent."
OUR_FIELDS = "The fields of V3 are checked one by one, before the claim as a whole."
V3_ALONE = "It is about how the fields of V3 become an 837; an 837 states this otherwise."


# Why a rule can be neither lowered nor switched off, nor a claim that breaks it be sent anyway.
GUIDE_FIXES = "The X12 guide requires it, and a payer would reject the file."
WRITER_FIXES = "Clearlane cannot send such a claim."
NOTE_FIXES = "It only records what was done with a claim."


class ExternalData(StrEnum):
    """Data from outside the claim that a rule requires."""

    DIRECTORY = "the payer directory"
    ENROLLMENT = "the provider's enrollments"
    HISTORY = "the claims sent before"


# Without a payer and an id of its own a claim goes nowhere.
OUR_RECORDS = frozenset({ExternalData.DIRECTORY, ExternalData.HISTORY})


class EnrollmentGap(StrEnum):
    """Why a billing provider is not enrolled with a payer for claims."""

    NONE = "none"
    PENDING = "pending"
    LATER = "later"
    """Approved from a coming day on."""
    REFUSED = "refused"
    ENDED = "ended"


ENROLLED_RULE = "C106"
COMING_ENROLLMENTS = frozenset({EnrollmentGap.PENDING, EnrollmentGap.LATER})
"""What becomes an enrollment without another request: a claim may wait for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleInputs:
    """What rules know beside the claim. ``available`` names the external data that was loaded."""

    today: date
    sandbox: bool = True
    payer: Payer | None = None
    payer_of_other_type: bool = False
    """The id belongs to a payer, but to one for another kind of claim."""
    near_payers: tuple[str, ...] = ()
    """Payers that the sender of an unknown payer id may mean, each with its name and id."""
    other_payer_unknown: bool = False
    """The claim names another payer, and the directory has none of that name."""
    enrolled: bool = False
    """The billing provider is enrolled with this payer."""
    enrollment: EnrollmentGap = EnrollmentGap.NONE
    """What became of an enrollment that is not approved."""
    enrollment_since: date | None = None
    """The day it was sent, refused or ended, in the time zone of the site; of a later one, the day from which it counts."""
    sent_unenrolled: bool = False
    """Whether a person decided to send the claim although the provider is not enrolled."""
    earlier_claim_number: str = ""
    """The claim number of a current claim with the same vendor's claim id and other content, if there is one."""
    earlier_state: str = ""
    equal_claim: str = ""
    """The claim number of an open claim of the same site that this one of a file is equal to; empty if there is none."""
    is_settled_before: bool = False
    """Whether that claim is for the same services, and the payer has paid it or left it to the patient."""
    paid_by_another: str = ""
    """The claim number of a claim for the same services that another payer has paid, if this one does not carry its
    decision."""
    correction: str = ""
    """How a claim under a known vendor's claim id goes to the payer, and why."""
    edits: frozenset[str] = frozenset()
    """What the payer wants of a claim (``payers.edits``): rules with one of these names are applied."""
    severities: Mapping[str, Severity | None] = field(default_factory=lambda: NO_CHANGES)
    """The severities of rules that settings of the payer or the site changed; None for a rule that is off."""
    available: frozenset[ExternalData] = frozenset(ExternalData)
    code_lists: CodeLists = EMBEDDED
    """The code lists in force; without an installation those of the package."""

    @property
    def waits_for_enrollment(self) -> bool:
        """Whether the claim, once it is accepted, is held until the enrollment that is on its way counts.

        So it is where a setting lets the rule warn only, and no person decided to send the claim all the same.
        """
        return (
            self.payer is not None
            and self.payer.claim_enrollment_required
            and not self.enrolled
            and self.enrollment in COMING_ENROLLMENTS
            and self.severities.get(ENROLLED_RULE) is Severity.WARNING
            and not self.sent_unenrolled
        )


class RuleScope(StrEnum):
    """How much of a claim a rule checks."""

    VALUE = "value"
    LINE = "line"
    CLAIM = "claim"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRule(FindingType):
    """A registered rule."""

    scope: RuleScope
    paths: tuple[str, ...]
    """The paths of the view that it is about; none for a value rule."""
    if_form_has: str
    if_form_lacks: str
    x12: str
    requires: ExternalData | None
    value_types: tuple[ValueType, ...]
    """For a value rule: the types of values it checks."""
    when_filled: frozenset[str]
    """The rule applies only if one of these paths is filled, relative to the view or to the line; empty: always."""
    reading: Callable[[Any, RuleInputs], Any] | None
    """For a claim rule: a function of the view and the inputs, called once for all rules that share it. The check takes
    its result as third argument; if that is None, the rule does not apply."""
    check: Callable[..., Any]
    covers: tuple[str, ...] = ()
    """The X12 rules about the same: for a file, this rule's finding is shown and theirs is not."""
    not_in_files: str = ""
    """Why the rule is not applied to a claim that comes as an 837 file; empty if it is."""
    not_in_json: str = ""
    """Why the rule is not applied to a claim that comes as JSON; empty if it is."""
    edit: str = ""
    """For a rule that only some payers want: the name of the edit in the payer directory."""
    declared_fixed: str | None = None
    """What ``fixed`` is, if it does not follow from the row."""

    def applies_to(self, form: FormPaths) -> bool:
        """Return whether the rule applies to claims of a form, by what the form can state."""
        if self.not_in_json and any(form is own for own in FORMS.values()):
            return False
        needed = filter(None, (*self.paths[:1], self.if_form_has))
        return all(map(form.has, needed)) and not form.has(self.if_form_lacks)

    @property
    def forms(self) -> tuple[AnyForm, ...]:
        """The forms of claims that the rule applies to."""
        return tuple(form for form in FORMS.values() if self.applies_to(form))

    @property
    def kinds(self) -> list[str]:
        """The kinds of claims that the rule applies to, as JSON or as files."""
        found = [form.kind.value for form in self.forms]
        if not self.not_in_files:
            found += [form.kind.value for form in x12_forms().values() if self.applies_to(form)]
        return list(dict.fromkeys(found))

    @property
    def fixed(self) -> str:
        """Why the rule can be neither lowered nor switched off; empty for a rule of ours.

        A rule about one value is the form that X12 gives it. A rule that covers an error of the X12 engine, or that
        the guide has too, is the guide's.
        """
        if self.declared_fixed is not None:
            return self.declared_fixed
        if self.severity is Severity.INFO:
            return NOTE_FIXES
        if self.severity is not Severity.ERROR:
            return ""
        if self.not_in_files == V3_ALONE or self.requires in OUR_RECORDS:
            return WRITER_FIXES
        is_guide = (
            self.scope is RuleScope.VALUE
            or self.not_in_files in {GUIDE_REQUIRES, GUIDE_LIMITS}
            or any(is_file_error(covered) for covered in self.covers)
        )
        return GUIDE_FIXES if is_guide else ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of V3 that it is about, in the order of its paths, those of all its kinds."""
        if self.scope is RuleScope.VALUE:
            return tuple(
                field.name
                for form in FORMS.values()
                for part in (form.claim, form.line)
                for field in fields_of(part).values()
                if field.value_type in self.value_types
            )
        found = (
            name for path in self.paths for form in self.forms for name in places(form).fields(path)
        )
        return tuple(dict.fromkeys(found))

    def boxes(self, form: AnyForm) -> tuple[str, ...]:
        """Return the boxes on the claim form that the rule is about, in the order of its fields."""
        known = {**fields_of(form.line), **fields_of(form.claim)}
        found = (known[name].box for name in self.fields if name in known)
        return tuple(dict.fromkeys(box for box in found if box))


RULES: RuleRegistry[ClaimRule] = RuleRegistry(ClaimRule)

Check = TypeVar("Check", bound=Callable[..., Iterable[FieldFinding]])
ValueCheck = TypeVar("ValueCheck", bound=Callable[[Any, ClaimField], str | None])


def rule(
    id: str,
    *,
    paths: Iterable[str],
    x12: str = "",
    if_form_has: str = "",
    if_form_lacks: str = "",
    severity: Severity = Severity.ERROR,
    when_filled: Iterable[str] = (),
    requires: ExternalData | None = None,
    reading: Callable[..., Any] | None = None,
    covers: tuple[str, ...] = (),
    not_in_files: str = "",
    not_in_json: str = "",
    fixed: str | None = None,
) -> Callable[[Check], Check]:
    """Register a rule about a claim as a whole; the function takes the view and the inputs."""
    return _register(
        id,
        RuleScope.CLAIM,
        tuple(paths),
        x12,
        severity,
        if_form_has=if_form_has,
        if_form_lacks=if_form_lacks,
        when_filled=when_filled,
        requires=requires,
        reading=reading,
        covers=covers,
        not_in_files=not_in_files,
        not_in_json=not_in_json,
        fixed=fixed,
    )


def edit_rule(
    id: str,
    *,
    edit: str,
    paths: Iterable[str],
    x12: str = "",
    if_form_lacks: str = "",
    severity: Severity = WARNING,
    when_filled: Iterable[str] = (),
) -> Callable[[Check], Check]:
    """Register a rule about a claim as a whole that is applied if the payer's row of the directory wants it."""
    return _register(
        id,
        RuleScope.CLAIM,
        tuple(paths),
        x12,
        severity,
        if_form_lacks=if_form_lacks,
        when_filled=when_filled,
        requires=ExternalData.DIRECTORY,
        edit=edit,
    )


def line_rule(
    id: str,
    *,
    paths: Iterable[str],
    x12: str = "",
    if_form_has: str = "",
    if_form_lacks: str = "",
    severity: Severity = Severity.ERROR,
    when_filled: Iterable[str] = (),
    covers: tuple[str, ...] = (),
    not_in_files: str = "",
    not_in_json: str = "",
    fixed: str | None = None,
) -> Callable[[Check], Check]:
    """Register a rule about one line, with paths relative to it; the function takes the line, its claim and the inputs."""
    whole = tuple(LINE + path for path in paths)
    return _register(
        id,
        RuleScope.LINE,
        whole,
        x12,
        severity,
        if_form_has=if_form_has,
        if_form_lacks=if_form_lacks,
        when_filled=when_filled,
        covers=covers,
        not_in_files=not_in_files,
        not_in_json=not_in_json,
        fixed=fixed,
    )


def value_rule(
    id: str,
    *value_types: ValueType,
    x12: str = "",
    severity: Severity = Severity.ERROR,
    covers: tuple[str, ...] = (),
    fixed: str | None = None,
) -> Callable[[ValueCheck], ValueCheck]:
    """Register a rule about every value of some types; the function returns a message or None.

    In a file the engine checks single values: what it finds by a rule that is covered is shown as a finding of this one.
    """
    return _register(
        id, RuleScope.VALUE, (), x12, severity, value_types=value_types, covers=covers, fixed=fixed
    )


def _register(
    id: str,
    scope: RuleScope,
    paths: tuple[str, ...],
    x12: str,
    severity: Severity,
    *,
    if_form_has: str = "",
    if_form_lacks: str = "",
    when_filled: Iterable[str] = (),
    requires: ExternalData | None = None,
    value_types: tuple[ValueType, ...] = (),
    reading: Callable[..., Any] | None = None,
    covers: tuple[str, ...] = (),
    not_in_files: str = "",
    not_in_json: str = "",
    edit: str = "",
    fixed: str | None = None,
) -> Callable[[Any], Any]:
    return RULES.rule(
        id,
        severity,
        scope=scope,
        paths=paths,
        if_form_has=if_form_has,
        if_form_lacks=if_form_lacks,
        x12=x12,
        requires=requires,
        value_types=value_types,
        when_filled=frozenset(when_filled),
        reading=_reading(reading) if reading else None,
        covers=covers,
        not_in_files=not_in_files,
        not_in_json=not_in_json,
        edit=edit,
        declared_fixed=fixed,
    )


def is_file_error(id: str) -> bool:
    """Return whether a finding of the X12 engine is an error."""
    row: FindingType = FINDING_TYPES[id] if id in FINDING_TYPES else find_rule(id)
    return row.severity is Severity.ERROR


@cache
def _reading(reading: Callable[..., Any]) -> Callable[[Any, RuleInputs], Any]:
    """Return a reading as it is called: most need the view alone."""
    if len(signature(reading).parameters) > 1:
        return reading
    return lambda view, _: reading(view)


def is_whole(number: Decimal) -> bool:
    """Return whether a number has no fraction. Unlike a remainder, this works for huge numbers."""
    return number == number.to_integral_value()


def quoted(value: object) -> str:
    """Return a value as a message shows it."""
    text = str(value)
    shown = text[: limits.QUOTED_CHARACTERS_MAX]
    return f"'{shown}'" if shown == text else f"'{shown}...'"


def listed(words: Iterable[str]) -> str:
    """Join words for a sentence: ``a, b and c``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
