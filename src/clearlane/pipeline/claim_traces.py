"""Trace claims: one trace for each call that brought some, from the call to batch, payer's answer and webhook.

    began = now_nanos()
    ...
    await trace_claims(context, "claims batched", numbers, began=began, within=batch_trace(id), batch_id=id)

A trace is known by vendor, site and the moment of the call, which every claim has: nothing is stored for it. A batch and a
payer's file concern claims of many calls, so they have traces of their own, linked in both directions. Without a sink all of
this costs a look at a field. Spans have ids and counts, never anything of a claim.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from clearlane.kernel.faults import fault_code
from clearlane.kernel.ids import Scope
from clearlane.kernel.log import get_logger
from clearlane.kernel.traces import TraceKey, TraceSink, TraceStep, now_nanos
from clearlane.store.claims import claim_lookup
from clearlane.store.database.database import Database, StoreFault, SystemScope

log = get_logger()

SCOPE = SystemScope("a batch or a payer's file is about claims of many clients")
SPAN_CLAIMS_MAX = 20
SPAN_LINKS_MAX = 100


class TracingContext(Protocol):
    """What tracing needs of a work context."""

    @property
    def database(self) -> Database:
        """The installation's database."""

    @property
    def traces(self) -> TraceSink | None:
        """Where spans go; None if nothing is traced."""


def batch_trace(batch_id: int) -> TraceKey:
    """Return the trace of a batch."""
    return TraceKey("batch", str(batch_id))


def file_trace(inbox_id: int) -> TraceKey:
    """Return the trace of a payer's file."""
    return TraceKey("inbox", str(inbox_id))


def trace_call(
    context: TracingContext, scope: Scope, created_at: int, numbers: Sequence[str], *, began: int
) -> None:
    """Add the first span of a trace: a call that brought claims, once they are stored."""
    if context.traces is None or not numbers:
        return
    ids = {"vendor": scope.vendor, "site": scope.site, **_claims(numbers)}
    trace = _call_trace(scope.vendor, scope.site, created_at)
    step = TraceStep(
        name="claims accepted", trace=trace, began=began, ended=now_nanos(), ids=ids, is_first=True
    )
    context.traces.add(step)


async def trace_claims(
    context: TracingContext,
    name: str,
    numbers: Collection[str],
    *,
    began: int,
    within: TraceKey | None = None,
    is_first: bool = False,
    **ids: str | int,
) -> None:
    """Add a step to the trace of each call that brought one of the claims, and to that of the batch or file ``within``.

    ``is_first`` if it is what the trace ``within`` begins with. A fault of the database costs the step, not the work.
    """
    if context.traces is None or not numbers:
        return
    ended = now_nanos()
    found = await _traces_of(context, numbers)
    calls: defaultdict[TraceKey, list[str]] = defaultdict(list)
    for number, call in found.items():
        calls[call].append(number)
    links = () if within is None else (within,)
    steps = [
        TraceStep(
            name=name,
            trace=call,
            began=began,
            ended=ended,
            ids={**ids, **_claims(own)},
            links=links,
        )
        for call, own in calls.items()
    ]
    if within is not None and found:
        about = TraceStep(
            name=name, trace=within, began=began, ended=ended,
            ids={**ids, "claims": len(found), "calls": len(calls)},
            links=tuple(calls)[:SPAN_LINKS_MAX], is_first=is_first,
        )  # fmt: skip
        steps.append(about)
    context.traces.add(*steps)


def trace_received(context: TracingContext, inbox_ids: Sequence[int], *, began: int) -> None:
    """Add the first spans of the traces of payers' files that were stored now. A file may be posted twice, and is stored once."""
    if context.traces is not None:
        ended = now_nanos()
        steps = [_file_step("file received", id, began, ended, is_first=True) for id in inbox_ids]
        context.traces.add(*steps)


def trace_posting(context: TracingContext, inbox_id: int, applied: int, *, began: int) -> None:
    """Add the posting of a payer's file to its trace."""
    if context.traces is not None:
        context.traces.add(_file_step("file posted", inbox_id, began, now_nanos(), applied=applied))


def _file_step(
    name: str, inbox_id: int, began: int, ended: int, *, is_first: bool = False, **counts: int
) -> TraceStep:
    ids = {"inbox_id": inbox_id, **counts}
    return TraceStep(
        name=name, trace=file_trace(inbox_id), began=began, ended=ended, ids=ids, is_first=is_first
    )


async def trace_webhooks(
    context: TracingContext,
    endpoint_id: str,
    delivered: Sequence[tuple[int, str]],
    began: Mapping[int, int],
) -> None:
    """Add deliveries, by event id and claim number, to the traces of the claims' calls."""
    if context.traces is None or not delivered:
        return
    ended = now_nanos()
    found = await _traces_of(context, {number for _, number in delivered})
    context.traces.add(
        *(
            TraceStep(
                name="webhook delivered", trace=found[number], began=began.get(event_id, ended),
                ended=ended,
                ids={"event_id": event_id, "endpoint_id": endpoint_id, "claim_numbers": [number]},
            )
            for event_id, number in delivered
            if number in found
        )
    )  # fmt: skip


async def _traces_of(context: TracingContext, numbers: Collection[str]) -> dict[str, TraceKey]:
    """Return the traces of claims' calls, by claim; none if the database has a fault."""
    try:
        async with context.database.read(SCOPE) as tx:
            found = await claim_lookup.list_arrivals(tx, numbers)
    except StoreFault as fault:
        log.warning("step not traced", fault=fault_code(fault))
        return {}
    return {
        one.claim_number: _call_trace(one.vendor_id, one.site_id, one.created_at) for one in found
    }


def _call_trace(vendor_id: int, site_id: int, created_at: int) -> TraceKey:
    return TraceKey("call", f"{vendor_id}-{site_id}-{created_at}")


def _claims(numbers: Sequence[str]) -> dict[str, int | Sequence[str]]:
    return {"claims": len(numbers), "claim_numbers": list(numbers[:SPAN_CLAIMS_MAX])}
