"""Empty the tables of a sandbox that is reset: everything that was sent, received and decided in it.

Accounts, keys, users, payers and routes stay, and so does the audit chain, which may never be shortened.
"""

from functools import cache

from sqlalchemy import delete, func, select

from clearlane.store.database import schema
from clearlane.store.database.database import Tx
from clearlane.store.database.sql import Statement

KEPT = frozenset(
    {
        # the audit chain, checkpoints, keys, and numbers that must never be used again
        "audit", "audit_cut", "audit_head", "installation_keys", "data_keys", "control_numbers", "proof_checkpoints", "proof_stamps",
        # who may call and sign in, and with what
        "vendors", "vendor_secrets", "api_keys", "api_key_secrets", "sites", "instances", "login_urls",
        "console_users", "console_user_sites", "console_sessions", "recovery_codes",
        # what an operator has set up
        "payers", "payer_aliases", "routes", "hop_payers", "code_lists", "codes", "rule_settings", "log_level", "retention_periods",
        # running nodes
        "nodes", "revisions", "takeovers", "sandbox_state",
    }
)  # fmt: skip
"""Every other table is emptied, also one that is added later."""


async def empty_tables(tx: Tx) -> dict[str, int]:
    """Delete the rows of every table that is not kept; return how many each had."""
    counts = {}
    for name, (count, clear) in _emptied().items():
        row = await tx.row(count)
        counts[name] = int(row[0]) if row else 0
        await tx.run(clear)
    return counts


@cache
def _emptied() -> dict[str, tuple[Statement, Statement]]:
    """Return what counts and what deletes the rows of each table; rows that refer to others go before them."""
    return {
        table.name: (
            Statement(select(func.count()).select_from(table), system=True),
            Statement(delete(table), system=True),
        )
        for table in reversed(schema.metadata.sorted_tables)
        if table.name not in KEPT
    }
