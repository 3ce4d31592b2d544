"""Add a route to a payer or a hop, remove one, and take one into use. Audited.

What ``route test`` would refuse is not stored, unless the operator says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clearlane.connect.connection_check import ConnectionCheck
from clearlane.connect.factory import check_route
from clearlane.kernel.finding import Finding
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.hops import HOP
from clearlane.payers.model import PAYER_TYPES
from clearlane.payers.routes import (
    FILE_KINDS,
    ROUTE_POSITIONS_MAX,
    Route,
    RouteKind,
    RouteSecrets,
    read_route,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, Database, OperationRefused
from clearlane.store.delivery.routes import (
    add_route,
    list_routes,
    load_route,
    remove_route,
    set_active,
)

HOP_ID = re.compile(r"[A-Z0-9][A-Z0-9-]{1,14}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRoute:
    """A route as an operator typed it."""

    payer_id: str
    type: str
    kind: RouteKind
    position: int
    options: Sequence[tuple[str, str]] = field(repr=False)
    secrets: RouteSecrets


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRouteResult:
    """What came of it: the route as it is stored, or why it is not."""

    route: Route | None = None
    findings: list[Finding] = field(default_factory=list)
    checks: list[ConnectionCheck] = field(default_factory=list)
    """The steps of the test."""

    @property
    def passed(self) -> bool:
        """Whether every step of the test passed."""
        return bool(self.checks) and all(one.passed for one in self.checks)


async def find_destination(
    database: Database, payers: PayerDirectory, payer_id: str, type: str, kind: RouteKind
) -> tuple[str, str]:
    """Return type and id of the payer that a route is to reach, or of a hop, which is named here; refuse any other."""
    if type != HOP:
        payer = payers.find(payer_id, type)
        if payer is None:
            raise OperationRefused(f"There is no {type.lower()} payer {payer_id}.")
        return payer.key[0], payer.payer_id
    if not HOP_ID.fullmatch(payer_id):
        raise OperationRefused(
            "A hop has an id of 2 to 15 capital letters, digits and hyphens, such as EASTGATE."
        )
    kinds = {
        one.kind
        for one, _ in await list_routes(database)
        if (one.type, one.payer_id) == (HOP, payer_id)
    }
    if kind not in FILE_KINDS:
        if not kinds & FILE_KINDS:
            raise OperationRefused(
                f"There is no hop {payer_id} yet. Add its route for files first (folder, sftp or core): the one in real "
                "time has the same payers."
            )
    elif kinds & FILE_KINDS:
        raise OperationRefused(f"There is a hop {payer_id} already.")
    if any(payers.find(payer_id, one) for one in PAYER_TYPES):
        raise OperationRefused(
            f"{payer_id} is the id of a payer. Give the hop another id: files that come back could be of either."
        )
    return HOP, payer_id


async def free_position(database: Database, destination: tuple[str, str], kind: RouteKind) -> int:
    """Return the first position that no active route of a payer has, for files or in real time."""
    carries_files = kind in FILE_KINDS
    taken = {
        one.position
        for one, _ in await list_routes(database)
        if one.active
        and (one.type, one.payer_id) == destination
        and one.carries_files == carries_files
    }
    return next(
        (one for one in range(1, ROUTE_POSITIONS_MAX + 1) if one not in taken), ROUTE_POSITIONS_MAX
    )


async def try_new(context: WorkContext, new: NewRoute) -> NewRouteResult:
    """Test the connection of a route that is not stored, step by step. Nothing is sent."""
    route, findings = _read(new)
    if route is None:
        return NewRouteResult(findings=findings)
    return NewRouteResult(checks=await check_route(route, new.secrets, clock=context.clock))


async def add(
    context: WorkContext, new: NewRoute, *, actor: Actor, in_use: bool = True
) -> NewRouteResult:
    """Add a route. It is tested first, and not stored if that fails; one that is not to be used yet is not tested."""
    route, findings = _read(new, in_use=in_use)
    if route is None:
        return NewRouteResult(findings=findings)
    checks = await check_route(route, new.secrets, clock=context.clock) if in_use else []
    if not all(one.passed for one in checks):
        return NewRouteResult(checks=checks)
    done = await add_route(
        context.database, context.vault, route, new.secrets, now=context.clock.now(), actor=actor
    )
    return NewRouteResult(route=done.route, checks=checks)


async def use(context: WorkContext, id: int, *, actor: Actor) -> list[ConnectionCheck]:
    """Take a route into use if its connection works; return the steps of the test."""
    stored = await load_route(context.database, context.vault, id)
    checks = await check_route(stored.route, stored.secrets, clock=context.clock)
    if all(one.passed for one in checks):
        await set_active(context.database, id, active=True, actor=actor)
    return checks


async def stop_using(context: WorkContext, id: int, *, actor: Actor) -> None:
    """Use a route no longer. It keeps its settings and secrets."""
    await set_active(context.database, id, active=False, actor=actor)


async def remove(context: WorkContext, id: int, *, actor: Actor) -> None:
    """Remove a route for good and forget its secrets."""
    await remove_route(context.database, id, now=context.clock.now(), actor=actor)


def _read(new: NewRoute, *, in_use: bool = True) -> tuple[Route | None, list[Finding]]:
    route, findings = read_route(
        payer_id=new.payer_id,
        type=new.type,
        kind=new.kind,
        position=new.position,
        options=new.options,
        secrets=new.secrets,
    )
    return (route and replace(route, active=in_use)), findings
