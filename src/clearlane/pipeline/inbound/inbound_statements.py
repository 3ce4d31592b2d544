"""Reading: the statements of a payer's file, page by page, each with the claim of ours that it means.

    async for page in Reading(desk, file, content, kinds).pages(): ...

The file is read in a thread, a page at a time, so that a large one holds nobody up and memory stays flat. TA1 and 999
speak of files: the batch they answer is opened and its layout tells the claims. Everything else names its claim.
Changes nothing: what follows from a statement is decided elsewhere.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Protocol, TypeAlias, TypeVar

import msgspec

from clearlane.claims import acks
from clearlane.claims.ack_messages import Asks, Heard, HeardStatus
from clearlane.claims.extract import Clippings, cut
from clearlane.claims.facts import ClaimKey, Fact, Kind, Unmatched, Where
from clearlane.claims.sent_layout import Layout, layout
from clearlane.kernel import limits
from clearlane.payments import balance, read_835
from clearlane.payments.match import Nobody
from clearlane.payments.model import Remit
from clearlane.pipeline.claim_status import ClaimFact
from clearlane.pipeline.inbound.match_claims import match
from clearlane.pipeline.work_context import Desk
from clearlane.store import batches, inbox
from clearlane.store.batches import Batch, Member
from clearlane.store.database import Tx
from clearlane.store.inbox import StoredFile
from clearlane.x12.envelope_time import whole_number

T = TypeVar("T")

ACKNOWLEDGEMENTS = frozenset({"TA1", "999", "277CA", "277"})
SHOWN = frozenset({Kind.STATUS, Kind.CLAIM_REFUSED, Kind.SET_REFUSED, Kind.TA1_REFUSED})
"""The facts that are worth a document, beside remittances."""
SET_DIGITS = 4
"""How many digits of our batch number (BHT03) count the sets of an interchange."""
UNREADABLE = "Amounts or codes of the claim payment cannot be read: a person must look."


class Owner(Protocol):
    """A claim of ours."""

    @property
    def request_id(self) -> str: ...
    @property
    def vendor_id(self) -> int: ...
    @property
    def site_id(self) -> int: ...


Said: TypeAlias = Fact | Remit | Unmatched


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, and the claim it means or why it means none."""

    said: Said
    owner: Owner | str
    part: bytes | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """What sort of statement it is."""
        return str(self.said.kind)

    def told(self, inbox_id: int) -> ClaimFact:
        """As it is told to its claim."""
        owner, fact = self.owner, self.said
        assert not isinstance(owner, str), "a statement without a claim is told to nobody"
        assert not isinstance(fact, Unmatched), "what means a claim has one"
        return ClaimFact(
            owner.request_id, owner.vendor_id, owner.site_id, fact, self.part, inbox_id
        )

    def unmatched(self, reason: str) -> bytes:
        """As it is kept for a person."""
        return msgspec.json.encode(_unmatched(self.said, reason))


class Reading:
    """One file while it is read."""

    def __init__(self, desk: Desk, file: StoredFile, content: bytes, kinds: frozenset[str]) -> None:
        self.doubts: list[str] = []
        """What a person should look at, without anything of a claim."""
        self._desk = desk
        self._file = file
        self._content = content
        self._kinds = kinds
        self._clippings = Clippings(content)
        self._sent: tuple[object, Layout | None, dict[str, Member]] = (None, None, {})

    async def pages(self) -> AsyncIterator[list[Statement]]:
        """The statements of the file."""
        if "835" in self._kinds:
            async for paid in _paged(self._remits()):
                yield await self._matched(paid)
        if self._kinds & ACKNOWLEDGEMENTS:
            async for heard in _paged(acks.read(self._content)):
                async for page in self._heard(heard):
                    yield page

    # ---- statements that name their claims ---------------------------------------------------

    def _remits(self) -> Iterator[tuple[Remit, bytes]]:
        for heard in read_835.read(self._content):
            if isinstance(heard, read_835.Paid):
                yield heard.remit, cut(heard.unit)
            else:
                self.doubts += balance.doubts(heard)

    async def _matched(self, said: Sequence[tuple[Fact | Remit, bytes]]) -> list[Statement]:
        vault, payer_id = self._desk.outside.vault, self._file.payer_id
        named = [one.claim if isinstance(one, Fact) else one for one, _ in said]
        async with self._desk.database.read(inbox.SCOPE) as tx:
            found = await match(tx, vault, payer_id, named)
        return [
            Statement(one, _owner(one, owner), part)
            for (one, part), owner in zip(said, found, strict=True)
        ]

    # ---- statements that name files ----------------------------------------------------------

    async def _heard(self, heard: Sequence[Heard]) -> AsyncIterator[list[Statement]]:
        named = [one for one in heard if isinstance(one, HeardStatus)]
        if named:
            statuses = await asyncio.to_thread(
                lambda: [(one.fact, cut(one.unit, one.fact.where.position)) for one in named]
            )
            yield await self._matched(statuses)
        for one in heard:
            if not isinstance(one, HeardStatus):
                sent, members = await self._batch(one.asks)
                async for facts in _paged(self._answers(one, sent)):
                    yield [Statement(said, _member(said, members), part) for said, part in facts]

    def _answers(
        self, heard: Heard, sent: Layout | None
    ) -> Iterator[tuple[Fact | Unmatched, bytes | None]]:
        for said in acks.facts(heard, sent):
            shown = isinstance(said, Fact) and said.kind in SHOWN
            yield said, self._clippings.of(said) if isinstance(said, Fact) and shown else None

    async def _batch(self, asks: Asks) -> tuple[Layout | None, dict[str, Member]]:
        """The batch that is answered, if it went to this payer."""
        if self._sent[0] != asks:
            self._sent = (asks, *await self._opened(asks))
        return self._sent[1], self._sent[2]

    async def _opened(self, asks: Asks) -> tuple[Layout | None, dict[str, Member]]:
        async with self._desk.database.read(inbox.SCOPE) as tx:
            batch = await self._find(tx, asks)
            if batch is None:
                return None, {}
            content = await batches.content(tx, self._desk.outside.vault, batch)
            members = {one.request_id: one for one in await batches.members(tx, batch.id)}
        attempts = {number: one.attempt for number, one in members.items()}
        read = partial(layout, content, attempts=attempts, asked=asks.positions)
        return await asyncio.to_thread(read), members

    async def _find(self, tx: Tx, asks: Asks) -> Batch | None:
        for control in _controls(asks):
            batch = await batches.by_control(tx, control)
            if batch is not None and batch.payer_id == self._file.payer_id:
                return batch
        return None


async def _paged(source: Iterator[T]) -> AsyncIterator[list[T]]:
    """Pages of what a reader gives, each read in a thread."""
    while page := await asyncio.to_thread(lambda: list(islice(source, limits.POSTED_AT_ONCE))):
        yield page


def _controls(asks: Asks) -> Iterator[int]:
    """The control numbers that are asked for: a batch number is one with the number of the set behind it."""
    if asks.by == "batch" and len(asks.number) > SET_DIGITS:
        yield whole_number(asks.number[:-SET_DIGITS])
    yield whole_number(asks.number)


def _owner(said: Said, found: Owner | Nobody) -> Owner | str:
    if isinstance(said, Remit) and said.faults:
        return UNREADABLE
    return found.reason if isinstance(found, Nobody) else found


def _member(said: Fact | Unmatched, members: dict[str, Member]) -> Owner | str:
    if isinstance(said, Unmatched):
        return said.reason
    return members.get(said.claim.number) or "The batch does not hold this claim."


def _unmatched(said: Said, reason: str) -> Unmatched:
    if isinstance(said, Unmatched):
        return said
    if isinstance(said, Fact):
        return Unmatched(
            reason=reason, kind=said.kind, at=said.at, claim=said.claim, where=said.where,
            source=said.source,
        )  # fmt: skip
    key = ClaimKey(
        number=said.trace,
        account=said.account,
        payer_number=said.payer_number,
        controls=said.controls,
    )
    where = Where(
        interchange=said.interchange, group=said.group, set=said.set, position=said.position
    )
    return Unmatched(
        reason=reason, kind=Kind.REMIT, at=said.at, claim=key, where=where, source="835"
    )
