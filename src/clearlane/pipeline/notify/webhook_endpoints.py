"""What a vendor does with its webhook endpoints: add, change, test, enable and remove them, and send events again.

Every verb is one transaction in the vendor's scope, with its audit row. ``extend`` adds to that transaction what a
caller stores with the change.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import msgspec

from clearlane.events.event import EVENT_NUMBER_MAX, NewEvent
from clearlane.events.signature import new_secret
from clearlane.events.types import is_for_vendors, matching_types
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import VendorId, VendorScope, new_number
from clearlane.kernel.redacted_repr import shows
from clearlane.pipeline.notify.feed import PING
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, JobExtension, OperationRefused, Tx, unextended
from clearlane.store.events import events, webhooks
from clearlane.store.events.webhooks import DeliveryRow, EndpointRow, NewDelivery
from clearlane.store.vault.vault import Vault

ENDPOINT_LETTER = "W"
ENDPOINTS_PER_VENDOR_MAX = 20
OLD_SECRET_HOURS = 24
"""How long the old secret still signs after a rotation, beside the new one."""
DISABLED_BY_A_PERSON = "An operator disabled it."


class NoSuchEndpoint(Exception):
    """The vendor has no endpoint, or no delivery, of this id."""


class TooManyEndpoints(OperationRefused):
    """A vendor has as many endpoints as are allowed."""


@shows()
class EndpointSecret(msgspec.Struct, frozen=True):
    """A secret that signs, and until when; None for the current one."""

    secret: str
    until: int | None = None


@shows()
class EndpointContent(msgspec.Struct, frozen=True):
    """The sealed part of an endpoint."""

    url: str
    secrets: list[EndpointSecret]


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """A webhook endpoint, opened."""

    row: EndpointRow
    content: EndpointContent = field(repr=False)

    @property
    def types(self) -> list[str]:
        """The patterns of types that are wanted."""
        return msgspec.json.decode(self.row.types, type=list[str])

    @property
    def sites(self) -> list[int]:
        """The sites whose events are wanted; none means all."""
        return msgspec.json.decode(self.row.sites, type=list[int])

    def wanted_types(self) -> frozenset[str]:
        """Return the types that are delivered. A ping is for the endpoint that it names, whatever it wants."""
        return frozenset(filter(is_for_vendors, matching_types(self.types))) | {PING}

    def valid_secrets(self, now: int) -> list[str]:
        """Return the secrets that sign now, the current one first."""
        return [one.secret for one in self.content.secrets if one.until is None or now < one.until]


def vendor_scope(vendor_id: VendorId) -> VendorScope:
    """Return the scope of a vendor's endpoints, which belong to none of its sites."""
    return VendorScope(vendor_id, ())


async def add_endpoint(
    context: WorkContext,
    vendor_id: VendorId,
    *,
    url: str,
    types: Sequence[str],
    sites: Sequence[int],
    actor: Actor,
    now: datetime,
    extend: JobExtension[WebhookEndpoint] = unextended,
) -> WebhookEndpoint:
    """Add an endpoint, which gets the events that happen from now on."""
    vault, scope = context.vault, vendor_scope(vendor_id)
    await vault.ensure_key(scope)
    endpoint_id = new_number(now, letter=ENDPOINT_LETTER)
    content = EndpointContent(url, [EndpointSecret(new_secret())])
    row = EndpointRow(
        endpoint_id=endpoint_id,
        state=webhooks.ACTIVE,
        types=_json(types),
        sites=_json(sites),
        created_at=to_micros(now),
        after_event=0,
        replay_through=0,
        failing_since=None,
        failed_event=None,
        disabled_at=None,
        fault="",
        payload=_seal(vault, scope, endpoint_id, content),
    )

    async def job(tx: Tx) -> WebhookEndpoint:
        if len(await webhooks.list_endpoints(tx)) >= ENDPOINTS_PER_VENDOR_MAX:
            raise TooManyEndpoints(
                f"A vendor has {ENDPOINTS_PER_VENDOR_MAX} webhook endpoints at most: remove one first."
            )
        added = row._replace(after_event=await events.last_event(tx))
        await webhooks.add(tx, added)
        tx.audit("webhook.added", ids=[endpoint_id])
        return WebhookEndpoint(added, content)

    return await context.database.write(scope, extend(job), actor=actor)


async def list_endpoints(context: WorkContext, vendor_id: VendorId) -> list[WebhookEndpoint]:
    """Return a vendor's endpoints, oldest first."""
    scope = vendor_scope(vendor_id)
    async with context.database.read(scope) as tx:
        rows = await webhooks.list_endpoints(tx)
        await context.vault.load_keys_of(tx, [row.payload for row in rows])
    return [open_endpoint(context.vault, scope, row) for row in rows]


async def load_endpoint(
    context: WorkContext, vendor_id: VendorId, endpoint_id: str
) -> WebhookEndpoint:
    """Return one endpoint of a vendor."""
    scope = vendor_scope(vendor_id)
    async with context.database.read(scope) as tx:
        row = _require(await webhooks.find(tx, endpoint_id))
        await context.vault.load_keys_of(tx, [row.payload])
    return open_endpoint(context.vault, scope, row)


async def change_endpoint(
    context: WorkContext,
    vendor_id: VendorId,
    endpoint_id: str,
    *,
    url: str | None,
    types: Sequence[str] | None,
    sites: Sequence[int] | None,
    actor: Actor,
) -> WebhookEndpoint:
    """Change what is given of an endpoint."""

    def change(endpoint: WebhookEndpoint) -> WebhookEndpoint:
        row, content = endpoint.row, endpoint.content
        if types is not None:
            row = row._replace(types=_json(types))
        if sites is not None:
            row = row._replace(sites=_json(sites))
        if url is not None:
            content = msgspec.structs.replace(content, url=url)
        return WebhookEndpoint(row, content)

    return await _change(context, vendor_id, endpoint_id, change, "webhook.changed", actor)


async def rotate_secret(
    context: WorkContext,
    vendor_id: VendorId,
    endpoint_id: str,
    *,
    actor: Actor,
    now: datetime,
    extend: JobExtension[WebhookEndpoint] = unextended,
) -> WebhookEndpoint:
    """Give an endpoint a new secret. The old one signs as well for a day, so that both sides can change."""
    until = to_micros(now + timedelta(hours=OLD_SECRET_HOURS))

    def change(endpoint: WebhookEndpoint) -> WebhookEndpoint:
        current = endpoint.content.secrets[0]
        secrets = [EndpointSecret(new_secret()), EndpointSecret(current.secret, until)]
        return replace(endpoint, content=msgspec.structs.replace(endpoint.content, secrets=secrets))

    return await _change(
        context, vendor_id, endpoint_id, change, "webhook.secret_rotated", actor, extend
    )


async def disable_endpoint(
    context: WorkContext, vendor_id: VendorId, endpoint_id: str, *, actor: Actor, now: datetime
) -> None:
    """Disable an endpoint on a person's decision. What waits is not sent; enabling it can replay from there."""

    async def job(tx: Tx) -> None:
        row = _require(await webhooks.lock(tx, endpoint_id))
        if row.state == webhooks.DISABLED:
            return
        first = await webhooks.first_waiting(tx, endpoint_id)
        await webhooks.give_up(tx, endpoint_id)
        disabled = row._replace(
            state=webhooks.DISABLED, disabled_at=to_micros(now), failed_event=first,
            fault=DISABLED_BY_A_PERSON,
        )  # fmt: skip
        await webhooks.save(tx, disabled)
        data = {"endpoint_id": endpoint_id}
        tx.add_events([NewEvent("webhook.disabled", vendor_id=vendor_id, data=data)])
        tx.audit("webhook.disabled", ids=[endpoint_id], detail=DISABLED_BY_A_PERSON)

    await context.database.write(vendor_scope(vendor_id), job, actor=actor)


async def enable_endpoint(
    context: WorkContext,
    vendor_id: VendorId,
    endpoint_id: str,
    *,
    replay: bool,
    actor: Actor,
    extend: JobExtension[WebhookEndpoint] = unextended,
) -> WebhookEndpoint:
    """Enable an endpoint that was disabled; with ``replay`` everything since it failed is delivered."""
    scope = vendor_scope(vendor_id)

    async def job(tx: Tx) -> WebhookEndpoint:
        row = _require(await webhooks.lock(tx, endpoint_id))
        await context.vault.load_keys_of(tx, [row.payload])
        if row.state == webhooks.ACTIVE:
            return open_endpoint(context.vault, scope, row)
        after = await events.last_event(tx)
        if replay:
            after = row.after_event if row.failed_event is None else row.failed_event - 1
        enabled = row._replace(
            state=webhooks.ACTIVE, after_event=after, failing_since=None, failed_event=None,
            disabled_at=None, fault="",
        )  # fmt: skip
        await webhooks.save(tx, enabled)
        tx.audit("webhook.enabled", ids=[endpoint_id], detail="with replay" if replay else "")
        return open_endpoint(context.vault, scope, enabled)

    return await context.database.write(scope, extend(job), actor=actor)


async def replay_endpoint(
    context: WorkContext, vendor_id: VendorId, endpoint_id: str, *, after: int, actor: Actor,
    extend: JobExtension[int] = unextended,
) -> int:  # fmt: skip
    """Deliver everything after an event again, also what was delivered; return that event."""

    async def job(tx: Tx) -> int:
        row = _require(await webhooks.lock(tx, endpoint_id))
        through = max(row.after_event, row.replay_through)
        back = row._replace(after_event=min(after, row.after_event), replay_through=through)
        await webhooks.save(tx, back)
        tx.audit("webhook.replayed", ids=[endpoint_id])
        return back.after_event

    return await context.database.write(vendor_scope(vendor_id), extend(job), actor=actor)


async def ping_endpoint(
    context: WorkContext, vendor_id: VendorId, endpoint_id: str, *, actor: Actor,
    extend: JobExtension[int] = unextended,
) -> int:  # fmt: skip
    """Send an event that means nothing to one endpoint; return the event that it comes after."""

    async def job(tx: Tx) -> int:
        _require(await webhooks.find(tx, endpoint_id))
        before = await events.last_event(tx)
        data = {"endpoint_id": endpoint_id}
        tx.add_events([NewEvent(PING, vendor_id=vendor_id, data=data)])
        tx.audit("webhook.pinged", ids=[endpoint_id])
        return before

    return await context.database.write(vendor_scope(vendor_id), extend(job), actor=actor)


async def remove_endpoint(
    context: WorkContext, vendor_id: VendorId, endpoint_id: str, *, actor: Actor
) -> None:
    """Remove an endpoint and its log."""

    async def job(tx: Tx) -> None:
        _require(await webhooks.lock(tx, endpoint_id))
        await webhooks.remove(tx, endpoint_id)
        tx.audit("webhook.removed", ids=[endpoint_id])

    await context.database.write(vendor_scope(vendor_id), job, actor=actor)


async def list_deliveries(
    context: WorkContext, vendor_id: VendorId, endpoint_id: str, *, before: int | None, limit: int
) -> list[tuple[DeliveryRow, str]]:
    """Return the deliveries to an endpoint, the newest events first, each with the beginning of the last answer."""
    scope, vault = vendor_scope(vendor_id), context.vault
    async with context.database.read(scope) as tx:
        _require(await webhooks.find(tx, endpoint_id))
        oldest = EVENT_NUMBER_MAX if before is None else before
        rows = await webhooks.list_deliveries(tx, endpoint_id, before=oldest, limit=limit)
        await vault.load_keys_of(tx, [row.answer for row in rows if row.answer])
    return [(row, _open_answer(vault, scope, row)) for row in rows]


async def resend(
    context: WorkContext, vendor_id: VendorId, endpoint_id: str, event_id: int,
    *, actor: Actor, now: datetime, extend: JobExtension[None] = unextended,
) -> None:  # fmt: skip
    """Deliver one event to an endpoint again, or now if the next attempt is due later."""

    async def job(tx: Tx) -> None:
        _require(await webhooks.lock(tx, endpoint_id))
        found = await webhooks.find_delivery(tx, endpoint_id, event_id)
        if found is None:
            raise NoSuchEndpoint
        if found.state == webhooks.WAITING:
            await webhooks.save_attempts(tx, [found._replace(due_at=to_micros(now))])
        again = [NewDelivery(event_id, found.type, found.claim_number)]
        await webhooks.add_deliveries(tx, endpoint_id, again, due_at=to_micros(now), again=True)
        tx.audit("webhook.resent", ids=[endpoint_id])

    await context.database.write(vendor_scope(vendor_id), extend(job), actor=actor)


def open_endpoint(vault: Vault, scope: VendorScope, row: EndpointRow) -> WebhookEndpoint:
    """Open a stored endpoint, whose data key is loaded."""
    content = vault.open(scope, webhooks.TABLE, row.endpoint_id, row.payload)
    return WebhookEndpoint(row, msgspec.json.decode(content, type=EndpointContent))


async def _change(
    context: WorkContext,
    vendor_id: VendorId,
    endpoint_id: str,
    change: Callable[[WebhookEndpoint], WebhookEndpoint],
    action: str,
    actor: Actor,
    extend: JobExtension[WebhookEndpoint] = unextended,
) -> WebhookEndpoint:
    vault, scope = context.vault, vendor_scope(vendor_id)
    await vault.ensure_key(scope)

    async def job(tx: Tx) -> WebhookEndpoint:
        row = _require(await webhooks.lock(tx, endpoint_id))
        await vault.load_keys_of(tx, [row.payload])
        changed = change(open_endpoint(vault, scope, row))
        sealed = _seal(vault, scope, endpoint_id, changed.content)
        saved = replace(changed, row=changed.row._replace(payload=sealed))
        await webhooks.save(tx, saved.row)
        tx.audit(action, ids=[endpoint_id])
        return saved

    return await context.database.write(scope, extend(job), actor=actor)


def _require(row: EndpointRow | None) -> EndpointRow:
    if row is None:
        raise NoSuchEndpoint
    return row


def _seal(vault: Vault, scope: VendorScope, endpoint_id: str, content: EndpointContent) -> bytes:
    return vault.seal(scope, webhooks.TABLE, endpoint_id, msgspec.json.encode(content))


def _open_answer(vault: Vault, scope: VendorScope, row: DeliveryRow) -> str:
    if row.answer is None:
        return ""
    key = webhooks.answer_key(row.endpoint_id, row.event_id)
    return vault.open(scope, webhooks.ANSWERS, key, row.answer).decode(errors="replace")


def _json(values: Sequence[object]) -> str:
    return msgspec.json.encode(list(values)).decode()
