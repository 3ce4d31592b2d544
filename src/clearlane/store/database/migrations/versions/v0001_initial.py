"""Create the schema that ``store/database/schema`` declares: until a release it is the only revision.

A released revision never changes: with the first release, this one gets its tables written out.
"""

from alembic import op
from sqlalchemy import LargeBinary
from sqlalchemy.schema import CreateIndex, CreateTable

from clearlane.store.database.schema import audit_head, claims, metadata
from clearlane.store.database.schema.core import HEAD, REVISIONS_CHANNEL, enable_row_security
from clearlane.store.database.sql import CLIENT_TABLES

revision = HEAD
down_revision = None

WHOLE_ROW_BYTES = 4_080
"""Rows of claims up to this length stay in one piece on PostgreSQL: two of them fill a page."""


def upgrade() -> None:
    """Create every table, guard those of clients, and make the audit trail append-only."""
    for table in metadata.sorted_tables:
        op.execute(CreateTable(table))
        # In one order: without statistics SQLite may choose between two indexes by which was made first.
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            op.execute(CreateIndex(index))
    # The chain begins with a hash of zeros; the first row that is audited follows it.
    op.bulk_insert(audit_head, [{"id": 1, "seq": 0, "hash": bytes(32)}])
    for name, table in CLIENT_TABLES.items():
        enable_row_security(op, name, of_sites="site_id" in table.c)
    if op.get_bind().dialect.name == "postgresql":
        _protect_audit_on_postgresql()
        _notify_of_revisions()
        _store_sealed_values_whole()
    else:
        _protect_audit_on_sqlite()


def _protect_audit_on_sqlite() -> None:
    for act in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_no_{act.lower()} BEFORE {act} ON audit "
            "BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END"
        )


def _store_sealed_values_whole() -> None:
    """Let PostgreSQL store sealed values as they are. It would try to compress them, in vain.

    A usual claim is longer than the two kilobytes from which PostgreSQL stores parts of a row elsewhere: as one row it
    takes a third less of the server's time.
    """
    for table in metadata.sorted_tables:
        for column in table.columns:
            if isinstance(column.type, LargeBinary):
                op.execute(
                    f"ALTER TABLE {table.name} ALTER COLUMN {column.name} SET STORAGE EXTERNAL"
                )
    op.execute(f"ALTER TABLE {claims.name} SET (toast_tuple_target = {WHOLE_ROW_BYTES})")


def _notify_of_revisions() -> None:
    """Let nodes that listen know at once that a snapshot has changed."""
    op.execute(
        "CREATE FUNCTION clearlane_notify_revision() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN PERFORM pg_notify('{REVISIONS_CHANNEL}', ''); RETURN NULL; END $$"
    )
    op.execute(
        "CREATE TRIGGER revisions_notify AFTER INSERT OR UPDATE ON revisions "
        "FOR EACH STATEMENT EXECUTE FUNCTION clearlane_notify_revision()"
    )


def _protect_audit_on_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$"
    )
    for level, acts in (("ROW", "UPDATE OR DELETE"), ("STATEMENT", "TRUNCATE")):
        op.execute(
            f"CREATE TRIGGER audit_no_change_{level.lower()} BEFORE {acts} ON audit "
            f"FOR EACH {level} EXECUTE FUNCTION audit_is_append_only()"
        )
