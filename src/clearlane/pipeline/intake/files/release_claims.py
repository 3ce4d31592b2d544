"""Release the claims of accepted sets: move them, page by page, from where they are staged into the table of claims.

Until then no list, queue or search shows them. A page is one transaction, so that each claim is released exactly once,
whatever node dies. A tick looks for what a node that died has left.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from clearlane.accounts.model import Site
from clearlane.engine import fault_injection
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.faults import fault_code, fault_frames
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import cancel_all
from clearlane.pipeline.intake.files.staged_row import open_row
from clearlane.pipeline.intake.store_file_claims import store_file_claims
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.new_claims import NewClaim
from clearlane.store.database.database import Tx
from clearlane.store.database.group_commit import TEMPORARY_FAULTS, StoreWaits
from clearlane.store.files import file_sets, staged_claims
from clearlane.store.files.file_sets import SetClaim
from clearlane.store.files.staged_claims import StagedClaim

log = get_logger()

T = TypeVar("T")

NAME, EVERY_SECONDS = "release-files", 5
CLAIMS_STAGED_AT_ONCE, CLAIMS_RELEASED_AT_ONCE = 125, 25
"""Also another vendor's read is a write, of its audit row: it waits for one page at most. A claim is staged in one row, and released in ten."""
CLAIMS_RELEASED_ALONE, CLAIMS_RELEASED_BESIDE_OTHERS = 500, 12
"""The same for the process of a large file, which answers no calls. Some keys are hashes, so each claim changes
pages all over their indexes, and a commit writes each of them once: the more claims in it, the fewer pages for each."""
ALONE_SECONDS_MIN = 2.0
"""How long ago the fourth last write of another process is before the pages are large."""
SETS_RELEASED_AT_ONCE = 100


async def release_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Release the claims of sets that were accepted and not released, whoever accepted them."""
    await release_accepted(context)


async def release_accepted(context: WorkContext) -> int:
    """Release the claims of all accepted sets, but for those that a process of this node releases; return how many sets there were."""
    async with context.database.read(file_sets.SCOPE) as tx:
        waiting = await file_sets.list_unreleased(tx, SETS_RELEASED_AT_ONCE)
    in_process = context.file_processes.running if context.file_processes else ()
    sites: dict[int, Site] = {site.id: site for site in context.accounts().sites}
    for one in waiting:
        site = sites.get(one.site_id)
        if site is not None and one.file_id not in in_process:
            await _try(context, site, one.set_id)
    return len(waiting)


async def release_site(context: WorkContext, site: Site) -> None:
    """Release the claims of a site, so that the next file is compared with them."""
    async with context.database.read(site.scope) as tx:
        waiting = await file_sets.list_unreleased_of_site(tx)
    for set_id in waiting:
        await _try(context, site, set_id)


async def _try(context: WorkContext, site: Site, set_id: str) -> None:
    """Release a set. One that cannot be released keeps no other back: it is tried again by the next tick."""
    try:
        await release_set(context, site, set_id)
    except TEMPORARY_FAULTS:
        raise
    except Exception as fault:  # noqa: BLE001  (its claims stay staged)
        details = {"fault": fault_code(fault), "places": fault_frames(fault)}
        log.error("set not released", set=set_id, **details)  # noqa: TRY400  (a traceback may hold values)


class _PageTaken(Exception):
    """Other work has released claims of a page since it was read."""


async def release_set(context: WorkContext, site: Site, set_id: str) -> None:
    """Release the claims of a set, page by page. Each is read and opened while the one before it is written."""
    await context.vault.ensure_key(site.scope)
    page: _OpenedPage | None = None
    is_left = True
    while is_left:
        if page is None:
            page = await _read_page(context, site, set_id)
        began = perf_counter()
        following = None if page.is_last else _read_page(context, site, set_id, page.last)
        async with _started(following) as reading:
            try:
                is_left = await context.database.write(
                    site.scope,
                    partial(_release_page, context=context, site=site, page=page),
                    actor=context.actor,
                )
            except _PageTaken:
                page = None
                continue
            if is_left:
                fault_injection.crash_point("file released")
                if context.intake.has_callers:
                    await asyncio.sleep(perf_counter() - began)  # others may write for as long
            page = await reading if reading else None


@asynccontextmanager
async def _started(work: Coroutine[Any, Any, T] | None) -> AsyncIterator[asyncio.Task[T] | None]:
    """Run a coroutine beside a block; at the end of the block it has ended, or is canceled."""
    task = asyncio.create_task(work) if work else None
    try:
        yield task
    finally:
        if task is not None:
            await cancel_all([task])


class _OpenedPage(NamedTuple):
    """The first claims of a set that wait to be released, and the rows that they become."""

    set_id: str
    staged: Sequence[StagedClaim]
    rows: Sequence[NewClaim]
    is_last: bool

    @property
    def last(self) -> int:
        """The position of the last of them."""
        return self.staged[-1].position


async def _read_page(context: WorkContext, site: Site, set_id: str, after: int = 0) -> _OpenedPage:
    """Read and open claims before the transaction begins, which others wait for."""
    limit = page_size(context.database.waits, has_callers=context.intake.has_callers)
    async with context.database.read(site.scope) as tx:
        staged = await staged_claims.list_page(tx, set_id, limit, after=after)
        await context.vault.load_keys_of(tx, [one.payload for one in staged])
    rows = await context.intake.call_in_background(
        partial(open_row, context, site, one.claim_number, one.payload) for one in staged
    )
    return _OpenedPage(set_id, staged, rows, is_last=len(staged) < limit)


def page_size(waits: StoreWaits, *, has_callers: bool) -> int:
    """Return how many claims are released in one transaction, which the writes of other processes wait for."""
    if has_callers:
        return CLAIMS_RELEASED_AT_ONCE
    is_alone = waits.seconds_alone >= ALONE_SECONDS_MIN
    return CLAIMS_RELEASED_ALONE if is_alone else CLAIMS_RELEASED_BESIDE_OTHERS


async def _release_page(tx: Tx, context: WorkContext, site: Site, page: _OpenedPage) -> bool:
    """Release the first claims of a set; return whether there may be more."""
    set_id, staged, rows, _ = page
    if await file_sets.lock_unreleased(tx, set_id) is None:
        return False
    if staged:
        if await staged_claims.remove(tx, set_id, through=page.last) != len(staged):
            raise _PageTaken
        await store_file_claims(tx, context, site, rows)
        await file_sets.add_claims(
            tx, [SetClaim(one.claim_number, set_id, one.position) for one in staged]
        )
    if page.is_last:
        await file_sets.mark_released(tx, set_id)
    return not page.is_last
