"""Collect: payers' mailboxes are looked into when it is time, and what waits there is kept, raw, before all else.

A file is stored sealed, and only then dropped at the payer; a crash in between brings it again, and the same file
counts once. A line that is broken, slow or silent holds up nobody else: lines are looked into side by side, each
for a set time, and by one node at a time: its turn ends soon after the node does. Knows no format: what a file says
is read elsewhere.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

import structlog

from clearlane.connect.port import Denied, Incoming, Mailbox, Unreachable
from clearlane.connect.routes import Line
from clearlane.engine import fault_injection
from clearlane.engine.workflows import Steps
from clearlane.kernel import limits
from clearlane.kernel.clock import micros
from clearlane.pipeline.inbound import post
from clearlane.pipeline.work_context import Desk
from clearlane.store import inbox
from clearlane.store.database import Actor, StoreFault, Tx
from clearlane.store.inbox import NewFile, Settlement

log = structlog.get_logger()

NAME, QUEUE = "collect", "collect"
EVERY = "*/2 * * * * *"
TOO_SLOW = "The other side did not answer in time."
TOO_LARGE = f"The file is larger than {limits.TRANSFER_BYTES_MAX} bytes; it was left where it is."


async def collect(desk: Desk, steps: Steps) -> None:
    """The tick: what waits at payers is fetched, and what waits with us is posted.

    It has no steps to remember, because all of it may be done again. While it waits for a slow line, the next tick
    serves the others.
    """
    if desk.beyond is None:
        return
    await collect_due(desk, desk.clock.now())
    # One piece of durable work a file; what failed is tried again after a while.
    turn = micros(desk.clock.now()) // (limits.POST_AGAIN_SECONDS * 1_000_000)
    for id in await post.waiting(desk):
        await steps.start(post.NAME, id, key=f"{post.NAME}-{id}-{turn}")


async def collect_due(desk: Desk, now: datetime, *, every_line: bool = False) -> list[int]:
    """Look into the lines whose time has come, or into all of them; the files that are new."""
    if every_line:
        found: list[int] = []
        lines = desk.outside.lines().all()
        for at in range(0, len(lines), limits.COLLECT_LINES_AT_ONCE):
            found += await _look_into(desk, lines[at : at + limits.COLLECT_LINES_AT_ONCE], now)
        return found
    return await _look_into(desk, await _taken(desk, now), now)


async def _taken(desk: Desk, now: datetime) -> list[Line]:
    """The lines that are due and are ours to look into from here on."""
    lines = desk.outside.lines().all()
    if not lines:
        return []
    at = micros(now)
    async with desk.database.read(inbox.SCOPE) as tx:
        polls = await inbox.all_polls(tx)
    due = [
        line for line in lines if (poll := polls.get(key_of(line))) is None or poll.next_at <= at
    ]
    due = due[: limits.COLLECT_LINES_AT_ONCE]
    until = _turn_ends(now)

    async def take(tx: Tx) -> list[Line]:
        return [line for line in due if await inbox.take_poll(tx, key_of(line), at, until)]

    return await desk.database.write(inbox.SCOPE, take, actor=_actor(desk)) if due else []


async def _look_into(desk: Desk, lines: Sequence[Line], now: datetime) -> list[int]:
    async with asyncio.TaskGroup() as tasks:
        looks = [tasks.create_task(_Look(desk, line).run(now)) for line in lines]
    return [id for look in looks for id in look.result()]


class _Look:
    """One look into one mailbox."""

    def __init__(self, desk: Desk, line: Line) -> None:
        self._desk = desk
        self._line = line
        self._new: list[int] = []
        self._fault = ""

    async def run(self, now: datetime) -> list[int]:
        """Fetch what waits; whatever goes wrong is this line's own affair."""
        ended = asyncio.Event()
        keeping = asyncio.create_task(self._keep_turn(ended))
        try:
            async with asyncio.timeout(limits.COLLECT_SECONDS_MAX):
                await self._fetch_all()
        except (Unreachable, Denied) as trouble:
            self._fault = str(trouble)
        except TimeoutError:
            self._fault = TOO_SLOW
        except Exception as fault:  # noqa: BLE001  (one line's fault must not reach the others)
            self._fault = f"Looking into the mailbox failed ({type(fault).__name__})."
        finally:
            ended.set()  # a write that has begun cannot be cancelled
            await keeping
        line = self._line
        next_at = micros(now + timedelta(seconds=line.poll_seconds))
        news = await self._desk.database.write(
            inbox.SCOPE,
            lambda tx: inbox.end_poll(tx, key_of(line), next_at, self._fault),
            actor=_actor(self._desk),
        )
        if news:  # a payer that stays away is told once
            told = log.warning if self._fault else log.info
            words = "line not collected" if self._fault else "line collected again"
            told(words, payer=line.payer_id, type=line.type, kind=line.kind)
        return self._new

    async def _fetch_all(self) -> None:
        mailbox = self._desk.outside.lines().open(self._line)
        try:
            for incoming in (await mailbox.waiting())[: limits.COLLECT_FILES_MAX]:
                try:
                    await self._fetch(mailbox, incoming)
                except Denied as trouble:  # this file is not to be had; the next one may be
                    if await _is_there(mailbox, incoming.name):
                        self._fault = str(trouble)
        finally:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(limits.MAILBOX_CLOSE_SECONDS_MAX):
                    await mailbox.close()

    async def _keep_turn(self, ended: asyncio.Event) -> None:
        """Say now and then that this node still looks: a turn of a node that died is soon free."""
        desk, line = self._desk, self._line
        while not await _set_within(ended, limits.COLLECT_TURN_KEPT_SECONDS):
            until = _turn_ends(desk.clock.now())
            with contextlib.suppress(StoreFault):  # the next time may be better
                await desk.database.write(
                    inbox.SCOPE,
                    partial(inbox.keep_poll, key=key_of(line), until=until),
                    actor=_actor(desk),
                )

    async def _fetch(self, mailbox: Mailbox, incoming: Incoming) -> None:
        if incoming.size > limits.TRANSFER_BYTES_MAX:
            # It is noted once, under what is known of it, and stays for a person to look at.
            await self._store(incoming.name, b"", f"{incoming.name}:{incoming.size}".encode())
            return
        content = await mailbox.take(incoming.name)
        fault_injection.reached("fetched")
        await self._store(incoming.name, content)
        fault_injection.reached("stored")
        await mailbox.drop(incoming.name)
        fault_injection.reached("dropped")

    async def _store(self, name: str, content: bytes, instead: bytes | None = None) -> None:
        """Keep a file. ``instead`` stands for a content that was not fetched: it goes to quarantine at once."""
        desk, line, vault = self._desk, self._line, self._desk.outside.vault
        await vault.ready(inbox.OWNER)
        known_by = content if instead is None else instead
        now = micros(desk.clock.now())
        # As claims name the payer, however the route spells it.
        payer = desk.outside.payers().find(line.payer_id, line.type)
        payer_id = payer.payer_id if payer else line.payer_id

        def sealed() -> NewFile:
            digest = vault.fingerprint(inbox.OWNER, inbox.TABLE, known_by).hex()
            place = inbox.place(line.type, payer_id, digest)
            return NewFile(
                payer_id=payer_id,
                type=line.type,
                route_id=line.route_id,
                name=name[: limits.FILE_NAME_CHARACTERS_MAX],
                digest=digest,
                bytes=len(content),
                received_at=now,
                content=vault.seal(inbox.OWNER, inbox.TABLE, place, content),
            )

        new = await asyncio.to_thread(sealed)

        async def keep(tx: Tx) -> tuple[int, bool]:
            id, is_new = await inbox.add(tx, new)
            if is_new:
                tx.audit("inbox.stored", ids=[str(id)], detail=f"{line.type} {line.payer_id}")
                if instead is not None:
                    end = Settlement(state=inbox.QUARANTINED, reason=TOO_LARGE)
                    await inbox.settle(tx, id, end, now)
            return id, is_new

        id, is_new = await desk.database.write(inbox.SCOPE, keep, actor=_actor(desk))
        if is_new and instead is None:
            self._new.append(id)


def key_of(line: Line) -> tuple[str, str, int]:
    """What a line is known by among the polls."""
    return line.type, line.payer_id, line.route_id


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def _is_there(mailbox: Mailbox, name: str) -> bool:
    """Whether a file still waits. One that does not was fetched by somebody else, and that is no trouble."""
    return any(one.name == name for one in await mailbox.waiting())


def _turn_ends(now: datetime) -> int:
    return micros(now + timedelta(seconds=limits.COLLECT_TURN_SECONDS))


def _actor(desk: Desk) -> Actor:
    return Actor("node", desk.node)
