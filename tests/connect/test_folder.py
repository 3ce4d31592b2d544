"""Folders when the disk fails: a file is whole or has no name."""

import errno
import os
import time

import pytest

from clearlane.connect.folder import FolderMailbox
from clearlane.connect.port import Denied, Presence, Unreachable
from tests.connect.invented import interchange

FILE = interchange()


@pytest.fixture
def places(tmp_path):
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
    return tmp_path / "out", tmp_path / "in"


def mailbox(places, **options):
    return FolderMailbox(outbox=places[0], inbox=places[1], **options)


def names(directory):
    return {file.name for file in directory.iterdir()}


async def test_a_full_disk_leaves_no_file_and_may_pass(places, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "ROSA ARDEN")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        with pytest.raises(Unreachable, match="No space left") as fault:
            await mailbox(places).put("A1.837", FILE)
    assert fault.value.arrival is Presence.ABSENT
    assert "ARDEN" not in str(fault.value)
    assert names(places[0]) == {"A1.837.part"}
    assert await mailbox(places).look("A1.837") is Presence.ABSENT
    await mailbox(places).put("A1.837", FILE)
    assert names(places[0]) == {"A1.837"}


async def test_what_an_earlier_try_left_is_written_anew(places):
    (places[0] / "A1.837.part").write_bytes(b"half of something longer than the file" * 100)
    await mailbox(places).put("A1.837", FILE)
    assert (places[0] / "A1.837").read_bytes() == FILE


async def test_a_link_in_place_of_the_passing_name_is_not_written_through(places, tmp_path):
    (tmp_path / "precious").write_bytes(b"precious")
    (places[0] / "A1.837.part").symlink_to(tmp_path / "precious")
    await mailbox(places).put("A1.837", FILE)
    assert (tmp_path / "precious").read_bytes() == b"precious"
    assert (places[0] / "A1.837").read_bytes() == FILE


async def test_a_disk_that_hangs_is_given_up(places, monkeypatch):
    with monkeypatch.context() as slow:
        slow.setattr(os, "fsync", lambda handle: time.sleep(1))
        with pytest.raises(Unreachable, match="did not answer") as fault:
            await mailbox(places, seconds=0.1).put("A1.837", FILE)
    assert fault.value.arrival is Presence.UNKNOWN


async def test_a_pipe_is_neither_listed_nor_waited_for(places):
    os.mkfifo(places[1] / "pipe.835")
    assert await mailbox(places).waiting() == []
    with pytest.raises(Denied, match="not a plain file"):
        await mailbox(places).take("pipe.835")


async def test_the_oldest_file_comes_first(places):
    for age, name in ((10, "c.835"), (30, "a.835"), (20, "b.835")):
        (places[1] / name).write_bytes(b"x")
        os.utime(places[1] / name, (1_000_000 - age, 1_000_000 - age))
    assert [file.name for file in await mailbox(places).waiting()] == ["a.835", "b.835", "c.835"]


async def test_files_that_are_never_collected_are_counted_and_reported_by_the_test_of_a_route(
    places, monkeypatch
):
    box = mailbox(places)
    for name in ("one.835", "later.part"):
        (places[1] / name).write_bytes(FILE)
    assert [file.name for file in await box.waiting()] == ["one.835"]
    assert box.passed_over == 0  # one that is still being written will be collected
    monkeypatch.setattr("clearlane.connect.file_names.INCOMING_NAME_BYTES_MAX", 10)
    (places[1] / "much-too-long.835").write_bytes(FILE)
    assert [file.name for file in await box.waiting()] == ["one.835"]
    assert box.passed_over == 1
    assert (
        "1 files to collect, 1 with names that are not collected" in (await box.check())[1].message
    )
