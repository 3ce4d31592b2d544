"""Create the schema that ``store/database/schema`` declares: until a release it is the only revision.

A released revision never changes: with the first release, this one gets its tables written out.
"""

from alembic import op
from sqlalchemy.schema import CreateIndex, CreateTable

from clearlane.store.database.schema import audit_head, metadata
from clearlane.store.database.schema.core import HEAD, REVISIONS_CHANNEL, enable_row_security
from clearlane.store.database.sql import CLIENT_TABLES

revision = HEAD
down_revision = None


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
    else:
        _protect_audit_on_sqlite()


def _protect_audit_on_sqlite() -> None:
    for act in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_no_{act.lower()} BEFORE {act} ON audit "
            "BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END"
        )


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
