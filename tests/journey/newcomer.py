"""What a newcomer has before the first command: a directory like a fresh checkout's, and a sandbox in it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.api.service_process import ServiceProcess
from tests.journey.follower import ROOT


def checkout(directory: Path) -> Path:
    """A directory with what the pages use of the checkout."""
    (directory / ".venv").symlink_to(Path(sys.prefix), target_is_directory=True)
    (directory / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    (directory / "scratch").mkdir()
    return directory


@contextmanager
def sandbox_at(directory: Path, **environment: str) -> Iterator[ServiceProcess]:
    """`make run` in that directory, but for the port."""
    serving = ServiceProcess(directory / ".data", fresh=True, **environment).start()
    try:
        yield serving
    finally:
        code = serving.stop()
    assert code == 0
