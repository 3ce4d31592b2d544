"""Load and stop DBOS so that it leaks nothing: no exception texts, no console output, no cloud, no connection.

The library puts values into its log messages and would store the texts of exceptions. Here a fault becomes a code, and
a log line has its place and kind, never its text.
"""

import logging
import os
import threading
from types import ModuleType
from typing import Any

from clearlane.kernel.faults import WorkFailed, fault_code
from clearlane.kernel.log import get_logger

log = get_logger()

LIBRARY = "dbos"
# Environment variables by which the library would join a cloud or take another version or name.
FOREIGN_PREFIX = "DBOS_"
THREAD_PREFIX = "dbos-executor-"
THREAD_SECONDS_MAX = 10
SUBSECONDS, SECONDS = "unixepoch('subsec')", "strftime('%s','now')"
SAME_WORK = "Workflow already exists in queue"
"""How a warning begins that work has its key already, begun without its queue: ticks find the same thing again on every node."""


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

    _take_old_sqlite(dbos)
    return dbos


def _take_old_sqlite(library: Any) -> None:
    """Let the library ask SQLite for the time in a way that every version of it knows.

    From Python 3.12 on, the library asks for milliseconds, which SQLite has from 3.42 on and older ones answer with nothing:
    images of Debian 12 have Python 3.13 and SQLite 3.40. Seconds are what it takes on Python 3.11.
    """
    migrations = library._migration.sqlite_migrations  # noqa: SLF001
    migrations[:] = [each.replace(SUBSECONDS, SECONDS) for each in migrations]
    from dbos._sys_db_sqlite import SQLiteSystemDatabase

    database: Any = SQLiteSystemDatabase
    database._now_ms_sql = _sqlite_now  # noqa: SLF001


def _sqlite_now(_: object) -> Any:
    import sqlalchemy

    return sqlalchemy.cast(sqlalchemy.func.strftime("%s", "now") * 1000, sqlalchemy.BigInteger)


def silence_dbos() -> None:
    """Stop the library's warnings, which it writes for each piece of work when it is destroyed."""
    logging.getLogger(LIBRARY).setLevel(logging.CRITICAL)


def hold_polls(instance: Any, gate: threading.Event, slow: threading.Event) -> None:
    """Let the library's queue threads wait on ``gate`` between two polls, and its watch of time limits on ``slow``.

    The library has no setting for either. Its manager of queues makes the threads with the stop event that it is given;
    ``gate`` takes that one's place among those that are set at the end. Call it before the launch.
    """
    library = load_dbos()
    run_queues = library._queue.queue_thread  # noqa: SLF001

    def run_gated(stop: threading.Event, dbos: Any) -> None:
        events = dbos.background_thread_stop_events
        events[events.index(stop)] = gate
        if stop.is_set():
            gate.set()
        run_queues(gate, dbos)

    library._dbos.queue_thread = run_gated  # noqa: SLF001
    instance._workflow_timeout_stop_event = slow  # noqa: SLF001


def destroy_dbos() -> None:
    """Stop the library, and close every connection that it opened.

    The library does not wait for its threads. One that was asking the database gives its connection back to a pool that
    was closed before, where it would stay open.
    """
    library = load_dbos()
    # The library has no other way to its connections. It has none before it is launched.
    instance = library._dbos._dbos_global_instance  # noqa: SLF001
    system_database = getattr(instance, "_sys_db_field", None)
    engine = None if system_database is None else system_database.engine
    connections = None if engine is None else engine.pool
    others = list(getattr(instance, "_background_threads", ()))
    library.DBOS.destroy(destroy_registry=True)
    own = [one for one in threading.enumerate() if one.name.startswith(THREAD_PREFIX)]
    for thread in (*own, *others):
        thread.join(THREAD_SECONDS_MAX)
    if connections is not None and engine is not None:
        connections.dispose()
        engine.dispose()  # what was opened after it was closed


class _RedactingHandler(logging.Handler):
    """Logs the place and kind of the library's messages, without their texts."""

    def emit(self, record: logging.LogRecord) -> None:
        fault = record.exc_info[1] if record.exc_info else None
        if isinstance(fault, WorkFailed):
            return  # logged where it happened
        if record.levelno == logging.WARNING and record.getMessage().startswith(SAME_WORK):
            return
        log.log(
            record.levelno,
            "engine library",
            place=f"{record.module}.{record.funcName}:{record.lineno}",
            work=getattr(record, "operationUUID", None),
            fault=fault_code(fault) if fault else None,
        )
