"""What a connection to PostgreSQL may do and for how long, set for its session or for each transaction.

A direct connection is a session: role and time limits are set once. Behind a pooler each transaction may run on another
connection of the server, which other programs use before and after. So each transaction sets them for itself, and nothing
is left behind for the next one.
"""

from collections.abc import Mapping, Sequence

from clearlane.store.database.group_commit import OperationRefused
from clearlane.store.database.postgresql_connection import (
    DRIVER_ERRORS,
    DriverConnection,
    connect,
    connect_pooled,
    connection_fault,
    require_direct,
)
from clearlane.store.database.schema import APP_ROLE

LOCK_SECONDS_MAX = 10
# A stopped node must not block the others: the server ends an idle transaction.
TIME_LIMITS = (
    f"lock_timeout = '{LOCK_SECONDS_MAX}s'",
    f"idle_in_transaction_session_timeout = '{LOCK_SECONDS_MAX}s'",
)
# A session that writes makes a plan once. Left to itself the server plans each statement on a partitioned table again, since the
# plan for one partition looks cheaper: that costs several times as much as the statement. Not for lists, whose best index depends
# on the values, and not behind a pooler, where no plan is kept.
# Nothing is read whole for such a plan if there is an index: it may have been made when a table was empty, and is used when the
# table has grown. Nor is it compiled: these statements are short.
WRITER_SETTINGS = (
    "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off"
)
# Setting, the value that is refused, and what it would cause.
REFUSED = (
    ("fsync", "off", "a crash could lose everything"),
    ("synchronous_commit", "off", "a crash could lose what was acknowledged"),
)
_SERVER = f"""
SELECT {", ".join(f"current_setting('{name}')" for name, _, _ in REFUSED)},
       (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = session_user),
       EXISTS (SELECT FROM pg_roles WHERE rolname = '{APP_ROLE}'),
       to_regclass('alembic_version') IS NOT NULL
"""
_WHICH_DATABASE = "SELECT current_database(), pg_postmaster_start_time()"
TWO_DATABASES = (
    "CLEARLANE_DATABASE_URL and CLEARLANE_DATABASE_DIRECT_URL lead to different databases or servers. "
    "Give the pooler's address and the direct address of one database."
)


async def prepare_connection(connection: DriverConnection) -> None:
    """Check a new direct connection, and give up the right to bypass row-level security for its whole session."""
    await require_direct(connection)
    found = await _session_settings(connection)
    await connection.execute("; ".join(f"SET {setting}" for setting in found))


async def transaction_settings(connection: DriverConnection) -> str:
    """Check a new connection of a pooler; return SQL with which each of its transactions begins."""
    found = await _session_settings(connection)
    return "".join(f"SET LOCAL {setting}; " for setting in found)


async def require_same_database(url: str, direct_url: str) -> None:
    """Refuse a pooler and a direct address that lead to two databases: work and claims would be in different ones."""
    direct = await connect(direct_url)
    try:
        expected = await direct.fetchrow(_WHICH_DATABASE)
    finally:
        await direct.close()
    pooled = await connect_pooled(url)
    try:
        async with pooled.transaction():
            found = await pooled.fetchrow(_WHICH_DATABASE)
    except DRIVER_ERRORS as error:  # a pooler that keeps no transactions, for example
        raise OperationRefused(f"The pooler cannot be used: {connection_fault(error)}.") from None
    finally:
        await pooled.close()
    if found != expected:
        raise OperationRefused(TWO_DATABASES)


def require_durable(found: Mapping[str, str]) -> None:
    """Refuse a server whose commits do not survive a crash."""
    wrong = [
        f"{name} is {found[name]}: {cost}" for name, bad, cost in REFUSED if found[name] == bad
    ]
    if wrong:
        raise OperationRefused(f"This PostgreSQL server cannot be used: {'; '.join(wrong)}.")


async def _session_settings(connection: DriverConnection) -> Sequence[str]:
    """Check the server; return what to set, each as it follows `SET` or `SET LOCAL`."""
    async with (
        connection.transaction()
    ):  # one, so that a pooler keeps the statement on one connection
        [server] = await connection.fetch(_SERVER)
    *durability, sees_all, has_role, has_schema = server
    require_durable({name: value for (name, _, _), value in zip(REFUSED, durability, strict=True)})
    # If the role is missing the schema is missing too, or `db upgrade` has to create the role.
    if sees_all and has_schema and not has_role:
        raise OperationRefused(
            f"The login bypasses row-level security and the role {APP_ROLE} is missing. "
            "Run: clearlane db upgrade"
        )
    return (*TIME_LIMITS, *([f"ROLE {APP_ROLE}"] if sees_all and has_role else []))
