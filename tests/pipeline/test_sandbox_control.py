"""Time and payers of a sandbox as callers change them: everything that is due then has happened.

Also tests `pipeline/sandbox/enrollment_answers` and `store/database/empty_tables`.
"""

import asyncio
import json
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from clearlane.accounts.model import Site
from clearlane.claims.batch_lifecycle import BatchState
from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.enrollment.lifecycle import EnrollmentEvent, EnrollmentState
from clearlane.pipeline.enrollment.enroll import enroll
from clearlane.pipeline.intake import submit
from clearlane.pipeline.operator.enrollment_admin import (
    EnrolledWith,
    apply_event,
    list_enrollments,
)
from clearlane.pipeline.outbound import deliver, dispatch
from clearlane.pipeline.sandbox import sandbox_control
from clearlane.pipeline.sandbox.sandbox_control import DueWorkNotFinished, SandboxControl
from clearlane.settings import load
from clearlane.store.database.database import Actor
from clearlane.store.database.empty_tables import KEPT
from clearlane.store.database.schema import metadata
from clearlane.store.database.sql import Statement
from clearlane.store.delivery import batches
from clearlane.store.delivery.file_query import FileQuery, find_batches, find_inbox_files
from clearlane.store.events import events
from clearlane.wiring import open_installation
from tests.databases import make_site
from tests.enrollment.invented import a_document, an_enrollment

VENDOR = Actor("vendor", "LARK")
PAYER = "TST01"
DAY = timedelta(days=1)


class Sandbox:
    """A sandbox without a server: its control, and claims put into it."""

    def __init__(self, installation):
        runtime = installation.sandbox_runtime
        self.context = installation.work_context
        self.simulator = runtime.simulator
        self.clock = runtime.simulator.clock
        self.control = SandboxControl(self.context, runtime.simulator, runtime.stored_clock)

    async def submit(self, **own):
        scope = await make_site(self.context.database)
        site = Site(scope.site, scope.vendor, "LARK", "C1", "Larkspur Dental", baa_accepted=True)
        day = self.clock.now().date() - timedelta(days=30)
        document = samples.document(V3_MEDICAL, day=day, full=False)
        document["Claims"][0] |= {"Svc_PayerId": PAYER, **own}
        done = await submit.submit(
            self.context, json.dumps(document, default=str).encode(), V3_MEDICAL,
            site=site, actor=VENDOR, now=self.clock.now(),
        )  # fmt: skip
        assert [one.accepted for one in done.results] == [True]

    async def batches(self):
        async with self.context.database.read(batches.SCOPE) as tx:
            return await find_batches(tx, FileQuery(limit=10))

    async def files(self):
        """Kinds of the payer's files that were posted."""
        async with self.context.database.read(batches.SCOPE) as tx:
            query = FileQuery(where={"state": ["applied", "parked"]}, limit=100)
            return {one.kinds for one in await find_inbox_files(tx, query)}


@pytest.fixture
async def sandbox(tmp_path):
    settings = load(environ={}, overrides={"data": tmp_path, "mode": "sandbox"})
    async with open_installation(settings, role="command") as installation:
        made = Sandbox(installation)
        await made.simulator.freeze(VENDOR)
        yield made


async def test_advance_lets_everything_happen_that_is_due_then(sandbox):
    await sandbox.submit()
    await sandbox.control.finish_due_work()
    [batch] = await sandbox.batches()
    assert batch.state is BatchState.DELIVERED
    before = sandbox.clock.now()
    await sandbox.control.advance(timedelta(days=30), VENDOR)
    assert timedelta(days=30) <= sandbox.clock.now() - before < timedelta(days=31)
    assert {"277CA", "835", "999"} <= await sandbox.files()


async def test_one_advance_takes_every_step_about_a_silent_claim(sandbox):
    await sandbox.submit(F01A_InsuredId="3027")
    await sandbox.control.advance(timedelta(days=60), VENDOR)
    async with sandbox.context.database.read(batches.SCOPE) as tx:
        types = ("claim.overdue", "claim.no_answer")
        found = await events.list_all(tx, types, after=0, limit=10)
    assert [one.type for one in found] == [*types]
    look, person = (one.at for one in found)
    assert 3 * DAY <= timedelta(microseconds=person - look) <= 6 * DAY


@pytest.mark.parametrize("by", [-DAY, timedelta(days=400 * 365)])
async def test_advance_refuses_what_cannot_be_and_changes_nothing(sandbox, by):
    state = sandbox.clock.state
    with pytest.raises(ValueError, match="time can"):
        await sandbox.control.advance(by, VENDOR)
    assert sandbox.clock.state == state


async def test_advance_by_nothing_finishes_what_is_due(sandbox):
    await sandbox.submit()
    advanced = sandbox.clock.state.advanced
    await sandbox.control.advance(timedelta(0), VENDOR)
    assert sandbox.clock.state.advanced == advanced
    assert [one.state for one in await sandbox.batches()] == [BatchState.DELIVERED]


@pytest.mark.parametrize(
    ("frozen", "day_seconds", "expected"),
    [
        (None, None, (True, 2)),
        (False, None, (False, 2)),
        (True, None, (True, 2)),
        (None, 5.0, (True, 5)),
        (False, 5.0, (False, 5)),
    ],
)
async def test_set_clock_changes_what_is_given(sandbox, frozen, day_seconds, expected):
    await sandbox.control.set_clock(frozen=frozen, day_seconds=day_seconds, actor=VENDOR)
    assert (sandbox.clock.state.frozen, sandbox.clock.state.day_seconds) == expected


async def test_set_clock_refuses_a_pace_that_cannot_be_and_changes_nothing(sandbox):
    with pytest.raises(ValueError, match="second"):
        await sandbox.control.set_clock(frozen=False, day_seconds=0, actor=VENDOR)
    assert sandbox.clock.state.frozen


async def test_a_payer_that_is_down_gets_its_files_at_once_when_it_is_up_again(sandbox):
    await sandbox.control.set_mode(PAYER, "down")
    await sandbox.submit()
    await sandbox.control.finish_due_work()
    [batch] = await sandbox.batches()
    assert (batch.state, batch.attempts) == (BatchState.READY, 1)
    await (
        sandbox.control.finish_due_work()
    )  # it is paused: nothing is due, and nothing is waited for
    assert (await sandbox.batches())[0].attempts == 1
    await sandbox.control.set_mode(PAYER, "up")
    await sandbox.control.finish_due_work()
    assert (await sandbox.batches())[0].state is BatchState.DELIVERED


async def test_modes_are_shown_for_test_payers_and_those_that_were_sent_something(sandbox):
    shown = {(payer.type, payer.payer_id): mode for payer, mode in await sandbox.control.modes()}
    assert set(shown.values()) == {"up"}
    types = [payer.type for payer in sandbox.control.find_payers(PAYER)]
    await sandbox.control.set_mode(PAYER, "slow")
    after = {(payer.type, payer.payer_id): mode for payer, mode in await sandbox.control.modes()}
    assert {key for key, mode in after.items() if mode == "slow"} == {
        (type, PAYER) for type in types
    }
    assert sandbox.control.find_payers("NOBODY") == []
    with pytest.raises(ValueError, match="sideways"):
        await sandbox.control.set_mode(PAYER, "sideways")


async def test_work_that_another_node_does_not_finish_is_given_up(sandbox, monkeypatch):
    monkeypatch.setattr(sandbox_control, "SANDBOX_ADVANCE_SECONDS_MAX", 0.5)
    await sandbox.submit()
    now = sandbox.clock.now()
    [id] = await dispatch.create_batches(sandbox.context, now, everything=True)
    [batch] = await sandbox.batches()
    assert await deliver._mark_sending(sandbox.context, batch, "another-node")
    state = sandbox.clock.state
    with pytest.raises(DueWorkNotFinished):
        await sandbox.control.advance(DAY, VENDOR)
    assert sandbox.clock.state == state
    # Once its lease has ended the batch is due here, and time can pass.
    monkeypatch.setattr(sandbox_control, "SANDBOX_ADVANCE_SECONDS_MAX", 60)
    await sandbox.simulator.advance(timedelta(hours=1), VENDOR)
    await sandbox.control.advance(DAY, VENDOR)
    assert [(one.id, one.state) for one in await sandbox.batches()] == [(id, BatchState.DELIVERED)]


async def test_reset_empties_the_sandbox_and_keeps_accounts_keys_and_the_audit_chain(sandbox):
    await sandbox.submit()
    await sandbox.control.advance(timedelta(days=30), VENDOR)
    database = sandbox.context.database

    async def counts():
        async with database.read(batches.SCOPE) as tx:
            return {
                table.name: (
                    await tx.row(Statement(select(func.count()).select_from(table), system=True))
                )[0]
                for table in metadata.sorted_tables
            }

    before = await counts()
    deleted = await sandbox.simulator.reset(VENDOR)
    after = await counts()
    assert deleted["claims"] == 1
    assert {name: before[name] for name in deleted} == deleted
    assert sum(after[name] for name in deleted) == 0
    assert {
        "claims",
        "batches",
        "inbox",
        "payments",
        "enrollments",
        "sandbox_ledger",
    } <= deleted.keys()
    kept = {name: (count, after[name]) for name, count in before.items() if name in KEPT}
    assert kept.pop("audit")[1] > before["audit"]
    assert {name: now for name, (was, now) in kept.items() if was != now} == {}
    assert sandbox.clock.state.advanced == timedelta(0)
    assert not sandbox.clock.state.frozen


async def test_a_reset_sandbox_works_as_a_new_one(sandbox):
    await sandbox.submit()
    await sandbox.control.advance(timedelta(days=30), VENDOR)
    await sandbox.simulator.reset(VENDOR)
    await sandbox.simulator.freeze(VENDOR)
    await sandbox.submit()
    await sandbox.control.advance(timedelta(days=30), VENDOR)
    assert {"277CA", "835", "999"} <= await sandbox.files()


def test_every_table_is_kept_or_emptied():
    assert {table.name for table in metadata.sorted_tables} >= KEPT


# Enrollments, which payers answer three of their days after they were sent.

HARBOR = ("Medical", "hhp2m")
DECIDED_BY_HAND = {
    EnrollmentEvent.APPROVE: EnrollmentState.APPROVED,
    EnrollmentEvent.REFUSE: EnrollmentState.REFUSED,
}


class Enrollments:
    """Providers that one site enrolls in a sandbox."""

    def __init__(self, sandbox, site):
        self.sandbox, self.context, self.site = sandbox, sandbox.context, site

    async def send(self, *tins):
        document = a_document(*(an_enrollment(Tin=tin) for tin in tins))
        receipt = await enroll(
            self.context, document, site=self.site, actor=VENDOR, now=self.sandbox.clock.now()
        )
        return [one.id for one in receipt.results]

    async def move(self, id, event, **answered):
        payer = self.context.payer_access.payers().find("HHP2M", "Medical")
        await apply_event(
            self.context.database, self.context.vault, id, event, [EnrolledWith(payer)],
            reason="", now=self.sandbox.clock.now(), actor=VENDOR, sites=[self.site], **answered,
        )  # fmt: skip

    async def states(self):
        """The state of each with one payer, and the reason."""
        found = await list_enrollments(
            self.context.database, self.context.vault, lambda _: True, action="test", actor=VENDOR
        )
        return {
            one.row.id: next(
                (
                    (state.state, reason)
                    for state, reason in zip(one.row.payer_states, one.reasons, strict=True)
                    if state.key == (*HARBOR, "claims")
                ),
                ("submitted", ""),
            )
            for one in found
        }

    async def events(self):
        """The events about these enrollments with one payer, for the vendor."""
        types = ("enrollment.approved", "enrollment.refused")
        async with self.context.database.read(batches.SCOPE) as tx:
            found = await events.list_all(tx, types, after=0, limit=1_000)
        return sorted(
            (one.type.partition(".")[2], one.data["enrollment_id"])
            for one in found
            if one.data["payer_id"].casefold() == HARBOR[1] and one.data["transaction"] == "claims"
        )


async def enrollments_of(installation):
    sandbox = Sandbox(installation)
    scope = await make_site(sandbox.context.database)
    site = Site(scope.site, scope.vendor, "LARK", "C1", "Larkspur Dental", baa_accepted=True)
    return Enrollments(sandbox, site)


@pytest.mark.safe_default(6)
async def test_payers_answer_enrollments_by_their_calendar_once_whichever_node_asks(place, clock):
    settings = load(
        environ={}, overrides={"data": place.data, "database_url": place.url, "mode": "sandbox"}
    )
    async with open_installation(settings, role="command") as installation:
        made = await enrollments_of(installation)
        await made.sandbox.simulator.freeze(VENDOR)
        ids = await made.send("123456789", "123453003", "123453009", "123456781", "123456782")
        usual, refused, silent, *by_hand = ids
        decided = dict(zip(by_hand, DECIDED_BY_HAND, strict=True))
        for id, event in decided.items():
            await made.move(id, event)
        hand_made = {id: (DECIDED_BY_HAND[event], "") for id, event in decided.items()}
        hand_events = [(DECIDED_BY_HAND[event].value, id) for id, event in decided.items()]
        await made.sandbox.control.advance(2 * DAY, VENDOR)
        pending = dict.fromkeys([usual, refused, silent], ("submitted", ""))
        assert await made.states() == pending | hand_made
    # Another process, and a second node beside it.
    async with (
        open_installation(settings, role="command") as first,
        open_installation(settings, role="command") as second,
    ):
        nodes = [Enrollments(Sandbox(one), made.site) for one in (first, second)]
        await nodes[0].sandbox.simulator.advance(DAY, VENDOR)
        await second.refresh()
        await asyncio.gather(*(one.sandbox.control.finish_due_work() for one in nodes))
        answers = {
            usual: ("approved", ""),
            refused: ("refused", "The tax id is not on file."),
            silent: ("submitted", ""),
        }
        assert await nodes[1].states() == answers | hand_made
        assert await nodes[1].events() == sorted(
            [*hand_events, ("approved", usual), ("refused", refused)]
        )
        # Submitted to the payer again, it is answered again; the others stay as they are.
        simulated = first.work_context.simulated_enrollments
        await nodes[0].move(refused, EnrollmentEvent.START, simulated=simulated)
        assert (await nodes[1].states())[refused] == ("in work", "")
        await nodes[0].sandbox.control.advance(4 * DAY, VENDOR)
        assert await nodes[1].states() == answers | hand_made
