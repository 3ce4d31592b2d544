"""Who gets in, and whose sites are seen."""

import base64
from datetime import UTC, datetime, timedelta

import pytest

from clearlane.accounts.credentials import SecretHash, hash_password
from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.model import Site, SiteState, Vendor, VendorState
from clearlane.kernel.ids import Scope, SiteId, VendorId

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PEPPER = b"pepper" * 6


def header(key: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{key}:{password}".encode()).decode()


def secret(password: str, expires_at: datetime | None = None) -> SecretHash:
    return SecretHash(hash_password(PEPPER, password.encode()), expires_at)


ACME = Vendor(VendorId(1), "ACME", "Acme Practice Software")
BOLT = Vendor(VendorId(2), "BOLT", "Bolt Dental Software")
GONE = Vendor(VendorId(3), "GONE", "Gone", state=VendorState.DISABLED)
NEW = Vendor(VendorId(4), "NEW", "No password yet")
ACME_SITE = Site(SiteId(10), ACME.id, "A-1", "100", "Fernhill Family Practice")
BOLT_SITE = Site(SiteId(20), BOLT.id, "B-1", "200", "Larkspur Dental", state=SiteState.SUSPENDED)
ACCOUNTS = AccountDirectory(
    pepper=PEPPER,
    vendors=[NEW, GONE, BOLT, ACME],
    secrets={
        ACME.id: [secret("old", NOW + timedelta(hours=1)), secret("new")],
        BOLT.id: [secret("bolt")],
        GONE.id: [secret("gone")],
    },
    sites=[BOLT_SITE, ACME_SITE],
)


@pytest.mark.parametrize(
    ("key", "password", "vendor"),
    [
        ("ACME", "new", ACME),
        ("ACME", "old", ACME),
        ("BOLT", "bolt", BOLT),
        ("ACME", "bolt", None),
        ("ACME", "", None),
        ("acme", "new", ACME),
        ("aCmE", "bolt", None),
        ("gone", "gone", None),
        ("", "new", None),
        ("NOBODY", "new", None),
        ("GONE", "gone", None),
        ("NEW", "", None),
    ],
)
def test_a_vendor_gets_in_with_its_own_live_password_only(key, password, vendor):
    assert ACCOUNTS.authenticate(header(key, password), NOW) is vendor


def test_a_rotated_password_opens_until_its_overlap_ends():
    end = NOW + timedelta(hours=1)
    assert ACCOUNTS.authenticate(header("ACME", "old"), end - timedelta(microseconds=1)) is ACME
    assert ACCOUNTS.authenticate(header("ACME", "old"), end) is None
    assert ACCOUNTS.authenticate(header("ACME", "new"), end) is ACME


def test_no_header_and_a_bad_one_let_nobody_in():
    assert ACCOUNTS.authenticate(None, NOW) is None
    assert ACCOUNTS.authenticate("Basic !", NOW) is None


def test_another_pepper_lets_nobody_in():
    moved = AccountDirectory(
        pepper=b"x" * 32, vendors=[BOLT], secrets={BOLT.id: [secret("bolt")]}, sites=[]
    )
    assert moved.authenticate(header("BOLT", "bolt"), NOW) is None


def test_a_foreign_site_looks_like_an_unknown_one():
    assert ACCOUNTS.site(ACME, "A-1") is ACME_SITE
    assert ACCOUNTS.site(ACME, "B-1") is None
    assert ACCOUNTS.site(ACME, "C-1") is None
    assert ACCOUNTS.site(ACME, "a-1") is ACME_SITE
    assert ACCOUNTS.site(BOLT, "a-1") is None
    assert ACCOUNTS.site(BOLT, "A-1") is None


def test_a_site_knows_whose_rows_it_may_touch():
    assert ACME_SITE.scope == Scope(vendor=VendorId(1), site=SiteId(10))


def test_operators_find_vendors_sites_and_live_secrets_by_name():
    assert ACCOUNTS.vendor("GONE") is GONE
    assert ACCOUNTS.vendor("\udc80") is None
    assert ACCOUNTS.any_site("B-1") is BOLT_SITE
    assert ACCOUNTS.any_site("C-1") is None
    assert len(ACCOUNTS.live_passwords(ACME, NOW)) == 2
    assert len(ACCOUNTS.live_passwords(ACME, NOW + timedelta(hours=1))) == 1
    assert ACCOUNTS.live_passwords(NEW, NOW) == []
    assert [vendor.key for vendor in ACCOUNTS.vendors] == ["ACME", "BOLT", "GONE", "NEW"]
    assert [site.vendor_site_id for site in ACCOUNTS.sites] == ["A-1", "B-1"]


def test_a_secret_does_not_print_its_hash():
    assert "hash" not in repr(secret("new"))


def test_a_key_or_site_in_another_case_counts_only_where_it_names_one():
    other = Vendor(id=9, key="acme", name="Another")
    sites = [
        Site(1, 1, "A-1", "C", "One"),
        Site(2, 1, "a-1", "C", "Two"),
        Site(3, 1, "B-1", "C", "Three"),
    ]
    secret = SecretHash(hash_password(PEPPER, b"new"))
    accounts = AccountDirectory(
        pepper=PEPPER, vendors=[ACME, other], secrets={ACME.id: [secret], 9: [secret]}, sites=sites
    )
    assert accounts.authenticate(header("ACME", "new"), NOW) is ACME
    assert accounts.authenticate(header("acme", "new"), NOW) is other
    assert accounts.authenticate(header("Acme", "new"), NOW) is None
    assert accounts.site(ACME, "a-1") is sites[1]
    assert accounts.site(ACME, "b-1") is sites[2]
