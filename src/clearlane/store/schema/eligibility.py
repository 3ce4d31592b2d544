"""Eligibility requests, the patients they ask about, and what came back.

The number of a request is the ``RequestId`` of the interface, an integer. Everything that names a
patient, and everything a payer said, is sealed.
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
    text,
)

from clearlane.store.schema.core import BIG, client_table

__all__ = [
    "INQUIRY_STATES", "OPEN_INQUIRY", "UNANSWERED_INQUIRY", "eligibility_inquiries",
    "eligibility_requests",
]  # fmt: skip

# Open: no response yet. Mailed: it is in a file to a payer that does not answer at once.
INQUIRY_STATES = ("Open", "Mailed", "Answered")
OPEN_INQUIRY = "state = 'Open'"
UNANSWERED_INQUIRY = "state <> 'Answered'"

eligibility_requests = client_table(
    "eligibility_requests",
    # Made by us before the row is written, because what is sealed is bound to it.
    Column("id", BIG, primary_key=True, autoincrement=False),
    Column("created_at", BigInteger, nullable=False),
    Column("inquiries", Integer, nullable=False),
    # What could not be sent and why, and what the answer repeats of the request.
    Column("payload", LargeBinary),
    Index(None, "created_at"),
)

eligibility_inquiries = client_table(
    "eligibility_inquiries",
    Column("request_id", BigInteger, ForeignKey("eligibility_requests.id"), primary_key=True),
    # The patient's place in the document, from 1. Our trace is made of both numbers.
    Column("number", Integer, primary_key=True),
    Column("payer_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("state", Text, nullable=False),
    # Large documents stand behind front desks.
    Column("lane", SmallInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    # When somebody may ask (again): a node that asks moves it ahead, so a dead one's questions come free.
    Column("next_at", BigInteger, nullable=False),
    Column("batch_id", BigInteger, ForeignKey("batches.id")),
    Column("answered_at", BigInteger),
    # 271, 999, TA1 or Connection.
    Column("answer", Text, nullable=False),
    Column("inquiry", LargeBinary, nullable=False),
    Column("response", LargeBinary),
    CheckConstraint(
        "state IN ({})".format(", ".join(f"'{word}'" for word in INQUIRY_STATES)), name="state"
    ),
    Index(
        "ix_eligibility_inquiries_due",
        "lane",
        "type",
        "payer_id",
        "next_at",
        sqlite_where=text(OPEN_INQUIRY),
        postgresql_where=text(OPEN_INQUIRY),
    ),
    # Whether a request is complete: no counter, which every answer would have to wait for.
    Index(
        "ix_eligibility_inquiries_unanswered",
        "request_id",
        sqlite_where=text(UNANSWERED_INQUIRY),
        postgresql_where=text(UNANSWERED_INQUIRY),
    ),
    Index(None, "batch_id"),
)
