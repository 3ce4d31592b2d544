"""Providers are listed with each payer that requires their enrollment, by transaction: pending, live, refused or ended.

Also tests `pipeline/enrollment/list_enrollments`, `payers/enrolled_transactions` and `api/v1/provider_enrollments`.
"""

from datetime import timedelta

from clearlane.enrollment.lifecycle import EnrollmentEvent
from clearlane.events.event import envelope
from clearlane.payers.enrolled_transactions import EnrolledTransaction, enrolled_transactions
from clearlane.pipeline.enrollment.enroll import enroll
from clearlane.pipeline.enrollment.list_enrollments import list_provider_enrollments
from clearlane.pipeline.operator.enrollment_admin import EnrolledWith, apply_event
from clearlane.store.delivery import batches
from clearlane.store.events import events
from tests.enrollment.invented import a_document, an_enrollment
from tests.pipeline.flowing import ACTOR, PAYER, Flow


async def test_a_provider_goes_from_pending_to_live_and_to_its_end(place, database, clock):
    flow = await Flow.open(place, database, clock)
    flow.replace_payer(
        claim_enrollment_required=True,
        era_availability="RequiresEnrollment",
        inquiry_enrollments=("claim_status",),
    )
    other = await flow.new_site()
    receipt = await enroll(
        flow.context,
        a_document(an_enrollment(Npi="1234567893")),
        site=flow.site,
        actor=ACTOR,
        now=clock.now(),
    )
    [result] = receipt.results
    [payer] = flow.context.payer_access.payers().all
    assert enrolled_transactions(payer) == ("claims", "era", "claim_status")

    async def rows():
        found = await list_provider_enrollments(flow.context, flow.site, actor=ACTOR)
        return {one.transaction.value: one for one in found}

    async def move(event, transaction=EnrolledTransaction.CLAIMS, **more):
        await apply_event(
            database, flow.vault, result.id, event, [EnrolledWith(payer, transaction)],
            reason="", now=clock.now(), actor=ACTOR, sites=[flow.site], **more,
        )  # fmt: skip

    seen = [(await rows())["claims"]]
    for event in (EnrollmentEvent.START, EnrollmentEvent.APPROVE, EnrollmentEvent.END):
        clock.advance(timedelta(days=1))
        await move(event)
        seen.append((await rows())["claims"])
    assert [one.state.value for one in seen] == ["pending", "pending", "live", "ended"]
    # What an operator sent on is pending since the vendor sent it.
    assert seen[0].since == seen[1].since < seen[2].since < seen[3].since
    live_day = (clock.now() - timedelta(days=1)).date()
    assert [one.live_from for one in seen] == [None, None, live_day, None]
    shown = seen[-1].as_json()
    assert shown | {"since_at": ""} == {
        "id": f"{result.id}/medical/{PAYER}/claims", "enrollment_id": result.id, "site": flow.site.vendor_site_id,
        "npi": "1234567893", "payer_id": PAYER, "type": "medical", "transaction": "claims", "state": "ended", "since_at": "",
        "live_from": None,
    }  # fmt: skip
    # Each transaction is enrolled for by itself, and an approval counts from its own day on.
    day = clock.now().date() + timedelta(days=10)
    await move(EnrollmentEvent.APPROVE, EnrolledTransaction.ERA, live_from=day)
    states = {name: (one.state.value, one.live_from) for name, one in (await rows()).items()}
    assert states == {
        "claims": ("ended", None),
        "era": ("pending", day),
        "claim_status": ("pending", None),
    }
    clock.advance(timedelta(days=10))
    assert (await rows())["era"].state == "live"
    assert await list_provider_enrollments(flow.context, other, actor=ACTOR) == []

    types = [f"enrollment.{word}" for word in ("submitted", "approved", "refused", "ended")]
    async with database.read(batches.SCOPE) as tx:
        reported = await events.list_all(tx, types, after=0, limit=100)
    sent = [envelope(one, mode="sandbox", site=None, vendor_claim_id=None) for one in reported]
    assert [(one["type"], one["data"].get("transaction")) for one in sent] == [
        ("enrollment.submitted", None),
        ("enrollment.approved", "claims"),
        ("enrollment.ended", "claims"),
        ("enrollment.approved", "era"),
    ]
    assert {one["data"]["url"] for one in sent} == {f"/clearlane/v1/enrollments/{result.id}"}
    assert sent[-1]["data"]["live_from"] == day.isoformat()
