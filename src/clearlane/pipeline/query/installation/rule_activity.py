"""What rules did lately, over all clients, for the operator: how many claims each stopped, and the fate of those that people
sent anyway. Counts only: a rule whose claims are paid after all stops good claims.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from clearlane.claims.rules import RULES
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.query.cause_counts import CAUSE_DAYS
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_summaries, rule_overrides

ACTIVITY_DAYS = 365
CAUSE_PERIOD = timedelta(days=CAUSE_DAYS)
SITES_COUNTED_MAX = 500
PAID_MIN = 3
"""Paid claims that it takes to say that a rule stops good ones."""
FATES: dict[str, str] = {
    **dict.fromkeys(
        (
            ClaimLabel.PAID,
            ClaimLabel.PAID_DIFFERS,
            ClaimLabel.PATIENT_OWES,
            ClaimLabel.NOTHING_DUE,
            ClaimLabel.PREDETERMINED,
        ),
        "paid",
    ),
    ClaimLabel.REJECTED: "rejected",
    **dict.fromkeys((ClaimLabel.DENIED, ClaimLabel.PARTLY_DENIED, ClaimLabel.TAKEN_BACK), "denied"),
}
"""What became of a claim, by its label; a claim with another label is open."""


@dataclass(slots=True)
class RuleActivity:
    """What one rule did."""

    stopped: int = 0
    """Claims of the last seven days that it stopped first, as the lists of the sites count them, and those sent anyway."""
    sent: int = 0
    """Claims of the last year that people sent anyway."""
    paid: int = 0
    rejected: int = 0
    denied: int = 0

    @property
    def open(self) -> int:
        """How many were not decided yet."""
        return self.sent - self.paid - self.rejected - self.denied

    @property
    def stops_good_claims(self) -> bool:
        """Whether payers paid most of what was sent anyway and decided, and more than once or twice."""
        return self.paid >= PAID_MIN and self.paid > self.rejected + self.denied


class RuleCounts(NamedTuple):
    """What rules did lately."""

    rules: dict[str, RuleActivity]
    """Those that did something, by id."""
    counted_at: datetime | None
    """When what they stopped was counted, on the site that was counted longest ago; None if no site was."""

    def of(self, rule: str) -> RuleActivity:
        """Return what a rule did."""
        return self.rules.get(rule) or RuleActivity()


class _Causes(msgspec.Struct):
    """The part of a site's summary that is read here."""

    causes: dict[str, int] = {}
    causes_at: datetime | None = None


async def load_rule_activity(context: WorkContext, now: datetime) -> RuleCounts:
    """Return what each rule did lately."""
    found: dict[str, RuleActivity] = defaultdict(RuleActivity)
    since = to_micros(now - timedelta(days=ACTIVITY_DAYS))
    async with context.database.read(rule_overrides.SCOPE) as tx:
        counts = await rule_overrides.count_by_label(tx, since)
        # A claim that was sent anyway is on no list of claims that were stopped any more.
        passed = await rule_overrides.count_by_label(tx, to_micros(now - CAUSE_PERIOD))
        summaries = await claim_summaries.list_latest(tx, SITES_COUNTED_MAX)
    for rule, label, claims in counts:
        activity = found[rule]
        activity.sent += claims
        if fate := FATES.get(label):
            setattr(activity, fate, getattr(activity, fate) + claims)
    for rule, _, claims in passed:
        found[rule].stopped += claims
    sites = [msgspec.json.decode(content, type=_Causes) for content in summaries]
    for site in sites:
        for cause, claims in site.causes.items():
            for word in cause.split():
                if word in RULES:
                    found[word].stopped += claims
    counted = [site.causes_at for site in sites if site.causes_at]
    return RuleCounts(dict(found), min(counted, default=None))
