"""Correct and resubmit, one claim and a whole cause; and the actions of a worklist.

Also tests `console/claims/correction_form`, `console/claims/fix_cause_page`, `console/claims/worklist_actions`,
`console/claims/pasted_column`, `console/claims/overtaken_correction`, `claims/forms/field_subjects`, `pipeline/intake/billed_change`, `console/claims/resend_page`, `console/claims/correction_ways`,
`pipeline/operator/draft_corrections`.
"""

import json
import re
from datetime import date, timedelta
from html import escape, unescape

import pytest
from sqlalchemy import select

from clearlane.accounts.users import ConsoleRole
from clearlane.claims.fields import fields_of, nested_parts
from clearlane.claims.forms import FORMS, UB04, V3_MEDICAL, samples, ub04_samples
from clearlane.claims.read.decode import restore
from clearlane.console.claims.claims_page import SNOOZE_DAYS_MAX
from clearlane.console.claims.correction_form import (
    changed_texts,
    correction_inputs,
    is_billed,
    to_fields,
)
from clearlane.pipeline.intake.submit_correction import submit_correction
from clearlane.pipeline.query.claim_filters import ClaimListRequest
from clearlane.pipeline.query.claim_list import list_claim_rows
from clearlane.store.accounts.accounts import SiteSwitch, set_site_switch
from clearlane.store.database.database import SystemScope
from clearlane.store.database.schema import audit, claim_drafts
from clearlane.store.database.sql import Statement
from tests.console.sandbox_console import open_sandbox_console
from tests.console.signed_in_console import BY

AUDIT = Statement(select(audit.c.action, audit.c.ids, audit.c.detail).order_by(audit.c.seq))
DRAFTS = Statement(select(claim_drafts.c.payload), system=True)
GOOD_NPI, OTHER_NPI = samples.npi(123_456_780), samples.npi(123_456_781)


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("sandbox")) as made:
        made.birth = await made.send("3016")
        made.other = await made.send("3016")
        made.births = [await made.send("3016") for _ in range(2)]
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
    assert "has been correcting this since" in page
    assert "disabled" in page
    stopped = await colleague.ask(path, form=birth("1984-04-04", do="send"))
    assert "has been correcting this since" in text_of(stopped)
    left = await biller.confirm(path, form={"do": "discard"})
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


@pytest.mark.safe_default(14)
async def test_what_was_billed_changes_only_with_a_reason_and_an_authority(sandbox, biller):
    path = f"/claims/{sandbox.denied}/correct"
    field = "f.F24_ClaimLines[0].F24D_HcpcsProcedureCode"
    review = text_of(await biller.ask(path, form={field: "99214", "do": "review"}))
    assert "changes what was billed" in review
    assert re.search(r"Replacement of payer claim S\d+ \(frequency 7\)\.", review)
    why, whose = {"reason": "Wrong visit code"}, {"authority": "Dr. Fern, by phone"}
    for given, sentence in (
        ({}, "Say why you are changing what was billed."),
        (whose, "Say why you are changing what was billed."),
        (why, "Say on whose authority you are changing what was billed."),
    ):
        refused = await biller.ask(path, form={field: "99214", "do": "send", **given})
        assert (refused.status_code, sentence in text_of(refused)) == (200, True), given
    sent = await biller.ask(path, form={field: "99214", "do": "send", **why, **whose})
    new = re.search(r"/claims/(\w+)\?", sent.headers["location"])[1]
    notes = text_of(await biller.text(f"/claims/{new}?show=notes"))
    assert "Wrong visit code On whose authority: Dr. Fern, by phone" in notes
    async with sandbox.installation.database.read(SystemScope("a test")) as tx:
        rows = await tx.rows(AUDIT)
    [change] = [row for row in rows if row[0] == "claim.billed_change"]
    assert new in change[1]
    assert "F24D_HcpcsProcedureCode" in change[2]
    assert not any("Wrong visit code" in row[2] or "Dr. Fern" in row[2] for row in rows)


async def fix_link(biller, field):
    """The address of the group whose field is named in its cause."""
    links = re.findall(r'href="/console(/worklists/fix\?[^"]+)"', await biller.text("/worklists"))
    [link] = [unescape(each) for each in links if field in each]
    return link


def hidden(page, name):
    page = page if isinstance(page, str) else page.body.decode()
    return unescape(re.search(rf'name="{name}" value="([^"]+)"', page)[1])


async def fix(biller, cause, **form):
    return await biller.ask("/worklists/fix", form={"cause": cause, "do": "check", **form})


@pytest.mark.safe_default(14)
async def test_nine_claims_of_one_cause_are_fixed_together(sandbox, biller):
    link = await fix_link(biller, "F33A_BillingProviderNpi")
    page = await biller.text(link)
    assert "9 claims" in text_of(page)
    assert " checked" not in page  # nothing is ticked beforehand
    assert "payer=TST01" in link
    other = await biller.ask(link.replace("payer=TST01", "payer=TST02"))
    assert other.status_code == 404
    assert sandbox.foreign not in page
    cause = hidden(page, "cause")
    assert "Tick the claims to correct." in text_of(await fix(biller, cause, value=GOOD_NPI))
    assert "Send 9" not in text_of(await fix(biller, cause, claim=sandbox.group, value="123"))
    chosen = {"claim": sandbox.group, "value": GOOD_NPI}
    ready = await fix(biller, cause, **chosen)
    assert "Send 9 corrections" in text_of(ready)
    # Nothing goes out that was not checked and shown as it is.
    unseen = await fix(biller, cause, do="send", **chosen)
    assert "corrections are kept" not in text_of(unseen)
    shown = hidden(ready, "checked")
    changed = await fix(biller, cause, do="send", checked=shown, **chosen | {"value": OTHER_NPI})
    assert "Something was changed after the check." in text_of(changed)
    sent = text_of(await fix(biller, cause, do="send", checked=shown, **chosen))
    assert "9 corrections are kept" in sent
    assert "box 33a" not in text_of(await biller.text("/worklists"))


@pytest.mark.safe_default(14)
async def test_a_fact_of_the_patient_gets_a_value_of_its_own_in_each_claim(sandbox, biller):
    one, two = sandbox.births
    page = await biller.text(await fix_link(biller, "F03_PatientDob"))
    text, cause = text_of(page), hidden(page, "cause")
    assert "Box 3: Patient's birth date" in text
    assert "the same value goes into: Box 11a: Insured's birth date." in text
    # One value for several patients is no value for any of them.
    single = text_of(await fix(biller, cause, claim=[one, two], value="1987-02-01"))
    assert "Ready" not in single
    assert "It was sent with this value already." in single
    assert re.search(rf'name="v.{one}" type="date" value="\d{{4}}-\d\d-\d\d"', page)
    # A pasted column carries claim numbers: nothing is matched by its place.
    vendors_id = re.search(rf"(TEST-\d+) · {two}", text)[1]
    pasted = f"{two}\t02/01/1987\nNOBODY\t1987-03-01\n{vendors_id}, 1987-04-01\n{one}; Mar 3, 1990"
    filled = await fix(biller, cause, do="paste", pasted=pasted)
    for line, sentence in ((1, "the claim is on several lines"), (2, "no claim of this list has")):
        assert f"Line {line}: {sentence}" in text_of(filled)
    no_day = await fix(biller, cause, do="paste", pasted=f"{two}\tas before")
    assert f"Line 1: the text after “{two}” is not a date" in text_of(no_day)
    assert " checked" not in no_day.body.decode()
    empty = text_of(await fix(biller, cause, claim=[two], **{f"v.{two}": ""}))
    assert "Give the right value." in empty
    assert re.findall(r'value="(\w+)" id="c\w+" checked', filled.body.decode()) == [one]
    assert f'name="v.{one}" type="date" value="1990-03-03"' in filled.body.decode()
    own = {f"v.{one}": "1990-03-03", f"v.{two}": "2999-01-01", "claim": [one, two]}
    ready = await fix(biller, cause, **own)
    assert "Send 1 correction" in text_of(ready)  # what fails stays in the list with its reason
    assert "Mar 3, 1990" in text_of(ready)
    sent = await fix(biller, cause, do="send", checked=hidden(ready, "checked"), **own)
    assert "1 correction is kept" in text_of(sent)
    assert re.search(rf'value="{two}" id="c{two}" checked', sent.body.decode())
    assert two in await biller.text("/worklists")


@pytest.mark.safe_default(14)
async def test_a_group_that_changes_what_was_billed_says_why_and_on_whose_authority(
    sandbox, biller
):
    numbers = [await sandbox.send("3017") for _ in range(2)]
    await sandbox.advance(15)
    page = await biller.text(await fix_link(biller, "F24D_HcpcsProcedureCode"))
    form = {"claim": numbers, **{f"v.{number}": "99214" for number in numbers}}
    ready = await fix(biller, hidden(page, "cause"), **form)
    form |= {"do": "send", "checked": hidden(ready, "checked"), "reason": "Wrong visit code"}
    refused = text_of(await fix(biller, hidden(page, "cause"), **form))
    assert "Say on whose authority you are changing what was billed." in refused
    assert "Sent as" not in refused
    sent = await fix(biller, hidden(page, "cause"), **form, authority="Dr. Fern")
    corrections = re.findall(r'href="/console/claims/(\w+)"', sent.body.decode())
    assert len(set(corrections)) == 2
    for number in corrections:
        assert "Dr. Fern" in await biller.text(f"/claims/{number}?show=notes")


@pytest.mark.safe_default(14)
async def test_what_a_correction_does_not_answer_is_not_fixed_in_a_group(sandbox, biller):
    for scenario in ("3010", "3003"):
        await sandbox.send(scenario)
    await sandbox.advance(15)
    worklist = await biller.text("/worklists")
    for cause, sentence in (
        ("835 OA-18 F24A_DateOfServiceFrom", "Do not send it a third time"),
        ("835 CO-50 F21_DiagnosisCodes", "Appeal with records that show the need"),
    ):
        assert cause.replace(" ", "+") not in worklist
        refused = await biller.ask(f"/worklists/fix?payer=TST01&cause={cause.replace(' ', '+')}")
        assert (refused.status_code, sentence in text_of(refused)) == (409, True), cause
        assert (await fix(biller, cause, value="2026-01-01", do="send")).status_code == 409


async def test_ticked_claims_are_assigned_put_aside_and_done(sandbox, biller):
    number = sandbox.other

    async def act(do, at="/worklists", **more):
        return await biller.ask(at, form={"claim": [number, sandbox.foreign], "do": do, **more})

    async def listed(query=""):
        return number in await biller.text(f"/claims?tab=needs_you&group=0{query}")

    async def listed_for_programs():
        wanted = ClaimListRequest(given={"tab": "needs_you"}, limit=50)
        scope, context = sandbox.site("A-1").scope, sandbox.installation.work_context
        rows = await list_claim_rows(context, [scope], wanted, actor=BY)
        return number in [row.number for row in rows]

    assert await listed()
    assert await listed_for_programs()
    assert not await listed("&mine=1")
    assert (await act("assign")).headers["location"] == "/console/worklists?done=assign"
    assert "are assigned to you." in await biller.text("/worklists?done=assign")
    assert await listed("&mine=1")
    await act("snooze-7")
    assert not await listed()
    assert not await listed_for_programs()
    # Undo takes back what the button did, once, and leaves who works on it.
    for do in ("snooze-30", "done"):
        address = (await act(do, reason="A typing mistake")).headers["location"]
        address = address.removeprefix("/console")
        assert not await listed()
        [undo_at] = re.findall(r'name="undo-at" value="(\d+)"', await biller.text(address))
        other = await sandbox.person(ConsoleRole.BILLER, "B-1")
        form = {"do": "undo", "undo-at": undo_at}
        elsewhere = await other.ask("/worklists", form=form)
        assert elsewhere.headers["location"].endswith("?done=not-undone"), "of another site"
        taken = await act("undo", address, **{"undo-at": undo_at})
        assert taken.headers["location"] == "/console/worklists?done=undo"
        assert "on the worklist again" in await biller.text("/worklists?done=undo")
        assert await listed()
        assert await listed("&mine=1")
        again = await act("undo", address, **{"undo-at": undo_at})
        assert again.headers["location"] == "/console/worklists?done=not-undone"
        assert (await act("undo", **{"undo-at": "x"})).headers["location"].endswith("not-undone")
    await act("snooze-7")
    assert not await listed()
    await sandbox.advance(8)
    assert await listed()
    assert await listed_for_programs()
    # A form that is refused keeps the address, the ticks and what was typed, and names its field.
    today = sandbox.installation.clock.now().date()
    far = today + timedelta(days=SNOOZE_DAYS_MAX + 2)
    for address in ("/worklists?done=assign", "/claims?tab=needs_you&group=0"):
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
            assert re.findall(r'value="(\w+)" data-cents="\d+" checked', page) == [number], address
            at_fault = rf'name="{field}"[^>]+value="{value.strip()}"[^>]+"work-fault" autofocus'
            assert re.search(at_fault, page), (address, value)
            here = escape(address.removesuffix("?done=assign"))
            assert f'<form method="post" action="/console{here}">' in page
            assert "are assigned to you" not in page
    assert await listed()
    day = (today + timedelta(days=3)).isoformat()
    done = await act("snooze-until", "/claims?tab=needs_you&group=0", until=day)
    location = r"/console/claims\?tab=needs_you&group=0&done=snooze-until&undo-at=\d+"
    assert re.fullmatch(location, done.headers["location"])
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
    taken_up = [row[1] for row in rows if row[0] == "claim.taken_up"]
    assert (len(taken_up), all(number in ids for ids in taken_up)) == (2, True)
    assert not any(sandbox.foreign in row[1] for row in rows if row[0].startswith("claim."))


async def test_all_claims_that_fit_the_filter_are_asked_about_and_then_worked_on(sandbox, biller):
    sent = {await sandbox.send("3004") for _ in range(3)}
    await sandbox.advance(2)
    foreign = await sandbox.send("3004", site="B-1")
    path = "/claims?tab=rejected&amount_from=1&group=0"
    page = await biller.text(path)
    count, cents = re.search(r'data-every-count="(\d+)" data-every-cents="(\d+)"', page).groups()
    form = {"do": "assign", "every": "1", "claim": [foreign]}
    asked = await biller.ask(path, form=form)
    words = f"Assign to me: {count} claims, ${int(cents) / 100:,.2f}?"
    assert (asked.status_code, words in asked.body.decode()) == (200, True)
    assert not sent & await listed_as_mine(biller)
    # Without a reason nothing is asked; the form comes back as it was.
    again = await biller.ask(path, form=form | {"do": "done", "reason": " "})
    assert (again.status_code, b'name="every" value="1" checked' in again.body) == (400, True)
    done = await biller.confirm(path, form)
    assert done.headers["location"].endswith("done=assign")
    mine = await listed_as_mine(biller)
    assert (sent <= mine, len(mine) >= int(count), foreign in mine) == (True, True, False)
    await biller.confirm(path, form | {"do": "release"})
    assert not sent & await listed_as_mine(biller)


async def listed_as_mine(biller):
    page = await biller.text("/claims?tab=needs_you&group=0&mine=1")
    return set(re.findall(r'name="claim" value="(\w+)"', page))


async def test_a_site_may_leave_corrections_to_its_software(sandbox, biller):
    database, now = sandbox.installation.database, sandbox.installation.clock.now()
    number = await sandbox.send("3004")
    await sandbox.advance(2)
    await set_site_switch(database, "A-1", SiteSwitch.CORRECTIONS, on=False, now=now, actor=BY)
    await sandbox.installation.refresh()
    page = text_of(await biller.text(f"/claims/{number}"))
    assert "Claims of this site are corrected in your practice software, not here." in page
    assert "Correct box" not in page
    refused = await biller.ask(f"/claims/{number}/correct", form=birth("1980-05-05", do="send"))
    assert refused.status_code == 409
    await set_site_switch(database, "A-1", SiteSwitch.CORRECTIONS, on=True, now=now, actor=BY)
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
    assert "Say why you send it another way." in text_of(refused)
    why = {"way": "new", "way-reason": "The payer asked for it"}
    sent = await biller.ask(path, form={**change, "do": "send", **why})
    new = re.search(r"/claims/(\w+)\?", sent.headers["location"])[1]
    assert "The payer asked for it" in text_of(await biller.text(f"/claims/{new}?show=notes"))
    [row] = [row for row in await audited(sandbox, "claim.way_chosen") if new in row[1]]
    assert row[2].startswith("new;")

    # What the payer never took in cannot be replaced.
    path = f"/claims/{sandbox.other}/correct"
    wanted = birth("1985-05-05", way="replacement")
    impossible = text_of(await biller.ask(path, form=wanted | {"do": "review"}))
    assert "It cannot go as a replacement" in impossible
    stopped = await biller.ask(path, form=wanted | {"do": "send", "way-reason": "x"})
    assert "It cannot go that way." in text_of(stopped)
    await biller.ask(path, form={"do": "discard"})


@pytest.mark.safe_default(4)
@pytest.mark.safe_default(12)
async def test_a_decided_claim_is_canceled_at_the_payer(sandbox, biller):
    number = await sandbox.send("3001")
    unsent = text_of(await biller.text(f"/claims/{number}"))
    assert "Cancel at the payer It was not sent yet: cancel it before it is sent instead." in unsent
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
    refused = await biller.ask(f"/claims/{new}/correct")
    assert refused.status_code == 409
    assert "The claim is a void" in text_of(refused)
    await sandbox.advance(15)
    page = text_of(await biller.text(f"/claims/{new}"))
    assert "Voided by" in page
    assert "What to do Nothing" in page or "Nothing: it is a void" in page
    assert "ppeal" not in page
    before = text_of(await biller.text(f"/claims/{number}"))
    assert "Voided by" in before
    for tab in ("needs_you", "denied", "paid"):
        listed = await biller.text(f"/claims?tab={tab}&group=0")
        assert new not in listed
        assert number not in listed
    assert "The payer canceled the earlier claim, as asked." in page
    assert "Box 22, Resubmission code (F22_MedicaidResubmissionCode):" in page
    assert "(F22_OriginalReferenceNumber) was set as the payer needs it for a correction." in page
    assert "Claims[" not in page
    assert re.search(r"service \w{3} \d+, \d{4}", page)
    assert "Cancel at the payer It is a cancellation itself." in page
    money = text_of(await biller.text(f"/claims/{number}?show=money"))
    assert "Taken back" in money
    assert "Net paid 0.00" in money
    assert "The payer canceled it, as asked." in money


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
    document = samples.document(V3_MEDICAL, day=date(2026, 3, 1), full=False)
    claim = restore(V3_MEDICAL, json.dumps(document["Claims"][0], default=str).encode())
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


def test_codes_of_a_ub04_are_corrected_added_and_taken_away_one_by_one():
    claim = restore(UB04, json.dumps(ub04_samples.bill("111", date(2026, 3, 1))).encode())
    said = {"FL67_Diagnoses": "Not necessary.", "FL39_ValueCodes[].FL39_Amount": "Too many."}
    inputs = {one.path: one for one in correction_inputs(claim, {}, said)}
    assert [path for path, one in inputs.items() if one.sentence] == [
        "FL39_ValueCodes[0].FL39_Amount",
        "FL67_Diagnoses[0].FL67_Code",
    ]
    assert inputs["FL67_Diagnoses[1].FL67_Code"].title == "Box 67: Diagnosis (2)"
    given = {
        "FL67_Diagnoses[0].FL67_Code": "J15.9",
        "FL67_Diagnoses[1].FL67_Code": "",
        "FL67_Diagnoses[1].FL67_PresentOnAdmission": "",
        "FL39_ValueCodes[1].FL39_Code": "81",
        "FL39_ValueCodes[1].FL39_Amount": "0",
        "FL39_ValueCodes[2].FL39_Code": "82",
        "FL39_ValueCodes[90].FL39_Code": "83",
    }
    changes = changed_texts(claim, given)
    assert given.keys() - changes.keys() == {"FL39_ValueCodes[90].FL39_Code"}
    fields = to_fields(claim, changes)
    assert [one["FL67_Code"] for one in fields["FL67_Diagnoses"]] == ["J15.9", "E11.9"]
    assert fields["FL39_ValueCodes"][1:] == [
        {"FL39_Code": "81", "FL39_Amount": "0"},
        {"FL39_Code": "82"},
    ]
    assert fields.keys() == {"FL67_Diagnoses", "FL39_ValueCodes"}


@pytest.mark.safe_default(14)
def test_diagnoses_procedures_modifiers_days_and_amounts_say_what_was_billed():
    for path in (
        "F21_DiagnosisCodes", "F34a_DiagnosisCode", "F24_ClaimLines[0].F24D_HcpcsProcedureCode",
        "F24_ClaimLines[0].F24D_Modifiers", "F24_ClaimLines[1].F24A_DateOfServiceFrom", "X12_ServiceDate",
        "LineItems[0].F31_LineFee", "LineItems[0].Teeth[0].F27_Tooth", "F28_TotalCharge", "F29_PatientAmountPaid", "LineItems[0].F29b_Quantity",
    ):  # fmt: skip
        assert is_billed(path), path
    for path in (
        "F03_PatientDob",
        "F23_PriorAuthorizationNumber",
        "F01A_InsuredId",
        "F15_AccidentDate",
    ):
        assert not is_billed(path), path


def test_every_prefix_of_a_subject_begins_the_name_of_a_field():
    from clearlane.claims.forms import field_subjects

    parts = [
        part
        for form in FORMS.values()
        for part in (form.claim, form.line, *nested_parts(form.line).values())
    ]
    names = {name for part in parts for name in fields_of(part)}
    prefixes = [
        *field_subjects.BILLED_PREFIXES,
        *(p for all in field_subjects.SUBJECT_PREFIXES.values() for p in all),
    ]
    # Those of places in a file begin with the number of a loop.
    of_fields = [one for one in prefixes if not one[0].isdigit()]
    assert [one for one in of_fields if not any(name.startswith(one) for name in names)] == []
    shared = {name for name in names if field_subjects.is_shared(name)}
    assert not [name for name in shared if field_subjects.is_billed(name)]
    assert not [
        name for name in shared if re.search("Patient|Insured|Diagnos|Authoriz|Referr", name)
    ]
