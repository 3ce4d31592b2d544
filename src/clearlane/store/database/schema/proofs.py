"""Tables of the log of filings: leaves of what was delivered and acknowledged, and checkpoints over them.

A leaf is a salt and a hash: no patient, claim or vendor can be read from it, so the log belongs to the installation. Its rows
are kept for ten years, as long as a payer or a court may ask.
"""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, Text, text

from clearlane.store.database.schema.core import id_column, installation_table

__all__ = ["proof_checkpoints", "proof_entries", "proof_stamps"]

WAITING_ENTRY = "checkpoint IS NULL"

# What one transaction added to the log: a leaf for each claim of a delivered batch, for each acknowledgement of a page, or for
# an answer in real time.
proof_entries = installation_table(
    "proof_entries",
    id_column(),
    # The batch that was delivered, the file that was received, or the document of an answer in real time, which has no file.
    # No foreign key: the log outlives all of them.
    Column("batch_id", BigInteger, unique=True),
    Column("inbox_id", BigInteger, index=True),
    Column("document_id", Text, unique=True),
    Column("at", BigInteger, nullable=False),
    Column("leaves", Integer, nullable=False),
    # Salt and hash of each leaf, one after the other.
    Column("content", LargeBinary, nullable=False),
    # The number of the checkpoint over it; null until there is one.
    Column("checkpoint", BigInteger, index=True),
    Index(
        "ix_proof_entries_waiting",
        "id",
        sqlite_where=text(WAITING_ENTRY),
        postgresql_where=text(WAITING_ENTRY),
    ),
    sqlite_autoincrement=True,
)

# Signed, chained, never changed.
proof_checkpoints = installation_table(
    "proof_checkpoints",
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False, index=True),
    # As it was signed and published: one line of JSON.
    Column("content", Text, nullable=False),
)

# What an authority outside of the installation says of when a checkpoint existed; never changed.
proof_stamps = installation_table(
    "proof_stamps",
    Column(
        "number",
        BigInteger,
        ForeignKey("proof_checkpoints.number"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("at", BigInteger, nullable=False),
    # The authority's response (RFC 3161).
    Column("content", LargeBinary, nullable=False),
)
