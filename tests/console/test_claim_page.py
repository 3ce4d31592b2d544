"""A claim, Home and the search box, of a sandbox with claims of several scenarios.

Also tests `console/claims/claim_parts/claim_boxes`, `console/claims/claim_actions`, `console/claims/search_page`, `pipeline/query/search/claims_by_text`, `console/home_page`,
`console/first_steps`, `console/frame/charts`, `console/claims/claim_action_handlers`, `console/claims/claim_parts/claim_files`, `console/claims/claim_parts/claim_money`, `console/claims/claim_parts/claim_timeline`, `store/database/schema/worklist`,
`console/claims/next_payer_page`, `console/claims/print_page`, `pipeline/query/cause_counts` and `pipeline/operator/claim_work`.
"""

import json
import re
from datetime import date, timedelta
from decimal import Decimal
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import select, update

from clearlane.accounts.users import ConsoleRole
from clearlane.claims.forms import UB04, V3_DENTAL, V3_MEDICAL, samples
from clearlane.claims.responses.provenance import Explanation
from clearlane.console.claims.claim_actions import CORRECTABLE, NOT_YET
from clearlane.console.claims.claim_parts.claim_boxes import form_sheet
from clearlane.console.claims.claim_parts.claim_files import explain_segments
from clearlane.console.claims.claim_parts.claim_money import adjustment_words, money_table
from clearlane.console.first_steps import steps
from clearlane.console.frame.charts import axis_top, paired_chart, stacked_chart
from clearlane.payments.payment import ClaimPayment, LineAdjustment, PaidLine
from clearlane.pipeline.enrollment.enroll import enroll
from clearlane.pipeline.intake.hold_claims import CANCEL, change_unsent_claim
from clearlane.pipeline.intake.resend_rules import NEVER_DENIED
from clearlane.pipeline.query.claim_summary import refresh_stale, refresh_summary
from clearlane.pipeline.query.search.claims_by_text import read_name
from clearlane.proofs.verify_proof import verify_file
from clearlane.store.database.database import SystemScope
from clearlane.store.database.schema import audit, claim_notes, claims
from clearlane.store.database.sql import Statement
from tests.console.sandbox_console import SENDER, open_sandbox_console
from tests.console.signed_in_console import BY
from tests.enrollment.invented import a_document, a_practice

ROOT = Path(__file__).parents[2]
DAY = date(2026, 1, 15)
XSS = "<script>alert(1)</script>"
NOTES = Statement(select(claim_notes.c.payload), system=True)
AUDIT = Statement(select(audit.c.action, audit.c.ids))


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("sandbox")) as made:
        made.fresh_home = await (await made.person(ConsoleRole.BILLER)).text("/")
        made.numbers = {
            each: await made.send(each) for each in ("3001", "3003", "3004", "3008", "3011")
        }
        made.silent = await made.send("3009")
        made.foreign = await made.send("3004", site="B-1")
        await made.advance(31)  # its answer is overdue
        await made.advance(5)  # and no file came in three business days: a person looks at it
        yield made


@pytest.fixture(scope="module")
async def biller(sandbox):
    return await sandbox.person(ConsoleRole.BILLER)


@pytest.mark.safe_default(1)
async def test_two_live_claims_under_one_id_are_both_listed_and_link_to_each_other(sandbox, biller):
    """A second visit leaves the paid claim in the lists."""
    first = sandbox.numbers["3001"]
    own = re.search(r"Your id (TEST-\d+)", text_of(await biller.text(f"/claims/{first}")))[1]
    # Its days of service are thirty days later than those of the first.
    second = await sandbox.send("3001", Svc_VendorClaimId=own)
    pages = {number: text_of(await biller.text(f"/claims/{number}")) for number in (first, second)}
    assert f"Same claim id {second}" in pages[first]
    assert f"Same claim id {first}" in pages[second]
    assert "Correction of" not in pages[second]
    assert "Replaced by" not in pages[first]
    await refresh_summary(sandbox.installation.work_context, sandbox.site("A-1"))
    assert f"/claims/{first}" in await biller.text("/claims?tab=paid&changed=any")
    assert f"/claims/{second}" in await biller.text("/claims?tab=on_the_way&changed=any")


def text_of(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


async def test_a_rejected_claim_answers_a_phone_call(sandbox, biller):
    page = await biller.text(f"/claims/{sandbox.numbers['3004']}?from=tab%3Drejected")
    text = text_of(page)
    assert "Rejected by Sandbox Medical" in text
    assert "Box 33a: Billing provider's NPI" in text
    assert "The payer says the billing provider's NPI is invalid. What to do:" in text
    listed = "Rejected: information is invalid. Entity's NPI (billing provider)"
    assert f"A7:562:85 , 277CA: {listed}" in text
    assert "Correct box 33a" in text
    assert "claim 1 of 1" in text
    assert text.count("the billing provider's NPI is invalid") == 1, "said once, at the top"
    assert text.count(listed.partition(": ")[2]) == 1
    assert re.search(r'id="why-1">\s*<p class="field"><span class="reason-number">1</span>', page)
    assert re.search(
        r'class="wide fault"><dt>33a.*<span class="under reason">see <a href="#why-1"', page
    )
    assert text.index("Rejected (277CA) see 1") < text.index("Received")


async def test_a_decided_claim_names_its_payment_and_a_silent_one_says_what_to_do(sandbox, biller):
    page = await biller.text(f"/claims/{sandbox.numbers['3008']}")
    assert re.search(
        r"Paid 75\.00 on \w+ \d+, \d{4} , (notice|check|transfer) \S+ \.", text_of(page)
    )
    assert "CO-45 write-off 25.00, nothing to do" in text_of(page)
    assert re.search(r'href="/console/payments/P\w+"', page)
    denied = text_of(await biller.text(f"/claims/{sandbox.numbers['3003']}"))
    assert re.search(r"Decided on \w+ \d+, \d{4} in (notice|check|transfer) \S+", denied)
    silent = text_of(await biller.text(f"/claims/{sandbox.silent}"))
    assert "No answer from Sandbox Medical" in silent
    day = r"\w+ \d+, \d{4}"
    since = rf"Awaiting 277CA from Sandbox Medical since {day}, was due {day} overdue"
    assert re.search(since, silent)
    assert "What to do: Ask Sandbox Medical about our number" in silent
    assert "Send again unchanged" in silent


async def test_what_cannot_be_done_is_grey_and_says_why(sandbox, biller):
    paid = text_of(await biller.text(f"/claims/{sandbox.numbers['3001']}"))
    assert "Nothing in it was refused or denied." in paid
    assert "cancel it at the payer instead" in paid
    assert re.search(
        r"paid \$[\d.]+ by [a-z ()A-Z]+number \w+ effective \w{3} \d+, \d{4}, for all claims in it\.",
        paid,
    )
    assert not re.search(r"\d{4}-\d\d-\d\d", paid)
    assert "The payer has it: a second one would be a duplicate." in paid
    viewer = await sandbox.person(ConsoleRole.VIEWER)
    assert "Correct box" not in await viewer.text(f"/claims/{sandbox.numbers['3004']}")


async def test_a_claim_is_held_released_and_canceled_before_it_is_sent(sandbox, biller):
    number = await sandbox.send("3001")
    for verb, label in (
        ("hold", "Held for"),
        ("release", "Received for"),
        ("cancel", "Canceled for"),
    ):
        answer = await biller.ask(f"/claims/{number}/{verb}", form={"confirmed": "yes"})
        assert answer.status_code == 303, answer.body
        assert label in text_of(await biller.text(f"/claims/{number}"))
    refused = await biller.ask(f"/claims/{sandbox.numbers['3001']}/hold", form={})
    assert refused.status_code == 409


@pytest.mark.safe_default(12)
async def test_a_claim_whose_correction_will_be_sent_is_not_canceled(sandbox, biller):
    number = await sandbox.send("3001")
    path = f"/claims/{number}/correct"
    form = {"f.F26_PatientAcctNumber": "SECOND", "do": "send"}
    sent = await biller.ask(path, form=form)
    assert sent.status_code == 303, text_of(sent.body.decode())
    new = re.search(r"/claims/(\w+)\?", sent.headers["location"])[1]
    for verb in ("cancel", "hold", "release"):
        refused = await biller.ask(f"/claims/{number}/{verb}", form={"confirmed": "yes"})
        assert refused.status_code == 409
        assert f"The claim {new} has taken over" in text_of(refused.body.decode())
    # The page says so before anyone tries.
    page = await biller.text(f"/claims/{number}")
    for title in ("Hold", "Release", "Cancel before sending"):
        assert f"{title} It was replaced by {new}: use that one." in text_of(page)


@pytest.mark.server
async def test_a_decided_claim_has_a_pdf(sandbox, biller):
    answer = await biller.ask(f"/claims/{sandbox.numbers['3001']}/pdf")
    assert (answer.status_code, answer.body[:5]) == (200, b"%PDF-")
    none = await biller.ask(f"/claims/{sandbox.numbers['3004']}/pdf")
    assert "No payment has decided" in text_of(none.body.decode())


@pytest.mark.server
async def test_a_claim_is_printed_on_its_form_or_on_plain_paper(sandbox, biller):
    number = sandbox.numbers["3001"]
    assert f"/claims/{number}/print" in await biller.text(f"/claims/{number}")
    text = text_of(await biller.text(f"/claims/{number}/print"))
    for words in (
        "On the pre-printed CMS-1500 (02/12)",
        "print at 100 percent",
        "Not for submission",
    ):
        assert words in text
    for sheet in ("preprinted", "plain"):
        answer = await biller.ask(f"/claims/{number}/form/{sheet}")
        assert (answer.status_code, answer.body[:5]) == (200, b"%PDF-")
        saved_as = answer.headers["content-disposition"]
        assert saved_as == f'attachment; filename="{number}-{sheet}.pdf"'
    assert (await biller.ask(f"/claims/{number}/form/blue")).status_code == 404
    async with sandbox.installation.database.read(SystemScope("a test")) as tx:
        looks = [ids for action, ids in await tx.rows(AUDIT) if action == "console.claim_form"]
    assert len([ids for ids in looks if number in str(ids)]) == 3


@pytest.mark.server
async def test_a_sent_claim_has_a_proof_of_filing(sandbox, biller):
    number = sandbox.numbers["3001"]
    assert f"/claims/{number}/proof" in await biller.text(f"/claims/{number}")
    answer = await biller.ask(f"/claims/{number}/proof")
    assert answer.headers["content-disposition"] == f'attachment; filename="{number}-proof.pdf"'
    assert verify_file(answer.body).holds
    unsent = await sandbox.send("3001")
    refused = await biller.ask(f"/claims/{unsent}/proof")
    assert (refused.status_code, "not sent yet" in refused.body.decode()) == (409, True)


async def test_lines_and_money_show_what_was_taken_back_and_the_net(sandbox, biller):
    text = text_of(await biller.text(f"/claims/{sandbox.numbers['3008']}?show=money"))
    assert "Taken back" in text
    assert "Corrected: paid" in text
    assert "Net paid" in text
    denied = text_of(await biller.text(f"/claims/{sandbox.numbers['3003']}?show=money"))
    assert "CO-50" in denied
    files = text_of(await biller.text(f"/claims/{sandbox.numbers['3003']}?show=files"))
    assert "CLP*" in files
    assert not re.search(r" \d{4}-\d\d-\d\d", files)


def test_a_claim_that_was_not_denied_is_neither_red_nor_corrected():
    assert not NEVER_DENIED & CORRECTABLE
    assert not NOT_YET.keys() & CORRECTABLE


def test_each_adjustment_of_a_line_stands_in_one_column():
    def adjusted(group, reason, amount, *, denial=False):
        return LineAdjustment(group=group, reason=reason, amount=amount, denial=denial)

    paid = PaidLine(
        paid=50,
        adjustments=(
            adjusted("PR", "1", 10), adjusted("PR", "2", 11), adjusted("PR", "3", 12),
            adjusted("CO", "45", 13), adjusted("PR", "204", 14), adjusted("OA", "23", 15),
        ),
    )  # fmt: skip
    denied = PaidLine(adjustments=(adjusted("CO", "50", 100, denial=True), adjusted("CO", "45", 1)))
    table = money_table(ClaimPayment(lines=(paid, denied)))
    assert table.total == {
        "deductible": 10, "coinsurance": 11, "copay": 12, "write_off": 29, "denied": 100, "other": 14,
    }  # fmt: skip


async def test_a_note_is_sealed_and_shown_as_text(sandbox, biller):
    number = sandbox.numbers["3001"]
    answer = await biller.ask(f"/claims/{number}/notes", form={"text": XSS})
    assert answer.headers["location"].startswith(f"/console/claims/{number}?")
    page = await biller.text(f"/claims/{number}?show=notes")
    assert "&lt;script&gt;" in page
    assert XSS not in page
    async with sandbox.installation.database.read(SystemScope("a test")) as tx:
        [(payload,)] = await tx.rows(NOTES)
        looks = [ids for action, ids in await tx.rows(AUDIT) if action == "console.claim"]
    assert b"script" not in bytes(payload)
    assert any(number in ids for ids in looks)


@pytest.mark.parametrize("number", ["C0", "x" * 60, "<b>", "C193/../x"])
async def test_a_claim_that_is_not_ones_own_is_not_there(sandbox, biller, number):
    assert (await biller.ask(f"/claims/{number}")).status_code == 404
    assert (await biller.ask(f"/claims/{sandbox.foreign}")).status_code == 404
    assert (
        await biller.ask(f"/claims/{sandbox.foreign}/notes", form={"text": "x"})
    ).status_code == 404


# ---- search ---------------------------------------------------------------------------------------


async def test_an_exact_number_opens_the_claim_and_a_name_lists_it(sandbox, biller):
    number = sandbox.numbers["3004"]
    for text in (number, number.lower()):
        opened = await biller.ask(f"/search?q={text}")
        assert opened.headers["location"] == f"/console/claims/{number}"
    page = await biller.text(f"/claims/{number}")
    last, own_id = re.search(r"<h1>(\w+), ", page)[1], re.search(r'data-copy="([^"]+)"', page)[1]
    born = re.search(r"born (\w+ \d+, \d+)", page)[1]
    opened = await biller.ask(f"/search?q={own_id}")
    assert opened.headers["location"] == f"/console/claims/{number}"
    for text in (last, last[:3].lower(), f"{last} {born}", f"{last}, {born.replace(',', '')}"):
        assert number in await biller.text(f"/search?q={text.replace(' ', '+')}"), text
    assert sandbox.foreign not in await biller.text(f"/search?q={last}")
    # The number of a check opens the payment.
    paid = await biller.text(f"/claims/{sandbox.numbers['3001']}")
    id, trace = re.search(r'/payments/(P\w+)">(?:check|transfer) (\w+)<', paid).groups()
    opened = await biller.ask(f"/search?q={trace.lower()}")
    assert opened.headers["location"] == f"/console/payments/{id}"
    nothing = text_of(await biller.text("/search?q=%3Cb%3EZZZ"))
    assert (
        "No claim with “<b>ZZZ” in Fernhill Family Practice in the last 12 months. "
        "Search the last 24 months Search payments"
    ) in nothing


async def test_a_member_id_lists_the_claims_of_some_months(sandbox, biller):
    number = await sandbox.send("XJ-4471")
    for text in ("XJ-4471", "xj4471", "XJ 4471"):
        page = await biller.text(f"/search?q={text.replace(' ', '+')}")
        assert number in page, text
        assert "in Fernhill Family Practice, the last 12 months" in text_of(page)
    foreign = await sandbox.person(ConsoleRole.BILLER, "B-1")
    assert "No claim with" in await foreign.text("/search?q=XJ-4471")
    # Older claims are found on demand, and after two years by their numbers alone.
    today = sandbox.installation.clock.now().date()
    for days, at_first, on_demand in ((420, False, True), (800, False, False)):
        await set_back(sandbox, number, (today - timedelta(days=days)).isoformat())
        assert (number in await biller.text("/search?q=XJ-4471")) is at_first, days
        assert (number in await biller.text("/search?q=XJ-4471&months=24")) is on_demand, days
    opened = await biller.ask(f"/search?q={number}")
    assert opened.headers["location"] == f"/console/claims/{number}"


async def set_back(sandbox, number, day) -> None:
    """Let a claim have been received on an earlier day."""
    older = Statement(
        update(claims).where(claims.c.claim_number == number).values(created_day=day), system=True
    )
    await sandbox.installation.database.write(
        SystemScope("a test"), lambda tx: tx.run(older), actor=BY
    )


@pytest.mark.parametrize(
    ("text", "name", "born"),
    [
        ("Arden 1986-11-22", "Arden", date(1986, 11, 22)),
        ("O'Hale, 11/22/1986", "O'Hale", date(1986, 11, 22)),
        ("de la Cruz Nov 22, 1986", "de la Cruz", date(1986, 11, 22)),
        ("Arden", "Arden", None),
        ("Arden 99/99/9999", "Arden 99/99/9999", None),
        ("Arden, Ruth", "Arden", None),
    ],
)
def test_a_birth_date_is_read_behind_a_name(text, name, born):
    assert read_name(text) == (name, born)


# ---- home -----------------------------------------------------------------------------------------


async def test_home_says_what_needs_one_and_counts_the_month(sandbox, biller):
    await biller.ask("/sandbox/advance", form={"days": "1"})
    page = await biller.text("/")
    text = text_of(page)
    assert re.search(r"3 claims need you: \$[\d.,]+ waiting\.", text)
    assert "Rejected 1 claim " in text
    assert "Latest payments" in text
    assert page.count("<rect ") > 2
    assert "as a table" in text
    assert "First steps" not in text
    assert "Claims 3 need you" in text_of(await biller.text("/claims"))


def test_a_new_installation_in_production_is_led_to_guides_that_exist():
    request = SimpleNamespace(context=SimpleNamespace(sandbox_control=None), sites=(object(),))
    shown = steps(request, None, has_payments=False)
    for one in shown:
        assert (ROOT / one.href.strip("/")).with_suffix(".md").exists(), one.href
    assert len(shown) == 3
    assert steps(request, None, has_payments=True) == []


async def test_a_new_sandbox_shows_first_steps_that_work(sandbox):
    assert "First steps" in sandbox.fresh_home
    other = await sandbox.person(ConsoleRole.BILLER, site="A-2")
    answer = await other.ask("/first-claim", form={})
    assert answer.headers["location"].endswith("done=sample")
    assert "Send a sample claim Done" in text_of(await other.text("/"))


async def test_an_operator_sees_that_a_route_is_down_and_that_it_came_back(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    await sandbox.control.set_mode("TST01", "down")
    await sandbox.send("3001")
    await operator.ask("/sandbox/advance", form={"days": "1"})
    assert "Route down: Sandbox Medical" in text_of(await operator.text("/"))
    assert "Connections 1 need you" in text_of(await operator.text("/"))
    # A site whose claims need no one does not say that nothing does.
    quiet = text_of(await operator.text("/?site=A-2"))
    assert "No claim needs you." in quiet
    assert "Nothing needs you" not in quiet
    await sandbox.control.set_mode("TST01", "up")
    await operator.ask("/sandbox/advance", form={"days": "1"})
    assert "Route down" not in text_of(await operator.text("/"))
    assert "Connections Files" in text_of(await operator.text("/"))


async def test_a_claim_that_was_passed_on_names_the_next_payer(sandbox, biller):
    page = text_of(await biller.text(f"/claims/{sandbox.numbers['3011']}"))
    name = re.search(r"Paid by Sandbox Medical, \w+ \d+, forwarded to ([A-Z ]+[A-Z]) ", page)[1]
    assert re.search(
        rf"Paid [\d.]+ on [^.]+\. Patient owes [\d.]+ coinsurance\. Forwarded to {name}\.", page
    )
    listed = text_of(await biller.text("/claims?tab=paid&changed=any"))
    assert f"Paid, forwarded to {name}" in listed


async def test_a_finding_says_on_how_many_other_claims_it_was_seen(sandbox, biller):
    numbers = [await sandbox.send("3004") for _ in range(3)]
    await sandbox.advance(2)
    context, site = sandbox.installation.work_context, sandbox.site("A-1")
    counted = await refresh_summary(context, site, with_causes=True)
    assert counted.causes == {"TST01 277CA A7:562:85 F33A_BillingProviderNpi": 3}
    page = text_of(await biller.text(f"/claims/{numbers[0]}"))
    assert "seen on 2 other claims this week" in page
    earlier = text_of(await biller.text(f"/claims/{sandbox.numbers['3004']}"))
    assert "seen on 3 other claims this week" in earlier
    again = await refresh_summary(context, site)
    assert (again.causes, again.causes_at) == (counted.causes, counted.causes_at)


async def test_every_element_of_a_claims_files_is_explained(sandbox, biller):
    page = text_of(await biller.text(f"/claims/{sandbox.numbers['3004']}?show=files"))
    assert "The claim as it goes to the payer (837)" in page
    assert re.search(
        r"CLM02 [\w ]*charge[\w ]* 100 from F28_TotalCharge \(box 28\)", page, re.IGNORECASE
    )
    assert "STC01-1 Category A7 Rejected" in page
    assert explain_segments(b"no X12 at all") == []


async def test_home_lists_enrollments_that_need_somebody(sandbox, biller):
    context, site = sandbox.installation.work_context, sandbox.site("A-1")
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    await enroll(
        context, a_document(a_practice()), site=site, actor=SENDER, now=context.clock.now()
    )
    await refresh_stale(context)
    # A new one is the operator's; one that the payer refused concerns the site.
    assert "Enrollment tasks 1 enrollment " in text_of(await operator.text("/?site=A-1"))
    assert "Enrollment tasks" not in await biller.text("/")
    [id] = re.findall(r"/enrollments/(E\w+)", await biller.text("/enrollments"))
    payer = next(p for p in sandbox.installation.payers.all if p.claim_enrollment_required)
    move = {
        "transaction": "claims",
        "payer": payer.payer_id,
        "type": payer.type,
        "event": "refuse",
        "reason": "TIN",
    }
    assert (await operator.confirm(f"/enrollments/{id}/move", form=move)).status_code == 303
    await refresh_stale(context)
    assert "Enrollment tasks" in await biller.text("/")


@pytest.mark.parametrize(
    ("diagnosis", "shown"), [("J029", "J02.9"), ("I10", "I10"), ("J02.9", "J02.9")]
)
def test_boxes_have_codes_with_dots_and_zip_codes_with_hyphens(diagnosis, shown):
    document = samples.document(V3_MEDICAL, day=date(2026, 1, 15), full=False)
    fields = {"F21_DiagnosisCodes": [diagnosis], "F33_BillingProviderZip": "787011234"}
    claim = V3_MEDICAL.claim.model_validate_json(
        json.dumps(document["Claims"][0] | fields, default=str)
    )
    values = {box.number: box.value for box in form_sheet(claim, {}).boxes}
    assert shown in values["21"]
    assert "78701-1234" in values["33"]


@pytest.mark.parametrize(
    ("bill_type", "box", "shown"),
    [
        ("111", "4", "111 (Hospital, inpatient; Original)"),
        ("111", "67", "J18.9 present on admission; I10 present on admission; E11.9 present on admission"),
        ("211", "35-36", "70 (Qualifying hospital stay) Dec 25, 2025 Dec 29, 2025"),
        ("321", "31-34", "50 (Assessment) Dec 16, 2025"),
        ("721", "39-41", "A8 (Patient's weight in kilograms) 72.50; A9 (Patient's height in centimeters) 168.00"),
        ("721", "18-28", "74 (Dialysis at home)"),
    ],
)  # fmt: skip
def test_codes_of_a_ub04_have_their_words(bill_type, box, shown):
    document = samples.document(UB04, day=date(2026, 1, 15), full=False, bill_type=bill_type)
    claim = UB04.claim.model_validate_json(json.dumps(document["Claims"][0]))
    boxes = form_sheet(claim, {}).boxes
    assert {one.number: one.value for one in boxes}[box] == shown


@pytest.mark.parametrize("form", [V3_MEDICAL, V3_DENTAL, UB04])
def test_lines_of_a_full_claim_have_a_column_for_each_short_box_and_the_rest_below(form):
    document = samples.document(form, day=date(2026, 1, 15), full=True)
    claim = form.claim.model_validate_json(json.dumps(document["Claims"][0], default=str))
    table = form_sheet(claim, {}).lines
    numbers = [number for number, _ in table.columns]
    assert 6 <= len(numbers) == len(set(numbers)) <= 9
    assert {len(row.cells) for row in table.rows} == {len(numbers)}
    assert any(box.title.endswith("NPI") or "drug" in box.title for box in table.rows[-1].more)
    assert all(box.value for row in table.rows for box in row.more)


def test_a_value_is_shown_once_and_further_fields_of_a_box_have_their_names():
    document = samples.document(V3_MEDICAL, day=date(2026, 1, 15), full=True)
    claim = V3_MEDICAL.claim.model_validate_json(json.dumps(document["Claims"][0], default=str))
    sheet = form_sheet(claim, {})
    [box] = [one for one in sheet.boxes if one.number == "14"]
    assert (box.title, box.value.partition("; ")[2][:21]) == (
        "Onset of the illness or symptom", "Last menstrual period"
    )  # fmt: skip
    assert sheet.lines.rows[0].cells[0].value == "Jan 15, 2026"


@pytest.mark.parametrize(
    ("first", "period"),
    [(date(2026, 1, 12), "Jan 12, 2026 to Jan 15, 2026"), (DAY, "Jan 15, 2026")],
)
def test_a_statement_is_a_period_and_units_have_no_cents(first, period):
    document = samples.document(UB04, day=DAY, full=False)
    given = document["Claims"][0] | {"FL06_StatementFrom": first, "FL06_StatementThrough": DAY}
    claim = UB04.claim.model_validate_json(json.dumps(given, default=str))
    sheet = form_sheet(claim, {})
    assert next(one.value for one in sheet.boxes if one.number == "6") == period
    at = [number for number, _ in sheet.lines.columns].index("46")
    assert "." not in sheet.lines.rows[0].cells[at].value


def test_what_is_known_of_other_payers_has_its_names():
    document = samples.document(UB04, day=DAY, full=True)
    claim = UB04.claim.model_validate_json(json.dumps(document["Claims"][0], default=str))
    boxes = {one.number: one.value for one in form_sheet(claim, {}).boxes}
    assert ", Other insured's last name Lund, Other insured's first name Ivo, " in boxes["50"]


def test_equal_adjustments_of_lines_are_one_sum():
    def adjusted(code, amount):
        return Explanation(source="835", code=code, happened="", todo="", amount=Decimal(amount))

    lines = [adjusted("OA-23", 90), adjusted("OA-23", 90), adjusted("PR-3", 25)]
    assert adjustment_words(lines) == "OA-23 settled by earlier payers 180.00, PR-3 copay 25.00"
    assert adjustment_words([adjusted(f"CO-{code}", 1) for code in range(4)]) == ""


def test_charts_have_a_table_of_the_same_numbers():
    places = [
        ("Mon", [("good", "Paid", 3), ("act", "Need you", 1)]),
        ("Tue", [("good", "Paid", 0), ("act", "Need you", 0)]),
    ]
    chart = stacked_chart("Claims", places)
    assert [bar.title for bar in chart.bars] == ["Mon: 3 paid", "Mon: 1 need you"]
    assert chart.rows == [("Mon", ["3", "1"]), ("Tue", ["0", "0"])]
    money = paired_chart("Money", [("Mon", [("done", "Charged", 12_345)])])
    assert money.rows == [("Mon", ["123.45"])]
    # The axis ends at a round number at or above the highest bar, and has its half.
    assert [text for _, text in chart.ticks] == ["4", "2", "0"]
    assert [text for _, text in money.ticks] == ["200", "100", "0"]
    assert [axis_top(n) for n in (0, 1, 3, 9, 10, 11, 286_120)] == [2, 2, 4, 10, 10, 20, 400_000]
    assert not stacked_chart("Nothing", []).bars


@pytest.mark.safe_default(1)
async def test_a_paid_claim_whose_void_was_canceled_is_headed_paid_and_says_so(sandbox, biller):
    first = sandbox.numbers["3008"]
    own = re.search(r"Your id (TEST-\d+)", text_of(await biller.text(f"/claims/{first}")))[1]
    void = await sandbox.send("3008", Svc_VendorClaimId=own, F22_MedicaidResubmissionCode="8")
    assert f"Replaced by {void}" in text_of(await biller.text(f"/claims/{first}"))
    context, site = sandbox.installation.work_context, sandbox.site("A-1")
    now = context.clock.now()
    await change_unsent_claim(context, site, void, CANCEL, actor=SENDER, now=now)
    page = text_of(await biller.text(f"/claims/{first}"))
    assert f"Its void {void} was canceled; the claim stands." in page
    assert "Replaced by" not in page
    assert re.search(r"Paid 75\.00 on", page)
    await refresh_summary(context, site)
    assert f"/claims/{first}" in await biller.text("/claims?tab=paid&changed=any")
    assert f"/claims/{first}" in await biller.text("/claims?tab=all&changed=any")


# ---- the payer after this one: last, because time passes ------------------------------------------

OTHER_INSURANCE = {
    "F09_OtherInsuredNameLast": "Lund", "F09_OtherInsuredNameFirst": "Ivo", "F09A_OtherInsuredGroupNum": "GRP300",
    "F09_PatientRelationshipToInsured": "Child", "F11D_OtherPlan": True, "X12_OtherPayerName": "HARBOR HEALTH PLAN",
    "F33A_BillingProviderNpi": "1234567893", "F33_BillingProviderZip": "787011234",
}  # fmt: skip


async def test_the_next_payer_is_billed_and_a_changed_decision_is_settled(sandbox, biller):
    known = OTHER_INSURANCE | {"X12_OtherInsuredId": "3001"}
    owes = await sandbox.send("3002", **OTHER_INSURANCE)
    back, crossed = await sandbox.send("3008", **known), await sandbox.send("3011", **known)
    plain = await sandbox.send("3001")
    assert "No payer has decided" in (await biller.ask(f"/claims/{plain}/next")).body.decode()
    await sandbox.advance(20)
    # The worklist has what leaves something to bill, with one sentence and one button.
    listed = await biller.text("/claims?tab=next_payer")
    assert f"/claims/{owes}" in listed
    # One that was forwarded, and which the next payer did not answer for a month, is among them.
    assert "Next payer <span>2</span>" in listed
    assert f"/claims/{sandbox.numbers['3011']}" in listed
    assert f"/claims/{crossed}" not in listed
    page = text_of(await biller.text(f"/claims/{owes}"))
    assert "Awaiting claim for the next payer from you since" in page
    assert "The next payer is to be billed. Something must be known first." in page
    assert "Secondary Harbor Health Plan - To be billed: something is asked" in page
    # What is asked is asked by field, beside what the first payer paid; answers are kept.
    path = f"/claims/{owes}/next"
    page = text_of(await biller.text(path))
    assert "What Sandbox Medical paid Charge 100.00 Paid 24.00 Left to the patient 56.00" in page
    assert "CO-45 Charge is above the fee schedule" in page
    assert "What must be known (1) Member id of the insured What is the insured's member id" in page
    kept = await biller.ask(path, form={"do": "review", "version": "1", "f.suffix": "JR"})
    assert "What must be known (1)" in text_of(kept.body.decode())
    late = await biller.ask(path, form={"do": "review", "version": "1", "f.suffix": "SR"})
    assert late.status_code == 409
    assert "Someone else answered questions" in text_of(late.body.decode())
    review = await biller.ask(path, form={"do": "review", "version": "2", "f.member_id": "3001"})
    shown = text_of(review.body.decode())
    assert "What goes to HARBOR HEALTH PLAN" in shown, shown
    assert "AMT*D*24~" in shown
    version = re.search(r'name="version" value="(\d+)"', review.body.decode())[1]
    sent = await biller.ask(path, form={"do": "send", "version": version})
    second = re.search(r"/claims/(C\w+)\?done=next-sent", sent.headers["location"])[1]
    assert "NM1*IL*1*LUND*IVO***JR*MI*3001" in text_of(
        await biller.text(f"/claims/{second}?show=files")
    )
    assert f"The next payer was billed: claim {second}." in text_of(
        await biller.text(f"/claims/{owes}")
    )
    assert (await biller.ask(path)).status_code == 409
    # A forwarded claim is billed only if the person says so.
    again = await biller.ask(f"/claims/{crossed}/next", form={"do": "send", "version": "1"})
    assert "forwarded the claim to HARBOR" in text_of(again.body.decode())
    # The payer takes its payment back after the next one was billed.
    billed = await biller.ask(f"/claims/{back}/next", form={"do": "send", "version": "1"})
    assert billed.status_code == 303, text_of(billed.body.decode())
    await sandbox.advance(20)
    page = text_of(await biller.text(f"/claims/{back}"))
    assert "The payer changed its decision after C" in page
    page = text_of(await biller.text(f"/claims/{back}/next"))
    assert "Send it again with the decision in force, correct it otherwise" in page
    review = text_of(
        (await biller.ask(f"/claims/{back}/next", form={"do": "correct"})).body.decode()
    )
    assert "It goes to HARBOR HEALTH PLAN as a replacement of the one that it has." in review
    assert "Send the correction to HARBOR HEALTH PLAN" in review
    done = await biller.ask(f"/claims/{back}/next", form={"do": "settle"})
    assert done.headers["location"].endswith("done=settled")
    assert "changed its decision" not in text_of(await biller.text(f"/claims/{back}"))
    chain = text_of(await biller.text(f"/claims/{second}"))
    assert re.search(r"Secondary Harbor Health Plan this one Paid 100\.00 56\.00 0\.00", chain)
