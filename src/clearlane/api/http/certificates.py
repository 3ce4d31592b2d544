"""The server's TLS certificate: the operator's own, or one issued by a local authority made on first start.

Keys are files of mode 0600. A local certificate is renewed at start when it is about to expire;
changed files are loaded without a restart. Knows no sockets and no settings.
"""

import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from clearlane.store.vault.private_files import write_private

CERTIFICATE_DAYS = 365
CERTIFICATE_RENEW_DAYS = 30
AUTHORITY_DAYS = 3_650

ALWAYS_NAMED = ("localhost", "127.0.0.1", "::1")
CLOCK_SKEW = timedelta(days=1)


class BadCertificate(Exception):
    """A certificate that cannot be served. The message names the file and says what would pass."""


@dataclass(frozen=True, slots=True)
class CertificatePair:
    """The files of a certificate chain and its key."""

    certificate: Path
    key: Path


AEAD_SUITES, ALL_SUITES = "aead", "all"
# The suites of TLS 1.2 by the setting's word, in OpenSSL's language: forward secrecy and authenticated encryption, or
# what OpenSSL still allows, for programs on systems from before 2016.
CIPHERS = {
    AEAD_SUITES: "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL",
    ALL_SUITES: "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:ECDHE+AES:RSA+AESGCM:RSA+AES:!aNULL:!eNULL:!PSK:!SRP",
}


class TlsCertificate:
    """The server's TLS context and the files it was loaded from."""

    def __init__(self, pair: CertificatePair, suites: str = AEAD_SUITES) -> None:
        """``suites`` is a name of :data:`CIPHERS`, of TLS 1.2; those of TLS 1.3 are all AEAD."""
        self.pair = pair
        self._loaded_versions = self._file_versions()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.options |= ssl.OP_NO_RENEGOTIATION
        self.context.set_ciphers(CIPHERS[suites])
        self.context.set_alpn_protocols(["http/1.1"])
        self.context.load_cert_chain(pair.certificate, pair.key)

    def reload(self, now: datetime) -> None:
        """Load the files again for new connections; a bad pair raises and leaves the old one in use."""
        self._loaded_versions = self._file_versions()
        check_pair(self.pair, now)
        self.context.load_cert_chain(self.pair.certificate, self.pair.key)

    def ends_at(self) -> datetime | None:
        """Return when the certificate in the file ends; None if it cannot be read."""
        return certificate_end(self.pair.certificate)

    @property
    def files_changed(self) -> bool:
        """Whether a file has changed since it was loaded."""
        return self._file_versions() != self._loaded_versions

    def _file_versions(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(_file_version(file) for file in (self.pair.certificate, self.pair.key))


def ensure_local_pair(
    directory: Path, hosts: Iterable[str], now: datetime
) -> tuple[CertificatePair, Path]:
    """Return a certificate for these hosts and the file of the local authority that issued it.

    Makes or renews whatever is missing, about to expire, or issued for other hosts.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority = CertificatePair(directory / "ca.pem", directory / "ca.key")
    server = CertificatePair(directory / "server.pem", directory / "server.key")
    names = tuple(dict.fromkeys((*ALWAYS_NAMED, *(host for host in hosts if host))))
    if not _is_good(authority, now):
        _make_authority(authority, now)
        _make_server(server, authority, names, now)
    elif not _is_good(server, now) or not _serves(server, authority, names):
        _make_server(server, authority, names, now)
    return server, authority.certificate


def certificate_end(file: Path) -> datetime | None:
    """Return when the certificate in a file ends; None if it cannot be read."""
    try:
        return _read_certificate(file).not_valid_after_utc
    except BadCertificate:
        return None


def check_pair(pair: CertificatePair, now: datetime) -> None:
    """Raise :class:`BadCertificate` for a pair that cannot be served."""
    certificate = _read_certificate(pair.certificate)
    key = _read_key(pair.key)
    if _public_bytes(key.public_key()) != _public_bytes(certificate.public_key()):
        raise BadCertificate(
            f"The key in {pair.key} is not the key of the certificate in {pair.certificate}. "
            "Give the two files that were issued together."
        )
    if certificate.not_valid_after_utc <= now:
        day = certificate.not_valid_after_utc.date()
        raise BadCertificate(f"The certificate in {pair.certificate} expired on {day}. Renew it.")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(pair.certificate, pair.key)
    except (ssl.SSLError, OSError):
        raise BadCertificate(
            f"The certificate in {pair.certificate} cannot be served with TLS. "
            "Give a PEM chain, the server's certificate first, with a key of at least 2048 bits "
            "(RSA) or 256 bits (elliptic curve)."
        ) from None


def _read_certificate(file: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(file.read_bytes())[0]
    except OSError:
        raise BadCertificate(f"The certificate file {file} cannot be read.") from None
    except ValueError:
        raise BadCertificate(f"The file {file} holds no certificate in PEM form.") from None


def _read_key(file: Path) -> CertificateIssuerPrivateKeyTypes:
    try:
        key = load_pem_private_key(file.read_bytes(), password=None)
    except OSError:
        raise BadCertificate(f"The key file {file} cannot be read.") from None
    except (ValueError, TypeError):
        raise BadCertificate(
            f"The file {file} holds no unencrypted private key in PEM form."
        ) from None
    return key  # type: ignore[return-value]  # other kinds of key fail the comparison that follows


def _public_bytes(key: object) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined, no-any-return]  # every key that a certificate can have has it


def _is_good(pair: CertificatePair, now: datetime) -> bool:
    """Return whether the pair exists, is valid, and does not expire soon."""
    try:
        check_pair(pair, now + timedelta(days=CERTIFICATE_RENEW_DAYS))
    except BadCertificate:
        return False
    return True


def _serves(server: CertificatePair, authority: CertificatePair, names: tuple[str, ...]) -> bool:
    certificate = _read_certificate(server.certificate)
    try:
        certificate.verify_directly_issued_by(_read_certificate(authority.certificate))
        names_held = certificate.extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        ).value
    except Exception:  # noqa: BLE001  (whatever is wrong with it, a new one is made)
        return False
    return list(names_held) == [_general_name(name) for name in names]


def _make_authority(pair: CertificatePair, now: datetime) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Clearlane local authority")])
    builder = _builder(name, name, key.public_key(), now, AUTHORITY_DAYS)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
    _write(pair, [builder.sign(key, hashes.SHA256())], key)


def _make_server(
    pair: CertificatePair, authority: CertificatePair, names: tuple[str, ...], now: datetime
) -> None:
    issuer, issuer_key = _read_certificate(authority.certificate), _read_key(authority.key)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Clearlane")])
    builder = _builder(subject, issuer.subject, key.public_key(), now, CERTIFICATE_DAYS)
    extensions: list[tuple[x509.ExtensionType, bool]] = [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (_usage(signs_certificates=False), True),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
        (x509.SubjectAlternativeName([_general_name(name) for name in names]), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False),
    ]
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    _write(pair, [builder.sign(issuer_key, hashes.SHA256()), issuer], key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, days: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write(
    pair: CertificatePair, chain: list[x509.Certificate], key: ec.EllipticCurvePrivateKey
) -> None:
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    write_private(pair.key, private)
    write_private(pair.certificate, b"".join(each.public_bytes(Encoding.PEM) for each in chain))
    pair.certificate.chmod(0o644)


def _file_version(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
