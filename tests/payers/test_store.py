"""The directory in the database: imports happen whole or not at all, and are put on record.

Also tests `store/delivery/payers`.
"""

import asyncio
import json

import pytest
from msgspec.structs import replace
from sqlalchemy import select

from clearlane.payers.model import ERAS, PAYER_TYPES, Payer
from clearlane.payers.samples import LIVE_PAYERS, TEST_PAYERS
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, SystemScope
from clearlane.store.database.sql import Statement
from clearlane.store.delivery.payers import (
    ensure_sandbox_payers,
    import_payers,
    load_payers,
    preview_import,
    record_export,
)
from tests.cases import by_profile

pytestmark = pytest.mark.one_database

NORA = Actor("operator", "nora")
ALL = SystemScope("a test")
AUDIT = Statement(
    select(schema.audit.c.action, schema.audit.c.ids, schema.audit.c.count, schema.audit.c.detail)
    .order_by(schema.audit.c.seq)
)  # fmt: skip
REVISION = Statement(select(schema.revisions.c.revision).where(schema.revisions.c.name == "payers"))

A = Payer("Medical", "Meadow Mutual", "MM010", "MDW10", aliases=("Meadow \u00c9", "MMIC"))
B = Payer("Dental", "Summit Dental", "SD005", "SMD05", "79", "Available", True, True, active=False)


async def load(database, *payers, drop_others=False):
    incoming = list(enumerate(payers, start=2))
    return await import_payers(database, incoming, drop_others=drop_others, actor=NORA)


async def rows(database, statement):
    async with database.read(ALL) as tx:
        return await tx.rows(statement)


async def stored(database, *, sandbox=False):
    return set((await load_payers(database, sandbox)).all)


@pytest.mark.both_databases
async def test_what_is_imported_is_loaded_again_value_by_value(database):
    done = await load(database, A, B)
    assert await stored(database) == {A, B}
    assert await rows(database, REVISION) == [(done.revision,)]
    ((action, ids, count, detail),) = await rows(database, AUDIT)
    assert (action, json.loads(ids), count) == ("payer.import", ["MDW10", "SMD05"], 2)
    assert detail == "added 2, changed 0, removed 0"


async def test_the_same_import_again_changes_and_announces_nothing(database):
    await load(database, A, B)
    again = await load(database, B, A)
    assert again.revision is None
    assert again.changes.unchanged == 2
    assert len(await rows(database, AUDIT)) == 1


@pytest.mark.both_databases
async def test_a_payer_is_replaced_and_its_id_may_change_case(database):
    await load(database, A)
    renamed = replace(A, name="Meadow", payer_id="mdw10", aliases=())
    done = await load(database, renamed)
    assert await stored(database) == {renamed}
    assert len(done.changes.changed) == 1


@pytest.mark.both_databases
async def test_replacing_drops_what_is_not_in_the_file_but_never_a_test_payer(database):
    await ensure_sandbox_payers(database)
    done = await load(database, A, drop_others=True)
    assert {p for p in await stored(database, sandbox=True) if p.is_test} == set(TEST_PAYERS)
    assert [p.payer_id for p in await stored(database)] == ["MDW10"]
    assert done.revision == 2


@pytest.mark.both_databases
async def test_one_bad_row_keeps_all_of_them_out(database):
    await load(database, A)
    done = await load(database, B, replace(A, payer_id="OTHER"))
    assert done.revision is None
    assert [row.line for row in done.changes.findings] == [3]
    assert await stored(database) == {A}
    assert len(await rows(database, AUDIT)) == 1


async def test_a_preview_tells_the_same_and_changes_nothing(database):
    await load(database, A)
    previewed = await preview_import(database, [(2, B)], drop_others=True)
    assert (previewed.added, previewed.removed) == ((B,), (A,))
    assert await stored(database) == {A}


@pytest.mark.both_databases
async def test_a_route_survives_an_import(database):
    await ensure_sandbox_payers(database)
    meadow = next(p for p in LIVE_PAYERS if p.payer_id == "MDW10")
    await load(database, replace(meadow, name="Meadow", has_route=False))
    (found,) = [p for p in await stored(database, sandbox=True) if p.payer_id == "MDW10"]
    assert found.has_route
    assert found.name == "Meadow"


async def test_on_a_sandbox_every_payer_has_a_route(database):
    await load(database, A)
    assert not (await load_payers(database, sandbox=False)).find("MDW10", "Medical").has_route
    assert (await load_payers(database, sandbox=True)).find("MDW10", "Medical").has_route


async def test_a_new_sandbox_starts_with_the_test_payers_and_the_samples(database):
    await ensure_sandbox_payers(database)
    assert await stored(database, sandbox=True) == {*LIVE_PAYERS, *TEST_PAYERS}
    await ensure_sandbox_payers(database)
    assert await rows(database, REVISION) == [(1,)]
    assert len(await rows(database, AUDIT)) == 1


async def test_a_second_start_does_not_undo_what_the_operator_did(database):
    await ensure_sandbox_payers(database)
    await load(database, A, drop_others=True)
    await ensure_sandbox_payers(database)
    assert {p.payer_id for p in await stored(database)} == {"MDW10"}


async def test_a_directory_imported_before_the_first_start_gets_test_payers_only(database):
    await load(database, A)
    await ensure_sandbox_payers(database)
    assert {p.payer_id for p in await stored(database, sandbox=True)} == {
        "MDW10", *(p.payer_id for p in TEST_PAYERS),
    }  # fmt: skip


async def test_an_export_is_put_on_record(database):
    await record_export(database, 14, actor=NORA)
    assert [(row[0], row[2]) for row in await rows(database, AUDIT)] == [("payer.export", 14)]


@pytest.mark.both_databases
async def test_two_imports_at_once_leave_the_directory_of_one_after_the_other(place, clock):
    """Both give the same legacy id to different payers, so the second import must be refused."""
    one, other = await place.open(clock), await place.open(clock)
    try:
        await load(one, B)
        both = await asyncio.gather(load(one, A), load(other, replace(A, payer_id="OTHER")))
        assert sorted(len(done.changes.findings) for done in both) == [0, 1]
        assert len(await stored(one)) == 2
    finally:
        await one.close()
        await other.close()


@pytest.mark.both_databases
async def test_many_payers_come_in_and_load_again(database):
    count = by_profile(thorough=20_000, usual=5_000, quick=2_000)
    many = [
        Payer(PAYER_TYPES[n % 2], f"Plan {n}", f"S{n}", f"P{n}", "", ERAS[n % 3], n % 5 == 0)
        for n in range(count)
    ]
    done = await load(database, *many)
    assert len(done.changes.added) == count
    payers = await load_payers(database, sandbox=False)
    assert payers.payer_list("live", "Medical").count == count // 2
    assert payers.find(f"s{count - 1}", "Dental").name == f"Plan {count - 1}"
