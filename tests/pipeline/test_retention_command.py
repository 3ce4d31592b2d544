"""An operator sets periods, looks at what would go, holds a claim and a site, exports a site and erases it.

Also tests `cli/installation/hold_command` and `cli/account/site_data`.
"""

import json

import pytest

from clearlane.kernel.retention_kinds import RetentionKind

pytestmark = pytest.mark.one_database


@pytest.fixture
def site(clearlane, within):
    """A vendor with a site."""

    async def open_once(flow):  # which makes the key
        return None

    within(open_once)
    clearlane("vendor add ACME --json")
    clearlane("site add ACME --id LARK-1 --client-id LARK --baa-accepted --json")


def test_periods_are_shown_set_and_bounded(clearlane, site):
    rows = {row["kind"]: row for row in clearlane("retention show --json")}
    assert rows["claims"]["days"] == 3653
    assert rows["files"]["days"] == 90
    assert "4018 days" in clearlane("retention set claims 4018 --vendor ACME")
    shown = clearlane("retention show --json")
    assert {"ACME", "all"} == {row["vendor_key"] for row in shown if row["kind"] == "claims"}
    clearlane("retention set claims 2191", code=2)  # less than HIPAA's six years
    clearlane("retention set files 0", code=2)
    clearlane("retention set claims 4018 --vendor NONE", code=1)
    clearlane("retention set claims default --vendor ACME")
    assert len(clearlane("retention show --json")) == len(RetentionKind)
    report = clearlane("retention dry-run --on 2036-01-01 --json")
    assert {row["count"] for row in report} == {0}
    assert clearlane("retention purge --yes --json")["claims"] == 0


def test_a_hold_is_placed_listed_and_released(clearlane, site):
    clearlane("hold place LARK-1", code=2)
    clearlane("hold place NOWHERE --matter x", code=1)
    held = clearlane("hold place LARK-1 --matter case-7 --json")["hold"]
    [row] = clearlane("hold list --json")
    assert (row["vendor_site_id"], row["matter"], row["claim"]) == ("LARK-1", "case-7", None)
    assert "is released" in clearlane(f"hold release {held} --yes")
    assert clearlane("hold list --json") == []
    assert clearlane("hold list --all --json")[0]["released_at"]
    clearlane("hold release 99 --yes", code=1)


def test_a_site_is_exported_and_erased_with_a_certificate(clearlane, site, tmp_path):
    target, certificate = tmp_path / "out", tmp_path / "erased.json"
    erase = f"site erase LARK-1 --export {target} --certificate {certificate} --yes"
    clearlane("site export NOWHERE " + str(target), code=1)
    clearlane(erase, code=1)  # nothing was exported
    assert "0 claims" in clearlane(f"site export LARK-1 {target}")
    clearlane(erase, code=1)  # it may still submit
    clearlane("site suspend LARK-1 --yes")
    clearlane("site erase LARK-1 --yes", code=2)
    assert "is erased" in clearlane(erase + " --backups-kept 35")
    content = json.loads(certificate.read_text())["content"]
    assert content["vendor_site_id"] == "LARK-1"
    assert content["backups"]["hold_it_until"]
    clearlane(erase, code=2)  # the certificate is there
