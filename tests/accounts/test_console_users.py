"""Users, codes, passwords and instances: what is pure about the console and proxy login.

Also tests `accounts/users`, `accounts/passwords`, `accounts/instances` and `accounts/totp`.
"""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.accounts import totp
from clearlane.accounts.instances import clean_label, parse_instance_id
from clearlane.accounts.model import Site
from clearlane.accounts.passwords import DUMMY_HASH, hash_user_password, verify_user_password
from clearlane.accounts.users import (
    CONSOLE_CODE_FAILURES_MAX,
    CONSOLE_CODE_LOCK_SECONDS,
    CodeFailures,
    ConsoleUser,
    name_findings,
    normalize_name,
    password_findings,
)
from clearlane.kernel import limits

NOW = datetime(2024, 3, 5, 12, 0, tzinfo=UTC)
# RFC 6238, appendix B (SHA-1), the last six of its eight digits.
RFC_SECRET = b"12345678901234567890"
RFC_CODES = [
    (59, "287082"), (1111111109, "081804"), (1111111111, "050471"),
    (1234567890, "005924"), (2000000000, "279037"), (20000000000, "353130"),
]  # fmt: skip


@pytest.mark.parametrize(("seconds", "code"), RFC_CODES)
def test_codes_are_those_of_the_standard(seconds, code):
    step = totp.step_at(seconds)
    assert totp.code_at(RFC_SECRET, step) == code
    assert totp.matching_step(RFC_SECRET, code, seconds, 0) == step
    assert totp.matching_step(RFC_SECRET, f"{code[:3]} {code[3:]}", seconds, 0) == step


@pytest.mark.parametrize("late", [-30, 0, 30])
def test_a_code_is_taken_half_a_minute_around_its_own(late):
    seconds, code = RFC_CODES[1]
    assert totp.matching_step(RFC_SECRET, code, seconds + late, 0) == totp.step_at(seconds)


@pytest.mark.parametrize("late", [-90, 90])
def test_a_code_is_not_taken_far_from_its_time(late):
    seconds, code = RFC_CODES[1]
    assert totp.matching_step(RFC_SECRET, code, seconds + late, 0) is None


def test_a_code_is_not_taken_again():
    seconds, code = RFC_CODES[1]
    assert totp.matching_step(RFC_SECRET, code, seconds, totp.step_at(seconds)) is None


@given(st.text(max_size=20))
def test_no_text_breaks_the_check_of_a_code(text):
    step = totp.matching_step(RFC_SECRET, text, 1e9, 0)
    assert step is None or totp.matching_step(RFC_SECRET, text, 1e9, step) is None


def test_an_authenticator_can_read_the_address():
    assert totp.provisioning_uri(RFC_SECRET, "nora@fern") == (
        "otpauth://totp/Clearlane%3Anora%40fern?"
        "secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Clearlane"
    )


def test_a_password_is_kept_as_argon2id_with_a_salt_of_its_own():
    kept = hash_user_password("a long and quiet evening", b"s" * 16)
    assert kept.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert kept != hash_user_password("a long and quiet evening", b"t" * 16)
    assert verify_user_password(kept, "a long and quiet evening")
    assert not verify_user_password(kept, "a long and quiet morning")
    assert not verify_user_password("no hash at all", "a long and quiet evening")
    assert DUMMY_HASH.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert hash_user_password("", bytes(limits.CONSOLE_PASSWORD_SALT_BYTES)) == DUMMY_HASH


@pytest.mark.parametrize("name", ["nora", "nora.birch", "nora@fernhill.example", "N1", "a" * 64])
def test_names_that_pass(name):
    assert name_findings(name) == []


@pytest.mark.parametrize("name", ["", " ", "a b", "nöra", ".nora", "a" * 65, "a/b", "a\n"])
def test_names_that_do_not(name):
    assert [f.rule for f in name_findings(name)] == (
        [] if normalize_name(name) == "a" else ["ACC006"]
    )


def test_length_counts_in_a_password():
    assert password_findings("a long and quiet evening", "nora") == []
    assert [f.rule for f in password_findings("x" * 11, "nora")] == ["ACC007"]
    assert [f.rule for f in password_findings("abcdefghijklm" * 20, "nora")] == ["ACC007"]
    assert [f.rule for f in password_findings("ababababababab", "nora")] == ["ACC008"]
    assert [f.rule for f in password_findings("Nora.Birch.2024", "nora.birch.2024")] == ["ACC008"]


def test_a_user_sees_own_sites_of_the_own_vendor():
    mine, another, foreign = Site(1, 1, "A-1", "C", "N"), Site(2, 1, "A-2", "C", "N"), Site(1, 2, "B", "C", "N")  # fmt: skip
    some = ConsoleUser(1, "nora", 1, sites=frozenset({1}))
    every = ConsoleUser(2, "ivo", 1, sites=None)
    assert [some.may_see(site) for site in (mine, another, foreign)] == [True, False, False]
    assert [every.may_see(site) for site in (mine, another, foreign)] == [True, True, False]


def test_wrong_codes_lock_and_time_forgives():
    tries = CodeFailures(0, NOW - timedelta(days=1))
    for _ in range(CONSOLE_CODE_FAILURES_MAX):
        assert not tries.is_locked(NOW)
        tries = tries.after_failure(NOW)
    assert tries.is_locked(NOW)
    later = NOW + timedelta(seconds=CONSOLE_CODE_LOCK_SECONDS)
    assert not tries.is_locked(later)
    assert tries.after_failure(later).failures == 1


@given(st.uuids(), st.booleans(), st.booleans())
def test_a_guid_is_read_in_every_way_it_is_written(guid, braces, upper):
    text = str(guid).upper() if upper else str(guid)
    assert parse_instance_id(f"{{{text}}}" if braces else text) == str(guid)


@given(st.text(alphabet="0123456789abcdefABCDEF-{} ", max_size=40))
def test_what_is_read_has_the_one_form_that_is_kept(text):
    read = parse_instance_id(text)
    assert read is None or (len(read) == 36 and read == read.lower())


@given(st.text())
def test_a_label_can_be_stored_and_shown(text):
    kept = clean_label(text)
    assert len(kept) <= limits.ACCOUNT_NAME_CHARACTERS_MAX
    assert kept.isprintable()
