"""Reformatting changes the separators and nothing else."""

import pytest

from clearlane.x12.checker.check import check
from clearlane.x12.delimiters import Delimiters
from clearlane.x12.reader.reader import parse
from clearlane.x12.show.reformat import SeparatorConflictError, reformat
from clearlane.x12.writer.writer import interchange_segments
from tests.cases import every_case, fewer_in_quick
from tests.corpus import corpus_files
from tests.x12.views.test_views import REMITTANCE, file

RARE = Delimiters("\x1d", "\x1f", "\x1e", "\x1c", "\n")


def rows(data):
    return [list(interchange_segments(one)) for one in parse(data).interchanges]


@every_case("sample", fewer_in_quick(corpus_files(), 3))
def test_a_public_file_has_the_same_segments_in_other_separators(sample):
    data = sample.path.read_bytes()
    again = b"".join(reformat(data, RARE))
    assert rows(again) == rows(data)
    if len(parse(data).interchanges) == 1:
        assert check(again).errors == check(data).errors


def test_line_ends_are_put_and_taken_away():
    data = file("835", *REMITTANCE)
    lines = b"".join(reformat(data, Delimiters(line_ending="\n")))
    assert lines == data.replace(b"~", b"~\n")
    assert b"".join(reformat(lines)) == data


def test_data_that_holds_a_new_separator_is_refused():
    data = file("835", *REMITTANCE).replace(b"MEADOW", b"MEAD|W")
    with pytest.raises(SeparatorConflictError, match="segment 7 of the file"):
        list(reformat(data, Delimiters("|")))
    swapped = b"".join(reformat(file("835", *REMITTANCE), Delimiters("|", ">", "!", "\n")))
    with pytest.raises(SeparatorConflictError, match="segment 7"):
        list(reformat(swapped.replace(b"MEADOW", b"MEAD*W")))


def test_an_earlier_version_keeps_its_eleventh_element():
    data = (
        file("835", *REMITTANCE).replace(b"*^*00501*", b"*U*00401*").replace(b"MEADOW", b"MEAD^W")
    )
    with pytest.raises(SeparatorConflictError):
        list(reformat(data, Delimiters()))
    again = b"".join(reformat(data, Delimiters("|", ">", "!", "\n")))
    assert b"|U|00401|" in again
    assert b"MEAD^W" in again


@pytest.mark.parametrize(
    "target",
    [
        Delimiters("*", "*"),
        Delimiters("A"),
        Delimiters("**"),
        Delimiters(" "),
        Delimiters(repetition=""),
        Delimiters("\u20ac"),
    ],
)
def test_separators_must_be_four_different_signs(target):
    with pytest.raises(SeparatorConflictError, match="separator"):
        list(reformat(file("835", *REMITTANCE), target))


def test_what_holds_no_interchange_gives_nothing():
    assert b"".join(reformat(b"no file of the trade")) == b""
