"""Set claim rules for payers and sites. Audited; every fault of a request is found at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from clearlane.accounts.directory import AccountDirectory
from clearlane.claims.rule_settings import RuleSetting
from clearlane.claims.rules.settings import setting_findings
from clearlane.kernel.clock import to_micros
from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import PAYER_TYPES
from clearlane.store.database.database import Actor, Database
from clearlane.store.installation.rule_settings import SettingChange, put_rule_setting


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRequest:
    """What an operator asks for: a rule's severity, for a payer and a site, each of them empty for all."""

    rule: str
    payer: str = ""
    site: str = ""
    severity: str
    reason: str = ""


async def set_rule(
    database: Database,
    request: RuleRequest,
    *,
    payers: PayerDirectory,
    accounts: AccountDirectory,
    actor: Actor,
    now: datetime,
) -> SettingChange | tuple[Finding, ...]:
    """Set a rule, or return every reason why it cannot be set; then nothing is stored."""
    rule, severity = request.rule.strip().upper(), request.severity.strip().casefold()
    reason = " ".join(request.reason.split())
    payer_id = _payer_id(payers, request.payer.strip())
    findings = [
        *setting_findings(rule, severity, reason),
        *_owner_findings(request, payer_id, accounts),
    ]
    if findings:
        return tuple(findings)
    setting = RuleSetting(
        rule=rule,
        payer_id=payer_id or "",
        site=request.site.strip(),
        severity=severity,
        reason=reason,
        actor=actor.name,
        at=to_micros(now),
    )
    return await put_rule_setting(database, setting, actor=actor)


def _payer_id(payers: PayerDirectory, id: str) -> str | None:
    """Return the PayerId of a payer by any of its ids; None for an unknown one."""
    if not id:
        return ""
    found = (payers.find(id, type) for type in PAYER_TYPES)
    return next((payer.payer_id for payer in found if payer), None)


def _owner_findings(
    request: RuleRequest, payer_id: str | None, accounts: AccountDirectory
) -> Iterator[Finding]:
    if payer_id is None:
        wanted = "is not in the directory; clearlane payer search finds payers."
        yield make_shape_finding("RSET6", "payer", f"The payer {request.payer} {wanted}")
    site = request.site.strip()
    if site and accounts.any_site(site) is None:
        wanted = "There is no site with this vendorSiteId; clearlane site list shows them."
        yield make_shape_finding("RSET7", "site", wanted)
