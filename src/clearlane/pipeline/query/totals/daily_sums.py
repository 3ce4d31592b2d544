"""Keep the daily sums that reports add up: renewed by schedule after submissions and postings, never by a report.

    await refresh_sums(context, site)           # sums the days again whose claims changed since the last time

The sums of a day are made from its claims as they are: of claims that took over from each other the last counts, and of
claim payments those in force. So a correction, a void or a reversal leaves no trace of its own.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from clearlane.accounts.model import Site
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.payments.claim_payment_label import is_denial
from clearlane.pipeline.load_claim import open_header
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_summaries
from clearlane.store.database.database import Tx
from clearlane.store.payments import report_sums
from clearlane.store.payments.report_sums import (
    ReportSum,
    SumAmounts,
    SumKey,
    SumKind,
    SummedClaim,
    SummedPayment,
)

KEPT_AS = "report sums"
CLAIMS_AT_ONCE = 500
PATIENT_GROUP = "PR"


class SumsSince(msgspec.Struct, frozen=True):
    """From which moment on changed claims are looked for the next time: that of the time before last.

    What was being written at the last time has a moment before it, and may have been committed after it.
    """

    since: int = 0


async def ensure_counted(
    context: WorkContext, scope: Scope | VendorScope, sites: Collection[Site]
) -> int:
    """Count the sites of a scope that never were; return the moment up to which every site is counted."""
    async with context.database.read(scope) as tx:
        counted = await claim_summaries.list_counted(tx, KEPT_AS)
    now = to_micros(context.clock.now())
    for site in sites:
        if not counted.get(site.id):
            await refresh_sums(context, site)
    return min((counted.get(site.id) or now for site in sites), default=now)


async def refresh_sums(context: WorkContext, site: Site) -> None:
    """Sum the days of receipt again whose claims changed. Nodes that do it at the same time wait for each other."""
    now = to_micros(context.clock.now())
    async with context.database.read(site.scope) as tx:
        kept = await claim_summaries.find_summary(tx, KEPT_AS)
        before = kept.counted_at if kept and kept.counted_at <= now else 0
        since = _SINCE.decode(kept.content).since if kept and before else 0
        days = await report_sums.list_changed_days(tx, since)
    if before and not days:
        return
    for day in days:
        rows = await _sum_day(context, site, day)

        async def job(tx: Tx, day: str = day, rows: Sequence[ReportSum] = rows) -> None:
            # First the row that every node writes: it locks the sums of the site.
            await _keep(tx, before, since)
            await report_sums.replace_day(tx, day, rows)

        await context.database.write(site.scope, job, actor=context.actor)
    await context.database.write(site.scope, lambda tx: _keep(tx, now, before), actor=context.actor)


async def _keep(tx: Tx, counted_at: int, since: int) -> None:
    content = msgspec.json.encode(SumsSince(since))
    await claim_summaries.put_summary(tx, counted_at, content, KEPT_AS)


async def _sum_day(context: WorkContext, site: Site, day: str) -> list[ReportSum]:
    """Return the sums of the claims that a site received on a day."""
    sums: dict[SumKey, SumAmounts] = {}
    after = ""
    while True:
        async with context.database.read(site.scope) as tx:
            claims = await report_sums.list_claims_of_day(
                tx, day, after=after, limit=CLAIMS_AT_ONCE
            )
            payments = await report_sums.list_payments_in_force(
                tx, [one.claim_number for one in claims]
            )
            await context.vault.load_keys_of(tx, [one.header for one in claims])
        providers = {
            one.claim_number: open_header(
                context.vault, site.vendor_id, one.claim_number, one.header
            ).billing_npi
            for one in claims
        }
        for key, amounts in _rows(day, claims, payments, providers):
            sums[key] = amounts.plus(sums.get(key, SumAmounts()))
        if len(claims) < CLAIMS_AT_ONCE:
            return sorted(sums.items())
        after = claims[-1].claim_number


def _rows(
    day: str,
    claims: Sequence[SummedClaim],
    payments: Sequence[SummedPayment],
    providers: Mapping[str, str],
) -> Iterator[ReportSum]:
    """Yield the rows that each claim and each of its payments adds."""
    payers = {one.claim_number: one.payer_id for one in claims}
    for one in claims:
        if one.is_superseded:
            continue
        key = SumKey(
            SumKind.RECEIVED.value, day, one.payer_id, providers[one.claim_number], one.label
        )
        amounts = SumAmounts(1, one.total_cents, one.paid_cents, one.patient_cents)
        yield key, amounts
        if one.awaiting is not None:
            yield key._replace(kind=SumKind.OPEN.value), amounts
    # The same decision may have come with two payments.
    for paid in {(one.claim_number, one.identity): one for one in payments}.values():
        adjusted = denied = 0
        payer_id, provider = payers[paid.claim_number], providers[paid.claim_number]
        key = SumKey(SumKind.DECIDED.value, paid.paid_day, payer_id, provider, paid.label)
        for group, reason, cents in _REASONS.decode(paid.reasons):
            of_denial = cents if is_denial(group, reason, cents) else 0
            denied += of_denial
            adjusted += 0 if group == PATIENT_GROUP else cents
            yield (
                key._replace(kind=SumKind.ADJUSTED.value, reason=f"{group}-{reason}"),
                SumAmounts(1, adjusted_cents=cents, denied_cents=of_denial),
            )
        yield (
            key,
            SumAmounts(1, paid.charge_cents, paid.paid_cents, paid.patient_cents, adjusted, denied),
        )


_SINCE = msgspec.json.Decoder(SumsSince)
_REASONS = msgspec.json.Decoder(list[tuple[str, str, int]])
