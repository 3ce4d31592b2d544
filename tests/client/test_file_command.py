"""`clearlane file` against the scripted service: send, list, show, get and a watched folder.

Also tests `cli/file/watch_folder`.
"""

import json

import pytest

from clearlane.cli.file.watch_folder import RECEIVED, SENT
from tests.client.scripted_service import Reply
from tests.client.test_client_commands import run  # noqa: F401  (a fixture)

FILE = {
    "id": "F1", "file_id": "F1", "site": "S1", "direction": "in", "name": "claims.837", "channel": "cli", "type": None,
    "state": "received", "bytes": 7, "claims": 0, "accepted": 0, "not_accepted": 0, "answers": None, "note": None,
    "created_at": "2026-01-15T09:30:00Z", "received_at": "2026-01-15T09:30:00Z", "processed_at": None, "fetched_at": None,
}  # fmt: skip
RESPONSE = {
    "id": "F2", "file_id": "F2", "type": "999", "name": "claims.837.AB12CD.999", "bytes": 3,
    "created_at": "2026-01-15T09:30:02Z", "fetched_at": None,
}  # fmt: skip
SET = {
    "id": "S1", "set_id": "S1", "interchange": 1, "group": 1, "position": 1, "type": "837P", "state": "accepted",
    "claims": 2, "accepted": 2, "not_accepted": 0, "reason": None,
}  # fmt: skip
DONE = FILE | {
    "type": "837P", "state": "accepted", "claims": 2, "accepted": 2, "sets": [SET], "responses": [RESPONSE],
    "note": "A note.",
}  # fmt: skip
REJECTED = DONE | {
    "state": "rejected", "accepted": 0, "not_accepted": 2,
    "sets": [SET | {"state": "rejected", "reason": "Version 004010 is not taken."}],
}  # fmt: skip
ANSWER = FILE | {"id": "F2", "file_id": "F2", "direction": "out", "type": "999", "name": "a.837.AB12CD.999", "state": "ready"}  # fmt: skip
NO_SUCH = Reply(404, {"detail": "The vendor has no file of this id.", "errors": []})


def page(*rows):
    return Reply(200, {"data": list(rows), "next": None})


# Command, the service's answer, exit status, and words that must be shown.
ENDS = [
    (["file", "list"], page(DONE, ANSWER), 0, ["F1", "accepted", "837P", "F2", "2 files"]),
    (["file", "list", "--direction", "out", "--not-fetched", "--json"], page(ANSWER), 0, ['"file_id": "F2"']),
    (["file", "list", "--csv"], page(DONE), 0, ["file_id,direction,type", "F1,in,837P,accepted"]),
    (["file", "list", "--csv", "--json"], None, 2, ["Give one of"]),
    (["file", "list"], page(), 0, ["No files.", "clearlane file send"]),
    (["file", "show", "F1"], Reply(200, DONE), 0, ["2 accepted", "A note.", "1.1.1", "F2", "999"]),
    (["file", "show", "F1", "--json"], Reply(200, REJECTED), 0, ['"state": "rejected"']),
    (["file", "show", "F9"], NO_SUCH, 1, ["no file of this id"]),
    (["file", "get", "F2"], Reply(200, "ISA*00~"), 0, ["ISA*00~"]),
    (["file", "send", "no-such-file"], None, 2, ["cannot be read"]),
    (["file", "watch", "no-such-folder"], None, 2, ["is not a folder"]),
]  # fmt: skip


@pytest.mark.parametrize(("command", "reply", "code", "words"), ENDS)
def test_commands(run, command, reply, code, words):  # noqa: F811
    done = run(*command, reply=reply)
    assert done.exit_code == code, done.output
    assert all(word in done.output for word in words), done.output


def test_a_file_is_sent_and_waited_for(run, service, tmp_path):  # noqa: F811
    file = tmp_path / "claims.837"
    file.write_bytes(b"ISA*00~")
    replies = [Reply(202, FILE), Reply(200, FILE | {"sets": [], "responses": []}), Reply(200, DONE)]
    done = run("file", "send", str(file), reply=replies)
    assert done.exit_code == 0, done.output
    assert "2 accepted" in done.output
    sent = service.received[0]
    assert (sent.method, sent.path, sent.body) == ("POST", "/clearlane/v1/files", b"ISA*00~")
    assert sent.query == {"name": "claims.837", "site": "SITE-1", "channel": "cli"}
    assert sent.headers["content-type"] == "application/octet-stream"
    assert sent.headers["idempotency-key"]
    rejected = run("file", "send", str(file), reply=[Reply(202, FILE), Reply(200, REJECTED)])
    assert rejected.exit_code == 1
    assert "Version 004010 is not taken." in rejected.output
    shadow = DONE | {"shadow": True}
    done = run(
        "file", "send", str(file), "--shadow", reply=[Reply(202, shadow), Reply(200, shadow)]
    )
    assert "judged and never sent" in done.output
    assert service.received[-2].query["shadow"] == "true"
    waiting = [Reply(202, FILE), Reply(200, FILE | {"sets": [], "responses": []})]
    output = run("file", "send", "-", "--wait", "0", given="ISA", reply=waiting).output
    assert "received" in output
    assert "0 read so far" in output
    # Several: each is shown, JSON is a list, and one that was not accepted decides.
    several = [Reply(202, FILE), Reply(200, DONE), Reply(202, FILE), Reply(200, REJECTED)]
    both = run("file", "send", str(file), str(file), "--json", reply=several)
    assert both.exit_code == 1
    assert [one["state"] for one in json.loads(both.output)] == ["accepted", "rejected"]
    assert run("file", "send", str(file), "no-such-file", reply=None).exit_code == 2


def test_claims_that_were_not_accepted_are_shown_with_every_error(run):  # noqa: F811
    finding = {
        "rule": "C101", "severity": "error", "field": "2010BB/NM109 (segment 20)", "message": "The payer is unknown.",
        "act": None,
    }  # fmt: skip
    other = finding | {
        "rule": "C204",
        "field": "2300/HI01 (segment 22)",
        "message": "No diagnosis.",
    }
    warning = finding | {"severity": "warning", "message": "Often wrong."}
    claim = {
        "claim_number": "C193N353RW88KF7KA1W", "vendor_claim_id": "PRACTICE-ACC-7", "set_id": "S1", "position": 1,
        "findings": [finding, other, warning], "more_findings": 3,
    }  # fmt: skip
    partly = DONE | {"state": "partly_accepted", "not_accepted": 2, "not_accepted_claims": [claim]}
    done = run("file", "show", "F1", reply=Reply(200, partly), COLUMNS="160")
    assert done.exit_code == 0, done.output
    for words in ("Error at 2010BB/NM109 (segment 20): The payer is unknown. (C101)",
                  "Error at 2300/HI01 (segment 22): No diagnosis. (C204)",
                  "4 more findings: clearlane claim show C193N353RW88KF7KA1W",
                  "1 of 2.", "claim list --state not_accepted --file F1"):  # fmt: skip
        assert words in done.output, done.output
    assert done.output.count("PRACTICE-ACC-7") == 1
    assert "Often wrong." not in done.output, "a warning stops no claim"
    narrow = run("file", "show", "F1", reply=Reply(200, partly), COLUMNS="80").output
    assert "PRACTICE-ACC-7" in narrow, "the id that the sender knows"
    patients = DONE | {"type": "270", "sets": [SET | {"type": "270"}]}
    assert "PATIENTS" in run("file", "show", "F1", reply=Reply(200, patients)).output
    imported = DONE | {"type": "277CA", "shadow": True, "sets": []}
    assert "Claims" not in run("file", "show", "F1", reply=Reply(200, imported)).output


def test_a_list_is_a_table_at_80_columns_without_counts_of_answers(run):  # noqa: F811
    ids = {
        "file_id": "F193N353RW88KF7KA1W",
        "name": "monday-morning.837",
        "state": "partly_accepted",
    }
    answer = ANSWER | {"file_id": "F193N353RW88KF7KA2W", "name": "monday-morning.837.AB12CD.277ca"}
    done = run("file", "list", reply=page(DONE | ids, answer), COLUMNS="80")
    head, first, second, *_ = done.output.splitlines()
    assert head.split()[:2] == ["FILE", "ID"], done.output
    assert first.split()[0] == ids["file_id"]
    assert second.split()[0] == answer["file_id"]
    assert " 0" not in second


def test_the_bytes_of_a_file_are_written_as_they_are(run, tmp_path):  # noqa: F811
    target = tmp_path / "answer.999"
    run("file", "get", "F2", "-o", str(target), reply=Reply(200, "ISA*\u00e9~"))
    assert target.read_bytes() == "ISA*\u00e9~".encode()
    missing = tmp_path / "no" / "folder"
    done = run("file", "get", "F2", "-o", str(missing), reply=Reply(200, "ISA"))
    assert done.exit_code == 2


def test_a_watched_folder_sends_what_appears_and_writes_what_comes_back(run, service, tmp_path):  # noqa: F811
    for name in ("a.837", ".hidden", "b.837.part", "c.tmp"):
        (tmp_path / name).write_bytes(b"ISA")
    replies = [Reply(202, FILE | {"name": "a.837"}), page(ANSWER), Reply(200, "ISA*999~")]
    done = run("file", "watch", str(tmp_path), "--once", reply=replies)
    assert done.exit_code == 0, done.output
    assert "sent a.837" in done.output
    assert "received a.837.AB12CD.999" in done.output
    assert {one.name for one in tmp_path.iterdir() if one.is_file()} == {
        ".hidden",
        "b.837.part",
        "c.tmp",
    }
    assert (tmp_path / SENT / "a.837").read_bytes() == b"ISA"
    assert (tmp_path / RECEIVED / ANSWER["name"]).read_bytes() == b"ISA*999~"
    key = service.received[0].headers["idempotency-key"]
    assert service.received[1].query["not_fetched"] == "true"
    # A crash right after it was sent: the same key, so that it is stored once. What was cut off is fetched again.
    (tmp_path / "a.837").write_bytes(b"ISA")
    (tmp_path / RECEIVED / ".F2.part").touch()
    again = [Reply(202, FILE), Reply(200, ANSWER), Reply(200, "ISA*999~"), page()]
    done = run("file", "watch", str(tmp_path), "--once", "--json", reply=again)
    assert done.exit_code == 0, done.output
    sent = [one for one in service.received if one.method == "POST"]
    assert sent[-1].headers["idempotency-key"] == key
    assert (tmp_path / SENT / "a.837.2").exists()
    assert (tmp_path / RECEIVED / f"{ANSWER['name']}.2").read_bytes() == b"ISA*999~"
    assert not list((tmp_path / RECEIVED).glob(".*"))
    assert '"act":"sent"' in done.output
