"""What sites recorded about their parts of payments: deposited, settled, or neither any more.

The note is sealed for the site. Knows no payment's content.
"""

from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, case, update

from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.kernel.redacted_repr import shows
from clearlane.payments.deposit import DepositState
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import payment_shares, payments
from clearlane.store.database.sql import Statement, inlined, select_as

TABLE = "payment_shares"


@shows("payment_id")
class ShareClosing(NamedTuple):
    """What became of a site's part of a payment. ``note`` is sealed."""

    payment_id: str
    vendor_id: int
    site_id: int
    deposited_day: str | None
    deposited_cents: int | None
    settled_at: int | None
    note: bytes | None

    @property
    def owner(self) -> tuple[int, int]:
        """Vendor and site."""
        return self.vendor_id, self.site_id

    @property
    def scope(self) -> Scope:
        """The site."""
        return Scope(VendorId(self.vendor_id), SiteId(self.site_id))


async def list_closings(tx: Tx, payment_id: str) -> list[ShareClosing]:
    """Return what every site recorded about its part of a payment."""
    return await list_rows(tx, ShareClosing, _OF_PAYMENT, payment_id=payment_id)


async def put_closing(tx: Tx, closing: ShareClosing) -> None:
    """Replace what a site recorded about its part of a payment."""
    await tx.run(_PUT, **{f"new_{name}": value for name, value in closing._asdict().items()})


_IS_WHOLE = and_(
    payment_shares.c.claims == payments.c.claims,
    payment_shares.c.adjustment_cents == payments.c.adjustment_cents,
    payments.c.amount_cents.is_not(None),
)
EXPECTED_CENTS: ColumnElement[int] = case(
    (_IS_WHOLE, payments.c.amount_cents),
    else_=payment_shares.c.paid_cents + payment_shares.c.adjustment_cents,
)
"""What a site's part of a payment is, as lists show it: the amount of the whole payment if that is its own."""
IS_SETTLED = payment_shares.c.settled_at.is_not(None)
DIFFERS = and_(
    payment_shares.c.deposited_cents.is_not(None),
    payment_shares.c.deposited_cents != EXPECTED_CENTS,
)
STATE: ColumnElement[str] = case(
    (IS_SETTLED, inlined(DepositState.SETTLED.value)),
    (payment_shares.c.deposited_cents.is_(None), inlined(DepositState.OPEN.value)),
    (DIFFERS, inlined(DepositState.DIFFERS.value)),
    else_=inlined(DepositState.DEPOSITED.value),
)
"""The :class:`DepositState` of a share, beside its payment."""
_OF_PAYMENT = Statement(
    select_as(payment_shares, ShareClosing)
    .where(payment_shares.c.payment_id == bindparam("payment_id"))
    .order_by(payment_shares.c.vendor_id, payment_shares.c.site_id),
    system=True,
)
_PUT = Statement(
    update(payment_shares)
    .where(
        payment_shares.c.payment_id == bindparam("new_payment_id"),
        payment_shares.c.vendor_id == bindparam("new_vendor_id"),
        payment_shares.c.site_id == bindparam("new_site_id"),
    )
    .values({name: bindparam(f"new_{name}") for name in ShareClosing._fields[3:]}),
    system=True,
)
