"""Settings of rules: what an operator makes of a rule's severity, for a payer, a site, both, or everywhere.

    settings = RuleSettings(rows)
    settings.severities(payer, "LARK-1")             # {"C703": Severity.ERROR, "C411": None}

A snapshot, replaced as a whole when its revision changes. A rule that is not named keeps its severity; None switches one
off. The closer setting counts: payer and site, then site, then payer, then everywhere. Knows no rule, no claim and no
database; ``rules.settings`` knows what may be set.
"""

from collections.abc import Iterable, Mapping

import msgspec

from clearlane.claims.finding import NO_CHANGES
from clearlane.kernel.finding import Severity
from clearlane.payers.model import Payer

SEVERITIES: Mapping[str, Severity | None] = {
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "off": None,
}
DEFAULT = "default"
"""What removes a setting."""
RuleSeverities = Mapping[str, Severity | None]


class RuleSetting(msgspec.Struct, frozen=True, kw_only=True):
    """One setting of a rule."""

    rule: str
    payer_id: str = ""
    """Empty: for every payer."""
    site: str = ""
    """The vendorSiteId; empty: for every site."""
    severity: str
    reason: str = ""
    actor: str = ""
    at: int = 0

    @property
    def key(self) -> tuple[str, str, str]:
        """What there is one setting of."""
        return self.rule, self.payer_id, self.site


class RuleSettings:
    """The settings of one installation."""

    def __init__(self, settings: Iterable[RuleSetting] = ()) -> None:
        self.all = tuple(settings)
        self._by_owner: dict[tuple[str, str], dict[str, Severity | None]] = {}
        for one in self.all:
            own = self._by_owner.setdefault((one.payer_id.casefold(), one.site), {})
            own[one.rule] = SEVERITIES[one.severity]

    def severities(self, payer: Payer | None, site: str) -> RuleSeverities:
        """Return the severities that settings give rules for the claims of a site to a payer."""
        if not self._by_owner:
            return NO_CHANGES
        payer_id = payer.payer_id.casefold() if payer else ""
        found: dict[str, Severity | None] = {}
        for owner in dict.fromkeys((("", ""), (payer_id, ""), ("", site), (payer_id, site))):
            found |= self._by_owner.get(owner, {})
        return found

    def of_rule(self, rule: str) -> list[RuleSetting]:
        """Return the settings of a rule, the general ones first."""
        return [one for one in self.all if one.rule == rule]


NO_SETTINGS = RuleSettings()
