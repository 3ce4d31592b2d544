"""Import a library without others that it would load if they are there.

    with without_modules("rich"):
        import structlog

Some libraries look for what colors their output, and load megabytes of it into a process that never shows any. Inside the
block an import of these modules fails, as if they were not installed; what is loaded already stays.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_modules(*names: str) -> Iterator[None]:
    """Let an import of these modules fail inside the block."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: its import fails
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
