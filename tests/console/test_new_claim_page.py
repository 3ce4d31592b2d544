"""A claim written by hand: its draft, what earlier claims fill in, the check, the review, and that it is sent once.

Also tests `console/new_claim/new_claim_form`, `pipeline/operator/draft_claims`, `pipeline/operator/remembered_claims` and
`store/claims/claim_drafts`.
"""

import asyncio
import json
import re
from datetime import timedelta
from html import unescape

import pytest
from sqlalchemy import select

from clearlane.accounts.users import ConsoleRole
from clearlane.claims.forms import FORMS, UB04, V3_DENTAL, V3_MEDICAL, samples
from clearlane.claims.read.decode import restore
from clearlane.console.claims.correction_form import correction_inputs
from clearlane.console.new_claim import new_claim_page
from clearlane.console.new_claim.new_claim_form import LINES_MAX, USUAL, count_lines, read_texts
from clearlane.pipeline.load_claim import load_claim_in_scope
from clearlane.pipeline.operator import draft_claims
from clearlane.pipeline.operator.draft_claims import find_sent_claim
from clearlane.pipeline.operator.draft_corrections import DRAFT_DAYS_MAX
from clearlane.pipeline.operator.remembered_claims import BILLING, PATIENT, values_at
from clearlane.store.accounts.accounts import SiteSwitch, set_site_switch
from clearlane.store.database.database import SystemScope
from clearlane.store.database.schema import audit, claim_drafts
from clearlane.store.database.sql import Statement
from tests.console.sandbox_console import open_sandbox_console
from tests.console.signed_in_console import BY

pytestmark = [pytest.mark.one_database]
AUDIT = Statement(select(audit.c.action, audit.c.ids, audit.c.detail).order_by(audit.c.seq))
DRAFTS = Statement(select(claim_drafts.c.payload), system=True)
PAID = "3001"


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("sandbox")) as made:
        made.earlier = await made.send(PAID)
        made.foreign = await made.send("3003", site="B-1")
        yield made


@pytest.fixture(scope="module")
async def biller(sandbox):
    return await sandbox.person(ConsoleRole.BILLER)


def text_of(answer):
    page = answer if isinstance(answer, str) else answer.body.decode()
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


async def begin(person, form="v3_medical"):
    """Begin a claim; return the address of its draft."""
    answer = await person.ask("/claims/new", form={"on": form})
    assert answer.status_code == 303, text_of(answer)
    return answer.headers["location"].removeprefix("/console")


def typed(sandbox, form=V3_MEDICAL, member=PAID):
    """What a person types for a claim: the texts of a sample, by the names of the inputs."""
    day = sandbox.installation.clock.now().date() - timedelta(days=3)
    document = samples.document(form, day=day, insured_id=member)
    [content] = document["Claims"]
    claim = restore(form, json.dumps(content, default=str).encode())
    inputs = correction_inputs(claim, {}, {}, with_payer=True)
    return {one.name: one.sent for one in inputs if one.sent}


async def drafts_of(sandbox):
    async with sandbox.installation.database.read(SystemScope("a test")) as tx:
        return [bytes(payload) for (payload,) in await tx.rows(DRAFTS)]


async def audited(sandbox):
    async with sandbox.installation.database.read(SystemScope("a test")) as tx:
        return await tx.rows(AUDIT)


@pytest.mark.parametrize("form", FORMS.values(), ids=str)
async def test_a_claim_is_written_reviewed_and_sent(sandbox, biller, form):
    path = await begin(biller, form.name)
    draft_id = path.rpartition("/")[2]
    # Nothing is filled in, and no choice is made, before a person does.
    page = (await biller.text(path)).partition('id="new-claim"')[2]
    assert not re.findall(r'name="f\.[^>]* value="[^"]', page)
    assert not re.findall(r'<option value="[^"]+" selected', page)
    given = typed(sandbox, form)
    review = text_of(await biller.ask(path, form={**given, "do": "review"}))
    assert "Send to Sandbox" in review, review
    sent = await biller.ask(path, form={**given, "do": "send"})
    assert sent.status_code == 303, text_of(sent)
    number = re.search(r"/claims/(\w+)\?done=created", sent.headers["location"])[1]
    landed = text_of(await biller.text(f"/claims/{number}?done=created"))
    assert "The claim is accepted and leaves with the next file." in landed
    assert f"Your id {draft_id}" in landed
    # The draft is gone, and its address leads to the claim.
    again = await biller.ask(path)
    assert again.headers["location"] == f"/console/claims/{number}?done=created"


async def test_what_is_missing_is_said_at_its_box_once_the_claim_is_reviewed(sandbox, biller):
    path, given = await begin(biller), typed(sandbox)
    del given["f.F03_PatientSex"]
    checked = await biller.ask(path, form={**given, "do": "check"})
    assert "1 thing to fix" in text_of(checked)
    assert "Required." not in text_of(checked)
    # It is counted, so it is named, with a link to its box.
    assert re.search(
        r'left to fix</summary><p><a href="#F03_PatientSex">[^<]+</a></p>', checked.body.decode()
    )
    reviewed = await biller.ask(path, form={**given, "do": "review"})
    assert "Required." in text_of(reviewed)
    assert "Send to" not in text_of(reviewed)
    sent = await biller.ask(path, form={**given, "do": "send"})
    assert (sent.status_code, "1 thing to fix" in text_of(sent)) == (200, True)
    # A rule is the one that the interface applies, at the box and line as they are typed: the first line is empty.
    given |= {"f.F03_PatientSex": "F", "f.F33A_BillingProviderNpi": "1234567890"}
    moved = {name.replace("[0]", "[1]"): text for name, text in given.items()}
    moved["f.F24_ClaimLines[1].F24E_DiagnosisPointers"] = "D"
    page = (await biller.ask(path, form={**moved, "lines": "2", "do": "check"})).body.decode()
    for name in ("F33A_BillingProviderNpi", "F24_ClaimLines[1].F24E_DiagnosisPointers"):
        [finding] = re.findall(rf'id="{re.escape(name)}-finding"([^<]*)<', page)
        assert "hidden" not in finding, name
    assert '"F24_ClaimLines[0].F24E_DiagnosisPointers-finding" data-finding hidden' in page


async def test_a_claim_that_is_sent_twice_is_one_claim(sandbox, biller):
    path, given = await begin(biller), typed(sandbox)
    twice = [biller.ask(path, form={**given, "do": "send"}) for _ in range(2)]
    answers = await asyncio.gather(*twice)
    assert {one.status_code for one in answers} == {303}
    numbers = {re.search(r"/claims/(\w+)\?", one.headers["location"])[1] for one in answers}
    # Who goes back, changes it and presses the button again sees the claim; nothing else is sent.
    changed = {**given, "f.F28_TotalCharge": "120.00", "do": "send"}
    back = await biller.ask(path, form=changed)
    [number] = numbers | {re.search(r"/claims/(\w+)\?", back.headers["location"])[1]}
    context, site = sandbox.installation.work_context, sandbox.site("A-1")
    assert await find_sent_claim(context, site, path.rpartition("/")[2]) == number


async def test_a_draft_is_sealed_listed_resumed_and_discarded(sandbox, biller):
    path = await begin(biller)
    draft_id = path.rpartition("/")[2]
    name = "<script>alert(1)</script>"
    await biller.ask(path, form={"f.F02_PatientNameLast": name, "do": "check"})
    assert not any(b"script" in payload for payload in await drafts_of(sandbox))
    for page in (await biller.text("/claims/new"), await biller.text(path)):
        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert" not in page
    looks = {row[0] for row in await audited(sandbox) if draft_id in row[1]}
    assert {"claim.draft", "claim.draft_read"} <= looks
    # A colleague reads it, and writes once it has not changed for a while.
    colleague = await sandbox.person(ConsoleRole.BILLER)
    busy = await colleague.ask(path, form={"f.F02_PatientNameLast": "Lund", "do": "send"})
    assert "has been writing this since" in text_of(busy)
    assert "disabled" in busy.body.decode()
    assert "&lt;script&gt;" in busy.body.decode()
    left = await biller.confirm(path, {"do": "discard"})
    assert left.headers["location"].endswith("/claims/new")
    assert draft_id not in await biller.text("/claims/new")
    gone = await biller.ask(path)
    assert (gone.status_code, "There is no such draft" in text_of(gone)) == (404, True)
    # What was still on its way when the draft went does not bring it back.
    assert (await biller.ask(path, form={"do": "check"})).status_code == 404


async def test_drafts_are_forgotten_as_those_of_corrections(sandbox, biller):
    path = await begin(biller)
    old, new = path.rpartition("/")[2], sandbox.installation.wall.now()
    context, site = sandbox.installation.work_context, sandbox.site("A-1")
    later = new + timedelta(days=DRAFT_DAYS_MAX, minutes=1)
    listed = await draft_claims.list_new_claims(context, site, actor=BY, now=later)
    assert listed == []
    await draft_claims.begin_claim(context, site, V3_DENTAL, actor=BY, now=later)
    assert await draft_claims.load_new_claim(context, site, old, actor=BY) is None


async def test_payer_provider_and_patient_are_filled_in_by_choosing(sandbox, biller):
    path = await begin(biller)
    found = await biller.ask(path, form={"do": "find-payer", "find-payer": "sandbox medical"})
    assert 'value="payer:TST01"' in found.body.decode()
    fragment = await biller.text("/claims/new/v3_medical/payers?q=sandbox")
    assert 'value="payer:TST01"' in fragment
    assert "<html" not in fragment
    assert (await biller.ask("/claims/new/nothing/payers")).status_code == 404

    page = (await biller.ask(path, form={"do": "payer:TST01"})).body.decode()
    assert value_of(page, "Svc_PayerId") == "TST01"
    assert value_of(page, "F00_PayerName") == "Sandbox Medical"
    page = (await biller.ask(path, form={"do": "find-provider"})).body.decode()
    assert 'value="provider:' in page
    form = {"do": "find-provider", "find-provider": "fernhill"}
    page = (await biller.ask(path, form=form)).body.decode()
    choice = re.search(r'value="(provider:\w+)"', page)[1]
    page = (await biller.ask(path, form={"do": choice})).body.decode()
    assert value_of(page, "F33_BillingProviderNameLast") == "FERNHILL FAMILY PRACTICE"
    assert value_of(page, "F25_FederalTaxIdEin") == "123456789"
    assert value_of(page, "F02_PatientNameLast") == ""

    for text in ("Arden", PAID):
        page = (
            await biller.ask(path, form={"do": "find-patient", "find-patient": text})
        ).body.decode()
        assert f"member {PAID} · Sandbox Medical" in page, text
    nothing = await biller.ask(path, form={"do": "find-patient", "find-patient": "Nemo<b>"})
    assert "Nothing was found for “Nemo&lt;b&gt;”" in nothing.body.decode()
    choice = re.search(r'value="(patient:\w+)"', page)[1]
    page = (
        await biller.ask(path, form={"f.F02_PatientNameMiddle": "Q", "do": choice})
    ).body.decode()
    assert value_of(page, "F02_PatientNameLast") == "ARDEN"
    assert value_of(page, "F01A_InsuredId") == PAID
    assert value_of(page, "Svc_PayerId") == "TST01"
    # Of an earlier choice nothing is left, and nothing that is stated for each service is filled in.
    assert value_of(page, "F02_PatientNameMiddle") == ""
    assert value_of(page, "F12_PatientAuthorization") == ""
    assert "console.new_claim" in {row[0] for row in await audited(sandbox)}
    # A payer that was chosen before stays.
    page = (await biller.ask(path, form={"f.Svc_PayerId": "OTHER", "do": choice})).body.decode()
    assert value_of(page, "Svc_PayerId") == "OTHER"


def value_of(page, field):
    """The text of an input, or the value of the chosen option."""
    chosen = re.search(rf'<select id="{field}"(?:(?!</select>).)*?value="([^"]*)" selected', page)
    plain = re.search(rf'<input id="{field}"[^>]* value="([^"]*)"', page)
    return chosen[1] if chosen else plain[1] if plain else ""


async def test_a_claim_of_any_form_fills_a_claim_of_any_other(sandbox):
    day = sandbox.installation.clock.now().date()
    for form in FORMS.values():
        content = samples.document(form, day=day, full=True)["Claims"][0]
        claim = restore(form, json.dumps(content, default=str).encode())
        values = values_at(claim, (*BILLING, *PATIENT))
        assert {"billing.npi", "subscriber.member_id"} <= values.keys()
        for other in FORMS.values():
            texts = new_claim_page._texts_of(other, values)
            filled = read_texts(other, texts, 1)
            assert filled.texts[other.locate("billing.npi")] == samples.BILLING_NPI
            assert filled.texts[other.locate("subscriber.last_name")] == "Arden"


async def test_what_is_of_others_is_not_there(sandbox, biller):
    path = await begin(biller)
    stranger = await sandbox.person(ConsoleRole.BILLER, site="B-1")
    for form in (None, {"do": "check"}, {"do": "send"}):
        answer = await stranger.ask(path, form=form)
        assert (answer.status_code, "no such site" in text_of(answer)) == (404, True)
    own = f"/claims/new/{sandbox.site('B-1').id}/{path.rpartition('/')[2]}"
    assert (await stranger.ask(own)).status_code == 404
    # Another site's claim fills in nothing, and its patient is not found.
    taken = await biller.ask(path, form={"do": f"patient:{sandbox.foreign}"})
    assert (taken.status_code, "There is no such claim of this site." in text_of(taken)) == (
        404,
        True,
    )
    found = await biller.ask(path, form={"do": "find-patient", "find-patient": "3003"})
    assert "Nothing was found" in text_of(found)
    for odd in ("patient:", "nothing:X", "provider:", "payer:NOBODY"):
        assert (await biller.ask(path, form={"do": odd})).status_code == 200, odd
    viewer = await sandbox.person(ConsoleRole.VIEWER)
    assert (await viewer.ask(path)).status_code == 403
    assert "New claim" not in text_of(await viewer.text("/claims"))
    assert (await biller.ask(path, form={"do": "send"}, token="0" * 64)).status_code == 403


async def test_an_operator_names_the_site_and_a_site_may_leave_it_to_its_software(sandbox):
    operator = await sandbox.person(ConsoleRole.OPERATOR)
    unnamed = await operator.ask("/claims/new", form={"on": "v3_medical"})
    assert (unnamed.status_code, "Choose the site" in text_of(unnamed)) == (400, True)
    site = sandbox.site("A-2")
    odd = await operator.ask("/claims/new", form={"on": "paper", "of": str(site.id)})
    assert (odd.status_code, "Choose the kind" in text_of(odd)) == (400, True)
    begun = await operator.ask("/claims/new", form={"on": "v3_dental", "of": str(site.id)})
    path = begun.headers["location"].removeprefix("/console")
    assert "Larkspur Dental" in text_of(await operator.text(path))
    installation = sandbox.installation
    await set_site_switch(
        installation.database, "A-2", SiteSwitch.CORRECTIONS, on=False,
        now=installation.clock.now(), actor=BY,
    )  # fmt: skip
    await installation.refresh()
    for answer in (
        await operator.ask(path),
        await operator.ask("/claims/new", form={"on": "v3_dental", "of": str(site.id)}),
    ):
        assert answer.status_code in {400, 409}
        assert "written in your practice software, not here" in text_of(answer)


async def test_lines_teeth_and_codes_are_added(sandbox, biller):
    path = await begin(biller, "v3_dental")
    page = (await biller.ask(path, form={"lines": "1", "do": "line"})).body.decode()
    assert 'name="lines" value="2"' in page
    given = typed(sandbox, V3_DENTAL)
    teeth = {
        "f.LineItems[0].Teeth[0].F27_Tooth": "30",
        "f.LineItems[0].Teeth[0].F28_ToothSurface": "M O",
        "f.LineItems[0].Teeth[1].F27_Tooth": "31",
        "f.LineItems[0].F29_ProcedureCode": "D2392",
    }
    page = (await biller.ask(path, form={**given, **teeth, "do": "check"})).body.decode()
    assert value_of(page, r"LineItems\[0\]\.Teeth\[1\]\.F27_Tooth") == "31"
    assert 'id="LineItems[0].Teeth[2].F27_Tooth"' in page  # one more to add
    sent = await biller.ask(path, form={**given, **teeth, "do": "send"})
    number = re.search(r"/claims/(\w+)\?", sent.headers["location"])[1]
    installation = sandbox.installation
    loaded = await load_claim_in_scope(
        installation.database, installation.vault, sandbox.site("A-1").scope, number, actor=BY
    )
    [line] = loaded.claim.LineItems
    assert [(one.F27_Tooth, one.F28_ToothSurface) for one in line.Teeth] == [
        ("30", ("M", "O")), ("31", None),
    ]  # fmt: skip


def test_the_form_has_a_limit_of_lines_and_of_items():
    form = V3_MEDICAL
    assert count_lines(form, {}, 999) == LINES_MAX
    assert count_lines(form, {"F24_ClaimLines[7].F24F_Charges": "1", "Other[9].X": "1"}) == 8
    many = {f"FL67_Diagnoses[{at}].FL67_Code": "A00" for at in (0, 900)}
    assert len(read_texts(UB04, many, 1).texts) == 1
    assert read_texts(UB04, {f"FL67_Diagnoses[{'9' * 5_000}].FL67_Code": "A00"}, 1).texts == {}


def test_the_inputs_that_are_open_from_the_start_are_those_of_some_form():
    known = set()
    for form in FORMS.values():
        known |= {*form.view_table.paths.values()}
        known |= {f"lines[].{path}" for path in form.line_view_table.paths.values()}
    assert known >= USUAL
