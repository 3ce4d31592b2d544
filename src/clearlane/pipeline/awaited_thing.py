"""What a stored claim awaits, as faces show it: what, from whom, since when, by when, and whether it is overdue.

Light: `clearlane claim show` reads it without the tables of the 837.
"""

from dataclasses import dataclass
from datetime import datetime

from clearlane.claims.awaiting import AWAITED_WORDS, SOURCES, Awaited, AwaitedFrom
from clearlane.kernel.clock import from_micros, moment_text, to_micros
from clearlane.store.claims.claim_query import ClaimListRow


@dataclass(frozen=True, slots=True)
class AwaitedThing:
    """What a claim awaits."""

    what: Awaited
    source: AwaitedFrom
    since: datetime
    by: datetime | None
    """None if no time is known by which it is to come."""
    overdue: bool

    @property
    def words(self) -> str:
        """What people call what is awaited."""
        return AWAITED_WORDS[self.what]

    def as_json(self) -> dict[str, object]:
        """Return it as v1 and `--json` show it."""
        return {
            "what": self.what.value,
            "from": self.source.value,
            "since": moment_text(self.since),
            "by": moment_text(self.by) if self.by else None,
            "overdue": self.overdue,
        }


def awaited_thing_of(row: ClaimListRow, now: datetime) -> AwaitedThing | None:
    """Return what a stored claim awaits; None if it is closed, or another was sent in its place."""
    if row.awaiting is None or row.awaited_since is None or row.is_superseded:
        return None
    awaited, by = Awaited(row.awaiting), row.awaited_by
    return AwaitedThing(
        awaited,
        SOURCES[awaited],
        from_micros(row.awaited_since),
        None if by is None else from_micros(by),
        overdue=by is not None and by < to_micros(now),
    )
