"""The list of payments: what came this month, what needs attention, and a search as a bank statement writes it."""

from dataclasses import dataclass, field

from starlette.responses import Response

from clearlane.console.frame import page_text
from clearlane.console.frame.list_filters import GivenFilters, given_filters
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import EVERYBODY, PageRows
from clearlane.console.payments.payment_words import deposit_parts, method_noun, payment_label
from clearlane.payers.model import PAYER_TYPES
from clearlane.payments.bank_search import BANK_TEXT_CHARACTERS_MAX
from clearlane.payments.payment import Payment
from clearlane.payments.wording import METHOD_WORDS
from clearlane.pipeline.query.claim_summary import load_summary
from clearlane.pipeline.query.payment_list import (
    ListedPayment,
    PaymentListPage,
    PaymentViewer,
    list_payment_page,
)
from clearlane.pipeline.query.payment_month import PaymentMonthTotal, load_payment_month
from clearlane.store.payments.payment_query import (
    COUNTED_MAX,
    FILTERS,
    NOT_FETCHED,
    TO_DEPOSIT,
    UNBALANCED,
    UNMATCHED,
)

REMITTANCE_NOUNS = ("payment or notice", "payments and notices")
"""What is counted where notices without money count too."""
pages = PageRows(roles=EVERYBODY, menu="/payments")

TABS = {
    "": ("All", ""),
    "deposit": ("To deposit", TO_DEPOSIT),
    "match": ("To match", UNMATCHED),
    "unbalanced": ("Do not balance", UNBALANCED),
    "waiting": ("Not fetched yet", NOT_FETCHED),
}
"""By name in the address: the title, and what the payments of the tab need."""
EMPTY_TABS = {
    "": "No payments yet. Payments usually follow claims by 14 to 30 days.",
    "deposit": "Every payment is deposited or settled.",
    "match": "Nothing to match: every claim of every payment is known.",
    "unbalanced": "Every payment balances.",
    "waiting": "Your software has fetched every payment.",
}
CHOICE_WORDS = {"method": METHOD_WORDS}
SITES_MERGED_MAX = 50
"""Maximum number of sites shown together; with more, one is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentRowTexts:
    """One row of the list."""

    listed: ListedPayment
    payer: str
    method: str
    label: tuple[str, str]
    """Who must act, and the words."""
    deposited: tuple[str, str]
    """The day, and what the deposit differs by."""

    @property
    def payment(self) -> Payment:
        """The payment itself."""
        return self.listed.payment


@dataclass(frozen=True, slots=True)
class PaymentListForm:
    """The list as the address has it: its tab, the search, and the filters."""

    tab: str
    text: str = field(repr=False)
    given: GivenFilters

    @property
    def where(self) -> dict[str, object]:
        """The filters of the list."""
        need = TABS[self.tab][1]
        found = {**self.given.values, **({"bank": self.text} if self.text else {})}
        return found | ({need: True} if need else {})

    @property
    def kept(self) -> dict[str, str]:
        """What addresses of the same list say."""
        return {"tab": self.tab, "q": self.text, **self.given.texts}


def read_list_form(request: PageRequest) -> PaymentListForm:
    """Return the list that an address asks for."""
    tab = request.query("tab") if request.query("tab") in TABS else ""
    text = request.query("q").strip()[:BANK_TEXT_CHARACTERS_MAX]
    return PaymentListForm(tab, text, given_filters(request, FILTERS.values(), CHOICE_WORDS))


@pages.page("/payments")
async def show_payments(request: PageRequest) -> Response:
    """Show a page of the payments that the user may see."""
    form = read_list_form(request)
    viewer = list_viewer(request)
    if viewer.scopes is not None and len(viewer.scopes) > SITES_MERGED_MAX:
        sentence = f"There are more than {SITES_MERGED_MAX} sites. Choose one of them above."
        return request.message(200, "Payments", sentence)
    page = await list_payment_page(
        request.context.database,
        request.context.vault,
        viewer,
        form.where,
        before=request.query("before") or None,
        actor=request.actor,
    )
    now = request.context.clock.now()
    month = await _month_total(request, viewer)
    kept, text = form.kept, form.text
    searched = [(text, request.url("/payments", **kept | {"q": ""}))] if text else []
    return request.render(
        "payments.html",
        "Payments",
        rows=[_row(request, one) for one in page.payments],
        summary=_summary(month),
        total=page.total,
        total_count=page_text.count(page.total.payments, *REMITTANCE_NOUNS),
        counted_ago=page_text.age((now - month.counted_at).total_seconds()),
        need_you=len({*page.needs[UNMATCHED], *page.needs[UNBALANCED]}),
        tabs=_tabs(request, page, form.tab, kept),
        tab=form.tab,
        text=text,
        sees_all=viewer.sees_all,
        empty=_empty(form.tab, is_filtered=bool(text or form.given.texts)),
        given=form.given,
        chips=[*form.given.chips(request, "/payments", tab=form.tab, q=text), *searched],
        csv_url=request.url("/payments.csv", **kept),
        lines_url=request.url("/payment-lines.csv", **kept),
        newer=request.url("/payments", **kept) if request.query("before") else "",
        older=request.url("/payments", **kept, before=page.payments[-1].payment.payment_id)
        if page.has_older
        else "",
    )


def list_viewer(request: PageRequest) -> PaymentViewer:
    """Return whose payments are listed. An operator sees all, unless one of several sites was chosen."""
    chosen = bool(request.query("site")) and request.site is not None and len(request.sites) > 1
    if request.is_operator and not chosen:
        return PaymentViewer(None)
    return PaymentViewer(tuple(site.scope for site in request.chosen_sites))


def payer_name(request: PageRequest, payment: Payment) -> str:
    """Return the payer's name as it writes it itself, else as our directory has it."""
    if payment.payer_name:
        return payment.payer_name
    found = (request.context.payers.find(payment.payer_id, type) for type in PAYER_TYPES)
    return next((payer.name for payer in found if payer), payment.payer_id)


def _row(request: PageRequest, listed: ListedPayment) -> PaymentRowTexts:
    payment = listed.payment
    return PaymentRowTexts(
        listed=listed,
        payer=payer_name(request, payment),
        method=method_noun(payment).capitalize(),
        label=payment_label(payment),
        deposited=deposit_parts(payment.deposit),
    )


async def _month_total(request: PageRequest, viewer: PaymentViewer) -> PaymentMonthTotal:
    """Return what came this month for those whose payments are shown."""
    if viewer.scopes is None:
        return await load_payment_month(request.context.work_context)
    first_day = request.today.replace(day=1)
    total = PaymentMonthTotal(0, 0, request.context.clock.now())
    for site in request.counted_sites:
        summary = await load_summary(request.context.work_context, site)
        month = summary.payments
        counts = month.first_day == first_day
        total = PaymentMonthTotal(
            total.payments + (month.payments if counts else 0),
            total.cents + (month.cents if counts else 0),
            min(total.counted_at, summary.counted_at),
        )
    return total


def _summary(month: PaymentMonthTotal) -> str:
    if not month.payments:
        return "No payment came this month."
    count = page_text.count(month.payments, *REMITTANCE_NOUNS)
    return f"This month {page_text.money(month.cents)} received by check or EFT in {count}."


def _tabs(
    request: PageRequest, page: PaymentListPage, current: str, given: dict[str, str]
) -> list[tuple[str, str, bool, str]]:
    found = []
    for name, (title, need) in TABS.items():
        count = len(page.listed_needs[need]) if need else 0
        shown = f"{COUNTED_MAX - 1}+" if count >= COUNTED_MAX else str(count) if need else ""
        address = request.url("/payments", **given | {"tab": name})
        found.append((title, address, name == current, shown))
    return found


def _empty(tab: str, *, is_filtered: bool) -> str:
    if is_filtered:
        return "No payment with this amount or number. Write it as the bank does, or remove the search."
    return EMPTY_TABS[tab]
