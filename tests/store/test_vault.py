"""The vault: a payload opens for its own row only, and nothing of it is readable elsewhere."""

import asyncio
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select, update

from clearlane.kernel import limits
from clearlane.kernel.ids import Scope
from clearlane.kernel.retention_kinds import KeyClass
from clearlane.store.database.database import Actor, SystemScope
from clearlane.store.database.schema import data_keys
from clearlane.store.database.sql import Statement
from clearlane.store.vault.keys import KeyRefused
from clearlane.store.vault.vault import InvalidSeal, KeyNotLoaded, Vault
from tests.databases import START, make_site
from tests.manual_clock import ManualClock
from tests.store.test_database import CLAIM, a_claim

ALL = SystemScope("a test")
KEYS = Statement(select(data_keys.c.vendor_id, data_keys.c.month).order_by("vendor_id", "month"))
COUNT = Statement(select(func.count()).select_from(data_keys))
MARKER = b"MARKER ROSA ARDEN 1980-02-29 member W123456789"


@pytest.fixture
async def vault(database, place, clock):
    opened = Vault(database, place.keys(), clock)
    await opened.load()
    return opened


@pytest.fixture(scope="module")
async def quick(new_place):
    """One vault for the properties, which need no database of their own."""
    place = await new_place("sqlite")
    database = await place.open()
    opened = Vault(database, place.keys(), ManualClock(START))
    await opened.load()
    await opened.ensure_key(7)
    yield opened
    await database.close()


async def rows(database, statement):
    async with database.read(ALL) as tx:
        return await tx.rows(statement)


async def test_what_is_sealed_opens_again(quick):
    @given(st.binary(max_size=5_000), st.one_of(st.integers(), st.text()))
    def holds(payload, row_id):
        sealed = quick.seal(7, "claims", row_id, payload)
        assert quick.open(7, "claims", row_id, sealed) == payload
        assert quick.open(Scope(7, 1), "claims", row_id, sealed) == payload

    holds()


async def test_a_payload_opens_for_its_own_row_only(quick):
    sealed = quick.seal(7, "claims", 12, MARKER)
    for vendor, table, row_id in (
        (8, "claims", 12), (7, "files", 12), (7, "claims", 13), (7, "claims", "12"),
    ):  # fmt: skip
        with pytest.raises(InvalidSeal):
            quick.open(vendor, table, row_id, sealed)


async def test_several_payloads_open_as_each_alone(quick):
    @given(st.lists(st.tuples(st.text(), st.binary(max_size=2_000)), max_size=5))
    def holds(wanted):
        sealed = [(row_id, quick.seal(7, "claims", row_id, payload)) for row_id, payload in wanted]
        assert quick.open_many(Scope(7, 1), "claims", sealed) == [payload for _, payload in wanted]

    holds()


async def test_among_several_each_payload_opens_for_its_own_row_only(quick):
    sealed = [(row_id, quick.seal(7, "claims", row_id, MARKER)) for row_id in ("1", "2")]
    assert quick.open_many(7, "claims", sealed) == [MARKER, MARKER]
    swapped = [("2", sealed[0][1]), ("1", sealed[1][1])]
    short = [sealed[0], ("2", sealed[1][1][:-1]), ("3", b"")]
    for owner, table, rows in (
        (8, "claims", sealed), (7, "files", sealed), (7, "claims", swapped), (7, "claims", short),
        (7, "claims", [sealed[0], ("2", sealed[1][1][:12])]),
    ):  # fmt: skip
        with pytest.raises(InvalidSeal):
            quick.open_many(owner, table, rows)
    other_key = sealed[1][1][:1] + b"\xff" + sealed[1][1][2:]
    with pytest.raises(KeyNotLoaded):
        quick.open_many(7, "claims", [sealed[0], ("2", other_key)])


async def test_any_change_of_a_payload_is_detected(quick):
    sealed = quick.seal(7, "claims", 1, MARKER)
    for at in range(len(sealed)):
        changed = sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]
        with pytest.raises((InvalidSeal, KeyNotLoaded)):
            quick.open(7, "claims", 1, changed)
    for length in range(len(sealed)):
        with pytest.raises(InvalidSeal):
            quick.open(7, "claims", 1, sealed[:length])


async def test_the_same_payload_is_never_sealed_the_same_and_is_compressed(quick):
    payload = MARKER * 100
    one, two = (quick.seal(7, "claims", 1, payload) for _ in range(2))
    assert one != two
    assert len(one) < len(payload) / 10
    assert b"ROSA" not in one


async def test_a_payload_over_the_limit_is_refused_both_ways(quick, monkeypatch):
    sealed = quick.seal(7, "claims", 1, b"x" * 10_000)
    monkeypatch.setattr(limits, "PAYLOAD_BYTES_MAX", 9_999)
    with pytest.raises(ValueError, match="at most"):
        quick.seal(7, "claims", 1, b"x" * 10_000)
    with pytest.raises(InvalidSeal, match="decompressed"):
        quick.open(7, "claims", 1, sealed)


async def test_a_key_is_made_once_for_a_vendor_and_month(vault, database, clock):
    await asyncio.gather(*(vault.ensure_key(vendor) for vendor in (1, 2, 1, 2, 1)))
    await vault.ensure_key(1)
    found = await rows(database, KEYS)
    assert set(found) == {(1, "2024-03"), (2, "2024-03")}
    sealed = vault.seal(1, "claims", 1, b"march")
    clock.advance(timedelta(days=31))
    await vault.ensure_key(1)
    assert (1, "2024-04") in await rows(database, KEYS)
    later = vault.seal(1, "claims", 1, b"april")
    assert sealed[:9] != later[:9]
    assert vault.open(1, "claims", 1, sealed) == b"march"
    assert vault.open(1, "claims", 1, later) == b"april"


async def test_sealing_without_a_durable_key_is_refused(vault):
    with pytest.raises(KeyNotLoaded):
        vault.seal(99, "claims", 1, b"x")


async def test_a_key_that_was_not_committed_is_not_used(vault, database, place, clock):
    await database.close()
    with pytest.raises(Exception):  # noqa: B017
        await vault.ensure_key(5)
    with pytest.raises(KeyNotLoaded):
        vault.seal(5, "claims", 1, b"x")


async def test_another_nodes_payload_opens_after_its_key_is_loaded(vault, database, place, clock):
    other = Vault(database, place.keys(), clock)
    await other.load()
    await other.ensure_key(3)
    sealed = other.seal(3, "claims", 1, MARKER)
    with pytest.raises(KeyNotLoaded):
        vault.open(3, "claims", 1, sealed)
    async with database.read(Scope(3, 1)) as tx:
        await vault.load_keys_of(tx, [sealed, sealed])
    assert vault.open(3, "claims", 1, sealed) == MARKER

    async def inside_a_job(tx):
        await vault.load_keys_of(tx, [sealed])
        return vault.open(3, "claims", 1, sealed)

    assert await database.write(Scope(3, 1), inside_a_job, actor=Actor("vendor", "x")) == MARKER


async def test_keys_are_loaded_again_after_a_restart(vault, database, place, clock):
    await vault.ensure_key(3)
    sealed = vault.seal(3, "claims", 1, MARKER)
    again = Vault(database, place.keys(), clock)
    await again.load()
    assert again.open(3, "claims", 1, sealed) == MARKER
    assert again.open(3, "claims", 2, again.seal(3, "claims", 2, MARKER)) == MARKER
    await again.ensure_key(3)
    # The keys of the month, one of each class, are used, and no others made.
    assert await rows(database, COUNT) == [(len(KeyClass),)]


async def test_a_key_of_an_earlier_month_is_unwrapped_when_it_is_asked_for(
    vault, database, place, clock
):
    await vault.ensure_key(7)
    first = vault.seal(7, "claims", 1, MARKER)
    clock.advance(timedelta(days=40))
    await vault.ensure_key(7)
    second = vault.seal(7, "claims", 2, MARKER)
    restarted = Vault(database, place.keys(), clock)
    await restarted.load()
    assert restarted.open(7, "claims", 1, first) == restarted.open(7, "claims", 2, second) == MARKER
    is_first = data_keys.c.month == f"{START:%Y-%m}"
    spoil = Statement(update(data_keys).where(is_first).values(wrapped=bytes(60)), system=True)
    await database.write(ALL, lambda tx: tx.run(spoil), actor=Actor("operator", "nora"))
    restarted = Vault(database, place.keys(), clock)
    await restarted.load()
    assert restarted.open(7, "claims", 2, second) == MARKER
    with pytest.raises(KeyRefused, match="was changed in the database"):
        restarted.open(7, "claims", 1, first)


async def test_a_fingerprint_is_equal_for_equal_parts_and_reveals_nothing(quick, vault):
    one = quick.fingerprint(7, "member", "W123", b"1980")
    assert one == quick.fingerprint(Scope(7, 2), "member", "W123", "1980")
    different = {
        quick.fingerprint(8, "member", "W123", "1980"),
        quick.fingerprint(7, "claim", "W123", "1980"),
        quick.fingerprint(7, "member", "W1231980"),
        quick.fingerprint(7, "member", "W1231", "980"),
        quick.fingerprint(7, "member", "", "W123", "1980"),
        vault.fingerprint(7, "member", "W123", "1980"),  # another installation
    }
    assert len(different | {one}) == 7


async def test_the_marker_is_nowhere_in_the_database_files(new_place, clock):
    place = await new_place("sqlite")
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    scope = await make_site(database)
    await vault.ensure_key(scope)
    sealed = vault.seal(scope, "claims", "r1", MARKER)
    claim = a_claim("r1") | {
        "payload": sealed,
        "vendor_claim_hash": vault.fingerprint(scope, "claim", MARKER).hex(),
    }
    await database.write(scope, lambda tx: tx.run(CLAIM, **claim), actor=Actor("vendor", "x"))
    for file in place.data.iterdir():
        content = file.read_bytes()
        assert b"ROSA" not in content
        assert b"W123456789" not in content
    await database.close()
    for file in place.data.iterdir():
        assert b"ROSA" not in file.read_bytes()
