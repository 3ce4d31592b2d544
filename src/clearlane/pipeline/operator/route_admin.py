"""Operate on routes to payers: pause, resume, try now, test, change. Audited.

A pause by a person lasts until it is ended: claims are accepted and wait. Knows destinations, which are a payer and a
type of claims, and stored routes.
"""

from dataclasses import dataclass, field, replace

from clearlane.connect.connection_check import ConnectionCheck
from clearlane.connect.factory import check_route
from clearlane.kernel.clock import to_micros
from clearlane.kernel.finding import Finding
from clearlane.payers.route_change import (
    RouteDifference,
    RouteEdit,
    concerns_connection,
    differences,
    read_change,
)
from clearlane.pipeline.outbound.delivery_policy import Destination
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, Tx, write_audit
from clearlane.store.delivery import batches, inbox
from clearlane.store.delivery.route_health import lock_route_health, set_route_health
from clearlane.store.delivery.routes import SCOPE, RouteWithSecrets, change_route, load_route


async def pause(context: WorkContext, destination: Destination, *, actor: Actor) -> bool:
    """Send nothing to a payer until it is resumed; return whether that changed anything."""
    now = to_micros(context.clock.now())

    async def job(tx: Tx) -> bool:
        health = await lock_route_health(tx, destination)
        if health.held_since is not None:
            return False
        await set_route_health(tx, replace(health, held_since=now))
        tx.audit("route.pause", detail=" ".join(destination))
        return True

    return await context.database.write(batches.SCOPE, job, actor=actor)


async def resume(context: WorkContext, destination: Destination, *, actor: Actor) -> bool:
    """End a pause, and make what waits due; return whether that changed anything."""
    now = to_micros(context.clock.now())

    async def job(tx: Tx) -> bool:
        health = await lock_route_health(tx, destination)
        if health.held_since is None:
            return False
        await set_route_health(tx, replace(health, held_since=None, failures=0, paused_until=None))
        await batches.retry_now(tx, destination, now)
        tx.audit("route.resume", detail=" ".join(destination))
        return True

    return await context.database.write(batches.SCOPE, job, actor=actor)


async def try_now(context: WorkContext, destination: Destination, *, actor: Actor) -> None:
    """Make the files of a payer due now, and its mailboxes too, whatever pause follows from failures."""
    now = to_micros(context.clock.now())

    async def job(tx: Tx) -> None:
        health = await lock_route_health(tx, destination)
        await set_route_health(tx, replace(health, paused_until=None))
        await batches.retry_now(tx, destination, now)
        for key, poll in (await inbox.all_polls(tx)).items():
            if (poll.type, poll.payer_id) == destination:
                await inbox.extend_poll(tx, key, now)
        tx.audit("route.try_now", detail=" ".join(destination))

    await context.database.write(batches.SCOPE, job, actor=actor)


async def check_connection(context: WorkContext, id: int, *, actor: Actor) -> list[ConnectionCheck]:
    """Test the connection of a stored route step by step. Nothing is sent."""
    stored = await load_route(context.database, context.vault, id)
    checks = await check_route(stored.route, stored.secrets, clock=context.clock)
    passed = all(check.passed for check in checks)

    await write_audit(
        context.database,
        SCOPE,
        "route.test",
        ids=[str(id)],
        detail="passed" if passed else "failed",
        actor=actor,
    )
    return checks


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteEditResult:
    """What came of a change: stored, or why not."""

    changes: list[RouteDifference] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    failed_checks: list[ConnectionCheck] = field(default_factory=list)

    @property
    def is_stored(self) -> bool:
        """Whether the route is stored with the changes."""
        return not self.findings and not self.failed_checks


async def change(
    context: WorkContext, id: int, edit: RouteEdit, *, actor: Actor
) -> RouteEditResult:
    """Change a route; if the change concerns the connection, it is tested first and not stored if that fails."""
    before = await load_route(context.database, context.vault, id)
    route, secrets, findings = read_change(before.route, before.secrets, edit)
    if route is None:
        return RouteEditResult(findings=findings)
    changes = differences(before.route, route, before.secrets, secrets)
    if concerns_connection(changes):
        checks = await check_route(route, secrets, clock=context.clock)
        failed = [one for one in checks if not one.passed]
        if failed:
            return RouteEditResult(changes=changes, failed_checks=failed)
    after = RouteWithSecrets(route, secrets)
    await change_route(context.database, context.vault, before, after, actor=actor)
    return RouteEditResult(changes=changes)
