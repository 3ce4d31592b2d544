"""The program that submits documents of claims beside the service, which starts it (``submission_process``).

python -m clearlane.programs.submission_program < documents
"""

import sys
from dataclasses import replace
from typing import BinaryIO

from clearlane.pipeline.intake.submit import answer_order
from clearlane.pipeline.recent_claims import RecentClaims
from clearlane.pipeline.work_context import WorkContext
from clearlane.programs.helper_program import run_helper


def main(source: BinaryIO, out: BinaryIO) -> int:
    """Submit documents until the pipe is closed, and return the exit status."""
    return run_helper(source, out, answer_order, _without_recent_claims)


def _without_recent_claims(context: WorkContext) -> WorkContext:
    # Batches are written by nodes: nothing here takes a claim that was kept for them.
    return replace(context, recent_claims=RecentClaims(claims_max=0))


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
