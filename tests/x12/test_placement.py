"""Fields go to their places and come back.

Also tests `x12/automaton` and `x12/path`.
"""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearlane.kernel import limits
from clearlane.x12 import grammar, tree
from clearlane.x12.automaton import SegmentPlace, compile_guide
from clearlane.x12.writer import placement
from clearlane.x12.writer.encode import format_money
from clearlane.x12.writer.placement import ElementPath, get, parse_path, put
from tests.cases import every_case, full_or_quick
from tests.x12.findings_of import all_findings
from tests.x12.toy import BODY, CLAIM, GUIDE, HEADER, SUBSCRIBER, file, read


def root() -> tree.Loop:
    return next(read(file()).sets()).root


# --- Paths ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2300/CLM/01", ElementPath("2300", 1, "CLM", "", 1, 1, 0)),
        ("2300/CLM/05-1", ElementPath("2300", 1, "CLM", "", 1, 5, 1)),
        ("2300/DTP:431/03", ElementPath("2300", 1, "DTP", "431", 1, 3, 0)),
        ("2300/NTE:ADD#2/02", ElementPath("2300", 1, "NTE", "ADD", 2, 2, 0)),
        ("2310A#2/NM1/03", ElementPath("2310A", 2, "NM1", "", 1, 3, 0)),
        ("2400/DTP:472/period", ElementPath("2400", 1, "DTP", "472", 1, 0, 0)),
    ],
)
def test_paths_are_understood(text, expected):
    assert parse_path(text) == expected


@pytest.mark.parametrize(
    "text", ["", "2300", "2300/CLM", "2300/clm/01", "2300/CLM/1", "2300/CLM/01/02"]
)
def test_what_is_no_path_is_refused(text):
    with pytest.raises(ValueError, match="is not a path"):
        parse_path(text)


@every_case(
    ("where", "value"),
    [
        ("2300/CLM/01", "A1"), ("2300/CLM/05-1", "11"), ("2300/CLM/05-9", ""), ("2300/CLM/20", ""),
        ("2300/DTP:431/03", "20240420"), ("2300/DTP:999/03", ""), ("2300/DTP#2/01", "472"),
        ("2300/DTP:472/period", "20240401-20240402"), ("2300/HI:ABK/02-2", "I10"),
        ("2310B/NM1/03", "BIRCH"), ("2400#2/LX/01", "2"), ("2400#3/LX/01", ""), ("9999/CLM/01", ""),
        ("2300/AMT:F5/02", ""),
    ],
)  # fmt: skip
def test_values_are_got(where, value):
    assert get(root(), where) == value


def test_a_loop_itself_may_be_given():
    (claim,) = root().descendants("2300")
    assert get(claim, "2300/CLM/01") == "A1"


@pytest.mark.parametrize(
    ("where", "value", "row"),
    [
        ("2300/CLM/01", "B2", "CLM*B2*100.5***11:B:1*Y"),
        ("2300/CLM/05-1", "12", "CLM*A1*100.5***12:B:1*Y"),
        ("2300/DTP:431/03", "20240101", "DTP*431*D8*20240101"),
        ("2300/AMT:F5/02", "5", "AMT*F5*5"),
        ("2300/NTE:CER/02", "SURE", "NTE*CER*SURE"),
        ("2300/HI:ABK/03-2", "M545", "HI*ABK:E119*ABF:I10:D8:20240101*:M545"),
        ("2010AA/REF:0B/02", "L1", "REF*0B*L1"),
        ("2010AA/PRV/03", "207Q00000X", "PRV*BI*PXC*207Q00000X"),
        ("2310B/NM1/09", "1234567893", "NM1*82*1*BIRCH*NORA****XX*1234567893"),
    ],
)
def test_values_are_put_in_guide_order(where, value, row):
    tree_root = root()
    put(tree_root, where, value)
    rows = ["*".join(s) for s in tree_root.all_segments()]
    assert row in rows
    assert get(tree_root, where) == value
    fresh = read(file(rows[1:-1]))
    assert {f.rule for f in all_findings(fresh)} <= {"ELM-UNUSED", "ELM-MISSING"}


def test_putting_makes_loops_on_the_way():
    start = tree.Loop(GUIDE.root)
    put(start, "2310B/NM1/09", "1234567893")
    put(start, "2400/LX/01", "1")
    put(start, "2400#2/LX/01", "2")
    put(start, "2310B/PRV/03", "207Q00000X")
    put(start, "2300/HI:ABK/01-2", "E119")
    put(start, "2300/CLM/01", "A1")
    assert ["*".join(s) for s in start.all_segments()] == [
        "HL***20*1", "HL***22", "CLM*A1", "HI*ABK:E119", "NM1*82*******XX*1234567893",
        "PRV*PE*PXC*207Q00000X", "LX*1", "LX*2",
    ]  # fmt: skip


def test_an_empty_value_leaves_no_trailing_separators():
    tree_root = root()
    put(tree_root, "2300/REF:G1/02", "")
    (claim,) = tree_root.descendants("2300")
    assert claim.segment("REF") == ["REF", "G1"]


def test_a_qualifier_that_is_there_stays_when_its_number_is_put():
    tree_root = root()
    put(tree_root, "2310B/NM1/08", "24")
    put(tree_root, "2310B/NM1/09", "911234567")
    assert "NM1*82*1*BIRCH*NORA****24*911234567" in map("*".join, tree_root.all_segments())


def test_what_has_no_place_cannot_be_put():
    for where in ("9999/CLM/01", "2300/ZZZ/01", "2300/DTP:999/03", "2300/DTP:472/period"):
        with pytest.raises(ValueError, match=r"has no|takes an element"):
            put(root(), where, "X")
    with pytest.raises(ValueError, match="has no period"):
        get(root(), "2300/CLM/period")


def test_unplaced_segments_do_not_disturb_the_order():
    data = file([*BODY[:-1], "QQQ*1", BODY[-1]])
    tree_root = next(read(data).sets()).root
    put(tree_root, "2300/AMT:F5/02", "1")
    (claim,) = tree_root.descendants("2300")
    claim.items.append(tree.Loop(GUIDE.root))
    put(tree_root, "2300/QTY:PT/02", "3")
    ids = [item[0] if isinstance(item, list) else item.id for item in claim.items]
    assert ids.index("DTP") < ids.index("AMT") < ids.index("REF")
    assert ids.index("CAS") < ids.index("QTY") < ids.index("HI")


# --- Placements -------------------------------------------------------------------------------------

SUBSCRIBER_ROWS = {
    "level": "2000B/HL/01",
    "parent": "2000B/HL/02",
    "child": "2000B/HL/04",
    "filing": "2000B/SBR/09",
    "group": "2000B/SBR/03",
    "last": "2010BA/NM1/03",
    "first": "2010BA/NM1/04",
    "member": "2010BA/NM1/09",
    "born": "2010BA/DMG/02",
    "sex": "2010BA/DMG/03",
}
SUBSCRIBER_CONSTANTS = {"2000B/SBR/01": "P", "2000B/SBR/02": "18", "2010BA/NM1/02": "1"}
CLAIM_ROWS = {
    "account": "2300/CLM/01",
    "total": "2300/CLM/02",
    "place": "2300/CLM/05-1",
    "frequency": "2300/CLM/05-3",
    "onset": "2300/DTP:431/03",
    "service": "2300/DTP:472/period",
    "authorization": "2300/REF:G1/02",
    "note": "2300/NTE/02",
    "note_2": "2300/NTE#2/02",
    "group": "2300/CAS/01",
    "reason": "2300/CAS/02",
    "adjusted": "2300/CAS/03",
    "reason_2": "2300/CAS/05",
    "adjusted_2": "2300/CAS/06",
    "diagnosis_1": "2300/HI:ABK/01-2",
    "diagnosis_2": "2300/HI:ABK/02-2",
    "diagnosed": "2300/HI:ABK/02-4",
    "rendering": "2310B/NM1/03",
    "rendering_first": "2310B/NM1/04",
    "rendering_npi": "2310B/NM1/09",
    "taxonomy": "2310B/PRV/03",
}
CLAIM_CONSTANTS = {
    "2300/CLM/06": "Y",
    "2300/NTE/01": "ADD",
    "2300/NTE#2/01": "CER",
    "2300/HI:ABK/02-1": "ABF",
    "2300/HI:ABK/02-3": "D8",
    "2310B/NM1/02": "1",
}
LINE_ROWS = {
    "number": "2400/LX/01",
    "procedure": "2400/SV1/01-2",
    "modifier": "2400/SV1/01-3",
    "charge": "2400/SV1/02",
    "units": "2400/SV1/04",
    "place": "2400/SV1/05",
    "pointer_1": "2400/SV1/07-1",
    "pointer_2": "2400/SV1/07-2",
    "day": "2400/DTP:472/period",
    "control": "2400/REF:6R/02",
}
SUBSCRIBER_TABLE = placement.compile_placement(
    GUIDE, "2000B", SUBSCRIBER_ROWS, SUBSCRIBER_CONSTANTS
)
CLAIM_TABLE = placement.compile_placement(GUIDE, "2300", CLAIM_ROWS, CLAIM_CONSTANTS)
LINE_TABLE = placement.compile_placement(GUIDE, "2400", LINE_ROWS, {"2400/SV1/03": "UN"})

SUBSCRIBER_VALUES = {
    "level": "2", "parent": "1", "child": "0", "filing": "CI", "last": "ARDEN", "first": "ROSA",
    "member": "M1", "born": date(1980, 2, 29), "sex": "F",
}  # fmt: skip
CLAIM_VALUES = {
    "account": "A1", "total": Decimal("100.50"), "place": "11", "frequency": "1",
    "onset": date(2024, 4, 20), "service": (date(2024, 4, 1), date(2024, 4, 2)),
    "authorization": "AUTH", "note": "WELL", "group": "CO", "reason": "45", "adjusted": Decimal(10),
    "reason_2": "97", "adjusted_2": Decimal("5.25"), "diagnosis_1": "E119", "diagnosis_2": "I10",
    "diagnosed": date(2024, 1, 1), "rendering": "BIRCH", "rendering_first": "NORA",
    "rendering_npi": "1245319599", "taxonomy": "207Q00000X",
}  # fmt: skip
ONE_DAY = (date(2024, 4, 1), date(2024, 4, 1))
LINES = [
    {"number": "1", "procedure": "99213", "charge": Decimal("100.00"), "units": "1", "pointer_1": "1", "pointer_2": "2", "day": ONE_DAY},
    {"number": "2", "procedure": "99214", "modifier": "25", "charge": Decimal("0.50"), "units": "1", "place": "11", "control": "L2"},
]  # fmt: skip


def test_fields_become_the_claim_they_describe():
    texts = [
        SUBSCRIBER_TABLE.text(SUBSCRIBER_VALUES),
        CLAIM_TABLE.text(CLAIM_VALUES),
        *map(LINE_TABLE.text, LINES),
    ]
    expected = [row.replace("*.5*", "*0.5*") for row in [*SUBSCRIBER, *CLAIM]]
    assert "~".join(texts).split("~") == expected


def test_fields_are_read_back_from_the_tree():
    (subscriber,) = root().descendants("2000B")
    (claim,) = root().descendants("2300")
    assert SUBSCRIBER_TABLE.read(subscriber) == {**SUBSCRIBER_VALUES, "born": "19800229"}
    found = CLAIM_TABLE.read(claim)
    assert found["service"] == "20240401-20240402"
    assert found["total"] == "100.5"
    assert found.keys() == CLAIM_VALUES.keys()
    assert LINE_TABLE.read(claim.loop("2400"))["pointer_2"] == "2"
    assert CLAIM_TABLE.fields == tuple(CLAIM_ROWS)
    assert LINE_TABLE.read(subscriber.loop("2010BA")) == {}


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        ({}, ["CLM******Y"]),
        ({"account": "A1"}, ["CLM*A1*****Y"]),
        ({"place": "11"}, ["CLM*****11:B*Y"]),
        ({"account": "A1", "diagnosis_2": "I10"}, ["CLM*A1*****Y", "HI**ABF:I10:D8"]),
        ({"account": "A1", "note_2": "X"}, ["CLM*A1*****Y", "NTE*CER*X"]),
        ({"account": "A1", "rendering": "B"}, ["CLM*A1*****Y", "NM1*82*1*B"]),
        ({"account": "A1", "taxonomy": "T"}, ["CLM*A1*****Y", "NM1*82*1", "PRV*PE*PXC*T"]),
        ({"account": "A1", "rendering_npi": "N"}, ["CLM*A1*****Y", "NM1*82*1******XX*N"]),
        ({"service": ONE_DAY}, ["CLM******Y", "DTP*472*D8*20240401"]),
    ],
)
def test_what_is_not_filled_is_left_out(values, rows):
    assert CLAIM_TABLE.text(values).split("~") == rows


def test_a_shape_is_worked_out_once():
    table = placement.compile_placement(GUIDE, "2300", CLAIM_ROWS, CLAIM_CONSTANTS)
    first = table.text(CLAIM_VALUES)
    assert first == CLAIM_TABLE.text(CLAIM_VALUES)
    assert table.text({**CLAIM_VALUES, "account": "B2"}) == first.replace("CLM*A1", "CLM*B2")
    assert len(table._shapes) == 1


def test_a_percent_sign_is_only_a_sign():
    table = placement.compile_placement(
        GUIDE, "2300", {"note": "2300/NTE/02", "code": "2300/HI:ABK/01-2"},
        {"2300/NTE/01": "A%D", "2300/HI:ABK/01-1": "A%K"},
    )  # fmt: skip
    assert table.text({"note": "50% %s", "code": "E%"}).split("~")[1:] == [
        "NTE*A%D*50% %s",
        "HI*A%K:E%",
    ]


def test_tables_with_faults_are_refused():
    with pytest.raises(ValueError, match="has no loop"):
        placement.compile_placement(GUIDE, "9999", {})
    with pytest.raises(ValueError, match="not in the scope"):
        placement.compile_placement(GUIDE, "2300", {"a": "2010AA/NM1/03"})
    with pytest.raises(ValueError, match="has no segment"):
        placement.compile_placement(GUIDE, "2300", {"a": "2300/ZZZ/03"})
    with pytest.raises(ValueError, match="same place"):
        placement.compile_placement(GUIDE, "2300", {"a": "2300/CLM/01", "b": "2300/CLM/01"})
    with pytest.raises(ValueError, match="has no period"):
        placement.compile_placement(GUIDE, "2300", {"a": "2300/CLM/period"})
    with pytest.raises(KeyError, match="no place for"):
        CLAIM_TABLE.text({"strange": "1"})


def test_the_memory_of_shapes_is_bounded(monkeypatch):
    monkeypatch.setattr(placement, "SHAPES_REMEMBERED_MAX", 2)
    table = placement.compile_placement(GUIDE, "2300", CLAIM_ROWS)
    for field in CLAIM_ROWS:
        if field != "service":
            table.text({field: "X"})
    assert len(table._shapes) == 2
    assert limits.SHAPES_REMEMBERED_MAX > 2


@settings(max_examples=full_or_quick(60, 6))
@given(st.sets(st.sampled_from(list(CLAIM_ROWS))), st.permutations(list(CLAIM_ROWS)))
def test_any_shape_is_written_in_guide_order_and_read_back(chosen, order):
    full = {**CLAIM_VALUES, "note_2": "SURE"}
    # An HI is identified by its first code, so that one is always written.
    chosen = chosen | {"account", "diagnosis_1"}
    values = {field: full[field] for field in order if field in chosen}
    rows = CLAIM_TABLE.text(values).split("~")
    body = [*HEADER, *BODY[3:8], *SUBSCRIBER, *rows, *CLAIM[-6:]]
    assert "SEG-ORDER" not in [f.rule for f in all_findings(read(file(body)))]
    (claim,) = next(read(file(body)).sets()).root.descendants("2300")
    found = CLAIM_TABLE.read(claim)
    if "note" not in values:
        # The only note is then the first one.
        found.pop("note", None)
        values.pop("note_2", None)
    for field, value in values.items():
        if isinstance(value, Decimal):
            assert found[field] == format_money(value)
        elif isinstance(value, str):
            assert found[field] == value


@pytest.mark.parametrize(("id", "special"), [("HL", "HL"), ("SE", "SE"), ("NM1", "")])
def test_levels_and_the_end_of_a_set_are_places_of_their_own_kind(id, special):
    machine = compile_guide(GUIDE)
    node = grammar.SegmentSpec(id, "A segment", "R", 1, ())
    assert SegmentPlace(node, machine.root, 1).special_id == special


def test_a_loop_that_begins_with_a_loop_is_walked():
    from clearlane.x12.grammar import Guide, loop
    from clearlane.x12.guides.dictionary import seg

    inner = loop(
        "2", "Inner", "R", 0, seg("LX", "Number", "R", 1, "R"), seg("K3", "Text", "S", 1, "R")
    )
    outer = loop("1", "Outer", "R", 0, inner, seg("NTE", "Note", "S", 1, "R=ADD R"))
    guide = Guide(
        "N", "NEST", "837", "HC", "Nested",
        loop("S", "Set", "R", 1, seg("ST", "Start", "R", 1, "R R R"), outer, seg("SE", "End", "R", 1, "R R")),
    )  # fmt: skip
    machine = compile_guide(guide)
    place, (_, opens, _) = machine.find_move(machine.start, ["LX", "1"])
    assert [plan.node.id for plan in opens] == ["1", "2"]
    _, (_, opens, _) = machine.find_move(place, ["LX", "2"])
    assert [plan.node.id for plan in opens] == ["2"]
