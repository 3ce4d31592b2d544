"""Our 277CA guide against the map of pyx12: an independent reading of the same guide.

The library refuses every file of this kind, but its map is a reading of the guide like any other. Where we differ on
purpose the difference is in a table with its reason, and a reason that nothing needs any more fails the test too.
"""

import xml.etree.ElementTree as ET

from tests.x12.guides.test_835_999_witness import (
    ENVELOPE,
    MAPS,
    UNLIMITED,
    WRAPPERS,
    differences,
    own_rows,
    theirs_of,
)

MAP = "277.5010.X214.xml"

_EXAMPLES = "The published examples of the guide leave it out, so it is no error."
_RECEIVED = "Payers leave the receipts out; a rule warns of it."
_OLD = "Some payers keep the codes of the 277; that can be read, and a rule warns of it."
_ONCE = "One payer answers one submitter: the guide has the level once."
_PREFIX = "The guide has no name prefix."
_C = "2000A/2000B/2000C"
_D = f"{_C}/2000D"
# What we do otherwise: place, what -> why.
ACCEPTED = {
    ("2000A", "repeat"): _ONCE,
    ("2000A/2200A", "usage"): _RECEIVED,
    ("2000A/2200A", "repeat"): _ONCE,
    ("2000A/2000B/2200B", "usage"): _RECEIVED,
    ("2000A/2000B/2100B/NM1/07", "usage"): "The published examples give a submitter a name suffix.",
    ("2000A/2000B/2200B/STC/02", "usage"): _EXAMPLES,
    ("2000A/2000B/2200B/STC/04", "usage"): _EXAMPLES,
    (_C, "usage"): "A submitter whose whole file is refused gets no level below.",
    (f"{_C}/HL/04", "codes"): "A provider without patients has no level below.",
    (f"{_C}/2100C", "repeat"): "A level has one billing provider.",
    (f"{_C}/2100C/NM1/01", "codes"): _OLD,
    (f"{_C}/2100C/NM1/06", "usage"): _PREFIX,
    (f"{_C}/2200C", "usage"): "The level of the provider is situational, and with it its verdict.",
    (f"{_C}/2200C/TRN/01", "codes"): "The published examples trace a provider with type 2.",
    (f"{_C}/2200C/STC", "usage"): "Payers send the counts alone.",
    (f"{_C}/2200C/STC/04", "usage"): _EXAMPLES,
    (f"{_C}/2200C/REF", "repeat"): "The guide lists up to three further identifiers.",
    (_D, "usage"): "A provider whose claims are all refused at its level has no patients.",
    (f"{_D}/HL/03", "codes"): _OLD,
    (f"{_D}/2100D/NM1/01", "codes"): _OLD,
    (f"{_D}/2100D/NM1/06", "usage"): _PREFIX,
    (f"{_D}/2200D", "usage"): "A patient is named for the sake of its claims.",
    (
        f"{_D}/2200D/STC/01-3",
        "codes",
    ): "A clearinghouse names itself (AY) in its verdicts; the map forgets it.",
    (f"{_D}/2200D/DTP", "usage"): "Missing dates are a rule's warning (X277CA-DATED).",
    (
        f"{_D}/2200D/2220D/SVC/01-1",
        "codes",
    ): "Drug codes (N4) are in the guide's list; the map forgets them.",
    (f"{_D}/2200D/2220D/STC", "repeat"): "A line may have several verdicts, as a claim has.",
    (
        f"{_D}/2200D/2220D/STC/01-3",
        "codes",
    ): "A clearinghouse names itself (AY) in its verdicts; the map forgets it.",
    (f"{_D}/2200D/2220D/STC/02", "usage"): _EXAMPLES,
    (f"{_D}/2200D/2220D/STC/12", "usage"): "A line's free text is read as a claim's is.",
}


def plain_rows():
    """Our rows, without the qualifiers in their names."""
    for (place, usage, repeat), elements in own_rows("277CA"):
        yield place.split(":")[0], usage, repeat, elements


def map_rows():
    def walk(node, path):
        for child in node:
            if child.tag == "segment" and child.get("xid") not in ENVELOPE:
                elements = [theirs_of(e) for e in child if e.tag in {"element", "composite"}]
                yield (
                    path + child.get("xid"),
                    child.findtext("usage"),
                    number(child, "max_use"),
                    elements,
                )
            elif child.tag == "loop" and child.get("xid") in WRAPPERS:
                yield from walk(child, path)
            elif child.tag == "loop":
                id = child.get("xid")
                yield path + id, child.findtext("usage"), number(child, "repeat"), []
                yield from walk(child, f"{path}{id}/")

    yield from walk(ET.parse(MAPS / MAP).getroot(), "")


def number(node, tag):
    text = node.findtext(tag)
    return 0 if text == UNLIMITED else int(text)


def test_the_guide_agrees_with_the_map_or_the_difference_has_a_reason():
    found = set()
    own, theirs = list(plain_rows()), list(map_rows())
    assert [row[0] for row in own] == [row[0] for row in theirs]
    for mine, witness in zip(own, theirs, strict=True):
        place = mine[0]
        found |= {(place, "usage")} if mine[1] != witness[1] else set()
        found |= {(place, "repeat")} if mine[2] != witness[2] else set()
        for at, (a, b) in enumerate(zip(mine[3], witness[3], strict=False), 1):
            found |= {(f"{place}/{at:02}{part}", what) for part, what in differences(a, b)}
    assert found == set(ACCEPTED)
