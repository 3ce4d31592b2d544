"""A sandbox that a practice sends files to and whose service is killed, and what must be true of it at last."""

import asyncio
import re
import signal
from collections import Counter

import httpx
from sqlalchemy import func, select, update

from clearlane.claims.responses.facts import FactKind
from clearlane.connect.loopback_connections import ledger_name
from clearlane.engine import fault_injection
from clearlane.events.types import TYPES
from clearlane.kernel.clock import SystemClock
from clearlane.sandbox import payer_ledger
from clearlane.sandbox.model import Counts, File
from clearlane.settings import load
from clearlane.store.database.database import Actor, Database, SystemScope
from clearlane.store.database.schema import (
    batches,
    claim_facts,
    claims,
    client_files,
    due_responses,
    inbox,
    polls,
    staged_claims,
)
from clearlane.store.database.sql import Statement
from clearlane.store.events import events
from clearlane.store.files import file_parts
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.wiring import open_installation
from tests.api.service_process import ServiceProcess
from tests.patience import until
from tests.pipeline.test_process_file import a_claim, a_file, a_set

TESTER = Actor("operator", "a test")
EVERYONE = SystemScope("a test looks")
PAYER = "TST01"
CLAIMS = 7
"""Of each file: three pages."""
SETTINGS = {
    "CLEARLANE_HEARTBEAT_SECONDS": "1",
    "CLEARLANE_DEAD_NODE_SECONDS": "2",
    "CLEARLANE_TAKEOVERS_MAX": "100",
    "CLEARLANE_SANDBOX_WINDOW_SECONDS": "0",
    "CLEARLANE_LOG_LEVEL": "warning",
}
SECONDS_PER_DAY = 0.02
"""A payer's two weeks pass while others look for the next file."""
LOOK_AGAIN = Statement(update(polls).values(next_at=0))
STEPS_OF_CLAIMS = (FactKind.SENT, FactKind.STATUS)
"""That the payer has a claim, and what its 277CA says."""
COUNTS = {
    "complete": select(func.count()).where(claims.c.state == "complete"),
    "undelivered": select(func.count()).where(batches.c.state != "delivered"),
    "files": select(func.count()).where(
        client_files.c.direction == "in", client_files.c.processed_at.is_not(None)
    ),
    "staged": select(func.count()).select_from(staged_claims),
    "posting": select(func.count()).where(inbox.c.state == "stored"),
    "due": select(func.count()).select_from(due_responses),
} | {
    kind: select(func.count(claim_facts.c.claim_number.distinct())).where(
        claim_facts.c.kind == kind.value
    )
    for kind in STEPS_OF_CLAIMS
}
"""What is counted, in one snapshot.

A payer may answer a file, and pay its claims, before the delivery of a node that died is recorded by another; and its 835 may
be posted before its 277CA. So each step is counted: one that is recorded has a response that is due, until that is listed.
"""
STATEMENTS = {name: Statement(query, system=True) for name, query in COUNTS.items()}
CLAIM_NUMBERS = Statement(select(claims.c.claim_number), system=True)
STEPS = ("A1:19:AY", "A0:16:PR", "A2:20:PR")
"""What the 277CAs of a claim say: that we have it, that the payer has it, and the payer's own verdict."""


class KilledService:
    """The service, its practice, and what the practice sent."""

    def __init__(self, place) -> None:
        self.place = place
        self.service = self.node("")
        self.sent: dict[str, list[str]] = {}
        """The account numbers of each file, by the id of the file."""
        self._unanswered: list[tuple[str, list[str], bytes]] = []
        self._count = 0
        self._database: Database | None = None

    def node(self, crash_at: str, name: str = "one") -> ServiceProcess:
        """A node that is not started. All have the master key of the first."""
        data, first = self.place.data / name, self.place.data / "one" / "master.key"
        if name != "one":
            data.mkdir(mode=0o700)
            (data / "master.key").touch(mode=0o600)
            (data / "master.key").write_bytes(first.read_bytes())
        environment = SETTINGS | {fault_injection.VARIABLE: crash_at}
        made = ServiceProcess(data, self.place.url, fresh=False, **environment)
        made.module = "tests.pipeline.quick_node"
        return made

    async def start(self, crash_at: str = "") -> None:
        """Start the service; it may come to its crash point before it is ready."""
        self.service = self.node(crash_at)
        await self.look_again()
        try:
            await asyncio.to_thread(self.service.start)
        except RuntimeError:
            assert self.service.process.returncode == -signal.SIGKILL, [*self.service.log]
            return
        await self._send_again()

    async def dies(self) -> None:
        """Wait until the service has killed itself."""
        code = await asyncio.to_thread(self.service.wait_for_exit)
        assert code == -signal.SIGKILL, [*self.service.log]

    async def stop(self) -> None:
        if self.service.was_started and self.service.process.poll() is None:
            assert await asyncio.to_thread(self.service.stop) == 0

    async def send(self) -> None:
        """Send a file of some pages, under a key: what is not answered is sent again when the service is back."""
        self._count += 1
        numbers = range(self._count * CLAIMS, (self._count + 1) * CLAIMS)
        bodies = [
            a_claim(number, payer=PAYER, account=f"ACC-{number}", hl=hl)
            for hl, number in enumerate(numbers, 2)
        ]
        content = a_file(a_set(*bodies), isa=f"{self._count:09}", ta1="1")
        accounts = [f"ACC-{number}" for number in numbers]
        self._unanswered.append((f"key-{self._count}", accounts, content))
        await self._send_again()

    async def _send_again(self) -> None:
        for waiting in [*self._unanswered]:
            key, accounts, content = waiting
            try:
                file_id = await asyncio.to_thread(self._post, key, content)
            except (httpx.TransportError, OSError):  # it was killed
                return
            self.sent[file_id] = accounts
            self._unanswered.remove(waiting)

    def _post(self, key: str, content: bytes) -> str:
        with self._client() as client:
            answer = client.post(
                "/clearlane/v1/files",
                content=content,
                params={"site": self.service.sandbox["vendor_site_id"], "name": "claims.837"},
                headers={"Idempotency-Key": key},
            )
        assert answer.status_code == 202, answer.text
        return answer.json()["id"]

    async def quicken(self) -> None:
        """Let the payers' days pass quickly."""

        def call() -> None:
            with self._client() as client:
                answer = client.post(
                    "/sandbox/clock",
                    json={"SecondsPerDay": SECONDS_PER_DAY},
                    params={"vendorSiteId": self.service.sandbox["vendor_site_id"]},
                )
            assert answer.status_code == 200, answer.text

        await asyncio.to_thread(call)

    def _client(self) -> httpx.Client:
        facts = self.service.sandbox
        return self.service.client((facts["vendor_key"], facts["vendor_password"]))

    # ---- what is true at last ----------------------------------------------------------------

    async def open_database(self):
        """Open the database beside the service, once it has made one."""
        if self._database is None:
            place = type(self.place)(self.place.kind, self.place.url, self.place.data / "one")
            self._database = await place.open(SystemClock(), anchor="audit.anchor.test")
        return self._database

    async def close(self) -> None:
        await self.stop()
        if self._database is not None:
            await self._database.close()

    async def look_again(self) -> None:
        """Minutes pass: a look into a mailbox that died with its node may be begun anew."""
        if self._count:
            database = await self.open_database()
            await database.write(EVERYONE, lambda tx: tx.run(LOOK_AGAIN), actor=TESTER)

    async def unsettled(self) -> list[str]:
        """What is still to come, in words."""
        async with (await self.open_database()).read(EVERYONE) as tx:
            found = {name: (await tx.rows(one))[0][0] for name, one in STATEMENTS.items()}
        expected = CLAIMS * self._count
        return [
            *(f"{len(self._unanswered)} files not sent",) * bool(self._unanswered),
            *(f"{found['files']} of {self._count} files processed",)
            * (found["files"] < self._count),
            *(f"{found['complete']} of {expected} claims paid",) * (found["complete"] < expected),
            *(f"{found['undelivered']} batches not delivered",) * bool(found["undelivered"]),
            *(f"{found['staged']} claims staged",) * bool(found["staged"]),
            *(f"{found['posting']} payers' files not posted",) * bool(found["posting"]),
            *(f"{found['due']} responses due",) * bool(found["due"]),
            *(
                f"{found[kind]} of {expected} claims with {kind}"
                for kind in STEPS_OF_CLAIMS
                if found[kind] < expected
            ),
        ]

    async def has_processed_all(self) -> bool:
        """Tell whether every file that was sent is processed."""
        async with (await self.open_database()).read(EVERYONE) as tx:
            return (await tx.rows(STATEMENTS["files"]))[0][0] == self._count

    async def settled(self) -> None:
        """Wait until every file that was sent is processed, and every claim of it delivered and paid."""

        async def is_settled() -> bool:
            assert self.service.process.poll() is None, [*self.service.log]
            return not await self.unsettled()

        try:
            await until(is_settled)
        except TimeoutError:
            raise AssertionError(await self.unsettled(), [*self.service.log]) from None

    async def check(self) -> None:
        """Each claim came once to the payer, and each answer once to the practice."""
        overrides = {"data": self.service.data}
        settings = load(environ=self.service.environment, overrides=overrides)
        async with open_installation(settings, role="command") as installation:
            self._installation = installation
            [self._site] = [
                one
                for one in installation.accounts.sites
                if one.vendor_site_id == self.service.sandbox["vendor_site_id"]
            ]
            await self._check_files()
            await self._check_claims()
            await self._check_answers()
            await self._check_events()

    async def _list(self, direction: str):
        async with self._installation.database.read(self._site.scope) as tx:
            query = ClientFileQuery(where={"direction": direction}, limit=1_000)
            return await find_page(tx, query)

    async def _check_files(self) -> None:
        taken = await self._list("in")
        assert {one.file_id for one in taken} == self.sent.keys()
        assert len(taken) == self._count
        figures = {(one.state, one.claims, one.accepted) for one in taken}
        assert figures == {("accepted", CLAIMS, CLAIMS)}

    async def _check_claims(self) -> None:
        """All accepted claims are there, and the payer has each once."""
        async with self._installation.database.read(EVERYONE) as tx:
            numbers = [number for (number,) in await tx.rows(CLAIM_NUMBERS)]
        assert len(numbers) == CLAIMS * self._count
        runtime = self._installation.sandbox_runtime
        assert runtime is not None
        ledger = payer_ledger.PayerLedger(runtime.ledger, ledger_name("Medical", PAYER))
        counts = await ledger.get(payer_ledger.COUNTS, Counts)
        assert counts is not None
        came: Counter[str] = Counter()
        for at in range(1, counts.files + 1):
            if file := await ledger.get(payer_ledger.file_key(at), File):
                came.update(case.claim.number for case in file.cases)
        assert came == Counter(numbers), (came - Counter(numbers), Counter(numbers) - came)

    async def _check_answers(self) -> None:
        """A TA1 and a 999 of each file; of each claim every step once, and one payment."""
        installation = self._installation
        accounts = [account for own in self.sent.values() for account in own]
        listed = await self._list("out")
        answers = Counter((one.answers, one.type) for one in listed if one.type in ("TA1", "999"))
        assert answers == Counter((id, type) for id in self.sent for type in ("TA1", "999"))
        controls: list[str] = []
        steps: Counter[tuple[str, str]] = Counter()
        paid: Counter[str] = Counter()
        for one in listed:
            content = await file_parts.read_content(
                installation.database, installation.vault, self._site.scope, one.file_id
            )
            segments = [row.split("*") for row in content.decode().split("~")]
            controls += [row[13] for row in segments if row[0] == "ISA"]
            if one.type == "277CA":
                steps.update(_steps(segments))
            paid.update(row[1] for row in segments if row[0] == "CLP")
        assert len(controls) == len({*controls}), "no control number comes twice"
        expected = Counter((account, step) for account in accounts for step in STEPS)
        assert steps == expected, (steps - expected, expected - steps)
        once = Counter(accounts)
        assert paid == once, (paid - once, once - paid)

    async def _check_events(self) -> None:
        """Each file and each answer is reported once, and each claim once as received and as sent."""
        async with self._installation.database.read(EVERYONE) as tx:
            found = await events.list_all(tx, TYPES, after=0, limit=100_000)
        assert [one.id for one in found] == sorted({one.id for one in found})
        counted = Counter(one.type for one in found)
        assert counted["file.received"] == counted["file.processed"] == self._count
        assert counted["file.ready"] == len(await self._list("out"))
        for type in ("claim.received", "claim.sent"):
            reported = Counter(one.claim_number for one in found if one.type == type)
            assert set(reported.values()) == {1}
            assert len(reported) == CLAIMS * self._count


def _steps(segments: list[list[str]]) -> list[tuple[str, str]]:
    """Return the status of each claim that a 277CA names, by its account number."""
    found, account = [], ""
    for row in segments:
        if row[0] == "HL":
            account = ""
        elif row[:2] == ["TRN", "2"] and re.fullmatch(r"ACC-\d+", row[2]):
            account = row[2]
        elif row[0] == "STC" and account:
            found.append((account, row[1]))
    return found
