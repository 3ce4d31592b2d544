"""Randomly filled claims of each kind: accepted by an independent witness, clean here, read without loss.

Also tests `x12/guides/g837p`, `x12/guides/g837d`, `x12/guides/g837i` and `x12/guides/common837`.
"""

import logging
from random import Random

import pytest

from clearlane.kernel.finding import Severity
from clearlane.x12.guides import by_kind
from clearlane.x12.reader.reader import parse
from clearlane.x12.writer.writer import write
from tests.cases import by_profile, every_case
from tests.corpus import Sample, corpus_files
from tests.x12 import samples837
from tests.x12.findings_of import all_findings
from tests.x12.guide_coverage import collect, places_of
from tests.x12.pyx12_witness import is_accepted

KINDS = ("837P", "837D", "837I")
SETS = 40
SHARE = by_profile(thorough=SETS, usual=SETS // 4, quick=SETS // 4)
"""How many of them are read again, here and by another library."""
CLAIMS_MIN = 5
"""How many claims a set has, on average."""


@pytest.fixture(scope="module", params=KINDS)
def kind(request) -> str:
    return request.param


def made(kind: str, seed: int, *, everything: bool, count: int = SETS) -> list[list[list[str]]]:
    return [
        samples837.claims(
            Random(seed + n), kind, number=n + 1, everything=everything, subscribers=3
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("kind", ["837P", "837I"])
def test_the_witness_accepts_every_sample(kind, caplog):
    text = samples837.interchange(kind, made(kind, 500, everything=False, count=SHARE))
    assert text.count("\nCLM*") >= CLAIMS_MIN * SHARE
    assert refusals(text, caplog) == []


def test_every_sample_is_clean_here_and_read_without_loss(kind):
    sets = made(
        kind,
        900,
        everything=True,
        count=SHARE,
    )
    file = parse(samples837.interchange(kind, sets).encode())
    assert [f for f in all_findings(file) if f.severity is not Severity.INFO] == []
    assert [list(read.all_segments()) for read in file.sets()] == sets


def test_samples_show_every_loop_and_segment_of_the_guide(kind):
    """What no sample shows, no witness has judged."""
    missing, shown = set(places_of(by_kind(kind).root)), set()
    for rows in (
        samples837.Maker(Random(n), kind, 1, 0.9, everything=True).claims(3) for n in range(12)
    ):
        for read in parse(samples837.interchange(kind, [rows]).encode(), check=False).sets():
            collect(read.root, shown)
        if missing <= shown:
            return
    assert missing - shown == set()


@pytest.mark.parametrize("kind", ["837P", "837I"])
def test_segments_of_one_position_may_come_in_any_order(kind, caplog):
    """X12 orders positions; the guide's order of the REF or DTP segments of one position binds nobody."""
    rows = samples837.plain(kind)
    at = next(i for i, row in enumerate(rows) if row[0] == ("CLM" if kind == "837P" else "CL1"))
    extra = [["REF", "D9", "T1"], ["REF", "G1", "A1"]]
    rows[at + 1 : at + 1] = extra
    rows[-1][1] = str(len(rows))
    text = samples837.interchange(kind, [rows])
    assert refusals(text, caplog) == []
    assert [f.rule for f in all_findings(parse(text.encode()))] == []


@pytest.mark.parametrize("sample", corpus_files(*KINDS, clean=True))
def test_clean_files_of_the_corpus_have_no_error(sample: Sample):
    file = parse(sample.path.read_bytes())
    assert [f for f in all_findings(file) if f.severity is Severity.ERROR] == []


@every_case("sample", corpus_files(*KINDS))
def test_every_file_of_the_corpus_is_read_without_loss(sample: Sample):
    file = parse(sample.path.read_bytes())
    again = parse(write(file))
    assert [list(read.all_segments()) for read in again.sets()] == [
        list(read.all_segments()) for read in file.sets()
    ]
    for read in file.sets():
        assert sum(1 for _ in read.all_segments()) == read.root.size()


def refusals(text: str, caplog) -> list[str]:
    """What pyx12 says against an interchange."""
    with caplog.at_level(logging.ERROR):
        caplog.clear()
        accepted = is_accepted(text)
        messages = [record.getMessage() for record in caplog.records]
    return messages if messages or accepted else ["refused without a word"]
