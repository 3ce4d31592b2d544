"""Progress of commands that take longer than two seconds: one line on the error stream of a terminal.

None of it gets into a pipe or a file, and a command that ends sooner shows nothing.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Protocol

SECONDS_WITHOUT_PROGRESS = 1.0


class ShowProgress(Protocol):
    """Show how far a command is."""

    def __call__(self, done: int, total: int | None = None, label: str | None = None) -> None:
        """Show what is done, out of how much, and doing what; what is None stays as it was."""


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[ShowProgress]:
    """Show a bar while a command works, once it has worked for a second."""
    if not sys.stderr.isatty():
        yield lambda done, total=None, label=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    counts = TextColumn("{task.fields[counts]}")
    columns = (TextColumn("{task.description}"), BarColumn(), counts, TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(label, total=total, counts="")

    def show(done: int, total: int | None = None, label: str | None = None) -> None:
        bar.update(task, completed=done, total=total, description=label)
        known = bar.tasks[0].total
        bar.update(task, counts=f"{done:,} of {known:,.0f}" if known else "")

    # A thread starts the bar, since the work may be one long call that reports nothing.
    starting = Timer(SECONDS_WITHOUT_PROGRESS, bar.start)
    starting.daemon = True
    starting.start()
    try:
        yield show
    finally:
        starting.cancel()
        starting.join()
        bar.stop()
