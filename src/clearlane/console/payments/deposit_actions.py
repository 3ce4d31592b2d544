"""Close a payment from its page: deposited, or settled because of something; and undo either."""

from urllib.parse import quote

from starlette.responses import Response

from clearlane.console.frame.act_question import UNDONE_BESIDE
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.console.menu_counts import count_again
from clearlane.console.payments.payment_page import sheet_viewer
from clearlane.kernel.formats import parse_iso_date
from clearlane.kernel.list_filter import FilterFault, FilterType, read_filter
from clearlane.pipeline.operator import payment_deposit
from clearlane.pipeline.operator.payment_deposit import NewDeposit, PaymentClosing
from clearlane.store.database.database import OperationRefused

pages = PageRows(roles=BILLERS)


@pages.act("/payments/{id}/deposit", UNDONE_BESIDE)
async def deposit(request: PageRequest) -> Response:
    """Record that the part of the payment was deposited."""
    day = parse_iso_date(request.form.get("day").strip())
    text = request.form.get("amount").strip()
    faults = []
    if day is None:
        faults.append("Day: a day such as 2026-01-31 is expected.")
    elif fault := payment_deposit.day_fault(day, request.today):
        faults.append(f"Day: {fault}")
    amount: int | None = None
    try:
        amount = read_filter(FilterType.AMOUNT, text) if text else None
    except FilterFault as fault:
        faults.append(f"Amount: {fault}")
    if day is None or faults:
        return request.message(400, "Not recorded", " ".join(faults))
    new = NewDeposit(day=day, amount=amount, reference=request.form.get("reference"))
    return await _close(request, "deposited", new=new)


@pages.act("/payments/{id}/settle", UNDONE_BESIDE)
async def settle(request: PageRequest) -> Response:
    """Record why nothing is left to do with the part of the payment."""
    return await _close(request, "settled", because=request.form.get("because"))


@pages.act("/payments/{id}/reopen", UNDONE_BESIDE)
async def reopen(request: PageRequest) -> Response:
    """Undo a deposit or a settlement."""
    closing = request.form.get("closing")
    if closing not in set(PaymentClosing):
        return request.message(400, "Not undone", "A closing is one of deposited, settled.")
    return await _close(request, "reopened", undo=PaymentClosing(closing))


async def _close(
    request: PageRequest,
    done: str,
    *,
    new: NewDeposit | None = None,
    because: str = "",
    undo: PaymentClosing | None = None,
) -> Response:
    context, id = request.context.work_context, request.parts["id"]
    scopes, actor = sheet_viewer(request).scopes, request.actor
    try:
        if new is not None:
            await payment_deposit.deposit_payment(context, id, new, actor=actor, scopes=scopes)
        elif undo is not None:
            await payment_deposit.reopen_payment(context, id, undo, actor=actor, scopes=scopes)
        else:
            await payment_deposit.settle_payment(context, id, because, actor=actor, scopes=scopes)
    except OperationRefused as why:
        return request.message(409, "Not recorded", str(why))
    await count_again(request)
    return request.redirect(f"/payments/{quote(id)}", done=done)
