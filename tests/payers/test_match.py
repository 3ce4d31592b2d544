"""Payers are found by what people type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.payers.directory import PayerDirectory
from clearlane.payers.match import MatchRank, distances, words_of
from clearlane.payers.model import Payer
from clearlane.payers.samples import LIVE_PAYERS, TEST_PAYERS

EXTRA = (
    Payer("Medical", "\u00c9toile Sant\u00e9", "ET1", "ET1"),
    Payer("Medical", "Blue", "TST01X", "TST01X", aliases=("Harbor",)),
)


@pytest.fixture(scope="module")
def payers() -> PayerDirectory:
    return PayerDirectory((*LIVE_PAYERS, *TEST_PAYERS, *EXTRA), sandbox=True)


@pytest.mark.parametrize(
    ("words", "payer_id", "rank"),
    [
        ("TST01", "TST01", MatchRank.EXACT_ID),
        ("tst1e", "TST1E", MatchRank.EXACT_ID),
        ("mm010", "MDW10", MatchRank.EXACT_ID),  # the legacy id
        ("7900000403", "FBK40", MatchRank.EXACT_ID),  # the national id
        ("FBK", "FBK40", MatchRank.PREFIX),
        ("79000004", "FBK40", MatchRank.PREFIX),
        ("Quarry Ridge Casualty", "QRY52", MatchRank.PREFIX),
        ("quarry", "QRY52", MatchRank.PREFIX),
        ("casualty quarry", "QRY52", MatchRank.PREFIX),
        ("fern coop", "FBK40", MatchRank.PREFIX),
        ("bluestembenefittrust", "BLU31", MatchRank.PREFIX),
        ("CBEF", "CPR77", MatchRank.ALIAS),
        ("quarry auto", "QRY52", MatchRank.ALIAS),
        ("etoile sante", "ET1", MatchRank.PREFIX),
        ("Medow Mutal", "MDW10", MatchRank.FUZZY),
        ("Fernbnak Health", "FBK40", MatchRank.FUZZY),
        ("Lakside Dental", "LKD15", MatchRank.FUZZY),
        ("pinecrets smile", "PNE28", MatchRank.FUZZY),
        ("qurry ridge", "QRY52", MatchRank.FUZZY),
        ("QRX52", "QRY52", MatchRank.FUZZY),
        ("Bluestem Benefits Trust Inc", "BLU31", MatchRank.FUZZY),
        ("cooprative", "FBK40", MatchRank.FUZZY),
        ("fernbanck-health", "FBK40", MatchRank.FUZZY),
        ("willws senior", "TWL61", MatchRank.FUZZY),
    ],
)
def test_the_payer_that_is_meant_stands_first(payers, words, payer_id, rank):
    best = payers.search(words)[0]
    assert (best.payer.payer_id, best.rank) == (payer_id, rank)


def test_ranks_stand_in_order(payers):
    ranks = [match.rank for match in payers.search("Harbor")]
    assert ranks == sorted(ranks, reverse=True)
    assert [m.payer.payer_id for m in payers.search("harbor")][-1] == "TST01X"  # the alias
    ids = [(m.payer.payer_id, m.rank) for m in payers.search("TST01")]
    assert ids == [("TST01", MatchRank.EXACT_ID), ("TST01X", MatchRank.PREFIX)]


@pytest.mark.parametrize(
    "words", ["", "   ", "zzzzzz", "!?", "\udc80", "x" * 100_000, "a b c d e f g h i j k"]
)
def test_words_that_mean_nothing_find_nothing(payers, words):
    assert payers.search(words) == []


def test_a_search_may_be_narrowed_and_has_an_end(payers):
    dental = payers.search("summit", among=lambda payer: payer.type == "Dental")
    assert {m.payer.payer_id for m in dental} == {"SMD05", "SMD06"}
    assert payers.search("summit", among=lambda payer: payer.type == "Medical") == []
    assert len(payers.search("dental", limit=2)) == 2


@given(st.data())
def test_one_typing_mistake_in_a_name_is_forgiven(data):
    payers = PayerDirectory(LIVE_PAYERS, sandbox=True)
    payer = data.draw(st.sampled_from(LIVE_PAYERS))
    word = data.draw(st.sampled_from([w for w in words_of(payer.name) if len(w) > 5]))
    place = data.draw(st.integers(1, len(word) - 2))
    spoilt = word[:place] + data.draw(st.sampled_from(["", "x", "xy"])) + word[place + 1 :]
    assert payer in [m.payer for m in payers.search(payer.name.casefold().replace(word, spoilt))]


@pytest.mark.parametrize(
    ("asked", "known", "expected"),
    [
        ("", "", (0, 0)),
        ("a", "", (1, 1)),
        ("", "abc", (3, 0)),
        ("harbor", "harbor", (0, 0)),
        ("hrabor", "harbor", (1, 1)),
        ("harbr", "harbor", (1, 1)),
        ("harbr", "harborview", (5, 1)),
        ("kitten", "sitting", (3, 2)),
    ],
)
def test_mistakes_are_counted(asked, known, expected):
    assert distances(asked, known) == expected


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_counting_mistakes_is_symmetric(one, other):
    assert distances(one, other)[0] == distances(other, one)[0]
