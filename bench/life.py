"""What a purge, an export and a backup cost those who submit claims beside them.

A caller submits documents of 50 claims as fast as they are accepted: alone, then while another process purges claims that are
old by its clock, exports the site, or writes backups, again and again. At most a fifth may be lost.
"""

import asyncio
import multiprocessing
import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from bench.harness import Measure, bench
from bench.submit import a_document, postgresql, serving, submitted
from clearlane.kernel.retention_kinds import RETENTION, RetentionKind
from clearlane.pipeline.operator.export_site import SiteExport
from clearlane.pipeline.retention.purge_records import purge_records
from clearlane.settings import load
from clearlane.store.database.database import Actor
from clearlane.store.installation.backup import write_backup
from clearlane.wiring import open_installation

PER_DOCUMENT, CONNECTIONS = 50, 2
SECONDS, PREPARING_SECONDS = float(os.environ.get("BENCH_SECONDS", "6")), 20.0
ROUNDS = 3
KEPT = timedelta(days=RETENTION[RetentionKind.CLAIMS].days)
ACTOR = Actor("operator", "bench")


async def _work(kind: str, data: str, site: str, old_at: datetime, pipe) -> None:
    """Do one kind of work until the other side asks it to stop; send how much was done."""
    done = 0
    async with open_installation(load(overrides={"data": Path(data)}), role="command") as opened:
        context = opened.work_context
        pipe.send("ready")
        while not pipe.poll():
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder) / "out"
                if kind == "purge":
                    done += (await purge_records(context, old_at + KEPT))["claims"]
                    old_at = datetime.now(UTC)
                elif kind == "export":
                    own = opened.accounts.any_site(site)
                    assert own is not None
                    async for page in SiteExport(context, own, place).run(ACTOR):
                        done = max(done, page.rows)
                        if pipe.poll():
                            break
                else:
                    file = opened.settings.sqlite_file
                    made = await write_backup(
                        opened.database, opened.vault, file=file, target=place,
                        clock=context.clock, actor=ACTOR,
                    )  # fmt: skip
                    done += made.size
    pipe.send(done)


def _working(kind: str, url: str, data: str, site: str, old_at: datetime, pipe) -> None:
    os.environ["CLEARLANE_DATABASE_URL"] = url
    asyncio.run(_work(kind, data, site, old_at, pipe))


def beside(kind: str, facts: dict, url: str, document: bytes, old_at: datetime) -> float:
    """Claims a second while another process works."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_working, args=(kind, url, facts["data"], facts["vendor_site_id"], old_at, theirs)
    )
    process.start()
    theirs.close()
    assert ours.recv() == "ready"
    rate = submitted(facts, document, CONNECTIONS, SECONDS)
    ours.send("stop")
    assert ours.recv() > 0, f"the {kind} did nothing"
    process.join()
    return rate


def _measured(facts: dict, url: str, name: str) -> Iterator[Measure]:
    document = a_document(PER_DOCUMENT)
    submitted(facts, document, CONNECTIONS, PREPARING_SECONDS)
    for kind in ("purge", "export") if url else ("purge", "export", "backup"):
        alone, shared = [], []
        for _ in range(ROUNDS):
            old_at = datetime.now(UTC)
            alone.append(submitted(facts, document, CONNECTIONS, SECONDS))
            shared.append(beside(kind, facts, url, document, old_at))
        rate = median(shared)
        yield Measure(f"{name}.{kind}", rate, "claims/s", rate / median(alone), "submission-alone")


@bench("life.beside")
def life_beside() -> Iterator[Measure]:
    """Claims a second beside a purge, an export and a backup against the same without."""
    with serving() as facts:
        yield from _measured(facts, "", "life.beside")
    with postgresql() as url, serving(url) as facts:
        yield from _measured(facts, url, "life.beside.postgresql")
