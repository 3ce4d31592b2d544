"""The billing providers that people of this node were shown last, so that a form that offers them reads claims once.

Held per site, with the newest claim at that time: a newer one makes them stale. What a person was shown is audited once an
hour. Knows no database.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

SITES_HELD_MAX = 200
PEOPLE_HELD_MAX = 2_000
AUDITED_MINUTES = 60
"""A person's further looks at the same claims within this time are in the audit row of the first."""

V = TypeVar("V")


@dataclass(slots=True)
class ProviderLooks:
    """What was found per site, and who was shown which claims since when."""

    _found: dict[Hashable, tuple[object, Sequence[Any]]] = field(default_factory=dict, repr=False)
    _shown: dict[Hashable, tuple[frozenset[str], datetime]] = field(
        default_factory=dict, repr=False
    )

    def find(self, site: Hashable, newest: object) -> Sequence[Any] | None:
        """Return what was found while this claim was the newest; None if nothing was, or another claim was the newest."""
        held = self._found.get(site)
        return held[1] if held is not None and held[0] == newest else None

    def keep(self, site: Hashable, newest: object, found: Sequence[Any]) -> None:
        """Keep what was found for a site."""
        _put(self._found, site, (newest, found), SITES_HELD_MAX)

    def is_audited(self, person: Hashable, claims: Sequence[str], now: datetime) -> bool:
        """Return whether an audit row of the last hour says that the person saw these claims."""
        held = self._shown.get(person)
        if held is None:
            return False
        named, since = held
        is_recent = timedelta() <= now - since < timedelta(minutes=AUDITED_MINUTES)
        return is_recent and named.issuperset(claims)

    def note_audited(self, person: Hashable, claims: Sequence[str], now: datetime) -> None:
        """Note that an audit row says that the person saw these claims."""
        _put(self._shown, person, (frozenset(claims), now), PEOPLE_HELD_MAX)


def _put(held: dict[Hashable, V], key: Hashable, value: V, entries_max: int) -> None:
    """Put an entry last; the oldest one goes if there are too many."""
    held.pop(key, None)
    held[key] = value
    if len(held) > entries_max:
        del held[next(iter(held))]
