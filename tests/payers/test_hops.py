"""The payer ids of an upstream clearinghouse: read from a file, looked up both ways, never guessed."""

import pytest

from clearlane.payers.directory import PayerDirectory
from clearlane.payers.hops import Hop, HopPayer, read_map, write_map
from clearlane.payers.samples import LIVE_PAYERS, SANDBOX_HOP

DIRECTORY = PayerDirectory(LIVE_PAYERS, sandbox=True)
HARBOR, HARBOR_DENTAL = HopPayer("Medical", "HHP20", "H9"), HopPayer("Dental", "HHP20", "H9")
HOP = Hop(
    "NORTHGATE",
    "Northgate",
    [
        HopPayer("Medical", "BLU31", "60054"),
        HopPayer("Medical", "CPR77", "60055"),
        HopPayer("Medical", "QRY52", "60055"),
        HopPayer("Medical", "MDW10", "60056", active=False),
        HARBOR,
        HARBOR_DENTAL,
    ],
)


def test_claims_go_out_under_the_hops_id_of_a_payer_that_is_on_its_map():
    assert HOP.id_of("Medical", "blu31") == "60054"
    assert HOP.id_of("Dental", "BLU31") == HOP.id_of("Medical", "MDW10") == ""
    assert HOP.knows("mdw10")  # for what still comes back
    assert not HOP.knows("FBK40")
    assert len(HOP.served) == len(HOP.payers) - 1


@pytest.mark.parametrize(
    ("id", "name", "meant"),
    [
        ("60054", "", {"BLU31"}),
        ("60056", "", {"MDW10"}),
        ("07700", "", {"CPR77"}),  # our own SvcPayerId
        ("60055", "", {"CPR77", "QRY52"}),  # two payers: the name decides
        ("60055", "COPPER BASIN EMPLOYEES FUND", {"CPR77"}),
        ("", "Quarry Auto", {"QRY52"}),
        ("H9", "", {"HHP20"}),  # one payer for both types
        ("FBK40", "Fernbank Health Cooperative", set()),  # not of this hop
        ("", "", set()),
    ],
)
def test_a_payer_in_a_file_is_found_by_the_hops_id_ours_or_its_name(id, name, meant):
    assert {one.payer_id for one in HOP.named(id, name, DIRECTORY)} == meant


def test_a_map_is_read_with_every_fault_and_written_as_it_reads():
    content = write_map(SANDBOX_HOP.payers).encode()
    assert read_map(content, DIRECTORY).payers == SANDBOX_HOP.payers
    wrong = (
        b"HopPayerId,Type,PayerId\n60054,medical,BLU31\n,vision,BLU31\n6 0,Medical,NONE\n"
        b"1,Medical,bLu31\n\n"
    )
    found = read_map(wrong, DIRECTORY)
    assert found.payers == (HopPayer("Medical", "BLU31", "60054"),)
    shared = read_map(
        b"Type,PayerId,HopPayerId\nMedical,BLU31,7\nDental,MDW1D,7\nMedical,CPR77,7\n", DIRECTORY
    )
    assert [(one.line, one.finding.message) for one in shared.findings] == [
        (4, "BLU31 and CPR77 cannot both have the id 7 there.")
    ]
    assert [(one.line, one.finding.rule, one.finding.location) for one in found.findings] == [
        (3, "HOP001", "Type"),
        (3, "HOP003", "HopPayerId"),
        (4, "HOP002", "PayerId"),
        (4, "HOP003", "HopPayerId"),
        (5, "HOP004", "PayerId"),
    ]
    for nothing in (b"", b"a,b\n1,2\n", b"\xff\xfe1\n", b"Type,PayerId,HopPayerId\n", b'"'):
        (refused,) = read_map(nothing, DIRECTORY).findings
        assert refused.finding.rule == "HOP005"
