"""Tables of webhooks: the addresses that vendors receive events at, and what was sent there.

An endpoint belongs to a vendor, not to one of its sites. Its address, its secrets and what it answered are sealed.
"""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    text,
)

from clearlane.store.database.schema.core import vendor_table

__all__ = ["webhook_deliveries", "webhook_endpoints"]

webhook_endpoints = vendor_table(
    "webhook_endpoints",
    Column("endpoint_id", Text, primary_key=True),
    Column("state", Text, nullable=False),
    # JSON arrays: the patterns of types that are wanted, and the sites; an empty one means all.
    Column("types", Text, nullable=False),
    Column("sites", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # The last event that was looked at for it.
    Column("after_event", BigInteger, nullable=False),
    # Up to this event those that were delivered before are sent again.
    Column("replay_through", BigInteger, nullable=False, server_default="0"),
    # When its first failure in a row was, and the first event that it did not get.
    Column("failing_since", BigInteger),
    Column("failed_event", BigInteger),
    Column("disabled_at", BigInteger),
    Column("fault", Text, nullable=False, server_default=""),
    # The node that delivers to it now, and until when it may take.
    Column("holder", Text, nullable=False, server_default=""),
    Column("lease_until", BigInteger),
    # Its address and its secrets, sealed.
    Column("payload", LargeBinary, nullable=False),
    CheckConstraint("state IN ('active', 'disabled')", name="state"),
    Index(None, "vendor_id"),
)

# One event for one endpoint.
webhook_deliveries = vendor_table(
    "webhook_deliveries",
    Column("endpoint_id", Text, ForeignKey("webhook_endpoints.endpoint_id"), nullable=False),
    Column("event_id", BigInteger, nullable=False),
    Column("type", Text, nullable=False),
    # Events of one claim are delivered in order; empty for an event of no claim.
    Column("claim_number", Text, nullable=False, server_default=""),
    Column("state", Text, nullable=False, server_default="waiting"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    # When the next attempt is due; null if none is.
    Column("due_at", BigInteger),
    Column("attempted_at", BigInteger),
    # The HTTP status of the last answer, and why there was none.
    Column("status", Integer),
    Column("fault", Text, nullable=False, server_default=""),
    # The first kilobyte of the last answer, sealed.
    Column("answer", LargeBinary),
    CheckConstraint("state IN ('waiting', 'delivered', 'failed')", name="state"),
    PrimaryKeyConstraint("endpoint_id", "event_id"),
    Index(
        "ix_webhook_deliveries_claim",
        "endpoint_id",
        "claim_number",
        "event_id",
        sqlite_where=text("state = 'waiting'"),
        postgresql_where=text("state = 'waiting'"),
    ),
    Index(
        "ix_webhook_deliveries_waiting",
        "endpoint_id",
        "due_at",
        sqlite_where=text("state = 'waiting'"),
        postgresql_where=text("state = 'waiting'"),
    ),
)
