"""A Basic header is read as clients write it, and nothing in it can hurt."""

import base64
from binascii import b2a_base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.accounts.credentials import (
    AUTHORIZATION_CHARACTERS_MAX,
    Credentials,
    hash_password,
    read_basic,
)
from tests.cases import every_case


def basic(pair: bytes, scheme: str = "Basic") -> str:
    return f"{scheme} {base64.b64encode(pair).decode()}"


KEYS = st.text("ABCxyz019._-", min_size=1, max_size=64)


@given(key=KEYS, password=st.text(max_size=60))
def test_key_and_password_come_back_whatever_the_password_holds(key, password):
    for encoding in ("utf-8", "latin-1"):
        raw = password.encode(encoding, errors="replace")
        assert read_basic(basic(key.encode() + b":" + raw)) == (key.encode(), raw)


@given(st.text(max_size=300) | st.text(max_size=80).map(lambda text: f"Basic {text}"))
def test_no_header_raises(header):
    assert read_basic(header) is None or isinstance(read_basic(header), tuple)


@given(st.binary(max_size=120).map(basic))
def test_no_decoded_bytes_raise(header):
    read = read_basic(header)
    raw = base64.b64decode(header.removeprefix("Basic "))
    assert read == (tuple(raw.split(b":", 1)) if b":" in raw else None)


@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC", "bAsIc"])
def test_the_scheme_has_any_case(scheme):
    assert read_basic(basic(b"ACME:secret", scheme)) == (b"ACME", b"secret")


@pytest.mark.parametrize("tail", ["", " ", "\t", "  "])
def test_blanks_around_the_credentials_and_missing_padding_are_forgiven(tail):
    assert read_basic(f"Basic  QUNNRTpzZWNyZXQ{tail}") == (b"ACME", b"secret")
    assert read_basic(f" Basic QUNNRTpzZWNyZXQ={tail}") == (b"ACME", b"secret")


def test_the_password_starts_after_the_first_colon():
    assert read_basic(basic(b"ACME:a:b::c")) == (b"ACME", b"a:b::c")
    assert read_basic(basic(b":")) == (b"", b"")


@every_case(
    "header",
    [
        None,
        "",
        "Basic",
        "Basic ",
        "Basic QQ",  # no colon
        "Basic A",  # no whole byte
        "Basic ACME:secret",  # not encoded
        "Basic QUNN\nRTpz",
        "Basic QUNNRTp-ZWNyZXQ_",  # the alphabet of URLs
        "Basic QUNNRTpz=ZWNyZXQ=",
        "Basic \u00e9\u00e9\u00e9\u00e9",
        "Basic \udc80",
        "Bearer QUNNRTpzZWNyZXQ=",
        "BasicQUNNRTpzZWNyZXQ=",
        "Digest username=x",
    ],
)
def test_anything_else_is_no_basic_header(header):
    assert read_basic(header) is None


def test_a_header_beyond_the_limit_is_not_even_decoded():
    available = AUTHORIZATION_CHARACTERS_MAX - len("Basic ")
    fits = b2a_base64(b"A:" + b"x" * (available // 4 * 3 - 2), newline=False).decode()
    assert read_basic(f"Basic {fits}") is not None
    assert read_basic(f"Basic {fits}AAAA") is None
    assert read_basic("Basic " + "A" * 10_000_000) is None


def test_a_hash_needs_the_pepper():
    one, other = hash_password(b"a" * 32, b"secret"), hash_password(b"b" * 32, b"secret")
    assert one == hash_password(b"a" * 32, b"secret")
    assert one != other
    assert len(one) == 32


def test_credentials_do_not_print_the_password():
    assert "hunter" not in repr(Credentials("ACME", "hunter", "SITE1"))
