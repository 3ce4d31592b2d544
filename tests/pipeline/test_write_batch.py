"""Claims as one file for a route: a claim that cannot be opened or written keeps no other back.

Also tests `pipeline/load_claim`, `pipeline/other_payer` and `claims/write/batch_naming`.
"""

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from clearlane.claims.kinds import ClaimKind
from clearlane.kernel.limits import CONTROL_NUMBER_MAX
from clearlane.pipeline.outbound import write_batch
from clearlane.store.database.database import Actor
from clearlane.store.delivery import batches
from clearlane.store.delivery.control_numbers import next_control_number
from tests.pipeline.outbound import HARBOR, MEADOW, control_of, numbers_in, outbound

MEDICAL = ClaimKind.MEDICAL
UNWRITABLE = "C\u20ac1"
"""No X12 character set has this sign, and a claim number is not replaced by something near it."""


@pytest.fixture
async def out(new_place, clock):
    async with outbound(await new_place("sqlite"), clock) as made:
        made.connections.add()
        yield made


async def waiting(out, claims_max=100):
    return await write_batch.load_waiting_claims(
        out.context, MEADOW, MEDICAL, claims_max=claims_max, in_doubt=False
    )


async def composed(out, claims):
    [route] = out.connections.mailbox_routes("Medical", MEADOW)
    made = await write_batch.compose_batch(out.context, route, MEDICAL, claims)
    return made, out.context.vault.open(
        batches.OWNER, batches.TABLE, made.file.name, made.file.content
    )


@pytest.mark.parametrize(("count", "claims_max"), [(0, 5), (3, 5), (5, 5), (7, 5), (7, 7)])
async def test_waiting_claims_are_loaded_oldest_first_page_by_page(
    out, monkeypatch, count, claims_max
):
    monkeypatch.setattr(write_batch, "BATCH_PAGE_ROWS", 2)
    ids = await out.submit(count) if count else []
    assert [one.number for one in await waiting(out, claims_max)] == ids[:claims_max]


async def test_a_file_has_a_number_of_its_own_and_the_size_and_name_it_says(out):
    ids = await out.submit(2)
    claims = await waiting(out)
    first, content = await composed(out, claims)
    second, _ = await composed(out, claims)
    assert first.members == tuple(ids)
    assert numbers_in(content) == ids
    assert first.file.control == control_of(content)
    assert str(first.file.control) in first.file.name
    assert first.file.bytes == len(content)
    assert second.file.control == first.file.control + 1


@pytest.mark.parametrize("bad", [{0}, {1}, {2}, {0, 2}])
async def test_a_claim_that_cannot_be_written_is_left_out_and_named_in_the_log(out, bad):
    await out.submit(3)
    claims = [
        replace(one, number=UNWRITABLE) if at in bad else one
        for at, one in enumerate(await waiting(out))
    ]
    good = [one.number for at, one in enumerate(claims) if at not in bad]
    with capture_logs() as logged:
        made, content = await composed(out, claims)
    named = [one["claim"] for one in logged if one["event"] == "claim not written"]
    assert named == [UNWRITABLE] * len(bad)
    assert list(made.members) == good
    assert numbers_in(content) == good


@pytest.mark.safe_default(9)
async def test_the_other_payer_has_its_id_of_the_directory(out):
    other = {
        "F09_OtherInsuredNameLast": "Lund", "F09A_OtherInsuredGroupNum": "GRP300",
        "F09_PatientRelationshipToInsured": "Spouse",
    }  # fmt: skip
    await out.submit(1, **other, X12_OtherPayerName="Harbor-health plan")
    await out.submit(1, **other, X12_OtherPayerName="Tidewater Fund")
    _, content = await composed(out, await waiting(out))
    assert f"NM1*PR*2*HARBOR-HEALTH PLAN*****PI*{HARBOR}~".encode() in content
    assert b"NM1*PR*2*TIDEWATER FUND*****PI*TIDEWATERFUND~" in content


async def test_when_the_numbers_are_used_up_nothing_is_written(out):
    await out.submit(1)
    claims = await waiting(out)

    async def use_up(tx):
        await next_control_number(tx, skip=CONTROL_NUMBER_MAX - 1)

    await out.context.database.write(batches.SCOPE, use_up, actor=Actor("node", "test"))
    with pytest.raises(write_batch.ControlNumbersExhausted):
        await composed(out, claims)


async def test_a_claim_that_was_just_accepted_is_written_as_its_row_is(out):
    await out.submit(2)
    kept = out.context.recent_claims
    assert len(kept) == 2
    recent = await waiting(out)
    assert len(kept) == 0
    from_rows = await waiting(out)
    assert [one.claim for one in from_rows] == [one.claim for one in recent]
    assert all(a.claim is not b.claim for a, b in zip(from_rows, recent, strict=True))
    made = [await composed(out, claims) for claims in (recent, from_rows)]
    assert numbers_in(made[0][1]) == numbers_in(made[1][1])
    assert made[0][0].file.bytes == made[1][0].file.bytes
