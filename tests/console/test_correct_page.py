"""Correct and resubmit, one claim and a whole cause; and the actions of a worklist.

Also tests `console/correction_form`, `console/page_table_billing`, `console/fix_cause_page`, `console/worklist_actions`,
`console/overtaken_correction`, `console/resend_page`, `console/correction_ways`,
`pipeline/operator/draft_corrections` and `store/correction_drafts`.
"""

import json
import re
from datetime import date, timedelta
from html import escape, unescape

import pytest
from sqlalchemy import select

from clearlane.accounts.users import ConsoleRole
from clearlane.claims import samples
from clearlane.claims.decode import restore
from clearlane.claims.fields import ClaimKind
from clearlane.console.claims_page import SNOOZE_DAYS_MAX
from clearlane.console.correction_form import changed_texts, is_billed, to_fields
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.store.accounts import set_console_corrections
from clearlane.store.database import SystemScope
from clearlane.store.schema import audit, correction_drafts
from clearlane.store.sql import Statement
from tests.console.sandbox_console import open_sandbox_console
from tests.console.signed_in_console import BY

AUDIT = Statement(select(audit.c.action, audit.c.ids, audit.c.detail).order_by(audit.c.seq))
DRAFTS = Statement(select(correction_drafts.c.payload), system=True)
GOOD_NPI, OTHER_NPI = samples.npi(123_456_780), samples.npi(123_456_781)


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("sandbox")) as made:
        made.birth = await made.send("3016")
        made.other = await made.send("3016")
        made.denied = await made.send("3017")
        made.group = [await made.send("3004") for _ in range(9)]
        made.foreign = await made.send("3004", site="B-1")
        await made.advance(15)
        yield made


@pytest.fixture(scope="module")
async def biller(sandbox):
    return await sandbox.person(ConsoleRole.BILLER)


def text_of(answer):
    page = answer if isinstance(answer, str) else answer.body.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def birth(day, **more):
    return {"f.F03_PatientDob": day, "f.F11A_InsuredDob": day, **more}


async def test_a_rejected_claim_is_fixed_checked_reviewed_and_sent(sandbox, biller):
    path = f"/claims/{sandbox.birth}/correct"
    page = text_of(await biller.text(path))
    assert "Fix these (2)" in page
    assert "Box 3: Patient's birth date" in page

    nothing = await biller.ask(path, form={"do": "review"})
    assert "Nothing was changed yet." in text_of(nothing)
    wrong = text_of(await biller.ask(path, form=birth("2999-01-01", do="review")))
    assert re.search(r"\d things? to fix", wrong)
    assert "Send to" not in wrong

    review = text_of(await biller.ask(path, form=birth("1980-05-05", do="review")))
    assert "New claim: the payer never took the first one in." in review
    assert "Box 3: Patient's birth date" in review
    assert "May 5, 1980" in review
    as_written = text_of(await biller.ask(path, form=birth("5 May 1980", do="review")))
    assert "5 May 1980" in as_written  # no date for us, and no fault of the page
    assert "Send to Sandbox Medical" in review

    sent = await biller.ask(path, form=birth("1980-05-05", do="send"))
    assert sent.status_code == 303
    new = re.search(r"/claims/(\w+)\?", sent.headers["location"])[1]
    assert "was=rejected" in sent.headers["location"]
    landed = text_of(await biller.text(f"/claims/{new}?done=sent&was=rejected"))
    assert "Received for Sandbox Medical 2nd submission" in landed
    assert f"Correction of {sandbox.birth} . Leaves with the next file, by " in landed
    assert re.search("Next rejected claim: 1 of [0-9]+", landed)
    old = text_of(await biller.text(f"/claims/{sandbox.birth}"))
    assert f"Replaced by {new}" in old
    born = re.search(r"born (\w+ \d+, \d+)", old)[1]
    last = re.search(r"Replaced by \w+ (\w+),", old)[1]
    found = await biller.text(f"/search?q={last}+{born}".replace(" ", "+"))
    [row] = re.findall(rf"<tr>(?:(?!</tr>).)*/claims/{sandbox.birth}.*?</tr>", found, re.DOTALL)
    assert "Replaced" in row
    assert "Rejected" not in row
    again = await biller.ask(path, form=birth("1981-05-05", do="send"))
    assert (again.status_code, "It was replaced by" in text_of(again)) == (409, True)


async def test_a_draft_is_sealed_and_one_person_writes_at_a_time(sandbox, biller):
    path = f"/claims/{sandbox.other}/correct"
    await biller.ask(path, form=birth("1983-03-03", do="check"))
    assert 'value="1983-03-03"' in await biller.text(path)
    async with sandbox.installation.database.read(SystemScope("a test")) as tx:
        assert not any(b"1983" in bytes(payload) for (payload,) in await tx.rows(DRAFTS))
    colleague = await sandbox.person(ConsoleRole.BILLER)
    page = await colleague.text(path)
    assert "is correcting this since" in page
    assert "disabled" in page
    stopped = await colleague.ask(path, form=birth("1984-04-04", do="send"))
    assert "is correcting this since" in text_of(stopped)
    left = await biller.ask(path, form={"do": "discard"})
    assert left.headers["location"].endswith("done=discarded")
    assert 'value="1983-03-03"' not in await biller.text(path)


async def test_two_corrections_at_once_are_shown_and_never_the_last_wins(sandbox, biller):
    number = await sandbox.send("3004")
    await sandbox.advance(2)
    path, mine = f"/claims/{number}/correct", {"f.F33A_BillingProviderNpi": GOOD_NPI}
    await biller.ask(path, form=mine | {"do": "check"})
    await submit_correction(
        sandbox.installation.work_context, sandbox.site("A-1"), number,
        {"F33A_BillingProviderNpi": OTHER_NPI}, actor=BY, now=sandbox.installation.clock.now(),
    )  # fmt: skip
    both = await biller.ask(path, form=mine | {"do": "send"})
    assert both.status_code == 409
    assert f"{OTHER_NPI} {GOOD_NPI}" in text_of(both)
    carried = await biller.ask(path, form={"do": "mine"})
    successor = re.search(r"/claims/(\w+)/correct", carried.headers["location"])[1]
    assert successor != number
    assert f'value="{GOOD_NPI}"' in await biller.text(f"/claims/{successor}/correct")
    assert "It was replaced by" in text_of(await biller.ask(path))


async def test_what_was_billed_changes_only_with_a_reason(sandbox, biller):
    path = f"/claims/{sandbox.denied}/correct"
    field = "f.F24_ClaimLines[0].F24D_HcpcsProcedureCode"
    review = text_of(await biller.ask(path, form={field: "99214", "do": "review"}))
    assert "changes what was billed" in review
    assert re.search(r"Replacement of payer claim S\d+ \(frequency 7\)\.", review)
    refused = text_of(await biller.ask(path, form={field: "99214", "do": "send"}))
    assert "Say why what was billed changes." in refused
    sent = await biller.ask(path, form={field: "99214", "do": "send", "reason": "Wrong visit code"})
    new = re.search(r"/claims/(\w+)\?", sent.headers["location"])[1]
    assert "Wrong visit code" in text_of(await biller.text(f"/claims/{new}?show=notes"))
    async with sandbox.installation.database.read(SystemScope("a test")) as tx:
        rows = await tx.rows(AUDIT)
    [change] = [row for row in rows if row[0] == "claim.billed-change"]
    assert new in change[1]
    assert "F24D_HcpcsProcedureCode" in change[2]
    assert not any("Wrong visit code" in row[2] for row in rows)


async def test_nine_claims_of_one_cause_are_fixed_together(sandbox, biller):
    worklist = await biller.text("/worklists")
    link = unescape(re.search(r'href="/console(/worklists/fix\?[^"]+)"', worklist)[1])
    page = await biller.text(link)
    assert "9 claims" in text_of(page)
    assert "payer=TST01" in link
    other = await biller.ask(link.replace("payer=TST01", "payer=TST02"))
    assert other.status_code == 404
    assert sandbox.foreign not in page
    cause = unescape(re.search(r'name="cause" value="([^"]+)"', page)[1])
    chosen = {"cause": cause, "claim": sandbox.group}
    wrong = text_of(
        await biller.ask("/worklists/fix", form={**chosen, "value": "123", "do": "check"})
    )
    assert "Send 9" not in wrong
    ready = text_of(
        await biller.ask("/worklists/fix", form={**chosen, "value": GOOD_NPI, "do": "check"})
    )
    assert "Send 9 corrections" in ready
    sent = text_of(
        await biller.ask("/worklists/fix", form={**chosen, "value": GOOD_NPI, "do": "send"})
    )
    assert "9 corrections are kept" in sent
    assert "box 33a" not in text_of(await biller.text("/worklists"))


async def test_what_stands_in_two_boxes_is_fixed_in_both(sandbox, biller):
    links = re.findall(r'href="/console(/worklists/fix\?[^"]+)"', await biller.text("/worklists"))
    [link] = [unescape(each) for each in links if "F03_PatientDob" in each]
    page = await biller.text(link)
    assert "Box 3: Patient's birth date" in text_of(page)
    assert "the same value goes into: Box 11a: Insured's birth date." in text_of(page)
    cause = unescape(re.search(r'name="cause" value="([^"]+)"', page)[1])
    form = {"cause": cause, "claim": sandbox.other, "value": "1987-02-01", "do": "check"}
    ready = text_of(await biller.ask("/worklists/fix", form=form))
    assert "Send 1 correction" in ready
    assert "Feb 1, 1987" in ready


async def test_ticked_claims_are_assigned_put_aside_and_done(sandbox, biller):
    number = sandbox.other

    async def act(do, at="/worklists", **more):
        return await biller.ask(at, form={"claim": [number, sandbox.foreign], "do": do, **more})

    async def listed(query=""):
        return number in await biller.text(f"/claims?tab=needs-you&group=0{query}")

    assert await listed()
    assert not await listed("&mine=1")
    assert (await act("assign")).headers["location"] == "/console/worklists?done=assign"
    assert "are assigned to you." in await biller.text("/worklists?done=assign")
    assert await listed("&mine=1")
    await act("snooze-7")
    assert not await listed()
    await sandbox.advance(8)
    assert await listed()
    # A form that is refused keeps the address, the ticks and what was typed, and names its field.
    today = sandbox.installation.clock.now().date()
    far = today + timedelta(days=SNOOZE_DAYS_MAX + 2)
    for address in ("/worklists?done=assign", "/claims?tab=needs-you&group=0"):
        for do, field, value, sentence in (
            ("done", "reason", " ", "A reason is needed"),
            ("snooze-until", "until", "", "Snooze until: choose a day from"),
            ("snooze-until", "until", "2026-02-30", "Snooze until: choose a day from"),
            ("snooze-until", "until", today.isoformat(), "Snooze until: choose a day from"),
            ("snooze-until", "until", far.isoformat(), "Snooze until: choose a day from"),
        ):
            again = await act(do, address, **{field: value})
            page = again.body.decode()
            assert (again.status_code, sentence in page) == (400, True), (address, value)
            assert re.findall(r'value="(\w+)" checked', page) == [number], address
            at_fault = rf'name="{field}"[^>]+value="{value.strip()}"[^>]+"work-fault" autofocus'
            assert re.search(at_fault, page), (address, value)
            here = escape(address.removesuffix("?done=assign"))
            assert f'<form method="post" action="/console{here}">' in page
            assert "are assigned to you" not in page
    assert await listed()
    day = (today + timedelta(days=3)).isoformat()
    done = await act("snooze-until", "/claims?tab=needs-you&group=0", until=day)
    location = "/console/claims?tab=needs-you&group=0&done=snooze-until"
    assert done.headers["location"] == location
    assert not await listed()
    await sandbox.advance(2)
    assert not await listed()
    await sandbox.advance(1)
    assert await listed()
    await act("done", reason="Written off")
    assert not await listed()
    nobody = await biller.ask("/worklists", form={"do": "snooze-until", "reason": "Written off"})
    assert nobody.status_code == 400
    assert re.search(b"No claim is ticked.*Snooze until: choose", nobody.body)
    assert b'value="Written off"' in nobody.body
    async with sandbox.installation.database.read(SystemScope("a test")) as tx:
        rows = await tx.rows(AUDIT)
    done = [row for row in rows if row[0] == "claim.done"]
    assert number in done[-1][1]
    assert not any(sandbox.foreign in row[1] for row in rows if row[0].startswith("claim."))


async def test_a_site_may_leave_corrections_to_its_software(sandbox, biller):
    database = sandbox.installation.database
    number = await sandbox.send("3004")
    await sandbox.advance(2)
    await set_console_corrections(database, "A-1", allowed=False, actor=BY)
    await sandbox.installation.refresh()
    page = text_of(await biller.text(f"/claims/{number}"))
    assert "Claims of this site are corrected in your practice software, not here." in page
    assert "Correct box" not in page
    refused = await biller.ask(f"/claims/{number}/correct", form=birth("1980-05-05", do="send"))
    assert refused.status_code == 409
    await set_console_corrections(database, "A-1", allowed=True, actor=BY)
    await sandbox.installation.refresh()
    assert "Correct box" in await biller.text(f"/claims/{number}")


async def test_a_claim_of_another_site_cannot_be_corrected(sandbox, biller):
    path = f"/claims/{sandbox.foreign}/correct"
    assert (await biller.ask(path)).status_code == 404
    assert (await biller.ask(path, form=birth("1980-05-05", do="send"))).status_code == 404


async def audited(sandbox, action):
    async with sandbox.installation.database.read(SystemScope("a test")) as tx:
        return [row for row in await tx.rows(AUDIT) if row[0] == action]


async def test_a_correction_goes_another_way_only_with_a_reason(sandbox, biller):
    number = await sandbox.send("3017")
    await sandbox.advance(15)
    path, change = f"/claims/{number}/correct", {"f.F26_PatientAcctNumber": "A-77"}
    review = await biller.ask(path, form={**change, "do": "review", "way": "new"})
    assert "A person decided that it goes out as a new claim." in text_of(review)
    refused = await biller.ask(path, form={**change, "do": "send", "way": "new"})
    assert "Say why it goes another way." in text_of(refused)
    why = {"way": "new", "way-reason": "The payer asked for it"}
    sent = await biller.ask(path, form={**change, "do": "send", **why})
    new = re.search(r"/claims/(\w+)\?", sent.headers["location"])[1]
    assert "The payer asked for it" in text_of(await biller.text(f"/claims/{new}?show=notes"))
    [row] = [row for row in await audited(sandbox, "claim.way-chosen") if new in row[1]]
    assert row[2].startswith("new;")

    # What the payer never took in cannot be replaced.
    path = f"/claims/{sandbox.other}/correct"
    wanted = birth("1985-05-05", way="replacement")
    impossible = text_of(await biller.ask(path, form=wanted | {"do": "review"}))
    assert "It cannot go as a replacement" in impossible
    stopped = await biller.ask(path, form=wanted | {"do": "send", "way-reason": "x"})
    assert "It cannot go that way." in text_of(stopped)
    await biller.ask(path, form={"do": "discard"})


async def test_a_decided_claim_is_canceled_at_the_payer(sandbox, biller):
    number = await sandbox.send("3001")
    unsent = text_of(await biller.text(f"/claims/{number}"))
    assert "Cancel at the payer It was not sent yet." in unsent
    assert (await biller.ask(f"/claims/{number}/void")).status_code == 409
    await sandbox.advance(15)
    path = f"/claims/{number}/void"
    assert f'href="/console{path}' in await biller.text(f"/claims/{number}")
    shown = text_of(await biller.text(path))
    assert re.search(r"Cancellation of payer claim S\d+ \(frequency 8\)\.", shown)
    assert "Send the cancellation to Sandbox Medical" in shown
    assert "Say why it is canceled." in text_of(await biller.ask(path, form={"do": "send"}))
    sent = await biller.ask(path, form={"do": "send", "reason": "Billed for the wrong patient"})
    assert sent.headers["location"].endswith("done=void-sent&was=paid")
    new = re.search(r"/claims/(\w+)\?", sent.headers["location"])[1]
    assert (await biller.ask(path, form={"do": "send", "reason": "x"})).status_code == 409
    await sandbox.advance(15)
    page = text_of(await biller.text(f"/claims/{new}"))
    assert "Nothing due" in page
    assert "The payer canceled the earlier claim, as asked." in page
    assert "Box 22, Resubmission code (F22_MedicaidResubmissionCode):" in page
    assert "(F22_OriginalReferenceNumber) was set as the payer needs it for a correction." in page
    assert "Claims[" not in page
    assert re.search(r"service \w{3} \d+, \d{4}", page)
    assert "Cancel at the payer It is a cancellation itself." in page
    assert new not in await biller.text("/claims?tab=needs-you&group=0")
    money = text_of(await biller.text(f"/claims/{number}?show=money"))
    assert "Taken back" in money
    assert "Net paid 0.00" in money
    assert re.search(r"The payment was taken back \w{3} \d+\.", money)


async def test_a_refused_claim_is_sent_again_unchanged(sandbox, biller):
    number = await sandbox.send("3004")
    await sandbox.advance(2)
    shown = text_of(await biller.text(f"/claims/{number}/again"))
    assert "New claim: the payer never took the first one in." in shown
    looked = await biller.ask(f"/claims/{number}/again", form={"reason": "Enrolled now"})
    assert "Enrolled now" in text_of(looked)
    sent = await biller.ask(f"/claims/{number}/again", form={"do": "send"})
    new = re.search(r"/claims/(\w+)\?done=sent-again", sent.headers["location"])[1]
    assert f"Replaced by {new}" in text_of(await biller.text(f"/claims/{number}"))
    assert "It leaves with the next file." in text_of(await biller.text(f"/claims/{new}"))
    foreign = f"/claims/{sandbox.foreign}/again"
    assert (await biller.ask(foreign, form={"do": "send"})).status_code == 404
    # As refused as before; and out of the way of the tests below.
    corrected = {"f.F33A_BillingProviderNpi": GOOD_NPI, "do": "send"}
    assert (await biller.ask(f"/claims/{new}/correct", form=corrected)).status_code == 303


def test_texts_become_the_values_that_a_claim_takes():
    document = samples.document(ClaimKind.MEDICAL, day=date(2026, 3, 1), full=False)
    claim = restore(ClaimKind.MEDICAL, json.dumps(document["Claims"][0], default=str).encode())
    given = {
        "F33A_BillingProviderNpi": " 1598765432 ",
        "F21_DiagnosisCodes": "J029",
        "F24_ClaimLines[0].F24F_Charges": "99.00",
        "F24_ClaimLines[7].F24F_Charges": "1.00",
        "Svc_VendorClaimId": "OTHER",
        "NoSuchField": "x",
    }
    changes = changed_texts(claim, given)
    assert "Svc_VendorClaimId" not in changes
    assert "NoSuchField" not in changes
    fields = to_fields(claim, changes)
    assert fields["F33A_BillingProviderNpi"] == "1598765432"
    assert fields["F24_ClaimLines"][0]["F24F_Charges"] == "99.00"
    assert changed_texts(claim, {"F01A_InsuredId": f" {claim.F01A_InsuredId}"}) == {}
    assert is_billed("F24_ClaimLines[0].F24F_Charges")
    assert not is_billed("F33A_BillingProviderNpi")
