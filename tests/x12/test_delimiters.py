"""The separators of an interchange are learned from its ISA, and swapping loses nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.x12.delimiters import CANONICAL, ISA_CHARACTERS, Delimiters, read_delimiters
from tests.x12.toy import ISA

SIGNS = "*:^~|}{><!;\n\r\t\x1d\x1f\\'+"


def isa(element: str, component: str, repetition: str, terminator: str) -> str:
    return ISA.translate(str.maketrans("*:^", element + component + repetition)) + terminator


def test_the_usual_separators_are_learned():
    assert read_delimiters(ISA + "~GS*") == (CANONICAL, ISA_CHARACTERS)


@given(st.permutations([c for c in SIGNS if c not in "\r\n\t"]).map(lambda signs: signs[:4]))
def test_any_four_different_signs_are_learned(signs):
    learned = read_delimiters(isa(*signs) + "GS")
    assert learned == (Delimiters(*signs), ISA_CHARACTERS)


@pytest.mark.parametrize("terminator", ["\n", "\r", "~"])
def test_a_newline_may_be_the_terminator(terminator):
    learned = read_delimiters(isa("|", ">", "!", terminator) + "GS|")
    assert learned is not None
    assert learned[0].terminator == terminator


def test_blanks_before_the_terminator_are_passed_over():
    assert read_delimiters(ISA + "  ~GS*") == (CANONICAL, ISA_CHARACTERS + 2)
    assert read_delimiters(ISA + "  G") is None


def test_an_unpadded_header_is_understood():
    text = "ISA*00**00**ZZ*S*ZZ*R*240501*1200*^*00501*000000001*0*T*:~GS"
    assert read_delimiters(text) == (CANONICAL, len(text) - 2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GS*HC",
        "ISA",
        "ISAX00",
        "ISA 00",
        "ISA*00*short",
        ISA,
        ISA[:-1] + "A~",
        ISA + "G",
        ISA + " ",
        ISA + ":",
        ISA + "*",
        ISA[:-1] + "*~",
    ],
)
def test_what_is_no_header_is_not_guessed_at(text):
    assert read_delimiters(text) is None


@pytest.mark.parametrize("repetition", ["U", ":", "~", " ", "^^"])
def test_a_repetition_separator_that_cannot_be_one_is_none(repetition):
    learned = read_delimiters(ISA.replace("^", repetition) + "~GS")
    assert learned is not None
    assert not learned[0].repetition


def test_early_versions_have_no_repetition_separator():
    learned = read_delimiters(ISA.replace("00501", "00401") + "~GS")
    assert learned is not None
    assert not learned[0].repetition


@given(
    st.permutations(SIGNS).map(lambda signs: Delimiters(*signs[:4])),
    st.text(alphabet=SIGNS + "AB1", max_size=60),
)
def test_swapping_is_a_permutation(delimiters, text):
    assert text.translate(delimiters.to_canonical()).translate(delimiters.from_canonical()) == text
    assert delimiters.element.translate(delimiters.to_canonical()) == "*"
    assert delimiters.component.translate(delimiters.to_canonical()) == ":"
    assert delimiters.repetition.translate(delimiters.to_canonical()) == "^"
    assert delimiters.terminator.translate(delimiters.to_canonical()) == "~"


def test_canonical_separators_need_no_swap():
    assert CANONICAL.to_canonical() == {}
    assert Delimiters(repetition="").to_canonical() == {}
