"""Create the schema that ``store/database/schema`` declares: until a release it is the only revision.

A released revision never changes: with the first release, ``python -m tools.freeze_schema`` writes out what this one does.
"""

from alembic import op
from sqlalchemy import LargeBinary
from sqlalchemy.schema import CreateIndex, CreateTable

from clearlane.store.database.migrations.first_partitions import make_first_partitions
from clearlane.store.database.schema import audit_cut, audit_head, metadata
from clearlane.store.database.schema.core import HEAD, REVISIONS_CHANNEL, enable_row_security
from clearlane.store.database.schema.partitions import PARTITION_KEYS, copy_partitioned
from clearlane.store.database.sql import CLIENT_TABLES

revision = HEAD
down_revision = None
CHANGES = ()

# Up to which row of the audit trail rows may be deleted.
CUT = "(SELECT seq FROM audit_cut)"
ZEROS = {"sqlite": "zeroblob(32)", "postgresql": "decode(repeat('00', 32), 'hex')"}


def upgrade() -> None:
    """Create the schema, and on PostgreSQL the partitions of today."""
    create_schema()
    if op.get_bind().dialect.name == "postgresql":
        make_first_partitions(op, PARTITION_KEYS)


def create_schema() -> None:
    """Create every table, guard those of clients, and make the audit trail append-only: the same on every day."""
    on_postgresql = op.get_bind().dialect.name == "postgresql"
    for table in (copy_partitioned(metadata) if on_postgresql else metadata).sorted_tables:
        op.execute(CreateTable(table))
        # In one order: without statistics SQLite may choose between two indexes by which was made first.
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            op.execute(CreateIndex(index))
    # The chain begins with a hash of zeros; the first row that is audited follows it.
    zeros = ZEROS[op.get_bind().dialect.name]
    op.execute(f"INSERT INTO {audit_head.name} (id, seq, hash) VALUES (1, 0, {zeros})")
    op.execute(f"INSERT INTO {audit_cut.name} (id, seq, record) VALUES (1, 0, '')")
    for name, table in CLIENT_TABLES.items():
        enable_row_security(op, name, of_sites="site_id" in table.c)
    if on_postgresql:
        _protect_audit_on_postgresql()
        _notify_of_revisions()
        _store_sealed_values_whole()
    else:
        _protect_audit_on_sqlite()


def _protect_audit_on_sqlite() -> None:
    for act, when in (("UPDATE", ""), ("DELETE", f"WHEN OLD.seq > {CUT} ")):
        op.execute(
            f"CREATE TRIGGER audit_no_{act.lower()} BEFORE {act} ON audit {when}"
            "BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END"
        )


def _store_sealed_values_whole() -> None:
    """Let PostgreSQL store sealed values as they are. It would try to compress them, in vain."""
    for table in metadata.sorted_tables:
        for column in table.columns:
            if isinstance(column.type, LargeBinary):
                op.execute(
                    f"ALTER TABLE {table.name} ALTER COLUMN {column.name} SET STORAGE EXTERNAL"
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
        f"$$ BEGIN IF TG_OP = 'DELETE' AND OLD.seq <= {CUT} THEN RETURN OLD; END IF; "
        "RAISE EXCEPTION 'the audit trail is append-only'; END $$"
    )
    for level, acts in (("ROW", "UPDATE OR DELETE"), ("STATEMENT", "TRUNCATE")):
        op.execute(
            f"CREATE TRIGGER audit_no_change_{level.lower()} BEFORE {acts} ON audit "
            f"FOR EACH {level} EXECUTE FUNCTION audit_is_append_only()"
        )
