"""The safe defaults: what the service must never do unless it was asked to, by number.

A test of one carries the marker `safe_default` with its number. `tools/tests_at REVISION -m safe_default` runs these
tests against the code of an earlier revision, to show which of them that code fails.
"""

POINTS: dict[int, str] = {
    1: "no claim goes out as a replacement unasked",
    2: "documents read the same twice",
    3: "a client that waits for the challenge is served",
    4: "a void that was carried out is no denial",
    5: "events, actions and refused files say what is true",
    6: "a pending enrollment is called pending",
    7: "requests are read and numbered as clients expect",
    8: "a code list that ended refuses nothing",
    9: "outgoing claims state only what the provider stated",
    10: "findings about files are right",
    11: "a payer's file is taken only when it is whole",
    12: "of competing acts on a claim one wins, and the others learn it",
    13: "hostile and broken peers do no harm",
    14: "a group correction changes no patient's or service's facts by one value",
    15: "the main button is the advice",
    16: "claims that were not accepted are visible",
    17: "nothing irreversible happens at the first click",
    18: "a test file in production waits for a person",
}
