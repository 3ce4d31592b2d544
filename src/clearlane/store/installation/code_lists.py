"""The code lists that an operator has imported: editions, their codes, and the snapshot that every node keeps.

    edition = await begin_edition(...)            # loading: not in force
    await add_codes(database, edition.id, rows)   # a page, as often as needed
    await put_in_force(...)                       # one row, and the revision that running nodes watch

An edition that is loading counts for nothing. Lists of up to ``CODES_IN_MEMORY_MAX`` codes are loaded into memory by every
node; larger ones are asked for the codes of some claims, in one statement (:func:`ask_large_lists`).
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import NamedTuple

from sqlalchemy import BigInteger, Integer, bindparam, delete, func, select, update

from clearlane.store.database.database import (
    Actor,
    Database,
    OperationRefused,
    Row,
    SystemScope,
    Tx,
    find_row,
    list_rows,
    require_row,
)
from clearlane.store.database.schema import code_lists, codes
from clearlane.store.database.schema.code_list_tables import IN_FORCE, LOADING, ON_TRIAL, REMOVED
from clearlane.store.database.sql import (
    Statement,
    among,
    database_now,
    insert_into,
    select_as,
)
from clearlane.store.installation.nodes import bump_revision
from clearlane.x12.codes import dated_codes
from clearlane.x12.codes.code_editions import CodeEdition, CodeLists, EditionCode, combine
from clearlane.x12.codes.dated_codes import DatedCodes

REVISION = "code_lists"
CODES_IN_MEMORY_MAX = 200_000
CODES_PER_PAGE = 2_000
LOADING_MINUTES_MAX = 15
"""An import that added no page for so long is dead."""
SCOPE = SystemScope("code lists belong to the installation")


class StoredEdition(NamedTuple):
    """A row of ``code_lists``."""

    id: int
    list: str
    edition: str
    first_day: str
    last_day: str
    source: str
    hash: str
    state: str
    codes: int
    left_out: int
    """Rows of the file that were no codes."""
    missing: int
    """Codes that were valid before it, and are not in it."""
    changed_at: int

    @property
    def as_edition(self) -> CodeEdition:
        """The edition, as the lists in force know it."""
        first, last = date.fromisoformat(self.first_day), date.fromisoformat(self.last_day)
        return CodeEdition(self.id, self.list, self.edition, first, last, self.codes)


@dataclass(frozen=True, slots=True)
class EditionChange:
    """A change of the lists in force."""

    edition: StoredEdition
    revision: int | None
    """The revision that running nodes must load."""


async def list_editions(database: Database) -> list[StoredEdition]:
    """Return every edition, by list, the one imported last first."""
    async with database.read(SCOPE) as tx:
        return await list_rows(tx, StoredEdition, _ALL)


async def editions_in_force(tx: Tx) -> list[StoredEdition]:
    """Return the editions in force, by list, the first imported first."""
    return await list_rows(tx, StoredEdition, _IN_FORCE)


async def last_days(tx: Tx) -> dict[str, date]:
    """Return until which day each list in force speaks, those of the package included, by list."""
    found = {name: days[1] for name in dated_codes.names() if (days := dated_codes.find_days(name))}
    for one in await editions_in_force(tx):
        last = one.as_edition.last_day
        found[one.list] = max(last, found.get(one.list, last))
    return found


# ---- what nodes load and ask --------------------------------------------------------------------------


async def load_code_lists(database: Database, only: str = "") -> CodeLists:
    """Load the lists in force as one snapshot; if one is named, this one of them."""
    async with database.read(SCOPE) as tx:
        editions = [one for one in await editions_in_force(tx) if only in ("", one.list)]
        by_list = {name: list(own) for name, own in groupby(editions, key=lambda one: one.list)}
        large = {name: own for name, own in by_list.items() if _is_large(own)}
        small = {name: own for name, own in by_list.items() if name not in large}
        rows = {
            one.id: await tx.rows(_CODES, edition=one.id) for own in small.values() for one in own
        }
    # A hundred thousand codes take some tenths of a second, too long for a serving loop.
    imported = await asyncio.to_thread(
        lambda: {name: _combined(name, own, rows) for name, own in small.items()}
    )
    return CodeLists(
        imported, {name: tuple(one.as_edition for one in own) for name, own in large.items()}
    )


async def ask_large_lists(
    database: Database, lists: CodeLists, wanted: Mapping[str, Collection[str]]
) -> CodeLists:
    """Return the lists with the wanted codes of large ones, by list, which one statement finds.

    Lists that are not imported, or that are in memory, are not asked; if no list is left, neither is the database.
    """
    asked = {
        name: lists.large[name] for name, some in wanted.items() if some and name in lists.large
    }
    if not asked:
        return lists
    async with database.read(SCOPE) as tx:
        found = await tx.rows(
            _SOME_CODES,
            editions=[one.id for own in asked.values() for one in own],
            codes=sorted({code for name in asked for code in wanted[name]}),
        )
    rows: dict[int, list[Row]] = {}
    for edition, *row in found:
        rows.setdefault(edition, []).append(tuple(row))
    return lists.with_asked(
        {
            name: combine(
                dated_codes.find(name), [(one, map(_code, rows.get(one.id, ()))) for one in own]
            )
            for name, own in asked.items()
        }
    )


def _is_large(editions: Iterable[StoredEdition]) -> bool:
    # Editions of a list share most of their codes: five years of diagnoses are still one list in memory.
    return any(one.codes > CODES_IN_MEMORY_MAX for one in editions)


def _combined(
    name: str, editions: Sequence[StoredEdition], rows: Mapping[int, list[Row]]
) -> DatedCodes:
    below = dated_codes.find(name)
    return combine(below, [(one.as_edition, map(_code, rows[one.id])) for one in editions])


def _code(row: Row) -> EditionCode:
    code, first, last, attributes = row
    return EditionCode(code, _day(first), _day(last), attributes)


def _day(text: str) -> date | None:
    return date.fromisoformat(text) if text else None


# ---- what an import stores ----------------------------------------------------------------------------


async def begin_edition(
    database: Database, edition: CodeEdition, *, source: str, hash: str, actor: Actor
) -> int:
    """Add an edition that is not in force; return its id."""

    async def job(tx: Tx) -> int:
        return require_row(
            await find_row(
                tx,
                int,
                _BEGIN,
                list=edition.list,
                edition=edition.edition,
                first_day=edition.first_day.isoformat(),
                last_day=edition.last_day.isoformat(),
                source=source,
                hash=hash,
            ),
            "an edition",
        )

    return await database.write(SCOPE, job, actor=actor)


async def add_codes(
    database: Database, edition: int, rows: Sequence[EditionCode], *, actor: Actor
) -> None:
    """Add a page of codes to an edition that is loading; a code that it has for the same days stays as it is."""

    async def job(tx: Tx) -> None:
        _require_loading(await tx.run(_TOUCH, edition=edition))
        await tx.many(_ADD, [_values(edition, row) for row in rows])

    await database.write(SCOPE, job, actor=actor)


async def count_known(database: Database, editions: Sequence[int], wanted: Sequence[str]) -> int:
    """Return how many of these codes are in editions."""
    async with database.read(SCOPE) as tx:
        row = await tx.row(_KNOWN, editions=editions, codes=wanted)
    return int(row[0]) if row else 0


async def put_in_force(
    database: Database,
    edition: int,
    *,
    left_out: int = 0,
    missing: int = 0,
    detail: str = "",
    actor: Actor,
) -> EditionChange:
    """Put an edition that was loaded in force, and let every node load it: one row, in one short transaction.

    ``left_out`` is how many rows of its file were no codes, ``missing`` how many codes of the edition before it lacks.
    """
    count = await count_codes(database, edition)

    async def job(tx: Tx) -> EditionChange:
        switched = await tx.run(
            _SWITCH, edition=edition, count=count, left_out=left_out, missing=missing, to=IN_FORCE
        )
        _require_loading(switched)
        found = require_row(await find_row(tx, StoredEdition, _ONE, id=edition), "an edition")
        tx.audit(
            "codes.import", ids=[found.list], count=found.codes, detail=_summary(found, detail)
        )
        return EditionChange(found, await bump_revision(tx, REVISION))

    return await database.write(SCOPE, job, actor=actor)


async def count_codes(database: Database, edition: int) -> int:
    """Return how many codes an edition has."""
    async with database.read(SCOPE) as tx:
        row = await tx.row(_COUNT, edition=edition)
    return int(row[0]) if row else 0


async def put_on_trial(tx: Tx, edition: int, count: int) -> StoredEdition:
    """Keep an edition that was loaded for a trial; it decides nothing."""
    switched = await tx.run(
        _SWITCH, edition=edition, count=count, left_out=0, missing=0, to=ON_TRIAL
    )
    _require_loading(switched)
    return require_row(await find_row(tx, StoredEdition, _ONE, id=edition), "an edition")


async def end_trial(tx: Tx, edition: int) -> None:
    """Let the edition of a trial go; :func:`purge_removed` deletes it."""
    await tx.run(_END_TRIAL, edition=edition)


async def load_codes(
    database: Database, edition: int
) -> tuple[CodeEdition, list[EditionCode]] | None:
    """Return an edition in any state with all its codes, or None if it is gone."""
    async with database.read(SCOPE) as tx:
        found = await find_row(tx, StoredEdition, _ONE, id=edition)
        rows = await tx.rows(_CODES, edition=edition)
    return None if found is None else (found.as_edition, [_code(row) for row in rows])


async def remove_edition(database: Database, edition: int, *, actor: Actor) -> EditionChange | None:
    """Take an edition out of force; the one before it is in force again. Returns None if it was not in force."""

    async def job(tx: Tx) -> EditionChange | None:
        found = await find_row(tx, StoredEdition, _ONE, id=edition)
        if found is None or not await tx.run(_WITHDRAW, edition=edition):
            return None
        tx.audit("codes.remove", ids=[found.list], count=found.codes, detail=_summary(found))
        return EditionChange(found, await bump_revision(tx, REVISION))

    return await database.write(SCOPE, job, actor=actor)


async def retire_editions(database: Database, editions: Sequence[int], *, actor: Actor) -> None:
    """Delete editions that decide on no day any more, so that no node needs to load the lists again."""

    async def job(tx: Tx) -> None:
        for edition in editions:
            await tx.run(_WITHDRAW, edition=edition)

    if editions:
        await database.write(SCOPE, job, actor=actor)
        await purge_removed(database, actor=actor)


async def drop_edition(database: Database, edition: int, *, actor: Actor) -> None:
    """Delete an edition that is loading and will not be in force, with its codes."""

    async def job(tx: Tx) -> None:
        await tx.run(_ABANDON, edition=edition)

    await database.write(SCOPE, job, actor=actor)
    await purge_removed(database, actor=actor)


async def purge_removed(database: Database, *, actor: Actor) -> int:
    """Delete the editions that were removed and those of dead imports, in pages; return how many there were."""
    gone = await database.write(SCOPE, _find_removed, actor=actor)
    for edition in gone:
        while await database.write(SCOPE, lambda tx: _drop_page(tx, edition), actor=actor):  # noqa: B023
            pass
    return len(gone)


async def _find_removed(tx: Tx) -> list[int]:
    await tx.run(_ABANDON_DEAD, micros=LOADING_MINUTES_MAX * 60_000_000)
    return [id for (id,) in await tx.rows(_GONE)]


async def _drop_page(tx: Tx, edition: int) -> bool:
    """Delete a page of the codes of an edition, with the last page the edition; return whether there are more."""
    page = await tx.row(_PAGE_END, edition=edition, page=CODES_PER_PAGE)
    if page is not None:
        await tx.run(_DROP_PAGE, edition=edition, code=page[0])
        return True
    await tx.run(_DROP_CODES, edition=edition)
    await tx.run(_DROP, id=edition)
    return False


def _require_loading(updated: int) -> None:
    if not updated:
        raise OperationRefused(
            f"The import took no step for {LOADING_MINUTES_MAX} minutes and was removed: import the file again."
        )


def _values(edition: int, row: EditionCode) -> dict[str, object]:
    return {
        "edition": edition,
        "code": row.code,
        "first_day": row.first_day.isoformat() if row.first_day else "",
        "last_day": row.last_day.isoformat() if row.last_day else "",
        "attributes": row.attributes,
    }


def _summary(edition: StoredEdition, detail: str = "") -> str:
    days = f"edition {edition.edition}, {edition.first_day} to {edition.last_day}"
    return ", ".join(filter(None, (days, f"sha256 {edition.hash[:16]}", detail)))


_ROWS = select_as(code_lists, StoredEdition)
_ALL = Statement(_ROWS.order_by(code_lists.c.list, code_lists.c.id.desc()))
_IN_FORCE = Statement(
    _ROWS.where(code_lists.c.state == IN_FORCE).order_by(code_lists.c.list, code_lists.c.id)
)
_ONE = Statement(_ROWS.where(code_lists.c.id == bindparam("id")))
_BEGIN = Statement(
    insert_into(code_lists, "list", "edition", "first_day", "last_day", "source", "hash")
    .values(state=LOADING, codes=0, left_out=0, missing=0, changed_at=database_now())
    .returning(code_lists.c.id)
)
_LOADING = update(code_lists).where(
    code_lists.c.id == bindparam("edition"), code_lists.c.state == LOADING
)
_TOUCH = Statement(_LOADING.values(changed_at=database_now()))
_SWITCH = Statement(
    _LOADING.values(
        state=bindparam("to"),
        codes=bindparam("count"),
        left_out=bindparam("left_out", type_=Integer),
        missing=bindparam("missing", type_=Integer),
        changed_at=database_now(),
    )
)
_ABANDON = Statement(_LOADING.values(state=REMOVED))
_ABANDON_DEAD = Statement(
    update(code_lists)
    .where(
        code_lists.c.state == LOADING,
        code_lists.c.changed_at < database_now() - bindparam("micros", type_=BigInteger),
    )
    .values(state=REMOVED)
)
_END_TRIAL = Statement(
    update(code_lists)
    .where(code_lists.c.id == bindparam("edition"), code_lists.c.state == ON_TRIAL)
    .values(state=REMOVED)
)
_WITHDRAW = Statement(
    update(code_lists)
    .where(code_lists.c.id == bindparam("edition"), code_lists.c.state == IN_FORCE)
    .values(state=REMOVED, changed_at=database_now())
)
_GONE = Statement(select(code_lists.c.id).where(code_lists.c.state == REMOVED))
_DROP = Statement(delete(code_lists).where(code_lists.c.id == bindparam("id")))

_OF_EDITION = codes.c.edition == bindparam("edition")
_CODE = (codes.c.code, codes.c.first_day, codes.c.last_day, codes.c.attributes)
_SOME = (among(codes.c.edition, "editions"), among(codes.c.code, "codes"))
_CODES = Statement(select(*_CODE).where(_OF_EDITION))
_SOME_CODES = Statement(select(codes.c.edition, *_CODE).where(*_SOME))
_KNOWN = Statement(select(func.count(codes.c.code.distinct())).where(*_SOME))
_COUNT = Statement(select(func.count()).where(_OF_EDITION))
_ADD = Statement(
    insert_into(
        codes, "edition", "code", "first_day", "last_day", "attributes"
    ).on_conflict_do_nothing()
)
_PAGE_END = Statement(
    select(codes.c.code)
    .where(_OF_EDITION)
    .order_by(codes.c.code)
    .offset(bindparam("page"))
    .limit(1)
)
_DROP_PAGE = Statement(delete(codes).where(_OF_EDITION, codes.c.code <= bindparam("code")))
_DROP_CODES = Statement(delete(codes).where(_OF_EDITION))
