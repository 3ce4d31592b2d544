"""Host keys of the SFTP server: sealed rows that all nodes share.

A key is stored before it is used, so that clients can learn it first. Knows no connection and makes no keys.
"""

from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import bindparam, delete, select

from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.ids import NO_VENDOR
from clearlane.store.database.database import Actor, Database, Row, SystemScope, Tx
from clearlane.store.database.schema import sftp_host_keys
from clearlane.store.database.sql import Statement, insert_into
from clearlane.store.installation.nodes import bump_revision
from clearlane.store.vault.vault import Vault

SCOPE = SystemScope("host keys belong to the installation")
TABLE = "sftp_host_keys"
REVISION = "sftp_host_keys"


@dataclass(frozen=True, slots=True)
class HostKey:
    """A host key."""

    fingerprint: str
    algorithm: str
    public_key: str
    private_key: bytes = field(repr=False)
    """In OpenSSH's format, without a passphrase."""
    active_from: datetime
    """From then on the server proves itself with it."""


_ALL = Statement(
    select(
        sftp_host_keys.c.fingerprint,
        sftp_host_keys.c.algorithm,
        sftp_host_keys.c.public_key,
        sftp_host_keys.c.private_key,
        sftp_host_keys.c.active_from,
    ).order_by(sftp_host_keys.c.active_from, sftp_host_keys.c.fingerprint)
)
_ADD = Statement(
    insert_into(
        sftp_host_keys,
        *("fingerprint", "algorithm", "public_key", "private_key", "created_at", "active_from"),
    )
)

# Who changes the keys at once must not have older ones take over later.
_DROP_LATER = Statement(
    delete(sftp_host_keys).where(sftp_host_keys.c.active_from > bindparam("after"))
)


async def load_host_keys(database: Database, vault: Vault) -> list[HostKey]:
    """Return the host keys, the oldest first."""
    async with database.read(SCOPE) as tx:
        rows = await tx.rows(_ALL)
        await vault.load_keys_of(tx, [row[3] for row in rows])
    return [_host_key(vault, row) for row in rows]


async def add_host_keys(
    database: Database,
    vault: Vault,
    keys: list[HostKey],
    *,
    only_first: bool = False,
    now: datetime,
    actor: Actor,
) -> bool:
    """Store host keys, in place of those that were to take over later than they do; return whether they were stored.

    With ``only_first`` they are stored only if there are none.
    """
    await vault.ensure_key(NO_VENDOR)

    async def job(tx: Tx) -> bool:
        # Locks out other nodes that start for the first time at the same moment.
        await bump_revision(tx, REVISION)
        if only_first and await tx.rows(_ALL):
            return False
        await tx.run(_DROP_LATER, after=to_micros(min(key.active_from for key in keys)))
        for key in keys:
            await tx.run(
                _ADD,
                fingerprint=key.fingerprint,
                algorithm=key.algorithm,
                public_key=key.public_key,
                private_key=vault.seal(NO_VENDOR, TABLE, key.fingerprint, key.private_key),
                created_at=to_micros(now),
                active_from=to_micros(key.active_from),
            )
        tx.audit("sftp.hostkey_add", ids=[key.fingerprint for key in keys])
        return True

    return await database.write(SCOPE, job, actor=actor)


def _host_key(vault: Vault, row: Row) -> HostKey:
    fingerprint, algorithm, public_key, sealed, active_from = row
    opened = vault.open(NO_VENDOR, TABLE, fingerprint, sealed)
    return HostKey(fingerprint, algorithm, public_key, opened, from_micros(active_from))
