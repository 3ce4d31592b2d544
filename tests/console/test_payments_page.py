"""Payments in the console: the list, one payment, matching by a person, and the files of it.

Also tests `console/payments/payment_page`, `console/payments/deposit_actions`, `console/payments/payment_list_csv`, `payments/deposit`,
`pipeline/operator/payment_deposit`, `store/payments/share_closings`, `pipeline/share_deposit`, `console/payments/payment_words`, `payments/payment_label`, `console/payments/payment_downloads`,
`console/frame/pdf_response`, `pipeline/query/payment_month`, `pipeline/query/installation/operator_counts` and `pipeline/query/stored_counts`.
"""

import csv
import io
import re
from html import unescape

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.console.payments.payment_words import payment_label, payment_title
from clearlane.payments.payment import Payment
from clearlane.pipeline.query.claim_summary import refresh_stale
from clearlane.pipeline.query.payment_month import KEPT_AS, load_payment_month
from clearlane.store.installation.stored_counts import StoredCounts, put_counts
from clearlane.store.payments.payments import SCOPE
from tests.claims.answers import paid, payment
from tests.console.incoming_files import arrive
from tests.console.sandbox_console import open_sandbox_console

HOSTILE = "<SCRIPT>ALERT(1)</SCRIPT>"
OFF = "CAS*CO*45*20"
ROLES = (ConsoleRole.VIEWER, ConsoleRole.BILLER, ConsoleRole.SUPPORT, ConsoleRole.OPERATOR)
LINK = re.compile(r'/console/payments/(P[0-9A-Z]{18})["?]')


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("payments")) as made:
        yield made


@pytest.fixture(scope="module")
async def people(sandbox):
    return {role: await sandbox.person(role) for role in ROLES}


@pytest.fixture(scope="module")
async def shared(sandbox):
    """A transfer over claims of two vendors and one that nobody knows, with hostile texts of the payer."""
    mine = await sandbox.send("3009")
    theirs = await sandbox.send("3009", site="B-1")
    await sandbox.advance(1)
    rows = [
        paid(mine, "1", "100", "80", OFF),
        [one.replace("ARDEN*ROSA", "QUILLFEATHER*SAL") for one in paid(theirs, "4", "100", "0", "CAS*CO*97*100")],
        [one.replace("ARDEN*ROSA", f"{HOSTILE}*X") for one in paid("NOBODY", "1", "100", "80", OFF)],
    ]  # fmt: skip
    content = payment(
        *rows, amount="120", reference="EFT20031", plb=["PLB*1234567893*20261231*WO:9*40"]
    )
    content = content.replace(b"MEADOW MUTUAL", HOSTILE.encode())
    file = await arrive(sandbox.installation, content)
    assert file.state == "parked", file
    return mine, theirs


def body(answer) -> str:
    return unescape(answer.body.decode())


async def payment_id(person, query="") -> str:
    return LINK.findall(await person.text(f"/payments{query}"))[0]


async def menu_count(person, path: str) -> str:
    return "".join(
        re.findall(
            rf'href="/console{path}"[^>]*>\w+ <span class="count">(\w+)', await person.text("/")
        )
    )


async def test_each_sees_its_part_of_a_payment_and_an_operator_all(people, shared):
    mine, theirs = shared
    operator, biller = people[ConsoleRole.OPERATOR], people[ConsoleRole.BILLER]
    id = await payment_id(operator)
    whole = unescape(await operator.text(f"/payments/{id}"))
    for text in (
        "QUILLFEATHER, SAL",
        "1 to match",
        "NOBODY",
        "120.00",
        "Overpayment recovery (WO)",
    ):
        assert text in whole, text
    part = unescape(await biller.text(f"/payments/{id}"))
    assert "ARDEN, ROSA" in part
    assert "Your part" in part
    assert "The transfer as a whole is 120.00 for 3 claims, of which 1 claim is yours." in part
    for foreign in ("QUILLFEATHER", theirs, "NOBODY", "Overpayment"):
        assert foreign not in part, foreign
    assert mine in part
    # A person of the vendor has seen it now; the operator's look did not count.
    assert "seen by a person" in await biller.text("/payments")


@pytest.mark.parametrize("role", ROLES)
async def test_nobody_sees_a_foreign_byte_in_any_file(sandbox, people, shared, role):
    id = await payment_id(people[ConsoleRole.OPERATOR])
    for kind in ("csv", "835"):
        answer = await people[role].ask(f"/payments/{id}/{kind}")
        may_see = role is ConsoleRole.OPERATOR
        assert (b"QUILLFEATHER" in answer.body) is may_see, kind
        expected = 200 if may_see or kind == "csv" else 409
        assert answer.status_code == expected
    outsider = await sandbox.person(ConsoleRole.BILLER, "A-2")
    for path in ("", "/csv", "/835", "/pdf"):
        answer = await outsider.ask(f"/payments/{id}{path}")
        assert (answer.status_code, b"ARDEN" in answer.body) == (404, False), path
    assert id not in await outsider.text("/payments")


async def test_texts_of_a_payer_never_become_markup_or_formulas(people, shared):
    operator = people[ConsoleRole.OPERATOR]
    id = await payment_id(operator)
    for path in ("/payments", f"/payments/{id}", f"/payments?q={HOSTILE}"):
        assert HOSTILE not in await operator.text(path), path
        assert HOSTILE in unescape(await operator.text(path)), path


@pytest.mark.server
async def test_a_pdf_is_made_for_whoever_may_see_the_payment(people, shared):
    id = await payment_id(people[ConsoleRole.OPERATOR])
    answer = await people[ConsoleRole.VIEWER].ask(f"/payments/{id}/pdf")
    assert answer.body.startswith(b"%PDF")
    assert answer.headers["content-disposition"] == f'attachment; filename="{id}.pdf"'


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?q=EFT+20031", True), ("?q=%24120.00", True), ("?q=TRN*1*eft20031*1512345678", True),
        ("?q=120.01", False), ("?tab=match", True), ("?tab=unbalanced", False), ("?tab=waiting", True),
        ("?tab=nonsense", True), ("?before=P0", False), ("?site=all", True), ("?site=A-1", True),
        ("?site=A-2", False),
    ],
)  # fmt: skip
async def test_a_payment_is_found_as_the_bank_writes_it(people, shared, query, found):
    page = await people[ConsoleRole.OPERATOR].text(f"/payments{query}")
    assert bool(LINK.findall(page)) is found
    assert ('class="empty"' in page) is not found


async def test_every_filter_of_the_menu_is_in_the_address_and_can_be_removed(people, shared):
    operator = people[ConsoleRole.OPERATOR]
    id = await payment_id(operator)
    for query, found in (
        ("state=NeedsReview", True), ("state=Posted&trace_number=EFT20031", False), ("amount=%24120.00", True),
        ("amount=121", False), ("payer=NOPAYER", False), ("effective_to=2020-01-01", False), ("amount=many", True),
    ):  # fmt: skip
        page = await operator.text(f"/payments?{query}")
        assert (id in page) is found, query
    assert "Remove the filter Check or trace number: EFT20031" in await operator.text(
        "/payments?trace_number=EFT20031"
    )


async def test_a_person_matches_and_undoes(sandbox, people, shared):
    mine, _ = shared
    operator = people[ConsoleRole.OPERATOR]
    id = await payment_id(operator)
    await refresh_stale(sandbox.installation.work_context)
    assert await menu_count(operator, "/payments") == "1"
    answer = await operator.ask(f"/payments/{id}/3/assign", form={"claim": "C0"})
    assert (answer.status_code, "was not sent to payer" in body(answer)) == (409, True)
    for role, sentence in ((ConsoleRole.BILLER, "differs too much"), (ConsoleRole.VIEWER, "role")):
        answer = await people[role].ask(f"/payments/{id}/3/assign", form={"claim": mine})
        assert answer.status_code in {403, 409}
        assert sentence in body(answer)
    answer = await operator.ask(f"/payments/{id}/3/assign", form={"claim": mine})
    assert answer.headers["location"] == f"/console/payments/{id}?done=assigned"
    page = await operator.text(f"/payments/{id}?done=assigned")
    assert "matched by a person" in page
    assert "The payment is booked on the claim." in page
    assert await menu_count(operator, "/payments") == ""
    outsider = await sandbox.person(ConsoleRole.BILLER, "A-2")
    # For who has no part of it, the payment is not there.
    assert (await outsider.ask(f"/payments/{id}/3/undo", form={})).status_code == 404
    assert (await outsider.ask(f"/payments/{id}/3/assign", form={"claim": mine})).status_code == 404
    answer = await people[ConsoleRole.BILLER].ask(f"/payments/{id}/3/undo", form={})
    assert answer.headers["location"] == f"/console/payments/{id}?done=undone"
    assert "1 to match" in await operator.text(f"/payments/{id}")
    assert [await menu_count(one, "/payments") for one in people.values()] == ["1"] * len(people)
    assert await menu_count(outsider, "/payments") == ""
    assert (await operator.ask(f"/payments/{id}/x/undo", form={})).status_code == 404


async def test_the_months_sum_is_counted_by_schedule_and_not_for_every_page(
    sandbox, people, shared
):
    context, operator = sandbox.installation.work_context, people[ConsoleRole.OPERATOR]
    await refresh_stale(context)
    counted = await load_payment_month(context)
    assert counted.payments > 0
    page = await operator.text("/payments")
    assert f"in {counted.payments} payment" in page
    assert re.search(r"counted (a|\d+) \w+ ago", page)
    # A payment counts with the next run of the schedule; in another month it counts nothing.
    await arrive(sandbox.installation, payment(paid("NOBODY", "1", "100", "80", OFF)), name="late")
    assert await load_payment_month(context) == counted
    await refresh_stale(context)
    assert (await load_payment_month(context)).payments == counted.payments + 1
    old = StoredCounts(1, 1, b'{"first_day":"2020-01-01","payments":7,"cents":7}')
    await context.database.write(
        SCOPE, lambda tx: put_counts(tx, old, KEPT_AS), actor=context.actor
    )
    assert (await load_payment_month(context))[:2] == (0, 0)
    await refresh_stale(context)


async def test_an_installation_without_payments_says_when_they_come(sandbox):
    nobody = await sandbox.person(ConsoleRole.BILLER, "A-2")
    page = await nobody.text("/payments")
    assert "No payments yet. Payments usually follow claims by 14 to 30 days." in page
    assert "No payment came this month." in page
    assert re.search(r"counted (a|\d+) \w+ ago", page)


@pytest.mark.parametrize(
    ("fields", "kind", "text"),
    [
        ({}, "good", "Balanced"),
        ({"balanced": False, "unmatched": 2}, "act", "Does not balance"),
        ({"unmatched": 3}, "late", "3 to match"),
        ({"differs_from": "P1"}, "late", "Number used twice"),
        ({"unbalanced_claims": 1}, "late", "1 claim out of balance"),
        ({"handling": "H"}, "done", "Notice without money"),
        ({"method": "NON"}, "done", "Notice without money"),
        ({"duplicate_of": "P1", "unmatched": 1}, "done", "Duplicate"),
    ],
)
def test_a_label_says_what_to_do_about_a_payment(fields, kind, text):
    assert payment_label(Payment(**fields)) == (kind, text)


def test_a_payment_is_called_by_payer_number_and_day():
    assert payment_title(Payment(method="CHK", trace_number="9981"), "Harbor Health") == (
        "Harbor Health, check 9981"
    )


@pytest.fixture(scope="module")
async def short(sandbox):
    """A transfer over two claims of one site that says 151 for 150; its payment."""
    two = [await sandbox.send("3009", site="A-2") for _ in range(2)]
    await sandbox.advance(1)
    rows = [paid(one, "1", "100", "75", "CAS*CO*45*25") for one in two]
    await arrive(
        sandbox.installation, payment(*rows, amount="151", reference="EFT777", control=888)
    )
    biller = await sandbox.person(ConsoleRole.BILLER, "A-2")
    return biller, await payment_id(biller, "?q=EFT777")


async def test_a_payment_is_deposited_and_settled_and_both_are_undone(sandbox, short):
    biller, id = short
    path = f"/payments/{id}"
    assert await menu_count(biller, "/payments") == "1"
    day = sandbox.installation.clock.now().date()
    for form, sentence in (
        ({"day": "tomorrow", "amount": "x"}, "Day: a day such as 2026-01-31 is expected. Amount: An amount"),
        ({"day": "2999-01-01", "amount": ""}, "Day: The day is in the future."),
        ({"day": "1999-01-01", "amount": ""}, "Day: The day is more than a year ago."),
    ):  # fmt: skip
        answer = await biller.ask(f"{path}/deposit", form=form)
        assert (answer.status_code, sentence in body(answer)) == (400, True), form
    form = {"day": day.isoformat(), "amount": "150.00", "reference": f"slip 7 {HOSTILE}"}
    assert (await biller.ask(f"{path}/deposit", form=form)).status_code == 303
    page = unescape(await biller.text(path))
    assert f"{day:%b} {day.day}, {day.year}, 1.00 less than stated" in page
    assert f"Reference slip 7 {HOSTILE}" in page
    assert HOSTILE not in await biller.text(path)
    # It does not balance, and 150 is not 151: a person says why that is all right.
    assert "EFT777" in await biller.text("/payments?tab=unbalanced")
    differs = await biller.text("/payments?deposit=differs")
    assert "EFT777" in differs
    # The day stays on one line of the list, and a difference is red until someone settled it.
    assert (
        f'<span class="nowrap">{day:%b} {day.day}, {day.year}</span><span class="under act-text">1.00 less'
        in differs
    )
    assert "EFT777" not in await biller.text("/payments?tab=deposit")
    assert (await biller.ask(f"{path}/settle", form={"because": " "})).status_code == 409
    because = "The payer adds a dollar that it does not list"
    assert (await biller.ask(f"{path}/settle", form={"because": because})).status_code == 303
    assert because in unescape(await biller.text(path))
    assert await menu_count(biller, "/payments") == ""
    assert "EFT777" not in await biller.text("/payments?tab=unbalanced")
    assert '<span class="under">1.00 less than stated</span>' in await biller.text(
        "/payments?deposit=settled"
    )
    for closing, left in (("settled", "unbalanced"), ("deposited", "deposit")):
        answer = await biller.ask(f"{path}/reopen", form={"closing": closing})
        assert answer.status_code == 303, body(answer)
        assert "EFT777" in await biller.text(f"/payments?tab={left}")
    assert (await biller.ask(f"{path}/reopen", form={"closing": "deposited"})).status_code == 409
    assert (await biller.ask(f"{path}/reopen", form={"closing": "?"})).status_code == 400
    assert await menu_count(biller, "/payments") == "1"


async def test_only_who_works_on_the_sites_claims_closes_its_payments(sandbox, short):
    _, id = short
    form = {"day": sandbox.installation.clock.now().date().isoformat()}
    viewer = await sandbox.person(ConsoleRole.VIEWER, "A-2")
    assert "Not deposited yet" in await viewer.text(f"/payments/{id}")
    assert f"{id}/deposit" not in await viewer.text(f"/payments/{id}")
    for person, status in ((viewer, 403), (await sandbox.person(ConsoleRole.BILLER, "B-1"), 409)):
        for act in ("deposit", "settle"):
            answer = await person.ask(f"/payments/{id}/{act}", form=form | {"because": "x"})
            assert answer.status_code == status, (act, body(answer))
    biller = await sandbox.person(ConsoleRole.BILLER, "A-2")
    assert (await biller.ask(f"/payments/{id}/deposit", form=form, token="x")).status_code == 403


async def test_the_list_and_all_its_lines_are_csv(people, shared, short):
    biller, id = short
    rows = list(csv.DictReader(io.StringIO(csv_text(await biller.ask("/payments.csv?q=EFT777")))))
    assert [(one["Amount"], one["Deposit"], one["Payment"]) for one in rows] == [
        ("151.00", "open", id)
    ]
    lines = list(csv.DictReader(io.StringIO(csv_text(await biller.ask("/payment-lines.csv")))))
    assert sum(float(one["paid"]) for one in lines if one["payment_id"] == id) == 150.0
    assert "EFT777" not in csv_text(await biller.ask("/payments.csv?method=CHK"))
    part = csv_text(await people[ConsoleRole.BILLER].ask("/payment-lines.csv"))
    assert ("ARDEN" in part, "QUILLFEATHER" in part) == (True, False)
    whole = csv_text(await people[ConsoleRole.OPERATOR].ask("/payment-lines.csv"))
    assert ("QUILLFEATHER" in whole, whole.count("row,payment_id,")) == (True, 1)


def csv_text(answer) -> str:
    assert (answer.status_code, answer.body[:3]) == (200, b"\xef\xbb\xbf")
    return answer.body.decode("utf-8-sig")
