"""What a rule is, and the table that all of them stand in.

A rule has an id, a sentence (its docstring), the fields it is about, an X12 place, a severity and a small
function. There are three sizes:

- ``value_rule``: about one value of a kind, wherever the catalogue has such a field;
- ``rule``: about the claim as a whole, or about each of its lines in turn;
- ``line_rule``: about one service line, told about its claim; for what few lines have, because asking line by
  line takes more time.

A function yields ``(path, message)`` pairs, the path relative to the claim or to the line. The message says
what is wrong, what was found, and what would pass.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeVar

from clearlane.claims.fields import PAPERS, Claim, ClaimKind, Row, kind_of, rows
from clearlane.claims.value_types import Kind
from clearlane.kernel import limits
from clearlane.kernel.finding import Severity
from clearlane.payers.model import Payer

Fault = tuple[str, str]
"""Path and message."""

MEDICAL, DENTAL = ClaimKind.MEDICAL, ClaimKind.DENTAL
BOTH = (MEDICAL, DENTAL)
WARNING = Severity.WARNING


class Need(StrEnum):
    """A fact from outside that a rule cannot speak without."""

    DIRECTORY = "the payer directory"
    ENROLLMENT = "the provider's enrollments"
    HISTORY = "the claims sent before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the rules are told of the world. ``known`` says which needs could be met."""

    today: date
    sandbox: bool = True
    payer: Payer | None = None
    payer_of_other_type: bool = False
    """The id belongs to a payer, but to one for the other kind of claim."""
    enrolled: bool = False
    """The billing provider's enrollment with this payer is there."""
    earlier_request_id: str = ""
    """A living claim with the same caller's id and other content, if there is one."""
    known: frozenset[Need] = frozenset(Need)


class Scope(StrEnum):
    """How much of a claim a rule looks at."""

    VALUE = "value"
    LINE = "line"
    CLAIM = "claim"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row of the table of rules."""

    id: str
    sentence: str
    scope: Scope
    fields: tuple[str, ...]
    kinds: tuple[ClaimKind, ...]
    x12: str
    severity: Severity
    need: Need | None
    values: tuple[Kind, ...]
    """For a value rule: the kinds of field it speaks about."""
    when: frozenset[str]
    """The rule has something to say only if one of these fields is filled; empty: always."""
    given: Callable[[Any], Any] | None
    """For a claim rule: what is read from the claim first, once for all rules that want it. The check
    takes it as third argument; where it is None, the rule has nothing to say."""
    check: Callable[..., Any]

    def boxes(self, kind: ClaimKind) -> tuple[str, ...]:
        """The boxes of the paper form that the rule is about, in the order of the form."""
        paper = PAPERS[kind]
        known = {**rows(paper.line), **rows(paper.claim)}
        found = (known[name].form for name in self.fields if name in known)
        return tuple(dict.fromkeys(form for form in found if form))


RULES: dict[str, Rule] = {}

Check = TypeVar("Check", bound=Callable[..., Iterable[Fault]])
ValueCheck = TypeVar("ValueCheck", bound=Callable[[Any, Row], str | None])


def rule(
    id: str,
    *,
    fields: Iterable[str],
    x12: str = "",
    kinds: tuple[ClaimKind, ...] = BOTH,
    severity: Severity = Severity.ERROR,
    when: Iterable[str] = (),
    need: Need | None = None,
    given: Callable[[Any], Any] | None = None,
) -> Callable[[Check], Check]:
    """Register a rule about a claim as a whole."""
    return _register(
        id, Scope.CLAIM, tuple(fields), x12, kinds, severity, when=when, need=need, given=given
    )


def line_rule(
    id: str,
    *,
    fields: Iterable[str],
    x12: str = "",
    kinds: tuple[ClaimKind, ...] = BOTH,
    severity: Severity = Severity.ERROR,
    when: Iterable[str] = (),
) -> Callable[[Check], Check]:
    """Register a rule about one line; the function takes the line, its claim and the facts."""
    return _register(id, Scope.LINE, tuple(fields), x12, kinds, severity, when=when)


def value_rule(
    id: str, *values: Kind, x12: str = "", severity: Severity = Severity.ERROR
) -> Callable[[ValueCheck], ValueCheck]:
    """Register a rule about every value of some kinds; the function gives the message or None."""
    names = (
        row.name
        for paper in PAPERS.values()
        for part in (paper.claim, paper.line)
        for row in rows(part).values()
        if row.kind in values
    )
    return _register(id, Scope.VALUE, tuple(names), x12, BOTH, severity, values=values)


def _register(
    id: str,
    scope: Scope,
    fields: tuple[str, ...],
    x12: str,
    kinds: tuple[ClaimKind, ...],
    severity: Severity,
    *,
    when: Iterable[str] = (),
    need: Need | None = None,
    values: tuple[Kind, ...] = (),
    given: Callable[[Any], Any] | None = None,
) -> Callable[[Any], Any]:
    def register(check: Callable[..., Any]) -> Callable[..., Any]:
        assert id not in RULES, f"rule {id} is defined twice"
        assert check.__doc__, f"rule {id} has no sentence"
        RULES[id] = Rule(
            id=id,
            sentence=" ".join(check.__doc__.split()),
            scope=scope,
            fields=fields,
            kinds=kinds,
            x12=x12,
            severity=severity,
            need=need,
            values=values,
            when=frozenset(when),
            given=given,
            check=check,
        )
        return check

    return register


def is_whole(number: Decimal) -> bool:
    """Whether a number has no fraction, however large it is; a remainder of a huge one cannot be computed."""
    return number == number.to_integral_value()


def quoted(value: object) -> str:
    """A value as a message shows it."""
    text = str(value)
    shown = text[: limits.QUOTED_CHARACTERS_MAX]
    return f"'{shown}'" if shown == text else f"'{shown}...'"


def listed(words: Iterable[str]) -> str:
    """Words in a sentence: ``a, b and c``."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def on_line(claim: Claim, at: int, name: str) -> str:
    """The path of a line's field."""
    return f"{PAPERS[kind_of(claim)].lines}[{at}].{name}"
