"""The calls of a sandbox, beside the interface: its clock, and what its payers are made to do.

They pass the same checks as every call. A production installation does not serve them: there the paths are unknown.
"""

import re
from datetime import timedelta
from typing import Annotated, Literal, TypeVar

import msgspec
from pydantic import BaseModel, Field
from starlette.responses import Response

from clearlane.api.body import decode
from clearlane.api.endpoint import Call, Content, Family, Row
from clearlane.api.errors import Refusal
from clearlane.api.v3 import wire
from clearlane.kernel.clock import Clock
from clearlane.pipeline.operator.sandbox_control import NotSettled, Steering

MODES = ("up", "down", "slow", "garbage")
UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
LENGTH_WANTED = "A length of time is expected, such as 14d, 36h or 1d12h."

T = TypeVar("T", bound=msgspec.Struct)


class SandboxClock(BaseModel):
    """How time runs in the sandbox."""

    Now: Annotated[str, Field(description="The time that dates are written from, UTC.")]
    AdvancedSeconds: Annotated[int, Field(description="All that was explicitly advanced.")]
    SecondsPerDay: Annotated[float, Field(description="How long a day lasts for payers.")]
    Frozen: Annotated[bool, Field(description="Whether payers' days stand still.")]


class SandboxPayer(BaseModel):
    """A payer and what it is made to do."""

    PayerId: str
    Type: Literal["Dental", "Medical"]
    Name: str
    Mode: Literal["up", "down", "slow", "garbage"]


class ClockChange(msgspec.Struct):
    """What is to change; what is absent stays."""

    Frozen: bool | None = None
    SecondsPerDay: float | None = None


class Advance(msgspec.Struct):
    """How far time is to be advanced."""

    By: str = ""


class ModeChange(msgspec.Struct):
    """What a payer is to do."""

    PayerId: str = ""
    Mode: str = ""


async def clock(call: Call) -> Response:
    """Show the clock; a POST changes it first."""
    steering = _steering(call)
    if call.verb == "POST":
        change = await _read(call, ClockChange)
        try:
            await steering.set_clock(
                frozen=change.Frozen, day_seconds=change.SecondsPerDay, who=call.actor
            )
        except ValueError as why:
            raise Refusal(wire.model_state({"SecondsPerDay": [_sentence(why)]})) from None
    return _clock_answer(steering)


async def advance(call: Call) -> Response:
    """Let time pass, and answer when everything due has been posted."""
    steering = _steering(call)
    by = read_length((await _read(call, Advance)).By)
    if by is None:
        raise Refusal(wire.model_state({"By": [LENGTH_WANTED]}))
    try:
        await steering.advance(by, call.actor)
    except ValueError as why:
        raise Refusal(wire.model_state({"By": [_sentence(why)]})) from None
    except NotSettled:
        raise Refusal(
            wire.unavailable("Time has passed, but something that is due is not yet done.")
        ) from None
    return _clock_answer(steering)


async def payers(call: Call) -> Response:
    """Show what payers are made to do; a POST changes it for one of them first."""
    steering = _steering(call)
    if call.verb == "POST":
        change = await _read(call, ModeChange)
        faults = {}
        if not steering.named(change.PayerId):
            faults["PayerId"] = ["A payer of the directory is expected, such as TST01."]
        if change.Mode not in MODES:
            faults["Mode"] = [f"One of {', '.join(MODES)} is expected."]
        if faults:
            raise Refusal(wire.model_state(faults))
        await steering.set_mode(change.PayerId, change.Mode)
    return wire.answer(
        200,
        [
            {"PayerId": one.payer_id, "Type": one.type, "Name": one.name, "Mode": mode}
            for one, mode in await steering.modes()
        ],
    )


def read_length(text: str) -> timedelta | None:
    """A length of time as people write it, or None."""
    if not _LENGTH.fullmatch(text.strip().lower()):
        return None
    parts = _PART.findall(text.strip().lower())
    try:
        return sum((timedelta(**{UNITS[unit]: float(n)}) for n, unit in parts), timedelta(0))
    except OverflowError:
        return None


_LENGTH = re.compile(r"(\d{1,9}(\.\d{1,6})?[dhms]\s*)+", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])", re.ASCII)


def _steering(call: Call) -> Steering:
    steering = call.desk.steering
    assert steering is not None, "only a sandbox serves these calls"
    return steering


async def _read(call: Call, type: type[T]) -> T:
    document = await call.body.document()
    known = set(type.__struct_fields__)
    call.ignored.extend(
        name for name in decode(document, dict[str, msgspec.Raw]) if name not in known
    )
    return decode(document, type)


def _clock_answer(steering: Steering) -> Response:
    state, time = steering.world.clock.state, steering.world.clock
    return wire.answer(
        200,
        {
            "Now": _moment(time),
            "AdvancedSeconds": state.advanced // timedelta(seconds=1),
            "SecondsPerDay": state.day_seconds,
            "Frozen": state.frozen,
        },
    )


def _moment(time: Clock) -> str:
    return time.now().replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _sentence(why: ValueError) -> str:
    text = str(why)
    return f"{text[:1].upper()}{text[1:]}."


TABLE: tuple[Row, ...] = (
    Row(
        name="SandboxClock",
        path="/sandbox/clock",
        family=Family.SANDBOX,
        summary="Show how time runs; with POST, freeze it, let it run or set its pace.",
        handler=clock,
        answer=SandboxClock,
        touches_phi=False,
        suspended=None,
        verbs=("GET", "POST"),
        content=Content.JSON,
        request=ClockChange,
        refusals={400: wire.ModelState},
    ),
    Row(
        name="SandboxAdvance",
        path="/sandbox/advance",
        family=Family.SANDBOX,
        summary="Let time pass; the answer comes when everything due has been posted.",
        handler=advance,
        answer=SandboxClock,
        touches_phi=False,
        suspended=None,
        content=Content.JSON,
        request=Advance,
        refusals={400: wire.ModelState},
    ),
    Row(
        name="SandboxPayers",
        path="/sandbox/payers",
        family=Family.SANDBOX,
        summary="Show what payers are made to do; with POST, make one do something else.",
        handler=payers,
        answer=list[SandboxPayer],
        touches_phi=False,
        suspended=None,
        verbs=("GET", "POST"),
        content=Content.JSON,
        request=ModeChange,
        refusals={400: wire.ModelState},
    ),
)
