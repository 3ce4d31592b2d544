"""Payments as pages show them, for operators and for sites, on both databases.

Also tests `store/payments/payment_query` and `pipeline/query/payment_list`.
"""

import json
from datetime import date, timedelta
from decimal import Decimal

import pytest

from clearlane.kernel.ids import VendorScope
from clearlane.kernel.list_filter import FilterType
from clearlane.payments.claim_payment_groups import ClaimPaymentGroup
from clearlane.pipeline.query import payment_pages
from clearlane.pipeline.query.payment_list import PaymentViewer, list_payment_page, list_payments
from clearlane.pipeline.query.payment_pages import GroupPage, load_payment_sheet
from clearlane.store.audit import audit
from clearlane.store.database.database import Actor
from clearlane.store.payments import payment_query
from clearlane.store.payments.payment_query import (
    FILTERS,
    NOT_FETCHED,
    TO_DEPOSIT,
    UNBALANCED,
    UNMATCHED,
    PaymentQuery,
    PaymentSum,
)
from tests.claims.answers import paid, payment
from tests.pipeline.flowing import Flow, accounts

pytestmark = pytest.mark.one_database

PERSON = Actor("console", "tessa")
OPERATOR = PaymentViewer(None)
FIRST_PAGE = GroupPage()
OFF = "CAS*CO*45*20"


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def listed(flow, viewer, before=None, **where):
    since = flow.clock.now() - timedelta(days=30)
    return await list_payment_page(
        flow.database, flow.vault, viewer, where, since=since, before=before, actor=PERSON
    )


async def sheet(flow, viewer, payment_id, wanted=FIRST_PAGE):
    return await load_payment_sheet(
        flow.database, flow.vault, viewer, payment_id, wanted, actor=PERSON, at=1
    )


async def trail(flow, action):
    start, end = audit.BEFORE_ALL, -audit.BEFORE_ALL - 1
    rows = [row async for row in audit.read_between(flow.database, start, end)]
    return [json.loads(row["ids"]) for row in rows if row["action"] == action]


async def shared_payment(flow):
    """A check over claims of two sites and one of nobody; the sites' claims."""
    other = await flow.new_site()
    [mine], content = await flow.sent()
    [theirs], second = await flow.sent(site=other)
    rows = [
        paid(accounts(content)[0], "1", "100", "80", OFF),
        paid(accounts(second)[0], "1", "100", "0", "CAS*CO*97*100"),
        paid("NOBODY", "1", "100", "80", OFF),
    ]
    await flow.arrive(payment(*rows, amount="160"))
    return other, mine, theirs


async def test_a_site_sees_its_part_and_operators_all(flow):
    other, mine, theirs = await shared_payment(flow)
    own, all_sites = (PaymentViewer((flow.site.scope,)), (flow.site.scope, other.scope))
    stranger = PaymentViewer(((await flow.new_site()).scope,))
    page = await listed(flow, OPERATOR)
    [whole] = page.payments
    id = whole.payment.payment_id
    assert (page.since, page.needs) == (
        PaymentSum(1, 16000),
        {UNMATCHED: {id: 16000}, UNBALANCED: {}, NOT_FETCHED: {id: 16000}, TO_DEPOSIT: {id: 16000}},
    )
    assert (whole.amount, whole.claims, whole.is_whole) == (16000, 3, True)
    page = await listed(flow, own)
    assert ([one.amount for one in page.payments], page.since) == ([8000], PaymentSum(1, 8000))
    page = await listed(flow, PaymentViewer(all_sites))
    assert [one.payment.payment_id for one in page.payments] == [id]
    page = await listed(flow, stranger)
    assert (page.payments, page.since) == ([], PaymentSum(0, 0))

    whole = await sheet(flow, OPERATOR, id)
    assert {group: one.total.claims for group, one in whole.groups.items()} == {
        ClaimPaymentGroup.PAID: 1,
        ClaimPaymentGroup.DENIED: 1,
    }
    assert (whole.is_whole, whole.shown_claims, whole.payment.seen_at) == (True, 3, None)
    mine_only = await sheet(flow, own, id)
    assert {*mine_only.groups} == {ClaimPaymentGroup.PAID}
    [row] = mine_only.groups[ClaimPaymentGroup.PAID].claim_payments
    assert (row.claim_number, mine_only.is_whole) == (mine, False)
    assert mine_only.shown_claims == 1
    both = await sheet(flow, PaymentViewer(all_sites), id)
    assert (both.payment.your_amount, both.shown_claims, both.is_whole) == (8000, 2, False)
    assert await sheet(flow, stranger, id) is None
    assert await sheet(flow, OPERATOR, "P0") is None
    assert (await listed(flow, own)).payments[0].payment.seen_at is not None
    reads = await trail(flow, "payment.read")
    assert [{*one} for one in reads[:2]] == [{id, mine, theirs}, {id, mine}]
    assert (await trail(flow, "payment.list"))[:2] == [[id], [id]]


async def test_tabs_and_the_bank_statement_choose_payments(flow):
    _ids, content = await flow.sent(2)
    first, second = accounts(content)
    await flow.arrive(payment(paid(first, "1", "100", "80", OFF), reference="0042A"))
    flow.clock.advance(timedelta(days=1))
    await flow.arrive(
        payment(paid(second, "1", "100", "80", OFF), amount="81", reference="77", control=501),
    )
    for viewer in (OPERATOR, PaymentViewer((flow.site.scope,))):
        page = await listed(flow, viewer)
        assert {need: len(ids) for need, ids in page.needs.items()} == {
            UNMATCHED: 0,
            UNBALANCED: 1,
            NOT_FETCHED: 2,
            TO_DEPOSIT: 2,
        }
        for wanted, amounts in (
            ({UNBALANCED: True}, [8100]), ({UNMATCHED: True}, []), ({NOT_FETCHED: True}, [8100, 8000]),
            ({"payer": "MM001"}, [8100, 8000]), ({"payer": "X"}, []),
        ):  # fmt: skip
            found = await listed(flow, viewer, **wanted)
            assert sorted((one.amount for one in found.payments), reverse=True) == amounts, wanted
        for text, amounts in (
            ("EFT 42a", [8000]), ("$81", [8100]), ("80.00", [8000]), ("77", [8100]), ("88", []),
        ):  # fmt: skip
            found = await listed(flow, viewer, bank=text)
            assert [one.amount for one in found.payments] == amounts, text
        newest, oldest = (one.payment for one in page.payments)
        older = await listed(flow, viewer, before=newest.payment_id)
        assert [one.payment.payment_id for one in older.payments] == [oldest.payment_id]


FITTING: dict[str, object] = {
    "payer": "MM001", "state": "posted", "trace_number": "42a", "amount": 8000, "bank": "EFT 42A",
    "effective_from": date(2026, 11, 14), "effective_to": date(2026, 11, 14), NOT_FETCHED: True,
    TO_DEPOSIT: True, "method": "ACH", "deposit": "open",
}  # fmt: skip


@pytest.mark.both_databases
async def test_every_filter_means_the_same_for_operators_sites_and_vendors(flow):
    _ids, content = await flow.sent(1)
    [number] = accounts(content)
    await flow.arrive(payment(paid(number, "1", "100", "80", OFF), reference="0042A"))
    own = flow.site.scope
    for scope in (None, own, VendorScope(own.vendor, (own.site,))):
        for one in FILTERS.values():
            where = {one.name: FITTING.get(one.name, True)}
            query = PaymentQuery(where=where, scope=scope)
            found = await list_payments(flow.database, flow.vault, query)
            assert len(found) == (one.name in FITTING), (one.name, scope)
        every = PaymentQuery(where=FITTING, scope=scope)
        assert len(await list_payments(flow.database, flow.vault, every)) == 1
    assert {one.type for one in FILTERS.values()} == set(FilterType) - {
        FilterType.MOMENT,
        FilterType.BILL_TYPE,
    }


@pytest.mark.both_databases
async def test_groups_are_shown_a_page_at_a_time_and_pairs_stay_together(flow, monkeypatch):
    monkeypatch.setattr(payment_pages, "CLAIMS_SHOWN_PER_GROUP", 3)
    _ids, content = await flow.sent(3)
    numbers = accounts(content)
    await flow.arrive(payment(*(paid(one, "1", "100", "80", OFF) for one in numbers), amount="240"))
    flow.clock.advance(timedelta(days=1))
    back = [paid(one, "22", "-100", "-80", "CAS*CO*45*-20") for one in numbers]
    again = [paid(one, "1", "100", "70", "CAS*CO*45*30") for one in numbers]
    rows = [row for pair in zip(back, again, strict=True) for row in pair]
    await flow.arrive(payment(*rows, amount="-30", reference="EFT2", control=501))
    newest = (await listed(flow, OPERATOR)).payments[0].payment
    for viewer in (OPERATOR, PaymentViewer((flow.site.scope,))):
        shown, after = [], ""
        for _ in range(3):
            wanted = GroupPage(ClaimPaymentGroup.CORRECTED, after)
            found = await sheet(flow, viewer, newest.payment_id, wanted)
            group = found.groups[ClaimPaymentGroup.CORRECTED]
            assert (group.total.claims, group.total.paid_cents) == (6, -3000)
            assert len({one.claim_number for one in group.claim_payments}) == 1
            shown += [one.paid for one in group.claim_payments]
            after = group.more_after
        assert (shown, after) == ([-8000, 7000] * 3, "")


def test_a_sum_of_postgresql_is_a_decimal_number_that_may_have_an_exponent():
    assert payment_query._sum((2, Decimal("1.6E+5"))) == PaymentSum(2, 160_000)
    assert payment_query._sum((0, None)) == payment_query._sum(None) == PaymentSum(0, 0)


@pytest.mark.safe_default(13)
async def test_a_payment_whose_amount_cannot_be_read_is_listed_and_counts_nothing(flow):
    """An amount of more digits than any database adds up: the pages show the payment as one that needs a person."""
    _, content = await flow.sent(1)
    row = paid(accounts(content)[0], "1", "100", "80", OFF)
    await flow.arrive(payment(row, amount="9" * 19))
    page = await listed(flow, OPERATOR)
    [one] = page.payments
    id = one.payment.payment_id
    assert (one.payment.amount, page.since) == (None, PaymentSum(1, 0))
    assert (page.needs[UNBALANCED], page.needs[NOT_FETCHED]) == ({id: 0}, {id: 0})
    page = await listed(flow, PaymentViewer((flow.site.scope,)))
    assert [one.payment.payment_id for one in page.payments] == [id]
    assert {*page.needs[UNBALANCED]} == {id}
