"""The endpoints that control a sandbox: its clock and the behavior of its simulated payers.

They pass the same checks as every endpoint and belong to no API version. A production installation does not
serve them.
"""

import re
from datetime import timedelta
from typing import Annotated, Literal, TypeVar

import msgspec
from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import BodyUse, Call, Endpoint, EndpointFamily
from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.body import decode
from clearlane.api.http.http_responses import json_response
from clearlane.kernel.clock import Clock
from clearlane.kernel.formats import upper_first
from clearlane.payers.model import PayerType
from clearlane.pipeline.query.claim_summary import refresh_stale
from clearlane.pipeline.sandbox.sandbox_control import DueWorkNotFinished, SandboxControl

MODES = ("up", "down", "slow", "garbage")
UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
DURATION_EXPECTED = "A length of time is expected, such as 14d, 36h or 1d12h."

T = TypeVar("T", bound=msgspec.Struct)


class SandboxClockJson(JsonModel):
    """How time runs in the sandbox."""

    Now: Annotated[str, Field(description="The time that dates are written from, UTC.")]
    AdvancedSeconds: Annotated[int, Field(description="All that was explicitly advanced.")]
    SecondsPerDay: Annotated[float, Field(description="How long a day lasts for payers.")]
    Frozen: Annotated[bool, Field(description="Whether time is frozen for payers.")]


class SandboxPayer(JsonModel):
    """A payer and how it behaves."""

    PayerId: str
    Type: PayerType
    Name: str
    Mode: Literal["up", "down", "slow", "garbage"]


class ClockChange(msgspec.Struct):
    """Changes of the clock; an absent field stays as it is."""

    Frozen: bool | None = None
    SecondsPerDay: float | None = None


class Advance(msgspec.Struct):
    """The time to advance by."""

    By: str = ""


class ModeChange(msgspec.Struct):
    """The new behavior of a payer."""

    PayerId: str = ""
    Mode: str = ""


async def clock(call: Call) -> Response:
    """Return the clock; a POST changes it first."""
    control = _control(call)
    if call.verb == "POST":
        change = await _read(call, ClockChange)
        try:
            await control.set_clock(
                frozen=change.Frozen, day_seconds=change.SecondsPerDay, actor=call.actor
            )
        except ValueError as why:
            raise RequestRefusal(
                call.errors.invalid_fields({"SecondsPerDay": [_sentence(why)]})
            ) from None
    return _clock_response(control)


async def advance(call: Call) -> Response:
    """Advance time, and respond when everything due has been posted."""
    control = _control(call)
    by = read_duration((await _read(call, Advance)).By)
    if by is None:
        raise RequestRefusal(call.errors.invalid_fields({"By": [DURATION_EXPECTED]}))
    try:
        await control.advance(by, call.actor)
    except ValueError as why:
        raise RequestRefusal(call.errors.invalid_fields({"By": [_sentence(why)]})) from None
    except DueWorkNotFinished:
        raise RequestRefusal(
            call.errors.unavailable("Time has passed, but something that is due is not yet done.")
        ) from None
    # Days have passed for what people see too: the schedule runs by real minutes.
    await refresh_stale(call.context.work_context)
    return _clock_response(control)


async def payers(call: Call) -> Response:
    """Return the behavior of all payers; a POST changes that of one first."""
    control = _control(call)
    if call.verb == "POST":
        change = await _read(call, ModeChange)
        faults = {}
        if not control.find_payers(change.PayerId):
            faults["PayerId"] = ["A payer of the directory is expected, such as TST01."]
        if change.Mode not in MODES:
            faults["Mode"] = [f"One of {', '.join(MODES)} is expected."]
        if faults:
            raise RequestRefusal(call.errors.invalid_fields(faults))
        await control.set_mode(change.PayerId, change.Mode)
    return json_response(
        200,
        [
            {"PayerId": payer.payer_id, "Type": payer.type, "Name": payer.name, "Mode": mode}
            for payer, mode in await control.modes()
        ],
    )


def read_duration(text: str) -> timedelta | None:
    """Return a duration written like 1d12h, or None if it cannot be read."""
    if not _DURATION.fullmatch(text.strip().lower()):
        return None
    parts = _PART.findall(text.strip().lower())
    try:
        return sum((timedelta(**{UNITS[unit]: float(n)}) for n, unit in parts), timedelta(0))
    except OverflowError:
        return None


_DURATION = re.compile(r"(\d{1,9}(\.\d{1,6})?[dhms]\s*)+", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])", re.ASCII)


def _control(call: Call) -> SandboxControl:
    control = call.context.sandbox_control
    if control is None:  # a production installation does not even mount them
        raise RequestRefusal(call.errors.no_resource())
    return control


async def _read(call: Call, type: type[T]) -> T:
    document = await call.body.read_document()
    known = set(type.__struct_fields__)
    call.ignored_fields.extend(
        name for name in decode(document, dict[str, msgspec.Raw], call.errors) if name not in known
    )
    return decode(document, type, call.errors)


def _clock_response(control: SandboxControl) -> Response:
    state, time = control.simulator.clock.state, control.simulator.clock
    return json_response(
        200,
        {
            "Now": _format_time(time),
            "AdvancedSeconds": state.advanced // timedelta(seconds=1),
            "SecondsPerDay": state.day_seconds,
            "Frozen": state.frozen,
        },
    )


def _format_time(time: Clock) -> str:
    return time.now().replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _sentence(why: ValueError) -> str:
    return f"{upper_first(str(why))}."


def sandbox_endpoints(errors: ErrorShape) -> tuple[Endpoint, ...]:
    """Return the table of sandbox endpoints, with an error shape."""
    return (
        Endpoint(
            name="SandboxClock",
            path="/sandbox/clock",
            family=EndpointFamily.SANDBOX,
            summary="Show how time runs; with POST, freeze it, let it run or set its pace.",
            handler=clock,
            response_type=SandboxClockJson,
            errors=errors,
            touches_phi=False,
            suspended_handler=None,
            verbs=("GET", "POST"),
            body_use=BodyUse.JSON,
            request_type=ClockChange,
        ),
        Endpoint(
            name="SandboxAdvance",
            path="/sandbox/advance",
            family=EndpointFamily.SANDBOX,
            summary="Let time pass; the answer comes when everything due has been posted.",
            handler=advance,
            response_type=SandboxClockJson,
            errors=errors,
            touches_phi=False,
            suspended_handler=None,
            body_use=BodyUse.JSON,
            request_type=Advance,
        ),
        Endpoint(
            name="SandboxPayers",
            path="/sandbox/payers",
            family=EndpointFamily.SANDBOX,
            summary="Show what payers are made to do; with POST, make one do something else.",
            handler=payers,
            response_type=list[SandboxPayer],
            errors=errors,
            touches_phi=False,
            suspended_handler=None,
            verbs=("GET", "POST"),
            body_use=BodyUse.JSON,
            request_type=ModeChange,
        ),
    )
