"""Two server processes on one database judge by an edition as soon as the command that imported it has ended."""

import asyncio

import pytest

from tests.api.service_process import ServiceProcess
from tests.api.test_claims import DAY, a_document, post, results

DAYS = ("--from", "2020-01-01", "--to", f"{DAY.year + 1}-12-31")


def node(place, name):
    """A node with a data directory of its own; all have the master key of the first."""
    data, first = place.data / name, place.data / "one" / "master.key"
    if first.exists():
        data.mkdir(mode=0o700)
        (data / "master.key").touch(mode=0o600)
        (data / "master.key").write_bytes(first.read_bytes())
    return ServiceProcess(data, place.url).start()


@pytest.mark.slow
async def test_both_nodes_follow_an_import_and_its_removal_without_a_restart(new_place, tmp_path):
    place = await new_place("postgresql")
    # The sample's procedure is not on this list.
    (tmp_path / "cpt2026.txt").write_text("99999\n")

    def follow():
        nodes = [node(place, "one"), node(place, "two")]
        try:
            account = nodes[0].add_vendor("ACME")
            nodes[0].add_site(account, "A-1", "--baa-accepted")

            def verdicts():
                found = []
                for serving in nodes:
                    with serving.client(account.auth) as client:
                        answer = post(client, a_document(), params={"vendorSiteId": "A-1"})
                        found += [one["Status"] for one in results(answer)]
                return found

            assert verdicts() == ["Accepted", "Accepted"]
            nodes[0].command("codes", "import", "cpt", str(tmp_path / "cpt2026.txt"), *DAYS)
            assert verdicts() == ["NotAccepted", "NotAccepted"]
            nodes[1].command("codes", "remove", "cpt", "--yes")
            assert verdicts() == ["Accepted", "Accepted"]
        finally:
            for serving in nodes:
                assert serving.stop() == 0

    await asyncio.to_thread(follow)
