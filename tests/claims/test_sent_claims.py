"""The claims of a file that was sent, found without reading it: the same as by reading it."""

import pytest

from clearlane.claims.responses import acks
from clearlane.claims.write.sent_claims import read_sent_claims
from clearlane.claims.write.sent_layout import read_layout
from clearlane.claims.write.write_837 import write_claims
from tests.cases import every_case
from tests.claims.answers import claim, nine, outgoing, sent
from tests.claims.test_x12_claim import ENVELOPE, RECEIVER, SUBMITTER, claims_in
from tests.claims.test_x12_claim import sent as sent_again
from tests.corpus import corpus_files

OTHER = {"F33_BillingProviderNameLast": "Larkspur Clinic", "F33A_BillingProviderNpi": "1679576722"}
FILE = sent(outgoing("C1"), outgoing("C2"), outgoing("C3", claim(**OTHER)))
ATTEMPTS = {"C1": 1, "C2": 3, "C3": 1}
SET = "AK2*837*0001*005010X222A1"
ACCEPTED = nine(21, [SET, "IK5*A"])


def numbers(layout):
    return [
        (one.group, one.control, each.number, each.account, each.controls, each.attempt)
        for one in layout.sets
        for each in one.claims
    ]


def test_claims_have_the_numbers_that_reading_the_file_gives_them():
    found = read_sent_claims(FILE, ATTEMPTS)
    whole = read_layout(FILE, attempts=ATTEMPTS)
    assert numbers(found) == numbers(whole)
    assert found.control == whole.control
    assert [one.attempt for one in found.claims] == [1, 3, 1]


@every_case("sample", corpus_files("837P", "837D", "837I"))
def test_claims_of_senders_files_do_too(sample):
    claims = claims_in(sample.path.read_bytes())
    if not claims:
        return
    outs = [one for one in sent_again(claims) if one.claim.claim_type == claims[0].claim_type]
    file = b"".join(write_claims(outs, ENVELOPE, SUBMITTER, RECEIVER))
    attempts = {one.number: 1 for one in outs}
    found = read_sent_claims(file, attempts)
    assert (found is None) == (not file.isascii())
    if found is not None:
        assert numbers(found) == numbers(read_layout(file, attempts=attempts))


def test_line_ends_between_the_segments_change_nothing():
    file = FILE.replace(b"~", b"~\r\n")
    assert numbers(read_sent_claims(file, ATTEMPTS)) == numbers(
        read_layout(file, attempts=ATTEMPTS)
    )


@pytest.mark.parametrize(
    ("content", "attempts"),
    [
        (FILE, {"C1": 1, "C2": 1}),
        (FILE, {**ATTEMPTS, "C4": 1}),
        (FILE, {"C1": 1, "C2": 1, "C4": 1}),
        (FILE.replace(b"REF*D9*C2~", b"REF*D9*C1~"), ATTEMPTS),
        (FILE.replace(b"REF*D9*C2~", b""), ATTEMPTS),
        (FILE.replace(b"LARKSPUR", "LÄRKSPUR".encode()), ATTEMPTS),
        (b"", ATTEMPTS),
    ],
)
def test_a_file_of_other_claims_or_letters_is_read_whole(content, attempts):
    assert read_sent_claims(content, attempts) is None


def test_an_accepted_file_gives_the_same_facts_either_way():
    [message] = acks.read(ACCEPTED)
    assert acks.is_accepted_whole(message)
    by_numbers, by_reading = (
        list(acks.derive_facts(message, layout))
        for layout in (read_sent_claims(FILE, ATTEMPTS), read_layout(FILE, attempts=ATTEMPTS))
    )
    assert by_numbers == by_reading
    assert [fact.kind.value for fact in by_numbers] == ["ACCEPTED_999"] * 3


@pytest.mark.parametrize(
    "answer",
    [
        nine(21, [SET, "IK5*R*5"], verdict="R"),
        nine(21, [SET, "IK5*A"], verdict="P"),
        nine(21, [SET, "IK3*CLM*22**8", "IK4*2*782*6", "IK5*E*5"], verdict="E"),
    ],
)
def test_any_other_answer_needs_the_places_of_the_file(answer):
    [message] = acks.read(answer)
    assert not acks.is_accepted_whole(message)
