"""The program that judges pages of claims beside the process of a large file, which starts it (``page_process``).

    python -m clearlane.programs.page_program < pages

It stores nothing: the process of the file does, under its lease.
"""

import sys
from dataclasses import replace
from typing import BinaryIO

from clearlane.pipeline.intake.files.judge_page import answer_page
from clearlane.pipeline.intake.prepare_claims import IntakeBatcher
from clearlane.pipeline.work_context import WorkContext
from clearlane.programs.helper_program import run_helper


def main(source: BinaryIO, out: BinaryIO) -> int:
    """Judge pages until the pipe is closed, and return the exit status."""
    # One after the other: views are held while their page is judged, and those of several pages would take the memory of several.
    return run_helper(source, out, answer_page, _without_callers, at_once=1)


def _without_callers(context: WorkContext) -> WorkContext:
    # No one calls this process: nothing here has to make way.
    return replace(context, intake=IntakeBatcher(has_callers=False))


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
