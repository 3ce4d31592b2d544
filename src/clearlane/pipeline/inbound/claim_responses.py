"""Make acknowledgements (277CA) and statuses (277) for the senders of files: of corrections, deliveries and payers' files.

    for response, content in await delivery_responses(context, site, due): ...

One file is about one set of the sender, with all its claims that the cause is about, in its own numbers. Claims are opened
a page at a time, and of each only its text in the file is kept.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.forms.x12_loops import loops_of
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.responses.ack_verdicts import FORWARDED, PAYER, RECEIPT
from clearlane.claims.responses.acknowledged_claim import AcknowledgedClaim, acknowledged_claim
from clearlane.claims.responses.facts import Fact, FactKind
from clearlane.claims.responses.returned_verdicts import (
    RETURNED,
    returned_statuses,
    returned_verdict,
)
from clearlane.claims.responses.sender_set import SenderSet, values_for_sender
from clearlane.claims.responses.write_277 import StatusResponse277
from clearlane.claims.responses.write_277ca import (
    Acknowledgement277CA,
    AckSource,
    clearinghouse_source,
)
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.clock import from_micros, to_local
from clearlane.payers.hops import HOP
from clearlane.pipeline.intake.files.file_responses import ClientResponse
from clearlane.pipeline.load_claim import open_claim
from clearlane.pipeline.stored_facts import open_fact
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claims, facts
from clearlane.store.claims.claims import StoredClaim
from clearlane.store.claims.facts import FactRow
from clearlane.store.database.database import require_row
from clearlane.store.delivery import batches, inbox
from clearlane.store.delivery.control_numbers import next_control_number
from clearlane.store.delivery.inbox import InboxFile
from clearlane.store.files import client_files, due_responses, file_sets
from clearlane.store.files.due_responses import DueResponse
from clearlane.store.files.file_sets import FileSet
from clearlane.x12.reader.set_slices import AS_RECEIVED, HeaderValues

CLAIMS_PAGE_ROWS = 250

ResponseContent = tuple[ClientResponse, bytes]


class _OpenedClaim(NamedTuple):
    """A claim that a response is about."""

    number: str
    payer_id: str
    payer_type: str
    claim: AcknowledgedClaim


async def correction_responses(
    context: WorkContext, site: Site, due: DueResponse
) -> list[ResponseContent]:
    """Return the acknowledgement that we have the correction of a claim of a set."""
    found, made = await _own_acknowledgement(context, site, due)
    async for page in _claims(context, site, due):
        for one in page:
            made.add(one.claim, RECEIPT)
    return [await _content(context, site, due, found, "277CA", made.write)]


async def delivery_responses(
    context: WorkContext, site: Site, due: DueResponse
) -> list[ResponseContent]:
    """Return the acknowledgement that claims of a set were delivered."""
    found, made = await _own_acknowledgement(context, site, due)
    async with context.database.read(batches.SCOPE) as tx:
        members = await batches.list_members(tx, int(due.source_id))
    attempts = {one.claim_number: one.attempt for one in members}
    async for page in _claims(context, site, due):
        first = await _first_deliveries(context, site, [one.number for one in page])
        for one in page:
            # A claim whose file was refused and went again was forwarded before.
            if first.get(one.number) == attempts[one.number]:
                made.add(one.claim, FORWARDED)
    if not made.claims:
        return []
    return [await _content(context, site, due, found, "277CA", made.write)]


async def payer_file_responses(
    context: WorkContext, site: Site, due: DueResponse
) -> list[ResponseContent]:
    """Return the acknowledgements with what a payer's file, or a hop's, says of the claims of a set.

    A file of a hop may hold statements of its own and of several payers: each source has files of its own. A file that is
    read again may say more of claims than before: another response tells that alone.
    """
    inbox_id = int(due.source_id)
    async with context.database.read(inbox.SCOPE) as tx:
        file = require_row(await inbox.find(tx, inbox_id), "an inbox file")
    found, sender = await _set(context, site, due)
    before = last = await _last_reported(context, site, due, found)
    made: dict[AckSource, _Responses] = {}
    async for page in _claims(context, site, due):
        numbers = [one.number for one in page]
        reported, stored = await _new_facts(context, site, inbox_id, numbers, after=before)
        last = max(last, stored)
        for one in page:
            for source, own in _by_source(context, file, one, reported.get(one.number, ())).items():
                if source not in made:
                    made[source] = await _responses(context, site, found, sender, source)
                made[source].add(one.claim, own)
    return [
        await _content(
            context, site, due, found, type, write, of_source=f"{_source_key(source)}:{last}"
        )
        for source, responses in made.items()
        for type, count, write in responses.made
        if count
    ]


class _Responses(NamedTuple):
    """What goes back to the sender of a set from one source."""

    acknowledged: Acknowledgement277CA
    decided: StatusResponse277

    def add(self, claim: AcknowledgedClaim, facts: Sequence[Fact]) -> None:
        verdict = returned_verdict(facts, claim)
        if verdict is not None:
            self.acknowledged.add(claim, verdict)
        statuses, payer_number = returned_statuses(facts)
        if statuses:
            self.decided.add(claim, statuses, payer_number)

    @property
    def made(self) -> tuple[tuple[str, int, Callable[[], bytes]], ...]:
        return (
            ("277CA", self.acknowledged.claims, self.acknowledged.write),
            ("277", self.decided.claims, self.decided.write),
        )


async def _responses(
    context: WorkContext, site: Site, found: FileSet, sender: SenderSet, source: AckSource
) -> _Responses:
    acknowledged = await _acknowledgement(context, site, found, sender, source)
    control, moment = await _envelope(context, site)
    return _Responses(
        acknowledged, StatusResponse277(source, sender, control=control, moment=moment)
    )


def _by_source(
    context: WorkContext, file: InboxFile, claim: _OpenedClaim, facts: Sequence[Fact]
) -> dict[AckSource, list[Fact]]:
    """Return what a file says of a claim by who says it: the payer, or a clearinghouse on the way to it."""
    payers = context.payer_access.payers()
    payer_id = claim.payer_id if file.type == HOP else file.payer_id
    payer = payers.find(payer_id, claim.payer_type if file.type == HOP else file.type)
    own = AckSource(payer.name if payer else payer_id, payer_id, PAYER, "PI")
    found: dict[AckSource, list[Fact]] = {}
    for fact in (one for one in facts if one.kind in RETURNED):
        # A 999 of a hop refuses a file that the payer never saw.
        is_of_hop = file.type == HOP and fact.kind is not FactKind.STATUS
        source = own
        if fact.by_clearinghouse or is_of_hop:
            source = AckSource(fact.payer or file.payer_id, file.payer_id)
        found.setdefault(source, []).append(fact)
    return found


def _source_key(source: AckSource) -> str:
    """Return what tells a source from others of the same file, in whatever order a replay finds them.

    A payer may get another name in the directory. A hop may hand on what several clearinghouses say, under its own id.
    """
    name = "" if source.role == PAYER else source.name
    return f":{source.role}:{source.id}:{name}"


async def _set(context: WorkContext, site: Site, due: DueResponse) -> tuple[FileSet, SenderSet]:
    async with context.database.read(site.scope) as tx:
        sets = await file_sets.find_sets(tx, [due.set_id])
        found = require_row(sets.get(due.set_id), "the set of a response")
        await context.vault.load_keys_of(tx, [found.payload])
    return found, _open_sender(context, site, found)


def _open_sender(context: WorkContext, site: Site, found: FileSet) -> SenderSet:
    opened = context.vault.open(site.scope, file_sets.TABLE, found.set_id, found.payload)
    return msgspec.msgpack.decode(opened, type=SenderSet)


async def header_values(context: WorkContext, site: Site) -> HeaderValues:
    """Return what the headers of a payer's file say when it is handed on to a site: its ids as in the last file that it sent.

    They stay as received for a site that never sent a file.
    """
    async with context.database.read(site.scope) as tx:
        found = await file_sets.find_latest(tx)
        if found is None:
            return AS_RECEIVED
        await context.vault.load_keys_of(tx, [found.payload])
    return values_for_sender(_open_sender(context, site, found), *await _envelope(context, site))


async def _own_acknowledgement(
    context: WorkContext, site: Site, due: DueResponse
) -> tuple[FileSet, Acknowledgement277CA]:
    """Return an acknowledgement of our own for claims of a set, without claims yet."""
    found, sender = await _set(context, site, due)
    source = clearinghouse_source(context.payer_access.submitter.name, sender)
    return found, await _acknowledgement(context, site, found, sender, source)


async def _acknowledgement(
    context: WorkContext, site: Site, found: FileSet, sender: SenderSet, source: AckSource
) -> Acknowledgement277CA:
    control, moment = await _envelope(context, site)
    received = to_local(from_micros(found.created_at), site.time_zone).date()
    return Acknowledgement277CA(source, sender, received=received, control=control, moment=moment)


async def _envelope(context: WorkContext, site: Site) -> tuple[int, datetime]:
    """Return a control number, and the moment in the site's time."""
    control = await context.database.write(batches.SCOPE, next_control_number, actor=context.actor)
    return control, to_local(context.clock.now(), site.time_zone)


async def _claims(
    context: WorkContext, site: Site, due: DueResponse
) -> AsyncIterator[list[_OpenedClaim]]:
    """Yield the claims that a response is about, a page at a time."""
    after = due_responses.FIRST
    while True:
        async with context.database.read(site.scope) as tx:
            page = await due_responses.list_claims(tx, due, after=after, limit=CLAIMS_PAGE_ROWS)
            rows = await claims.find_many(tx, [one.claim_number for one in page])
            await context.vault.load_keys_of(tx, [row.payload for row in rows])
        if page:
            by_number = {row.claim_number: row for row in rows}
            ordered = [by_number[one.claim_number] for one in page]
            yield await asyncio.to_thread(_open_claims, context, site, ordered)
        if len(page) < CLAIMS_PAGE_ROWS:
            return
        after = page[-1]


def _open_claims(
    context: WorkContext, site: Site, rows: Sequence[StoredClaim]
) -> list[_OpenedClaim]:
    found = []
    for row in rows:
        claim = open_claim(context.vault, site.scope, row).claim
        if not isinstance(claim, X12Claim):
            raise TypeError(f"claim {row.claim_number} of a file is of another form")
        loops = loops_of(claim)
        type = KINDS[ClaimKind(row.kind)].payer_type
        acknowledged = acknowledged_claim(loops.claim, loops.parents)
        found.append(_OpenedClaim(row.claim_number, row.payer_id, type, acknowledged))
    return found


async def _first_deliveries(
    context: WorkContext, site: Site, numbers: Sequence[str]
) -> dict[str, int]:
    """Return which sending of each claim was the first that was delivered."""
    found: dict[str, int] = {}
    for number, reported in (await _own_facts(context, site, numbers)).items():
        sent = [fact.attempt for fact in reported if fact.kind is FactKind.SENT]
        if sent:
            found[number] = min(sent)
    return found


async def _own_facts(
    context: WorkContext, site: Site, numbers: Sequence[str]
) -> dict[str, list[Fact]]:
    """Return what we know ourselves of claims, by their numbers."""
    async with context.database.read(site.scope) as tx:
        rows = [row for row in await facts.list_own(tx, numbers) if row.inbox_id is None]
        await context.vault.load_keys_of(tx, [row.payload for row in rows])
    return _opened(context, rows)


def _opened(context: WorkContext, rows: Iterable[FactRow]) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for row in rows:
        fact = open_fact(context.vault, row)
        if isinstance(fact, Fact):
            found.setdefault(row.claim_number, []).append(fact)
    return found


async def _last_reported(context: WorkContext, site: Site, due: DueResponse, found: FileSet) -> int:
    """Return up to which fact a payer's file was reported to the sender of a set; 0 if it was not yet."""
    async with context.database.read(site.scope) as tx:
        keys = await client_files.list_keys(tx, found.file_id, found.set_id)
    of_file = [key for key in keys if f":{due.source}:{due.source_id}:" in key]
    return max((int(key.rpartition(":")[2]) for key in of_file), default=0)


async def _new_facts(
    context: WorkContext, site: Site, inbox_id: int, numbers: Sequence[str], *, after: int
) -> tuple[dict[str, list[Fact]], int]:
    """Return what a payer's file says of claims since a fact, by their numbers, and the last fact of it."""
    async with context.database.read(site.scope) as tx:
        known = await facts.list_of_file(tx, inbox_id, numbers)
        rows = [(id, row) for id, row in known if id > after]
        await context.vault.load_keys_of(tx, [row.payload for _, row in rows])
    return _opened(context, (row for _, row in rows)), max((id for id, _ in rows), default=after)


async def _content(
    context: WorkContext,
    site: Site,
    due: DueResponse,
    found: FileSet,
    type: str,
    write: Callable[[], bytes],
    *,
    of_source: str = "",
) -> ResponseContent:
    async with context.database.read(site.scope) as tx:
        answered = await client_files.find(tx, found.file_id)
    response = ClientResponse(
        type=type,
        response_key=f"{due.set_id}:{type}:{due.source}:{due.source_id}{of_source}",
        stem=answered.name if answered else found.set_id,
        answers=found.file_id,
        set_id=found.set_id,
    )
    return response, await asyncio.to_thread(write)
