"""Import an edition of a code list from its publisher's file, and take it back.

The file is untrusted, and may be long. Its codes are stored in pages, in an edition that is not in force; only if the file
was read to its end, and has most codes of the edition before, one short transaction puts the edition in force. Whatever
happens before that leaves the lists in force as they are, and what was stored is deleted.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence, Sized
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import NamedTuple

from clearlane.code_files.columns import CodeRow
from clearlane.engine.workflows import WorkSteps
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, Database, OperationRefused, StoreFault
from clearlane.store.database.schema.code_list_tables import IN_FORCE
from clearlane.store.installation import code_lists
from clearlane.store.installation.code_lists import EditionChange, StoredEdition
from clearlane.x12.codes.code_editions import CodeEdition, EditionCode, hidden

NAME, EVERY = "remove-dead-imports", "0 41 * * * *"
MISSING_PERCENT_MAX = 3
"""How much of the edition before a file may lack: more is damaged, truncated, or another list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEdition:
    """An edition that is to be imported."""

    list: str
    first_day: date
    last_day: date
    source: str
    """The name of the file."""
    hash: str
    """The SHA-256 hash of the file, in hexadecimal digits."""


async def import_codes(
    database: Database,
    new: NewEdition,
    rows: Iterable[CodeRow],
    *,
    actor: Actor,
    force: bool = False,
    left_out: Sized = (),
    show: Callable[[], None] = lambda: None,
) -> EditionChange:
    """Store the codes of a file and put them in force. ``force`` takes a file that lacks much of the edition before.

    ``left_out`` are the rows of the file that were no codes, once ``rows`` is read.

    :class:`OperationRefused` says why nothing changed; so does what ``rows`` raises. If the last import was the same file
    for the same days, nothing changes and there is no revision to wait for.
    """
    await code_lists.purge_removed(database, actor=actor)
    editions = [one for one in await code_lists.list_editions(database) if one.list == new.list]
    in_force = [one for one in editions if one.state == IN_FORCE]
    if in_force and _is_same(in_force[0], new):
        return EditionChange(in_force[0], None)
    async with loaded_edition(database, new, rows, actor=actor, force=force, show=show) as loaded:
        done = await code_lists.put_in_force(
            database,
            loaded.id,
            left_out=len(left_out),
            missing=loaded.missing,
            detail="forced" if force else "",
            actor=actor,
        )
    newest_first = [one.as_edition for one in (done.edition, *in_force)]
    # The latest of those that decide on no day is kept: a removal goes back to it.
    outdated = [one.id for one in hidden(newest_first)][1:]
    await code_lists.retire_editions(database, outdated, actor=actor)
    return done


class LoadedEdition(NamedTuple):
    """An edition that was stored and checked, and decides nothing yet."""

    id: int
    missing: int
    """Codes that were valid before it, and are not in it."""


@asynccontextmanager
async def loaded_edition(
    database: Database,
    new: NewEdition,
    rows: Iterable[CodeRow],
    *,
    actor: Actor,
    force: bool = False,
    show: Callable[[], None] = lambda: None,
) -> AsyncIterator[LoadedEdition]:
    """Store the codes of a file in an edition that decides nothing, and check them; give it to who uses it.

    What fails here or there deletes what was stored.
    """
    editions = [one for one in await code_lists.list_editions(database) if one.list == new.list]
    in_force = [one for one in editions if one.state == IN_FORCE]
    before = await _load_before(database, new, in_force)
    edition = CodeEdition(
        0, new.list, _free_name(new, editions), new.first_day, new.last_day, codes=0
    )
    id = await code_lists.begin_edition(
        database, edition, source=new.source, hash=new.hash, actor=actor
    )
    try:
        await _store(database, id, new, rows, before, actor=actor, show=show)
        before.require_codes(new)
        if not force:
            before.require_most(new)
        yield LoadedEdition(id, before.missing)
    except BaseException:
        with suppress(StoreFault):  # if the database fails, a node deletes it later
            await code_lists.drop_edition(database, id, actor=actor)
        raise


async def remove_codes(
    database: Database, list: str, edition: str, *, actor: Actor
) -> EditionChange | None:
    """Take an edition out of force, the one imported last if none is named; None if there is no such edition."""
    for one in await code_lists.list_editions(database):
        if one.list == list and one.state == IN_FORCE and edition in ("", one.edition):
            done = await code_lists.remove_edition(database, one.id, actor=actor)
            await code_lists.purge_removed(database, actor=actor)
            return done
    return None


async def purge_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Delete what imports that died have left, and editions whose removal did not end."""
    await code_lists.purge_removed(context.database, actor=context.actor)


class _EditionBefore:
    """The codes that a new edition is compared with: those that are valid at its beginning by the list in force."""

    def __init__(self, codes: frozenset[str], large: StoredEdition | None) -> None:
        self._codes, self._large = codes, large
        self._size = len(codes) if large is None else large.codes
        self._found: set[str] = set()
        self._count = 0
        self._valid = 0

    async def add(self, database: Database, codes: Sequence[str]) -> None:
        """Count the codes of a page of the new edition."""
        self._valid += len(codes)
        if self._large is not None:
            self._count += await code_lists.count_known(database, [self._large.id], codes)
        else:
            self._found.update(self._codes.intersection(codes))

    @property
    def missing(self) -> int:
        """How many codes of the edition before were not counted."""
        return self._size - self._count - len(self._found)

    def require_codes(self, new: NewEdition) -> None:
        """Refuse an edition without codes."""
        if not self._valid:
            raise OperationRefused(
                f"{new.source} has no code that is valid between {new.first_day} and {new.last_day}. Nothing is imported."
            )

    def require_most(self, new: NewEdition) -> None:
        """Refuse an edition that lacks too many codes of the edition before."""
        missing = self.missing
        if missing * 100 > self._size * MISSING_PERCENT_MAX:
            raise OperationRefused(
                f"{new.source} lacks {missing:,} of the {self._size:,} codes of {new.list} that were valid before, more than "
                f"{MISSING_PERCENT_MAX} percent: it is truncated, damaged, or another list. Nothing is imported. If the file "
                "is right, give --force."
            )


async def _load_before(
    database: Database, new: NewEdition, in_force: Sequence[StoredEdition]
) -> _EditionBefore:
    lists = await code_lists.load_code_lists(database, only=new.list)
    known = lists.find(new.list)
    if new.list in lists.large:
        return _EditionBefore(frozenset(), in_force[0])
    if known is None:
        return _EditionBefore(frozenset(), None)
    day = known.nearest_day(new.first_day)
    return _EditionBefore(frozenset(code for code, each in known if each.overlaps(day, day)), None)


async def _store(
    database: Database,
    id: int,
    new: NewEdition,
    rows: Iterable[CodeRow],
    before: _EditionBefore,
    *,
    actor: Actor,
    show: Callable[[], None],
) -> None:
    left = iter(rows)
    while page := list(islice(left, code_lists.CODES_PER_PAGE)):
        codes = [EditionCode(*row) for row in page]
        await code_lists.add_codes(database, id, codes, actor=actor)
        await before.add(database, [row.code for row in codes if _is_valid(row, new)])
        show()


def _is_valid(row: EditionCode, new: NewEdition) -> bool:
    """Return whether a code is valid on a day of the edition."""
    first, last = row.first_day or new.first_day, row.last_day or new.last_day
    return first <= new.last_day and new.first_day <= last


def _is_same(edition: StoredEdition, new: NewEdition) -> bool:
    days = (new.first_day.isoformat(), new.last_day.isoformat())
    return edition.hash == new.hash and (edition.first_day, edition.last_day) == days


def _free_name(new: NewEdition, editions: Iterable[StoredEdition]) -> str:
    """Return the name of a new edition: its first day, with a number if that day's was imported before."""
    day = new.first_day.isoformat()
    same = (one.edition.partition(".") for one in editions if one.edition.startswith(day))
    last = max((int(number or 1) for _, _, number in same), default=0)
    return f"{day}.{last + 1}" if last else day
