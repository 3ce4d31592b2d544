"""Code lists that an operator has imported, on both databases: one row switches an edition, and every node follows.

Also tests `store/database/schema/code_list_tables`.
"""

from datetime import date, timedelta

import pytest
from sqlalchemy import bindparam, func, select, update

from clearlane.store.database import schema
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.database.sql import Statement, database_now
from clearlane.store.installation import code_lists
from clearlane.store.installation.code_lists import (
    REVISION,
    SCOPE,
    add_codes,
    ask_large_lists,
    begin_edition,
    count_known,
    drop_edition,
    last_days,
    list_editions,
    load_code_lists,
    purge_removed,
    put_in_force,
    remove_edition,
)
from clearlane.store.installation.nodes import NodeRegistration
from clearlane.x12.codes import dated_codes
from clearlane.x12.codes.code_editions import CodeEdition, EditionCode

OPERATOR = Actor("operator", "nora")
FIRST, LAST = date(2026, 10, 1), date(2027, 9, 30)
COUNT_CODES = Statement(select(func.count()).select_from(schema.codes))
SILENCE = Statement(
    update(schema.code_lists)
    .where(schema.code_lists.c.id == bindparam("edition"))
    .values(changed_at=database_now() - 3600 * 1_000_000)
)


async def loading(database, *codes, list="letters", first=FIRST, last=LAST):
    edition = CodeEdition(0, list, f"{first}", first, last, 0)
    id = await begin_edition(database, edition, source="file", hash="ab" * 32, actor=OPERATOR)
    rows = [EditionCode(code, None, None) for code in codes]
    await add_codes(database, id, rows, actor=OPERATOR)
    return id


async def imported(database, *codes, **edition):
    id = await loading(database, *codes, **edition)
    return await put_in_force(database, id, actor=OPERATOR)


async def valid(database, *codes, day=FIRST, list="letters"):
    lists = await ask_large_lists(database, await load_code_lists(database), {list: codes})
    known = lists.find(list)
    return sorted(code for code in codes if known and known.is_valid(code, day, day))


async def codes_stored(database):
    async with database.read(SCOPE) as tx:
        return (await tx.row(COUNT_CODES))[0]


async def test_an_edition_counts_once_it_is_in_force_and_no_longer_when_it_is_removed(database):
    before = await imported(database, "A", "B")
    after = await loading(database, "B", "C", "C")
    assert await valid(database, "A", "B", "C") == ["A", "B"]
    assert (await put_in_force(database, after, actor=OPERATOR)).edition.codes == 2
    assert await valid(database, "A", "B", "C") == ["B", "C"]
    assert await valid(database, "A", "B", "C", day=LAST + timedelta(days=1)) == []
    done = await remove_edition(database, after, actor=OPERATOR)
    assert done.revision == before.revision + 2
    assert await valid(database, "A", "B", "C") == ["A", "B"]
    assert await remove_edition(database, after, actor=OPERATOR) is None


async def test_a_large_list_is_asked_in_one_statement(database, monkeypatch):
    monkeypatch.setattr(code_lists, "CODES_IN_MEMORY_MAX", 2)
    await imported(database, "A", "B", "C")
    await imported(database, "B", "D", first=FIRST + timedelta(days=1))
    await imported(database, "1", list="digits")
    lists = await load_code_lists(database)
    assert lists.find("letters") is None
    assert await ask_large_lists(database, lists, {"digits": ["1"], "letters": []}) is lists
    asked = (await ask_large_lists(database, lists, {"letters": ["A", "D", "X"]}))["letters"]
    assert [code for code, _ in asked] == ["A", "D"]
    assert asked.is_valid("A", FIRST, FIRST)
    assert not asked.is_valid("A", LAST, LAST)
    assert asked.is_valid("D", LAST, LAST)
    assert asked.covers(FIRST)
    assert await valid(database, "A", "B", "D", day=LAST) == ["B", "D"]


async def test_a_code_of_an_edition_has_its_own_days_and_attributes(database):
    id = await loading(database)
    row = EditionCode("A", FIRST + timedelta(days=2), None, "adult male")
    await add_codes(database, id, [row], actor=OPERATOR)
    await put_in_force(database, id, actor=OPERATOR)
    (period,) = (await load_code_lists(database))["letters"].periods("A")
    assert period == (FIRST + timedelta(days=2), LAST, {"adult", "male"})


async def test_what_an_import_leaves_behind_is_removed_in_pages(database, monkeypatch):
    monkeypatch.setattr(code_lists, "CODES_PER_PAGE", 2)
    kept = await imported(database, "A")
    dead = await loading(database, *"ABCDE")
    live = await loading(database, "A", "B")
    async with database.read(SCOPE) as tx:
        assert await tx.row(COUNT_CODES) == (8,)
    await database.write(SCOPE, lambda tx: tx.run(SILENCE, edition=dead), actor=OPERATOR)
    assert await purge_removed(database, actor=OPERATOR) == 1
    assert [one.id for one in await list_editions(database)] == [live, kept.edition.id]
    assert await codes_stored(database) == 3
    with pytest.raises(OperationRefused, match="import the file again"):
        await add_codes(database, dead, [EditionCode("F", None, None)], actor=OPERATOR)
    with pytest.raises(OperationRefused, match="import the file again"):
        await put_in_force(database, dead, actor=OPERATOR)
    await drop_edition(database, live, actor=OPERATOR)
    assert await codes_stored(database) == 1


async def test_a_list_speaks_until_its_last_day_embedded_or_imported(database):
    embedded = dated_codes.load("icd-10-cm").last_day
    await imported(database, "A", list="icd-10-cm", first=date(2020, 1, 1), last=date(2020, 12, 31))
    await imported(database, "A", last=FIRST)
    await imported(database, "A")
    async with database.read(SCOPE) as tx:
        found = await last_days(tx)
    assert (found["icd-10-cm"], found["letters"]) == (embedded, LAST)


async def test_codes_that_editions_have_are_counted_once(database):
    ids = [(await imported(database, *codes)).edition.id for codes in ("AB", "BC")]
    assert await count_known(database, ids, ["B", "C", "X"]) == 2


async def test_every_node_loads_a_change_of_a_list_without_a_restart(database, place):
    seen = {}

    def reload(name):
        async def load():
            seen[name] = await load_code_lists(database)

        return load

    nodes = [
        NodeRegistration(database, id=id, role="serve", heartbeat_seconds=60, keys=place.keys())
        for id in ("n1", "n2")
    ]
    for each in nodes:
        await each.watch(REVISION, reload(each.id))
    change = await imported(database, "A")
    for each in nodes:
        assert await each.reload_changed() == [REVISION]
        assert seen[each.id]["letters"].is_valid("A", FIRST, FIRST)
    await remove_edition(database, change.edition.id, actor=OPERATOR)
    for each in nodes:
        await each.reload_changed()
        assert seen[each.id].find("letters") is None
