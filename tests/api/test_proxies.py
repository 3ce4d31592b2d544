"""Headers of proxies count only from proxies the operator named."""

import pytest

from clearlane.api.http.proxies import TrustedProxies

PROXIES = TrustedProxies(["10.0.0.0/8", "2001:db8::/32"])


def scope(peer: str | None = "10.1.1.1", scheme: str = "http") -> dict:
    return {"scheme": scheme, "client": (peer, 1) if peer else None}


def test_our_own_tls_needs_no_header():
    assert PROXIES.is_encrypted(scope("192.0.2.1", "https"), {})


@pytest.mark.parametrize("peer", ["10.1.1.1", "2001:db8::7", "::ffff:10.1.1.1"])
def test_a_trusted_proxy_may_declare_https(peer):
    assert PROXIES.is_encrypted(scope(peer), {"x-forwarded-proto": "HTTPS"})


@pytest.mark.parametrize("peer", ["192.0.2.1", "2001:db9::7", None, "not-an-address"])
def test_nobody_else_may(peer):
    assert not PROXIES.is_encrypted(scope(peer), {"x-forwarded-proto": "https"})


@pytest.mark.parametrize("header", ["http", "", "https, http", "httpsx"])
def test_the_last_value_of_the_header_counts(header):
    assert not PROXIES.is_encrypted(scope(), {"x-forwarded-proto": header})


def test_without_named_proxies_no_header_counts():
    assert not TrustedProxies().is_encrypted(scope(), {"x-forwarded-proto": "https"})


@pytest.mark.parametrize(
    ("peer", "header", "client"),
    [
        ("192.0.2.1", "198.51.100.9", "192.0.2.1"),
        ("10.1.1.1", "198.51.100.9", "198.51.100.9"),
        ("10.1.1.1", "203.0.113.5, 198.51.100.9", "198.51.100.9"),
        ("10.1.1.1", "198.51.100.9, 10.2.2.2", "198.51.100.9"),
        ("10.1.1.1", "10.3.3.3, 10.2.2.2", "10.3.3.3"),
        ("10.1.1.1", "", "10.1.1.1"),
    ],
)
def test_the_caller_is_the_last_hop_that_is_no_trusted_proxy(peer, header, client):
    assert PROXIES.client_address(scope(peer), {"x-forwarded-for": header}) == client
