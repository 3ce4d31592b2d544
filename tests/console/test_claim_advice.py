"""The act that a claim asks for is the main button of its page, in the console of a sandbox.

Also tests `console/claims/advice_buttons` and `console/claims/outside_page`.
"""

import re
from html import unescape

import pytest

from clearlane.accounts.users import ConsoleRole
from tests.claims.answers import paid, payment
from tests.console.incoming_files import arrive
from tests.console.sandbox_console import open_sandbox_console
from tests.pipeline.test_post import inquired


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("sandbox")) as made:
        made.numbers = {each: await made.send(each) for each in ("3001", "3003", "3004")}
        await made.advance(15)
        yield made


@pytest.fixture(scope="module")
async def biller(sandbox):
    return await sandbox.person(ConsoleRole.BILLER)


def text_of(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


MAIN = re.compile(r'<a class="button main" href="/console([^"]+)">([^<]+)</a>')
LINES = ("SVC*HC:99213*100*{paid}**1", "DTM*472*20261001")


async def decide(sandbox, code, paid_amount, adjustment, *remarks):
    """Let a payer decide a claim by these segments; the claim's number."""
    number = await sandbox.send("3009")
    await sandbox.advance(1)
    lines = [LINES[0].format(paid=paid_amount), LINES[1], adjustment, *remarks]
    content = payment(
        paid(number, code, "100", paid_amount, *lines), amount=paid_amount, reference=f"E{number}"
    )
    await arrive(sandbox.installation, content, name=f"{number}.835")
    return number


@pytest.mark.safe_default(15)
async def test_the_main_button_is_the_advice(sandbox, biller):
    unprocessable = await decide(sandbox, "1", "0", "CAS*CO*16*100", "LQ*HE*N657", "LQ*HE*MA130")
    duplicate = await decide(sandbox, "1", "0", "CAS*OA*18*100")
    numbers = sandbox.numbers
    for number, title, path in (
        (numbers["3004"], "Correct and resubmit", "/correct"),
        (numbers["3003"], "Appeal", "/outside"),
        (unprocessable, "Send a new claim", "/correct"),
        (duplicate, "Find the first claim", "/search?q=3009"),
        (await decide(sandbox, "1", "0", "CAS*CO*22*100"), "Check the order of payers", "/outside"),
        (await decide(sandbox, "1", "80", "CAS*PR*2*20"), "Bill the patient", "/outside"),
        (await decide(sandbox, "1", "80", "CAS*PR*2*20", "LQ*HE*N782"), "Bill the next payer", "/next"),
        (await decide(sandbox, "19", "80", "CAS*PR*2*20"), "", ""),
        (numbers["3001"], "", ""),
    ):  # fmt: skip
        page = await biller.text(f"/claims/{number}")
        found = MAIN.search(page)
        assert (found[2] if found else "") == title, number
        assert not found or unescape(found[1]).endswith(path), number
        assert "Bill the patient" not in text_of(page) or title == "Bill the patient"
        if title == "Bill the patient":  # no part of the page says otherwise
            assert "PR-2 coinsurance 20.00" in text_of(page)
            assert "nothing to do" not in text_of(page)
    # Under "Do not send it a third time" nothing sends it: no button, and the addresses refuse with the sentence.
    page = await biller.text(f"/claims/{duplicate}")
    assert "Do not send it a third time" in text_of(page)
    assert f"/claims/{duplicate}/correct" not in page
    for path in ("correct", "again", "outside"):
        refused = await biller.ask(f"/claims/{duplicate}/{path}")
        assert refused.status_code == 409, path
    # What the payer could not process is no claim that could be replaced.
    change = {"f.F24_ClaimLines[0].F24D_HcpcsProcedureCode": "99214", "do": "review"}
    review = await biller.ask(f"/claims/{unprocessable}/correct", form=change)
    assert "New claim: the payer could not process the first one." in text_of(review.body.decode())


@pytest.mark.safe_default(15)
async def test_a_partly_paid_claim_is_replaced_as_its_button_says(sandbox, biller):
    """A new claim would bill what was paid once more; no part of the page says that nothing was denied."""
    remarks = ("CAS*CO*16*60", "LQ*HE*N657", "LQ*HE*MA130")
    number = await decide(sandbox, "1", "40", *remarks)
    page = await biller.text(f"/claims/{number}")
    assert MAIN.search(page)[2] == "Correct and resubmit"
    assert "send a replacement (frequency 7)" in text_of(page)
    assert "Nothing in it was refused or denied" not in text_of(page)
    change = {"f.F24_ClaimLines[0].F24D_HcpcsProcedureCode": "99214", "do": "review"}
    review = await biller.ask(f"/claims/{number}/correct", form=change)
    assert "Replacement of payer claim P1 (frequency 7)." in text_of(review.body.decode())


@pytest.mark.safe_default(15)
async def test_a_claim_that_waits_for_information_asks_for_it(sandbox, biller):
    for category, title in (("P3", "Send the records"), ("P4", "Ask the patient"), ("P1", "")):
        number = await sandbox.send("3009")
        await sandbox.advance(1)
        content = inquired(number, f"{category}:21*20261105", control=700 + int(category[1]))
        await arrive(sandbox.installation, content, name=f"{number}.277")
        found = MAIN.search(await biller.text(f"/claims/{number}"))
        assert (found[2] if found else "") == title, category


@pytest.mark.safe_default(15)
async def test_an_appeal_says_what_to_enclose_and_leaves_the_worklist(sandbox, biller):
    number = await decide(sandbox, "1", "0", "CAS*CO*50*100")
    listed = await biller.text("/claims?tab=needs_you&group=0")
    row = re.search(rf"<tr>(?:(?!</tr>).)*/claims/{number}.*?</tr>", listed, re.DOTALL)[0]
    assert "To do: Appeal" in text_of(row)
    page = text_of(await biller.text(f"/claims/{number}/outside"))
    assert "Enclose The records that show why the service was necessary" in page
    empty = await biller.ask(f"/claims/{number}/outside", form={"text": " "})
    assert b"Say what was done." in empty.body
    done = await biller.ask(f"/claims/{number}/outside", form={"text": "Faxed the records"})
    assert done.status_code == 303
    assert "Appeal: Faxed the records" in text_of(await biller.text(f"/claims/{number}?show=notes"))
    assert number not in await biller.text("/claims?tab=needs_you&group=0")
