"""Tables of the API itself: answers that are given again when a call is repeated."""

from sqlalchemy import BigInteger, Column, Index, LargeBinary, PrimaryKeyConstraint, Text

from clearlane.store.database.schema.core import vendor_table

__all__ = ["idempotent_answers"]

# One call of a vendor under an Idempotency-Key. Keyed hashes of the key, and of the call with its body.
idempotent_answers = vendor_table(
    "idempotent_answers",
    Column("key_hash", Text, nullable=False),
    Column("request_hash", Text, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    # The answer, sealed; null only inside the transaction that reserves the key.
    Column("answer", LargeBinary),
    PrimaryKeyConstraint("vendor_id", "key_hash"),
    Index("ix_idempotent_answers_started_at", "vendor_id", "started_at"),
)
