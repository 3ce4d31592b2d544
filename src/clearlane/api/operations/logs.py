"""Log lines on standard error, without patient data: JSON for programs, readable at a terminal.

Every line names the node. The level can be changed while the process runs (:func:`change_level`). For an exception, only type and place are
written, and for another library's record only the template, because their texts can hold values. A thread writes, so a reader of standard error that stalls never stops the
service.
"""

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import msgspec

from clearlane.kernel.build_commit import version_text
from clearlane.kernel.faults import raised_at
from clearlane.kernel.log import get_logger, structlog

LOG_LINES_WAITING_MAX = 10_000
LOG_FLUSH_SECONDS_MAX = 1

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
STANDARD_ERROR = 2
JSON_LINES, TEXT_LINES, BY_TERMINAL = "json", "text", "auto"
"""The formats of log lines, as the setting names them."""
FIRST_FIELDS = ("timestamp", "level", "event", "node")
EVENT_CHARACTERS = 28
TEMPLATE_CHARACTERS_MAX = 200
GATHER_SECONDS = 0.01


class LogWriter:
    """Queues lines and writes them from a thread; drops lines rather than block."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: deque[bytes] = deque()
        self._wake = threading.Event()
        self._busy = False
        self.dropped = 0
        threading.Thread(target=self._run, name="log", daemon=True).start()

    def write(self, line: bytes) -> None:
        """Queue one line."""
        if len(self._lines) >= LOG_LINES_WAITING_MAX:
            self.dropped += 1
            return
        self._lines.append(line)
        if not self._wake.is_set():
            self._wake.set()

    def flush(self) -> None:
        """Wait for queued lines to be written, for a limited time."""
        until = time.monotonic() + LOG_FLUSH_SECONDS_MAX
        while (self._lines or self._busy or self._wake.is_set()) and time.monotonic() < until:
            time.sleep(GATHER_SECONDS)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            # Gather lines for a moment and write them together: waking for each would slow every call.
            time.sleep(GATHER_SECONDS)
            self._busy = True
            self._wake.clear()
            while self._lines:
                batch = [self._lines.popleft() for _ in range(min(len(self._lines), 100))]
                self._put(b"".join(batch))
                self._report_dropped()
            self._busy = False

    def _put(self, content: bytes) -> None:
        view = memoryview(content)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError:
            return  # Standard error is closed; the service goes on.

    def _report_dropped(self) -> None:
        if self.dropped:
            count, self.dropped = self.dropped, 0
            self._put(msgspec.json.encode({"event": "log lines dropped", "count": count}) + b"\n")


class StructlogSink:
    """The logger that structlog calls with a rendered line."""

    def __init__(self, writer: LogWriter) -> None:
        self._writer = writer

    def msg(self, line: bytes) -> None:
        self._writer.write(line)

    log = debug = info = warn = warning = error = critical = exception = fatal = msg


class LibraryLogHandler(logging.Handler):
    """Logs records of other libraries by level, logger, template and place, without values."""

    def emit(self, record: logging.LogRecord) -> None:
        template = str(record.msg).partition("\n")[0][:TEMPLATE_CHARACTERS_MAX]
        fields: dict[str, object] = {"logger": record.name}
        if record.exc_info and record.exc_info[1] is not None:
            fields |= fault_fields(record.exc_info[1])
        get_logger().log(record.levelno, template, **fields)


@dataclass(slots=True)
class _Process:
    """What the log lines of this process have in common."""

    level: int = logging.INFO
    node: str = ""


_process = _Process()


def configure(level: str, format: str = BY_TERMINAL) -> LogWriter:
    """Send every log line of the process to standard error through one writer."""
    writer = LogWriter(STANDARD_ERROR)
    readable = os.isatty(STANDARD_ERROR) if format == BY_TERMINAL else format == TEXT_LINES
    structlog.configure(
        processors=[
            _drop_below_level,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _add_node,
            _redact_exception,
            _render_text if readable else _render_json,
        ],
        # The level can be changed later, so that the processors filter and not the class.
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
        logger_factory=lambda *_: StructlogSink(writer),
        cache_logger_on_first_use=True,
    )
    logging.getLogger().handlers = [LibraryLogHandler()]
    # uvicorn warns of every request that is not HTTP; ``protocol`` logs those itself.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    _set_level(level)
    return writer


def name_node(node: str) -> None:
    """Let every log line from here on name the node."""
    _process.node = node


def log_start(node: str, *, role: str, mode: str) -> None:
    """Log that a node started; every line from here on names it."""
    name_node(node)
    get_logger().info("node started", role=role, mode=mode, version=version_text(), pid=os.getpid())


def log_stopping() -> None:
    """Log that the node is stopping; it finishes what runs."""
    get_logger().info("node stopping")


def log_stop(writer: LogWriter) -> None:
    """Log that the node has stopped, and write what waits: the last line of a node."""
    get_logger().info("node stopped")
    writer.flush()


def change_level(level: str) -> None:
    """Change the least severe level that is written, and log that it was changed."""
    # At the more talkative of the two levels, so that the line is there.
    if LEVELS[level] < _process.level:
        _set_level(level)
    get_logger().warning("log level changed", to=level)
    _set_level(level)


def level_written() -> str:
    """Return the least severe level that this process writes."""
    return next(name for name, level in LEVELS.items() if level == _process.level)


def change_level_on_signals(loop: asyncio.AbstractEventLoop, level: str) -> None:
    """Let SIGUSR1 write debug lines too, and SIGUSR2 go back to a level."""
    loop.add_signal_handler(signal.SIGUSR1, change_level, "debug")
    loop.add_signal_handler(signal.SIGUSR2, change_level, level)


def _set_level(level: str) -> None:
    _process.level = LEVELS[level]
    # Other libraries log routine at info: only what needs attention is worth a line, unless debug lines are on.
    least = logging.INFO if level == "debug" else max(logging.WARNING, LEVELS[level])
    logging.getLogger().setLevel(least)


def log_loop_fault(loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """Log a fault that the event loop reports by type and place: its own text quotes exceptions."""
    fault = context.get("exception")
    fields = fault_fields(fault) if isinstance(fault, BaseException) else {}
    get_logger().error("fault outside a call", **fields)


def fault_fields(fault: BaseException) -> dict[str, object]:
    """Return what may be logged of an exception."""
    return {"fault": type(fault).__name__, "place": raised_at(fault)}


def _redact_exception(
    _: object, __: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    fault = event.pop("exc_info", None)
    fault = sys.exc_info()[1] if fault is True else fault
    if isinstance(fault, BaseException):
        event.update(fault_fields(fault))
    return event


def _drop_below_level(
    _: object, method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    if LEVELS.get(method, logging.ERROR) < _process.level:
        raise structlog.DropEvent
    return event


def _add_node(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if _process.node:
        event.setdefault("node", _process.node)
    return event


def _render_json(_: object, __: str, event: MutableMapping[str, Any]) -> bytes:
    line = {name: event.pop(name) for name in FIRST_FIELDS if name in event}
    line.update(event)
    return msgspec.json.encode(line, enc_hook=lambda value: type(value).__name__) + b"\n"


def _render_text(_: object, __: str, event: MutableMapping[str, Any]) -> bytes:
    """Return a line for a person: time, level, event, then the fields by name. The node is this one."""
    event.pop("node", None)
    time_of_day = str(event.pop("timestamp", ""))[11:23]
    level, name = str(event.pop("level", "")), str(event.pop("event", ""))
    fields = " ".join(f"{key}={_word(value)}" for key, value in event.items() if value is not None)
    line = f"{time_of_day} {level:<7} {name:<{EVENT_CHARACTERS}} {fields}".rstrip()
    return "".join(c if c.isprintable() else " " for c in line).encode() + b"\n"


def _word(value: object) -> str:
    text = str(value)
    return f'"{text}"' if " " in text or not text else text
