"""Close a payment: record that a site deposited its part, or why nothing is left to do with it; and undo either. Audited.

    await deposit_payment(context, payment_id, NewDeposit(day=today, amount=65_00, reference="slip 7"), actor=actor, scopes=[site.scope])
    await settle_payment(context, payment_id, "Interest that the payer did not list", actor=actor, scopes=None)
    await reopen_payment(context, payment_id, PaymentClosing.DEPOSIT, actor=actor, scopes=None)

It is the site's own record about its part, never a state of the payment. With ``scopes`` the parts of these sites are meant,
without them every site's. Knows payments and no page.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any

import msgspec

from clearlane.events.event import EventData, NewEvent
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import Scope
from clearlane.payments.deposit import (
    BECAUSE_CHARACTERS_MAX,
    REFERENCE_CHARACTERS_MAX,
    Deposit,
    DepositNote,
    deposit_state,
)
from clearlane.pipeline.share_deposit import share_deposit
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, OperationRefused, Tx
from clearlane.store.payments import payments, share_closings
from clearlane.store.payments.share_closings import ShareClosing
from clearlane.store.vault.vault import Vault

NO_PART = "There is no payment {payment_id} with claims of yours."
SEVERAL_PARTS = "Payment {payment_id} has parts of several sites, which are {expected} together. Name the site, or deposit that amount."
NOTHING_TO_UNDO = "Payment {payment_id} was not {closing}; there is nothing to undo."
EARLY_DAY, LATE_DAY = "The day is more than a year ago.", "The day is in the future."
DAYS_BEFORE_MAX = 366


class PaymentClosing(StrEnum):
    """A way to close a part of a payment."""

    DEPOSIT = "deposited"
    SETTLEMENT = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDeposit:
    """A deposit that a person states."""

    day: date
    amount: int | None = None
    """In cents; None for what the payer stated."""
    reference: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class _Part:
    """A site's part of a payment, as it is."""

    closing: ShareClosing
    deposit: Deposit
    note: DepositNote = field(repr=False)


async def deposit_payment(
    context: WorkContext,
    payment_id: str,
    new: NewDeposit,
    *,
    actor: Actor,
    scopes: Collection[Scope] | None,
) -> None:
    """Record that parts of a payment were deposited. An amount for several parts is what they are together."""
    now = to_micros(context.clock.now())
    reference = new.reference.strip()[:REFERENCE_CHARACTERS_MAX]

    async def job(tx: Tx) -> None:
        parts = await _parts(tx, context.vault, payment_id, scopes)
        expected = sum(part.deposit.expected for part in parts)
        if len(parts) > 1 and new.amount not in {None, expected}:
            words = f"{expected / 100:,.2f}"
            raise OperationRefused(SEVERAL_PARTS.format(payment_id=payment_id, expected=words))
        for part in parts:
            amount = (
                new.amount if new.amount is not None and len(parts) == 1 else part.deposit.expected
            )
            closing = part.closing._replace(
                deposited_day=new.day.isoformat(), deposited_cents=amount
            )
            note = msgspec.structs.replace(part.note, reference=reference)
            await _put(tx, context.vault, closing, note)
            state = deposit_state(part.deposit.expected, amount, is_settled=False)
            data: EventData = {"payment_id": payment_id, "deposit": state.value}
            tx.add_events([NewEvent("payment.deposited", now, *closing.owner, data=data)])
        tx.audit("payment.deposited", ids=[payment_id])

    await _write(context, payment_id, job, actor)


async def settle_payment(
    context: WorkContext,
    payment_id: str,
    because: str,
    *,
    actor: Actor,
    scopes: Collection[Scope] | None,
) -> None:
    """Record why nothing is left to do with parts of a payment, which then need no attention."""
    now = to_micros(context.clock.now())
    text = because.strip()[:BECAUSE_CHARACTERS_MAX]
    if not text:
        raise OperationRefused("A reason is needed: why is nothing left to do with this payment?")

    async def job(tx: Tx) -> None:
        for part in await _parts(tx, context.vault, payment_id, scopes):
            note = msgspec.structs.replace(part.note, because=text)
            await _put(tx, context.vault, part.closing._replace(settled_at=now), note)
        tx.audit("payment.settled", ids=[payment_id])

    await _write(context, payment_id, job, actor)


async def reopen_payment(
    context: WorkContext,
    payment_id: str,
    closing: PaymentClosing,
    *,
    actor: Actor,
    scopes: Collection[Scope] | None,
) -> None:
    """Undo a deposit or a settlement of parts of a payment."""
    nothing, text = _EMPTY[closing], _TEXT[closing]

    async def job(tx: Tx) -> None:
        parts = await _parts(tx, context.vault, payment_id, scopes)
        if all(part.closing == part.closing._replace(**nothing) for part in parts):
            refused = NOTHING_TO_UNDO.format(payment_id=payment_id, closing=closing.value)
            raise OperationRefused(refused)
        for part in parts:
            note = msgspec.structs.replace(part.note, **{text: ""})
            await _put(tx, context.vault, part.closing._replace(**nothing), note)
        tx.audit("payment.reopened", ids=[payment_id], detail=closing.value)

    await _write(context, payment_id, job, actor)


async def load_deposit_notes(
    context: WorkContext, payment_id: str, scopes: Collection[Scope] | None
) -> list[DepositNote]:
    """Return what was written about parts of a payment, each text once. The caller has audited the look."""
    async with context.database.read(payments.SCOPE) as tx:
        parts = await _parts(tx, context.vault, payment_id, scopes)
    return list(dict.fromkeys(part.note for part in parts if part.note != DepositNote()))


def day_fault(day: date, today: date) -> str:
    """Return what is wrong with the day of a deposit, as a sentence; empty if nothing is."""
    if day > today:
        return LATE_DAY
    return EARLY_DAY if (today - day).days > DAYS_BEFORE_MAX else ""


_EMPTY: Mapping[PaymentClosing, Mapping[str, Any]] = {
    PaymentClosing.DEPOSIT: {"deposited_day": None, "deposited_cents": None},
    PaymentClosing.SETTLEMENT: {"settled_at": None},
}
_TEXT: Mapping[PaymentClosing, str] = {
    PaymentClosing.DEPOSIT: "reference",
    PaymentClosing.SETTLEMENT: "because",
}
_NOTE = msgspec.json.Decoder(DepositNote)


async def _parts(
    tx: Tx, vault: Vault, payment_id: str, scopes: Collection[Scope] | None
) -> list[_Part]:
    """Return the parts that these sites have of a payment; refuse if there is none."""
    closings = [
        one
        for one in await share_closings.list_closings(tx, payment_id)
        if scopes is None or one.scope in scopes
    ]
    row = await payments.find(tx, payment_id)
    if row is None or not closings:
        raise OperationRefused(NO_PART.format(payment_id=payment_id))
    shares = {
        (one.vendor_id, one.site_id): one for one in await payments.list_shares(tx, [payment_id])
    }
    await vault.load_keys_of(tx, [one.note for one in closings if one.note is not None])
    return [
        _Part(one, share_deposit(row, shares[one.owner]), _open(vault, one)) for one in closings
    ]


def _open(vault: Vault, closing: ShareClosing) -> DepositNote:
    if closing.note is None:
        return DepositNote()
    return _NOTE.decode(
        vault.open(closing.scope, share_closings.TABLE, closing.payment_id, closing.note)
    )


async def _put(tx: Tx, vault: Vault, closing: ShareClosing, note: DepositNote) -> None:
    sealed = vault.seal(
        closing.scope, share_closings.TABLE, closing.payment_id, msgspec.json.encode(note)
    )
    await share_closings.put_closing(tx, closing._replace(note=sealed))


async def _write(
    context: WorkContext, payment_id: str, job: Callable[[Tx], Awaitable[None]], actor: Actor
) -> None:
    """Run a change of parts of a payment, once the keys that seal its notes are there."""
    async with context.database.read(payments.SCOPE) as tx:
        closings = await share_closings.list_closings(tx, payment_id)
    for scope in {one.scope for one in closings}:
        await context.vault.ensure_key(scope)
    await context.database.write(payments.SCOPE, job, actor=actor)
