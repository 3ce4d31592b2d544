"""Make the events about payments, for vendors and operators: that one was recorded, and what is odd about it.

A payment concerns several clients: each site gets one event with its own share, and none of another's claims.
"""

from collections.abc import Sequence

from clearlane.events.event import EventActor, EventData, NewEvent
from clearlane.pipeline.record_facts import ClaimFact
from clearlane.store.claims import claim_updates
from clearlane.store.database.database import Tx, require_row
from clearlane.store.payments import payments
from clearlane.store.payments.payments import PaymentRow

NOBODY = (None, None)
"""The owner of events for operators."""


async def add_payment_events(tx: Tx, payment_id: str, at: int) -> None:
    """Add the events of a payment whose claims are all recorded for the first time."""
    payment = require_row(await payments.find(tx, payment_id), "a payment")
    shared = payment.duplicate_of or payment_id
    owners: list[tuple[int | None, int | None]] = [
        (share.vendor_id, share.site_id) for share in await payments.list_shares(tx, [shared])
    ]
    types = [] if payment.duplicate_of else ["payment.received"]
    events = [
        NewEvent(type, at, vendor, site, data=_data(payment), actor=EventActor.PAYER)
        for type, concerned in (*((type, owners) for type in types), *_odd(payment, owners))
        for vendor, site in concerned
    ]
    tx.add_events(events)


async def add_matched_events(tx: Tx, facts: Sequence[ClaimFact], at: int) -> None:
    """Add the events of claim payments that found their claims after the payment was recorded.

    Each names its claim and is counted with the claim's other events; a claim that a payment names twice has one.
    """
    claims: dict[str, list[str]] = {}
    for one in facts:
        if one.place is not None:
            claims.setdefault(one.place.payment_id, []).append(one.claim_number)
    for payment_id, claim_numbers in claims.items():
        counted = await claim_updates.count_event(tx, claim_numbers)
        tx.add_events(
            [
                NewEvent("payment.matched", at, *one, data={"payment_id": payment_id})
                for one in counted
            ]
        )


def _odd(
    payment: PaymentRow, owners: list[tuple[int | None, int | None]]
) -> list[tuple[str, list[tuple[int | None, int | None]]]]:
    """Return the types of what is odd about a payment, each with those it concerns; operators if it concerns no client."""
    found = []
    if payment.duplicate_of:
        return [("payment.duplicate", owners or [NOBODY])]
    if not payment.balanced:
        found.append(("payment.unbalanced", owners or [NOBODY]))
    if payment.unmatched:
        found.append(("payment.unmatched", [NOBODY]))
    return found


def _data(payment: PaymentRow) -> EventData:
    data: dict[str, str | int | bool | list[str] | None] = {"payment_id": payment.payment_id}
    if payment.duplicate_of:
        data["duplicate_of"] = payment.duplicate_of
    return data
