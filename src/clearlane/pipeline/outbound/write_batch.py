"""Write stored claims as one file for one route to a payer: named, numbered and sealed.

Claims are opened a page at a time and the file is written in a thread, so that many waiting claims neither fill
memory nor block the event loop. Knows claims and routes; knows no state of a batch.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from clearlane.claims.fields import Claim
from clearlane.claims.kinds import KINDS, ClaimKind, id_in_claims
from clearlane.claims.read.decode import restore_claim
from clearlane.claims.write.batch_naming import batch_file_name
from clearlane.claims.write.line_controls import given_controls
from clearlane.claims.write.write_837 import (
    Envelope,
    OutgoingClaim,
    TradingPartner,
    account_of,
    write_claims,
)
from clearlane.claims.x12_claim import X12Claim
from clearlane.connect.connections import PayerRoute
from clearlane.kernel import limits
from clearlane.kernel.faults import fault_code
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.kernel.limits import CONTROL_NUMBER_MAX
from clearlane.kernel.log import get_logger
from clearlane.kernel.tasks import run_in_background
from clearlane.payers.routes import CAPITAL
from clearlane.pipeline.load_claim import ClaimContent
from clearlane.pipeline.other_payer import find_other_payer_id
from clearlane.pipeline.route_connections import envelope_for, receiver_of
from clearlane.pipeline.work_context import WorkContext
from clearlane.proofs.statements import part_digest
from clearlane.store.claims import claims
from clearlane.store.claims.claim_lookup import (
    ACCOUNT_CHARACTERS_KEPT,
    cut_account_reference,
    line_reference,
)
from clearlane.store.claims.claim_queue import QueuedClaim, list_queued_claims
from clearlane.store.database.database import StoreFault
from clearlane.store.delivery import batches
from clearlane.store.delivery.batches import BatchFile
from clearlane.store.delivery.control_numbers import next_control_number
from clearlane.store.vault.vault import InvalidSeal, Vault
from clearlane.x12.reader.claim_slices import slice_claims

log = get_logger()

BATCH_PAGE_ROWS = 250
TEST = "T"
"""ISA15 of a file of tests."""

LoadPage = Callable[..., Awaitable[list[QueuedClaim]]]
"""Loads the next claims ``after`` a claim number, up to a ``limit``."""


class ControlNumbersExhausted(Exception):
    """Every control number that fits into ISA13 was used."""


@dataclass(frozen=True, slots=True)
class ComposedBatch:
    """A file to send and the claims in it."""

    file: BatchFile
    members: tuple[str, ...]
    line_references: tuple[tuple[str, str], ...]
    """Request id and keyed hash for each line control number that the vendor chose."""


async def compose_batch(
    context: WorkContext, route: PayerRoute, kind: ClaimKind, outgoing: Sequence[OutgoingClaim]
) -> ComposedBatch:
    """Write claims as one interchange with a control number of its own, and seal it.

    A claim that cannot be written is left out and named in the log: it must not keep the others back.
    """
    control = await context.database.write(batches.SCOPE, next_control_number, actor=context.actor)
    if control > CONTROL_NUMBER_MAX:
        raise ControlNumbersExhausted
    envelope = envelope_for(route, control, context.clock.now())
    if any(is_test(out) for out in outgoing):
        envelope = replace(envelope, usage=TEST)
    if route.letters == CAPITAL:
        outgoing = [replace(out, capital_letters=True) for out in outgoing]
    if route.hop_payer_id:
        outgoing = [replace(out, hop_payer_id=route.hop_payer_id) for out in outgoing]
    submitter = context.payer_access.submitter
    parties = (
        replace(submitter, id=envelope.application_sender or envelope.sender),
        receiver_of(context.payer_access.payers(), route),
    )
    try:
        content = await run_in_background(_write, outgoing, envelope, parties)
    except ValueError:
        outgoing = await run_in_background(_writable, outgoing, envelope, parties)
        content = await run_in_background(_write, outgoing, envelope, parties)
    name = batch_file_name(route.file_name, envelope, KINDS[kind].file_tag)
    await context.vault.ensure_key(batches.OWNER)
    seal = context.vault.seal
    parts = await run_in_background(_part_digests, content, outgoing)
    file = BatchFile(
        route_id=route.route_id,
        hop=route.hop,
        hop_payer_id=route.hop_payer_id,
        control=control,
        name=name,
        digest=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        content=await run_in_background(seal, batches.OWNER, batches.TABLE, name, content),
        part_digests=parts,
    )
    references = await run_in_background(_line_references, context.vault, outgoing)
    return ComposedBatch(file, tuple(out.number for out in outgoing), references)


async def load_waiting_claims(
    context: WorkContext, payer_id: str, kind: ClaimKind, *, claims_max: int, in_doubt: bool
) -> list[OutgoingClaim]:
    """Load and open the oldest claims that wait for a payer."""
    page = partial(list_queued_claims, payer_id=payer_id, kind=kind.value, in_doubt=in_doubt)
    return await _load_claims(context, payer_id, kind, page, claims_max)


async def load_batch_claims(context: WorkContext, batch: batches.Batch) -> list[OutgoingClaim]:
    """Load and open the claims of a batch, to write it again."""
    page = partial(batches.list_member_claims, batch_id=batch.id)
    return await _load_claims(context, batch.payer_id, ClaimKind(batch.kind), page, batch.claims)


async def _load_claims(
    context: WorkContext, payer_id: str, kind: ClaimKind, load_page: LoadPage, claims_max: int
) -> list[OutgoingClaim]:
    payers = context.payer_access.payers()
    payer = payers.find(payer_id, KINDS[kind].payer_type)
    name = payer.name if payer else ""
    own_id = id_in_claims(payer, kind) if payer else ""
    outgoing: list[OutgoingClaim] = []
    after = ""
    while len(outgoing) < claims_max:
        rows = min(BATCH_PAGE_ROWS, claims_max - len(outgoing))
        async with context.database.read(batches.SCOPE) as tx:
            found = await load_page(tx, after=after, limit=rows)
            for queued in found:
                with suppress(InvalidSeal):  # logged below, claim by claim
                    await context.vault.load_keys_of(tx, [queued.payload])
        for at, queued in enumerate(found):
            if not at % limits.CLAIMS_AT_ONCE:
                await asyncio.sleep(0)
            claim = _claim(context, queued)
            if claim is not None:
                outgoing.append(
                    OutgoingClaim(
                        claim=claim,
                        number=queued.claim_number,
                        payer_id=payer_id,
                        payer_name=name,
                        other_payer_id=find_other_payer_id(payers, claim) or "",
                        account_as_number=bool(queued.account_as_number),
                        kind_payer_id=own_id,
                    )
                )
        if len(found) < rows:
            break
        after = found[-1].claim_number
    return outgoing


def _claim(context: WorkContext, queued: QueuedClaim) -> Claim | None:
    """Return a claim that waits: as this node accepted it just now, else from its row; None if it cannot be opened."""
    recent = context.recent_claims.take(queued.claim_number, queued.payload)
    if recent is not None:
        return recent
    scope = Scope(VendorId(queued.vendor_id), SiteId(queued.site_id))
    try:
        opened = context.vault.open(scope, claims.TABLE, queued.claim_number, queued.payload)
        content = msgspec.json.decode(opened, type=ClaimContent)
        return restore_claim(queued.form, bytes(content.claim))
    except (StoreFault, ValueError) as fault:
        log.warning("claim not opened", claim=queued.claim_number, fault=fault_code(fault))
        return None


def is_test(out: OutgoingClaim) -> bool:
    """Return whether a claim came in a file of tests (ISA15): it goes out as one, whatever the route is for."""
    return isinstance(out.claim, X12Claim) and out.claim.usage == TEST


def of_one_usage(outgoing: Sequence[OutgoingClaim], route: PayerRoute) -> list[OutgoingClaim]:
    """Return the claims that can share a file with the first: tests and claims never do, except on a route for tests."""
    if route.usage == TEST:
        return list(outgoing)
    return [out for out in outgoing if is_test(out) == is_test(outgoing[0])]


Parties = tuple[TradingPartner, TradingPartner]
"""Submitter and receiver."""


def _write(outgoing: Sequence[OutgoingClaim], envelope: Envelope, parties: Parties) -> bytes:
    return b"".join(write_claims(outgoing, envelope, *parties))


def _part_digests(content: bytes, outgoing: Sequence[OutgoingClaim]) -> bytes:
    """Return the SHA-256 of each claim's part of the file, in the order of the claims' numbers."""
    digests = {number: part_digest(part) for number, part in slice_claims(content)}
    # A claim that could not be found again would have no proof; it is sent all the same.
    numbers = sorted(out.number for out in outgoing)
    return b"".join(bytes.fromhex(digests.get(one) or part_digest(b"")) for one in numbers)


def _line_references(
    vault: Vault, outgoing: Sequence[OutgoingClaim]
) -> tuple[tuple[str, str], ...]:
    lines = [
        (out.number, line_reference(vault, out.payer_id, control))
        for out in outgoing
        for control in given_controls(out.claim)
    ]
    # A payer that cuts account numbers returns one that was never sent: a person may find the claim by the rest.
    cut = [
        (out.number, cut_account_reference(vault, out.payer_id, account))
        for out in outgoing
        if (account := account_of(out.claim)) and len(account) > ACCOUNT_CHARACTERS_KEPT
    ]
    return (*lines, *cut)


def _writable(
    outgoing: Sequence[OutgoingClaim], envelope: Envelope, parties: Parties
) -> list[OutgoingClaim]:
    """Return the claims that can be written, each tried alone."""
    found = []
    for out in outgoing:
        try:
            _write([out], envelope, parties)
        except ValueError:
            log.warning("claim not written", claim=out.number)
        else:
            found.append(out)
    return found
