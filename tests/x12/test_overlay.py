"""A payer's small differences make a new guide, and the old one stays."""

import pytest

from clearlane.x12.overlay import apply_overlay
from clearlane.x12.reader import parse
from tests.x12.toy import GUIDE, file, replaced


def rules(rows: dict[str, dict[str, object]], data: bytes) -> list[str]:
    guide = apply_overlay(GUIDE, rows)
    return [
        f.rule
        for f in parse(data, choose_guide=lambda *_: guide).all_findings()
        if f.snip in (1, 2)
    ]


@pytest.mark.parametrize(
    ("row", "columns", "rule"),
    [
        ("2300/AMT:F5", {"usage": "R"}, "SEG-MISSING"),
        ("2010AA/REF:0B", {"usage": "R"}, "SEG-MISSING"),
        ("2000C", {"usage": "R"}, "LOOP-MISSING"),
        ("2000B/SBR/03", {"usage": "R"}, "ELM-MISSING"),
        ("2000B/SBR/09", {"codes": ["MB"]}, "ELM-CODE"),
        ("2010AA/NM1/03", {"max": 5}, "ELM-LONG"),
        ("2010AA/NM1/03", {"min": 50}, "ELM-SHORT"),
        ("2300/CLM/05-1", {"codes": ("12", "13")}, "ELM-CODE"),
        ("2400/SV1/05", {"codes": ("12",)}, "ELM-CODE"),
        ("2400", {"repeat": 1}, "LOOP-REPEAT"),
        ("2300/PRV", {"usage": "N"}, ""),
        ("2310B/PRV/03", {"usage": "N"}, "ELM-UNUSED"),
    ],
)
def test_each_column_may_change(row, columns, rule):
    if not rule:
        with pytest.raises(ValueError, match="has no place"):
            apply_overlay(GUIDE, {row: columns})
        return
    found = rules({row: columns}, file())
    assert rule in found
    assert set(found) <= {rule, "ST-EARLIER"}
    assert not [f.rule for f in parse(file(), choose_guide=lambda *_: GUIDE).all_findings()]


def test_several_rows_add_up_and_names_stay():
    guide = apply_overlay(GUIDE, {"2300/AMT:F5": {"usage": "R"}, "2000B/SBR/03": {"usage": "R"}})
    assert (guide.id, guide.kind, guide.unit) == (GUIDE.id, GUIDE.kind, GUIDE.unit)
    data = file(replaced("REF*G1*AUTH", "REF*G1*AUTH"))
    assert len(list(parse(data, choose_guide=lambda *_: guide).all_findings())) == 2


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"2300/CLM/": {"usage": "R"}}, "is no place"),
        ({"9999": {"usage": "R"}}, "has no place"),
        ({"2300/ZZZ": {"usage": "R"}}, "has no place"),
        ({"2300/DTP:999": {"usage": "R"}}, "has no place"),
        ({"2300/CLM/99": {"usage": "R"}}, "has no place"),
        ({"2300/CLM/05-9": {"usage": "R"}}, "has no place"),
        ({"2300/CLM": {"usage": "R"}}, "is so already"),
        ({"2300/CLM/02": {"usage": "R"}}, "is so already"),
        ({"2300/CLM/05-1": {"usage": "R"}}, "is so already"),
        ({"2300/CLM": {"max": 3}}, "may change"),
        ({"2300": {"codes": ("1",)}}, "may change"),
        ({"2300": {}}, "may change"),
        ({"2300": {"usage": "X"}}, "must be R, S or N"),
    ],
)
def test_an_overlay_that_means_nothing_is_refused(rows, words):
    with pytest.raises(ValueError, match=words):
        apply_overlay(GUIDE, rows)
