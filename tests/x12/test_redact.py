"""A redacted file has the same structure and nobody in it."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.kernel import formats
from clearlane.x12.checker.check import check
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.show.redact import Pseudonyms, is_routing, redact
from clearlane.x12.show.reformat import reformat
from tests.cases import every_case, fewer_in_quick
from tests.corpus import corpus_files
from tests.x12 import samples837, samples_other
from tests.x12.views.leaves import segments, separators
from tests.x12.views.test_views import BENEFITS, CLAIMS, REMITTANCE, file

KEY = b"a key for tests"
# Segments and elements that hold what a person is known by, read off the guides by hand.
PERSONAL = {
    "NM1": (3, 4, 5, 9), "N1": (2, 4), "N3": (1, 2), "N4": (1, 3), "PER": (2, 4, 6, 8),
    "DMG": (2,), "CLM": (1,), "CLP": (1, 7), "SBR": (3, 4), "TRN": (2,), "NTE": (2,), "MSG": (1,),
    "PWK": (6,), "BPR": (9, 15), "K3": (1,),
}  # fmt: skip
NOTES = {"NTE", "MSG", "K3", "SBR", "PWK"}
SHORT = 3
"""A text this short may come up again by chance."""


def redacted(data):
    return b"".join(redact(data, KEY))


def findings(data):
    return Counter(
        (one.rule, one.severity, one.position.file_segment, one.position.element)
        for one in check(data).findings
    )


def assert_nobody_left(before, after):
    texts = {part for row in segments(after) for part in row[1:]}
    for old, new in zip(segments(before), segments(after), strict=True):
        for at in PERSONAL.get(old[0], ()):
            if len(old) > at and len(old[at].strip()) > SHORT:
                assert old[at] != new[at], (old[0], at)
                # A note of one word may be a word that is a code elsewhere.
                assert old[0] in NOTES or old[at] not in texts, (old[0], at)


def shape(data):
    return [(row[0], [len(text) for text in row]) for row in segments(data)]


@every_case("sample", fewer_in_quick(corpus_files(), 3))
def test_a_public_file_keeps_its_structure_and_loses_its_people(sample):
    data = sample.path.read_bytes()
    after = redacted(data)
    assert not findings(after) - findings(data)
    if b"ISA" in data and len(list(segments(data))) == len(list(segments(after))):
        assert [row[0] for row in segments(data)] == [row[0] for row in segments(after)]
        assert_nobody_left(data, after)


@pytest.mark.parametrize(
    "kind", ["837P", "837D", "837I", "270", "271", "276", "277", "277CA", "835"]
)
def test_a_clean_file_stays_clean(kind):
    rng = Random(11)
    if kind.startswith("837"):
        data = samples837.interchange(kind, [samples837.claims(rng, kind)]).encode()
    else:
        data = samples_other.interchange(kind, [samples_other.made(rng, kind)]).encode()
    after = redacted(data)
    assert findings(after) == findings(data)
    assert shape(after) == shape(data)
    assert_nobody_left(data, after)


def test_the_same_key_gives_the_same_file_and_another_key_another():
    data = file("837P", *CLAIMS)
    assert redacted(data) == redacted(data)
    assert redacted(data) != b"".join(redact(data, b"another"))


def test_codes_amounts_and_control_numbers_stay():
    before, after = file("835", *REMITTANCE), redacted(file("835", *REMITTANCE))
    for old, new in zip(segments(before), segments(after), strict=True):
        if old[0] in {"CAS", "SVC", "AMT", "LQ", "MOA", "SE", "GE", "IEA", "ST", "LX"}:
            assert new == old
    assert next(segments(after))[13] == next(segments(before))[13]


def test_days_move_back_together_by_whole_weeks():
    before = file("271", *BENEFITS)
    after = redacted(before)
    days = []
    for old, new in zip(segments(before), segments(after), strict=True):
        if old[0] in {"DMG", "DTP"} and old[2 if old[0] == "DTP" else 1] == "D8":
            at = 2 if old[0] == "DMG" else 3
            days.append(formats.parse_x12_date(old[at]) - formats.parse_x12_date(new[at]))
    assert len(set(days)) == 1
    assert days[0].days % 7 == 0
    assert 0 < days[0].days <= 364


def test_the_same_text_becomes_the_same_and_different_ones_differ():
    pseudonyms = Pseudonyms(KEY)
    texts = [f"{a}{b}" for a in "ABCXYZ" for b in range(10)]
    became = [pseudonyms.text(text) for text in texts]
    assert len(set(became)) == len(texts)
    assert became == [pseudonyms.text(text) for text in texts]


def test_a_key_gives_the_same_pseudonyms_in_every_version():
    """Files that were redacted years apart must still fit together."""
    pseudonyms = Pseudonyms(KEY)
    texts = {
        "A": "B", "7": "8", "ARDEN": "AVHJN", "ROSA ARDEN": "JBLC NQDPH", "1234567893": "1244224501", "X-1": "C-5",
        "5035550142": "5485986387", "M1000001": "C2314094", "12D3456789": "77D6610433", "12 Alder St.": "02 Wrywj Le.",
        "ROS\xc9": "LOMX",
    }  # fmt: skip
    assert {text: pseudonyms.text(text) for text in texts} == texts
    days = {"20240101-20241231": "20230501-20240430", "241231": "240430", "202405011200": "202308301200"}  # fmt: skip
    assert {text: pseudonyms.days(text) for text in days} == days
    banks = {"021000021": "162182950", "12345": "90543"}
    assert {text: pseudonyms.bank(text) for text in banks} == banks


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=80), st.binary(max_size=8))
def test_no_text_becomes_itself(text, key):
    became = Pseudonyms(key).text(text)
    assert len(became) == len(text)
    replaceable = [c for c in text if c.isascii() and c.isalnum()]
    if len(replaceable) > 1 or (replaceable and len(text) != 10):
        assert became != text
    for old, new in zip(text, became, strict=True):
        assert old.isdigit() == new.isdigit() or not old.isascii()


def test_check_digits_are_right_again():
    pseudonyms = Pseudonyms(KEY)
    npi = pseudonyms.text("1234567893")
    assert formats.is_npi(npi)
    assert npi != "1234567893"
    bank = pseudonyms.bank("021000021")
    assert is_routing(bank)
    assert bank != "021000021"
    assert not is_routing("021000022")
    assert len(pseudonyms.bank("12345")) == 5


def test_days_that_are_none_are_replaced_like_texts():
    pseudonyms = Pseudonyms(KEY)
    assert pseudonyms.days("20241301") == ""
    assert pseudonyms.days("00010101") == ""
    assert pseudonyms.days("20240101-X") == ""
    assert pseudonyms.days("241301") == ""
    assert len(pseudonyms.days("240501")) == 6
    assert pseudonyms.days("202405011200").endswith("1200")
    assert len(pseudonyms.days("20240101-20241231")) == 17


def test_broken_files_keep_no_text_in_a_place_for_codes():
    data = (
        file(
            "835",
            "BPR*I*1*C*CHK",
            "CLP*A1*ROSA ARDEN*ROSA*1",
            "DTM*232*ROSA",
            "SVC*HC:ROSA ARDEN*1*1",
            "QQQ*ROSA",
            "ROSA ARDEN*ROSA",
            "REF*F2*V1",
            "REF*F2*ROSA ARDEN",
            "TRN*1*A*B*C*ROSA",
            "HI*ABK:E119:::::::::ROSA",
            "ENT*1*ROS\xc9".encode("latin-1").decode("latin-1"),
        )
        .decode("utf-8")
        .encode("latin-1")
    )
    after = redacted(data)
    assert b"ROSA" not in after
    assert b"ROS\xc9" not in after
    assert b"REF*F2*V1" in after


def test_other_separators_stay_and_large_files_come_in_pieces():
    many = [row for at in range(700) for row in (f"CLP*A{at}*1*1*1", "NM1*QC*1*ARDEN*ROSA")]
    data = file("835", *REMITTANCE[:9], *many, *REMITTANCE[9:])
    strange = b"".join(reformat(data, Delimiters("|", ">", "!", "\n")))
    pieces = list(redact(strange + data, KEY))
    assert len(pieces) > 3
    whole = b"".join(pieces)
    assert separators(whole) == (">", "!")
    assert whole.count(b"CLP|") == whole.count(b"CLP*")
    assert b"ARDEN" not in whole


def test_what_holds_no_interchange_gives_nothing():
    assert redacted(b"no file of the trade") == b""
