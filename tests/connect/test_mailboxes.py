"""One table of behaviors, held by every kind of mailbox.

Also tests `connect/factory`, `connect/port`, `connect/loopback` and `connect/file_names`.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import asyncssh
import pytest

from clearlane.connect.factory import open_mailbox
from clearlane.connect.loopback import LoopbackMailbox
from clearlane.connect.port import Denied, Mailbox, Presence, Unreachable
from clearlane.payers.routes import RouteSecrets
from tests.connect import core_server, sftp_server
from tests.connect.invented import interchange, route
from tests.connect.memory import MemoryLedger, MemoryMailbox
from tests.manual_clock import ManualClock

CLOCK = ManualClock(datetime(2024, 3, 5, 12, 0, tzinfo=UTC))
FILE, OTHER = interchange(), interchange(claims=2)
EVERY_BYTE = b"ISA" + bytes(range(256)) * 20
BYTES_MAX = 100_000


@dataclass
class Bench:
    """A mailbox, and the payer's side of it."""

    mailbox: Mailbox
    arrived: Callable[[], list[bytes]]
    leave: Callable[[str, bytes], None]
    left: Callable[[], list[bytes]]
    never: Presence = Presence.ABSENT
    after: Presence = Presence.THERE


@contextlib.asynccontextmanager
async def memory(tmp_path):
    box = MemoryMailbox()
    yield Bench(
        box, lambda: [*box.sent.values()], box.files.__setitem__, lambda: [*box.files.values()]
    )


@contextlib.asynccontextmanager
async def folder(tmp_path, **options):
    inbox, outbox = tmp_path / "from", tmp_path / "to"
    inbox.mkdir()
    outbox.mkdir()
    made, secrets = route(
        "folder", inbox=inbox, outbox=outbox, uploads_stay="yes", bytes_max=BYTES_MAX, **options
    )
    box = open_mailbox(made, secrets, clock=CLOCK)
    yield Bench(
        box, lambda: held(outbox), lambda n, c: (inbox / n).write_bytes(c), lambda: held(inbox)
    )


@contextlib.asynccontextmanager
async def sftp(tmp_path, **options):
    async with sftp_server.sftp_payer(tmp_path) as payer:
        made, secrets = route(
            "sftp", RouteSecrets(password=sftp_server.PASSWORD), host="127.0.0.1", port=payer.port,
            username=sftp_server.USER, host_key=sftp_server.HOST_KEY.get_fingerprint(),
            inbox="/out", outbox="/in", allow_internal="yes", uploads_stay="yes",
            bytes_max=BYTES_MAX, seconds_max=10, **options,
        )  # fmt: skip
        box = open_mailbox(made, secrets, clock=CLOCK)
        inbox, outbox = tmp_path / "out", tmp_path / "in"
        yield Bench(
            box, lambda: held(outbox), lambda n, c: (inbox / n).write_bytes(c), lambda: held(inbox)
        )
        await box.close()


def core(form, **options):
    @contextlib.asynccontextmanager
    async def opened(tmp_path):
        async with core_server.core_payer() as payer:
            payer.keeps_mail = True
            payer.inline = options.get("attachment") == "inline"
            made, secrets = route(
                "core", RouteSecrets(password=core_server.PASSWORD), username=core_server.USER,
                url=f"https://127.0.0.1:{payer.port}/core", authority=core_server.AUTHORITY_PEM,
                form=form, allow_internal="yes", acknowledge="receipt", pickups="835",
                bytes_max=BYTES_MAX, seconds_max=10, **options,
            )  # fmt: skip
            box = open_mailbox(made, secrets, clock=CLOCK)
            yield Bench(
                box,
                lambda: [*payer.batches.values()],
                lambda n, c: payer.mail.append(("X12_835_Request_005010X221A1", n, c)),
                lambda: [content for _, _, content in payer.mail],
                Presence.UNKNOWN,
                Presence.UNKNOWN,
            )
            await box.close()

    return opened


class EchoPayer:
    """A payer that leaves what the test gives it."""

    def __init__(self):
        self.got, self.due = {}, []

    async def receive(self, name, content, now):
        self.got[name] = content

    async def busy(self, now):
        return bool(self.due)

    async def work(self, now):
        return list(self.due)

    async def confirm_delivered(self, names):
        self.due = [file for file in self.due if file[0] not in names]


@contextlib.asynccontextmanager
async def loopback(tmp_path):
    payer, ledger = EchoPayer(), MemoryLedger()
    box = LoopbackMailbox(payer, name="TST01", ledger=ledger, clock=CLOCK)
    yield Bench(
        box,
        lambda: [*payer.got.values()],
        lambda n, c: payer.due.append((n, c)),
        lambda: [v for (_, k), (v, _) in ledger._entries.items() if k.startswith("loopback/mail/")],
    )


def held(directory):
    return [file.read_bytes() for file in sorted(directory.iterdir())]


ENDS = {
    "memory": memory,
    "folder": folder,
    "sftp": sftp,
    "core soap": core("soap"),
    "core soap inline": core("soap", attachment="inline"),
    "core soap generic": core("soap", actions="generic"),
    "core mime": core("mime"),
    "loopback": loopback,
}


@pytest.fixture(params=ENDS, ids=lambda name: name.replace(" ", "-"))
async def bench(request, tmp_path):
    async with ENDS[request.param](tmp_path) as opened:
        yield opened


async def test_a_file_arrives_byte_by_byte(bench):
    await bench.mailbox.put("A1.837", FILE)
    assert bench.arrived() == [FILE]


async def test_the_same_file_again_changes_nothing(bench):
    await bench.mailbox.put("A1.837", FILE)
    await bench.mailbox.put("A1.837", FILE)
    await bench.mailbox.put("A2.837", OTHER)
    assert bench.arrived() == [FILE, OTHER]


async def test_another_file_of_the_same_name_is_refused(bench):
    await bench.mailbox.put("A1.837", FILE)
    for different in (OTHER, FILE.replace(b"ROSA", b"MILO")):
        with pytest.raises(Denied):
            await bench.mailbox.put("A1.837", different)
    assert bench.arrived() == [FILE]


async def test_after_a_crash_one_can_look(bench):
    assert await bench.mailbox.look("A1.837") is bench.never
    await bench.mailbox.put("A1.837", FILE)
    assert await bench.mailbox.look("A1.837") is bench.after
    assert await bench.mailbox.look("A2.837") is bench.never


NAMES = [
    "",
    ".",
    "..",
    "../up",
    "a/b",
    "/etc/x",
    ".hidden",
    "a\nb",
    "a b",
    "x.part",
    "é",
    "x" * 300,
]


async def test_a_name_that_is_more_than_a_name_is_refused(bench):
    for name in NAMES:
        with pytest.raises(Denied):
            await bench.mailbox.put(name, FILE)
        with pytest.raises(Denied):
            await bench.mailbox.look(name)
    assert bench.arrived() == []


async def test_files_for_us_wait_are_taken_stay_and_are_dropped(bench):
    assert await bench.mailbox.waiting() == []
    bench.leave("one.835", FILE)
    bench.leave("two.835", EVERY_BYTE)
    contents = []
    while files := await bench.mailbox.waiting():
        for file in files:
            content = await bench.mailbox.take(file.name)
            assert len(content) == file.size
            assert content in bench.left()
            assert await bench.mailbox.take(file.name) == content
            contents.append(content)
            await bench.mailbox.drop(file.name)
            await bench.mailbox.drop(file.name)
            assert content not in bench.left()
    assert sorted(contents) == sorted([FILE, EVERY_BYTE])
    assert bench.left() == []


async def test_what_is_not_for_us_is_not_taken(bench):
    for name in ("absent.835", "../one.835", "/etc/passwd", ".hidden", ""):
        with pytest.raises(Denied):
            await bench.mailbox.take(name)


async def test_closing_twice_is_closing(bench):
    bench.leave("one.835", FILE)
    (before,) = await bench.mailbox.waiting()
    await bench.mailbox.close()
    await bench.mailbox.close()
    assert bench.left() == [FILE]  # closing takes nothing
    (again,) = await bench.mailbox.waiting()  # and what is used again opens again
    assert (again.name, again.size) == (before.name, before.size)


@pytest.mark.parametrize("end", [name for name in ENDS if name not in {"memory", "loopback"}])
async def test_a_file_that_is_too_large_is_neither_sent_nor_collected(end, tmp_path):
    async with ENDS[end](tmp_path) as bench:
        with pytest.raises(Denied, match="larger than 100000 bytes"):
            await bench.mailbox.put("A1.837", interchange(filler=BYTES_MAX))
        assert bench.arrived() == []
        if end in {"folder", "sftp"}:
            bench.leave("big.835", b"x" * (BYTES_MAX + 1))
            (file,) = await bench.mailbox.waiting()
            with pytest.raises(Denied, match="larger than 100000 bytes"):
                await bench.mailbox.take(file.name)


@pytest.mark.parametrize("end", ["folder", "sftp"])
async def test_what_is_no_finished_plain_file_is_not_for_us(end, tmp_path):
    async with ENDS[end](tmp_path) as bench:
        inbox = tmp_path / ("from" if end == "folder" else "out")
        (inbox / "dir.835").mkdir()
        (inbox / "link.835").symlink_to("/etc/hostname")
        (inbox / "half.835.part").write_bytes(b"x")
        (inbox / "half.filepart").write_bytes(b"x")
        bench.leave("with blanks (1).835", FILE)
        assert [file.name for file in await bench.mailbox.waiting()] == ["with blanks (1).835"]
        for name in ("link.835", "dir.835"):
            with pytest.raises(Denied):
                await bench.mailbox.take(name)


@pytest.mark.parametrize("end", ["folder", "sftp"])
async def test_a_file_that_grew_since_it_was_read_is_not_dropped(end, tmp_path):
    async with ENDS[end](tmp_path) as bench:
        bench.leave("one.835", FILE)
        await bench.mailbox.take("one.835")
        bench.leave("one.835", FILE + OTHER)
        with pytest.raises(Unreachable, match="changed since it was read"):
            await bench.mailbox.drop("one.835")
        assert bench.left() == [FILE + OTHER]


@pytest.mark.parametrize("end", ["folder", "sftp"])
async def test_a_directory_that_is_gone_is_for_a_person(end, tmp_path):
    async with ENDS[end](tmp_path) as bench:
        for name in ("from", "to", "in", "out"):
            if (tmp_path / name).exists():
                (tmp_path / name).rmdir()
        box = bench.mailbox
        for call in (box.put("A1.837", FILE), box.waiting(), box.take("x.835"), box.look("A1.837")):
            with pytest.raises(Denied) as refused:
                await call
            assert "ARDEN" not in str(refused.value)


@pytest.mark.parametrize("end", ["folder", "sftp"])
async def test_a_missing_file_may_have_been_collected_unless_uploads_stay(end, tmp_path):
    async with ENDS[end](tmp_path) as bench:
        outbox = tmp_path / ("to" if end == "folder" else "in")
        box = bench.mailbox
        if end == "folder":
            box._uploads_stay = False
        else:
            box._route = replace(box._route, options={**box._route.options, "uploads_stay": False})
        assert await box.look("A1.837") is Presence.UNKNOWN
        (outbox / "A1.837.part").write_bytes(b"half")
        assert await box.look("A1.837") is Presence.ABSENT
        await box.put("A1.837", FILE)
        assert bench.arrived() == [FILE]


@pytest.mark.parametrize("open_bench", [folder, pytest.param(sftp, marks=pytest.mark.server)])
async def test_only_files_that_the_route_names_are_collected(tmp_path, open_bench):
    async with open_bench(tmp_path, inbox_names="*.835|ERA*") as bench:
        for name in ("one.835", "era_2.txt", "one.999", "odd\nname"):
            bench.leave(name, FILE)
        assert sorted(one.name for one in await bench.mailbox.waiting()) == ["era_2.txt", "one.835"]
        assert bench.mailbox.passed_over == 0


ODD_NAMES = {
    "one.835": "one.835",
    "two of (3).835": "two of (3).835",
    "Überweisung.835": "Überweisung.835",
    "a\nb\x1b[2J.835": "a%0Ab%1B%5B2J.835",
    "-rf.835": "%2Drf.835",
    "$(reboot)`x`;&.835": "%24(reboot)%60x%60%3B%26.835",
    "up..\\up.835": "up..%5Cup.835",
    "50%.835": "50%25.835",
    "50%25.835": "50%2525.835",
    "not-\udcff-utf8.835": "not-%FF-utf8.835",
    "\u202e538.835": "%E2%80%AE538.835",
    "x" * 251 + ".835": "x" * 251 + ".835",
}
"""What a payer calls its files, and under which name each is known."""


@pytest.mark.safe_default(13)
@pytest.mark.parametrize("open_bench", [folder, pytest.param(sftp, marks=pytest.mark.server)])
async def test_a_file_of_any_name_is_collected_under_an_escaped_one(tmp_path, open_bench):
    async with open_bench(tmp_path) as bench:
        for name in (*ODD_NAMES, "unfinished\n.part"):
            bench.leave(name, name.encode("utf-8", "surrogateescape"))
        files = [file.name for file in await bench.mailbox.waiting()]
        assert sorted(files) == sorted(ODD_NAMES.values())
        assert bench.mailbox.passed_over == 0
        for own, known in ODD_NAMES.items():
            assert known.isprintable()
            assert await bench.mailbox.take(known) == own.encode("utf-8", "surrogateescape")
            await bench.mailbox.drop(known)
        assert await bench.mailbox.waiting() == []
        assert len(bench.left()) == 1


@pytest.mark.server
@pytest.mark.safe_default(13)
async def test_what_a_server_lists_as_a_path_upwards_is_left_and_the_rest_is_collected(
    tmp_path, monkeypatch
):
    listed = ("../../secret.835", "/etc/passwd", "deep/one.835")

    async def scandir(self, path):
        for name in (b"..", b"good.835", *(name.encode() for name in listed)):
            mode = 0o40755 if name == b".." else 0o100644
            yield asyncssh.SFTPName(name, attrs=asyncssh.SFTPAttrs(permissions=mode, size=2))

    async with sftp(tmp_path) as bench:
        (tmp_path / "out" / "deep").mkdir()
        for place in ("secret.835", "out/good.835", "out/deep/one.835"):
            (tmp_path / place).write_bytes(b"ok")
        monkeypatch.setattr(asyncssh.SFTPServer, "scandir", scandir)
        files = sorted(file.name for file in await bench.mailbox.waiting())
        assert files == ["deep%2Fone.835", "good.835"]
        assert bench.mailbox.passed_over == 2
        for name in files:
            assert await bench.mailbox.take(name) == b"ok"
        for name in ("..%2F..%2Fsecret.835", "%2Fetc%2Fpasswd", "deep/one.835", "%2E%2E"):
            with pytest.raises(Denied):
                await bench.mailbox.take(name)
