"""What a person typed is found again after their session ended: sealed, never in an address, and never sent by itself."""

import random
import re
from datetime import timedelta
from html import unescape

import pytest

from clearlane.accounts.users import ConsoleRole
from clearlane.console.frame.forms import FormFields
from clearlane.console.frame.kept_form import (
    KEPT_CHARACTERS_MAX,
    KEPT_MINUTES_MAX,
    open_form,
    seal_form,
)
from clearlane.console.page_table import PAGES
from tests.console.sandbox_console import open_sandbox_console
from tests.console.signed_in_console import ConsolePerson

BIRTH = {"f.F03_PatientDob": "1981-06-07", "f.F11A_InsuredDob": "1981-06-07"}
KEPT = re.compile(r'name="kept" value="([^"]+)"')


@pytest.fixture(scope="module")
async def sandbox(tmp_path_factory):
    async with open_sandbox_console(tmp_path_factory.mktemp("sandbox")) as made:
        made.rejected = await made.send("3016")
        await made.advance(2)
        yield made


@pytest.fixture(scope="module")
async def biller(sandbox):
    return await sandbox.person(ConsoleRole.BILLER)


async def send_after_the_end(sandbox, person, path, form):
    """Send a form with a session that has ended; return what the sign-in page keeps."""
    ended = ConsolePerson(sandbox.installation, person.console, "y" * 32)
    answer = await ended.ask(path, form=form)
    page = answer.body.decode()
    assert (answer.status_code, "What you typed is kept" in page) == (403, True)
    assert f'name="next" value="{path}"' in page
    assert not any(len(value) > 3 and value in page for value in form.values())
    return unescape(KEPT.search(page)[1])


async def test_a_correction_is_found_as_it_was_and_is_not_sent(sandbox, biller):
    path = f"/claims/{sandbox.rejected}/correct"
    kept = await send_after_the_end(sandbox, biller, path, BIRTH | {"do": "send"})
    form = await biller.ask(path, form={"kept": kept})
    assert (form.status_code, b'value="1981-06-07"' in form.body) == (200, True)
    # From the review, with what was written there.
    reviewed = {"do": "send", "way": "new", "way-reason": "As the payer said"}
    kept = await send_after_the_end(sandbox, biller, path, BIRTH | reviewed)
    review = await biller.ask(path, form={"kept": kept})
    assert b"As the payer said" in review.body
    assert b"Send to Sandbox Medical" in review.body
    assert "Replaced by" not in await biller.text(f"/claims/{sandbox.rejected}")


async def test_a_note_is_found_as_it_was(sandbox, biller):
    path = f"/claims/{sandbox.rejected}/notes"
    kept = await send_after_the_end(sandbox, biller, path, {"text": "Called <b>the payer</b>"})
    page = (await biller.ask(path, form={"kept": kept})).body.decode()
    assert "Called &lt;b&gt;the payer&lt;/b&gt;</textarea>" in page
    assert "No notes yet." in page


async def test_another_person_sees_no_more_than_their_sites(sandbox, biller):
    path = f"/claims/{sandbox.rejected}/correct"
    kept = await send_after_the_end(sandbox, biller, path, BIRTH)
    stranger = await sandbox.person(ConsoleRole.BILLER, "B-1")
    answer = await stranger.ask(path, form={"kept": kept})
    assert (answer.status_code, b"1981-06-07" in answer.body) == (404, False)


async def test_what_is_not_ours_too_old_or_of_another_page_is_refused(sandbox, biller):
    vault, database = sandbox.installation.vault, sandbox.installation.database
    path, now = f"/claims/{sandbox.rejected}/correct", sandbox.installation.wall.now()
    form = FormFields((("form", "token"), ("a", "é")))
    kept = await seal_form(vault, form, path, now)
    assert (await open_form(database, vault, kept, path, now)).pairs == (("a", "é"),)
    late = now + timedelta(minutes=KEPT_MINUTES_MAX, seconds=1)
    for text, where, at in (
        (kept, "/claims/C1/correct", now),
        (kept, path, late),
        (kept[:-8], path, now),
        ("x", path, now),
        ("é", path, now),
    ):
        assert await open_form(database, vault, text, where, at) is None
    assert (await biller.ask(path, form={"kept": "x" * 100})).status_code == 403
    assert await seal_form(vault, FormFields((("form", "token"),)), path, now) == ""
    noise = random.Random(18).randbytes(KEPT_CHARACTERS_MAX).hex()
    assert await seal_form(vault, FormFields((("a", noise),)), path, now) == ""


async def test_without_the_token_of_the_ended_session_nothing_is_kept(sandbox, biller):
    ended = ConsolePerson(sandbox.installation, biller.console, "y" * 32)
    for path in [page.path.replace("{number}", "C1") for page in PAGES if page.kept is not None]:
        answer = await ended.ask(path, form={"a": "typed"}, token="0" * 64)
        assert answer.status_code == 303, path
        assert "/login?say=unsent" in answer.headers["location"]
        assert b"typed" not in answer.body
