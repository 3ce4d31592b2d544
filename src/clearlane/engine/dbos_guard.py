"""How the engine keeps to itself: no text of a fault, no console, no cloud.

The library puts values into its log texts and would store the texts of exceptions. Here a fault
becomes a code, and a log line says where and of which kind, never what was said.
"""

import logging
import os
from types import ModuleType

import structlog

from clearlane.kernel.faults import WorkFailed, fault_code

log = structlog.get_logger()

LIBRARY = "dbos"
# Variables by which the library would join a cloud, take another version or another name.
FOREIGN_PREFIX = "DBOS_"


def library() -> ModuleType:
    """The library, imported on first use and made discreet before it can say a word."""
    for name in [name for name in os.environ if name.startswith(FOREIGN_PREFIX)]:
        del os.environ[name]
    logger = logging.getLogger(LIBRARY)
    if not any(isinstance(handler, _Discreet) for handler in logger.handlers):
        logger.handlers[:] = [_Discreet()]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
    import dbos

    return dbos


def hush() -> None:
    """Let the library stop without a word for each piece of work it lets go."""
    logging.getLogger(LIBRARY).setLevel(logging.CRITICAL)


class _Discreet(logging.Handler):
    """Pass on that the library had something to say, where and of which kind; drop what it said."""

    def emit(self, record: logging.LogRecord) -> None:
        fault = record.exc_info[1] if record.exc_info else None
        if isinstance(fault, WorkFailed):
            return  # Told where it happened.
        log.log(
            record.levelno,
            "engine library",
            place=f"{record.module}.{record.funcName}:{record.lineno}",
            work=getattr(record, "operationUUID", None),
            fault=fault_code(fault) if fault else None,
        )
