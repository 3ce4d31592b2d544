"""Compose: stored claims become one file for one way to a payer, named, numbered and sealed.

Claims are opened a page at a time and a few at once, so that neither memory nor the event loop feels how many
wait; the file itself is written in a thread. Knows claims and lines; knows no state of a batch.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
import structlog

from clearlane.claims.batch_naming import CONTROL_MAX, file_name, submitter
from clearlane.claims.decode import restore
from clearlane.claims.fields import ClaimKind
from clearlane.claims.write_837 import Envelope, Outgoing, Party, given_controls, write_claims
from clearlane.connect.routes import Line
from clearlane.kernel import limits
from clearlane.kernel.faults import fault_code
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.pipeline.intake.submit import PAYER_TYPES
from clearlane.pipeline.load_claim import Sealed
from clearlane.pipeline.routes import envelope_for
from clearlane.pipeline.work_context import Desk
from clearlane.store import batches as store
from clearlane.store import claims as claims_store
from clearlane.store.batches import WaitingClaim, Written
from clearlane.store.claim_lookup import line_reference
from clearlane.store.database import Actor, StoreFault, Tx
from clearlane.store.vault import NotSealed, Vault

log = structlog.get_logger()

KINDS = {type: kind for kind, type in PAYER_TYPES.items()}
Page = Callable[[Tx, str, int], Awaitable[list[WaitingClaim]]]
"""The next claims after a request id, at most so many."""


class NumbersExhausted(Exception):
    """Every control number that an interchange can carry was given."""


@dataclass(frozen=True, slots=True)
class Composed:
    """A file and the claims in it."""

    written: Written
    members: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    """Claim and keyed hash of each line control number that a caller chose."""


async def compose(desk: Desk, line: Line, kind: ClaimKind, outs: Sequence[Outgoing]) -> Composed:
    """Write claims as one interchange under a number of its own, and seal it.

    A claim that cannot be written is left out and named in the log: it must not hold the others.
    """
    control = await desk.database.write(store.SCOPE, store.next_control, actor=node(desk))
    if control > CONTROL_MAX:
        raise NumbersExhausted
    envelope = envelope_for(line, control, desk.clock.now())
    us = desk.outside.submitter
    parties = submitter(us, envelope.application_sender or envelope.sender), _receiver(desk, line)
    try:
        content = await asyncio.to_thread(_write, kind, outs, envelope, parties)
    except ValueError:
        outs = await asyncio.to_thread(_writable, kind, outs, envelope, parties)
        content = await asyncio.to_thread(_write, kind, outs, envelope, parties)
    name = file_name(kind, envelope.sender, control)
    await desk.outside.vault.ready(store.OWNER)
    seal = desk.outside.vault.seal
    written = Written(
        route_id=line.route_id,
        control=control,
        name=name,
        digest=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        content=await asyncio.to_thread(seal, store.OWNER, store.TABLE, name, content),
    )
    lines = await asyncio.to_thread(_lines, desk.outside.vault, outs)
    return Composed(written, tuple(out.number for out in outs), lines)


async def waiting_claims(
    desk: Desk, payer_id: str, kind: ClaimKind, *, most: int, held: bool
) -> list[Outgoing]:
    """The oldest claims that wait for a payer, opened."""

    async def page(tx: Tx, after: str, rows: int) -> list[WaitingClaim]:
        return await store.waiting(tx, payer_id, kind.value, after=after, most=rows, held=held)

    return await _opened(desk, payer_id, kind, page, most)


async def batched_claims(desk: Desk, batch: store.Batch) -> list[Outgoing]:
    """The claims of a batch, opened, to write it anew."""

    async def page(tx: Tx, after: str, rows: int) -> list[WaitingClaim]:
        return await store.member_claims(tx, batch.id, after=after, most=rows)

    kind = KINDS[batch.type]
    return await _opened(desk, batch.payer_id, kind, page, batch.claims)


def node(desk: Desk) -> Actor:
    """Who acts, for the audit."""
    return Actor("node", desk.node)


async def _opened(
    desk: Desk, payer_id: str, kind: ClaimKind, page: Page, most: int
) -> list[Outgoing]:
    payer = desk.outside.payers().find(payer_id, PAYER_TYPES[kind])
    name = payer.name if payer else ""
    outs: list[Outgoing] = []
    after = ""
    while len(outs) < most:
        rows = min(limits.GATHERED_PAGE_ROWS, most - len(outs))
        async with desk.database.read(store.SCOPE) as tx:
            found = await page(tx, after, rows)
            for one in found:
                with suppress(NotSealed):  # told below, claim by claim
                    await desk.outside.vault.fetch(tx, [one.payload])
        for at, one in enumerate(found):
            if not at % limits.CLAIMS_AT_ONCE:
                await asyncio.sleep(0)
            out = _outgoing(desk, kind, payer_id, name, one)
            if out is not None:
                outs.append(out)
        if len(found) < rows:
            break
        after = found[-1].request_id
    return outs


def _outgoing(
    desk: Desk, kind: ClaimKind, payer_id: str, payer_name: str, one: WaitingClaim
) -> Outgoing | None:
    scope = Scope(VendorId(one.vendor_id), SiteId(one.site_id))
    try:
        content = desk.outside.vault.open(scope, claims_store.TABLE, one.request_id, one.payload)
        sealed = msgspec.json.decode(content, type=Sealed)
        claim = restore(kind, bytes(sealed.claim))
    except (StoreFault, ValueError) as fault:
        log.warning("claim not opened", claim=one.request_id, fault=fault_code(fault))
        return None
    return Outgoing(
        claim=claim,
        number=one.request_id,
        payer_id=payer_id,
        payer_name=payer_name,
        account_as_number=one.account_as_number,
    )


def _receiver(desk: Desk, line: Line) -> Party:
    payer = desk.outside.payers().find(line.payer_id, line.type)
    return Party(
        name=payer.name if payer else line.payer_id, id=line.group_receiver or line.receiver_id
    )


Parties = tuple[Party, Party]
"""Submitter and receiver."""


def _write(
    kind: ClaimKind, outs: Sequence[Outgoing], envelope: Envelope, parties: Parties
) -> bytes:
    return b"".join(write_claims(kind, outs, envelope, *parties))


def _lines(vault: Vault, outs: Sequence[Outgoing]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (out.number, line_reference(vault, out.payer_id, control))
        for out in outs
        for control in given_controls(out.claim)
    )


def _writable(
    kind: ClaimKind, outs: Sequence[Outgoing], envelope: Envelope, parties: Parties
) -> list[Outgoing]:
    """Those claims that can be written, each tried alone."""
    found = []
    for out in outs:
        try:
            _write(kind, [out], envelope, parties)
        except ValueError:
            log.warning("claim not written", claim=out.number)
        else:
            found.append(out)
    return found
