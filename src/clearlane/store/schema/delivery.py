"""Claims on their way: batches, what came back, documents, and what simulated payers know.

Files of payers hold claims of many clients, so batches and the inbox belong to the installation; everything
that speaks of one claim is a client's row. Whatever a person wrote or a payer said is sealed.
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

from clearlane.store.schema.core import client_table, installation_table, number_id

__all__ = [
    "BATCH_STATES", "INBOX_STATES", "OPEN_BATCH", "batch_claims", "batches", "claim_facts",
    "control_numbers", "documents", "inbox", "lanes", "line_references", "parked", "polls", "sandbox_agenda",
    "sandbox_books", "sandbox_state",
]  # fmt: skip

# Fixed: written, waits to go. Sending: an attempt has begun and not ended. InDoubt: nobody can say
# whether it arrived, so a person decides, or the payer's answer does.
BATCH_STATES = ("Fixed", "Sending", "Delivered", "InDoubt")
OPEN_BATCH = "state IN ('Fixed', 'Sending', 'InDoubt')"
# Stored: kept, not yet looked at. Parked: applied but for statements about claims we do not know.
INBOX_STATES = ("Stored", "Applied", "Parked", "Quarantined", "Discarded")


def _among(words: tuple[str, ...]) -> str:
    return "state IN ({})".format(", ".join(f"'{word}'" for word in words))


# The last number given. Payers may share a receiver and a payer may be reached under several, so one
# count serves all of them: it only goes up, and no partner ever sees a number twice.
control_numbers = installation_table(
    "control_numbers",
    Column("name", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
)

# How a payer has behaved. No row: no trouble.
lanes = installation_table(
    "lanes",
    Column("payer_id", Text, primary_key=True),
    Column("type", Text, primary_key=True),
    # The breaker: trouble in a row, and until when nothing is tried.
    Column("failures", Integer, nullable=False),
    Column("open_until", BigInteger),
    Column("fault", Text, nullable=False),
    # The way that is used instead of the first, and since when.
    Column("route_id", BigInteger),
    Column("since", BigInteger),
)

batches = installation_table(
    "batches",
    number_id(),
    Column("payer_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    # The way it goes; 0 is the loopback of a sandbox.
    Column("route_id", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    # ISA13, by which answers name it; the group has the same number.
    Column("control", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("claims", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    # When it is tried next; while somebody sends it, until when that may last.
    Column("next_at", BigInteger, nullable=False),
    # Which piece of work sends it now; empty for none.
    Column("holder", Text, nullable=False),
    Column("failing_since", BigInteger),
    Column("delivered_at", BigInteger),
    # What stood in the way last, without anything of a payload.
    Column("fault", Text, nullable=False),
    # Last, so that a look at the others need not read past it.
    Column("content", LargeBinary, nullable=False),
    CheckConstraint(_among(BATCH_STATES), name="state"),
    UniqueConstraint("control"),
    Index(
        "ix_batches_open",
        "next_at",
        "id",
        sqlite_where=text(OPEN_BATCH),
        postgresql_where=text(OPEN_BATCH),
    ),
    sqlite_autoincrement=True,
)

batch_claims = client_table(
    "batch_claims",
    Column("batch_id", BigInteger, ForeignKey("batches.id"), primary_key=True),
    Column("request_id", Text, ForeignKey("claims.request_id"), primary_key=True, index=True),
    # Which sending of the claim this is, from 1.
    Column("attempt", SmallInteger, nullable=False),
)

# Line control numbers that callers chose, by keyed hash: an 835 may name nothing else.
line_references = client_table(
    "line_references",
    Column("payer_id", Text, primary_key=True),
    Column("reference", Text, primary_key=True),
    Column("request_id", Text, ForeignKey("claims.request_id"), primary_key=True),
)

# When a line is looked into again; while somebody does, not before he must have ended.
polls = installation_table(
    "polls",
    Column("type", Text, primary_key=True),
    Column("payer_id", Text, primary_key=True),
    Column("route_id", BigInteger, primary_key=True),
    Column("next_at", BigInteger, nullable=False),
    # What stood in the way the last time, without anything of a payload.
    Column("fault", Text, nullable=False),
)

inbox = installation_table(
    "inbox",
    number_id(),
    Column("payer_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("route_id", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    # What the file was recognised as, separated by commas.
    Column("kinds", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("applied", Integer, nullable=False),
    Column("parked", Integer, nullable=False),
    Column("received_at", BigInteger, nullable=False),
    Column("settled_at", BigInteger),
    Column("content", LargeBinary, nullable=False),
    CheckConstraint(_among(INBOX_STATES), name="state"),
    # The same file of the same payer counts once, whatever it is called.
    UniqueConstraint("type", "payer_id", "digest"),
    Index(
        "ix_inbox_stored",
        "id",
        sqlite_where=text("state = 'Stored'"),
        postgresql_where=text("state = 'Stored'"),
    ),
    sqlite_autoincrement=True,
)

# Statements of a file that concern nobody we know: shown to an operator, never applied.
parked = installation_table(
    "parked",
    number_id(),
    Column("inbox_id", BigInteger, ForeignKey("inbox.id"), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    sqlite_autoincrement=True,
)

claim_facts = client_table(
    "claim_facts",
    number_id(),
    Column("request_id", Text, ForeignKey("claims.request_id"), nullable=False),
    # Keyed hash of what is equal for the same statement: told again, it counts once.
    Column("identity", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    # Null for what we know ourselves: that the claim was delivered.
    Column("inbox_id", BigInteger, ForeignKey("inbox.id")),
    Column("document_id", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    UniqueConstraint("request_id", "identity"),
)

documents = client_table(
    "documents",
    # Unguessable: whoever has it may ask for it, within the scope.
    Column("document_id", Text, primary_key=True),
    Column("request_id", Text, ForeignKey("claims.request_id"), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # The claim's part of the payer's file, a complete interchange.
    Column("payload", LargeBinary, nullable=False),
    CheckConstraint("kind IN ('RemittanceAdvice', 'ClaimStatus')", name="kind"),
)

# What the payers of a sandbox know, sealed: they keep whole claims.
sandbox_books = installation_table(
    "sandbox_books",
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

# The sandbox clock and whatever else there is one of.
sandbox_state = installation_table(
    "sandbox_state",
    Column("name", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
