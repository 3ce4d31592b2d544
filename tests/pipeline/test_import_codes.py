"""Editions of code lists are imported whole or not at all, compared with the edition before, and taken back."""

from datetime import date, timedelta
from io import BytesIO
from secrets import token_hex

import pytest
from sqlalchemy import update

from clearlane.code_files.columns import CodeRow
from clearlane.code_files.content import CodeFileRefused
from clearlane.code_files.readers import READERS
from clearlane.pipeline.operator.import_codes import (
    NewEdition,
    import_codes,
    purge_tick,
    remove_codes,
)
from clearlane.store.database import schema
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.database.sql import Statement, database_now
from clearlane.store.installation import code_lists
from clearlane.store.installation.code_lists import (
    ask_large_lists,
    list_editions,
    load_code_lists,
)
from clearlane.x12.codes import dated_codes
from clearlane.x12.codes.code_editions import CodeEdition
from tests.contexts import work_context

pytestmark = pytest.mark.one_database

OPERATOR = Actor("operator", "nora")
DAY = timedelta(days=1)
FIRST, LAST = date(2026, 10, 1), date(2027, 9, 30)
CHANGES = [date(year, 10, 1) for year in range(2022, 2027)]
CODES_PER_CHANGE = 100
MAKE_OLD = Statement(update(schema.code_lists).values(changed_at=database_now() - 3600 * 1_000_000))
LETTERS = [f"A{number:03}" for number in range(100)]


def order_file(codes):
    """The order file of ICD-10-CM with these codes."""
    lines = (
        f"{at:05} {code:7} 1 {'Short':60} Long\r\n" for at, code in enumerate(sorted(codes), 1)
    )
    return "".join(lines).encode()


async def imported(database, codes, first=FIRST, last=LAST, *, hash=None, **options):
    hash = hash or token_hex()
    new = NewEdition(list="letters", first_day=first, last_day=last, source="file", hash=hash)
    rows = [code if isinstance(code, CodeRow) else CodeRow(code) for code in codes]
    return await import_codes(database, new, rows, actor=OPERATOR, **options)


async def valid(database, codes, day=FIRST):
    lists = await ask_large_lists(database, await load_code_lists(database), {"letters": codes})
    known = lists.find("letters")
    return {code for code in codes if known and known.is_valid(code, day, day)}


async def editions(database):
    return [one.edition for one in await list_editions(database)]


@pytest.fixture(params=[200_000, 10], ids=["in memory", "large"])
def any_size(request, monkeypatch):
    monkeypatch.setattr(code_lists, "CODES_IN_MEMORY_MAX", request.param)
    monkeypatch.setattr(code_lists, "CODES_PER_PAGE", 30)


@pytest.mark.both_databases
@pytest.mark.usefixtures("any_size")
async def test_a_file_that_lacks_much_of_the_edition_before_is_refused(database):
    await imported(database, LETTERS)
    for codes in (LETTERS[:96], [f"B{number}" for number in range(1000)]):
        with pytest.raises(OperationRefused, match=r"lacks .* of the 100 codes of letters"):
            await imported(database, codes)
    assert await editions(database) == ["2026-10-01"]
    assert len(await valid(database, LETTERS)) == 100
    await imported(database, LETTERS[:97])
    await imported(database, LETTERS[:10], force=True)
    assert len(await valid(database, LETTERS)) == 10


async def test_a_file_without_a_code_of_the_days_is_refused(database):
    ended = CodeRow("A", None, FIRST - DAY)
    for rows in ([], [ended]):
        with pytest.raises(OperationRefused, match="no code that is valid between 2026-10-01"):
            await imported(database, rows, force=True)
    assert await editions(database) == []


@pytest.mark.both_databases
async def test_a_file_that_is_found_to_be_bad_at_its_end_leaves_nothing(database, monkeypatch):
    monkeypatch.setattr(code_lists, "CODES_PER_PAGE", 30)
    await imported(database, LETTERS)

    def rows():
        yield from map(CodeRow, LETTERS)
        raise CodeFileRefused("truncated")

    new = NewEdition(list="letters", first_day=FIRST, last_day=LAST, source="file", hash="cd")
    with pytest.raises(CodeFileRefused):
        await import_codes(database, new, rows(), actor=OPERATOR)
    assert await editions(database) == ["2026-10-01"]


@pytest.mark.both_databases
async def test_a_node_deletes_what_a_dead_import_left(database):
    await code_lists.begin_edition(
        database,
        CodeEdition(0, "letters", "dead", FIRST, LAST, 0),
        source="file",
        hash="",
        actor=OPERATOR,
    )
    context = work_context(database, vault=None)
    await purge_tick(context, None)
    assert await editions(database) == ["dead"]  # it may still be loading
    await database.write(code_lists.SCOPE, lambda tx: tx.run(MAKE_OLD), actor=OPERATOR)
    await purge_tick(context, None)
    assert await editions(database) == []


async def test_the_same_file_for_the_same_days_changes_nothing(database):
    done = await imported(database, LETTERS, hash="ab")
    again = await imported(database, LETTERS, hash="ab")
    assert (again.revision, again.edition) == (None, done.edition)
    assert (await imported(database, LETTERS, FIRST + DAY, hash="ab")).revision is not None


@pytest.mark.both_databases
async def test_an_edition_is_taken_back_to_the_one_before_and_older_ones_go(database):
    for codes in (LETTERS, LETTERS[1:], LETTERS[2:], LETTERS[3:]):
        await imported(database, codes)
    assert await editions(database) == ["2026-10-01.4", "2026-10-01.3"]
    assert len(await valid(database, LETTERS)) == 97
    done = await remove_codes(database, "letters", "", actor=OPERATOR)
    assert done.edition.edition == "2026-10-01.4"
    assert len(await valid(database, LETTERS)) == 98
    assert await remove_codes(database, "letters", "2026-10-01.4", actor=OPERATOR) is None
    assert await remove_codes(database, "letters", "2026-10-01.3", actor=OPERATOR)
    assert await remove_codes(database, "letters", "", actor=OPERATOR) is None
    assert await editions(database) == []


@pytest.mark.both_databases
async def test_codes_begin_and_end_with_the_editions_of_order_files(database, monkeypatch):
    """Two order files a year say the same of each change as the list of the package, in both directions."""
    embedded = dated_codes.load("icd-10-cm")
    monkeypatch.setattr(dated_codes, "find", lambda name: None)
    for change in CHANGES:
        before, after = (
            {code for code, period in embedded if period.overlaps(day, day)}
            for day in (change - DAY, change)
        )
        ended, begun = (
            sorted(some)[:CODES_PER_CHANGE] for some in (before - after, after - before)
        )
        same = sorted(before & after)[:500]
        assert len(begun) == CODES_PER_CHANGE
        for codes, first, last in (
            ([*same, *ended], change - 365 * DAY, change - DAY),
            ([*same, *begun], change, change + 364 * DAY),
        ):
            new = NewEdition(
                list="icd-10-cm", first_day=first, last_day=last, source="order", hash=token_hex()
            )
            rows = READERS["icd-10-cm"].read(BytesIO(order_file(codes)))
            await import_codes(database, new, rows, actor=OPERATOR, force=True)
        known = (await load_code_lists(database))["icd-10-cm"]
        for day in (change - DAY, change):
            for code in (*ended, *begun, *same[:100]):
                assert known.is_valid(code, day, day) == embedded.is_valid(code, day, day)
