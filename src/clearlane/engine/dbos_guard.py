"""Load DBOS so that it leaks nothing: no exception texts, no console output, no cloud.

The library puts values into its log messages and would store the texts of exceptions. Here a fault becomes a code, and
a log line has its place and kind, never its text.
"""

import logging
import os
from types import ModuleType

import structlog

from clearlane.kernel.faults import WorkFailed, fault_code

log = structlog.get_logger()

LIBRARY = "dbos"
# Environment variables by which the library would join a cloud or take another version or name.
FOREIGN_PREFIX = "DBOS_"


def load_dbos() -> ModuleType:
    """Return the library, imported on first use and with its logging redacted before it can log."""
    for name in [name for name in os.environ if name.startswith(FOREIGN_PREFIX)]:
        del os.environ[name]
    logger = logging.getLogger(LIBRARY)
    if not any(isinstance(handler, _RedactingHandler) for handler in logger.handlers):
        logger.handlers[:] = [_RedactingHandler()]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
    import dbos

    return dbos


def silence_dbos() -> None:
    """Stop the library's warnings, which it writes for each piece of work when it is destroyed."""
    logging.getLogger(LIBRARY).setLevel(logging.CRITICAL)


class _RedactingHandler(logging.Handler):
    """Logs the place and kind of the library's messages, without their texts."""

    def emit(self, record: logging.LogRecord) -> None:
        fault = record.exc_info[1] if record.exc_info else None
        if isinstance(fault, WorkFailed):
            return  # logged where it happened
        log.log(
            record.levelno,
            "engine library",
            place=f"{record.module}.{record.funcName}:{record.lineno}",
            work=getattr(record, "operationUUID", None),
            fault=fault_code(fault) if fault else None,
        )
