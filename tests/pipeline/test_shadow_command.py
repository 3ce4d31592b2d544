"""`clearlane shadow report`, as an operator types it: it names claims by their ids, and nothing else of them."""

import csv
from io import StringIO

import pytest

from tests.claims.answers import patient, status
from tests.pipeline.test_process_file import Channel, a_claim, a_file, a_set


@pytest.fixture
def compared(within):
    """Two claims of a shadow file, of which the other clearinghouse rejected one."""

    async def compare(flow):
        channel = Channel(flow)
        await channel.process(a_file(a_set(a_claim(1), a_claim(2))), shadow=True)
        answer = status(
            patient("A-1", "A2:20:PR*20261102*WQ*150"), patient("A-2", "A7:164:IL*20261102*U*150")
        )
        await channel.process(answer, shadow=True)

    within(compare)


@pytest.mark.usefixtures("compared")
def test_the_report_has_a_line_for_each_claim_and_the_counts(clearlane):
    (site,) = clearlane("site list --json")
    rows = clearlane(f"shadow report --site {site['id']} --json")
    assert {one["vendor_claim_id"]: one["comparison"] for one in rows} == {
        "A-1": "equal", "A-2": "only_we_accept",
    }  # fmt: skip
    said = clearlane("shadow report")
    assert "Rejected by them, accepted by us" in said
    assert "2 claims" in said
    assert "ARDEN" not in said
    text = clearlane("shadow report --differences --csv")
    (row,) = csv.DictReader(StringIO(text))
    assert (row["vendor_claim_id"], row["their_codes"], row["x12_differences"]) == (
        "A-2", "A7:164:IL", "",
    )  # fmt: skip
