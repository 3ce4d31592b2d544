"""Files that a payer refuses for their envelope (TA1): one matter for the operator, and sent again when it is mended.

Also tests `store/delivery/file_refusals`.
"""

from dataclasses import dataclass, replace

import pytest
from sqlalchemy import select

from clearlane.connect.port import Unreachable
from clearlane.pipeline.operator import batch_admin
from clearlane.pipeline.outbound import dispatch
from clearlane.pipeline.query.installation.conditions import raised_conditions
from clearlane.pipeline.query.installation.measures import MeasureSource
from clearlane.store.audit import audit
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement
from clearlane.store.delivery import batches
from tests.claims.answers import nine, paid, payment, ta1
from tests.pipeline.flowing import EVERYONE, PAYER, Flow, MemoryConnections, accounts, controls
from tests.pipeline.outbound import numbers_in

pytestmark = pytest.mark.one_database

NORA = Actor("operator", "nora")
LABELS = Statement(select(claims.c.claim_number, claims.c.label), system=True)
WITH_ERRORS = ("AK2*837*0001*005010X222A1", "IK3*HI*22**8", "IK5*E")


@dataclass
class MendableRoute(MemoryConnections):
    """A route whose envelope an operator changes."""

    group_receiver: str = ""
    window_seconds: int = 60

    def route(self, type, payer_id):
        found = super().route(type, payer_id)
        return replace(
            found, group_receiver=self.group_receiver, window_seconds=self.window_seconds
        )


@pytest.fixture
async def flow(place, database, clock):
    made = await Flow.open(place, database, clock)
    made.connections = MendableRoute()
    access = replace(made.context.payer_access, connections=lambda: made.connections)
    made.context = replace(made.context, payer_access=access)
    return made


def mend(flow):
    flow.connections.group_receiver = "MEADOW9"


async def conditions(flow):
    """The sentences of the conditions about claims to payers."""
    source = MeasureSource(
        database=flow.database, clock=flow.clock, wall=flow.clock, connections=lambda: flow.connections
    )  # fmt: skip
    found = raised_conditions(await source.measure())
    return [one.sentence for one in found if one.condition.part == "Claims to payers"]


async def labels(flow, ids):
    async with flow.database.read(EVERYONE) as tx:
        found = dict(await tx.rows(LABELS))
    return {found[id] for id in ids}


async def states(flow, ids):
    return [(await flow.status(id)).state for id in ids]


async def batch_id(flow, content):
    async with flow.database.read(EVERYONE) as tx:
        return (await batches.find_by_control(tx, controls(content))).id


@pytest.mark.both_databases
@pytest.mark.safe_default(5)
async def test_a_refused_file_is_one_condition_and_goes_again_when_its_route_is_mended(flow):
    ids, content = await flow.sent(3)
    await flow.arrive(ta1(controls(content)))
    assert await states(flow, ids) == ["rejected"] * 3  # as V3 shows them
    assert await labels(flow, ids) == {"to_be_sent_again"}  # no biller's work
    [condition] = await conditions(flow)
    assert "refused 1 file with 3 claims" in condition
    assert "TA1 006" in condition
    assert await flow.send() == b""  # nothing was mended
    mend(flow)
    again = await flow.send()
    assert sorted(numbers_in(again)) == sorted(ids)
    assert controls(again) != controls(content)
    assert b"*MEADOW9*" in again
    assert await states(flow, ids) == ["sent"] * 3
    assert await labels(flow, ids) == {"sent"}
    assert await conditions(flow) == []
    assert await flow.send() == b""
    # What the payer says of the first file counts no more; what it says of the second does.
    await flow.arrive(ta1(controls(content), own=600))
    assert await states(flow, ids) == ["sent"] * 3
    remits = [paid(one, "1", "100", "80", "CAS*CO*45*20") for one in accounts(again)]
    await flow.arrive(payment(*remits, amount="240", control=601), name="remit")
    assert await states(flow, ids) == ["complete"] * 3


@pytest.mark.safe_default(5)
async def test_a_claim_that_was_sent_anew_does_not_go_again_with_its_file(flow):
    """The vendor's successor wins, and once the file goes again the id is taken as of any claim on its way."""
    ids, content = await flow.sent(1, Svc_VendorClaimId="FIRST")
    others = await flow.submit(1, Svc_VendorClaimId="SECOND")
    await flow.arrive(ta1(controls(content)))
    other_file = await flow.send()
    await flow.arrive(ta1(controls(other_file), own=501))
    assert await states(flow, [*ids, *others]) == ["rejected"] * 2
    [successor] = await flow.submit(1, Svc_VendorClaimId="FIRST", F01A_InsuredId="M777777")
    assert numbers_in(await flow.send()) == [successor]
    mend(flow)
    flow.connections.open_mailbox(flow.connections.route("Medical", PAYER)).trouble = Unreachable()
    await flow.send()
    assert await states(flow, [*ids, *others]) == ["rejected", "received"]  # on its way again
    [same] = await flow.post(1, Svc_VendorClaimId="SECOND")
    assert (same.accepted, same.claim_number) == (True, others[0])
    [different] = await flow.post(1, Svc_VendorClaimId="SECOND", F01A_InsuredId="M777777")
    assert not different.accepted
    flow.connections.open_mailbox(flow.connections.route("Medical", PAYER)).trouble = None
    await dispatch.retry_payer_now(flow.context, ("Medical", PAYER), flow.clock.now())
    assert numbers_in(await flow.send()) == others
    assert await states(flow, [*ids, *others, successor]) == ["rejected", "sent", "sent"]


ANSWERS = {
    "a control number that came before": lambda control: [ta1(control, "R", "025")],
    "accepted with errors by a TA1": lambda control: [
        ta1(control, "E", "006"), ta1(control, "R", "006", own=501),
    ],
    "accepted with errors by a 999": lambda control: [
        nine(control, WITH_ERRORS, verdict="E", control=502), ta1(control, "R", "006"),
    ],
    "refused, then accepted with errors by a 999": lambda control: [
        ta1(control, "R", "006"), nine(control, WITH_ERRORS, verdict="E", control=502),
    ],
}  # fmt: skip


@pytest.mark.both_databases(first_case=True)
@pytest.mark.safe_default(5)
@pytest.mark.parametrize("answers", ANSWERS)
async def test_a_file_that_the_payer_may_hold_never_goes_again_by_itself(flow, answers):
    ids, content = await flow.sent(2)
    for answer in ANSWERS[answers](controls(content)):
        await flow.arrive(answer)
    assert await states(flow, ids) == ["rejected"] * 2
    mend(flow)
    for _ in range(2):
        assert await flow.send() == b""
    [condition] = await conditions(flow)
    assert "may hold" in condition
    batch = await batch_id(flow, content)
    with pytest.raises(OperationRefused, match="may hold it"):
        await batch_admin.resend(flow.context, batch, actor=NORA)
    assert await flow.send() == b""
    await batch_admin.resend(flow.context, batch, actor=NORA, even_if_answered=True)
    assert sorted(numbers_in(await flow.send())) == sorted(ids)


@pytest.mark.safe_default(5)
async def test_a_file_that_the_payer_may_hold_does_not_hide_one_that_goes_again(flow):
    _, first = await flow.sent(3)
    await flow.arrive(ta1(controls(first)))
    _, second = await flow.sent(2)
    await flow.arrive(ta1(controls(second), "E", "006", own=501))
    await flow.arrive(ta1(controls(second), "R", "006", own=502))
    [condition] = await conditions(flow)
    assert "refused 2 files with 5 claims" in condition
    assert "may hold 2 of the claims" in condition
    mend(flow)
    assert len(numbers_in(await flow.send())) == 3
    [condition] = await conditions(flow)
    assert "refused 1 file with 2 claims" in condition
    assert "may hold the claims" in condition


@pytest.mark.parametrize(
    "answer",
    [
        lambda control: ta1(control, "E", "006"),
        lambda control: nine(control, WITH_ERRORS, verdict="E"),
    ],
)
async def test_a_file_that_was_accepted_with_errors_is_at_the_payer(flow, answer):
    ids, content = await flow.sent(2)
    await flow.arrive(answer(controls(content)))
    mend(flow)
    assert await flow.send() == b""
    assert await states(flow, ids) == ["sent"] * 2
    assert await conditions(flow) == []


@pytest.mark.both_databases
@pytest.mark.safe_default(5)
async def test_an_operator_sends_a_refused_file_again_and_an_answer_to_the_first_proves_nothing(
    flow,
):
    ids, content = await flow.sent(2)
    await flow.arrive(ta1(controls(content)))
    await batch_admin.resend(
        flow.context, await batch_id(flow, content), actor=NORA
    )  # the payer put it right
    [again] = await dispatch.create_batches(flow.context, flow.clock.now(), everything=True)
    async with flow.database.read(EVERYONE) as tx:
        assert await batches.count_answered(tx, again) == 0  # the TA1 was about the first
    file = await flow.send()
    assert sorted(numbers_in(file)) == sorted(ids)
    with pytest.raises(OperationRefused):
        await batch_admin.resend(flow.context, await batch_id(flow, content), actor=NORA)
    # Refused once more, it is again one condition.
    await flow.arrive(ta1(controls(file), own=501))
    [condition] = await conditions(flow)
    assert "refused 1 file with 2 claims" in condition
    rows = audit.read_between(flow.database, audit.BEFORE_ALL, 1 << 62)
    assert ("batch.requeued", "nora") in [
        (row["action"], str(row["actor"]).rpartition(":")[2]) async for row in rows
    ]
