"""Tables of delivery: batches, the inbox, claim facts, documents, and the state of simulated payers.

Files of payers hold claims of many clients, so batches and the inbox belong to the installation; everything
about one claim is a client's row. Whatever a person or a payer wrote is sealed.
"""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Text,
    UniqueConstraint,
    text,
)

from clearlane.claims.batch_lifecycle import BatchEvent, BatchState, states_that_allow
from clearlane.claims.kinds import SUBMITTED_KINDS
from clearlane.store.database.schema.core import (
    client_table,
    id_column,
    installation_table,
    one_of,
)

__all__ = [
    "INBOX_STATES", "batch_claims", "batches", "claim_facts",
    "control_numbers", "documents", "file_refusals", "inbox", "line_references", "parked_statements", "polls", "route_counts", "route_health",
    "sandbox_agenda", "sandbox_ledger", "sandbox_state", "seen_files",
]  # fmt: skip

# stored: not yet processed. parked: applied, except statements about unknown claims. unknown_sender, test_file: a person
# decides.
INBOX_STATES = (
    "stored", "applied", "parked", "quarantined", "discarded", "unknown_sender", "test_file",
)  # fmt: skip


OPEN_REFUSAL = "refused_at IS NOT NULL AND requeued_at IS NULL"
SENT_TO_HOP = "hop <> ''"
OPEN_BATCH = one_of("state", states_that_allow(BatchEvent.DELIVERED))


# The last number used of each counter: of interchanges, and of each vendor's eligibility requests. Payers may share a receiver and a payer may be reached under several, so
# one sequence of control numbers serves all of them: it only goes up, and no trading partner ever sees a number twice.
control_numbers = installation_table(
    "control_numbers",
    Column("name", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
)

# Delivery trouble by payer and type of claims. No row: no trouble.
route_health = installation_table(
    "route_health",
    Column("payer_id", Text, primary_key=True),
    Column("type", Text, primary_key=True),
    # The circuit breaker: consecutive failures, and until when nothing is sent.
    Column("failures", Integer, nullable=False),
    Column("paused_until", BigInteger),
    Column("fault", Text, nullable=False),
    # The route used instead of the first one, and since when.
    Column("fallback_route_id", BigInteger),
    Column("fallback_since", BigInteger),
    # Since when a person has paused it; null if it is not paused. Claims are accepted and wait.
    Column("held_since", BigInteger),
    # When a poll of the route last made its batches due; null after a delivery or a poll that failed.
    Column("retried_at", BigInteger),
)

# What was sent over a route since it is there: for metrics.
route_counts = installation_table(
    "route_counts",
    Column("type", Text, primary_key=True),
    Column("payer_id", Text, primary_key=True),
    Column("route_id", BigInteger, primary_key=True),
    Column("attempts", BigInteger, nullable=False),
    Column("failures", BigInteger, nullable=False),
    Column("deliveries", BigInteger, nullable=False),
    Column("last_delivered_at", BigInteger),
)

batches = installation_table(
    "batches",
    id_column(),
    Column("payer_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    # The kind of its claims; empty for a batch of inquiries.
    Column("kind", Text, nullable=False),
    # The route it was written for; 0 is the loopback of a sandbox.
    Column("route_id", BigInteger, nullable=False),
    # The hop that it is sent to, and the payer's id as the hop has it; empty if it goes to the payer.
    Column("hop", Text, nullable=False),
    Column("hop_payer_id", Text, nullable=False),
    Column("state", Text, nullable=False),
    # ISA13, which acknowledgements quote; GS06 is the same number.
    Column("control", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("claims", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    # The earliest time of the next attempt.
    Column("not_before", BigInteger, nullable=False),
    # Which workflow sends it now and until when it may take; empty and null while none does.
    Column("holder", Text, nullable=False),
    Column("lease_until", BigInteger),
    # Whether the last step of a transfer, after which the payer may have the file, was begun.
    Column("arriving", SmallInteger, nullable=False),
    Column("failing_since", BigInteger),
    Column("delivered_at", BigInteger),
    # When the first TA1, 999 or 277CA that names the file was posted.
    Column("acknowledged_at", BigInteger),
    # Why the last attempt failed; never anything of a payload.
    Column("fault", Text, nullable=False),
    # The last columns, so that reading the others need not skip over them: SHA-256 of each claim's part of the file, in the
    # order of the claims' numbers (for proofs of filing), and the file.
    Column("part_digests", LargeBinary, nullable=False),
    Column("content", LargeBinary, nullable=False),
    CheckConstraint(one_of("kind", ("", *SUBMITTED_KINDS)), name="kind"),
    CheckConstraint(one_of("state", BatchState), name="state"),
    UniqueConstraint("control"),
    Index(
        "ix_batches_open",
        "not_before",
        "id",
        sqlite_where=text(OPEN_BATCH),
        postgresql_where=text(OPEN_BATCH),
    ),
    # Holds all that is needed to count what was delivered and acknowledged since a moment.
    Index("ix_batches_delivered", "delivered_at", "type", "payer_id", "claims", "acknowledged_at"),
    Index("ix_batches_destination", "type", "payer_id", "id"),
    Index(
        "ix_batches_hop",
        "hop",
        "id",
        sqlite_where=text(SENT_TO_HOP),
        postgresql_where=text(SENT_TO_HOP),
    ),
    sqlite_autoincrement=True,
)

batch_claims = client_table(
    "batch_claims",
    Column("batch_id", BigInteger, ForeignKey("batches.id"), primary_key=True),
    Column("claim_number", Text, ForeignKey("claims.claim_number"), primary_key=True, index=True),
    # Which sending of the claim this is, from 1.
    Column("attempt", SmallInteger, nullable=False),
)

# What TA1s said of files of claims. A refused file is one matter for the operator; its claims go again in a new one.
file_refusals = installation_table(
    "file_refusals",
    Column("batch_id", BigInteger, ForeignKey("batches.id"), primary_key=True, autoincrement=False),
    # TA105, and the addresses that the file was sent with.
    Column("note", Text, nullable=False),
    Column("envelope", Text, nullable=False),
    # Whether the payer may hold the file all the same.
    Column("accepted", SmallInteger, nullable=False),
    Column("refused_at", BigInteger),
    Column("requeued_at", BigInteger),
    Index(
        "ix_file_refusals_open",
        "batch_id",
        sqlite_where=text(OPEN_REFUSAL),
        postgresql_where=text(OPEN_REFUSAL),
    ),
)

# Keyed hashes by which a payer's answer finds a claim: line control numbers that callers chose (an 835
# may quote nothing else), account numbers that a refused claim had before, account numbers as some payers cut them,
# and payer's numbers of a claim that no longer count.
line_references = client_table(
    "line_references",
    Column("payer_id", Text, primary_key=True),
    Column("reference", Text, primary_key=True),
    Column("claim_number", Text, ForeignKey("claims.claim_number"), primary_key=True, index=True),
)

# When a route's mailbox is polled again. A node that polls moves next_at ahead as its lease.
polls = installation_table(
    "polls",
    Column("type", Text, primary_key=True),
    Column("payer_id", Text, primary_key=True),
    Column("route_id", BigInteger, primary_key=True),
    Column("next_at", BigInteger, nullable=False),
    # Why the last poll failed; never anything of a payload.
    Column("fault", Text, nullable=False),
    # How many files of the payer have names under which nothing is collected.
    Column("passed_over", Integer, nullable=False),
)

# Files that were seen in a mailbox, as they were when they were last looked at: one that is the same in the next visit is
# taken, and one that is stored is dropped in a later visit. A row goes with its file.
seen_files = installation_table(
    "seen_files",
    Column("type", Text, primary_key=True),
    Column("payer_id", Text, primary_key=True),
    Column("route_id", BigInteger, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    # By the clock of the machine that stores the file; 0 if that is not known.
    Column("modified_nanos", BigInteger, nullable=False),
    # Since when it was seen with this size and time, by our clock.
    Column("first_seen_at", BigInteger, nullable=False),
    # The inbox file with this content, and the one with what it held before it grew.
    Column("inbox_id", BigInteger),
    Column("earlier_inbox_id", BigInteger),
    # Whether what was stored lacks the end of an interchange, so that the payer's file is never dropped.
    Column("unfinished", SmallInteger, nullable=False),
)

inbox = installation_table(
    "inbox",
    id_column(),
    Column("payer_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("route_id", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    # The kinds of transactions the file was identified as, separated by commas.
    Column("kinds", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("applied", Integer, nullable=False),
    Column("parked", Integer, nullable=False),
    Column("received_at", BigInteger, nullable=False),
    Column("processed_at", BigInteger),
    # Whether it came marked as a test (ISA15 T) to a production installation, and when an operator had it posted.
    Column("is_test", SmallInteger, nullable=False),
    Column("test_accepted_at", BigInteger),
    Column("content", LargeBinary, nullable=False),
    CheckConstraint(one_of("state", INBOX_STATES), name="state"),
    # The same file of the same payer counts once, whatever it is called.
    UniqueConstraint("type", "payer_id", "digest"),
    Index(
        "ix_inbox_stored",
        "id",
        sqlite_where=text("state = 'stored'"),
        postgresql_where=text("state = 'stored'"),
    ),
    Index("ix_inbox_state", "state", "received_at"),
    Index("ix_inbox_destination", "type", "payer_id", "id"),
    sqlite_autoincrement=True,
)

# Statements of a file about unknown claims: shown to an operator, never applied.
parked_statements = installation_table(
    "parked_statements",
    id_column(),
    Column("inbox_id", BigInteger, ForeignKey("inbox.id"), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    sqlite_autoincrement=True,
)

claim_facts = client_table(
    "claim_facts",
    id_column(),
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False),
    # Keyed hash of what identifies a statement: received again, it counts once.
    Column("identity", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    # Null for what Clearlane knows itself: that the claim was delivered.
    Column("inbox_id", BigInteger, ForeignKey("inbox.id")),
    Column("document_id", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    UniqueConstraint("claim_number", "identity"),
)

documents = client_table(
    "documents",
    # Unguessable; still only found within its own scope.
    Column("document_id", Text, primary_key=True),
    Column("claim_number", Text, ForeignKey("claims.claim_number"), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # When the vendor's software, and when a person of it, first read it.
    Column("fetched_at", BigInteger),
    Column("seen_at", BigInteger),
    # The claim's part of the payer's file, a complete interchange.
    Column("payload", LargeBinary, nullable=False),
    CheckConstraint("kind IN ('payment', 'status')", name="kind"),
)

# The ledgers of simulated payers. Values are sealed, since they hold whole claims.
sandbox_ledger = installation_table(
    "sandbox_ledger",
    Column("payer", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

sandbox_agenda = installation_table(
    "sandbox_agenda",
    Column("payer", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("due", BigInteger, nullable=False),
    Column("value", LargeBinary, nullable=False),
    Index(None, "payer", "due"),
)

# The sandbox clock, the known payers and their locks.
sandbox_state = installation_table(
    "sandbox_state",
    Column("name", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
