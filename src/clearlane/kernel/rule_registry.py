"""The registry of rules and the row of every catalogue of findings: an id, what must be true, and a severity.

    RULES: RuleRegistry[LoopRule] = RuleRegistry(LoopRule)

    @RULES.rule("X837-TOTAL", Severity.ERROR, snip=3)
    def total_is_sum_of_lines(loop: Loop) -> Iterator[RuleFinding]:
        \"\"\"The total charge of a claim is the sum of its line charges.\"\"\"

A package subclasses the row for columns of its own. Ids are stable: callers, payers' settings and the reference pages
name rules by them. Knows no format and no domain.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from clearlane.kernel.finding import Severity


@dataclass(frozen=True, slots=True)
class FindingType:
    """One row of a catalogue: what one rule, or one check of an engine, can find."""

    id: str
    severity: Severity
    sentence: str
    """What must be true."""


Row = TypeVar("Row", bound=FindingType)
Check = TypeVar("Check", bound=Callable[..., Any])


class RuleRegistry(dict[str, Row], Generic[Row]):
    """Rows by id, in the order in which they were added. No id is used twice, and each row has a sentence."""

    def __init__(self, row_type: Callable[..., Row], rows: Iterable[Row] = ()) -> None:
        """``row_type`` makes the row of a rule from its id, severity, sentence, check and columns."""
        super().__init__()
        self._row_type = row_type
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> None:
        """Add a row."""
        if row.id in self:
            raise ValueError(f"rule {row.id} is defined twice")
        if not row.sentence:
            raise ValueError(f"rule {row.id} needs a docstring that states what must be true")
        self[row.id] = row

    def rule(self, id: str, severity: Severity, **columns: Any) -> Callable[[Check], Check]:
        """Return a decorator that registers a function as the rule with this id; its docstring is the sentence."""

        def register(check: Check) -> Check:
            sentence = " ".join((check.__doc__ or "").split())
            self.add(self._row_type(id, severity, sentence, check=check, **columns))
            return check

        return register
