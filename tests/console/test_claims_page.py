"""Claims and worklists: what a list shows, finds, adds up and keeps to itself.

Also tests `console/claims/claim_filters`, `console/claims/claim_words`, `console/claims/claim_csv`, `pipeline/query/claim_list`,
`pipeline/query/claim_reason`, `pipeline/query/claim_summary`, `store/claims/claim_summaries` and `store/claims/work_items`.
"""

import csv
import io
import re
from html import unescape

import pytest
from sqlalchemy import select

from clearlane.accounts.users import ConsoleRole
from clearlane.console.claims import claims_page
from clearlane.console.claims.claim_filters import TABS, read_filters
from clearlane.console.frame import page_request
from clearlane.kernel.claim_label import LABEL_WORDS, ClaimLabel
from clearlane.payers.model import Payer
from clearlane.payers.routes import Route, RouteKind, RouteSecrets
from clearlane.pipeline.query import claim_summary
from clearlane.settings import load
from clearlane.store.database.database import SystemScope
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement
from clearlane.store.delivery.payers import import_payers
from clearlane.store.delivery.routes import add_route
from clearlane.wiring import open_installation
from tests.console.sandbox_console import open_sandbox_console
from tests.console.signed_in_console import BY, sign_in_as

SCENARIOS = ("3001", "3002", "3003", "3004", "3009", "3014", "3025")
XSS = '<img src=x onerror="alert(1)">'
FORMULA = "=HYPERLINK(1)"
AUDIT = Statement(select(audit.c.action, audit.c.ids, audit.c.actor).order_by(audit.c.seq))


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("sandbox")) as made:
        made.numbers = {each: await made.send(each) for each in SCENARIOS}
        made.foreign = await made.send(
            "3004", site="B-1", F02_PatientNameLast="Foreigner", F04_InsuredNameLast="Foreigner"
        )
        made.hostile = await made.send("3004", Svc_VendorClaimId=XSS)
        made.formula = await made.send("3004", Svc_VendorClaimId=FORMULA)
        await made.advance(15)
        made.fresh = await made.send("3001")
        for site in made.installation.accounts.sites:
            if site.baa_accepted:
                await claim_summary.refresh_summary(made.installation.work_context, site)
        yield made


@pytest.fixture(scope="module")
async def biller(sandbox):
    return await sandbox.person(ConsoleRole.BILLER)


def shown(page):
    """The claims of a page in their order, and the label and reason of each."""
    found = {}
    for row in re.findall(r"<tr>\s*<td class=\"fit.*?</tr>", page, re.DOTALL):
        number = re.search(r"/console/claims/(\w+)", row)[1]
        label = re.search(r'<span class="label (\w+)">([^<]+)', row)
        reason = re.search(r'class="clip"[^>]*>([^<]*)', row)
        found[number] = (label[1], unescape(label[2]), unescape(reason[1]) if reason else "")
    return found


async def test_claims_have_the_labels_and_reasons_that_people_know(sandbox, biller):
    page = shown(await biller.text("/claims"))
    named = {each: page[number] for each, number in sandbox.numbers.items()}
    assert {each: label for each, (_, label, _) in named.items()} == {
        "3001": "Paid", "3002": "Paid", "3003": "Denied", "3004": "Rejected", "3009": "Sent",
        "3014": "Denied", "3025": "Patient owes",
    }  # fmt: skip
    assert named["3004"][2] == "The payer says the billing provider's NPI is invalid (box 33a)"
    assert named["3003"][2].startswith("CO-50: Not medically necessary")
    assert "not a denial" in named["3025"][2]
    assert named["3004"][0] == "act"
    assert page[sandbox.fresh][:2] == ("wait", "Received")


async def test_tabs_count_what_the_summary_counted_and_list_it(sandbox, biller):
    page = await biller.text("/claims")
    counts = dict(re.findall(r">([A-Z][a-z ]+) <span>(\d+)</span>", page))
    assert counts == {
        "All": "10", "Needs you": "5", "Rejected": "3", "Denied": "2", "On the way": "2", "Paid": "3",
    }  # fmt: skip
    for tab in TABS:
        listed = shown(await biller.text(f"/claims?tab={tab.key}"))
        assert len(listed) == int(counts.get(tab.title, 0)), tab.key
    assert re.search(r"Tabs were counted (a|\d+) \w+ ago", page)


async def test_a_worklist_groups_by_reason_and_shows_one_of_them(sandbox, biller):
    page = await biller.text("/worklists")
    groups = re.findall(
        r'scope="rowgroup".*?<strong>([^<]+)</strong>\s*<span[^>]*>([^<]+)', page, re.DOTALL
    )
    assert len(groups) == 2
    [npi] = [under for text, under in groups if "(box 33a)" in text]
    assert unescape(npi).strip().startswith("Sandbox Medical")
    assert "3 claims" in npi
    flat = shown(await biller.text("/worklists?group=0"))
    assert len(flat) == 5
    cause = "835%20CO-50%20F21_DiagnosisCodes"
    assert len(shown(await biller.text(f"/claims?tab=needs_you&cause={cause}"))) == 2


async def test_a_silent_payer_makes_a_claim_late(sandbox, biller):
    await sandbox.advance(34)
    await sandbox.advance(6)
    number = sandbox.numbers["3009"]
    page = shown(await biller.text("/claims?tab=needs_you&label=no_answer&group=0"))
    assert page[number][:2] == ("late", "No answer")
    assert "nothing since" in page[number][2]
    assert number in shown(await biller.text("/claims?overdue=true&awaiting=277CA"))
    one = await biller.text(f"/claims/{number}")
    assert re.search(r"<dt>Awaiting</dt><dd>277CA from .* since .*, was due .*overdue", one)
    assert "<dt>Awaiting</dt>" not in await biller.text(f"/claims/{sandbox.numbers['3001']}")


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("payer=TST01", 10), ("payer=NOBODY", 0), ("kind=dental", 0), ("kind=medical", 10),
        ("bill_type=11", 0),
        ("amount_from=0.01&amount_to=1,000,000.00", 10), ("amount_from=9999", 0),
        ("service_from=2020-01-01&service_to=2020-12-31", 0), ("mine=1", 0),
    ],
)  # fmt: skip
async def test_filters_stand_in_the_address_and_as_chips(biller, query, count):
    page = await biller.text(f"/claims?{query}")
    assert len(shown(page)) == count
    assert page.count('class="chip"') == 1 + query.count("&")
    if not count:
        assert re.search(r"No claim fits (this filter|these \d filters)\.", page)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("tab=x", "A list is one of all, needs_you"),
        ("service_from=2026-13-01", "A day such as 2026-01-31 is expected."),
        ("bill_type=0", "Type of bill: A type of bill such as 11, or 111 with its frequency"),
        ("amount_to=cheap", "An amount such as 150"),
        ("changed=-1", "A time is 30, 90 or any."),
        (
            "kind=%3Cb%3E&amount_from=NaN",
            "Kind of claim: One of medical, dental, institutional is expected.",
        ),
    ],
)
async def test_filters_that_cannot_be_used_are_named(biller, query, sentence):
    page = await biller.text(f"/claims?{query}")
    assert sentence in unescape(page)
    assert "<b>" not in page


async def test_pages_go_on_by_cursor_without_gap_or_repetition(sandbox, monkeypatch):
    monkeypatch.setattr("clearlane.console.claims.claims_page.PAGE_ROWS", 3)
    viewer = await sandbox.person(ConsoleRole.VIEWER)
    path, seen, pages = "/claims", [], []
    while path:
        page = await viewer.text(path)
        pages.append(list(shown(page)))
        seen += pages[-1]
        found = re.search(r'<a href="/console([^"]+)" rel="next">', page)
        path = unescape(found[1]) if found else ""
    assert len(seen) == len(set(seen)) == 10
    back = re.search(r'<a href="/console([^"]+)" rel="prev">', page)
    assert list(shown(await viewer.text(unescape(back[1])))) == pages[-2]


async def test_nothing_of_another_site_is_shown_and_nothing_runs(sandbox, biller):
    page = await biller.text("/claims")
    assert sandbox.foreign not in page
    assert "FOREIGNER" not in page.upper()
    assert XSS not in page
    assert sandbox.hostile in page
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    every = await operator.text("/claims?site=all")
    assert {sandbox.foreign, sandbox.numbers["3001"]} <= set(shown(every))
    # In a list of all sites each claim names its own; in a list of one site it need not.
    assert '<span class="under">Quarry Street Clinic</span>' in every
    assert '<span class="under">Fernhill Family Practice</span>' not in page


async def test_csv_has_the_list_and_no_formula(sandbox, biller):
    answer = await biller.ask("/claims.csv?tab=rejected")
    assert 'filename="claims-rejected-' in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.body.decode("utf-8-sig"))))
    assert {row["Label"] for row in rows} == {"Rejected"}
    assert f"'{FORMULA}" in {row["Your id"] for row in rows}
    assert not any(cell[:1] in "=+-@" for row in rows for cell in row.values() if cell)


async def test_every_look_is_an_audit_row_with_the_claims(sandbox, biller):
    await biller.text("/claims?tab=rejected&group=0")
    await biller.ask("/claims.csv?tab=rejected")
    async with sandbox.installation.database.read(SystemScope("a test")) as tx:
        rows = await tx.rows(AUDIT)
    looks = {action: row for action, *row in rows}
    for action in ("console.claims", "console.claims_csv"):
        assert sandbox.numbers["3004"] in str(looks[action])


def test_shares_and_medians_of_several_sites_are_those_of_all_their_claims():
    small = claim_summary.MonthFigures(
        received=10, answered=10, rejected=5, decided=4, denied=4, waits={3: 1}
    )
    large = claim_summary.MonthFigures(
        received=90, answered=90, rejected=5, decided=96, denied=6, waits={14: 2, 30: 2}
    )
    both = small.plus(large)
    assert (both.received, both.accepted_percent, both.denied_percent) == (100, 90.0, 10.0)
    assert [one.days_to_payment for one in (small, large, both)] == [3.0, 14.0, 14.0]
    nothing = claim_summary.MonthFigures()
    assert (nothing.accepted_percent, nothing.denied_percent, nothing.days_to_payment) == (
        None, None, None,
    )  # fmt: skip


def test_every_label_has_its_words_and_every_tab_its_empty_sentence():
    assert LABEL_WORDS.keys() == set(ClaimLabel)
    assert all(tab.nothing.endswith(".") for tab in TABS)
    form, faults = read_filters({})
    assert (form.tab, faults) == ("all", [])


async def test_a_page_about_more_sites_than_it_counts_says_so(sandbox, monkeypatch):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    for path in ("/?site=all", "/claims?site=all"):
        assert "are counted and listed here" not in await operator.text(path)
    monkeypatch.setattr(page_request, "SITES_AT_ONCE_MAX", 1)
    for path in ("/?site=all", "/claims?site=all"):
        page = await operator.text(path)
        assert re.search(r"The first 1 of your [2-9] sites are counted and listed here\.", page)


async def test_in_production_the_filter_offers_the_payers_that_have_a_route(
    new_place, tmp_path, monkeypatch
):
    place = await new_place("sqlite")
    place.keys().wrapping_key()
    settings = load(environ={}, overrides={"data": place.data, "mode": "production"})
    async with open_installation(settings, role="command") as installation:
        database, now = installation.database, installation.wall.now()
        names = {"HBR01": "Harbor Health", "MDW10": "Meadow Mutual", "ORC20": "Orchard Plan"}
        listed = [
            Payer(type="Medical", name=name, svc_payer_id=id, payer_id=id)
            for id, name in names.items()
        ]
        await import_payers(database, list(enumerate(listed, 1)), drop_others=False, actor=BY)
        folder = {"outbox": str(tmp_path), "inbox": str(tmp_path), "sender_id": "US"}
        for id in ("MDW10", "HBR01"):
            route = Route(
                payer_id=id,
                type="Medical",
                kind=RouteKind.FOLDER,
                options=folder | {"receiver_id": id},
            )
            await add_route(database, installation.vault, route, RouteSecrets(), now=now, actor=BY)
        await installation.refresh()
        operator = await sign_in_as(installation, ConsoleRole.OPERATOR)
        assert offered(await operator.text("/claims")) == ["Harbor Health", "Meadow Mutual"]
        monkeypatch.setattr(claims_page, "PAYERS_LISTED_MAX", 1)
        assert len(offered(await operator.text("/claims"))) == 1


def offered(page):
    """The payers to choose from."""
    choices = re.search(r'<select[^>]* name="payer".*?</select>', page, re.DOTALL)[0]
    return re.findall(r'<option value="\w[^>]*>([^<]+)', choices)
