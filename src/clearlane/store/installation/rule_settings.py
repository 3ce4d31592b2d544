"""Settings of claim rules.

A change is one transaction: the row, the audit entry and the revision that running nodes watch. ``claims.rules.settings``
decides what may be set.
"""

from dataclasses import dataclass

from sqlalchemy import bindparam, delete, select

from clearlane.claims.rule_settings import DEFAULT, RuleSetting, RuleSettings
from clearlane.store.database.database import Actor, Database, SystemScope, Tx
from clearlane.store.database.schema import rule_settings
from clearlane.store.database.sql import Statement, insert_into
from clearlane.store.installation.nodes import bump_revision

REVISION = "rule_settings"
SCOPE = SystemScope("settings of rules belong to the installation")

_COLUMNS = RuleSetting.__struct_fields__
_ALL = Statement(
    select(*(rule_settings.c[name] for name in _COLUMNS)).order_by(
        rule_settings.c.rule, rule_settings.c.site, rule_settings.c.payer_id
    )
)
_REMOVE = Statement(
    delete(rule_settings)
    .where(
        rule_settings.c.rule == bindparam("rule"),
        rule_settings.c.payer_id == bindparam("payer_id"),
        rule_settings.c.site == bindparam("site"),
    )
    .returning(rule_settings.c.severity)
)
_ADD = Statement(insert_into(rule_settings, *_COLUMNS))


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A stored change."""

    before: str
    """The severity that was set before; ``default`` if none was."""
    revision: int | None
    """The revision that running nodes must load; None if nothing changed."""


async def load_rule_settings(database: Database) -> RuleSettings:
    """Load all settings as one snapshot."""
    async with database.read(SCOPE) as tx:
        rows = await tx.rows(_ALL)
    return RuleSettings(RuleSetting(**dict(zip(_COLUMNS, row, strict=True))) for row in rows)


async def put_rule_setting(
    database: Database, setting: RuleSetting, *, actor: Actor
) -> SettingChange:
    """Store a setting in the place of the one before it; the severity ``default`` removes that one."""

    async def job(tx: Tx) -> SettingChange:
        rule, payer_id, site = setting.key
        removed = await tx.row(_REMOVE, rule=rule, payer_id=payer_id, site=site)
        before = removed[0] if removed else DEFAULT
        if setting.severity != DEFAULT:
            await tx.run(_ADD, **{name: getattr(setting, name) for name in _COLUMNS})
        elif removed is None:
            return SettingChange(before, None)
        owner = " ".join(filter(None, (payer_id and f"payer {payer_id}", site and f"site {site}")))
        detail = f"{before} -> {setting.severity} for {owner or 'every claim'}: {setting.reason}"
        tx.audit("rule.set", ids=[rule], detail=detail)
        return SettingChange(before, await bump_revision(tx, REVISION))

    return await database.write(SCOPE, job, actor=actor)
