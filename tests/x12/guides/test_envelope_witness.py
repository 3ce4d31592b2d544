"""837D, 277CA and TA1: no library checks them whole, so the envelope reader of pyx12 reads many random ones.

It counts segments, sets, groups and levels, and compares control numbers. What stands inside is held by the tables of
facts (``test_guide_facts.py``) and by our own checker.
"""

import io
from datetime import UTC, datetime
from random import Random

import pytest
from pyx12.x12file import X12Reader

from clearlane.kernel.finding import Severity
from clearlane.x12.checker.ack import acknowledge
from clearlane.x12.checker.check import check
from tests.corpus import corpus_files
from tests.x12 import samples837, samples_other

NOW = datetime(2024, 5, 2, 8, 30, tzinfo=UTC)
CLAIMS_MIN = 200
TA1_COUNT = 120
# An envelope with one fault each, and what a TA1 says of it.
ENVELOPES = {
    (b"", b""): ("A", "000"),
    (b"*00501*", b"*00401*"): ("R", "017"),
    (b"IEA*1*", b"IEA*2*"): ("R", "021"),
    (b"*250301*1200*^*", b"*251301*1200*^*"): ("R", "014"),
    (b"*T*:", b"*X*:"): ("R", "020"),
    (b"*ZZ*CLEARLANE", b"*??*CLEARLANE"): ("R", "005"),
}


def envelope_errors(text: str) -> list:
    reader = X12Reader(io.StringIO(text))
    found = []
    for _ in reader:
        found += reader.pop_errors()
    reader.cleanup()
    return found + reader.pop_errors()


def made(kind: str, number: int) -> str:
    if kind == "837D":
        sets = [
            samples837.claims(Random(70 + n), kind, number=n + 1, subscribers=3)
            for n in range(number)
        ]
        return samples837.interchange(kind, sets)
    sets = [samples_other.made(Random(70 + n), kind, number=n + 1) for n in range(number)]
    return samples_other.interchange(kind, sets)


@pytest.mark.parametrize(("kind", "claim"), [("837D", "\nCLM*"), ("277CA", "\nTRN*2*")])
def test_two_hundred_random_claims_have_sound_envelopes_and_no_finding(kind, claim):
    text = made(kind, 70)
    assert text.count(claim) >= CLAIMS_MIN
    assert envelope_errors(text) == []
    assert [f for f in check(text.encode()).findings if f.severity is not Severity.INFO] == []


def test_random_interchanges_get_the_right_ta1_in_a_sound_envelope():
    for seed in range(TA1_COUNT):
        rng = Random(seed)
        kind = rng.choice(["837D", "837P"])
        (old, new), wanted = rng.choice(list(ENVELOPES.items()))
        text = samples837.interchange(kind, [samples837.plain(kind)]).encode()
        data = text.replace(old, new, 1) if old else text
        (answer,) = acknowledge(data, control=seed + 1, moment=NOW)
        ta1 = answer.ta1.decode()
        (segment,) = (s.split("*") for s in ta1.split("~") if s.strip().startswith("TA1"))
        assert (segment[4], segment[5]) == wanted, (old, new)
        assert segment[1] == text[:105].decode().split("*")[13]
        assert envelope_errors(ta1) == []
        assert check(answer.ta1).findings == ()


@pytest.mark.parametrize("sample", corpus_files("837D", "277CA", "TA1", clean=True))
def test_published_files_pass(sample):
    assert check(sample.path.read_bytes()).errors == 0
