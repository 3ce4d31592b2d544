"""What the client waits for and repeats at most, unit last.

The client stands alone, so its limits do too.
"""

CONNECT_SECONDS_MAX = 10
ANSWER_SECONDS_MAX = 60
# A document of thousands of claims is read, judged and stored before it is answered.
CLAIMS_SECONDS_MAX = 180
# The service itself waits 55 seconds for payers before it answers (the interface's limit).
ELIGIBILITY_SECONDS_MAX = 75

# From the first byte of an answer to its last: a service that sends one now and then is not waited for.
BODY_SECONDS_MAX = 900
ANSWER_BYTES_MAX = 1 << 30
NUMBER_DIGITS_MAX = 30

ATTEMPTS_MAX = 5
REPEATING_SECONDS_MAX = 90
FIRST_PAUSE_SECONDS = 0.5
PAUSE_SECONDS_MAX = 10

WAIT_SECONDS = 600
FIRST_LOOK_SECONDS = 2
LOOK_SECONDS_MAX = 30

STATUS_DAYS = 1
TEXT_CHARACTERS_MAX = 500
FIELDS_NAMED_MAX = 8
