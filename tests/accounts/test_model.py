"""Names of vendors and sites: what passes, what does not, and what the findings say."""

import pytest

from clearlane.accounts.model import (
    RATE_PER_MINUTE_MAX,
    rate_findings,
    site_findings,
    vendor_findings,
)
from clearlane.kernel import limits

LONGEST = limits.ACCOUNT_IDENTIFIER_CHARACTERS_MAX


@pytest.mark.parametrize("key", ["A", "acme", "ACME-1", "acme_2.eu", "9lives", "x" * LONGEST])
def test_a_key_of_letters_digits_and_marks_passes(key):
    assert vendor_findings(key=key, name="Acme") == []


@pytest.mark.parametrize(
    "key",
    ["", " ", "-a", "a b", "a:b", "a/b", "a&b", "caf\u00e9", "\u0663", "a\n", "x" * (LONGEST + 1)],
)
def test_any_other_key_is_found_with_what_would_pass(key):
    (finding,) = vendor_findings(key=key, name="Acme")
    assert (finding.rule, finding.location) == ("ACC001", "KEY")
    assert "letters, digits" in finding.message


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\x00b", "x" * 121, "\udc80"])
def test_a_name_is_printable_and_has_an_end(name):
    (finding,) = vendor_findings(key="ACME", name=name)
    assert (finding.rule, finding.location) == ("ACC002", "NAME")


def site(**changes):
    good = {
        "vendor_site_id": "S-1",
        "client_id": "100",
        "name": "Larkspur Dental",
        "time_zone": "UTC",
    }
    return site_findings(**(good | changes))


@pytest.mark.parametrize("zone", ["UTC", "America/Chicago", "Europe/Berlin", "Etc/GMT+5"])
def test_an_iana_time_zone_passes(zone):
    assert site(time_zone=zone) == []


@pytest.mark.parametrize(
    "zone", ["", "CST6", "America", "America/", "../etc/passwd", "localtime", "\x00"]
)
def test_any_other_time_zone_is_found(zone):
    (finding,) = site(time_zone=zone)
    assert (finding.rule, finding.location) == ("ACC003", "TIME_ZONE")
    assert "America/Chicago" in finding.message


def test_a_time_zone_in_the_wrong_case_is_named():
    (finding,) = site(time_zone="america/new_york")
    assert finding.message.endswith("Did you mean America/New_York?")


def test_every_fault_of_a_site_is_reported_at_once():
    found = site(vendor_site_id="a b", client_id="", name="", time_zone="Mars/Base")
    assert [f.location for f in found] == ["VENDOR_SITE_ID", "CLIENT_ID", "NAME", "TIME_ZONE"]


@pytest.mark.parametrize("rate", [None, 1, RATE_PER_MINUTE_MAX])
def test_a_limit_is_positive_or_off(rate):
    assert rate_findings(rate) == []


@pytest.mark.parametrize("rate", [0, -1, RATE_PER_MINUTE_MAX + 1])
def test_any_other_limit_is_found(rate):
    assert [f.rule for f in rate_findings(rate)] == ["ACC004"]
