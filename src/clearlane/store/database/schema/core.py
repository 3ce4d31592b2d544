"""The core tables, and the two ways to declare one: for the installation, or for its clients.

Column types are chosen so that no driver converts anything: times are BIGINT microseconds, days
TEXT, money BIGINT cents, JSON TEXT, booleans SMALLINT, payloads binary. Knows no connection.
"""

from collections.abc import Iterable
from typing import (
    Any,
    Protocol,
)

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    TextClause,
    UniqueConstraint,
    text,
)
from sqlalchemy.schema import SchemaItem

from clearlane.claims.kinds import SUBMITTED_FORMS, SUBMITTED_KINDS
from clearlane.kernel.retention_kinds import KeyClass
from clearlane.payers.model import PAYER_TYPES
from clearlane.store.database.sql import CLIENT_TABLES

__all__ = [
    "ANCHORED_ACTION",
    "APP_ROLE",
    "BACKUP_ACTION",
    "BIG_INTEGER",
    "CLIENT_TABLES",
    "COMPLETE_STATE",
    "DEFAULT_RIGHTS",
    "EVERYTHING",
    "HEAD",
    "NEVER_SENT_STATES",
    "NOT_ACCEPTED_STATE",
    "NOT_SUPERSEDED_CLAIM",
    "RESTORE_ACTIONS",
    "REVISIONS_CHANNEL",
    "RIGHTS",
    "ROUTE_ACTIONS",
    "SHADOW_NOT_ACCEPTED_STATE",
    "SHADOW_STATE",
    "SHADOW_STATES",
    "SITES_SETTING",
    "STATES_WITH_ERRORS",
    "VENDORS_SETTING",
    "MigrationOperations",
    "audit",
    "audit_cut",
    "audit_head",
    "claim_events",
    "claim_ids",
    "claim_references",
    "claims",
    "client_table",
    "data_keys",
    "enable_row_security",
    "hop_payers",
    "id_column",
    "installation_keys",
    "installation_table",
    "log_level",
    "metadata",
    "nodes",
    "one_of",
    "owner_columns",
    "payers",
    "revisions",
    "routes",
    "row_security",
    "sites",
    "takeovers",
    "vendor_secrets",
    "vendor_table",
    "vendors",
]  # fmt: skip

REVISIONS_CHANNEL = "clearlane_revisions"
"""Where PostgreSQL notifies of changed revisions; a trigger of the table does."""

# The schema revision of this code: the newest file in migrations/versions. Until the first release that file creates the
# tables declared here, and each change of them gets the next letter, so that an older database is refused.
HEAD = "v0002z"

# The role that connections take if the login would bypass row-level security.
APP_ROLE = "clearlane_app"
# The setting of a transaction that names the vendors whose rows it may touch.
VENDORS_SETTING = "clearlane.vendors"
# The setting that names their sites; and what both settings hold if all rows may be touched.
SITES_SETTING = "clearlane.sites"
EVERYTHING = "*"
# The rights of that role by table. The checkpoints are append-only; so is the audit trail, by triggers, but for the rows
# that its cut says were removed.
RIGHTS = {
    "audit": "SELECT, INSERT, DELETE",
    "audit_cut": "SELECT, UPDATE",
    "proof_checkpoints": "SELECT, INSERT",
    "proof_stamps": "SELECT, INSERT",
    "audit_head": "SELECT, UPDATE",
    "alembic_version": "SELECT",
}
DEFAULT_RIGHTS = "SELECT, INSERT, UPDATE, DELETE"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows by itself only when the key is INTEGER, which holds 64 bits there anyway.
BIG_INTEGER = BigInteger().with_variant(Integer(), "sqlite")


def one_of(column: str, values: Iterable[str]) -> str:
    """Return the condition that a column holds one of some texts."""
    texts = ", ".join(f"'{value}'" for value in values)
    return f"{column} IN ({texts})"


def id_column() -> Column[int]:
    """Return an ``id`` column that the database counts up and never reuses."""
    return Column("id", BIG_INTEGER, Identity(), primary_key=True)


def client_table(
    name: str,
    *columns: SchemaItem,
    owner_index: bool = True,
    **options: Any,  # Any: as Table takes them
) -> Table:
    """Declare a table of client rows, with owner columns that every statement must constrain.

    The migration that creates it calls :func:`enable_row_security` as a second line of defense. ``owner_index=False``
    leaves out the index of the owner, for a table whose key begins with the vendor and that no site is looked up in.
    """
    needs_index = owner_index and not _has_owner_index(columns)
    table = Table(
        name,
        metadata,
        *owner_columns(),
        *columns,
        ForeignKeyConstraint(["vendor_id", "site_id"], ["sites.vendor_id", "sites.id"]),
        *([Index(None, "vendor_id", "site_id")] if needs_index else []),
        sqlite_autoincrement="id" in {c.name for c in columns if isinstance(c, Column)},
        **options,
    )
    CLIENT_TABLES[name] = table
    return table


def vendor_table(name: str, *columns: SchemaItem) -> Table:
    """Declare a table of rows that belong to a vendor and to none of its sites.

    It is guarded as client tables are: statements name the vendor, and row-level security holds it.
    """
    table = Table(
        name,
        metadata,
        Column("vendor_id", BigInteger, ForeignKey("vendors.id"), nullable=False),
        *columns,
        sqlite_autoincrement="id" in {c.name for c in columns if isinstance(c, Column)},
    )
    CLIENT_TABLES[name] = table
    return table


def _has_owner_index(items: tuple[SchemaItem, ...]) -> bool:
    """Return whether an index begins with the owner columns, so that one of these alone is not needed."""
    return any(
        isinstance(item, Index)
        and [str(named) for named in item._pending_colargs][:2] == ["vendor_id", "site_id"]  # noqa: SLF001
        and not item.kwargs
        for item in items
    )


def owner_columns() -> tuple[Column[int], Column[int]]:
    """Return the two columns that name the owner of a row."""
    return Column("vendor_id", BigInteger, nullable=False), Column(
        "site_id", BigInteger, nullable=False
    )


class MigrationOperations(Protocol):
    """What is used of the operations of a migration."""

    def get_bind(self) -> Connection:
        """Return the connection of the upgrade."""

    def execute(self, sqltext: TextClause, /) -> None:
        """Execute a statement."""


def enable_row_security(op: MigrationOperations, table: str, *, of_sites: bool = True) -> None:
    """Enable row-level security on a client table: PostgreSQL shows rows of the allowed vendors and sites only.

    Without the settings no row is visible, not even to the owner of the table. SQLite has no such feature.
    ``of_sites`` is False for a table of vendors, which has no site column.
    """
    if op.get_bind().dialect.name != "postgresql":
        return
    for statement in row_security(table, of_sites=of_sites):
        op.execute(text(statement))


def row_security(table: str, *, of_sites: bool = True) -> tuple[str, ...]:
    """Return the statements that enable row-level security on a table or partition of PostgreSQL."""
    condition = _allows("vendor_id", VENDORS_SETTING)
    if of_sites:
        condition = f"({condition}) AND ({_allows('site_id', SITES_SETTING)})"
    return (
        f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY',
        f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY',
        f'CREATE POLICY "{table}_vendors" ON "{table}" USING ({condition})',
    )


def _allows(column: str, setting: str) -> str:
    """Return the condition that a setting allows a row. Its list is made once for a statement, not for each row."""
    allowed = f"current_setting('{setting}', true)"
    listed = f"(SELECT string_to_array({allowed}, ','))::text[]"
    return f"(SELECT {allowed}) = '{EVERYTHING}' OR {column}::text = ANY ({listed})"


def installation_table(
    name: str,
    *items: SchemaItem,
    **options: Any,  # Any: as Table takes them
) -> Table:
    """Declare a table of the installation, which belongs to no client."""
    return Table(name, metadata, *items, **options)


vendors = installation_table(
    "vendors",
    id_column(),
    Column("vendor_key", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("proxy_login", SmallInteger, nullable=False),
    Column("rate_per_minute", Integer),
    Column("created_at", BigInteger, nullable=False),
    CheckConstraint("state IN ('active', 'disabled')", name="state"),
    sqlite_autoincrement=True,
)

vendor_secrets = installation_table(
    "vendor_secrets",
    id_column(),
    Column("vendor_id", BigInteger, ForeignKey("vendors.id"), nullable=False, index=True),
    Column("secret_hash", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    sqlite_autoincrement=True,
)

sites = installation_table(
    "sites",
    id_column(),
    Column("vendor_id", BigInteger, ForeignKey("vendors.id"), nullable=False),
    Column("vendor_site_id", Text, nullable=False, unique=True),
    Column("client_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("time_zone", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("baa_accepted_at", BigInteger),
    # 0 if claims are corrected by the vendor's software alone.
    Column("console_corrections", SmallInteger, nullable=False, server_default="1"),
    # 1 if every file that it sends is a shadow file.
    Column("shadow", SmallInteger, nullable=False, server_default="0"),
    # Since when a summary of each day is written for it to fetch; 0 if none is.
    Column("daily_summary", BigInteger, nullable=False, server_default="0"),
    # 1 if claims for the next payer are sent by themselves once nothing is open.
    Column("bill_next_payer", SmallInteger, nullable=False, server_default="0"),
    Column("created_at", BigInteger, nullable=False),
    CheckConstraint("state IN ('active', 'suspended')", name="state"),
    # Client tables refer to this pair: a row cannot name one vendor and another vendor's site.
    UniqueConstraint("vendor_id", "id"),
    sqlite_autoincrement=True,
)

payers = installation_table(
    "payers",
    Column("payer_id", Text, primary_key=True),
    Column("type", Text, primary_key=True),
    Column("svc_payer_id", Text, nullable=False),
    Column("national_payer_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("era_availability", Text, nullable=False),
    Column("offers_eligibility", SmallInteger, nullable=False),
    Column("claim_enrollment_required", SmallInteger, nullable=False),
    Column("is_test", SmallInteger, nullable=False),
    Column("active", SmallInteger, nullable=False),
    Column("aliases", Text, nullable=False),
    Column("has_route", SmallInteger, nullable=False),
    Column("accepts_claims", SmallInteger, nullable=False),
    Column("replacements", Text, nullable=False),
    Column("billing_zip_required", SmallInteger, nullable=False),
    # What it wants of a claim (``payers.edits``): lists as JSON, days 0 if they are not known.
    Column("program", Text, nullable=False),
    Column("edits", Text, nullable=False),
    Column("member_id_pattern", Text, nullable=False),
    Column("filing_days", Integer, nullable=False),
    Column("corrected_filing_days", Integer, nullable=False),
    Column("secondary_filing_days", Integer, nullable=False),
    Column("appeal_filing_days", Integer, nullable=False),
    Column("attachments", Text, nullable=False),
    # Its id in institutional claims; empty if that is its payer id.
    Column("institutional_payer_id", Text, nullable=False),
    # The inquiries that it answers for enrolled providers only, as JSON.
    Column("inquiry_enrollments", Text, nullable=False),
    CheckConstraint(one_of("type", PAYER_TYPES), name="type"),
)

revisions = installation_table(
    "revisions",
    Column("name", Text, primary_key=True),
    Column("revision", BigInteger, nullable=False),
)

nodes = installation_table(
    "nodes",
    Column("id", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("seen_at", BigInteger, nullable=False),
    Column("heartbeat_micros", BigInteger, nullable=False),
    # By how much the node's clock was ahead of the database's at its last heartbeat.
    Column("clock_ahead_micros", BigInteger, nullable=False),
    # A JSON object: the revision this node has loaded, by name of the snapshot.
    Column("loaded", Text, nullable=False),
    # Ids of the node's master keys, the wrapping key first, separated by commas.
    Column("master_keys", Text, nullable=False),
)

# The least severe log lines of all nodes, in place of their settings: one row, or none.
log_level = installation_table(
    "log_level",
    Column("id", Integer, primary_key=True),
    Column("level", Text, nullable=False),
    # By the database's clock; NULL until it is changed.
    Column("until", BigInteger),
)

takeovers = installation_table(
    "takeovers",
    Column("work_id", Text, primary_key=True),
    Column("count", Integer, nullable=False),
    Column("from_node", Text, nullable=False),
    Column("node", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("parked", SmallInteger, nullable=False),
)

# No foreign key to vendors: a restore keeps the keys of rows that running nodes may still write.
# Site 0 is for what belongs to a vendor and to no site, vendor 0 for what belongs to the installation. An owner may have
# several keys for a month and class (two nodes made one at the same time); all remain valid.
data_keys = installation_table(
    "data_keys",
    Column("id", BIG_INTEGER, primary_key=True, autoincrement=False),
    Column("vendor_id", BigInteger, nullable=False),
    Column("site_id", BigInteger, nullable=False),
    Column("month", Text, nullable=False),
    # The class of retention (``kernel.retention_kinds.KeyClass``).
    Column("retention", Text, nullable=False),
    Column("master_id", Text, nullable=False),
    Column("wrapped", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    CheckConstraint(one_of("retention", KeyClass), name="retention"),
    Index(None, "vendor_id", "site_id", "month"),
    Index(None, "month", "id"),
)

installation_keys = installation_table(
    "installation_keys",
    Column("name", Text, primary_key=True),
    Column("master_id", Text, nullable=False),
    Column("wrapped", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

ANCHORED_ACTION = "audit.anchored"
"""The action of a row that says that a data directory anchors the chain."""
RESTORE_ACTIONS = ("backup.restored", "database.restored")
"""Actions of rows that say that an older database took the place of this one."""
BACKUP_ACTION = "backup.written"
"""The action of the row that says that a backup was written."""
AUDIT_MARKS = f"action IN ('{ANCHORED_ACTION}', '{RESTORE_ACTIONS[0]}', '{RESTORE_ACTIONS[1]}')"
ROUTE_ACTIONS = (
    "route.add", "route.change", "route.disable", "route.enable", "route.payers", "route.remove", "route.senders",
)  # fmt: skip
ROUTE_MARKS = "action IN ('" + "', '".join(ROUTE_ACTIONS) + "')"

audit = installation_table(
    "audit",
    Column("seq", BIG_INTEGER, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False, index=True),
    Column("vendor_id", BigInteger),
    Column("site_id", BigInteger),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Column("ids", Text, nullable=False),
    Column("count", BigInteger),
    Column("detail", Text, nullable=False),
    Column("prev", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    # Rows of nodes and commands have no request id.
    Index(
        "ix_audit_request_id",
        "request_id",
        sqlite_where=text("request_id <> ''"),
        postgresql_where=text("request_id <> ''"),
    ),
    # The few rows that say what an anchor may expect of the chain.
    Index(
        "ix_audit_marks", "seq", sqlite_where=text(AUDIT_MARKS), postgresql_where=text(AUDIT_MARKS)
    ),
    # When the last backup was written.
    Index(
        "ix_audit_backups",
        "seq",
        sqlite_where=text(f"action = '{BACKUP_ACTION}'"),
        postgresql_where=text(f"action = '{BACKUP_ACTION}'"),
    ),
    # The history of routes.
    Index(
        "ix_audit_routes", "seq", sqlite_where=text(ROUTE_MARKS), postgresql_where=text(ROUTE_MARKS)
    ),
)

audit_head = installation_table(
    "audit_head",
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    CheckConstraint("id = 1", name="one"),
)

# Up to which row the trail was removed, and the signed record of it (store/audit/trail_cut).
audit_cut = installation_table(
    "audit_cut",
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("record", Text, nullable=False),
    CheckConstraint("id = 1", name="one"),
)

# Lists show every claim that no other superseded: if several have one vendor's claim id, all but the last may be decided
# and stay as they are.
NOT_SUPERSEDED_CLAIM = "is_superseded = 0"

# The state of a claim about which nothing more is expected. Claims in any other are counted for the operator.
COMPLETE_STATE = "complete"
# The state of a claim that the checks at intake did not let pass: no payer was sent it.
NOT_ACCEPTED_STATE = "not_accepted"
# The states of claims of shadow files, which are judged and never sent: without errors, and with some.
SHADOW_STATE, SHADOW_NOT_ACCEPTED_STATE = "shadow", "shadow_not_accepted"
SHADOW_STATES = (SHADOW_STATE, SHADOW_NOT_ACCEPTED_STATE)
STATES_WITH_ERRORS = (NOT_ACCEPTED_STATE, SHADOW_NOT_ACCEPTED_STATE)
# No payer gets a claim in one of these.
NEVER_SENT_STATES = (NOT_ACCEPTED_STATE, *SHADOW_STATES)
# No statement changes ``is_shadow``, so a claim of a shadow file can never be queued or sent, whatever is done to it.
SHADOW_CLAIM = f"is_shadow = 1 AND queued = 0 AND sendings = 0 AND {one_of('state', SHADOW_STATES)}"
REAL_CLAIM = f"is_shadow = 0 AND NOT {one_of('state', SHADOW_STATES)}"

claims = client_table(
    "claims",
    # Generated by Clearlane, in the order of time. Callers see it as RequestId and ClaimNumber.
    Column("claim_number", Text, primary_key=True),
    # What it is, and how it was written (``claims.kinds``).
    Column("kind", Text, nullable=False),
    Column("form", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("payer_id", Text, nullable=False),
    # Keyed hashes of the vendor's claim id, and of everything in the claim.
    Column("vendor_claim_hash", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    # Whether CLM01 is the patient's account number; else it is the claim number.
    Column("account_as_number", SmallInteger, nullable=False),
    Column("total_cents", BigInteger, nullable=False),
    # What the payer paid of it, and what it left to the patient.
    Column("paid_cents", BigInteger, nullable=False, server_default="0"),
    Column("patient_cents", BigInteger, nullable=False, server_default="0"),
    # 1 for a claim that was corrected, replaced, voided or sent again: its successor is listed in its place.
    Column("is_superseded", SmallInteger, nullable=False, server_default="0"),
    # The claim under the same vendor's claim id that it takes over from, and the one that took over from it.
    Column("predecessor_id", Text),
    Column("successor_id", Text),
    # The claim that held the vendor's claim id before it and stays as it is: the id has more than one live claim.
    Column("former_holder", Text),
    # The claim to an earlier payer whose decision this one carries to the next payer. Both stay as they are.
    Column("prior_payer_claim", Text),
    Column("created_at", BigInteger, nullable=False),
    # The day in the site's time zone, by which the status list is queried.
    Column("created_day", Text, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    # What lists, matching and corrections need of it, sealed: they need not open the payload.
    Column("header", LargeBinary, nullable=False),
    # How often it was put into a batch; and 1 while it waits to be put into one, 2 if it does so
    # since a restore, so that it may have been sent after the backup.
    Column("sendings", SmallInteger, nullable=False, server_default="0"),
    Column("queued", SmallInteger, nullable=False, server_default="0"),
    # The claim status, sealed: rewritten whenever it changes.
    Column("status", LargeBinary),
    # Keyed hashes, cut to 64 bits, that the claim is found by: the account number, the patient's
    # last name with birth date, the start of that name, the member id, and the payer's number.
    Column("account_key", BigInteger),
    Column("patient_key", BigInteger),
    Column("name_key", BigInteger),
    Column("member_key", BigInteger),
    Column("payer_number_key", BigInteger),
    # The number of events about it that its vendor was given; the first is that it was received or refused.
    Column("event_sequence", Integer, nullable=False, server_default="1"),
    # What people call it (``pipeline.claim_label``), and its first day of service.
    Column("label", Text, nullable=False, server_default="received"),
    Column("service_day", Text),
    # Of an institutional claim: the type of bill with its frequency.
    Column("bill_type", Text),
    # What it awaits (``claims.awaiting``), since when, and by when; null for a closed claim.
    Column("awaiting", Text),
    Column("awaited_since", BigInteger),
    Column("awaited_by", BigInteger),
    # 1 for a claim of a shadow file.
    Column("is_shadow", SmallInteger, nullable=False, server_default="0"),
    CheckConstraint(f"({SHADOW_CLAIM}) OR ({REAL_CLAIM})", name="shadow"),
    CheckConstraint(one_of("kind", SUBMITTED_KINDS), name="kind"),
    CheckConstraint(one_of("form", SUBMITTED_FORMS), name="form"),
    # With the key of the member id, which is looked for among the newest claims of a site, without an index of its own
    # that every submission would have to write.
    Index("ix_claims_day", "vendor_id", "site_id", "created_day", "claim_number", "member_key"),
    # Lists of a vendor: by age, by last change, and by the keys.
    Index("ix_claims_vendor_day", "vendor_id", "created_day", "claim_number"),
    Index("ix_claims_changed", "vendor_id", "updated_at", "claim_number"),
    Index("ix_claims_account_key", "vendor_id", "site_id", "account_key"),
    Index("ix_claims_patient", "vendor_id", "site_id", "name_key", "patient_key"),
    Index(
        "ix_claims_payer_number_key",
        "payer_number_key",
        "vendor_id",
        "site_id",
        sqlite_where=text("payer_number_key IS NOT NULL"),
        postgresql_where=text("payer_number_key IS NOT NULL"),
    ),
    Index(
        "ix_claims_label",
        "vendor_id",
        "site_id",
        "label",
        "updated_at",
        "claim_number",
        sqlite_where=text(NOT_SUPERSEDED_CLAIM),
        postgresql_where=text(NOT_SUPERSEDED_CLAIM),
    ),
    # What is due, and lists of what is overdue.
    Index(
        "ix_claims_due",
        "vendor_id",
        "awaited_by",
        "claim_number",
        sqlite_where=text("awaited_by IS NOT NULL"),
        postgresql_where=text("awaited_by IS NOT NULL"),
    ),
    # What waits for an enrollment, over all clients.
    Index(
        "ix_claims_enrollment",
        "claim_number",
        sqlite_where=text("awaiting = 'enrollment'"),
        postgresql_where=text("awaiting = 'enrollment'"),
    ),
    Index(
        "ix_claims_queued",
        "queued",
        "payer_id",
        "kind",
        "claim_number",
        sqlite_where=text("queued > 0"),
        postgresql_where=text("queued > 0"),
    ),
    # Holds all that is needed to count open claims by state, payer and age, without a look at the rows.
    Index(
        "ix_claims_open",
        "state",
        "payer_id",
        "created_at",
        "is_superseded",
        # Row-level security looks at the owner of each row.
        postgresql_include=["vendor_id", "site_id"],
        sqlite_where=text(f"state <> '{COMPLETE_STATE}'"),
        postgresql_where=text(f"state <> '{COMPLETE_STATE}'"),
    ),
)

# The claims under a vendor's claim id. The one that the id means, its holder, has the row with an empty ``former``, so that
# the key lets an id have one holder; every other has a row under its own number. No foreign key to the claim: ids are
# taken before claims are inserted, and claims may be partitioned.
claim_ids = client_table(
    "claim_ids",
    Column("vendor_claim_hash", Text, nullable=False),
    Column("former", Text, nullable=False),
    Column("claim_number", Text, nullable=False),
    PrimaryKeyConstraint("vendor_id", "site_id", "vendor_claim_hash", "former"),
    owner_index=False,
    sqlite_with_rowid=False,
)

# What vendors and persons did with a claim before it was sent, and that a successor took over its id. What payers said is
# in ``claim_facts``, and what vendors were given is in ``events``.
claim_events = client_table(
    "claim_events",
    id_column(),
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False, index=True),
    Column("at", BigInteger, nullable=False),
    Column("event", Text, nullable=False),
)

# Which live claim to a payer carries an account number as CLM01. It spans vendors, because the
# payer answers with that number whoever sent it; it holds keyed hashes only.
claim_references = installation_table(
    "claim_references",
    Column("payer_id", Text, primary_key=True),
    Column("reference", Text, primary_key=True),
    Column("claim_number", Text, nullable=False, index=True),
)

# How payers are reached. The sealed secrets are bound to the row's id, so they are written after it.
routes = installation_table(
    "routes",
    id_column(),
    Column("payer_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("position", SmallInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("facts", Text, nullable=False),
    Column("secrets", LargeBinary),
    Column("active", SmallInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("removed_at", BigInteger),
    Index(None, "type", "payer_id"),
    sqlite_autoincrement=True,
)

# The payers that a hop serves, by its own ids. A row that is not active is kept for what still comes back.
hop_payers = installation_table(
    "hop_payers",
    Column("route_id", BigInteger, ForeignKey("routes.id"), primary_key=True),
    Column("type", Text, primary_key=True),
    Column("payer_id", Text, primary_key=True),
    Column("hop_payer_id", Text, nullable=False),
    Column("active", SmallInteger, nullable=False),
    CheckConstraint(one_of("type", PAYER_TYPES), name="type"),
)
