"""Payer aliases of vendors: what their files call the payers of the directory.

Everything runs in the vendor's scope, or in that of one of its sites. No node keeps a copy, so a change counts at once.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from clearlane.store.database.database import Tx, find_row, list_rows
from clearlane.store.database.schema import payer_aliases
from clearlane.store.database.sql import among, scoped_delete, scoped_select, scoped_upsert


class PayerAlias(NamedTuple):
    """An alias of a vendor."""

    alias_key: str
    alias: str
    payer_id: str
    actor: str
    at: int


async def find_payer_ids(tx: Tx, alias_keys: Collection[str]) -> dict[str, str]:
    """Return the ids of the payers that aliases stand for."""
    return dict(await tx.rows(_SOME, keys=sorted(alias_keys)))


async def list_aliases(tx: Tx) -> list[PayerAlias]:
    """Return all aliases of the vendor, by alias."""
    return await list_rows(tx, PayerAlias, _LIST)


async def find(tx: Tx, alias_key: str) -> PayerAlias | None:
    """Return one alias of the vendor."""
    return await find_row(tx, PayerAlias, _FIND, key=alias_key)


async def put(tx: Tx, aliases: Sequence[PayerAlias]) -> None:
    """Store aliases, each in the place of an earlier one of the same id."""
    await tx.many(_PUT, [one._asdict() for one in aliases])


async def remove(tx: Tx, alias_key: str) -> None:
    """Remove an alias."""
    await tx.run(_REMOVE, key=alias_key)


async def count(tx: Tx) -> int:
    """Return how many aliases the vendor has."""
    row = await tx.row(_COUNT)
    return int(row[0]) if row else 0


_C = payer_aliases.c
_ALL = select(*(_C[name] for name in PayerAlias._fields))
_LIST = scoped_select(_ALL.order_by(_C.alias_key), payer_aliases)
_FIND = scoped_select(_ALL.where(_C.alias_key == bindparam("key")), payer_aliases)
_SOME = scoped_select(
    select(_C.alias_key, _C.payer_id).where(among(_C.alias_key, "keys")), payer_aliases
)
_COUNT = scoped_select(select(func.count()).select_from(payer_aliases), payer_aliases)
_PUT = scoped_upsert(
    payer_aliases,
    *PayerAlias._fields,
    key=["alias_key"],
    replace=["alias", "payer_id", "actor", "at"],
)
_REMOVE = scoped_delete(payer_aliases, _C.alias_key == bindparam("key"))
