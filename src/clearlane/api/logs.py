"""JSON log lines on standard error, without patient data.

Of an exception only type and place are written, of another library's record only the template, because
their texts can hold values. A thread writes, so a reader of standard error that stalls never stops the
service.
"""

import asyncio
import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, MutableMapping
from typing import Any

import msgspec
import structlog

from clearlane.api.errors import raised_at

LOG_LINES_WAITING_MAX = 10_000
LOG_FLUSH_SECONDS_MAX = 1

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
STANDARD_ERROR = 2
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
        structlog.get_logger().log(record.levelno, template, **fields)


def configure(level: str) -> LogWriter:
    """Send every log line of the process to standard error through one writer."""
    writer = LogWriter(STANDARD_ERROR)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _redact_exception,
            _render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=lambda *_: StructlogSink(writer),
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    root.handlers = [LibraryLogHandler()]
    # Other libraries log routine at info: only what needs attention is worth a line.
    root.setLevel(max(logging.WARNING, LEVELS[level]))
    # uvicorn warns of every request that is not HTTP; ``protocol`` logs those itself.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    return writer


def log_loop_fault(loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """Log a fault that the event loop reports by type and place: its own text quotes exceptions."""
    fault = context.get("exception")
    fields = fault_fields(fault) if isinstance(fault, BaseException) else {}
    structlog.get_logger().error("fault outside a call", **fields)


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


def _render(_: object, __: str, event: MutableMapping[str, Any]) -> bytes:
    return msgspec.json.encode(event, enc_hook=lambda value: type(value).__name__) + b"\n"
