"""Where every module has its logger from.

    log = get_logger()

structlog loads libraries that color tracebacks on a terminal if there are any. They cost each process 5 MB and a tenth of a
second, and our lines are rendered without them (``api.operations.logs``): here it finds none.
"""

import sys

__all__ = ["get_logger", "structlog"]
COLORING = ("rich", "better_exceptions", "colorama")

_hidden = [name for name in COLORING if name not in sys.modules]
sys.modules.update(dict.fromkeys(_hidden))  # type: ignore[arg-type]  # None: an import of it fails
try:
    import structlog
finally:
    for _name in _hidden:
        del sys.modules[_name]

get_logger = structlog.get_logger
