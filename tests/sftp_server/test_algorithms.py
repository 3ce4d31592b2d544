"""Public keys that an account may have, and algorithms of today and before."""

import asyncssh
import pytest

from clearlane.sftp_server.algorithms import (
    CURRENT_ALGORITHMS,
    OLDER_ALGORITHMS,
    UnusableKey,
    read_public_key,
)

KEY = asyncssh.generate_private_key("ssh-ed25519")


def test_a_public_key_is_read_without_its_comment():
    line = KEY.export_public_key().decode().strip()
    fingerprint, text = read_public_key(f"{line} rosa@practice\n")
    assert (fingerprint, text) == (KEY.get_fingerprint(), " ".join(line.split()[:2]))


BAD_KEYS = {
    "nonsense": ("not a key", "ssh-keygen"),
    "a private key": (KEY.export_private_key().decode(), "public key"),
    "short": (
        asyncssh.generate_private_key("ssh-rsa", key_size=1024).export_public_key().decode(),
        "2048 bits",
    ),
    "dsa": (asyncssh.generate_private_key("ssh-dss").export_public_key().decode(), "DSA"),
}


@pytest.mark.parametrize("name", BAD_KEYS)
def test_a_key_that_cannot_be_used_is_refused_in_words(name):
    text, words = BAD_KEYS[name]
    with pytest.raises(UnusableKey, match=words):
        read_public_key(text)


def test_older_algorithms_are_more_and_none_of_today_is_missing():
    for name in ("key_exchanges", "ciphers", "macs"):
        today, older = getattr(CURRENT_ALGORITHMS, name), getattr(OLDER_ALGORITHMS, name)
        assert set(today) < set(older)
        assert not any("sha1" in each or "cbc" in each for each in today)
