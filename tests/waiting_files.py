"""Process the files of sites that wait, without the engine."""

from clearlane.kernel.ids import random_text
from clearlane.pipeline.intake.files.file_work import process_one, waiting_files
from clearlane.pipeline.work_context import WorkContext

HOLDER_CHARACTERS = 12


async def process_waiting(context: WorkContext) -> int:
    """Process every file that waits; return how many there were."""
    done, before = 0, -1
    while done > before and (files := await waiting_files(context)):
        before = done
        for one in files:
            holder = f"{context.node}-{random_text(HOLDER_CHARACTERS)}"
            done += await process_one(context, one.file_id, holder) is not None
    return done
