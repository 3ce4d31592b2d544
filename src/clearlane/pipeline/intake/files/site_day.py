"""Count what happened to a site's claims on one day: received, accepted, not accepted, sent, paid.

    figures = await count_site_day(tx, site, day)       # in the scope of the site

The day is one of the site's time zone. Received claims are counted by the query of Home's chart and by the list of claims
that were not accepted; sent ones by the batches that were delivered on that day, paid ones by the remittances that came.
Claims of shadow files are not counted. For the daily summary and the command that shows one.
"""

from datetime import date, timedelta

import msgspec

from clearlane.accounts.model import Site
from clearlane.kernel.clock import day_start, to_micros
from clearlane.kernel.ids import first_number
from clearlane.store.claims import claim_summaries
from clearlane.store.database.database import Tx
from clearlane.store.delivery import batches
from clearlane.store.payments import claim_payments
from clearlane.store.payments.payments import PAYMENT_LETTER


class SiteDay(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one day of a site. ``paid_cents`` is what payers paid of claims."""

    site: str
    day: date
    received: int
    accepted: int
    not_accepted: int
    sent: int
    paid: int
    paid_cents: int


async def count_site_day(tx: Tx, site: Site, day: date) -> SiteDay:
    """Count one day of the site whose scope the transaction has."""
    begin, end = (day_start(one, site.time_zone) for one in (day, day + timedelta(days=1)))
    first, last = (first_number(one, letter=PAYMENT_LETTER) for one in (begin, end))
    days = await claim_summaries.count_days(tx, day.isoformat())
    refused = await claim_summaries.count_not_accepted(tx, day.isoformat())
    sent = await batches.count_sent_claims(tx, since=to_micros(begin), before=to_micros(end))
    paid, cents = await claim_payments.count_paid(tx, first=first, last=last)
    received = sum(one.claims for one in days if one.created_day == day.isoformat())
    return SiteDay(
        site=site.vendor_site_id,
        day=day,
        received=received,
        accepted=received - refused,
        not_accepted=refused,
        sent=sent,
        paid=paid,
        paid_cents=cents,
    )
