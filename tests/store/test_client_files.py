"""Files of sites in the database: parts, lists, leases, sets and staged claims, each seen by its own site alone.

Also tests `store/files/file_parts`, `store/files/client_file_query`, `store/files/file_sets`, `store/files/staged_claims`,
`store/files/old_files`, `store/database/schema/files` and `kernel/client_file`.
"""

from datetime import date

import pytest

from clearlane.kernel.client_file import CLIENT_FILE_FILTERS, FILE_TYPES, FileState
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.store.database.database import Actor
from clearlane.store.files import client_files, file_parts, file_sets, old_files, staged_claims
from clearlane.store.files.client_file_query import ClientFileQuery, find_page
from clearlane.store.files.client_files import FileResult, NewFile
from clearlane.store.files.file_parts import PartOutOfPlace
from clearlane.store.files.file_sets import FileSet, SetClaim
from clearlane.store.files.staged_claims import StagedClaim
from clearlane.store.vault.vault import InvalidSeal, Vault
from tests.databases import make_site

ACTOR = Actor("vendor", "a test")
DAY = "2024-03-05"


class Files:
    """The files of one site."""

    def __init__(self, database, vault, scope):
        self.database, self.vault, self.scope = database, vault, scope

    async def write(self, job):
        return await self.database.write(self.scope, job, actor=ACTOR)

    async def read(self, ask):
        async with self.database.read(self.scope) as tx:
            return await ask(tx)

    async def create(self, file_id, direction="in", created_at=1, **own):
        new = NewFile(
            file_id, direction, own.pop("name", f"{file_id}.837"), "https", created_at, **own
        )
        await self.write(lambda tx: client_files.create(tx, new))

    async def append(self, file_id, start, data):
        part = file_parts.seal_part(self.vault, self.scope, file_id, start, data)
        await self.write(lambda tx: file_parts.append(tx, part))

    async def receive(self, file_id, data=b"ISA", at=10, **own):
        await self.create(file_id, **own)
        await self.append(file_id, 0, data)
        return await self.write(
            lambda tx: client_files.finish_upload(
                tx, file_id, name=f"{file_id}.837", digest=data.decode(), at=at, day=DAY
            )
        )

    async def publish(self, file_id, key, **own):
        await self.create(file_id, "out", **own)
        return await self.write(
            lambda tx: client_files.publish(
                tx, file_id, response_key=key, digest="", at=20, day=DAY
            )
        )

    async def find(self, file_id):
        return await self.read(lambda tx: client_files.find(tx, file_id))

    async def listed(self, *, after=None, limit=10, oldest_first=False, **where):
        query = ClientFileQuery(where=where, after=after, limit=limit, oldest_first=oldest_first)
        return [one.file_id for one in await self.read(lambda tx: find_page(tx, query))]


@pytest.fixture
async def files(database, place, clock):
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    scope = await make_site(database)
    await vault.ensure_key(scope)
    return Files(database, vault, scope)


async def test_a_file_gets_its_parts_in_order_and_is_listed_when_it_is_finished(files):
    await files.create("F1", name="a.part")
    await files.append("F1", 0, b"ISA*")
    await files.append("F1", 4, b"00~")
    assert await files.listed() == []
    assert (await files.read(lambda tx: client_files.find_upload(tx, "a.part"))).bytes == 7
    for start in (0, 3, 8):
        with pytest.raises(PartOutOfPlace):
            await files.append("F1", start, b"again")
    done = await files.write(
        lambda tx: client_files.finish_upload(tx, "F1", name="a.837", digest="d", at=10, day=DAY)
    )
    assert (done.name, done.state, done.bytes, done.received_at) == ("a.837", "received", 7, 10)
    assert await files.listed(direction="in") == ["F1"]
    with pytest.raises(PartOutOfPlace):
        await files.append("F1", 7, b"late")
    assert (
        await files.write(
            lambda tx: client_files.finish_upload(tx, "F1", name="b", digest="", at=11, day=DAY)
        )
        is None
    )
    arguments = (files.database, files.vault, files.scope, "F1")
    assert await file_parts.read_content(*arguments) == b"ISA*00~"
    assert [c async for c in file_parts.read_chunks(*arguments, start=5)] == [b"0~"]
    assert await files.read(lambda tx: file_parts.read_part(tx, *arguments[1:], 7)) is None


async def test_a_part_is_bound_to_its_file_and_place(files):
    part = file_parts.seal_part(files.vault, files.scope, "F1", 0, b"ISA*00~")
    for moved in (part._replace(file_id="F2"), part._replace(start=7)):
        with pytest.raises(InvalidSeal):
            files.vault.open(
                files.scope, file_parts.TABLE, f"{moved.file_id}:{moved.start}", moved.content
            )
    assert "ISA" not in repr(part)


async def test_an_unfinished_file_is_dropped_with_its_parts_and_a_finished_one_is_not(files):
    await files.create("F1")
    await files.append("F1", 0, b"half")
    assert await files.read(client_files.count_uploads) == 1
    assert await files.write(lambda tx: client_files.drop_upload(tx, "F1"))
    assert await files.find("F1") is None
    await files.receive("F2")
    assert not await files.write(lambda tx: client_files.drop_upload(tx, "F2"))
    await files.create("F3", name="c.part")
    assert await files.write(lambda tx: client_files.hide(tx, "F3", 5))
    assert await files.read(lambda tx: client_files.find_upload(tx, "c.part")) is None
    assert await files.read(client_files.count_uploads) == 0


async def test_a_response_is_written_once_under_its_key(files):
    assert await files.publish("F5", "F1:999", type="999", answers="F1")
    assert not await files.publish("F6", "F1:999", type="999", answers="F1")
    assert [
        one.file_id for one in await files.read(lambda tx: client_files.list_responses(tx, "F1"))
    ] == ["F5"]
    found = await files.read(lambda tx: client_files.find_by_keys(tx, ["F1:999", "F1:TA1"]))
    assert [(key, one.file_id) for key, one in found] == [("F1:999", "F5")]
    assert (await files.find("F6")).state == FileState.UPLOADING
    other = Files(files.database, files.vault, await make_site(files.database))
    await other.vault.ensure_key(other.scope)
    assert await other.publish("F7", "F1:999", type="999", answers="F1")  # a key is a site's own


async def test_lists_are_filtered_paged_and_without_what_is_hidden(files):
    for number in range(3):
        await files.receive(f"F1{number}", at=number)
    await files.publish("F20", "a", type="835", answers="F10")
    await files.publish("F21", "b", type="999", answers="F11")
    assert await files.listed() == ["F21", "F20", "F12", "F11", "F10"]
    assert await files.listed(limit=2) == ["F21", "F20"]
    assert await files.listed(limit=2, after="F20") == ["F12", "F11"]
    assert await files.listed(direction="in", oldest_first=True, after="F10") == ["F11", "F12"]
    assert await files.listed(type="835") == ["F20"]
    assert await files.listed(state="ready") == ["F21", "F20"]
    assert await files.listed(answers="F11") == ["F21"]
    assert await files.listed(name="F12.837") == ["F12"]
    assert await files.listed(received_from=date(2024, 3, 5), received_to=None, limit=1) == ["F21"]
    assert await files.listed(received_to=date(2024, 3, 4)) == []
    assert await files.write(lambda tx: client_files.mark_fetched(tx, ["F20", "F21"], 30)) == 2
    assert await files.write(lambda tx: client_files.mark_fetched(tx, ["F20"], 31)) == 0
    assert (await files.find("F20")).fetched_at == 30
    assert await files.listed(not_fetched=True, limit=1) == ["F12"]
    assert await files.listed(not_fetched=False, limit=1) == ["F21"]
    assert await files.write(lambda tx: client_files.hide(tx, "F20", 40))
    assert not await files.write(lambda tx: client_files.hide(tx, "F20", 41))
    assert await files.listed(direction="out") == ["F21"]
    assert (await files.find("F20")).hidden_at == 40
    assert await files.read(lambda tx: client_files.find_by_name(tx, "out", "F20.837")) is None
    by_name = await files.read(lambda tx: client_files.find_by_name(tx, "in", "F11.837"))
    assert by_name.file_id == "F11"

    async def newest(tx):
        return await client_files.find_newest_sent(tx, "F11.837")

    assert (await files.read(newest)).file_id == "F11"
    await files.create("F31", name="F11.837")  # not received yet
    assert (await files.read(newest)).file_id == "F31"
    assert {one.name for one in CLIENT_FILE_FILTERS} >= {"direction", "state", "type"}
    assert "277CA" in FILE_TYPES


async def test_no_site_sees_the_files_of_another(files):
    await files.receive("F1")
    foreign = Files(files.database, files.vault, await make_site(files.database))
    assert await foreign.find("F1") is None
    assert await foreign.listed() == []
    assert not await foreign.write(lambda tx: client_files.hide(tx, "F1", 5))
    assert (
        await foreign.read(lambda tx: file_parts.read_part(tx, files.vault, foreign.scope, "F1", 0))
        is None
    )
    second = await make_site(files.database, vendor=files.scope.vendor)
    both = VendorScope(files.scope.vendor, (files.scope.site, second.site))
    async with files.database.read(both) as tx:
        (one,) = await find_page(tx, ClientFileQuery(limit=5))
    assert (one.file_id, one.site_id) == ("F1", files.scope.site)


async def test_one_work_at_a_time_processes_the_first_file_of_each_site(files):
    await files.receive("F2", at=5)
    await files.receive("F1", at=6)
    other = Files(files.database, files.vault, await make_site(files.database))
    await other.vault.ensure_key(other.scope)
    await other.receive("F3", at=9)

    async def waiting():
        async with files.database.read(client_files.SCOPE) as tx:
            return {one.file_id for one in await client_files.list_waiting(tx)}

    def take(holder, now):
        return files.write(
            lambda tx: client_files.take_lease(tx, "F2", holder, now=now, until=now + 60)
        )

    assert await waiting() == {"F2", "F3"}
    assert await take("a", 100)
    assert not await take("b", 120)
    assert await take("b", 161)  # the lease of a node that died
    assert (await files.find("F2")).attempts == 2
    assert not await files.write(lambda tx: client_files.renew_lease(tx, "F2", 1, until=999))
    assert await files.write(lambda tx: client_files.renew_lease(tx, "F2", 2, until=999))
    # The same work on another node: the first one, which is only slow, has lost its lease.
    assert await take("b", 165)
    assert not await files.write(lambda tx: client_files.renew_lease(tx, "F2", 2, until=999))
    result = FileResult("partly_accepted", "837P", 3, 2, 1, "a note")
    record = client_files.record_result
    assert not await files.write(lambda tx: record(tx, "F2", 2, result, at=170))
    assert await files.write(lambda tx: record(tx, "F2", 3, result, at=170))
    assert not await files.write(lambda tx: record(tx, "F2", 3, result, at=171))
    assert (await files.find("F2"))[14:17] == (3, 2, 1)
    assert await waiting() == {"F1", "F3"}
    # The same bytes are found once they are processed, in the same site only.
    again = await files.receive("F4", at=200)
    assert (await files.read(lambda tx: client_files.find_same(tx, again))).file_id == "F2"
    foreign = await other.find("F3")
    assert await other.read(lambda tx: client_files.find_same(tx, foreign)) is None


def a_set(set_id, **own):
    row = FileSet(
        set_id,
        "F1",
        1,
        1,
        1,
        "837P",
        "accepted",
        3,
        3,
        0,
        "",
        50,
        0,
        interchange_key=7,
        payload=b"s",
    )
    return row._replace(**own)


async def test_staged_claims_are_released_by_their_set(files):
    rows = [StagedClaim("S1", at, f"C{at}", "F1", b"sealed") for at in range(1, 6)]
    await files.write(lambda tx: staged_claims.add(tx, rows))
    assert await files.read(lambda tx: staged_claims.list_set_ids(tx, "F1")) == ["S1"]
    await files.write(
        lambda tx: file_sets.add(tx, [a_set("S1"), a_set("S2", position=2, released=1)])
    )
    assert [one.set_id for one in await files.read(lambda tx: file_sets.list_sets(tx, "F1"))] == [
        "S1",
        "S2",
    ]
    assert await files.read(lambda tx: file_sets.find_interchanges(tx, [7, 8])) == {7}
    assert await files.read(file_sets.list_unreleased_of_site) == ["S1"]
    async with files.database.read(file_sets.SCOPE) as tx:
        assert [one.set_id for one in await file_sets.list_unreleased(tx, 5)] == ["S1"]

    async def release(tx):
        assert (await file_sets.lock_unreleased(tx, "S1")).claims == 3
        page = await staged_claims.list_page(tx, "S1", 2)
        await file_sets.add_claims(
            tx, [SetClaim(one.claim_number, "S1", one.position) for one in page]
        )
        await staged_claims.remove(tx, "S1", through=page[-1].position)

    await files.write(release)
    assert await files.read(lambda tx: staged_claims.count(tx, "S1")) == 3
    found = await files.read(lambda tx: file_sets.find_claims(tx, ["C2", "C3"]))
    assert found == {"C2": SetClaim("C2", "S1", 2)}
    assert await files.read(lambda tx: file_sets.list_claims(tx, "S1", after=1, limit=5)) == [
        SetClaim("C2", "S1", 2)
    ]
    assert set(await files.read(lambda tx: file_sets.find_sets(tx, ["S2", "S9"]))) == {"S2"}
    assert await files.write(lambda tx: staged_claims.remove_first(tx, "S1", 2)) == 2
    assert await files.write(lambda tx: staged_claims.remove_first(tx, "S1", 2)) == 1
    assert await files.write(lambda tx: staged_claims.remove_first(tx, "S1", 2)) == 0
    await files.write(lambda tx: file_sets.mark_released(tx, "S1"))
    assert await files.write(lambda tx: file_sets.lock_unreleased(tx, "S1")) is None


async def test_old_files_are_removed_and_waiting_ones_and_sets_are_kept(files):
    await files.create("F1", created_at=100)  # unfinished
    await files.append("F1", 0, b"half")
    await files.receive("F2", created_at=10)  # waits still
    await files.publish("F3", "key", created_at=10)
    await files.publish("F4", "key 2", created_at=90)
    await files.write(lambda tx: file_sets.add(tx, [a_set("S1", file_id="F3")]))

    async def purge(limit=10):
        return await files.database.write(
            old_files.SCOPE,
            lambda tx: old_files.purge(
                tx, files.scope.vendor, unfinished_before=101, before=50, limit=limit
            ),
            actor=ACTOR,
        )

    assert await purge() == ["F1", "F3"]
    assert await purge() == []
    assert await files.listed() == ["F4", "F2"]
    assert set(await files.read(lambda tx: file_sets.find_sets(tx, ["S1"]))) == {"S1"}
    assert isinstance(files.scope, Scope)
