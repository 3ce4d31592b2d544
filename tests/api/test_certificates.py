"""The local authority, the operator's own certificate, and changing it without a restart."""

import ssl
import stat
from datetime import UTC, datetime, timedelta

import pytest
import trustme
from cryptography import x509

from clearlane.api.http.certificates import (
    AEAD_SUITES,
    ALL_SUITES,
    BadCertificate,
    CertificatePair,
    TlsCertificate,
    check_pair,
    ensure_local_pair,
)
from tests.api.local_server import start_local_server
from tests.api.raw_connection import RawConnection

NOW = datetime.now(UTC)


def read(file):
    return x509.load_pem_x509_certificate(file.read_bytes())


def names(certificate):
    held = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(name.value) for name in held}


def test_the_first_start_makes_an_authority_and_a_certificate(tmp_path):
    pair, ca_file = ensure_local_pair(tmp_path / "tls", ["clearlane.example", "192.0.2.1"], NOW)
    server, authority = read(pair.certificate), read(ca_file)
    server.verify_directly_issued_by(authority)
    assert names(server) == {"localhost", "127.0.0.1", "::1", "clearlane.example", "192.0.2.1"}
    assert timedelta(days=364) < server.not_valid_after_utc - NOW < timedelta(days=366)
    assert timedelta(days=3_600) < authority.not_valid_after_utc - NOW < timedelta(days=3_700)
    usage = server.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [x509.OID_SERVER_AUTH] if hasattr(x509, "OID_SERVER_AUTH") else usage
    assert not server.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_keys_are_for_their_owner_alone(tmp_path):
    ensure_local_pair(tmp_path / "tls", [], NOW)
    modes = {
        file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "tls").glob("*.key")
    }
    assert modes == {"ca.key": 0o600, "server.key": 0o600}


def test_a_second_start_keeps_both(tmp_path):
    pair, ca_file = ensure_local_pair(tmp_path, [], NOW)
    before = pair.certificate.read_bytes(), ca_file.read_bytes()
    ensure_local_pair(tmp_path, [], NOW + timedelta(days=300))
    assert (pair.certificate.read_bytes(), ca_file.read_bytes()) == before


def test_a_certificate_near_its_end_is_renewed_under_the_same_authority(tmp_path):
    pair, ca_file = ensure_local_pair(tmp_path, [], NOW)
    before, authority = pair.certificate.read_bytes(), ca_file.read_bytes()
    ensure_local_pair(tmp_path, [], NOW + timedelta(days=340))
    assert pair.certificate.read_bytes() != before
    assert ca_file.read_bytes() == authority
    read(pair.certificate).verify_directly_issued_by(read(ca_file))


def test_another_host_makes_another_certificate(tmp_path):
    pair, _ = ensure_local_pair(tmp_path, [], NOW)
    ensure_local_pair(tmp_path, ["clearlane.example"], NOW)
    assert "clearlane.example" in names(read(pair.certificate))


@pytest.mark.parametrize("lost", ["ca.key", "ca.pem", "server.key", "server.pem"])
def test_what_is_lost_or_spoilt_is_made_anew(tmp_path, lost):
    ensure_local_pair(tmp_path, [], NOW)
    (tmp_path / lost).write_text("spoilt")
    pair, ca_file = ensure_local_pair(tmp_path, [], NOW)
    check_pair(pair, NOW)
    read(pair.certificate).verify_directly_issued_by(read(ca_file))
    assert "spoilt" not in (tmp_path / lost).read_text()


@pytest.fixture
def own(tmp_path):
    issued = trustme.CA().issue_cert("clearlane.example")
    pair = CertificatePair(tmp_path / "own.pem", tmp_path / "own.key")
    issued.cert_chain_pems[0].write_to_path(pair.certificate)
    issued.private_key_pem.write_to_path(pair.key)
    return pair


def test_an_operators_pair_that_fits_passes(own):
    before = (own.certificate.read_bytes(), own.key.read_bytes())
    check_pair(own, NOW)
    assert (own.certificate.read_bytes(), own.key.read_bytes()) == before


def test_a_pair_that_does_not_fit_is_refused(own, tmp_path):
    other, _ = ensure_local_pair(tmp_path / "tls", [], NOW)
    with pytest.raises(BadCertificate, match="is not the key of the certificate"):
        check_pair(CertificatePair(own.certificate, other.key), NOW)


def test_an_expired_certificate_is_refused_with_its_day(tmp_path):
    pair, _ = ensure_local_pair(tmp_path, [], NOW)
    with pytest.raises(BadCertificate, match=r"expired on \d{4}-\d\d-\d\d"):
        check_pair(pair, NOW + timedelta(days=366))


@pytest.mark.parametrize("part", ["certificate", "key"])
def test_a_missing_or_odd_file_is_refused_by_name(own, part):
    file = getattr(own, part)
    file.write_text("nothing of the kind")
    with pytest.raises(BadCertificate, match=f"{file.name} holds no "):
        check_pair(own, NOW)
    file.unlink()
    with pytest.raises(BadCertificate, match=f"{file.name} cannot be read"):
        check_pair(own, NOW)


def test_a_key_that_is_encrypted_is_refused(own):
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(own.key.read_bytes(), None)
    own.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    with pytest.raises(BadCertificate, match="unencrypted"):
        check_pair(own, NOW)


def test_only_tls_1_2_and_later_is_spoken(own):
    assert TlsCertificate(own).context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_tls_1_2_has_authenticated_suites_only_unless_a_setting_allows_others(own):
    aead, every = (
        list(TlsCertificate(own, suites).context.get_ciphers())
        for suites in (AEAD_SUITES, ALL_SUITES)
    )
    assert all(suite["aead"] for suite in aead)
    assert all(suite["kea"] in {"kx-ecdhe", "kx-any"} for suite in aead)
    assert not all(suite["aead"] for suite in every)


def shown_by(local_server, ca_file):
    with RawConnection(local_server.server.port, ca_file) as connection:
        return connection.socket.getpeercert()["serialNumber"]


def test_a_changed_certificate_is_shown_without_a_restart(tmp_path):
    local_server = start_local_server(tmp_path)
    try:
        first = shown_by(local_server, local_server.ca_file)
        assert not local_server.certificate.files_changed
        (tmp_path / "tls" / "server.pem").unlink()
        ensure_local_pair(tmp_path / "tls", [], NOW)
        assert local_server.certificate.files_changed
        local_server.certificate.reload(NOW)
        assert not local_server.certificate.files_changed
        assert shown_by(local_server, local_server.ca_file) != first
    finally:
        local_server.stop()


def test_a_bad_change_leaves_the_old_certificate(tmp_path):
    local_server = start_local_server(tmp_path)
    try:
        first = shown_by(local_server, local_server.ca_file)
        (tmp_path / "tls" / "server.key").write_text("spoilt")
        with pytest.raises(BadCertificate):
            local_server.certificate.reload(NOW)
        assert shown_by(local_server, local_server.ca_file) == first
    finally:
        local_server.stop()
