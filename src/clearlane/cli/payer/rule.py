"""``clearlane rule``: the rules that claims are checked by, and their settings for payers and sites."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from clearlane.claims.responses.rule_status import source_of, status_of
from clearlane.claims.rule_settings import DEFAULT, SEVERITIES, RuleSetting
from clearlane.claims.rules import RULES, ClaimRule
from clearlane.cli.command.operator_command import (
    AsJson,
    confirm_loaded,
    in_installation,
    show_change,
    show_facts,
    show_json,
    show_rows,
)
from clearlane.cli.command.output import minute_text, show_table
from clearlane.cli.command.storage_command import operator, refuse
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.clock import from_micros
from clearlane.pipeline.operator.rule_admin import RuleRequest, set_rule
from clearlane.pipeline.query.installation.rule_activity import RuleCounts, load_rule_activity
from clearlane.store.installation.rule_settings import REVISION, SettingChange
from clearlane.wiring import Installation

app = typer.Typer(
    help="Claim rules, and their settings for payers and sites.", add_completion=False
)

RuleId = Annotated[str, typer.Argument(metavar="ID", help="The rule, such as C703.")]
COLUMNS = (
    TableColumn("rule", "rule"),
    TableColumn("severity", "severity", state=True),
    TableColumn("claims", "kinds", drop=2),
    TableColumn("what must be true", "sentence", wrap=True),
    TableColumn("settings", "set_to", wrap=True, drop=1),
)
SETTINGS = (
    TableColumn("payer", "payer"),
    TableColumn("site", "site"),
    TableColumn("severity", "severity", state=True),
    TableColumn("by", "by", drop=1),
    TableColumn("at", "at", drop=2),
    TableColumn("reason", "reason", wrap=True),
)
CAN_BE_SET = "It can be raised, lowered and switched off."


@app.command("list")
@in_installation()
async def list_(
    installation: Installation,
    changed: Annotated[bool, typer.Option("--set", help="Only rules with settings.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the claim rules with their severities and settings.

    Example: clearlane rule list --set
    """
    settings = installation.rule_settings
    counts = await load_rule_activity(installation.work_context, installation.clock.now())
    records = [
        _record(rule, settings.of_rule(rule.id), counts)
        for _, rule in sorted(RULES.items())
        if settings.of_rule(rule.id) or not changed
    ]
    show_rows(COLUMNS, records, as_json=as_json, noun="rule")


@app.command()
@in_installation()
async def show(installation: Installation, id: RuleId, as_json: AsJson = False) -> None:
    """Show a rule, whether it can be changed, and its settings.

    Example: clearlane rule show C703
    """
    rule = RULES.get(id.strip().upper())
    if rule is None:
        refuse(f"There is no claim rule {id}. clearlane rule list shows them.")
    settings = installation.rule_settings
    counts = await load_rule_activity(installation.work_context, installation.clock.now())
    record = _record(rule, settings.of_rule(rule.id), counts)
    status = status_of(rule)
    if as_json:
        show_json(
            record | {"source": source_of(rule), "status": status._asdict() if status else None}
        )
        return
    show_facts(
        [
            ("rule", rule.id),
            ("what must be true", rule.sentence),
            ("severity", rule.severity),
            ("claims", record["kinds"]),
            ("x12", rule.x12),
            ("source", source_of(rule)),
            *([("277CA", " ".join(filter(None, status)))] if status else []),
            *([("payer wants", rule.edit)] if rule.edit else []),
            ("can be changed", rule.fixed or CAN_BE_SET),
            ("stopped, 7 days", f"{record['stopped']}{_counted(counts)}"),
            ("sent anyway, 1 year", _fate(record["sent_anyway"])),
        ]
    )
    if record["settings"]:
        typer.echo()
        show_table(
            SETTINGS,
            ([one[c.name] for c in SETTINGS] for one in _settings(settings.of_rule(rule.id))),
        )


@app.command("set")
@in_installation()
async def set_(
    installation: Installation,
    id: RuleId,
    severity: Annotated[
        str, typer.Option(help=f"{', '.join(SEVERITIES)}, or {DEFAULT} to remove the setting.")
    ],
    payer: Annotated[str, typer.Option(help="Only claims to this payer (any of its ids).")] = "",
    site: Annotated[str, typer.Option(help="Only claims of this site (vendorSiteId).")] = "",
    because: Annotated[
        str, typer.Option(help="The reason, for the audit trail; no patient data.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Raise, lower or switch off a rule for a payer, a site, both, or all claims.

    The closer setting counts: payer and site, then site, then payer. A rule of the X12 guide is never lowered.

    Example: clearlane rule set C703 --payer MDW10 --severity error --because "rejects zero charges since May"
    """
    request = RuleRequest(rule=id, payer=payer, site=site, severity=severity, reason=because)
    done = await set_rule(
        installation.database,
        request,
        payers=installation.payers,
        accounts=installation.accounts,
        actor=operator(),
        now=installation.wall.now(),
    )
    if not isinstance(done, SettingChange):
        refuse("\n".join(f"{one.location}: {one.message}" for one in done))
    await confirm_loaded(installation.database, REVISION, done.revision)
    rule = id.strip().upper()
    show_change(
        f"{rule} is set to {severity} (before: {done.before}).",
        as_json=as_json,
        changed=done.revision is not None,
        rule=rule,
        severity=severity,
        before=done.before,
    )


def _record(
    rule: ClaimRule, settings: Iterable[RuleSetting], counts: RuleCounts
) -> dict[str, object]:
    own, did = _settings(settings), counts.of(rule.id)
    fates = ("sent", "paid", "rejected", "denied", "open")
    return {
        "rule": rule.id,
        "severity": rule.severity.value,
        "kinds": rule.kinds,
        "sentence": rule.sentence,
        "fixed": rule.fixed,
        "payer_edit": rule.edit,
        "set_to": [_setting_words(one) for one in own],
        "settings": own,
        "stopped": did.stopped,
        "counted_at": counts.counted_at,
        "sent_anyway": {name: getattr(did, name) for name in fates},
    }


def _counted(counts: RuleCounts) -> str:
    """Return when claims that rules stopped were counted."""
    return f" (counted at {minute_text(counts.counted_at)})" if counts.counted_at else ""


def _fate(sent_anyway: Any) -> str:
    """Return what became of claims that were sent in spite of a rule."""
    sent, *fates = sent_anyway.items()
    words = ", ".join(f"{count} {name}" for name, count in fates if count)
    return f"{sent[1]}: {words}" if words else str(sent[1])


def _settings(settings: Iterable[RuleSetting]) -> list[dict[str, object]]:
    return [
        {
            "payer": one.payer_id,
            "site": one.site,
            "severity": one.severity,
            "reason": one.reason,
            "by": one.actor,
            "at": from_micros(one.at),
        }
        for one in settings
    ]


def _setting_words(one: dict[str, object]) -> str:
    owner = " ".join(str(name) for name in (one["payer"], one["site"]) if name)
    return f"{one['severity']} for {owner or 'all'}"
