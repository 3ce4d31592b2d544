"""Collection of payers' files: how many small files a second are read at an SFTP server, stored, and removed there."""

import asyncio
import multiprocessing
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time

from bench.flow import PAYER, OneMailbox, posting_context
from bench.harness import Measure, bench
from clearlane.connect.connections import PayerRoute
from clearlane.connect.factory import open_mailbox
from clearlane.connect.port import Mailbox
from clearlane.kernel.clock import SystemClock
from clearlane.payers.routes import RouteSecrets
from clearlane.pipeline.inbound import receive
from clearlane.pipeline.work_context import WorkContext
from tests.claims.answers import nine
from tests.connect import sftp_server
from tests.connect.invented import route

FILES = 5_000
PER_SECOND_MIN = 100


class SftpConnections(OneMailbox):
    """The one payer, at an SFTP server."""

    def __init__(self, port: int, host_key: str) -> None:
        super().__init__()
        self._made = route(
            "sftp", RouteSecrets(password=sftp_server.PASSWORD), payer_id=PAYER, host="127.0.0.1",
            port=port, username=sftp_server.USER, host_key=host_key, inbox="/out", outbox="/in",
            allow_internal="yes",
        )  # fmt: skip

    def open_mailbox(self, route: PayerRoute) -> Mailbox:
        return open_mailbox(*self._made, clock=SystemClock())


@bench("collect.files")
def collect() -> Iterator[Measure]:
    """Acknowledgements are taken and stored, then removed in later visits, against the least that is wanted."""
    with tempfile.TemporaryDirectory() as folder:
        (waiting := Path(folder) / "out").mkdir()
        for number in range(FILES):
            (waiting / f"ack{number:05}.999").write_bytes(nine(number, control=number))
        with _server(folder) as address:
            connections = SftpConnections(*address)
            taken, dropped, cpu = asyncio.run(_collect(Path(folder), connections, waiting))
    for name, rate in (("collect.files", taken), ("collect.files.removed", dropped)):
        yield Measure(name, rate, "files/s", rate / PER_SECOND_MIN, f"{PER_SECOND_MIN}-a-second")
    yield Measure("collect.files.cpu", 1e6 * cpu / FILES, "us/file")


async def _collect(
    folder: Path, connections: SftpConnections, waiting: Path
) -> tuple[float, float, float]:
    """Return files a second taken, files a second removed, and the CPU seconds of both."""
    async with posting_context(folder, connections) as (plain, _):
        context = replace(plain, limits=replace(plain.limits, settle_seconds=0))
        used, began, stored = process_time(), perf_counter(), 0
        while stored < FILES:
            stored += len(await _visit(context))
        taken, began = perf_counter() - began, perf_counter()
        while _any_file(waiting):
            await _visit(context)
        return FILES / taken, FILES / (perf_counter() - began), process_time() - used


async def _visit(context: WorkContext) -> list[int]:
    return await receive.receive_files(context, context.clock.now(), every_route=True)


def _any_file(folder: Path) -> bool:
    return any(folder.iterdir())


@contextmanager
def _server(folder: str) -> Iterator[tuple[int, str]]:
    """A payer's SFTP server in a process of its own; yield its port and host key."""
    processes = multiprocessing.get_context("spawn")
    ours, theirs = processes.Pipe()
    process = processes.Process(target=_serve, args=(folder, theirs))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()


def _serve(folder: str, pipe: Connection) -> None:
    async def serve() -> None:
        async with sftp_server.sftp_payer(Path(folder)) as payer:
            pipe.send((payer.port, sftp_server.HOST_KEY.get_fingerprint()))
            await asyncio.to_thread(pipe.recv)

    asyncio.run(serve())
