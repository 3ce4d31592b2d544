"""Rules that need more than one segment at once, and their registry.

A rule is a small function with an id, a sentence (its docstring, which says what must be true) and a loop. The engine
calls it each time a loop of that id closes, with the loop's own segments and the loops in it:

    from collections.abc import Iterator

    from clearlane.x12.rules import RuleContext, RuleFinding, parse_cents, rule
    from clearlane.x12.tree import Loop

    @rule("X837-TOTAL", loop="2300", kinds=("837P", "837D", "837I"), snip=3, places=("2300/CLM/02",))
    def total_is_sum_of_lines(loop: Loop, ctx: RuleContext) -> Iterator[RuleFinding]:
        \"\"\"The total charge of a claim is the sum of its line charges.\"\"\"
        charges = [parse_cents(line.value("SV1", 2)) for line in loop.loops("2400")]
        if None not in charges and parse_cents(loop.value("CLM", 2)) != sum(charges):
            yield RuleFinding("Total charge must equal the sum of the line charges", loop.segment("CLM"), 2)

* ``loop`` is one loop id, or several in a tuple; ``SET`` means the root loop of the guide, whatever its id: the rule runs
  when the SE has been read.
* ``kinds`` are the ``Guide.kind`` values the rule applies to.
* ``needs`` names own segments or child loops, by id: at least one must be present for the rule to run
  (``needs=("2320",)`` for a rule about other payers; ``"2400/2430"`` is a 2430 in a child loop 2400).
* ``places`` are the elements whose note in the guide states the rule, where that is known; ``section`` is the section of the
  guide's front matter that does.
* ``RuleFinding.segment`` is the very list taken from the loop (found again by identity, never by value), or a segment of an
  enclosing loop. With None the finding points at the segment that opens the loop.
* ``RuleFinding.code`` is the code a 999 reports: IK403 if an element is given, IK304 otherwise. If empty, the 999 reports I9
  (an element that others call for is missing), I12 (the element does not follow the guide) or I6 (a segment required by
  others is missing).
* ``ctx.parent("2000B")`` is the nearest open loop of that id around this one, or None.
* ``ctx.set_state`` is a dictionary that lives as long as the transaction set. A streaming reader drops each unit loop (2300
  in an 837, 2100 in an 835) and each loop that contained units once it is closed. A rule about many units therefore adds up
  in ``ctx.set_state`` when a unit closes, and a second rule on ``SET`` (or on the loop around the units) reads the sum. Keep
  it small and bounded.
* ``ctx.file_state`` is a dictionary that lives as long as the file, for what must not recur in a later set.
* Messages say what would pass. They never contain a value of the file.

Knows loops and findings; knows no guide beyond the ``kinds`` of its rules.
"""

import importlib
import pkgutil
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from clearlane.kernel.finding import Severity
from clearlane.kernel.rule_registry import FindingType, RuleRegistry
from clearlane.x12 import tree

# Longer "amounts" are hostile, and int() refuses a few thousand digits with an exception.
AMOUNT_DIGITS_MAX = 20

SET = "SET"
"""As the loop of a rule: the whole transaction set."""


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """What a rule found. The engine turns it into a ``Finding`` with its position."""

    message: str
    segment: list[str] | None = None
    element: int = 0
    component: int = 0
    code: str = ""
    repetition: int = 0
    severity: Severity | None = None
    """Set if this finding has another severity than the rule."""


class RuleContext:
    """What a rule may know besides its loop."""

    __slots__ = ("file_state", "header", "kind", "open", "set_state")

    def __init__(
        self,
        kind: str,
        header: list[str],
        set_state: dict[str, Any],
        open: Sequence[tree.Loop],
        file_state: dict[str, Any] | None = None,
    ) -> None:
        self.kind = kind
        """The guide's kind, such as ``837P``."""
        self.header = header
        """The ST segment."""
        self.set_state = set_state
        """Lives as long as the transaction set; rules keep sums here under keys of their own."""
        self.open = open
        """The loops around this one, outermost first."""
        self.file_state: dict[str, Any] = {} if file_state is None else file_state
        """Lives as long as the file; must stay bounded like ``set_state``."""

    def parent(self, *ids: str) -> tree.Loop | None:
        """Return the nearest open loop around this one with one of these ids, or None."""
        for loop in reversed(self.open):
            if loop.node.id in ids:
                return loop
        return None


Check = Callable[[tree.Loop, RuleContext], Iterable[RuleFinding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRule(FindingType):
    """A registered rule."""

    loops: tuple[str, ...]
    kinds: tuple[str, ...]
    snip: int
    check: Check
    needs: tuple[str, ...]
    places: tuple[str, ...]
    section: str


RULES: RuleRegistry[LoopRule] = RuleRegistry(LoopRule)


def rule(
    id: str,
    *,
    loop: str | tuple[str, ...],
    kinds: tuple[str, ...],
    snip: int,
    severity: Severity = Severity.ERROR,
    needs: tuple[str, ...] = (),
    places: tuple[str, ...] = (),
    section: str = "",
) -> Callable[[Check], Check]:
    """Return a decorator that registers a function as the rule with this id."""
    loops = (loop,) if isinstance(loop, str) else loop
    return RULES.rule(
        id,
        severity,
        loops=loops,
        kinds=kinds,
        snip=snip,
        needs=needs,
        places=places,
        section=section,
    )


def rules_for(kind: str, *loops: str) -> tuple[LoopRule, ...]:
    """Return the rules of a kind of guide that run when a loop with one of these ids closes."""
    _load()
    found = (r for r in RULES.values() if kind in r.kinds and not set(loops).isdisjoint(r.loops))
    # Whatever was imported first: the findings of a file are in the same order in every process.
    return tuple(sorted(found, key=lambda rule: rule.check.__module__))


def find_rule(id: str) -> LoopRule:
    """Return the rule with an id."""
    _load()
    return RULES[id]


def parse_cents(text: str) -> int | None:
    """Return an X12 decimal number in whole cents; None if it is no number or has fractions of a cent.

    Rules add up integers: exact like Decimal and several times faster.
    """
    if text.isdigit() and text.isascii() and len(text) < AMOUNT_DIGITS_MAX - 1:
        return int(text) * 100
    whole, point, part = text.partition(".")
    if not point:
        digits = whole + "00"
    elif len(part) <= 2:
        digits = whole + part.ljust(2, "0")
    elif part[2:].strip("0"):
        return None
    else:
        digits = whole + part[:2]
    bare = digits[1:] if digits[:1] == "-" else digits
    if not (bare.isascii() and bare.isdigit()) or text in {"", "-", ".", "-."}:
        return None
    if len(bare) > AMOUNT_DIGITS_MAX:
        return None
    return int(digits)


def is_repeated(number: Hashable, seen: set[Any], most: int) -> bool:
    """Return whether a number was seen before; remember a new one, up to a limit."""
    if number in seen:
        return True
    if len(seen) < most:
        seen.add(number)
    return False


def each(loop: tree.Loop, id: str, *elements: int) -> Iterator[tuple[list[str], tuple[str, ...]]]:
    """Yield each own segment of this id with some of its elements, empty text if they are absent."""
    for segment in loop.segments(id):
        size = len(segment)
        yield segment, tuple(segment[at] if at < size else "" for at in elements)


def zero_adjustments(loop: tree.Loop) -> Iterator[RuleFinding]:
    """Yield a finding for each amount of a loop's own CAS segments that adjusts nothing."""
    for cas in loop.segments("CAS"):
        for at in range(3, len(cas), 3):
            if cas[at] and parse_cents(cas[at]) == 0:
                yield RuleFinding(
                    f"CAS{at:02} (amount) should not be 0: leave the adjustment out", cas, at
                )


_loaded = False


def _load() -> None:
    """Import every module of this package once, which registers its rules."""
    global _loaded  # noqa: PLW0603 - the registry fills itself on first use, not on import
    if _loaded:
        return
    _loaded = True
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
