"""Within how many days payers usually answer a claim: the installation's number, or that of the payer's route.

    usual = usual_days(payers, connections, default=30)
    usual.of("medical", "HARBOR")                   # 14, or the setting claim_silence_days
    for group in usual.groups: ...                  # every number of days, and whose it is

A claim without a word for longer counts as unanswered: in lists and counts, for the event, and for sending it again.
Knows routes; knows no claim.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from clearlane.connect.connections import Connections
from clearlane.payers.directory import PayerDirectory
from clearlane.store.claims.payer_filter import PayerFilter, payer_key


class SilenceGroup(NamedTuple):
    """Payers that usually answer within the same number of days."""

    days: int
    payers: PayerFilter

    def cutoff(self, now: datetime) -> datetime:
        """Return the time before which a claim without an answer is late."""
        return now - timedelta(days=self.days)


@dataclass(frozen=True, slots=True)
class UsualDays:
    """The installation's number of days, and those of payers that have their own."""

    default: int
    own: Mapping[str, int] = field(default_factory=dict)
    """By payer key."""

    def of(self, kind: str, payer_id: str) -> int:
        """Return the number of days of the payer of a kind of claim."""
        return self.own.get(payer_key(kind, payer_id), self.default)

    def has_own(self, kind: str, payer_id: str) -> bool:
        """Return whether a payer has a number of its own."""
        return payer_key(kind, payer_id) in self.own

    @property
    def groups(self) -> list[SilenceGroup]:
        """Every number of days with its payers; the installation's first."""
        if not self.own:
            return [SilenceGroup(self.default, PayerFilter())]
        found: dict[int, list[str]] = {}
        for key, days in self.own.items():
            found.setdefault(days, []).append(key)
        return [
            SilenceGroup(self.default, PayerFilter(other_than=tuple(self.own))),
            *(SilenceGroup(days, PayerFilter(payers=tuple(keys))) for days, keys in found.items()),
        ]


def usual_days(payers: PayerDirectory, connections: Connections, *, default: int) -> UsualDays:
    """Return within how many days the payers of an installation usually answer; ``default`` is its own number."""
    own: dict[str, int] = {}
    for route in connections.all_mailbox_routes():
        if route.answer_days:
            known = payers.find(route.payer_id, route.type)
            key = payer_key(route.type.lower(), known.payer_id if known else route.payer_id)
            own[key] = answer_days(connections, route.type, route.payer_id, default=default)
    return UsualDays(default, own)


def answer_days(connections: Connections, type: str, payer_id: str, *, default: int) -> int:
    """Return the number of days of one payer: of its first route that has one, else the installation's."""
    routes = connections.mailbox_routes(type, payer_id)
    return next((route.answer_days for route in routes if route.answer_days), default)
