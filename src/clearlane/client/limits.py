"""Limits of the client, with the unit last in each name.

Separate from those of the service, because the client is installed alone.
"""

CONNECT_SECONDS_MAX = 10
ANSWER_SECONDS_MAX = 60
# A document of thousands of claims is read, checked and stored before the response.
CLAIMS_SECONDS_MAX = 180
# The service itself waits 55 seconds for payers before it answers (a limit of V3).
ELIGIBILITY_SECONDS_MAX = 75

# From the first byte of a response to its last: a response that trickles in is given up.
BODY_SECONDS_MAX = 900
ANSWER_BYTES_MAX = 1 << 30
NUMBER_DIGITS_MAX = 30

ATTEMPTS_MAX = 5
RETRY_SECONDS_MAX = 90
FIRST_PAUSE_SECONDS = 0.5
PAUSE_SECONDS_MAX = 10

WAIT_SECONDS = 600
FIRST_POLL_SECONDS = 2
POLL_SECONDS_MAX = 30
# What became of a file is known within seconds.
FILE_POLL_SECONDS = 0.5
# A claim is listed as soon as it is accepted; other services may take a moment.
UNKNOWN_CLAIM_SECONDS_MAX = 30

STATUS_DAYS = 1

# How long one call waits for events, how many it takes, and how long the pause is while the service is away.
EVENT_WAIT_SECONDS = 30
EVENTS_PER_PAGE = 100
FOLLOW_PAUSE_SECONDS_MAX = 30
# A webhook that was signed longer ago, or is so far ahead, is refused (Standard Webhooks).
WEBHOOK_TOLERANCE_SECONDS = 300
TEXT_CHARACTERS_MAX = 500
FIELDS_NAMED_MAX = 8

# What `submit` puts into one document. A service may take less: then a part is halved.
CLAIMS_PER_DOCUMENT = 500
DOCUMENT_BYTES_MAX = 16 * 1024 * 1024
