"""Failed logins are delayed, more with each one, within bounds; vendors are limited by rate.

Also tests `api/http/rates` and `pipeline/access/failed_sign_ins`.
"""

import asyncio
from base64 import b64encode

import pytest

from clearlane.accounts.model import Vendor
from clearlane.api.frame.auth import (
    FAILED_LOGIN_SECONDS_FIRST,
    FAILED_LOGIN_SECONDS_MAX,
    FAILED_LOGINS_FREE_PER_ADDRESS,
    FAILED_LOGINS_FREE_PER_KEY,
    FAILED_LOGINS_PER_ADDRESS_MAX,
    FAILED_LOGINS_PER_KEY_MAX,
    SIGN_INS_PER_NAME_MAX,
    FailedLogins,
    LoginThrottle,
    SignInThrottle,
    TryLimit,
    client_network,
    delay_seconds,
)
from clearlane.api.http.rates import RateLimiter
from tests.patience import until


def basic(key: str) -> str:
    return "Basic " + b64encode(f"{key}:wrong".encode()).decode()


def test_the_first_failures_are_free_and_then_each_waits_longer_up_to_a_limit():
    failures = FailedLogins(free=3, forgiven_seconds=2)
    waits = [failures.count("here", now=0.0) for _ in range(40)]
    assert waits[:3] == [0, 0, 0]
    assert waits[3] == FAILED_LOGIN_SECONDS_FIRST
    assert waits == sorted(waits)
    assert waits[-1] == FAILED_LOGIN_SECONDS_MAX


def test_failures_are_forgiven_with_time():
    failures = FailedLogins(free=3, forgiven_seconds=2)
    for _ in range(10):
        failures.count("here", now=0.0)
    assert failures.count("here", now=1_000.0) == 0


def test_one_source_does_not_slow_another():
    failures = FailedLogins(free=1, forgiven_seconds=2)
    for _ in range(10):
        failures.count("here", now=0.0)
    assert failures.count("there", now=0.0) == 0


def test_the_memory_of_failures_is_bounded(monkeypatch):
    monkeypatch.setattr("clearlane.api.frame.auth.FAILED_LOGIN_SOURCES_MAX", 50)
    failures = FailedLogins(free=1, forgiven_seconds=2)
    for number in range(500):
        failures.count(f"source {number}", now=0.0)
    assert len(failures) == 50


def test_no_count_of_failures_overflows():
    assert delay_seconds(1e9) == FAILED_LOGIN_SECONDS_MAX


async def test_a_key_is_slowed_from_wherever_it_is_tried():
    slowdown = LoginThrottle()
    loop = asyncio.get_running_loop()
    for number in range(FAILED_LOGINS_FREE_PER_KEY):
        await slowdown.delay_vendor_failure(f"192.0.2.{number}", basic("ACME"))
    began = loop.time()
    await slowdown.delay_vendor_failure("192.0.2.99", basic("ACME"))
    assert loop.time() - began >= FAILED_LOGIN_SECONDS_FIRST * 0.9


async def test_an_address_is_slowed_whatever_it_tries():
    slowdown = LoginThrottle()
    loop = asyncio.get_running_loop()
    for number in range(FAILED_LOGINS_FREE_PER_ADDRESS):
        await slowdown.delay_failure("192.0.2.1", b"KEY%d" % number if number % 2 else None)
    began = loop.time()
    for _ in range(4):
        await slowdown.delay_failure("192.0.2.1", None)
    assert loop.time() - began >= FAILED_LOGIN_SECONDS_FIRST


async def test_the_number_of_delayed_requests_is_limited(monkeypatch):
    monkeypatch.setattr("clearlane.api.frame.auth.FAILED_LOGINS_WAITING_MAX", 3)
    slowdown = LoginThrottle()
    for _ in range(60):
        slowdown._keys.count(b"ACME", asyncio.get_running_loop().time())
    waiting = [
        asyncio.create_task(slowdown.delay_vendor_failure("192.0.2.1", basic("ACME")))
        for _ in range(9)
    ]
    await until(lambda: sum(task.done() for task in waiting) == 6)
    assert slowdown.waiting == 3
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert slowdown.waiting == 0


@pytest.mark.slow
async def test_failures_beyond_the_limit_of_a_key_and_an_address_are_refused_at_once():
    slowdown = LoginThrottle()
    answers = [await slowdown.delay_vendor_failure("192.0.2.1", basic("Acme")) for _ in range(10)]
    assert answers == [0] * FAILED_LOGINS_PER_KEY_MAX
    refused = await asyncio.gather(
        *(slowdown.delay_vendor_failure("192.0.2.1", basic("ACME")) for _ in range(1_000))
    )
    assert all(1 <= seconds <= 6 for seconds in refused)
    assert slowdown.waiting == 0
    assert await slowdown.delay_vendor_failure("192.0.2.2", basic("ACME")) == 0
    assert await slowdown.delay_vendor_failure("192.0.2.1", basic("OTHER")) == 0


async def test_an_address_that_tries_many_keys_is_refused_too():
    slowdown = LoginThrottle()
    for number in range(FAILED_LOGINS_PER_ADDRESS_MAX):
        assert await slowdown.delay_vendor_failure("192.0.2.1", basic(f"K{number}")) == 0
    assert await slowdown.delay_vendor_failure("192.0.2.1", basic("ANOTHER")) == 1


async def test_tries_to_sign_in_are_limited_by_name_and_address_and_success_gives_one_back():
    throttle = SignInThrottle()
    for _ in range(30):
        assert throttle.take("192.0.2.1", b"june") == 0
        throttle.give_back("192.0.2.1", b"june")
    waits = [throttle.take("192.0.2.1", b"june") for _ in range(SIGN_INS_PER_NAME_MAX + 1)]
    assert waits[:-1] == [0] * SIGN_INS_PER_NAME_MAX
    assert 50 <= waits[-1] <= 60
    assert throttle.take("192.0.2.9", b"june") == 0
    others = [throttle.take("192.0.2.1", b"%d" % number) for number in range(50)]
    assert (others[0], others[-1] > 0) == (0, True)


def test_the_memory_of_tries_is_bounded(monkeypatch):
    monkeypatch.setattr("clearlane.api.frame.auth.FAILED_LOGIN_SOURCES_MAX", 50)
    tries = TryLimit(10, 60.0)
    for number in range(500):
        tries.take(f"source {number}", now=0.0)
    assert len(tries) == 50


@pytest.mark.parametrize(
    ("address", "other"),
    [("2001:db8::1", "2001:db8::ffff:1"), ("fe80::1%eth0", "fe80::2%eth1"), ("::1", "::2")],
)
def test_neighbors_of_one_ipv6_network_count_together(address, other):
    assert client_network(address) == client_network(other)


@pytest.mark.parametrize("address", ["192.0.2.1", "", "unix:", "2001:db8:0:1::1"])
def test_other_addresses_are_their_own_network(address):
    assert client_network(address) != client_network("192.0.2.2")
    assert client_network(address) != client_network("2001:db8::1")


LIMITED = Vendor(id=1, key="ACME", name="Acme", rate_per_minute=3)


def test_calls_beyond_the_rate_wait_for_the_next():
    rates = RateLimiter()
    assert [rates.take_call(LIMITED, now=0.0) for _ in range(5)] == [0, 0, 0, 20, 20]
    assert rates.take_call(LIMITED, now=19.0) == 1
    assert rates.take_call(LIMITED, now=20.0) == 0
    assert rates.take_call(LIMITED, now=20.0) == 20


def test_a_rested_vendor_has_a_minute_of_calls_and_no_more():
    rates = RateLimiter()
    for _ in range(3):
        rates.take_call(LIMITED, now=0.0)
    assert [rates.take_call(LIMITED, now=10_000.0) for _ in range(4)] == [0, 0, 0, 20]


@pytest.mark.parametrize("calls", [1, 1_000])
def test_without_a_rate_nothing_is_limited(calls):
    rates = RateLimiter()
    free = Vendor(id=2, key="FREE", name="Free")
    assert not any(rates.take_call(free, now=0.0) for _ in range(calls))
