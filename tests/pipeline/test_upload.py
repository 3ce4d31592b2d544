"""A file of a site is stored part by part before it is understood, goes on after a cut, and what answers it is written once.

Also tests `pipeline/intake/files/file_responses` and `pipeline/intake/files/purge_files`.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from clearlane.kernel.client_file import FileChannel
from clearlane.pipeline.intake.files.file_responses import (
    ClientResponse,
    publish_response,
    store_response,
    write_response,
)
from clearlane.pipeline.intake.files.purge_files import purge_old_files
from clearlane.pipeline.intake.files.upload import ClientFileTooLarge, Upload, usable_name
from clearlane.settings import load
from clearlane.store.events.events import list_all
from clearlane.store.files import client_files, file_parts
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.store.files.file_parts import PART_BYTES_MAX, PartOutOfPlace
from tests.pipeline.flowing import ACTOR, EVERYONE, Flow

pytestmark = pytest.mark.one_database


@pytest.fixture
async def flow(place, database, clock):
    return await Flow.open(place, database, clock)


async def begin(flow, name="claims.837"):
    return await Upload.begin(
        flow.context, flow.site, name=name, channel=FileChannel.HTTPS, actor=ACTOR
    )


async def find(flow, file_id):
    async with flow.database.read(flow.site.scope) as tx:
        return await client_files.find(tx, file_id)


async def listed(flow, **where):
    async with flow.database.read(flow.site.scope) as tx:
        return await find_page(tx, ClientFileQuery(where=where, limit=100))


async def content(flow, file_id):
    return await file_parts.read_content(flow.database, flow.vault, flow.site.scope, file_id)


@pytest.mark.both_databases
async def test_a_file_is_stored_as_it_comes_and_named_when_it_is_whole(flow):
    upload = await begin(flow, "claims.837.part")
    data = bytes(range(256)) * 4 * 1024 * 2 + b"the end"
    for at in range(0, len(data), 300_000):
        await upload.write(data[at : at + 300_000])
    stored = await find(flow, upload.file_id)
    assert (stored.state, stored.bytes) == ("uploading", 2 * PART_BYTES_MAX)
    assert upload.size == len(data)
    assert await listed(flow) == []
    file = await upload.finish("claims.837")
    assert (file.name, file.state, file.bytes) == ("claims.837", "received", len(data))
    assert [one.file_id for one in await listed(flow, direction="in")] == [upload.file_id]
    assert await content(flow, upload.file_id) == data
    with pytest.raises(PartOutOfPlace):
        await upload.finish("again.837")


@pytest.mark.both_databases
async def test_an_upload_that_was_cut_off_goes_on_at_any_node(flow):
    first = await begin(flow, "claims.part")
    await first.write(b"ISA*00*")
    await first.flush()
    async with flow.database.read(flow.site.scope) as tx:
        left = await client_files.find_upload(tx, "claims.part")
    second = await Upload.resume(flow.context, flow.site, left, actor=ACTOR)
    assert second.size == 7
    await second.write(b"more~")
    file = await second.finish("claims.837")
    assert await content(flow, file.file_id) == b"ISA*00*more~"
    # The digest is that of the whole, whoever wrote which part.
    whole = await begin(flow)
    await whole.write(b"ISA*00*more~")
    assert (await whole.finish("b.837")).digest == file.digest
    await first.write(b"late")
    with pytest.raises(PartOutOfPlace):
        await first.flush()


async def test_a_file_that_is_too_large_leaves_nothing(flow):
    flow.context = replace(flow.context, limits=replace(flow.context.limits, file_bytes_max=10))
    upload = await begin(flow)
    await upload.write(b"0123456789")
    with pytest.raises(ClientFileTooLarge):
        await upload.write(b"0")
    assert await find(flow, upload.file_id) is None


async def test_an_empty_file_is_a_file(flow):
    file = await (await begin(flow)).finish("empty")
    assert (file.bytes, file.state) == (0, "received")
    assert await content(flow, file.file_id) == b""


@pytest.mark.parametrize(
    ("name", "usable"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\out\\a.837", "a.837"),
        ("a\nb.837", "ab.837"),
        ("..", "F1.x12"),
        ("", "F1.x12"),
        ("x" * 300, "x" * 200),
    ],
)
def test_a_name_is_one_line_without_folders(name, usable):
    assert usable_name(name, "F1") == usable


@pytest.mark.both_databases
async def test_a_response_is_written_once_and_listed_when_it_is_whole(flow):
    response = ClientResponse(
        type="999", response_key="F1:999", stem="claims.837", answers="F1", note="a note"
    )
    file_id = await write_response(flow.context, flow.site, response, [b"ISA*", b"00~"])
    assert await write_response(flow.context, flow.site, response, b"again") is None
    (file,) = await listed(flow, direction="out", answers="F1")
    assert (file.file_id, file.state, file.type, file.note) == (file_id, "ready", "999", "a note")
    assert file.name == f"claims.837.{file_id[-6:]}.999"
    assert await content(flow, file_id) == b"ISA*00~"
    large = b"x" * (PART_BYTES_MAX + 5)
    stored = await store_response(
        flow.context, flow.site, replace(response, response_key="F1:text", type="text"), large
    )
    assert len(await listed(flow, direction="out")) == 1
    published = await flow.database.write(
        flow.site.scope,
        lambda tx: publish_response(tx, flow.context, flow.site, stored),
        actor=ACTOR,
    )
    assert published
    assert await content(flow, stored.file_id) == large
    assert (await find(flow, stored.file_id)).name.endswith(".txt")
    async with flow.database.read(EVERYONE) as tx:
        events = await list_all(tx, ["file.ready"], after=0, limit=10)
    assert [one.type for one in events] == ["file.ready", "file.ready"]
    assert events[0].data == {"file_id": file_id, "type": "999", "answers": "F1"}


@pytest.mark.both_databases
async def test_old_files_are_removed(flow):
    unfinished, whole = await begin(flow), await begin(flow)
    await unfinished.write(b"x")
    await unfinished.flush()
    await whole.finish("a.837")  # waits to be processed, and so stays
    response = ClientResponse(type="999", response_key="key", stem="a")
    answer = await write_response(flow.context, flow.site, response, b"ISA")
    flow.clock.advance(timedelta(hours=25))
    assert await purge_old_files(flow.context, flow.clock.now()) == 1
    assert await find(flow, unfinished.file_id) is None
    flow.clock.advance(timedelta(days=89))
    assert await purge_old_files(flow.context, flow.clock.now()) == 1
    assert await find(flow, answer) is None
    assert [one.file_id for one in await listed(flow)] == [whole.file_id]
    assert load(environ={"CLEARLANE_FILE_DAYS": "30"}).file_days == 30
