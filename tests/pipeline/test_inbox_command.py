"""`clearlane inbox`, as an operator types it.

Also tests `cli/delivery/inbox`.
"""

import pytest

from clearlane.pipeline.inbound import receive
from clearlane.store.audit import audit
from tests.claims.answers import paid, payment
from tests.pipeline.flowing import PAYER

pytestmark = pytest.mark.one_database

SECRET = "QUILL77"
REMIT = payment(paid(SECRET, "1", "100", "80", "CAS*CO*45*20"))
PAGE = b"<!DOCTYPE html><html><body>TESSA QUILL</body></html>"


@pytest.fixture
def left(within):
    """A file with a payment of a claim we do not know, and a web page."""

    async def leave(flow):
        await flow.arrive(REMIT, PAGE)
        parked, page = await flow.files()
        return parked.id, page.id

    return within(leave)


def actions(within):
    async def read(flow):
        return [row["action"] async for row in audit.read_between(flow.database, 0, 1 << 62)]

    return within(read)


@pytest.mark.both_databases
def test_files_are_listed_and_shown_without_anything_of_a_claim(clearlane, left, within):
    parked, page = left
    rows = {row["id"]: row for row in clearlane("inbox list --json")}
    assert (rows[parked]["state"], rows[parked]["parked"]) == ("parked", 1)
    assert rows[page]["state"] == "quarantined"
    assert "web page" in rows[page]["reason"]
    shown = clearlane(f"inbox show {parked} --json")
    assert shown["statements"][0].keys() == {"kind", "reason"}
    for line in ("inbox list --all", f"inbox show {parked}", f"inbox show {page}"):
        said = clearlane(line)
        assert SECRET not in said
        assert "QUILL" not in said
    assert not [one for one in actions(within) if one.endswith("read")]


def test_a_file_that_waits_to_be_posted_needs_nobody(clearlane, within):
    async def receive_one(flow):
        box = flow.connections.open_mailbox(flow.connections.route("Medical", PAYER))
        box.files["answer"] = REMIT
        return await receive.receive_files(flow.context, flow.clock.now(), every_route=True)

    [id] = within(receive_one)
    assert "No files need attention." in clearlane("inbox list")
    assert [(row["id"], row["state"]) for row in clearlane("inbox list --all --json")] == [
        (id, "stored")
    ]


def test_what_a_file_says_is_shown_when_asked_for_and_that_is_audited(clearlane, left, within):
    parked, page = left
    [row] = clearlane(f"inbox show {parked} --numbers --json")["statements"]
    assert row["account"] == SECRET
    assert SECRET in clearlane(f"inbox show {parked} --numbers")
    assert clearlane(f"inbox show {page} --content").encode() == PAGE
    assert {"inbox.read", "inbox.statements.read"} <= set(actions(within))


@pytest.mark.both_databases
def test_a_parked_file_is_applied_when_the_claim_is_known_at_last(clearlane, left, within):
    parked, _ = left
    assert "1 parked" in clearlane(f"inbox replay {parked}")

    async def send(flow):
        [id], _ = await flow.sent(F26_PatientAcctNumber=SECRET)
        return flow.site, id

    site, id = within(send)
    assert clearlane(f"inbox replay {parked} --json")["state"] == "applied"
    assert clearlane(f"inbox replay {parked} --json")["applied"] == 1  # as often as one likes

    async def look(flow):
        return await flow.status(id, site), len(await flow.facts(id)), await flow.documents()

    row, facts, documents = within(look)
    assert (row.state, facts, documents) == ("complete", 2, 1)


def test_a_discarded_file_is_kept_and_may_be_replayed(clearlane, left):
    parked, page = left
    assert "discarded" in clearlane(f"inbox discard {page} --yes")
    assert clearlane(f"inbox discard {page} --yes --json")["state"] == "discarded"
    assert [row["id"] for row in clearlane("inbox list --json")] == [parked]
    assert {row["id"] for row in clearlane("inbox list --all --json")} == {parked, page}
    assert clearlane(f"inbox show {page} --content").encode() == PAGE
    assert clearlane(f"inbox replay {page} --json")["state"] == "quarantined"


def test_what_was_applied_cannot_be_discarded_and_what_is_not_there_is_said(clearlane, within):
    async def leave(flow):
        await flow.sent(F26_PatientAcctNumber=SECRET)
        await flow.arrive(REMIT)
        return (await flow.files())[0].id

    id = within(leave)
    assert "nothing to discard" in clearlane(f"inbox discard {id} --yes", code=1)
    for verb in ("show", "replay", "discard"):
        assert "There is no file 77" in clearlane(
            f"inbox {verb} 77{' --yes' * (verb == 'discard')}", code=1
        )


@pytest.mark.safe_default(18)
def test_a_test_file_is_posted_only_when_an_operator_says_so(clearlane, within):
    async def leave(flow):
        [claim], _ = await flow.sent(F26_PatientAcctNumber=SECRET)
        states = await flow.arrive(REMIT.replace(b"*0*P*:", b"*0*T*:"))
        return flow.site, claim, states

    site, claim, states = within(leave)
    assert states == ["test_file"]
    [row] = clearlane("inbox list --json")
    id = row["id"]
    assert "--test-file" in row["reason"]

    async def look(flow):
        return (await flow.status(claim, site)).state, len(await flow.facts(claim))

    assert within(look) == ("sent", 1)
    assert clearlane(f"inbox replay {id} --json")["state"] == "test_file"
    assert "--test-file" in clearlane(f"inbox accept {id}", code=1)
    assert "test_file" in clearlane("inbox list")
    assert within(look) == ("sent", 1)
    accepted = clearlane(f"inbox accept {id} --test-file --json")
    assert (accepted["state"], accepted["applied"], accepted["mark"]) == ("applied", 1, "Test file")
    assert within(look) == ("complete", 2)
    assert "inbox.accept_test_file" in actions(within)
    # It keeps its mark, and is posted again without another question.
    again = clearlane(f"inbox replay {id} --json")
    assert (again["state"], again["mark"]) == ("applied", "Test file")
    assert "Test file" in clearlane("inbox list --all")
    assert "no test file waits" in clearlane(f"inbox accept {id} --test-file", code=1)
