"""Write files for a site to fetch: acknowledgements, what payers said, reports in words. Each is written once.

    file_id = await write_response(context, site, response, content)      # None if it was written before

The parts are stored first, unlisted; one short transaction then lists the file. What must be listed together with
other changes is written in two steps: ``store_response``, and ``publish_response`` in a transaction of the caller's own.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from clearlane.accounts.model import Site
from clearlane.kernel.client_file import FileChannel, FileDirection
from clearlane.kernel.clock import to_local, to_micros
from clearlane.kernel.ids import new_number
from clearlane.pipeline.intake.files.upload import FILE_LETTER, file_event, keyed_digest
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Tx
from clearlane.store.files import client_files, file_parts
from clearlane.store.files.client_files import NewFile
from clearlane.store.files.file_parts import PART_BYTES_MAX, FilePart

READY_EVENT = "file.ready"
TEXT_TYPE = "text"
_ID_CHARACTERS_SHOWN = 6

ResponseBytes: TypeAlias = bytes | Iterable[bytes] | AsyncIterable[bytes]
"""The content of a response: as a whole, or in pieces of any size as they are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientResponse:
    """A file for a site to fetch, without its content."""

    type: str
    """One of ``FILE_TYPES``."""
    response_key: str
    """A response under a key that was used before in the site is not written again."""
    stem: str
    """How its name begins: that of the file that it responds to, or what it is about."""
    answers: str = ""
    """The file that it responds to."""
    set_id: str = ""
    note: str = ""
    is_shadow: bool = False
    """Whether it responds to a shadow file; its name says so."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response whose parts are stored, and that is not listed yet."""

    file: ClientResponse
    file_id: str
    digest: str


async def write_response(
    context: WorkContext, site: Site, response: ClientResponse, content: ResponseBytes
) -> str | None:
    """Store a file for a site and list it; return its id, None if one with its key exists."""
    stored = await store_response(context, site, response, content)

    async def job(tx: Tx) -> bool:
        if await publish_response(tx, context, site, stored):
            return True
        await client_files.drop_upload(tx, stored.file_id)
        return False

    written = await context.database.write(site.scope, job, actor=context.actor)
    return stored.file_id if written else None


async def store_response(
    context: WorkContext, site: Site, response: ClientResponse, content: ResponseBytes
) -> StoredResponse:
    """Store a file for a site part by part, so that a large one is never held as a whole.

    Until it is published no list shows it; one that never is goes after a day.
    """
    context.database.require_space()
    await context.vault.ensure_key(site.scope)
    now = context.clock.now()
    file_id = new_number(now, letter=FILE_LETTER)
    new = NewFile(
        file_id,
        FileDirection.OUT.value,
        _name(response, file_id),
        FileChannel.SYSTEM.value,
        to_micros(now),
        response.type,
        response.answers,
        response.set_id,
        response.note,
        int(response.is_shadow),
    )
    hashed = hashlib.sha256()
    start = 0

    async def job(tx: Tx, part: FilePart) -> None:
        if not part.start:
            await client_files.create(tx, new)
        await file_parts.append(tx, part)

    async for data in _parts(content):
        hashed.update(data)
        part = await asyncio.to_thread(
            file_parts.seal_part, context.vault, site.scope, file_id, start, data
        )
        await context.database.write(site.scope, partial(job, part=part), actor=context.actor)
        start += len(data)
    if not start:  # an empty file has no part
        await context.database.write(
            site.scope, lambda tx: client_files.create(tx, new), actor=context.actor
        )
    return StoredResponse(response, file_id, keyed_digest(context, site, hashed.digest()))


async def publish_response(
    tx: Tx, context: WorkContext, site: Site, stored: StoredResponse
) -> bool:
    """List a stored response, with its event; False if one with its key was published before."""
    now = context.clock.now()
    published = await client_files.publish(
        tx,
        stored.file_id,
        response_key=stored.file.response_key,
        digest=stored.digest,
        at=to_micros(now),
        day=to_local(now, site.time_zone).date().isoformat(),
    )
    if published:
        data = {"type": stored.file.type, "answers": stored.file.answers or None}
        tx.add_events([file_event(READY_EVENT, site, stored.file_id, to_micros(now), **data)])
    return published


async def _parts(content: ResponseBytes) -> AsyncIterator[bytes]:
    """Yield bytes in parts of the size that is stored."""
    waiting = bytearray()
    async for chunk in _chunks(content):
        waiting += chunk
        while len(waiting) >= PART_BYTES_MAX:
            yield bytes(waiting[:PART_BYTES_MAX])
            del waiting[:PART_BYTES_MAX]
    if waiting:
        yield bytes(waiting)


async def _chunks(content: ResponseBytes) -> AsyncIterator[bytes]:
    if isinstance(content, AsyncIterable):
        async for chunk in content:
            yield chunk
    else:
        for chunk in [content] if isinstance(content, bytes) else content:
            yield chunk


def _name(response: ClientResponse, file_id: str) -> str:
    """Return the name of a response: unique, because a part of the id is in it."""
    ending = "txt" if response.type == TEXT_TYPE else response.type.lower()
    stem = f"{response.stem}.shadow" if response.is_shadow else response.stem
    return f"{stem}.{file_id[-_ID_CHARACTERS_SHOWN:]}.{ending}"
