"""Randomly filled sets of the guides other than claims: accepted by independent witnesses, clean here."""

import logging
from random import Random

import pytest
from x12sdk.io import X12ModelReader

from clearlane.kernel.finding import Severity
from clearlane.x12 import guides
from clearlane.x12.grammar import LoopSpec, SegmentSpec
from clearlane.x12.guides import by_kind
from clearlane.x12.reader.reader import parse
from clearlane.x12.writer import writer
from tests.cases import by_profile, every_case
from tests.corpus import Sample, corpus_files
from tests.x12 import samples_other
from tests.x12.findings_of import all_findings
from tests.x12.pyx12_witness import is_accepted

KINDS = ("270", "271", "276", "277", "277CA", "835", "999")
ENVELOPE_KINDS = (*KINDS, "TA1")
# How many samples show everything at the latest.
SHOWING = 60
SETS = {"270": 120, "271": 120, "276": 120, "277": 100, "277CA": 120, "835": 50, "999": 300}
WITNESSED_ONE_IN = by_profile(thorough=1, usual=5, quick=5)
"""Other libraries read slowly: of how many sets they get one."""

# What pyx12 refuses though the guide has it.
PYX12_CANNOT = {
    "835": {
        "835/PLB": 1
    },  # It opens a new part of the set for each PLB, and the part may stand once.
    # It cannot tell the two uses of a CTX apart and counts them as one.
    "999": {"2100/CTX": 1, "2100/CTX+CTX": None},
}

# What x12sdk refuses or loses though the guide has it.
_NO_SUBSCRIBER_REFUSALS = ["35", "42", "49", "52", "56", "57", "58", "60", "61", "62", "63", "71"]
X12SDK_CANNOT = {
    "270": {
        "BHT/03!": None,  # It wants a number for every inquiry, not only for real time.
        "DMG/03": ["U"],  # It knows no unknown sex.
        "EQ/01!": None,  # It wants service types always, so no procedure is asked about.
        "EQ/02": None,
        "PRV/02!": None,  # It wants a qualifier with every role.
        "PRV/03!": None,
        "2100C/DTP": 1,  # It takes one date of the two.
        "2100D/DTP": 1,
        "2100D/REF/01": ["IF", "MRC"],  # It has the subscriber's list for the dependent.
        "2110C+2000D": None,  # A subscriber with dependents cannot be asked about as well.
    },
    "271": {
        "BHT/03!": None,
        "DMG/03": ["U"],
        "EB/01": ["R"],  # It takes other payers for a charity and restricts their numbers.
        "EB/03!": None,
        "EB/03": ["95", "A0", "A8", "CI", "CJ"],  # Slips in its list.
        "EB/04": ["PS"],  # It spells point of service POS.
        "EB/09": None,  # It takes the kind of quantity for a number.
        "EB/10": None,
        "MPI/01": ["A"],  # A slip in its list.
        "MPI/06": None,  # It looks for the form of the date under another name.
        "MPI/07": None,
        "2000C/TRN": 2,  # It takes two of the three.
        "2000D/TRN": 2,
        "2100A/PER": None,  # It reads the contact and loses it.
        "2100C/AAA/03": [
            *_NO_SUBSCRIBER_REFUSALS,
            "72",
            "73",
            "74",
            "75",
            "76",
            "78",
        ],  # It has the provider's list.
        "2100D/AAA/03": [*_NO_SUBSCRIBER_REFUSALS, "64", "65", "66", "67", "68", "77"],
        "2100C/REF/01": ["49", "CE", "IF", "Q4"],  # It has the list of the 270.
        "2100D/REF/01": ["49", "CE", "IF", "MRC", "Q4"],
        "2110C+2000D": None,
        "2110C/REF/01": ["1L"],  # It spells it IL.
        "2110D/REF/01": ["1L"],
        "2115C": None,  # It wants LS and LE inside this loop.
        "2115D": None,
        "2120C": 1,  # It takes the second party for a part of the first.
        "2120D": 1,
        "2120C/NM1/01": ["1I"],  # It spells it 11.
        "2120D/NM1/01": ["1I"],
        "2120C/NM1/08!": None,  # It wants every party to have a number and a telephone.
        "2120D/NM1/08!": None,
        "2120C/NM1/09!": None,
        "2120D/NM1/09!": None,
        "2120C/PER/03!": None,
        "2120D/PER/03!": None,
        "2120C/PER/04!": None,
        "2120D/PER/04!": None,
    },
    "276": {
        "SVC/07!": None,  # It wants units on every line.
        "2100C": 1,  # It takes one provider of the two.
        "2200D+2000E": None,  # A subscriber with dependents cannot be asked about as well.
        "2210D": 1,  # It puts the second line into the first.
        "2210E": 1,
    },
    "277": {"2100C": 1, "2200D+2000E": None, "2220D": 1, "2220E": 1},
}


@pytest.fixture(scope="module", params=KINDS)
def kind(request) -> str:
    return request.param


def made(kind: str, seed: int, avoid=None, count: int = 0) -> list[list[list[str]]]:
    return [
        samples_other.made(Random(seed + n), kind, number=n + 1, avoid=avoid)
        for n in range(count or SETS[kind])
    ]


@pytest.mark.parametrize("kind", sorted(PYX12_CANNOT))
def test_pyx12_accepts_every_sample(kind, caplog):
    text = samples_other.interchange(
        kind, made(kind, 100, PYX12_CANNOT[kind], SETS[kind] // WITNESSED_ONE_IN)
    )
    with caplog.at_level(logging.ERROR):
        accepted = is_accepted(text)
    assert [record.getMessage() for record in caplog.records] == []
    assert accepted


@pytest.mark.parametrize("kind", sorted(X12SDK_CANNOT))
def test_x12sdk_accepts_every_sample(kind):
    sets = made(kind, 300, X12SDK_CANNOT[kind], SETS[kind] // WITNESSED_ONE_IN)
    with X12ModelReader(samples_other.interchange(kind, sets).replace("\n", "")) as reader:
        assert len(list(reader.models())) == len(sets) == SETS[kind] // WITNESSED_ONE_IN


def test_every_sample_is_clean_here_and_read_without_loss(kind):
    sets = made(kind, 700, count=SETS[kind] // by_profile(thorough=2, usual=6, quick=20))
    text = samples_other.interchange(kind, sets)
    file = parse(text.encode())
    assert list(all_findings(file)) == []
    assert [list(read.all_segments()) for read in file.sets()] == sets
    assert writer.write(file).split(b"~") == [part.strip() for part in text.encode().split(b"~")]


def test_samples_show_every_loop_and_segment_of_the_guide(kind):
    """What no sample shows, no witness has judged."""
    missing, shown = set(everything(by_kind(kind).root)), set()
    for first in range(0, SHOWING, SHOWING // 6):
        text = samples_other.interchange(kind, made(kind, first, count=SHOWING // 6))
        for read in parse(text.encode(), check=False).sets():
            collect(read.root, shown)
        if missing <= shown:
            return
    assert missing - shown == set()


def test_every_kind_but_the_claims_has_its_samples_here():
    assert set(guides.KINDS) == {*KINDS, "837P", "837D", "837I"}


@every_case("sample", corpus_files(*ENVELOPE_KINDS, clean=True))
def test_clean_files_of_the_corpus_have_no_error(sample: Sample):
    file = parse(sample.path.read_bytes())
    assert [f for f in all_findings(file) if f.severity is Severity.ERROR] == []


@every_case("sample", corpus_files(*ENVELOPE_KINDS))
def test_every_file_of_the_corpus_is_read_and_written_without_loss(sample: Sample):
    file = parse(sample.path.read_bytes())
    again = parse(writer.write(file))
    assert [list(read.all_segments()) for read in again.sets()] == [
        list(read.all_segments()) for read in file.sets()
    ]
    for read in file.sets():
        assert sum(1 for _ in read.all_segments()) == read.root.size()


def everything(node: LoopSpec, path: str = ""):
    """Every loop and segment of a guide by its path."""
    for child in node.children:
        yield place(path, child)
        if isinstance(child, LoopSpec):
            yield from everything(child, f"{path}{child.id}/")


def place(path: str, node: SegmentSpec | LoopSpec) -> str:
    return path + node.id + ("" if isinstance(node, LoopSpec) else ":" + "|".join(node.qualifiers))


def collect(loop, shown: set[str], path: str = "") -> None:
    """Every loop and segment of a tree by the path of its place in the guide."""
    for item in loop.items:
        if isinstance(item, list):
            for child in loop.node.children:
                if isinstance(child, SegmentSpec) and child.id == item[0] and fits(child, item):
                    shown.add(place(path, child))
        else:
            shown.add(path + item.id)
            collect(item, shown, f"{path}{item.id}/")


def fits(node: SegmentSpec, row: list[str]) -> bool:
    number, component = node.key
    if not node.qualifiers:
        return True
    text = row[number] if len(row) > number else ""
    return (text.split(":")[component - 1] if component else text) in node.qualifiers
