"""What an import may change, and what stops it."""

import pytest
from msgspec.structs import replace

from clearlane.payers.merge import merge
from clearlane.payers.model import Payer
from clearlane.payers.samples import TEST_PAYERS


def payer(payer_id: str, svc_payer_id: str = "", type: str = "Medical", **values) -> Payer:
    return Payer(
        type, values.pop("name", "Meadow Mutual"), svc_payer_id or payer_id, payer_id, **values
    )


def lines(*payers: Payer) -> list[tuple[int, Payer]]:
    return list(enumerate(payers, start=2))


def found(existing, *payers, drop_others=False):
    changes = merge(existing, lines(*payers), drop_others=drop_others)
    assert not (changes and changes.findings)
    return [(row.line, row.finding.rule, row.finding.location) for row in changes.findings]


A, B, C = payer("A"), payer("B"), payer("C")


def test_new_payers_are_added_others_changed_and_the_rest_left():
    renamed = replace(B, name="Harbor Health Plan")
    changes = merge([A, B, C], lines(A, renamed, payer("D")), drop_others=False)
    assert changes.added == (payer("D"),)
    assert changes.changed == ((B, renamed),)
    assert changes.removed == ()
    assert changes.unchanged == 1
    assert changes.ids == ["B", "D"]


def test_the_same_file_again_changes_nothing():
    changes = merge([A, B], lines(B, A), drop_others=True)
    assert not changes
    assert changes.unchanged == 2


def test_replacing_drops_live_payers_that_are_not_in_the_file():
    changes = merge([A, B, *TEST_PAYERS], lines(A), drop_others=True)
    assert changes.removed == (B,)
    assert changes.unchanged == 1


def test_a_payer_keeps_its_route_when_its_row_is_imported():
    routed = payer("A", has_route=True)
    assert not merge([routed], lines(payer("A")), drop_others=False)
    changes = merge([routed], lines(payer("A", name="New name")), drop_others=False)
    assert changes.changed[0][1].has_route


def test_an_id_in_another_case_is_the_same_payer():
    changes = merge([payer("abc")], lines(payer("ABC")), drop_others=False)
    assert changes.changed == ((payer("abc"), payer("ABC")),)


def test_one_id_may_serve_both_types():
    assert found([A], payer("A", type="Dental")) == []


@pytest.mark.parametrize(
    "bad",
    [payer("TST01"), payer("tst01", type="Dental"), payer("X", "TST3E"), payer("TST02")],
)
def test_ids_of_test_payers_are_protected(bad):
    (row,) = found(TEST_PAYERS, bad)
    assert row[:2] == (2, "PAY006")


def test_the_same_payer_twice_in_a_file_is_found():
    assert found([], A, B, payer("a", name="Other")) == [(4, "PAY004", "PayerId")]


@pytest.mark.parametrize(
    ("existing", "incoming", "expected"),
    [
        # a legacy id that is another payer's preferred id, both in the file
        (
            [],
            [payer("A"), payer("B", "A")],
            [(2, "PAY005", "PayerId"), (3, "PAY005", "SvcPayerId")],
        ),
        # ... or that payer is there already
        ([A], [payer("B", "a")], [(2, "PAY005", "SvcPayerId")]),
        # a preferred id that is the legacy id of one that is there
        ([payer("B", "A")], [payer("A")], [(2, "PAY005", "PayerId")]),
        # the same legacy id twice
        ([payer("A", "X")], [payer("B", "x")], [(2, "PAY005", "SvcPayerId")]),
        # The id of its institutional claims is nobody else's, and may be its own.
        ([A], [payer("B", institutional_payer_id="a")], [(2, "PAY005", "InstitutionalPayerId")]),
        ([payer("A", institutional_payer_id="X")], [payer("X")], [(2, "PAY005", "PayerId")]),
        ([], [payer("A", "X", institutional_payer_id="x")], []),
    ],
)
def test_an_id_that_would_name_two_payers_of_a_type_is_found(existing, incoming, expected):
    assert found(existing, *incoming) == expected


def test_an_id_whose_other_owner_goes_or_changes_in_the_same_import_is_free():
    assert found([A], payer("B", "A"), drop_others=True) == []
    assert found([payer("A", "X")], payer("A"), payer("B", "X")) == []
    assert found([payer("A", "X")], payer("B", "X", type="Dental")) == []


def test_a_national_id_may_be_shared():
    assert found([payer("A", national_payer_id="79")], payer("B", national_payer_id="79")) == []


def test_a_finding_says_which_payer_and_line_it_is_about():
    changes = merge([], lines(A, payer("B", "A")), drop_others=False)
    assert "payer a on line 2" in changes.findings[1].finding.message
