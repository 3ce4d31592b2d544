"""One definition per word: every screen, list and count is what the stored rows add up to, to the claim and to the cent.

The rows are read here as they are, and added up in Python by words that this test writes itself: none of the service's
queries takes part.

Also tests `pipeline/query/totals/claim_totals`.
"""

import csv
import re
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from html import unescape
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select

from clearlane.accounts.users import ConsoleRole
from clearlane.api.operations.metrics import Metrics
from clearlane.cli.doctor.installation_measures import measure_installation
from clearlane.cli.doctor.status import screen
from clearlane.pipeline.operator import claim_work
from clearlane.pipeline.query.claim_summary import refresh_stale
from clearlane.pipeline.query.installation.route_states import load_route_states
from clearlane.sandbox.scenarios import REFUSED_IN_TA1 as WHOLE_FILE
from clearlane.sandbox.scenarios import SCENARIOS
from clearlane.store.database.database import SystemScope
from clearlane.store.database.schema import (
    claim_payments,
    claims,
    payment_shares,
    payments,
    secondary_drafts,
    work_items,
)
from clearlane.store.database.sql import Statement
from tests.console.sandbox_console import open_sandbox_console
from tests.console.signed_in_console import BY
from tests.databases import KINDS
from tests.journey.vendor_program import VendorProgram

# What they share, a sandbox that took claims through every scenario, takes over a second.
pytestmark = pytest.mark.slow

ZONES = {"A-1": "Pacific/Honolulu", "A-2": "Pacific/Kiritimati"}
"""Two sites of one vendor, which never have the same day."""
EVERYTHING = SystemScope("a test adds up rows itself")
DENIED = {"denied", "partly_denied"}
NEED_YOU = {"not_accepted", "rejected", "wants_records", "taken_back", "no_answer"} | DENIED
ON_THE_WAY = {
    "received", "sent", "accepted", "in_process", "no_answer", "to_be_sent_again", "forwarded",
}  # fmt: skip
PAID = {"paid", "paid_differs", "patient_owes"}
WORKED_OFF = {"needs_you": NEED_YOU, "rejected": {"rejected"}, "denied": DENIED}
TABS = {"All": "all", "Needs you": "needs_you", "Rejected": "rejected", "Denied": "denied", "On the way": "on_the_way", "Paid": "paid", "Next payer": "next_payer"}  # fmt: skip
PAYMENT_TABS = {"To deposit": "deposit", "To match": "match", "Do not balance": "unbalanced", "Not fetched yet": "waiting"}  # fmt: skip
TO_BILL = {"failed", "open", "ready", "to_correct"}
FILTERS = (
    {},
    {"payer": "TST01", "kind": "medical", "amount_from": "150"},
    {"created_from": "DAY", "service_to": "2099-01-01"},
)


@pytest.fixture(scope="module", params=KINDS)
async def sandbox(request, new_place, tmp_path_factory):
    place = await new_place(request.param)
    data = tmp_path_factory.mktemp("agree")
    async with open_sandbox_console(data, database_url=place.url, zones=ZONES) as made:
        await filled(made)
        yield made


@pytest.fixture
def api(sandbox):
    return VendorProgram(sandbox)


async def filled(sandbox):
    """Claims of every scenario at two sites, some put aside, in several steps of time."""
    for id in sorted(SCENARIOS.keys() - {WHOLE_FILE}):
        await sandbox.send(id)
        await sandbox.send(id, site="A-2", full=True)
    await sandbox.send("3004", Svc_VendorClaimId="CORRECTED-1")
    await sandbox.send("3004", accepted=False, F33A_BillingProviderNpi="1234567890")
    await sandbox.advance(16)
    await sandbox.send(WHOLE_FILE)
    await sandbox.advance(1)
    await sandbox.send("3002", Svc_VendorClaimId="CORRECTED-1")
    for id in ("3003", "3004", "3009", "3014"):
        await sandbox.send(id)
        await sandbox.send(id, site="A-2")
    await sandbox.advance(20)
    context = sandbox.installation.work_context
    for id in ZONES:
        site = sandbox.site(id)
        denied, again, rejected, *_ = [
            row.claim_number
            for label in ("denied", "rejected")
            for row in (await stored(sandbox, claims))
            if (row.site_id, row.label, row.is_superseded) == (site.id, label, 0)
        ][-3:]
        today = local_day(sandbox, site)
        await claim_work.snooze_claims(
            context, site, [denied], (today + timedelta(days=1)).isoformat(), actor=BY
        )
        await claim_work.snooze_claims(context, site, [again], today.isoformat(), actor=BY)
        await claim_work.finish_claims(context, site, [rejected], "by telephone", actor=BY)
    await sandbox.send("3001")
    await refresh_stale(context)


def local_day(sandbox, site):
    return datetime.astimezone(sandbox.installation.clock.now(), ZoneInfo(site.time_zone)).date()


async def stored(sandbox, table):
    async with sandbox.installation.database.read(EVERYTHING) as tx:
        rows = await tx.rows(Statement(select(*table.c), system=True))
    names = [column.name for column in table.c]
    return [Row(zip(names, row, strict=True)) for row in rows]


class Row(dict):
    """A stored row, read by name."""

    __getattr__ = dict.__getitem__


class Sums(Counter):
    """Claims, their charge and what was paid on them."""

    def of(self, rows):
        for row in rows:
            self.update(claims=1, charge=row.total_cents, paid=row.paid_cents)
        return self

    @property
    def words(self):
        count, charge, paid = (self[name] for name in ("claims", "charge", "paid"))
        noun = "claim" if count == 1 else "claims"
        return f"{count} {noun}, charged {charge / 100:,.2f}, paid on claims {paid / 100:,.2f}"


async def expected(sandbox, site, given):
    """The claims of each tab of a site, from its rows."""
    today = local_day(sandbox, site).isoformat()
    items = {row.claim_number: row for row in await stored(sandbox, work_items)}
    drafts = {row.claim_number: row.state for row in await stored(sandbox, secondary_drafts)}
    rows = [
        row
        for row in await stored(sandbox, claims)
        if (row.site_id, row.is_superseded, row.is_shadow) == (site.id, 0, 0)
        and row.payer_id == given.get("payer", row.payer_id)
        and row.kind == given.get("kind", row.kind)
        and row.total_cents >= Decimal(given.get("amount_from", "0")) * 100
        and row.created_day >= given.get("created_from", "")
    ]

    def rests(row):
        item = items.get(row.claim_number)
        return bool(item and ((item.snoozed_until or "") > today or item.done_label == row.label))

    found = {"all": rows}
    found |= {"on_the_way": [row for row in rows if row.label in ON_THE_WAY]}
    found |= {"paid": [row for row in rows if row.label in PAID]}
    for tab, labels in WORKED_OFF.items():
        found[tab] = [row for row in rows if row.label in labels and not rests(row)]
    found["next_payer"] = [
        row
        for row in rows
        if row.awaiting == "secondary_claim"
        and drafts.get(row.claim_number) in TO_BILL
        and not rests(row)
    ]
    return found


def counts_of(page):
    """The tabs of a page of claims with their counts."""
    return {TABS[title]: int(count.replace(",", "")) for title, count in re.findall(r">([A-Z][a-z ]+) <span>([\d,]+)</span>", page)}  # fmt: skip


def cents_in(objects, name):
    return sum(int(Decimal(one[name] or "0") * 100) for one in objects)


@pytest.mark.parametrize("filters", FILTERS)
async def test_tabs_lists_and_programs_show_what_the_rows_add_up_to(sandbox, api, filters):
    wanted = {}
    for id in ZONES:
        site = sandbox.site(id)
        given = dict(filters)
        if "created_from" in given:
            given["created_from"] = (local_day(sandbox, site) - timedelta(days=20)).isoformat()
        wanted[id] = tabs = await expected(sandbox, site, given)
        person = await sandbox.person(ConsoleRole.BILLER, id)
        for tab, rows in tabs.items():
            sums = Sums().of(rows)
            page = await person.text(f"/claims?{urlencode({'tab': tab, 'group': 0, **given})}")
            counts = counts_of(page)
            assert counts == {name: len(of) for name, of in tabs.items() if of or name in counts}, (
                id,
                tab,
            )
            assert (sums.words in unescape(page)) is bool(rows), (id, tab, sums.words)
            objects = await api.every("claims", site=id, tab=tab, **given)
            assert {one["claim_number"] for one in objects} == {row.claim_number for row in rows}
            assert cents_in(objects, "charge") == sums["charge"], (id, tab)
            assert cents_in(objects, "paid") == sums["paid"], (id, tab)
    if "created_from" in filters:
        return
    # A program of the vendor lists all its sites at once, each with its own day.
    for tab in ("needs_you", "denied", "rejected", "all"):
        both = {row.claim_number for tabs in wanted.values() for row in tabs[tab]}
        objects = await api.every("claims", tab=tab, **filters)
        assert {one["claim_number"] for one in objects} == both, tab


async def test_home_and_the_menu_show_what_the_rows_add_up_to(sandbox):
    for id in ZONES:
        site = sandbox.site(id)
        tabs = await expected(sandbox, site, {})
        person = await sandbox.person(ConsoleRole.BILLER, id)
        home = unescape(re.sub(r"<[^>]+>|\s+", " ", await person.text("/")))
        home = re.sub(r"\s+", " ", home)
        needs = Sums().of(tabs["needs_you"])
        assert f"{needs['claims']} claims need you: ${needs['charge'] / 100:,.2f} waiting" in home
        by_label = Counter(row.label for row in tabs["needs_you"])
        for label, words in (("denied", "Denied"), ("rejected", "Rejected"), ("no_answer", "No answer from the payer")):  # fmt: skip
            charge = sum(row.total_cents for row in tabs["needs_you"] if row.label == label)
            if by_label[label]:
                assert re.search(rf"{words} {by_label[label]} claims? {charge / 100:,.2f}", home)
        since = (local_day(sandbox, site) - timedelta(days=29)).isoformat()
        month = Sums().of(row for row in tabs["all"] if row.created_day >= since)
        assert f"Claims received {month['claims']} " in home
        assert f"Paid on claims ${month['paid'] / 100:,.2f} " in home


async def test_the_operators_counts_are_those_of_the_rows(sandbox):
    every = await stored(sandbox, claims)
    by_state = Counter(
        row.state
        for row in every
        if row.state != "complete" and not row.is_superseded and not row.is_shadow
    )
    queued = [row for row in every if row.queued > 0]
    by_payer = Counter(row.payer_id for row in queued)
    charged = sum(row.total_cents for row in queued)
    assert queued
    measures = await measure_installation(sandbox.installation)
    # `clearlane status`
    lines = "\n".join(screen(measures, []))
    shown = {words: int(count) for words, count in re.findall(r"claims ([a-z ]+?) +(\d+)", lines)}
    wanted = {state.replace("_", " "): count for state, count in by_state.items()}
    assert wanted.items() <= shown.items()
    waiting = re.findall(r"^  (\S+) (?:Medical|Dental) +(\d+) ", lines, re.MULTILINE)
    assert {payer: int(count) for payer, count in waiting} == by_payer
    # metrics
    exposed = Metrics().text(measures).decode()
    states = Counter()
    for state, count in re.findall(r'clearlane_claims{[^}]*state="(\w+)"} ([\d.]+)', exposed):
        states[state] += int(float(count))
    assert states == by_state
    undelivered = re.findall(r'clearlane_undelivered_claims{payer="(\w+)",.*} ([\d.]+)', exposed)
    assert {payer: int(float(count)) for payer, count in undelivered if count != "0.0"} == by_payer
    # Connections
    person = await sandbox.person(ConsoleRole.OPERATOR)
    page = await person.text("/payers")
    cells = re.findall(r'amount-cell">(\d+) claims?<span class="under">', page)
    assert sum(map(int, cells)) == len(queued)
    context = sandbox.installation.work_context
    access = context.payer_access
    found = await load_route_states(context.database, access.connections(), access.payers())
    assert sum(state.waiting.cents for state in found) == charged


def part(share, payment):
    """What a site's part of a payment is: the whole amount if all of it is the site's."""
    is_whole = (share.claims, share.adjustment_cents) == (payment.claims, payment.adjustment_cents)
    return payment.amount_cents if is_whole else share.paid_cents + share.adjustment_cents


PAYMENT_FILTERS = (
    {},
    {"payer": "TST01", "method": "CHK"},
    {"effective_from": "DAY", "deposit": "open"},
)


def needs_of(share, payment):
    """The tabs of payments that a site's part is on. Nothing is deposited or settled here."""
    return {
        "deposit": part(share, payment) > 0,
        "match": payment.unmatched > 0,
        "unbalanced": payment.balanced == 0,
        "waiting": share.fetched_at is None,
    }


async def shared(sandbox, site, given):
    """The parts of payments that a site has, with their payments, from rows alone."""
    whole = {row.payment_id: row for row in await stored(sandbox, payments)}
    return [
        (row, payment)
        for row in await stored(sandbox, payment_shares)
        if row.site_id == site.id
        and (payment := whole[row.payment_id]).payer_id == given.get("payer", payment.payer_id)
        and payment.method == given.get("method", payment.method)
        and payment.effective_day >= given.get("effective_from", "")
    ]


@pytest.mark.parametrize("filters", PAYMENT_FILTERS)
async def test_payments_in_console_api_and_files_are_what_the_rows_add_up_to(sandbox, api, filters):
    found = Counter()
    for id in ZONES:
        site = sandbox.site(id)
        given = dict(filters)
        if "effective_from" in given:
            given["effective_from"] = (local_day(sandbox, site) - timedelta(days=20)).isoformat()
        person = await sandbox.person(ConsoleRole.BILLER, id)
        own = await shared(sandbox, site, given)
        for tab in ("", *PAYMENT_TABS.values()):
            rows = [(one, of) for one, of in own if not tab or needs_of(one, of)[tab]]
            cents = sum(part(*row) for row in rows)
            query = urlencode({"tab": tab, **given})
            page = await person.text(f"/payments?{query}")
            noun = "payment or notice" if len(rows) == 1 else "payments and notices"
            words = f"{len(rows)} {noun}, received by check or EFT {cents / 100:,.2f}"
            assert (words in page) is bool(rows), (id, tab, words)
            counts = {
                PAYMENT_TABS[title]: int(count)
                for title, count in re.findall(r">([A-Z][a-z ]+) <span>(\d+)</span>", page)
            }
            assert counts == {
                name: sum(needs_of(*row)[name] for row in own) for name in PAYMENT_TABS.values()
            }, (id, tab)
            answer = await person.ask(f"/payments.csv?{query}")
            lines = list(csv.DictReader(answer.body.decode("utf-8-sig").splitlines()))
            assert cents_in(lines, "Amount") == cents, (id, tab)
            assert {line["Payment"] for line in lines} == {one.payment_id for one, _ in rows}
        objects = await api.every("payments", site=id, **given)
        assert cents_in(objects, "your_amount") == sum(part(*row) for row in own)
        assert {one["payment_id"] for one in objects} == {one.payment_id for one, _ in own}
        found.update(payments=len(own), cents=sum(part(*row) for row in own))
    assert found["payments"]
    assert found["cents"]


async def test_what_was_paid_on_claims_and_received_by_check_or_eft_is_what_payments_say(sandbox):
    shares = await stored(sandbox, payment_shares)
    whole = {row.payment_id: row for row in await stored(sandbox, payments)}
    paid = Counter()
    for row in await stored(sandbox, claim_payments):
        paid[row.claim_number] += row.paid_cents * row.in_force
    for row in await stored(sandbox, claims):
        if row.label in PAID:
            assert row.paid_cents == paid[row.claim_number], row.label
    for id in ZONES:
        site = sandbox.site(id)
        own = [row for row in shares if row.site_id == site.id]
        person = await sandbox.person(ConsoleRole.BILLER, id)
        page = await person.text("/payments")
        month = local_day(sandbox, site).isoformat()[:7]
        zone = ZoneInfo(site.time_zone)
        came = [
            row
            for row in own
            if datetime.fromtimestamp(whole[row.payment_id].received_at / 10**6, zone)
            .isoformat()
            .startswith(month)
        ]
        total = sum(part(row, whole[row.payment_id]) for row in came)
        noun = "payment or notice" if len(came) == 1 else "payments and notices"
        every = sum(part(row, whole[row.payment_id]) for row in own)
        assert (
            f"{len(own)} payments and notices, received by check or EFT {every / 100:,.2f}" in page
        )
        if came:
            words = f"This month {total / 100:,.2f} received by check or EFT in {len(came)} {noun}."
            assert words in page
        else:
            assert "No payment came this month." in page
