"""Patterns of file names: those that are sent, and those that are collected."""

import pytest

from clearlane.payers.name_patterns import (
    INCOMING_PATTERNS_MAX,
    OUTGOING_DEFAULT,
    PLACEHOLDERS,
    matches_incoming,
    outgoing_name,
    read_incoming,
    read_outgoing,
)

VALUES = {
    "sender": "CLEARLANE", "receiver": "MEADOW", "type": "837P", "control": "000000007", "date": "20240305",
    "time": "120000",
}  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (OUTGOING_DEFAULT, "CLEARLANE-837P-000000007.x12"),
        ("{type}_{date}{time}_{control}.txt", "837P_20240305120000_000000007.txt"),
        ("{receiver}.{control}", "MEADOW.000000007"),
        ("C{control}", "C000000007"),
    ],
)
def test_names_of_files_that_are_sent(pattern, expected):
    assert outgoing_name(read_outgoing(pattern), VALUES) == expected


def test_every_placeholder_has_a_value():
    assert PLACEHOLDERS.keys() == VALUES.keys()


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("", "{control}"),
        ("{sender}.x12", "{control}"),
        ("{control}{patient}", "{sender}"),
        ("{control", "letters"),
        ("{control}}", "letters"),
        ("{control:09}", "letters"),
        ("../{control}", "letters"),
        ("in/{control}", "letters"),
        ("{control} .x12", "letters"),
        (".{control}", "starts with"),
        ("{control}.part", "unfinished"),
        ("{control}.TMP", "unfinished"),
        ("{control}" + "x" * 200, "at most"),
        ("{control}" * 20, "at most"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_what_would_pass(pattern, wanted):
    with pytest.raises(ValueError, match=wanted):
        read_outgoing(pattern)


@pytest.mark.parametrize(
    ("patterns", "name", "expected"),
    [
        ("*", "anything", True),
        ("*.835", "today.835", True),
        ("*.835", "TODAY.835", True),
        ("*.835|*.999", "today.999", True),
        ("*.835", "today.835.txt", False),
        ("ERA_?_[0-9].txt", "era_a_7.txt", True),
        ("ERA_?_[0-9].txt", "era_ab_7.txt", False),
    ],
)
def test_which_files_are_collected(patterns, name, expected):
    assert matches_incoming(read_incoming(patterns), name) is expected


@pytest.mark.parametrize(
    "text", ["", "|", "in/*.835", "in\\*.835", "*\nx", "|".join(map(str, range(INCOMING_PATTERNS_MAX + 1)))]
)  # fmt: skip
def test_patterns_that_cannot_be_used_are_refused(text):
    with pytest.raises(ValueError, match=r"\*\.835"):
        read_incoming(text)
