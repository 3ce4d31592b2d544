"""Answer the file requests of one SFTP session: two folders that are views of the database.

What is put into the first folder is stored part by part, and is received when it is closed under a final name or renamed
to one; before that no list shows it. What came back is in the second: to get a file marks it as fetched, to remove it
hides it. Every method of asyncssh's server is replaced here, because those work on the disk of this machine.
"""

import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeAlias, TypeVar

import asyncssh
from asyncssh.constants import FXF_APPEND, FXF_CREAT, FXF_EXCL, FXF_TRUNC, FXF_WRITE

from clearlane.accounts.model import Site
from clearlane.kernel.client_file import FileChannel, FileDirection
from clearlane.kernel.clock import to_micros
from clearlane.kernel.log import get_logger
from clearlane.pipeline.intake.files.upload import ClientFileTooLarge, Upload
from clearlane.sftp_server.account_session import AccountSession
from clearlane.sftp_server.folders import BadFileName, Folder, FolderPlace, is_unfinished
from clearlane.sftp_server.transfers import BYTES_USED_UP, DownloadTransfer, UploadTransfer
from clearlane.store.accounts.sftp_accounts import SftpUsage, add_usage, usage_of_day
from clearlane.store.database.database import Job, StoreFault, Tx
from clearlane.store.files import client_files
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.store.files.client_files import ClientFile
from clearlane.store.files.file_parts import PartOutOfPlace

log = get_logger()

FILES_USED_UP = "The account's files of this day are used up."
UPLOADS_OPEN_MAX = 100
"""Files of a site that may be unfinished at the same time."""
LIST_PAGE_FILES = 500
SENT_FILES_LISTED_MAX = 1_000
FOLDER_MODE = stat.S_IFDIR | 0o700
SENT_MODE = stat.S_IFREG | 0o600
FETCHED_MODE = stat.S_IFREG | 0o400
MICROS = 1_000_000
_DIRECTIONS = {Folder.IN: FileDirection.IN, Folder.OUT: FileDirection.OUT}

P = ParamSpec("P")
T = TypeVar("T")
Transfer: TypeAlias = UploadTransfer | DownloadTransfer

# What a client is answered if something else than its request is wrong.
_ANSWERS: dict[type[Exception], Callable[[Exception], asyncssh.SFTPError]] = {
    BadFileName: lambda bad: asyncssh.SFTPInvalidFilename(str(bad)),
    ClientFileTooLarge: lambda _: asyncssh.SFTPFailure(
        "The file is larger than any that is taken."
    ),
    PartOutOfPlace: lambda _: asyncssh.SFTPFailure(
        "Another connection writes this file, or it was received already."
    ),
    StoreFault: lambda _: asyncssh.SFTPFailure("Nothing can be stored now. Try again later."),
}


def _answered(
    method: Callable[Concatenate["SiteFiles", P], Awaitable[T]],
) -> Callable[Concatenate["SiteFiles", P], Coroutine[Any, Any, T]]:
    """Return a method that is answered with an SFTP status, whatever fails. The text of a fault is neither sent nor logged."""

    @wraps(method)
    async def answered(self: "SiteFiles", /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.session.touch()
        try:
            return await method(self, *args, **kwargs)
        except asyncssh.SFTPError as refusal:
            if isinstance(refusal, asyncssh.SFTPQuotaExceeded):
                self.session.log_quota(refusal.reason)
            raise
        except Exception as fault:  # noqa: BLE001  (a client must not see it)
            for kind, answer in _ANSWERS.items():
                if isinstance(fault, kind):
                    raise answer(fault) from None
            fields = {"request": method.__name__, "fault": type(fault).__name__}
            log.error("sftp request failed", **fields)  # noqa: TRY400  (it may quote a value)
            raise asyncssh.SFTPFailure("The request failed. The operator can see why.") from None

    return answered


class SiteFiles(asyncssh.SFTPServer):
    """The files of a site, as one session of its account sees them."""

    def __init__(
        self, channel: "asyncssh.SSHServerChannel[bytes]", session: AccountSession
    ) -> None:
        super().__init__(channel)
        self.session = session
        self._open_uploads: set[UploadTransfer] = set()

    # ---- opening and closing ---------------------------------------------------------------------

    @_answered
    async def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> Transfer:
        """Open a file to be sent, or one to be fetched."""
        place = self._file(path)
        if place.folder is Folder.IN:
            if pflags & FXF_WRITE:
                return await self._open_upload(place.name, pflags)
            raise asyncssh.SFTPPermissionDenied("Files that were sent cannot be read.")
        if pflags & FXF_WRITE:
            raise asyncssh.SFTPPermissionDenied(
                f"Files are put into {self.session.folders.names[Folder.IN]}."
            )
        file = await self._find_out(place.name)
        return DownloadTransfer(self.session.context, self._site.scope, file)

    async def _open_upload(self, name: str, pflags: int) -> UploadTransfer:
        """Begin a file, or go on with one that was cut off."""
        session, site = self.session, self._site
        if not session.may_submit:
            raise asyncssh.SFTPPermissionDenied("The site is suspended: it can fetch only.")
        async with session.context.database.read(site.scope) as tx:
            part = await client_files.find_upload(tx, name)
            sent = part or await client_files.find_by_name(tx, FileDirection.IN.value, name)
            count = await client_files.count_uploads(tx)
            used = await usage_of_day(tx, session.account, session.now())
        self._refuse_flags(
            pflags, is_there=sent is not None, is_received=sent is not None and part is None
        )
        self._refuse_used_up(used, count)
        if part is not None and pflags & FXF_TRUNC:
            await self._drop_upload(part.file_id)
            part = None
        if part is None:
            upload = await self._begin_upload(name)
        else:
            upload = await Upload.resume(session.context, site, part, actor=session.actor)

        async def begin_again() -> Upload:
            await self._drop_upload(upload.file_id)
            return await self._begin_upload(name)

        opened = UploadTransfer(
            upload,
            name,
            begin_again,
            bytes_max=session.account.bytes_per_day_max - used.bytes,
            appends=bool(pflags & FXF_APPEND),
        )
        self._open_uploads.add(opened)
        return opened

    async def _begin_upload(self, name: str) -> Upload:
        session = self.session
        return await Upload.begin(
            session.context, self._site, name=name, channel=FileChannel.SFTP, actor=session.actor
        )

    async def _drop_upload(self, file_id: str) -> None:
        await self._write(lambda tx: client_files.drop_upload(tx, file_id))

    @staticmethod
    def _refuse_flags(pflags: int, *, is_there: bool, is_received: bool) -> None:
        """Refuse what a client does not want, or what would change a file that was received."""
        if is_there and pflags & FXF_EXCL:
            raise asyncssh.SFTPFileAlreadyExists("There is a file of this name.")
        if not is_there and not pflags & FXF_CREAT:
            raise asyncssh.SFTPNoSuchFile("There is no such file.")
        if is_received and pflags & FXF_APPEND:
            raise asyncssh.SFTPPermissionDenied(
                "The file was received and cannot change. Send it as a whole."
            )

    def _refuse_used_up(self, used: SftpUsage, uploads: int) -> None:
        account = self.session.account
        if used.files >= account.files_per_day_max:
            raise asyncssh.SFTPQuotaExceeded(FILES_USED_UP)
        if used.bytes >= account.bytes_per_day_max:
            raise asyncssh.SFTPQuotaExceeded(BYTES_USED_UP)
        if uploads >= UPLOADS_OPEN_MAX:
            raise asyncssh.SFTPQuotaExceeded(
                f"{UPLOADS_OPEN_MAX} files are unfinished. Finish or remove one first."
            )

    def close(self, file_obj: object) -> Coroutine[Any, Any, None]:
        """Close a file: one under a final name is received by that."""
        # asyncssh calls this for a client's request, and also for each open file when a session ends. It does the
        # second inside the handler of the exception that ended the session, and only that tells the two apart.
        return self._keep(file_obj) if sys.exception() is not None else self._close(file_obj)

    async def _keep(self, file_obj: object) -> None:
        """Store what came of a file whose connection was cut, so that it can go on from there."""
        if isinstance(file_obj, UploadTransfer):
            self._open_uploads.discard(file_obj)
            try:
                await file_obj.upload.flush()
            except (StoreFault, PartOutOfPlace) as fault:
                log.warning("part of a file not stored", fault=type(fault).__name__)

    @_answered
    async def _close(self, file_obj: object) -> None:
        if isinstance(file_obj, UploadTransfer):
            self._open_uploads.discard(file_obj)
            file_obj.refuse_incomplete()
            if is_unfinished(file_obj.name):
                await file_obj.upload.flush()
            else:
                await self._receive(file_obj.upload, file_obj.name)
        elif isinstance(file_obj, DownloadTransfer) and file_obj.is_complete:
            await self._mark_fetched(file_obj.file)

    async def _receive(self, upload: Upload, name: str) -> None:
        """Receive a file, and count it: one transaction."""
        session, account = self.session, self.session.account
        sent = SftpUsage(files=1, bytes=upload.size)

        def counted(job: Job[ClientFile]) -> Job[ClientFile]:
            async def receive(tx: Tx) -> ClientFile:
                used = await add_usage(tx, account, sent, session.now())
                # Files that were begun side by side were each within the quota then.
                if used.files > account.files_per_day_max:
                    raise asyncssh.SFTPQuotaExceeded(FILES_USED_UP)
                if used.bytes > account.bytes_per_day_max:
                    raise asyncssh.SFTPQuotaExceeded(BYTES_USED_UP)
                return await job(tx)

            return receive

        await upload.finish(name, counted)

    async def _mark_fetched(self, file: ClientFile) -> None:
        at = to_micros(self.session.context.clock.now())

        async def job(tx: Tx) -> None:
            await client_files.mark_fetched(tx, [file.file_id], at)
            tx.audit("file.fetched", ids=[file.file_id])

        await self._write(job)

    # ---- content ---------------------------------------------------------------------------------

    @_answered
    async def read(self, file_obj: object, offset: int, size: int) -> bytes:
        """Return a block of a file."""
        return await _transfer(file_obj).read(offset, size)

    @_answered
    async def write(self, file_obj: object, offset: int, data: bytes) -> int:
        """Take a block of a file."""
        return await _transfer(file_obj).write(offset, data)

    @_answered
    async def fsync(self, file_obj: object) -> None:
        """Store what came so far."""
        if isinstance(file_obj, UploadTransfer):
            await file_obj.upload.flush()

    # ---- names -----------------------------------------------------------------------------------

    def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
        """List a folder."""
        self.session.touch()
        try:
            place = self._place(path)
        except BadFileName as bad:
            raise asyncssh.SFTPInvalidFilename(str(bad)) from None
        if place.name:
            raise asyncssh.SFTPNotADirectory("It is not a folder.")
        return self._entries(place.folder)

    async def _entries(self, folder: Folder) -> AsyncIterator[asyncssh.SFTPName]:
        for name in (".", ".."):
            yield _entry(name, await self._folder_attrs(folder))
        if folder is Folder.ROOT:
            for inner, name in self.session.folders.names.items():
                yield _entry(name, await self._folder_attrs(inner))
        elif folder is Folder.IN:
            seen: set[str] = set()
            for file in await self._page(
                ClientFileQuery(
                    where={"direction": FileDirection.IN.value}, limit=SENT_FILES_LISTED_MAX
                )
            ):
                if file.name not in seen:  # one that was sent again hides the earlier one
                    seen.add(file.name)
                    yield _entry(file.name, _file_attrs(file))
        else:
            async for file in self._files_to_fetch():
                yield _entry(self._shown(file), _file_attrs(file))

    async def _files_to_fetch(self) -> AsyncIterator[ClientFile]:
        """Yield the files to fetch, a page at a time, the oldest first."""
        after = None
        while True:
            page = await self._page(
                ClientFileQuery(
                    where={"direction": FileDirection.OUT.value},
                    after=after,
                    limit=LIST_PAGE_FILES,
                    oldest_first=True,
                )
            )
            for file in page:
                yield file
            if len(page) < LIST_PAGE_FILES:
                return
            after = page[-1].file_id

    async def _page(self, query: ClientFileQuery) -> list[ClientFile]:
        self.session.touch()
        async with self.session.context.database.read(self._site.scope) as tx:
            return await find_page(tx, query)

    async def _folder_attrs(self, folder: Folder) -> asyncssh.SFTPAttrs:
        """Describe a folder; its time is that of its newest file, or of the sign-in."""
        where = {"direction": _DIRECTIONS[folder].value} if folder in _DIRECTIONS else {}
        newest = await self._page(ClientFileQuery(where=where, limit=1))
        seconds = _seconds(newest[0]) if newest else int(self.session.began.timestamp())
        return asyncssh.SFTPAttrs(
            permissions=FOLDER_MODE, uid=0, gid=0, size=0, atime=seconds, mtime=seconds
        )

    @_answered
    async def stat(self, path: bytes) -> asyncssh.SFTPAttrs:
        """Describe a folder or a file; a file that was cut off has the size from which it goes on."""
        place = self._place(path)
        if not place.name:
            return await self._folder_attrs(place.folder)
        if place.folder is Folder.OUT:
            return _file_attrs(await self._find_out(place.name))
        return _file_attrs(await self._find_sent(place.name))

    async def lstat(self, path: bytes) -> asyncssh.SFTPAttrs:
        """Describe a folder or a file; there are no links."""
        return await self.stat(path)

    @_answered
    async def fstat(self, file_obj: object) -> asyncssh.SFTPAttrs:
        """Describe an open file."""
        opened = _transfer(file_obj)
        if isinstance(opened, DownloadTransfer):
            return _file_attrs(opened.file)
        return asyncssh.SFTPAttrs(size=opened.size, permissions=SENT_MODE, uid=0, gid=0)

    def realpath(self, path: bytes) -> bytes:
        """Return a path from the root, above which nothing is."""
        return self.session.folders.absolute(path)

    @_answered
    async def rename(self, oldpath: bytes, newpath: bytes) -> None:
        """Receive a file that was sent under the name of an unfinished one."""
        old, new = self._file(oldpath), self._file(newpath)
        if (old.folder, new.folder) != (Folder.IN, Folder.IN):
            raise asyncssh.SFTPPermissionDenied("Only files that are being sent can be renamed.")
        if is_unfinished(new.name):
            raise asyncssh.SFTPPermissionDenied("Rename the file to its final name.")
        session, site = self.session, self._site
        async with session.context.database.read(site.scope) as tx:
            part = await client_files.find_upload(tx, old.name)
        if part is None:
            await self._find_sent(old.name)
            raise asyncssh.SFTPPermissionDenied("The file was received and keeps its name.")
        if any(each.upload.file_id == part.file_id for each in self._open_uploads):
            raise asyncssh.SFTPFailure("Close the file before it is renamed.")
        upload = await Upload.resume(session.context, site, part, actor=session.actor)
        await self._receive(upload, new.name)

    async def posix_rename(self, oldpath: bytes, newpath: bytes) -> None:
        """Rename as above: a file of the new name that was received before stays what it is."""
        await self.rename(oldpath, newpath)

    @_answered
    async def remove(self, path: bytes) -> None:
        """Hide a file. What was received or is to be fetched is never deleted."""
        place = self._file(path)
        if place.folder is Folder.OUT:
            file = await self._find_out(place.name)
        else:
            file = await self._find_sent(place.name)
        at = to_micros(self.session.context.clock.now())

        async def job(tx: Tx) -> None:
            if await client_files.hide(tx, file.file_id, at):
                tx.audit("file.hidden", ids=[file.file_id])

        await self._write(job)

    # ---- what is accepted and has no effect, and what is refused ---------------------------------

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        """Accept permissions and times of a client, which have no effect; refuse a size."""
        self._refuse_size(attrs)

    lsetstat = setstat

    def fsetstat(self, file_obj: object, attrs: asyncssh.SFTPAttrs) -> None:
        """Accept permissions and times of a client, which have no effect; refuse another size."""
        if attrs.size != _transfer(file_obj).size:
            self._refuse_size(attrs)

    @staticmethod
    def _refuse_size(attrs: asyncssh.SFTPAttrs) -> None:
        if attrs.size is not None:
            raise asyncssh.SFTPOpUnsupported("A file cannot be cut or extended.")

    @_answered
    async def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        """Refuse a new folder."""
        place = self.session.folders.locate(path)
        if place is not None and not place.name:
            raise asyncssh.SFTPFileAlreadyExists("The folder is there.")
        raise asyncssh.SFTPPermissionDenied("Folders cannot be made.")

    def rmdir(self, path: bytes) -> NoReturn:
        """Refuse to remove a folder."""
        raise asyncssh.SFTPPermissionDenied("Folders cannot be removed.")

    def _refuse_links(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise asyncssh.SFTPOpUnsupported("There are no links.")

    def _refuse_request(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise asyncssh.SFTPOpUnsupported("The server does not offer this.")

    readlink = symlink = link = _refuse_links
    open56 = lock = unlock = statvfs = fstatvfs = _refuse_request

    def map_path(self, path: bytes) -> NoReturn:
        """Refuse to make a path of this machine from a client's."""
        raise asyncssh.SFTPPermissionDenied("No path leads to a disk.")

    reverse_map_path = map_path

    def format_user(self, uid: int | None) -> str:
        """Return the owner that a list shows."""
        return self.session.account.name

    def format_group(self, gid: int | None) -> str:
        """Return the group that a list shows."""
        return "site"

    def exit(self) -> None:
        """End the session. scp counts a copy as failed without an exit status."""
        self.session.channels -= 1
        self.channel.exit(0)

    # ---- shared ----------------------------------------------------------------------------------

    @property
    def _site(self) -> Site:
        site = self.session.site
        if site is None:
            raise asyncssh.SFTPPermissionDenied("The site may not use the service now.")
        return site

    def _place(self, path: bytes) -> FolderPlace:
        place = self.session.folders.locate(path)
        if place is None:
            raise asyncssh.SFTPNoSuchFile("There is no such file or folder.")
        return place

    def _file(self, path: bytes) -> FolderPlace:
        place = self._place(path)
        if not place.name:
            raise asyncssh.SFTPFailure("It is a folder.")
        return place

    async def _find_sent(self, name: str) -> ClientFile:
        async with self.session.context.database.read(self._site.scope) as tx:
            found = await client_files.find_newest_sent(tx, name)
        if found is None:
            raise asyncssh.SFTPNoSuchFile("There is no such file.")
        return found

    async def _find_out(self, shown: str) -> ClientFile:
        """Return the file to fetch that is shown under a name."""
        folders = self.session.folders
        async with self.session.context.database.read(self._site.scope) as tx:
            if folders.shows_own_names:
                found = await client_files.find_by_name(tx, FileDirection.OUT.value, shown)
            else:
                found = await client_files.find(tx, folders.file_id(shown) or "")
        if (
            found is None
            or found.direction != FileDirection.OUT.value
            or found.hidden_at is not None
            or self._shown(found) != shown
        ):
            raise asyncssh.SFTPNoSuchFile("There is no such file.")
        return found

    def _shown(self, file: ClientFile) -> str:
        return self.session.folders.shown_name(file.name, file.file_id, file.type)

    async def _write(self, job: Job[T]) -> T:
        session = self.session
        return await session.context.database.write(self._site.scope, job, actor=session.actor)


def _transfer(file_obj: object) -> Transfer:
    if not isinstance(file_obj, UploadTransfer | DownloadTransfer):
        raise asyncssh.SFTPInvalidHandle("The file is not open.")
    return file_obj


def _file_attrs(file: ClientFile) -> asyncssh.SFTPAttrs:
    seconds = _seconds(file)
    mode = SENT_MODE if file.direction == FileDirection.IN.value else FETCHED_MODE
    return asyncssh.SFTPAttrs(
        permissions=mode, uid=0, gid=0, size=file.bytes, atime=seconds, mtime=seconds
    )


def _seconds(file: ClientFile) -> int:
    return (file.received_at or file.created_at) // MICROS


def _entry(name: str, attrs: asyncssh.SFTPAttrs) -> asyncssh.SFTPName:
    return asyncssh.SFTPName(filename=name.encode(), attrs=attrs)
