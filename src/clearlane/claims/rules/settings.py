"""Settings of rules: what an operator makes of a rule's severity, for a payer, a site, both, or everywhere.

    settings = RuleSettings(rows)
    settings.severities(payer, "LARK-1")             # {"C703": Severity.ERROR, "C411": None}

A snapshot, replaced as a whole when its revision changes. A rule that is not named keeps its severity; None switches one
off. The closer setting counts: payer and site, then site, then payer, then everywhere. Knows no claim and no database.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import msgspec

from clearlane.claims.finding import NO_CHANGES
from clearlane.claims.rules.registry import RULES, ClaimRule, RuleInputs
from clearlane.kernel.finding import Finding, Severity, make_shape_finding
from clearlane.kernel.limits import AUDIT_DETAIL_CHARACTERS_MAX
from clearlane.payers.edits import edits_of
from clearlane.payers.model import Payer

SEVERITIES: Mapping[str, Severity | None] = {
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "off": None,
}
DEFAULT = "default"
"""What removes a setting."""
REASON_CHARACTERS_MAX = AUDIT_DETAIL_CHARACTERS_MAX // 2
_WEIGHTS: Mapping[Severity | None, int] = {
    None: 0,
    Severity.INFO: 1,
    Severity.WARNING: 2,
    Severity.ERROR: 3,
}

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


def with_payer(
    inputs: RuleInputs, payer: Payer | None, settings: RuleSettings, site: str
) -> RuleInputs:
    """Return what rules know of the claims of a site to a payer: what it wants, and what rules are set to."""
    return replace(
        inputs, payer=payer, edits=edits_of(payer), severities=settings.severities(payer, site)
    )


def setting_findings(rule_id: str, severity: str, reason: str) -> Iterator[Finding]:
    """Yield every reason why a rule cannot be set so."""
    rule = RULES.get(rule_id)
    if rule is None:
        yield make_shape_finding("RSET1", "ID", f"There is no claim rule {rule_id}; {_known()}")
    if severity != DEFAULT and severity not in SEVERITIES:
        words = ", ".join((*SEVERITIES, DEFAULT))
        yield make_shape_finding("RSET2", "severity", f"Give one of {words}.")
    elif rule is not None and severity != DEFAULT and (why := refusal(rule, severity)):
        yield make_shape_finding("RSET3", "severity", why)
    if severity != DEFAULT and not reason:
        yield make_shape_finding("RSET4", "because", "Give the reason; it is audited.")
    if len(reason) > REASON_CHARACTERS_MAX or not reason.isprintable():
        wanted = f"Give at most {REASON_CHARACTERS_MAX} printable characters, without patient data."
        yield make_shape_finding("RSET5", "because", wanted)


def refusal(rule: ClaimRule, severity: str) -> str:
    """Return why a rule cannot have a severity; empty if it can."""
    if rule.fixed and _WEIGHTS[SEVERITIES[severity]] < _WEIGHTS[rule.severity]:
        verb = "switched off" if SEVERITIES[severity] is None else "lowered"
        return f"{rule.id} is an {rule.severity} and cannot be {verb}: {rule.fixed}"
    return ""


def _known() -> str:
    return "clearlane rule list shows them. Findings of the X12 guide (X837-..., ELM-...) cannot be set."
