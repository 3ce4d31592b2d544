"""SFTP accounts as values: what an operator may give, and from where they sign in."""

from dataclasses import replace

from clearlane.accounts.sftp_account import (
    PROFILES,
    SftpAccount,
    account_findings,
    normalize_account_name,
)
from clearlane.kernel.ids import SiteId, VendorId
from tests.cases import every_case

GOOD = SftpAccount(name="larkspur", vendor_id=VendorId(1), site_id=SiteId(2))
BAD = {
    "NAME": {"name": "Lark spur"},
    "PROFILE": {"profile": "other"},
    "IN_FOLDER": {"in_folder": "../in"},
    "OUT_FOLDER": {"out_folder": "IN"},
    "NETWORK": {"networks": ("everywhere",)},
    "BYTES_PER_DAY": {"bytes_per_day_max": 0},
    "FILES_PER_DAY": {"files_per_day_max": 10**9},
}


@every_case("location", BAD)
def test_each_value_that_cannot_be_is_named(location):
    [finding] = account_findings(replace(GOOD, **BAD[location]))
    assert finding.location == location


def test_every_fault_is_named_at_once_and_a_good_account_has_none():
    everything = {name: value for fault in BAD.values() for name, value in fault.items()}
    assert {each.location for each in account_findings(replace(GOOD, **everything))} >= {
        "NAME", "PROFILE", "IN_FOLDER", "NETWORK", "BYTES_PER_DAY", "FILES_PER_DAY",
    }  # fmt: skip
    assert account_findings(GOOD) == []
    assert all(not account_findings(replace(GOOD, profile=name)) for name in PROFILES)
    assert normalize_account_name(" LarkSpur ") == "larkspur"


def test_a_password_needs_a_list_of_networks():
    [finding] = account_findings(replace(GOOD, password_hash="$argon2id$"))
    assert finding.location == "NETWORK"
    known = replace(GOOD, password_hash="$argon2id$", networks=("203.0.113.0/24", "2001:db8::1"))
    assert account_findings(known) == []
    assert all(map(known.allows_address, ("203.0.113.7", "2001:db8::1", "::ffff:203.0.113.7")))
    assert not any(map(known.allows_address, ("203.0.114.7", "2001:db8::2", "", "fe80::1%eth0")))
    assert GOOD.allows_address("198.51.100.1")
    assert "argon2" not in repr(known)
