"""The payments of a list as CSV for spreadsheets: a row for each payment, or one for each of their lines. Audited."""

from collections.abc import AsyncIterator

from starlette.responses import Response

from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.frame.rendering import download
from clearlane.console.payments.payment_words import method_noun, payment_label
from clearlane.console.payments.payments_page import (
    SITES_MERGED_MAX,
    list_viewer,
    payer_name,
    read_list_form,
)
from clearlane.kernel.csv_text import csv_line, escape_formula
from clearlane.payments.as_json import money_text
from clearlane.payments.payment import ClaimPayment, Payment, ProviderAdjustment
from clearlane.payments.payment_csv import payment_csv_by_page
from clearlane.pipeline.query import payments
from clearlane.pipeline.query.payment_list import ListedPayment, PaymentViewer, list_payment_page
from clearlane.store.database.database import write_audit
from clearlane.store.payments.payments import SCOPE

pages = PageRows(roles=EVERYBODY)

PAYMENTS_PER_FILE_MAX = 2_000
CLAIMS_PER_FILE_MAX = 20_000
CSV = "text/csv; charset=utf-8"
COLUMNS = (
    "Paid on", "Payer id", "Payer", "Check or trace", "Method", "Label", "Claims", "Claims paid", "Adjusted", "Amount",
    "Deposit", "Deposited on", "Deposited", "Difference", "Payment",
)  # fmt: skip


@pages.page("/payments.csv")
async def download_list(request: PageRequest) -> Response:
    """Return a row for each payment of the list."""
    found = await _listed(request)
    if isinstance(found, Response):
        return found
    lines = [csv_line(COLUMNS)]
    lines += [csv_line(map(escape_formula, _cells(request, one))) for one in found]
    return download("".join(lines).encode("utf-8-sig"), _name(request, "payments"), CSV)


@pages.page("/payment-lines.csv")
async def download_lines(request: PageRequest) -> Response:
    """Return a row for each line and provider adjustment of the payments of the list."""
    found = await _listed(request)
    if isinstance(found, Response):
        return found
    whole = [one.payment for one in found if not one.payment.duplicate_of]
    if sum(one.claims for one in found) > CLAIMS_PER_FILE_MAX:
        sentence = (
            f"The payments of this list have more than {CLAIMS_PER_FILE_MAX:,} claims. Narrow the list, "
            "for example by the days on which they were paid."
        )
        return request.message(409, "Too large for a page", sentence)
    ids = [one.payment_id for one in whole]
    await write_audit(
        request.context.database, SCOPE, "payment.exported", ids=ids, detail="lines", actor=request.actor
    )  # fmt: skip
    content = [piece async for piece in _lines(request, whole)]
    return download("".join(content).encode("utf-8-sig"), _name(request, "payment-lines"), CSV)


async def _listed(request: PageRequest) -> list[ListedPayment] | Response:
    """Return the payments of the list; or why they are not given."""
    form, viewer = read_list_form(request), list_viewer(request)
    if viewer.scopes is not None and len(viewer.scopes) > SITES_MERGED_MAX:
        return request.message(409, "Too many sites", "Choose one of the sites first.")
    found: list[ListedPayment] = []
    before: str | None = None
    while True:
        page = await list_payment_page(
            request.context.database,
            request.context.vault,
            viewer,
            form.where,
            before=before,
            actor=request.actor,
        )
        found += page.payments
        if not page.has_older:
            return found
        if len(found) >= PAYMENTS_PER_FILE_MAX:
            sentence = (
                f"The list has more than {PAYMENTS_PER_FILE_MAX:,} payments. Narrow it, for example by the days on "
                "which they were paid."
            )
            return request.message(409, "Too large for a page", sentence)
        before = found[-1].payment.payment_id


async def _lines(request: PageRequest, whole: list[Payment]) -> AsyncIterator[str]:
    viewer = list_viewer(request)
    for at, payment in enumerate(whole):
        pieces = payment_csv_by_page(
            payment, await _adjustments(request, viewer, payment), _pages(request, viewer, payment)
        )
        is_header = True
        async for piece in pieces:
            if at == 0 or not is_header:
                yield piece
            is_header = False


async def _adjustments(
    request: PageRequest, viewer: PaymentViewer, payment: Payment
) -> list[ProviderAdjustment]:
    database, vault, id = request.context.database, request.context.vault, payment.payment_id
    if viewer.scopes is None:
        details = await payments.load_payment(database, vault, id, actor=request.actor)
        return list(details.adjustments) if details else []
    return [
        payments.adjustment_value(vault, row)
        for scope in viewer.scopes
        for row in await payments.own_adjustments(database, vault, scope, id)
    ]


async def _pages(
    request: PageRequest, viewer: PaymentViewer, payment: Payment
) -> AsyncIterator[list[ClaimPayment]]:
    database, vault, id = request.context.database, request.context.vault, payment.payment_id
    if viewer.scopes is None:
        async for page in payments.claim_payment_pages(database, vault, id):
            yield page
        return
    for scope in viewer.scopes:
        async for page in payments.own_claim_payment_pages(database, vault, scope, id):
            yield page


def _cells(request: PageRequest, one: ListedPayment) -> list[str]:
    payment, deposit = one.payment, one.payment.deposit
    return [
        payment.effective_date.isoformat() if payment.effective_date else "",
        payment.payer_id,
        payer_name(request, payment),
        payment.trace_number,
        method_noun(payment),
        payment_label(payment)[1],
        str(one.claims),
        money_text(one.claims_paid) or "",
        money_text(one.adjustments) or "",
        money_text(one.amount) or "",
        deposit.state.value,
        deposit.day.isoformat() if deposit.day else "",
        money_text(deposit.amount) or "",
        money_text(deposit.difference) or "",
        payment.payment_id,
    ]


def _name(request: PageRequest, what: str) -> str:
    return f"{what}-{request.today.isoformat()}.csv"
