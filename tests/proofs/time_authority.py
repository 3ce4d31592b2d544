"""A time-stamping authority (RFC 3161) for tests: a root, a certificate of its own, and stamps written byte by byte."""

import hashlib
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from rfc3161_client import _rust

SEQUENCE, SET, INTEGER, OCTETS, NULL, OID, GENERALIZED = 0x30, 0x31, 2, 4, 5, 6, 0x18


def der(tag, *parts):
    body = b"".join(parts)
    size = len(body)
    if size < 128:
        return bytes([tag, size]) + body
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + body


def integer(value):
    return der(INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def oid(dotted):
    first, second, *rest = map(int, dotted.split("."))
    found = bytearray([first * 40 + second])
    for number in rest:
        septets = [number & 127]
        while number := number >> 7:
            septets.insert(0, 0x80 | number & 127)
        found += bytes(septets)
    return der(OID, bytes(found))


SHA256, SHA512 = "2.16.840.1.101.3.4.2.1", "2.16.840.1.101.3.4.2.3"
RSA, SIGNED_DATA, TST_INFO = (
    "1.2.840.113549.1.1.1",
    "1.2.840.113549.1.7.2",
    "1.2.840.113549.1.9.16.1.4",
)
CONTENT_TYPE, MESSAGE_DIGEST = "1.2.840.113549.1.9.3", "1.2.840.113549.1.9.4"


def algorithm(dotted):
    return der(SEQUENCE, oid(dotted), der(NULL))


def attribute(dotted, value):
    return der(SEQUENCE, oid(dotted), der(SET, value))


class TimeAuthority:
    """An authority with a key of its own. ``stamp`` answers a request."""

    def __init__(self, name="Elm Street Time"):
        start = datetime(2020, 1, 1, tzinfo=UTC)
        self._root_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        root_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{name} Root")])
        own_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])

        def builder(subject, key):
            return (
                x509.CertificateBuilder().subject_name(subject).issuer_name(root_name)
                .public_key(key.public_key()).serial_number(x509.random_serial_number())
                .not_valid_before(start).not_valid_after(start + timedelta(days=20_000))
            )  # fmt: skip

        self.root = (
            builder(root_name, self._root_key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._root_key, hashes.SHA256())
        )
        self.certificate = (
            builder(own_name, self._key)
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING]), critical=True
            )
            .sign(self._root_key, hashes.SHA256())
        )

    @property
    def pem(self):
        return self.root.public_bytes(serialization.Encoding.PEM)

    def stamp(self, request, at):
        """Answer a request with a stamp of a moment."""
        asked = _rust.parse_timestamp_request(request)
        imprint = der(SEQUENCE, algorithm(SHA512), der(OCTETS, asked.message_imprint.message))
        info = der(
            SEQUENCE, integer(1), oid("1.3.6.1.4.1.99999.1"), imprint, integer(7),
            der(GENERALIZED, f"{at:%Y%m%d%H%M%S}Z".encode()), integer(asked.nonce),
        )  # fmt: skip
        signed = [
            attribute(CONTENT_TYPE, oid(TST_INFO)),
            attribute(MESSAGE_DIGEST, der(OCTETS, hashlib.sha256(info).digest())),
        ]
        attributes = b"".join(sorted(signed))
        signature = self._key.sign(der(SET, attributes), padding.PKCS1v15(), hashes.SHA256())
        issuer = self.certificate.issuer.public_bytes()
        signer = der(
            SEQUENCE, integer(1), der(SEQUENCE, issuer, integer(self.certificate.serial_number)),
            algorithm(SHA256), der(0xA0, attributes), algorithm(RSA), der(OCTETS, signature),
        )  # fmt: skip
        encoded = self.certificate.public_bytes(serialization.Encoding.DER)
        data = der(
            SEQUENCE, integer(3), der(SET, algorithm(SHA256)),
            der(SEQUENCE, oid(TST_INFO), der(0xA0, der(OCTETS, info))), der(0xA0, encoded),
            der(SET, signer),
        )  # fmt: skip
        token = der(SEQUENCE, oid(SIGNED_DATA), der(0xA0, data))
        return der(SEQUENCE, der(SEQUENCE, integer(0)), token)
