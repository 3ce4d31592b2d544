"""Eligibility in the console: payers found while one types, a question and its sheet, and earlier answers.

Also tests `pipeline/inquiry/eligibility_list`, `pipeline/inquiry/benefits_file`, `pipeline/provider_looks` and
`store/database/schema/inquiry_tables`.
"""

import io
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pypdf
import pytest
from sqlalchemy import select

from clearlane.accounts.users import ConsoleRole
from clearlane.pipeline.provider_looks import ProviderLooks
from clearlane.store.database.database import SystemScope
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement
from clearlane.wiring.node import make_inquiry_runner
from tests.console.sandbox_console import open_sandbox_console

LOOKS = Statement(
    select(audit.c.actor, audit.c.ids)
    .where(audit.c.detail.startswith("billing provider for a new claim"))
    .order_by(audit.c.seq)
)
QUESTION = {
    "payer": "sandbox medical", "chosen": "TST01", "provider": "Fernhill Family Practice", "npi": "1234567893",
    "member": "XJ-4471", "last": "Arden", "first": "Ruth", "birth": "1986-11-22",
}  # fmt: skip


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    """A sandbox whose process asks payers, as a node does."""
    async with open_sandbox_console(tmp_path_factory.mktemp("eligibility")) as made:
        runner = make_inquiry_runner(made.installation)
        use_runner(made.installation, runner)
        yield made
        await runner.stop()


def use_runner(installation, runner):
    """The verbs' context is made anew with another runner, or without one."""
    installation.node_parts.inquiry_runner = runner
    installation.__dict__.pop("work_context", None)


@pytest.fixture(scope="module")
async def biller(sandbox):
    return await sandbox.person(ConsoleRole.BILLER)


def text_of(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


async def test_payers_are_found_while_one_types_and_by_a_button(sandbox, biller):
    for text, fits in (("sandbox med", True), ("snadbox medical", True), ("tst01", True), ("zzz", False)):  # fmt: skip
        fragment = await biller.text(f"/eligibility/payers?q={text.replace(' ', '+')}")
        assert ('value="TST01"' in fragment) is fits, text
        assert "<html" not in fragment
    assert "No payer that answers inquiries matches “zzz”" in fragment
    assert "&lt;b&gt;" in await biller.text("/eligibility/payers?q=%3Cb%3Ezz")
    # One that fits alone is chosen.
    assert 'value="TST01" checked' in await biller.text("/eligibility/payers?q=TST01")
    # Without a script the same form finds them, and keeps what was typed.
    answer = await biller.ask("/eligibility/payers", form=QUESTION | {"chosen": ""})
    page = answer.body.decode()
    assert 'value="TST01"' in page
    assert 'value="XJ-4471"' in page


async def test_a_question_is_answered_by_a_sheet_with_earlier_answers_of_the_patient(
    sandbox, biller
):
    assert "No inquiries yet" in await biller.text("/eligibility")
    asked = []
    for changes in ({}, {"last": "arden", "member": "XJ-4472"}, {"last": "Byrne"}):
        answer = await biller.ask("/eligibility/ask", form=QUESTION | changes)
        assert answer.status_code == 303, text_of(answer.body.decode())
        asked.append(answer.headers["location"].removeprefix("/console"))
    first, second, other = [text_of(await biller.text(path)) for path in asked]
    for words in (
        "SANDBOX MEDICAL", "Active Member ID XJ-4471", "Plan FERNLEAF", "Group ", "Covered ", "Primary care ",
        "Copay Physician visit, office: ", "Deductible, individual, in network ", " left ", "Coinsurance",
    ):  # fmt: skip
        assert words in first, words
    # Who may read the sheet has the payer's own file too.
    file = await biller.ask(f"{asked[0]}/x12")
    assert (file.status_code, file.body[:4]) == (200, b"ISA*")
    assert "Earlier answers of the same patient" in first
    assert "member XJ-4472" in first
    assert "member XJ-4471" in second
    assert "Earlier answers" not in other
    listed = await biller.text("/eligibility")
    assert [path for path in asked if path in listed] == asked
    assert text_of(listed).count("Active") == len(asked)
    # Another site sees nothing of it.
    foreign = await sandbox.person(ConsoleRole.BILLER, "B-1")
    for path in (asked[0], f"{asked[0]}/x12", f"{asked[0]}/pdf"):
        assert (await foreign.ask(path)).status_code == 404
    assert "No inquiries yet" in await foreign.text("/eligibility")


@pytest.mark.server
async def test_the_sheet_is_the_same_on_paper(sandbox, biller):
    answer = await biller.ask("/eligibility/ask", form=QUESTION)
    path = answer.headers["location"].removeprefix("/console")
    file = await biller.ask(f"{path}/pdf")
    paper = " ".join(pypdf.PdfReader(io.BytesIO(file.body)).pages[0].extract_text().split())
    for words in ("Benefits Active", "XJ-4471", "Deductible,", "in network", "Coinsurance"):
        assert words in paper, words
    assert (await biller.ask("/eligibility/999/pdf")).status_code == 404


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"payer": "zzz", "chosen": ""}, "Choose a payer from those that fit"),
        ({"payer": "sandbox", "chosen": ""}, "Choose a payer from those that fit"),
        ({"payer": "zzz"}, "Choose a payer from those that fit"),
        ({"birth": "someday"}, "birth"),
        ({"day": "someday"}, "date"),
    ],
)
async def test_what_cannot_be_asked_is_shown_with_what_was_typed(biller, changes, sentence):
    answer = await biller.ask("/eligibility/ask", form=QUESTION | changes)
    page = answer.body.decode()
    assert (answer.status_code, sentence.casefold() in text_of(page).casefold()) == (400, True)
    assert 'value="XJ-4471"' in page


async def test_viewers_only_read_and_only_nodes_ask(sandbox, biller):
    viewer = await sandbox.person(ConsoleRole.VIEWER)
    assert "Ask the payer" not in await viewer.text("/eligibility")
    for path in ("/eligibility/ask", "/eligibility/payers"):
        assert (await viewer.ask(path, form={})).status_code == 403
    for id in ("77", "x"):
        assert (await biller.ask(f"/eligibility/{id}")).status_code == 404
    runner = sandbox.installation.node_parts.inquiry_runner
    use_runner(sandbox.installation, None)
    answer = await biller.ask("/eligibility/ask", form=QUESTION)
    use_runner(sandbox.installation, runner)
    assert answer.status_code == 503


async def test_looks_at_the_form_are_audited_once_per_person_and_hour(tmp_path):
    async with open_sandbox_console(tmp_path) as sandbox:
        people = [await sandbox.person(ConsoleRole.BILLER) for _ in range(2)]

        async def audited():
            async with sandbox.installation.database.read(SystemScope("a test")) as tx:
                rows = await tx.rows(LOOKS)
            return [(row[0], row[1]) for row in rows]

        await people[0].text("/eligibility")
        assert await audited() == []
        first = await sandbox.send("3001", full=True)
        for person in (people[0], people[0], people[1], people[0]):
            page = await person.text("/eligibility")
            assert re.search(r'<option value="\d{10}"', page), page
        looks = await audited()
        assert (len(looks), len({name for name, _ in looks})) == (2, 2)
        # Another claim is another one that is opened.
        second = await sandbox.send("3002", full=True)
        await people[0].text("/eligibility")
        assert [(first in ids, second in ids) for _, ids in await audited()] == [
            (True, False),
            (True, False),
            (False, True),
        ]
        await sandbox.advance(1)
        await people[0].text("/eligibility")
        assert len(await audited()) == 4


def test_what_was_found_is_held_until_another_claim_is_the_newest():
    looks, now = ProviderLooks(), datetime(2026, 3, 1, tzinfo=UTC)
    looks.keep("A", 1, ["Fernhill"])
    assert (looks.find("A", 1), looks.find("A", 2), looks.find("B", 1)) == (
        ["Fernhill"],
        None,
        None,
    )
    looks.note_audited("Ruth", ["C1", "C2"], now)
    for claims, minutes, is_audited in (
        (["C1"], 59, True), (["C1", "C3"], 1, False), (["C1"], 60, False), (["C1"], -1, False),
    ):  # fmt: skip
        assert looks.is_audited("Ruth", claims, now + timedelta(minutes=minutes)) is is_audited
    assert not looks.is_audited("Milo", ["C1"], now)
    for at in range(300):
        looks.keep(at, 1, [])
    assert (looks.find("A", 1), looks.find(299, 1)) == (None, [])
