"""What a visit does with a file in a mailbox, by how it was seen before; and what the mailboxes tell of it.

Also tests `connect/port`.
"""

import os

import pytest

from clearlane.claims.responses.identify import is_unfinished
from clearlane.connect.factory import open_mailbox
from clearlane.connect.port import FileChanged, IncomingFile
from clearlane.kernel import limits
from clearlane.pipeline.inbound.file_visits import VisitAct, next_act, unchanged
from clearlane.store.delivery.seen_files import SeenFile
from tests.claims.answers import paid, payment, ta1
from tests.pipeline.test_growing_files import writing

NOW, SECOND, SETTLE = 1_000_000_000_000, 1_000_000, 60
FILE = IncomingFile("a", 10, 5)
OLD = IncomingFile("a", 10, 5, SETTLE)


def seen(seconds_ago, **more):
    return SeenFile("a", 10, 5, NOW - seconds_ago * SECOND, **more)


@pytest.mark.parametrize(
    ("file", "before", "settle_seconds", "act"),
    [
        (FILE, None, SETTLE, VisitAct.LEAVE),  # the server's clock is not known
        (IncomingFile("a", 10, 5, SETTLE - 0.1), None, SETTLE, VisitAct.LEAVE),
        (IncomingFile("a", 10, 5, -3_600), None, SETTLE, VisitAct.LEAVE),  # changed in the future
        (OLD, None, SETTLE, VisitAct.TAKE),
        (FILE, None, 0, VisitAct.TAKE),
        (FILE, seen(1), SETTLE, VisitAct.TAKE),
        (FILE, seen(1, inbox_id=7), SETTLE, VisitAct.LEAVE),
        (OLD, seen(1, inbox_id=7), SETTLE, VisitAct.LEAVE),  # by our clock, from visit to visit
        (FILE, seen(SETTLE, inbox_id=7), SETTLE, VisitAct.DROP),
        (FILE, seen(9 * SETTLE, inbox_id=7, unfinished=1), SETTLE, VisitAct.LEAVE),
        (FILE, seen(9 * SETTLE, inbox_id=7, unfinished=1), 0, VisitAct.LEAVE),
        (FILE, seen(0, inbox_id=7), 0, VisitAct.DROP),
    ],
)
def test_what_is_done_with_a_file(file, before, settle_seconds, act):
    assert next_act(file, before, NOW, settle_seconds=settle_seconds) is act


def test_what_counts_as_unchanged():
    before = seen(1)
    assert unchanged(FILE, before, NOW) is before
    assert unchanged(FILE, None, NOW) is None
    for other in (IncomingFile("a", 11, 5), IncomingFile("a", 10, 6)):
        assert unchanged(other, before, NOW) is None
    ahead = seen(-2 * limits.CLOCK_DIFFERENCE_SECONDS_MAX)
    assert unchanged(FILE, ahead, NOW) is None  # seen by a clock that was ahead


WHOLE = ta1(1, own=501) + payment(paid("A"), control=502)


@pytest.mark.parametrize("after", [b"", b"\r\n", b"\x1a", b"\x00\x00", b"THE END", b"X"])
def test_a_file_is_finished_at_the_end_of_an_interchange_alone(after):
    ends = {len(ta1(1, own=501)), len(WHOLE)}
    assert {size for size in range(len(WHOLE) + 1) if not is_unfinished(WHOLE[:size])} == ends
    assert not is_unfinished(WHOLE + after)


def test_what_is_no_interchange_is_not_waited_for():
    for other in (b"<html>", b"%PDF-1.4", b"HELLO ISA", b"\x1f\x8b\x08"):
        assert not is_unfinished(other)


@pytest.mark.parametrize("kind", ["folder", "sftp"])
async def test_a_file_is_dropped_only_as_it_was_seen(kind, tmp_path):
    async with writing(kind, tmp_path) as made:
        file = tmp_path / "out" / "a.835"
        file.write_bytes(WHOLE)
        box = open_mailbox(*made, clock=None)
        assert not box.files_are_whole
        [listed] = await box.waiting()
        assert (listed.name, listed.size) == ("a.835", len(WHOLE))
        assert listed.age_seconds is None or listed.age_seconds < SETTLE
        os.utime(file, (1_000_000, 1_000_000))  # the same size at another time
        with pytest.raises(FileChanged):
            await box.drop("a.835", listed)
        [listed] = await box.waiting()
        assert listed.modified_nanos == 1_000_000 * 1_000_000_000
        assert listed.age_seconds > 365 * 86_400
        with file.open("ab") as growing:
            growing.write(b"IS")
        os.utime(file, (1_000_000, 1_000_000))
        with pytest.raises(FileChanged):
            await box.drop("a.835", listed)
        assert file.exists()
        [listed] = await box.waiting()
        await box.drop("a.835", listed)
        assert not file.exists()
        await box.drop("a.835", listed)  # it is gone: nothing to do
        await box.close()


def test_without_unnamed_files_the_time_of_the_directory_is_the_clock(tmp_path, monkeypatch):
    from clearlane.connect.folder import _file_system_nanos

    os.utime(tmp_path, (2_000_000, 2_000_000))
    assert _file_system_nanos(tmp_path) > 2_000_000 * 1_000_000_000
    monkeypatch.delattr(os, "O_TMPFILE")
    assert _file_system_nanos(tmp_path) == 2_000_000 * 1_000_000_000
