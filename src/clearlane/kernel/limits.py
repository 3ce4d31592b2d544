"""Every limit that several modules or an operator need, with its unit last in the name.

A limit that an operator may change is a setting whose default is defined here.
"""

# HTTP requests.
BODY_BYTES_MAX = 64 * 1024 * 1024
PORT_MAX = 65_535
HEADER_BYTES_MAX = 32 * 1024
HEADER_SECONDS_MAX = 20
BODY_SECONDS_MAX = 120
IGNORED_FIELDS_SHOWN_MAX = 20
STOP_SECONDS_MAX = 30

# Claims.
CLAIMS_PER_DOCUMENT_MAX = 5_000
# Ids in one call for payer documents: a vendor asks for all of a month.
DOCUMENTS_PER_CALL_MAX = 100_000
CLAIMS_PER_SET_MAX = 5_000
CLAIM_NUMBERS_REMEMBERED_MAX = 100_000
SHAPE_FINDINGS_MAX = 10_000
NUMBER_AS_TEXT_BITS_MAX = 512
FIELD_NAME_CHARACTERS_MAX = 100
QUOTED_CHARACTERS_MAX = 60
CODED_CHARACTERS_MAX = 120
SMALL_DOCUMENT_BYTES_MAX = 1024 * 1024
MODIFIERS_PER_LINE_MAX = 4
POINTERS_PER_LINE_MAX = 4
MEDICAL_DIAGNOSES_MAX = 12
DENTAL_DIAGNOSES_MAX = 4
ADJUSTMENTS_PER_GROUP_MAX = 6
TEETH_PER_LINE_MAX = 32
MISSING_TEETH_MAX = 35
ORAL_AREAS_PER_LINE_MAX = 5
CHECK_RESULTS_CACHED_MAX = 16_384
SHAPES_REMEMBERED_MAX = 4_096

# X12. ISA13 has nine digits, and GS06 as many at most.
CONTROL_NUMBER_MAX = 999_999_999
SEGMENT_BYTES_MAX = 64_000
CHUNK_BYTES = 64 * 1024
CONTROL_NUMBERS_REMEMBERED_MAX = 100_000
SEGMENTS_HELD_MAX = 100_000
VALUES_REMEMBERED_MAX = 16_384

# Ids of documents, which cannot be guessed.
DOCUMENT_ID_CHARACTERS = 32

# Storage.
SQLITE_BUSY_SECONDS_MAX = 30
ANCHOR_SECONDS_MAX = 1
AUDIT_DETAIL_CHARACTERS_MAX = 1_000
PAYLOAD_BYTES_MAX = 1 << 30
REVISION_WAIT_POLL_SECONDS = 0.05

# Accounts: names, secrets, and how long an old secret is valid beside a new one.
ACCOUNT_IDENTIFIER_CHARACTERS_MAX = 64
ACCOUNT_NAME_CHARACTERS_MAX = 120
SECRET_CHARACTERS = 32
SECRET_CHARACTERS_MIN = 24
OVERLAP_HOURS_MAX = 24 * 90
NODES_WAIT_SECONDS_MAX = 30

# What people write: why they changed, resent or put aside something.
REASON_CHARACTERS_MAX = 500

# Payers.
PAYER_FILE_BYTES_MAX = 64 * 1024 * 1024
SEARCH_MATCHES_MAX = 20

# The HTTP server: connections, and how much memory callers may make the process use.
CONNECTIONS_SPARE = 200
RETRY_SECONDS = 5
IGNORED_FIELD_CHARACTERS_MAX = 120

# Submission.
CLAIMS_AT_ONCE = 16
WRITE_SECONDS_MAX = 10

# Connections to payers. CORE wants an answer in 20 seconds and lets a client wait for 60.
CONNECT_SECONDS_MAX = 20
SILENCE_SECONDS_MAX = 60
TRANSFER_BYTES_PER_SECOND_MIN = 16 * 1024
TRANSFER_BYTES_MAX = 128 * 1024 * 1024
FILES_WAITING_MAX = 10_000
FILE_NAME_CHARACTERS_MAX = 200
REALTIME_SECONDS_MAX = 60
ROUTE_OPTION_CHARACTERS_MAX = 16_384
ROUTE_WINDOW_SECONDS = 60
SANDBOX_WINDOW_SECONDS = 1
ROUTE_POLL_SECONDS = 300
SETTLE_SECONDS = 60
ROUTE_TAKEOVER_SECONDS = 4 * 3_600

# The sandbox. A day of its payers lasts two seconds; a slow payer lets a caller wait.
SANDBOX_SLOW_SECONDS = 30
SANDBOX_DELAY_REMEMBERED_SECONDS = 3_600

# Files from payers.
MAILBOX_CLOSE_SECONDS_MAX = 5
PARKED_PER_FILE_MAX = 1_000

# Proxy login.
INSTANCES_PER_SITE_MAX = 10_000
LOGIN_ENTRIES_SWEPT_AT_ONCE = 200

# The console.
CONSOLE_PASSWORD_CHARACTERS_MAX = 256
CONSOLE_PASSWORD_SALT_BYTES = 16

# Enrollment.
ENROLLMENTS_PER_REQUEST_MAX = 5_000

# Dispatch: the longest pause before an unreachable payer is tried again.
RETRY_SECONDS_MAX = 3_600
# The most by which the clock of a node may differ from the database's before an operator is warned.
CLOCK_DIFFERENCE_SECONDS_MAX = 5

# Inquiries to payers: how many are read at a time, how long a call waits for answers, how long these are kept.
INQUIRY_PAGE_ROWS = 64
INQUIRY_WAIT_SECONDS_MAX = 55
ELIGIBILITY_KEPT_DAYS = 90
# When the payer is asked about a claim without a person: days after its sending, and between two questions.
STATUS_AFTER_DAYS = 7
STATUS_EVERY_DAYS = 7

# Events.
EVENTS_KEPT_DAYS = 90

# Files that sites send and fetch.
FILES_KEPT_DAYS = 90

# Claims that were not accepted.
NOT_ACCEPTED_KEPT_DAYS = 90

# Days without an answer of the payer, after which a claim may be sent again under its id.
CLAIM_SILENCE_DAYS_MAX = 30
# Days without an answer of the payer that a claim was forwarded to, after which it is asked.
CROSSOVER_DAYS_MAX = 30
