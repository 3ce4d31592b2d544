"""Set and remove the payer aliases of a vendor. Audited; every fault of a request is found at once."""

from collections.abc import Sequence
from datetime import datetime

from clearlane.kernel.clock import to_micros
from clearlane.kernel.finding import make_shape_finding
from clearlane.kernel.ids import VendorId, VendorScope
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.sender_payers import (
    ALIASES_PER_VENDOR_MAX,
    AliasRow,
    alias_findings,
    alias_key,
    find_any,
)
from clearlane.payers.transfer import RowFinding
from clearlane.store.database.database import Actor, Database, Tx
from clearlane.store.database.group_commit import JobExtension, unextended
from clearlane.store.delivery import payer_aliases
from clearlane.store.delivery.payer_aliases import PayerAlias

ALIASES_NAMED_MAX = 20
"""How many aliases an audit entry names."""


class AliasesRefused(Exception):
    """Aliases that cannot be set. Nothing was stored."""

    def __init__(self, findings: Sequence[RowFinding]) -> None:
        super().__init__("payer aliases are not set")
        self.findings = findings


def alias_scope(vendor_id: VendorId) -> VendorScope:
    """Return the scope of a vendor's aliases, which belong to none of its sites."""
    return VendorScope(vendor_id, ())


async def set_aliases(
    database: Database,
    vendor_id: VendorId,
    rows: Sequence[AliasRow],
    *,
    payers: PayerDirectory,
    actor: Actor,
    now: datetime,
    extend: JobExtension[int] = unextended,
) -> int:
    """Set aliases of a vendor, all or none; return how many are new. Raise :class:`AliasesRefused` with every fault."""
    findings = list(alias_findings(rows, payers))
    if findings:
        raise AliasesRefused(findings)
    new = [_alias(row, payers, actor, now) for row in rows]

    async def job(tx: Tx) -> int:
        before = await payer_aliases.count(tx)
        await payer_aliases.put(tx, new)
        after = await payer_aliases.count(tx)
        if after > ALIASES_PER_VENDOR_MAX:
            wrong = f"A vendor has {ALIASES_PER_VENDOR_MAX} aliases at most. Remove some first."
            raise AliasesRefused([RowFinding(0, make_shape_finding("PAYA6", "", wrong))])
        named = [f"{one.alias} -> {one.payer_id}" for one in new[:ALIASES_NAMED_MAX]]
        tx.audit("payer_alias.set", ids=[one.payer_id for one in new], detail="; ".join(named))
        return after - before

    return await database.write(alias_scope(vendor_id), extend(job), actor=actor)


async def remove_alias(
    database: Database, vendor_id: VendorId, alias: str, *, actor: Actor
) -> PayerAlias | None:
    """Remove an alias of a vendor, and return it; None if there is none."""

    async def job(tx: Tx) -> PayerAlias | None:
        found = await payer_aliases.find(tx, alias_key(alias))
        if found is not None:
            await payer_aliases.remove(tx, found.alias_key)
            tx.audit("payer_alias.remove", ids=[found.payer_id], detail=found.alias)
        return found

    return await database.write(alias_scope(vendor_id), job, actor=actor)


def _alias(row: AliasRow, payers: PayerDirectory, actor: Actor, now: datetime) -> PayerAlias:
    """Return an alias as it is stored: under the PayerId, by whatever id of the payer it was set."""
    payer, alias = find_any(payers, row.payer_id), row.alias.strip()
    payer_id = payer.payer_id if payer else row.payer_id
    return PayerAlias(alias_key(alias), alias, payer_id, actor.name, to_micros(now))
