"""Send steps to an OpenTelemetry collector, as OTLP over http. The only module that knows OpenTelemetry.

    traces = open_trace_export("http://127.0.0.1:4318", node="n1", version="0.1.0")
    traces.add(step)
    await traces.close()

Ids of traces and of their first spans follow from what the traces are about, so that every node, also after a restart, adds to
the same trace without asking. A thread of the library sends the spans; what a collector does not take in time is dropped.
"""

import asyncio
import hashlib
import logging
from functools import lru_cache
from typing import Any

from clearlane.kernel.log import get_logger
from clearlane.kernel.traces import TraceKey, TraceStep
from clearlane.store.database.database import OperationRefused

log = get_logger()

LIBRARY = "opentelemetry"
TRACES_PATH = "/v1/traces"
SERVICE = "clearlane"
NAMESPACE = "clearlane."
NOT_INSTALLED = (
    "CLEARLANE_OTLP_ENDPOINT needs the packages of OpenTelemetry. Install them with: "
    "pip install 'clearlane[otel]'"
)


def open_trace_export(endpoint: str, *, node: str, version: str) -> "TraceExport":
    """Return the sink of a node; raise :class:`OperationRefused` if the extra is not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError:
        raise OperationRefused(NOT_INSTALLED) from None
    _redact_library_log()
    resource = Resource.create(
        {"service.name": SERVICE, "service.version": version, "service.instance.id": node}
    )
    exporter = OTLPSpanExporter(endpoint=endpoint.rstrip("/") + TRACES_PATH)
    return TraceExport(BatchSpanProcessor(exporter), resource)


class TraceExport:
    """Makes spans of steps and has them sent."""

    def __init__(self, processor: Any, resource: Any) -> None:
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        self._processor, self._resource = processor, resource
        self._scope = InstrumentationScope(SERVICE)

    def add(self, *steps: TraceStep) -> None:
        """Put steps into the queue of what is sent."""
        for step in steps:
            self._processor.on_end(self._span(step))

    async def close(self) -> None:
        """Send what is left, for a limited time."""
        await asyncio.to_thread(self._processor.shutdown)

    def _span(self, step: TraceStep) -> Any:
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
        from opentelemetry.trace import Link, SpanContext, SpanKind, TraceFlags

        def context(key: TraceKey, span_id: int = 0) -> SpanContext:
            trace_id, first = _ids(key)
            sampled = TraceFlags(TraceFlags.SAMPLED)
            return SpanContext(trace_id, span_id or first, is_remote=False, trace_flags=sampled)

        first = context(step.trace)
        own = first
        if not step.is_first:
            own = context(step.trace, RandomIdGenerator().generate_span_id())
        return ReadableSpan(
            step.name,
            context=own,
            parent=None if step.is_first else first,
            resource=self._resource,
            attributes={NAMESPACE + name: value for name, value in step.ids.items()},
            links=[Link(context(key)) for key in step.links],
            kind=SpanKind.SERVER if step.trace.subject == "call" and step.is_first else SpanKind.INTERNAL,
            start_time=step.began,
            end_time=step.ended,
            instrumentation_scope=self._scope,
        )  # fmt: skip


@lru_cache(maxsize=1_024)
def _ids(key: TraceKey) -> tuple[int, int]:
    """Return the ids of a trace and of its first span."""
    digest = hashlib.sha256(":".join((SERVICE, *key)).encode()).digest()
    return int.from_bytes(digest[:16], "big"), int.from_bytes(digest[16:24], "big")


def _redact_library_log() -> None:
    """Have the library's messages logged by place and kind: their texts quote addresses and answers."""
    logger = logging.getLogger(LIBRARY)
    if not any(isinstance(one, _RedactingHandler) for one in logger.handlers):
        logger.handlers[:] = [_RedactingHandler()]
        logger.propagate = False
        logger.setLevel(logging.WARNING)


class _RedactingHandler(logging.Handler):
    """Logs the place of the library's messages, without their texts."""

    def emit(self, record: logging.LogRecord) -> None:
        log.log(record.levelno, "traces not sent", place=f"{record.module}.{record.funcName}")
