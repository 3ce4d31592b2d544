"""Name the site that receives the remittances of a payee as files. Audited.

Without a name they go to the site that bills as the payee, if no other vendor's site does. Knows payees.
"""

from clearlane.accounts.model import Site
from clearlane.kernel.clock import to_micros
from clearlane.kernel.formats import is_npi
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, OperationRefused, Tx
from clearlane.store.files import payees

TAX_ID_DIGITS = 9
NOT_A_PAYEE = "A payee is named by its NPI (10 digits) or its tax id (9 digits)."


async def name_payee(
    context: WorkContext, number: str, site: Site, *, is_cut: bool = False, actor: Actor
) -> None:
    """Let a site receive the remittances of a payee, and no other site any more, unless payments are cut."""
    digits = number.replace("-", "").strip()
    is_tax_id = digits.isascii() and digits.isdigit() and len(digits) == TAX_ID_DIGITS
    if not is_tax_id and not is_npi(digits):
        raise OperationRefused(NOT_A_PAYEE)
    payee = payees.payee_hash(context.vault, digits)
    now = to_micros(context.clock.now())

    async def job(tx: Tx) -> None:
        await payees.name_owner(tx, payee, (site.vendor_id, site.id), now, is_cut=is_cut)
        tx.audit(
            "payment.payee_named",
            detail=f"{digits} {site.vendor_site_id}{' cut' if is_cut else ''}",
        )

    await context.database.write(payees.SCOPE, job, actor=actor)
