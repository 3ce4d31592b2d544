"""Which batch goes next to which payer, over which way, and what follows when it does not arrive.

A lane is one payer and type of claims. It carries one file at a time, the oldest first, so that a payer sees its
files in order and one that is slow holds up nobody but itself. After a failure the lane rests, longer each time,
and then one file is tried. All pure: what was seen goes in, what to note comes out.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from clearlane.claims.batch_naming import US
from clearlane.connect.port import Presence
from clearlane.connect.routes import Line
from clearlane.kernel import limits
from clearlane.store.batches import FIXED, SENDING, Batch
from clearlane.store.route_health import Lane
from clearlane.x12.encode import clean

SECOND = 1_000_000
"""Moments are microseconds."""

NO_ROUTE = -1

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that did not succeed."""

    arrival: Presence
    """Whether the file is there for all we know. It is never known to be: that is a success."""
    fault: str
    """A sentence without anything of a payload."""
    lasting: bool = False
    """Whether a person must look, so that trying often is of no use."""


@dataclass(frozen=True, slots=True)
class Next:
    """How a batch and its lane stand after an attempt."""

    state: str
    next_at: int
    failing_since: int
    lane: Lane


def heads(batches: Iterable[Batch], lanes: Mapping[Key, Lane], now: int) -> list[Batch]:
    """The batch of each lane that is to be sent now, where there is one."""
    of: dict[Key, list[Batch]] = defaultdict(list)
    for batch in batches:
        if batch.state in {FIXED, SENDING}:
            of[batch.lane].append(batch)
    found = []
    for key, mine in of.items():
        lane = lanes.get(key)
        if rests(lane, now) or any(batch.in_hand(now) for batch in mine):
            continue
        due = [batch for batch in mine if batch.next_at <= now]
        if due:
            found.append(min(due, key=lambda batch: batch.id))
    return found


def rests(lane: Lane | None, now: int) -> bool:
    """Whether nothing is tried on a lane at this moment."""
    return lane is not None and lane.open_until is not None and lane.open_until > now


def preferred(lane: Lane | None, ways: Sequence[Line], now: int) -> Line:
    """The way to take: the first, unless another took over a while ago."""
    if lane is not None and not _detour_is_over(lane, ways[0], now):
        for way in ways[1:]:
            if way.route_id == lane.route_id:
                return way
    return ways[0]


def nowhere(type: str, payer_id: str) -> Line:
    """What a file is addressed by while there is no way to its payer; it is written anew when there is one."""
    id = clean(payer_id)[0][: limits.ENVELOPE_ID_CHARACTERS_MAX].strip()
    return Line(
        route_id=NO_ROUTE,
        payer_id=payer_id,
        type=type,
        kind="none",
        sender_id=US.id,
        receiver_id=id if len(id) > 1 else f"P{id}",
    )


def pause_seconds(failures: int) -> int:
    """How long to wait after so many failures in a row."""
    doublings = min(failures - 1, limits.RETRY_SECONDS_MAX.bit_length())
    return min(limits.RETRY_SECONDS_FIRST << doublings, limits.RETRY_SECONDS_MAX)


def after_failure(
    batch: Batch, lane: Lane, ways: Sequence[Line], failure: Failure, now: int
) -> Next:
    """What follows from an attempt that did not succeed."""
    state = FIXED if failure.arrival is Presence.ABSENT else SENDING
    since = now if batch.failing_since is None else batch.failing_since
    current = next((way for way in ways if way.route_id == batch.route_id), None)
    if current is None or current.route_id != preferred(lane, ways, now).route_id:
        # A way that is no longer used, asked whether it has the file: that says nothing of the lane.
        return Next(state, now + SECOND * pause_seconds(batch.attempts), since, lane)
    lane = replace(lane, failures=lane.failures + 1, fault=failure.fault)
    pause = SECOND * pause_seconds(lane.failures)
    if len(ways) > 1 and _gave_way(lane, ways, current, now - since, now):
        lane = _detour(lane, ways, current, now)
        # Known to be absent, it goes the other way at once; else it waits until this way can be asked.
        return Next(state, now if state == FIXED else now + pause, since, lane)
    rest = SECOND * limits.DENIED_SECONDS if failure.lasting else pause
    return Next(state, now + rest, since, replace(lane, open_until=now + pause))


def after_delivery(batch: Batch, lane: Lane) -> Lane:
    """A payer that took a file has no trouble; the way it came by is kept while it is not the first."""
    if batch.route_id == lane.route_id:
        return replace(lane, failures=0, open_until=None, fault="")
    return Lane(lane.payer_id, lane.type)


def _detour_is_over(lane: Lane, first: Line, now: int) -> bool:
    return lane.since is None or now - lane.since >= SECOND * first.takeover_seconds


def _gave_way(lane: Lane, ways: Sequence[Line], current: Line, failing: int, now: int) -> bool:
    """Whether a way has failed for so long that the next one takes over.

    The first way is tried again now and then; where that fails the other goes on at once.
    """
    tried_again = current is ways[0] and lane.route_id is not None
    return tried_again or failing >= SECOND * current.takeover_seconds


def _detour(lane: Lane, ways: Sequence[Line], current: Line, now: int) -> Lane:
    after = ways[(ways.index(current) + 1) % len(ways)]
    if current is ways[0] and any(way.route_id == lane.route_id for way in ways[1:]):
        after = next(way for way in ways if way.route_id == lane.route_id)
    route_id, since = (None, None) if after is ways[0] else (after.route_id, now)
    return Lane(lane.payer_id, lane.type, 0, None, lane.fault, route_id, since)
