"""Tables of the file channel: files of sites, their sets, claims that wait to be released, and what files call payers."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    Text,
    UniqueConstraint,
    text,
)

from clearlane.kernel.client_file import FileChannel, FileDirection, FileState
from clearlane.store.database.schema.core import client_table, one_of, vendor_table

__all__ = [
    "LISTED_FILE",
    "client_file_parts",
    "client_file_sets",
    "client_files",
    "file_claims",
    "file_inquiries",
    "payer_aliases",
    "shadow_answers",
    "shadow_claims",
    "staged_claims",
]

# Lists show a file when all of it is stored, until it is hidden.
LISTED_FILE = "state <> 'uploading' AND hidden_at IS NULL"
WAITING_FILE = "state = 'received'"

client_files = client_table(
    "client_files",
    # In the order of time.
    Column("file_id", Text, primary_key=True),
    Column("direction", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("channel", Text, nullable=False),
    # What it holds; empty while that is not known.
    Column("type", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    # Keyed hash of its bytes; empty while not all of it is stored.
    Column("digest", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # When all of it was stored, and that day in the site's time zone.
    Column("received_at", BigInteger),
    Column("received_day", Text),
    Column("processed_at", BigInteger),
    Column("fetched_at", BigInteger),
    Column("hidden_at", BigInteger),
    Column("claims", Integer, nullable=False),
    Column("accepted", Integer, nullable=False),
    Column("not_accepted", Integer, nullable=False),
    # The file that it answers, and the set of it; empty if there is none.
    Column("answers", Text, nullable=False),
    Column("set_id", Text, nullable=False),
    # A response is written once: a second one under the same key is not stored.
    Column("response_key", Text),
    # What a person should know; nothing of what it holds.
    Column("note", Text, nullable=False),
    # Who works on it, until when, and how often it was begun.
    Column("holder", Text, nullable=False),
    Column("lease_until", BigInteger),
    Column("attempts", Integer, nullable=False),
    # 1 if its claims are judged and never sent.
    Column("is_shadow", SmallInteger, nullable=False, server_default="0"),
    CheckConstraint(one_of("direction", FileDirection), name="direction"),
    CheckConstraint(one_of("channel", FileChannel), name="channel"),
    CheckConstraint(one_of("state", FileState), name="state"),
    UniqueConstraint("vendor_id", "site_id", "response_key"),
    # The same bytes again; and the owner alone.
    Index("ix_client_files_digest", "vendor_id", "site_id", "digest"),
    Index(
        "ix_client_files_listed",
        "vendor_id",
        "site_id",
        "direction",
        "file_id",
        sqlite_where=text(LISTED_FILE),
        postgresql_where=text(LISTED_FILE),
    ),
    Index("ix_client_files_name", "vendor_id", "site_id", "direction", "name"),
    Index(
        "ix_client_files_answers",
        "vendor_id",
        "site_id",
        "answers",
        sqlite_where=text("answers <> ''"),
        postgresql_where=text("answers <> ''"),
    ),
    Index(
        "ix_client_files_waiting",
        "vendor_id",
        "site_id",
        "received_at",
        "file_id",
        sqlite_where=text(WAITING_FILE),
        postgresql_where=text(WAITING_FILE),
    ),
    Index("ix_client_files_created_at", "created_at"),
)

# The bytes of a file, in parts of at most 1 MiB. A part is sealed for its file and its place.
client_file_parts = client_table(
    "client_file_parts",
    Column("file_id", Text, ForeignKey("client_files.file_id"), nullable=False),
    # The offset of its first byte, and how many it holds.
    Column("start", BigInteger, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),
    PrimaryKeyConstraint("file_id", "start"),
    owner_index=False,
)

# Transaction sets of claims that were accepted or rejected as a whole. They stay when their file is removed: answers of
# payers, months later, go back in the sender's numbers. So no foreign key to the file.
client_file_sets = client_table(
    "client_file_sets",
    Column("set_id", Text, primary_key=True),
    Column("file_id", Text, nullable=False),
    # Its place in the file: interchange, group and set, each counted from 1.
    Column("interchange", Integer, nullable=False),
    Column("group_number", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    # The guide, such as 837P.
    Column("type", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("claims", Integer, nullable=False),
    Column("accepted", Integer, nullable=False),
    Column("not_accepted", Integer, nullable=False),
    # Why it was not accepted, for people; nothing of what it holds. Empty if it was.
    Column("reason", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # Whether all its claims are in the table of claims.
    Column("released", SmallInteger, nullable=False),
    # Keyed hash, cut to 64 bits, of the sender and the control number of its interchange.
    Column("interchange_key", BigInteger, nullable=False),
    # 1 if it came in a shadow file.
    Column("is_shadow", SmallInteger, nullable=False, server_default="0"),
    # The sender's control numbers and ids, sealed.
    Column("payload", LargeBinary, nullable=False),
    CheckConstraint(
        one_of("state", (FileState.ACCEPTED, FileState.PARTLY_ACCEPTED, FileState.REJECTED)),
        name="state",
    ),
    Index("ix_client_file_sets_file", "vendor_id", "site_id", "file_id", "interchange"),
    Index("ix_client_file_sets_interchange_key", "vendor_id", "site_id", "interchange_key"),
    Index(
        "ix_client_file_sets_unreleased",
        "created_at",
        "set_id",
        sqlite_where=text("released = 0"),
        postgresql_where=text("released = 0"),
    ),
    Index(
        "ix_client_file_sets_shadow",
        "created_at",
        "set_id",
        sqlite_where=text("is_shadow = 1"),
        postgresql_where=text("is_shadow = 1"),
    ),
)

# From a claim to the set that it came in.
file_claims = client_table(
    "file_claims",
    Column("claim_number", Text, primary_key=True),
    Column("set_id", Text, nullable=False),
    # Counted from 1, in the set.
    Column("position", Integer, nullable=False),
    Index("ix_file_claims_set", "vendor_id", "site_id", "set_id", "position"),
)

# Judged claims of sets that are not accepted yet, or whose release has not come to them. No list, queue or search reads
# this table. The claims of an attempt that ended too early are removed by their set.
staged_claims = client_table(
    "staged_claims",
    Column("set_id", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("claim_number", Text, nullable=False),
    # The file whose processing staged it.
    Column("file_id", Text, nullable=False, index=True),
    # The row that it becomes, sealed.
    Column("payload", LargeBinary, nullable=False),
    PrimaryKeyConstraint("set_id", "position"),
    owner_index=False,
)

# What would have been sent of an accepted claim of a shadow file.
shadow_claims = client_table(
    "shadow_claims",
    Column("claim_number", Text, primary_key=True),
    # An interchange with this claim alone, sealed.
    Column("x12", LargeBinary, nullable=False),
)

# What another clearinghouse or its payers said of claims of shadow files. Codes only: no name and no amount.
shadow_answers = client_table(
    "shadow_answers",
    # The imported file, and the place of the statement among those in it.
    Column("file_id", Text, nullable=False),
    Column("position", Integer, nullable=False),
    # The claim, or a set that was rejected as a whole.
    Column("subject_id", Text, nullable=False),
    # 999, 277CA, 277 or 835; TA1 for a whole interchange.
    Column("type", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("codes", Text, nullable=False),
    Column("day", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("file_id", "position", "subject_id"),
    # By the subject first: what is said of old claims and sets is removed over all clients.
    Index("ix_shadow_answers_subject", "subject_id", "vendor_id", "site_id"),
)

# Inquiries of 270 and 276 files in pages, until their answers are written as a 271 or 277 file.
file_inquiries = client_table(
    "file_inquiries",
    Column("set_id", Text, nullable=False),
    # The number of the page's first patient in the set.
    Column("position", Integer, nullable=False),
    Column("file_id", Text, nullable=False, index=True),
    # The request that asks about them; null while none does.
    Column("inquiry_request_id", BigInteger),
    # When the answers go back, whether all have come or not; null while the file is not accepted.
    Column("due_at", BigInteger),
    # The patients, who is asked about each or why no one is, sealed.
    Column("payload", LargeBinary, nullable=False),
    PrimaryKeyConstraint("set_id", "position"),
    owner_index=False,
)

# What the files of a vendor call the payers of the directory.
payer_aliases = vendor_table(
    "payer_aliases",
    # The vendor's own id in folded case, and as it was written.
    Column("alias_key", Text, nullable=False),
    Column("alias", Text, nullable=False),
    Column("payer_id", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    PrimaryKeyConstraint("vendor_id", "alias_key"),
)
