"""Store a file of a site as it comes: part by part, raw and sealed, before anything of it is understood.

    upload = await Upload.begin(context, site, name="claims.837", channel=FileChannel.HTTPS, actor=actor)
    await upload.write(data)                       # any number of times, of any size
    file = await upload.finish("claims.837")       # one transaction: it is listed, and processing follows by itself

Each part is durable by itself, so that an upload that was cut off can go on at any node (``resume``). What is not
finished is listed nowhere, and removed after a day.
"""

import asyncio
import hashlib
from typing import TYPE_CHECKING, TypeVar

from clearlane.accounts.model import Site
from clearlane.engine import fault_injection
from clearlane.events.event import EventValue, NewEvent
from clearlane.kernel import limits
from clearlane.kernel.client_file import FileChannel, FileDirection
from clearlane.kernel.clock import to_local, to_micros
from clearlane.kernel.ids import new_number
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, Job, Tx
from clearlane.store.database.group_commit import JobExtension, unextended
from clearlane.store.files import client_files, file_parts
from clearlane.store.files.client_files import ClientFile, NewFile
from clearlane.store.files.file_parts import PART_BYTES_MAX, PartOutOfPlace

if TYPE_CHECKING:
    from hashlib import _Hash

T = TypeVar("T")

FILE_LETTER = "F"
DIGEST_KIND = "client file"
RECEIVED_EVENT = "file.received"
NAME_CHARACTERS_MAX = limits.FILE_NAME_CHARACTERS_MAX


class ClientFileTooLarge(Exception):
    """A file is larger than any that is taken. What was stored of it is removed."""


class Upload:
    """A file that is being stored. ``size`` counts what came, also what is not durable yet."""

    def __init__(
        self, context: WorkContext, site: Site, file_id: str, actor: Actor, *, stored: int = 0
    ) -> None:
        """Use :meth:`begin` or :meth:`resume`."""
        self.file_id = file_id
        self.size = stored
        self._context = context
        self._site = site
        self._actor = actor
        self._stored = stored
        self._waiting = bytearray()
        self._hash: _Hash = hashlib.sha256()

    @classmethod
    async def begin(
        cls,
        context: WorkContext,
        site: Site,
        *,
        name: str,
        channel: FileChannel,
        actor: Actor,
        is_shadow: bool = False,
    ) -> "Upload":
        """Begin a file under a name that may still change. Claims of a shadow file are judged and never sent."""
        now = context.clock.now()
        file_id = new_number(now, letter=FILE_LETTER)
        new = NewFile(
            file_id,
            FileDirection.IN.value,
            usable_name(name, file_id),
            channel.value,
            to_micros(now),
            is_shadow=int(is_shadow),
        )
        await context.database.write(
            site.scope, lambda tx: client_files.create(tx, new), actor=actor
        )
        return cls(context, site, file_id, actor)

    @classmethod
    async def resume(
        cls, context: WorkContext, site: Site, file: ClientFile, *, actor: Actor
    ) -> "Upload":
        """Go on with a file that was cut off, at the end of what is stored."""
        upload = cls(context, site, file.file_id, actor, stored=file.bytes)
        async for chunk in file_parts.read_chunks(
            context.database, context.vault, site.scope, file.file_id
        ):
            upload._hash.update(chunk)
        return upload

    @property
    def digest(self) -> str:
        """The hash of all that came."""
        return self._hash.hexdigest()

    async def write(self, data: bytes) -> None:
        """Take the next bytes; whole parts are stored. Raises :class:`ClientFileTooLarge`, and then nothing is kept."""
        self.size += len(data)
        if self.size > self._context.limits.file_bytes_max:
            await self.abandon()
            raise ClientFileTooLarge
        self._hash.update(data)
        self._waiting += data
        while len(self._waiting) >= PART_BYTES_MAX:
            await self._store(bytes(self._waiting[:PART_BYTES_MAX]))
            del self._waiting[:PART_BYTES_MAX]

    async def flush(self) -> None:
        """Store what came so far, also if it fills no part."""
        if self._waiting:
            await self._store(bytes(self._waiting))
            self._waiting.clear()

    async def finish(self, name: str, extend: JobExtension[ClientFile] = unextended) -> ClientFile:
        """Give the file its final name and let it be processed: one transaction. ``extend`` adds to it."""
        await self.flush()
        site, now = self._site, self._context.clock.now()
        digest = keyed_digest(self._context, site, self._hash.digest())
        final = usable_name(name, self.file_id)

        async def job(tx: Tx) -> ClientFile:
            file = await client_files.finish_upload(
                tx,
                self.file_id,
                name=final,
                digest=digest,
                at=to_micros(now),
                day=to_local(now, site.time_zone).date().isoformat(),
                is_shadow=site.shadow,
            )
            if file is None:
                raise PartOutOfPlace
            tx.audit(RECEIVED_EVENT, ids=[self.file_id], detail=f"{file.bytes} bytes")
            tx.add_events([file_event(RECEIVED_EVENT, site, self.file_id, to_micros(now))])
            return file

        file = await self._write(extend(job))
        fault_injection.crash_point("file received")
        self._context.wake_files()
        return file

    async def abandon(self) -> None:
        """Remove what was stored of the file."""
        self._waiting.clear()
        await self._write(lambda tx: client_files.drop_upload(tx, self.file_id))

    async def _store(self, data: bytes) -> None:
        context, scope = self._context, self._site.scope
        context.database.require_space()
        await context.vault.ensure_key(scope)
        # In a thread: compressing and sealing a part takes milliseconds.
        part = await asyncio.to_thread(
            file_parts.seal_part, context.vault, scope, self.file_id, self._stored, data
        )
        await self._write(lambda tx: file_parts.append(tx, part))
        fault_injection.crash_point("file part")
        self._stored += len(data)

    async def _write(self, job: Job[T]) -> T:
        return await self._context.database.write(self._site.scope, job, actor=self._actor)


def keyed_digest(context: WorkContext, site: Site, digest: bytes) -> str:
    """Return the keyed hash by which a site's file with the same bytes is found."""
    return context.vault.fingerprint(site.scope, DIGEST_KIND, str(site.id), digest).hex()


def file_event(type: str, site: Site, file_id: str, at: int, /, **data: EventValue) -> NewEvent:
    """Return an event about a file."""
    return NewEvent(type, at, site.vendor_id, site.id, data={"file_id": file_id, **data})


def usable_name(name: str, file_id: str) -> str:
    """Return a name of one line without folders; one made of the id if that leaves nothing."""
    last = name.replace("\\", "/").rpartition("/")[2]
    clean = "".join(one for one in last if one.isprintable()).strip().strip(".")
    return clean[-NAME_CHARACTERS_MAX:] or f"{file_id}.x12"
