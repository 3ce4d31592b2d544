"""Tables of the requests that ask payers, their inquiries and answers, whatever X12 transaction these are.

``transaction_set`` is ST01 of the inquiry: 270 for eligibility. The ``RequestId`` of V3 is ``request_number``, counted per
vendor; everything else refers to a request by its id. Everything that names a patient, and everything a payer answered,
is sealed.
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

from clearlane.store.database.schema.core import BIG_INTEGER, client_table

__all__ = [
    "INQUIRY_STATES", "OPEN_INQUIRY", "UNANSWERED_INQUIRY", "inquiries", "inquiry_requests",
]  # fmt: skip

# Open: not sent, or no response yet. Mailed: sent in a batch, to a payer without a real-time route.
INQUIRY_STATES = ("Open", "Mailed", "Answered")
OPEN_INQUIRY = "state = 'Open'"
UNANSWERED_INQUIRY = "state <> 'Answered'"

inquiry_requests = client_table(
    "inquiry_requests",
    # Generated before the row is written, because sealed values are bound to it.
    Column("id", BIG_INTEGER, primary_key=True, autoincrement=False),
    Column("transaction_set", Text, nullable=False),
    # Fits a 32-bit signed integer, as vendors' programs expect.
    Column("request_number", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("inquiries", Integer, nullable=False),
    # What could not be sent and why, and what the response repeats of the request.
    Column("payload", LargeBinary),
    Index(None, "created_at"),
    Index("uq_inquiry_requests_number", "vendor_id", "request_number", unique=True),
    # Of any vendor, for an operator who knows the number only.
    Index(None, "request_number"),
    # The newest of a site.
    Index(
        "ix_inquiry_requests_newest",
        "vendor_id",
        "site_id",
        "transaction_set",
        "created_at",
        "id",
    ),
)

inquiries = client_table(
    "inquiries",
    Column(
        "inquiry_request_id",
        BigInteger,
        ForeignKey("inquiry_requests.id"),
        primary_key=True,
    ),
    # The inquiry's position in the request, from 1. The trace number is made of both numbers.
    Column("number", Integer, primary_key=True),
    # Of the request, repeated here for the queues.
    Column("transaction_set", Text, nullable=False),
    Column("payer_id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("state", Text, nullable=False),
    # How it is sent: at once, behind interactive calls, or in a batch.
    Column("mode", SmallInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    # When it may be sent (again). A node that sends it moves this ahead as its lease, so that the
    # inquiries of a node that died become due again.
    Column("next_at", BigInteger, nullable=False),
    Column("batch_id", BigInteger, ForeignKey("batches.id")),
    Column("answered_at", BigInteger),
    # The transaction set of the answer (271), or 999, TA1 or Connection; empty while there is none.
    Column("answer", Text, nullable=False),
    # A keyed hash, cut to 64 bits, that the inquiries of one transaction about one patient are found by.
    Column("patient_key", BigInteger),
    Column("inquiry", LargeBinary, nullable=False),
    Column("response", LargeBinary),
    CheckConstraint(
        "state IN ({})".format(", ".join(f"'{word}'" for word in INQUIRY_STATES)), name="state"
    ),
    Index(
        "ix_inquiries_due",
        "transaction_set",
        "mode",
        "type",
        "payer_id",
        "next_at",
        sqlite_where=text(OPEN_INQUIRY),
        postgresql_where=text(OPEN_INQUIRY),
    ),
    # Whether a request is complete. A count in the request's row would make every response wait for it.
    Index(
        "ix_inquiries_unanswered",
        "inquiry_request_id",
        sqlite_where=text(UNANSWERED_INQUIRY),
        postgresql_where=text(UNANSWERED_INQUIRY),
    ),
    Index(None, "batch_id"),
    Index(
        "ix_inquiries_patient",
        "vendor_id",
        "site_id",
        "patient_key",
        "inquiry_request_id",
    ),
)
