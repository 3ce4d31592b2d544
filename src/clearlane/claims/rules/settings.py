"""What rules may be set to, and what rules know of a claim's payer and site. Knows no database."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from clearlane.claims.rule_settings import DEFAULT, SEVERITIES, RuleSettings
from clearlane.claims.rules.registry import RULES, ClaimRule, RuleInputs
from clearlane.kernel.finding import Finding, Severity, make_shape_finding
from clearlane.kernel.limits import AUDIT_DETAIL_CHARACTERS_MAX
from clearlane.payers.edits import edits_of
from clearlane.payers.model import Payer

REASON_CHARACTERS_MAX = AUDIT_DETAIL_CHARACTERS_MAX // 2
_WEIGHTS: Mapping[Severity | None, int] = {
    None: 0,
    Severity.INFO: 1,
    Severity.WARNING: 2,
    Severity.ERROR: 3,
}


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
