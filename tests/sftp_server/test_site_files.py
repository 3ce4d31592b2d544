"""OpenSSH's client puts, resumes, lists, gets and removes: what is received, when, and what never happens.

Also tests `sftp_server/account_session`, `sftp_server/transfers`.
"""

import asyncio
import inspect
import shutil

import asyncssh
import pytest
from sqlalchemy import select

from clearlane.accounts.model import SiteState
from clearlane.kernel.client_file import FileDirection
from clearlane.sftp_server import site_files
from clearlane.sftp_server.site_files import SiteFiles
from clearlane.store.accounts.accounts import set_site_state
from clearlane.store.database.schema import audit
from clearlane.store.database.sql import Statement
from clearlane.store.files import client_files
from tests.databases import KINDS
from tests.patience import until
from tests.sftp_server.openssh import (
    BY,
    HOST,
    SITE,
    add_out_file,
    add_test_account,
    add_test_site,
    needs_openssh,
    open_node,
    run,
    serve_sftp,
)

CLAIMS = b"ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       ~" * 3
LARGE = bytes(range(256)) * 10_000  # two parts and a half


async def find_upload(place, name):
    async with place.installation.database.read(place.scope) as tx:
        return await client_files.find_upload(tx, name)


@needs_openssh
async def test_a_file_that_is_put_is_received_whole(sftp):
    (sftp.folder / "claims.837").write_bytes(LARGE)
    code, printed = await sftp.sftp("put claims.837 in/claims.837", "ls in")
    assert (code, "claims.837" in printed) == (0, True), printed
    [file] = await sftp.files()
    assert (file.name, file.bytes, file.channel, file.state) == (
        "claims.837", len(LARGE), "sftp", "received",
    )  # fmt: skip
    assert await sftp.content(file) == LARGE


@needs_openssh
@pytest.mark.parametrize("ending", [".part", ".tmp", ".filepart"])
async def test_a_file_under_an_unfinished_name_is_received_by_its_rename(sftp, ending):
    (sftp.folder / "a").write_bytes(CLAIMS)
    code, printed = await sftp.sftp(f"put a in/claims.837{ending}", "ls in")
    assert (code, "claims" in printed) == (0, False), printed
    assert await sftp.files() == []
    code, _ = await sftp.sftp(f"rename in/claims.837{ending} in/claims.837")
    [file] = await sftp.files()
    assert (code, file.name, await sftp.content(file)) == (0, "claims.837", CLAIMS)


@needs_openssh
async def test_a_client_that_is_killed_leaves_a_part_which_no_list_shows_and_reput_goes_on(sftp):
    (sftp.folder / "claims.837").write_bytes(LARGE)
    slow = [*await sftp.ssh_options(), "-l", "4000"]  # half a megabyte a second
    process = await asyncio.create_subprocess_exec(
        "sftp", *slow, "-b", "-", f"{sftp.name}@{HOST}",
        cwd=sftp.folder, stdin=asyncio.subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    process.stdin.write(b"put claims.837 in/claims.837\n")
    await until(lambda: find_upload(sftp, "claims.837"))
    await asyncio.sleep(0.5)
    process.kill()  # of sftp alone: its ssh ends the channel, and the connection is never cut
    await process.wait()
    await until(lambda: sftp.server.connections == 0)
    part = await until(lambda: find_upload(sftp, "claims.837"))
    assert 0 < part.bytes < len(LARGE)
    assert await sftp.files() == []
    code, printed = await sftp.sftp("ls in", "reput claims.837 in/claims.837")
    assert code == 0, printed
    [file] = await sftp.files()
    assert (file.file_id, await sftp.content(file)) == (part.file_id, LARGE)


async def test_a_connection_that_is_cut_leaves_a_part(sftp):
    connection = await sftp.connect()
    client = await connection.start_sftp_client()
    file = await client.open("in/claims.837", "wb")
    await file.write(LARGE[:1_500_000])
    connection.abort()
    part = await until(lambda: stored_part(sftp, 1_500_000))
    assert await sftp.files() == []
    assert part.bytes == 1_500_000


async def stored_part(place, size):
    part = await find_upload(place, "claims.837")
    return part if part is not None and part.bytes == size else None


@needs_openssh
@pytest.mark.parametrize("database_kind", KINDS)
async def test_an_upload_goes_on_at_another_node(place, tmp_path):
    (tmp_path / "claims.837").write_bytes(LARGE)
    async with open_node(place.data, place.url) as first:
        await add_test_site(first)
        await add_test_account(first)
        async with serve_sftp(first, tmp_path) as node:
            connection = await node.connect()
            client = await connection.start_sftp_client()
            file = await client.open("in/claims.837.part", "wb")
            await file.write(LARGE[:1_200_000])
            connection.abort()
            await until(lambda: node.server.connections == 0)
    async with open_node(place.data, place.url) as second, serve_sftp(second, tmp_path) as node:
        code, printed = await node.sftp(
            "reput claims.837 in/claims.837.part", "rename in/claims.837.part in/claims.837"
        )
        assert code == 0, printed
        [file] = await node.files()
        assert await node.content(file) == LARGE
        # What goes back is listed at both, and what is fetched at one is so at the other.
        await add_out_file(second, "one.999", b"ISA")
        (tmp_path / "third").mkdir()
        async with (
            open_node(place.data, place.url) as other,
            serve_sftp(other, tmp_path / "third") as beside,
        ):
            listed = [(await each.sftp("ls -1 out"))[1] for each in (node, beside)]
            assert listed[0].splitlines()[-1] == listed[1].splitlines()[-1]
            assert ".999" in listed[0]
            await beside.sftp("rm out/*")
            assert ".999" not in (await node.sftp("ls -1 out"))[1]


@needs_openssh
async def test_files_to_fetch_are_listed_got_and_removed(sftp):
    await add_out_file(sftp.installation, "one.999", LARGE)
    await add_out_file(sftp.installation, "two.835", b"")
    code, printed = await sftp.sftp("ls -l out", "get out/one.999 got", "get out/two.835 empty")
    assert (code, "one.999" in printed, str(len(LARGE)) in printed) == (0, True, True), printed
    assert (sftp.folder / "got").read_bytes() == LARGE
    assert (sftp.folder / "empty").read_bytes() == b""
    files = await sftp.files(FileDirection.OUT)
    assert [file.fetched_at is not None for file in files] == [True, True]
    async with await sftp.connect() as connection, connection.start_sftp_client() as client:
        folders = {each.filename: each.attrs for each in await client.readdir(".")}
        assert folders["out"].mtime == files[-1].received_at // 1_000_000
        assert (await client.stat("in")).mtime > 0  # nothing is in it yet
    code, printed = await sftp.sftp("rm out/one.999", "ls out")
    assert (code, "one.999" in printed, "two.835" in printed) == (0, False, True)
    [left] = await sftp.files(FileDirection.OUT)
    assert left.name == "two.835"
    async with sftp.installation.database.read(sftp.scope) as tx:
        hidden = await client_files.find(tx, files[0].file_id)
    assert (await sftp.content(hidden), hidden.hidden_at is not None) == (LARGE, True)
    code, printed = await sftp.sftp("get out/one.999 again")
    assert (code, "not found" in printed) == (1, True), printed


async def test_a_file_that_was_read_in_part_is_not_fetched(sftp):
    await add_out_file(sftp.installation, "one.999", LARGE)
    async with await sftp.connect() as connection:
        client = await connection.start_sftp_client()
        async with client.open("out/one.999", "rb") as file:
            assert await file.read(1_000, 5_000) == LARGE[5_000:6_000]
            assert await file.read(100, len(LARGE)) == b""
    [left] = await sftp.files(FileDirection.OUT)
    assert left.fetched_at is None


@needs_openssh
async def test_new_scp_copies_both_ways(sftp):
    (sftp.folder / "claims.837").write_bytes(CLAIMS)
    await add_out_file(sftp.installation, "one.999", CLAIMS)
    code, printed = await sftp.scp("-p", "claims.837", ":in/")
    assert code == 0, printed
    code, printed = await sftp.scp("claims.837", ":in/claims.837")  # once more: another file
    assert code == 0, printed
    code, printed = await sftp.scp(":out/one.999", "got")
    assert (code, (sftp.folder / "got").read_bytes()) == (0, CLAIMS), printed
    assert [file.name for file in await sftp.files()] == ["claims.837", "claims.837"]
    assert {await sftp.content(file) for file in await sftp.files()} == {CLAIMS}
    code, _ = await sftp.scp("-O", "claims.837", ":in/old.837")  # the old protocol runs a command
    assert code != 0


@needs_openssh
async def test_a_file_sent_again_under_its_name_is_another_file(sftp):
    for content in (CLAIMS, LARGE):
        (sftp.folder / "claims.837").write_bytes(content)
        assert (await sftp.sftp("put claims.837 in/claims.837"))[0] == 0
    code, printed = await sftp.sftp("ls in")
    assert (code, printed.count("claims.837")) == (0, 1)
    assert [await sftp.content(file) for file in await sftp.files()] == [CLAIMS, LARGE]


# Every refusal with what a client is answered.
REFUSED = {
    "get ../../../../etc/passwd x": "not found",
    "get /etc/passwd x": "not found",
    "get in/claims.837 x": "ermission denied",
    "put a /a.837": "No such file",
    "put a out/a.837": "ermission denied",
    "put a in/sub/a.837": "No such file",
    "symlink /etc/passwd in/link": "Operation unsupported",
    "ln in/claims.837 in/copy": "Operation unsupported",
    "mkdir new": "ermission denied",
    "mkdir in": "Failure",
    "rmdir in": "ermission denied",
    "rename in/claims.837 in/other.837": "ermission denied",
    "rename out/one.999 out/one.done": "ermission denied",
    "rename out/one.999 in/one.837": "ermission denied",
    "rm in/nothing": "No such file",
    "rm out/../../one.999": "No such file",
    "ls nowhere": "not found",
}


@needs_openssh
async def test_what_is_refused_is_answered_by_a_status_and_changes_nothing(sftp):
    (sftp.folder / "a").write_bytes(CLAIMS)
    assert (await sftp.sftp("put a in/claims.837"))[0] == 0
    await add_out_file(sftp.installation, "one.999")
    code, printed = await sftp.sftp(*(f"-{line}" for line in REFUSED))
    assert code == 0, printed
    said = printed.splitlines()
    for line, answer in REFUSED.items():
        assert (await sftp.sftp(line))[0] == 1, line
        assert any(answer in each for each in said), (line, answer, printed)
    assert [file.name for file in await sftp.files()] == ["claims.837"]
    assert [file.name for file in await sftp.files(FileDirection.OUT)] == ["one.999"]
    code, printed = await sftp.sftp("chmod 777 in/claims.837", "cd ../..", "pwd", "ls")
    assert (code, "Remote working directory: /" in printed) == (0, True), printed
    assert printed.splitlines()[-1].split() == ["in", "out"]


def test_no_method_that_works_on_the_disk_is_left():
    """asyncssh's own methods open files of this machine: each that a client can reach is replaced."""
    own = {"channel", "connection", "env", "logger", "convert_attrs", "format_longname"}
    reached = {
        name for name, _ in inspect.getmembers(asyncssh.SFTPServer) if not name.startswith("_")
    }
    assert reached - own <= vars(SiteFiles).keys()


async def test_blocks_in_any_order_are_stored_in_order_and_a_gap_is_refused(sftp):
    async with await sftp.connect() as connection:
        client = await connection.start_sftp_client()
        async with client.open("in/claims.837", "wb") as file:
            await file.write(LARGE[600_000:900_000], 600_000)
            await file.write(LARGE[300_000:600_000], 300_000)
            await file.write(LARGE[:300_000], 0)
        [received] = await sftp.files()
        assert await sftp.content(received) == LARGE[:900_000]
        gap = await client.open("in/gap.837", "wb")
        await gap.write(b"later", 10)
        with pytest.raises(asyncssh.SFTPFailure, match="missing"):
            await gap.close()
        again = await client.open("in/again.837", "wb")
        await again.write(b"first", 0)
        with pytest.raises(asyncssh.SFTPFailure, match="again"):
            await again.write(b"other", 0)
        await again.write(bytes(2_500_000), 100)
        with pytest.raises(asyncssh.SFTPFailure, match="from its beginning"):
            await again.write(bytes(2_500_000), 3_000_000)
    assert [file.name for file in await sftp.files()] == ["claims.837"]


async def test_quotas_are_of_an_account_and_a_day(installation, tmp_path, monkeypatch, capfd):
    await add_test_account(installation, "small", bytes_per_day_max=100, files_per_day_max=2)
    async with serve_sftp(installation, tmp_path) as place:
        async with await place.connect(username="small") as connection:
            client = await connection.start_sftp_client()
            await put(client, "in/1", bytes(60))
            for _ in range(2):
                with pytest.raises(asyncssh.SFTPFailure, match="bytes of this day"):
                    await put(client, "in/2", bytes(60))
            # Each was within the quota when it was begun, and only one is at its end.
            for name in ("in/3.part", "in/4.part"):
                await put(client, name, bytes(30))
            await client.rename("in/3.part", "in/3")
            with pytest.raises(asyncssh.SFTPFailure, match="files of this day"):
                await client.rename("in/4.part", "in/4")
            await client.remove("in/4.part")
            with pytest.raises(asyncssh.SFTPFailure, match="files of this day"):
                await put(client, "in/4", b"")
        async with await place.connect() as connection:  # another account of the site
            client = await connection.start_sftp_client()
            await put(client, "in/4", bytes(60))
            monkeypatch.setattr(site_files, "UPLOADS_OPEN_MAX", 2)
            await put(client, "in/5.part", b"")
            with pytest.raises(asyncssh.SFTPFailure, match="unfinished"):
                await put(client, "in/6.part", b"")  # with the one that was too large
            await client.remove("in/5.part")
            await put(client, "in/6.part", b"")
    assert [file.name for file in await place.files()] == ["1", "3", "4"]
    # OpenSSH's client shows "Failure" alone: the operator can see why, once for each session and reason.
    logged = capfd.readouterr()
    lines = (logged.out + logged.err).splitlines()
    warnings = [line for line in lines if "sftp file refused" in line]
    assert [("small" in line, "bytes of" in line) for line in warnings] == [
        (True, True), (True, False), (False, False),
    ]  # fmt: skip


async def put(client, path, content):
    async with client.open(path, "wb") as file:
        await file.write(content)


async def test_a_suspended_site_fetches_and_sends_nothing(sftp):
    installation = sftp.installation
    await add_out_file(installation, "one.999")
    await set_site_state(installation.database, SITE, SiteState.SUSPENDED, actor=BY)
    await installation.refresh()
    async with await sftp.connect() as connection:
        client = await connection.start_sftp_client()
        with pytest.raises(asyncssh.SFTPPermissionDenied, match="suspended"):
            await put(client, "in/1", b"")
        assert await client.listdir("out") == [".", "..", "one.999"]


async def test_names_of_a_profile(installation, tmp_path):
    await add_test_account(installation, "moved", profile="mailbox", out_folder="Reports")
    await add_test_account(installation, "endings", profile="extension")
    await add_test_account(installation, "flat", profile="root")
    made = await add_out_file(installation, "a b.999", CLAIMS)
    async with serve_sftp(installation, tmp_path) as place:
        async with await place.connect(username="moved") as connection:
            client = await connection.start_sftp_client()
            assert await client.listdir("/") == [".", "..", "SendFiles", "Reports"]
            await put(client, "SendFiles/1.837", CLAIMS)
            assert await client.listdir("Reports") == [".", "..", "a b.999"]
        async with await place.connect(username="endings") as connection:
            client = await connection.start_sftp_client()
            assert await client.listdir("out") == [".", "..", f"{made}.999"]
            async with client.open(f"out/{made}.999", "rb") as file:
                assert await file.read() == CLAIMS
            with pytest.raises(asyncssh.SFTPNoSuchFile):
                await client.stat("out/a b.999")
        async with await place.connect(username="flat") as connection:
            client = await connection.start_sftp_client()
            await put(client, "/2.837", CLAIMS)
        assert [file.name for file in await place.files()] == ["1.837", "2.837"]


async def test_files_to_fetch_are_listed_page_by_page(sftp, monkeypatch):
    monkeypatch.setattr(site_files, "LIST_PAGE_FILES", 7)
    for number in range(25):
        await add_out_file(sftp.installation, f"{number:02}.999", b"x")
    async with await sftp.connect() as connection:
        client = await connection.start_sftp_client()
        names = await client.listdir("out")
    assert sorted(names) == [".", "..", *(f"{number:02}.999" for number in range(25))]


async def test_each_access_is_audited_and_no_log_names_a_file(sftp, capfd):
    await add_out_file(sftp.installation, "ROSA-ARDEN.999")
    async with await sftp.connect() as connection:
        client = await connection.start_sftp_client()
        await put(client, "in/ROSA-ARDEN.837", CLAIMS)
        async with client.open("out/ROSA-ARDEN.999", "rb") as file:
            await file.read()
        await client.remove("out/ROSA-ARDEN.999")
    async with sftp.installation.database.read(sftp.scope) as tx:
        rows = await tx.rows(site_audit())
    actions = dict(rows)
    assert {"sftp.sign_in", "file.received", "file.fetched", "file.hidden"} <= actions.keys()
    assert all("sftp:larkspur" in actions[name] for name in ("file.fetched", "file.hidden"))
    printed = capfd.readouterr()
    assert "ARDEN" not in printed.out + printed.err


def site_audit():
    return Statement(select(audit.c.action, audit.c.actor))


@needs_openssh
async def test_a_stopped_server_keeps_what_came(installation, tmp_path):
    async with serve_sftp(installation, tmp_path) as place:
        connection = await place.connect()
        client = await connection.start_sftp_client()
        file = await client.open("in/claims.837", "wb")
        await file.write(LARGE[:400_000])
    part = await stored_part(place, 400_000)
    assert part is not None
    connection.abort()


@pytest.mark.skipif(not shutil.which("rclone"), reason="rclone is not installed")
async def test_rclone_copies_both_ways(sftp):
    (sftp.folder / "claims.837").write_bytes(LARGE)
    await add_out_file(sftp.installation, "one.999", LARGE)
    await sftp.ssh_options()  # writes the key
    remote = (
        f":sftp,host={HOST},port={sftp.server.port},user={sftp.name},"
        f"key_file={sftp.folder / sftp.name}.key:"
    )
    for source, target in (
        ("claims.837", f"{remote}in/claims.837"),
        (f"{remote}out/one.999", "got"),
    ):
        code, printed = await run("rclone", "copyto", source, target, folder=sftp.folder)
        assert code == 0, printed
    [file] = await sftp.files()
    assert (await sftp.content(file), (sftp.folder / "got").read_bytes()) == (LARGE, LARGE)
