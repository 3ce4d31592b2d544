"""Look for files of sites that wait to be processed, and start one piece of durable work for each.

Files of a site are processed one at a time, in the order in which they arrived, so that equal claims in two of them are
found; sites go on side by side. What waits is known from our own rows, so that nothing is lost with the engine's tables.
"""

from contextlib import suppress

from clearlane.accounts.model import Site
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.intake.files.file_process import FileProcessNotOpened
from clearlane.pipeline.intake.files.process_file import process_file
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.files import client_files
from clearlane.store.files.client_files import WaitingFile

TICK, NAME, QUEUE = "find-files", "file", "files"
EVERY_SECONDS = 2
FILES_AT_ONCE = 4
POLL_SECONDS = 1.25
FILE_STEP_ATTEMPTS_MAX = 6
MINUTE = 60_000_000


async def file_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Start the work on the first waiting file of each site."""
    await _start_waiting(context, steps)


async def work_on_file(context: WorkContext, steps: WorkSteps, file_id: str) -> str | None:
    """Process one file as durable work, in a step that may be repeated, and start the next file of its site."""
    state = await steps.run(
        "process",
        lambda: process_one(context, file_id, steps.work),
        attempts=FILE_STEP_ATTEMPTS_MAX,
    )
    if state is not None:
        await _start_waiting(context, steps)
    return state


async def process_one(context: WorkContext, file_id: str, holder: str) -> str | None:
    """Process one file that waits, a large one in a process of its own; return its new state, None if it does not wait."""
    waiting = {one.file_id: one for one in await waiting_files(context, every=True)}
    found = waiting.get(file_id)
    sites: dict[int, Site] = {site.id: site for site in context.accounts().sites}
    if found is None or found.site_id not in sites:
        return None
    site = sites[found.site_id]
    if context.file_processes is not None and context.file_processes.take(found.bytes):
        with suppress(FileProcessNotOpened):
            return await context.file_processes.run(file_id, holder)
    return await process_file(context, site, file_id, holder)


async def waiting_files(context: WorkContext, *, every: bool = False) -> list[WaitingFile]:
    """Return the first waiting file of each site, unless work on it goes on."""
    now = to_micros(context.clock.now())
    async with context.database.read(client_files.SCOPE) as tx:
        found = await client_files.list_waiting(tx)
    if every:
        return found
    # A process takes the lease when it has started.
    in_process = context.file_processes.running if context.file_processes else ()
    free = [one for one in found if one.lease_until is None or one.lease_until < now]
    return [one for one in free if one.file_id not in in_process]


async def _start_waiting(context: WorkContext, steps: WorkSteps) -> None:
    """Start the work on files.

    The key starts it once a minute at most, however often the file is found waiting. Without the minute in it, work
    that failed before it could record anything would never be tried again.
    """
    minute = to_micros(context.clock.now()) // MINUTE
    for one in await waiting_files(context):
        await steps.start(NAME, one.file_id, key=f"{NAME}-{one.file_id}-{minute}")
