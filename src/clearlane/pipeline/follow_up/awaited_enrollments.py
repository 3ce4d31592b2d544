"""Release the claims whose billing providers' enrollment counts now, and give those whose payer refused it to a person.

    await release_enrolled(context, now)        # how many waits ended

A claim that was accepted and held is released, as a person releases one: it leaves with the next file. One that was not
accepted is never sent by itself, because its vendor knows so; it awaits that someone sends it again. Each claim is one
transaction, and one that was released does not wait any more, so that a node that is killed releases none twice.
"""

from datetime import datetime
from typing import NamedTuple

from clearlane.accounts.model import Site
from clearlane.claims.awaiting import Awaited
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.lifecycle import ClaimState
from clearlane.engine.workflows import WorkSteps
from clearlane.enrollment.lifecycle import PENDING_STATES, EnrollmentState
from clearlane.kernel.clock import to_local, to_micros
from clearlane.payers.enrolled_transactions import EnrolledTransaction
from clearlane.payers.model import Payer
from clearlane.pipeline.enrollment.provider_progress import find_progress
from clearlane.pipeline.intake.hold_claims import RELEASE, change_unsent_claim
from clearlane.pipeline.load_claim import open_header
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import enrollment_waits
from clearlane.store.database.database import Tx
from clearlane.store.enrollment_waits import EnrollmentWait

NAME = "awaited-enrollments"
EVERY_SECONDS = 60
WAITS_AT_ONCE = 200

COMING, LIVE, OVER = "coming", "live", "over"
"""What an enrollment that claims wait for is: on its way, in force, or not to be expected."""


class _Waited(NamedTuple):
    """What several claims wait for: the enrollment of one provider of a site with one payer."""

    site: Site
    payer: Payer
    npi: str
    tax_id: str


async def enrollment_wait_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Look for claims whose enrollment counts now."""
    await release_enrolled(context, context.clock.now())


async def release_enrolled(context: WorkContext, now: datetime) -> int:
    """End every wait for an enrollment that is over; return how many there were."""
    sites: dict[tuple[int, int], Site] = {
        (one.vendor_id, one.id): one for one in context.accounts().sites
    }
    known: dict[_Waited, str] = {}
    count, after, seen = 0, "", WAITS_AT_ONCE
    while seen == WAITS_AT_ONCE:
        async with context.database.read(enrollment_waits.SCOPE) as tx:
            page = await enrollment_waits.list_waits(tx, after=after, limit=WAITS_AT_ONCE)
            await context.vault.load_keys_of(tx, [one.header for one in page])
        for one in page:
            site = sites.get((one.vendor_id, one.site_id))
            if site is not None:
                count += await _end_if_over(context, site, one, known, now)
        seen, after = len(page), page[-1].claim_number if page else ""
    return count


async def _end_if_over(
    context: WorkContext,
    site: Site,
    wait: EnrollmentWait,
    known: dict[_Waited, str],
    now: datetime,
) -> bool:
    """End a claim's wait if the enrollment counts, or is not to be expected; return whether it was ended."""
    payer_type = KINDS[ClaimKind(wait.kind)].payer_type
    payer = context.payer_access.payers().find(wait.payer_id, payer_type)
    state = LIVE if payer is None or not payer.claim_enrollment_required else ""
    if payer is not None and not state:
        header = open_header(context.vault, site.scope, wait.claim_number, wait.header)
        waited = _Waited(site, payer, header.billing_npi, header.billing_tax_id)
        if waited not in known:
            known[waited] = await _look_up(context, waited, now)
        state = known[waited]
    if state == COMING:
        return False
    is_held = wait.state == ClaimState.HELD
    if state == LIVE and is_held:
        released = await change_unsent_claim(
            context, site, wait.claim_number, RELEASE, actor=context.actor, now=now
        )
        return not released.refusal
    awaited = Awaited.RELEASE if is_held else Awaited.CORRECTION

    async def job(tx: Tx) -> bool:
        return await enrollment_waits.end_wait(tx, wait.claim_number, awaited, to_micros(now))

    return await context.database.write(site.scope, job, actor=context.actor)


async def _look_up(context: WorkContext, waited: _Waited, now: datetime) -> str:
    """Return what the enrollment is now."""
    site, payer, *billing = waited
    async with context.database.read(site.scope) as tx:
        progress = await find_progress(
            tx,
            context.vault,
            site.scope,
            payer,
            EnrolledTransaction.CLAIMS,
            (billing[0], billing[1]),
        )
    today = to_local(now, site.time_zone).date()
    if progress is None or progress.state in {EnrollmentState.REFUSED, EnrollmentState.ENDED}:
        return OVER
    is_coming = progress.state in PENDING_STATES or not progress.is_live(today)
    return COMING if is_coming else LIVE
