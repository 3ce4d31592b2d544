"""The audit chain: verification names the first bad row of any tampering.

Also tests `store/audit/audit_chain` and `store/audit/anchor`.
"""

import asyncio
import contextlib
import json
import shutil
import sqlite3
from dataclasses import replace

import pytest

from clearlane.store.audit import audit
from clearlane.store.audit.anchor import Anchor, AnchorFault, AnchorNote
from clearlane.store.audit.audit_chain import ChainHead
from clearlane.store.audit.set_back import confirm_anchor, record_restore
from clearlane.store.database.database import Actor, OperationRefused, SystemScope
from clearlane.store.vault.vault import Vault
from tests.databases import START
from tests.manual_clock import ManualClock
from tests.patience import until

ALL = SystemScope("a test")
OPERATOR = Actor("operator", "nora")
ROWS = 10


class Trail:
    """Ten audited writes, and the means to verify them and to tamper with them."""

    def __init__(self, place, database, vault):
        self.place, self.database, self.vault, self.key = place, database, vault, vault.audit_key
        self.anchor = Anchor(place.data / "audit.anchor", self.key)

    async def grow(self, number=1, detail="by hand"):
        async def job(tx):
            tx.audit("claims.read", ids=["r1"], detail=detail)

        for _ in range(number):
            await self.database.write(ALL, job, actor=OPERATOR)

    async def verify(self, anchor=None):
        return await audit.verify(self.database, self.vault, anchor or self.anchor)

    def remember(self, head):
        with self.anchor.locked():
            self.anchor.advance(AnchorNote(head))

    async def tamper(self, *statements):
        """Execute statements with every right on the database."""
        if self.place.kind == "postgresql":
            connection = await self.place.raw()
            for name in ("audit_no_change_row", "audit_no_change_statement"):
                await connection.execute(f"ALTER TABLE audit DISABLE TRIGGER {name}")
            for statement in statements:
                await connection.execute(statement)
            await connection.close()
            return
        with contextlib.closing(sqlite3.connect(self.place.sqlite_file)) as connection:
            for act in ("update", "delete"):
                connection.execute(f"DROP TRIGGER IF EXISTS audit_no_{act}")
            for statement in statements:
                connection.execute(statement)
            connection.commit()


@pytest.fixture
async def trail(place, database, clock):
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    made = Trail(place, database, vault)
    await made.grow(ROWS)
    made.remember(await audit.read_head(database))
    return made


@pytest.fixture(scope="module", params=("sqlite", "postgresql"))
async def much_used(request, new_place):
    """A trail that many tests tamper with, one after the other."""
    place = await new_place(request.param)
    database = await place.open()
    vault = Vault(database, place.keys(), ManualClock(START))
    await vault.load()
    made = Trail(place, database, vault)
    await made.grow(ROWS)
    made.remember(await audit.read_head(database))
    await made.tamper(
        "CREATE TABLE kept AS SELECT * FROM audit",
        "CREATE TABLE kept_head AS SELECT * FROM audit_head",
    )
    yield made
    await database.close()


@pytest.fixture
async def lasting(much_used):
    """Yield the same trail, restored after each test."""
    yield much_used
    await much_used.tamper(
        "DELETE FROM audit",
        "DELETE FROM audit_head",
        "INSERT INTO audit SELECT * FROM kept",
        "INSERT INTO audit_head SELECT * FROM kept_head",
    )
    assert not (await much_used.verify()).fault


COLUMNS = "seq, at, vendor_id, site_id, actor, action, request_id, ids, count, detail, prev, hash"
COPY = f"INSERT INTO audit ({COLUMNS}) SELECT {COLUMNS.replace('seq,', '{seq},', 1)} FROM audit WHERE seq = {{of}}"

# What is done, and the row that is named.
TAMPERED = {
    "edit of the actor": (["UPDATE audit SET actor = 'operator:other' WHERE seq = 4"], 4),
    "edit of the ids": (["UPDATE audit SET ids = '[]' WHERE seq = 1"], 1),
    "edit of the moment": (["UPDATE audit SET at = at + 1 WHERE seq = 10"], 10),
    "edit of an empty count": (["UPDATE audit SET count = NULL WHERE seq = 3"], 3),
    "edit of the hash": (["UPDATE audit SET hash = prev WHERE seq = 5"], 5),
    "edit of the link": (["UPDATE audit SET prev = hash WHERE seq = 5"], 5),
    "deletion in the middle": (["DELETE FROM audit WHERE seq = 6"], 6),
    "deletion of the first": (["DELETE FROM audit WHERE seq = 1"], 1),
    "deletion, numbers closed up": (
        ["DELETE FROM audit WHERE seq = 6"]
        + [f"UPDATE audit SET seq = {n - 1} WHERE seq = {n}" for n in range(7, 11)],
        6,
    ),
    "insertion at the end": ([COPY.format(seq=11, of=10)], 11),
    "insertion before the first": ([COPY.format(seq=0, of=1)], 0),
    "insertion in the middle": (
        [f"UPDATE audit SET seq = {n + 1} WHERE seq = {n}" for n in range(10, 4, -1)]
        + [COPY.format(seq=5, of=4)],
        5,
    ),
    "reordering": (
        [f"UPDATE audit SET seq = {to} WHERE seq = {of}" for of, to in ((3, 99), (4, 3), (99, 4))],
        3,
    ),
    "tail cut": (["DELETE FROM audit WHERE seq > 7"], 8),
    "tail cut and the head set back": (
        [
            "DELETE FROM audit WHERE seq > 7",
            "UPDATE audit_head SET seq = 7, hash = (SELECT hash FROM audit WHERE seq = 7)",
        ],
        8,
    ),
    "everything cut and the head set back": (
        ["DELETE FROM audit", "UPDATE audit_head SET seq = 0, hash = {zero}"],
        1,
    ),
    "head set back": (
        ["UPDATE audit_head SET seq = 9, hash = (SELECT hash FROM audit WHERE seq = 9)"],
        10,
    ),
    "head set forward": (["UPDATE audit_head SET seq = 12"], 11),
    "head changed": (["UPDATE audit_head SET hash = (SELECT hash FROM audit WHERE seq = 2)"], 10),
    "head removed": (["DELETE FROM audit_head"], None),
}


async def test_an_unchanged_chain_is_intact(trail):
    assert await trail.verify() == audit.ChainVerification(ROWS, anchored=ROWS, anchored_at=0)
    await trail.grow(3)
    verified = await trail.verify()
    assert (verified.rows, verified.fault) == (ROWS + 3, "")


@pytest.mark.parametrize(("statements", "seq"), TAMPERED.values(), ids=TAMPERED.keys())
async def test_the_first_bad_row_is_named(lasting, statements, seq):
    trail = lasting
    zero = {"sqlite": "zeroblob(32)", "postgresql": "decode(repeat('00', 32), 'hex')"}
    await trail.tamper(*(text.replace("{zero}", zero[trail.place.kind]) for text in statements))
    verified = await trail.verify()
    assert verified.fault
    assert verified.seq == seq
    assert seq is None or str(seq) in verified.fault
    assert verified.rows < ROWS or seq in {None, 10, 11, 0}


async def test_an_edit_with_a_right_looking_hash_needs_the_key(trail):
    """Hashes recomputed without the key are detected."""
    from clearlane.store.audit.audit_chain import digest

    async with trail.database.read(ALL) as tx:
        rows = [list(row) for row in await tx.rows(audit._PAGE, after=0, size=100)]
    prev = rows[3][10]
    for row in rows[3:]:
        row[4] = "operator:other"
        row[10] = prev
        prev = row[11] = digest(b"a guessed key", row)
    hexed = {"sqlite": "x'{}'", "postgresql": "decode('{}', 'hex')"}[trail.place.kind]
    await trail.tamper(
        *(
            f"UPDATE audit SET actor = 'operator:other', prev = {hexed.format(row[10].hex())}, "
            f"hash = {hexed.format(row[11].hex())} WHERE seq = {row[0]}"
            for row in rows[3:]
        ),
        f"UPDATE audit_head SET hash = {hexed.format(prev.hex())}",
    )
    assert (await trail.verify()).seq == 4


async def test_a_chain_that_was_cut_and_grew_again_is_found_by_the_anchor(trail):
    await trail.tamper(*TAMPERED["tail cut and the head set back"][0])
    await trail.grow(5, "anew")  # a node that noticed nothing goes on
    verified = await trail.verify()
    assert verified.seq == ROWS
    assert "anchor" in verified.fault


async def test_the_anchor_is_never_moved_away_from_a_row_that_is_gone(trail, place):
    await trail.tamper(*TAMPERED["tail cut and the head set back"][0])
    await trail.grow(5, "anew")
    remembered = trail.anchor.read()
    await trail.database.close()  # closing anchors what is committed, if the chain allows it
    assert trail.anchor.read() == remembered
    assert "no longer holds row 10" in trail.database.anchor_fault


async def test_the_anchor_follows_the_head_and_never_leads(place, clock):
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    trail = Trail(place, database, vault)
    await trail.grow(3)
    head = await audit.read_head(database)
    noted = trail.anchor.read()
    assert noted is None or noted.head.seq <= head.seq
    await database.close()
    assert trail.anchor.read().head == head


async def test_the_anchor_moves_without_another_write(trail):
    await trail.grow(2)
    await until(lambda: trail.anchor.read().head.seq == ROWS + 2)
    assert not trail.database.anchor_fault


@pytest.mark.slow
async def test_an_anchor_that_cannot_be_written_is_reported_and_tried_again(trail):
    file = trail.anchor.file
    kept = file.rename(file.with_name("kept"))
    file.mkdir()
    await trail.grow(1)
    await until(lambda: trail.database.anchor_fault)
    file.rmdir()
    kept.rename(file)
    await until(lambda: not trail.database.anchor_fault)  # without another write
    assert trail.anchor.read().head.seq == ROWS + 1


def test_the_copy_in_syslog_is_written_once_a_minute_and_read_back_by_its_key(
    tmp_path, monkeypatch
):
    written = []
    monkeypatch.setattr("syslog.syslog", lambda _, text: written.append(text))
    anchor = Anchor(tmp_path / "audit.anchor", b"key", "syslog")
    first, second = (AnchorNote(ChainHead(seq, bytes([seq] * 32)), seq) for seq in (1, 2))
    with anchor.locked():
        anchor.advance(first)
        anchor.advance(second)
    [text] = written
    line = f"Mar  5 12:00:00 east clearlane[7]: {text}".encode()
    assert anchor.parse(line, "the log") == first
    assert anchor.read() == second
    with pytest.raises(AnchorFault, match="another installation"):
        Anchor(tmp_path / "other.anchor", bytes(32), "").parse(line, "the log")


async def test_an_anchor_goes_forward_only(tmp_path):
    anchor = Anchor(tmp_path / "anchor", b"key")
    assert anchor.read() is None
    with anchor.locked():
        anchor.advance(AnchorNote(ChainHead(5, b"5" * 32)))
        anchor.advance(AnchorNote(ChainHead(4, b"4" * 32)))
    assert anchor.read() == AnchorNote(ChainHead(5, b"5" * 32))


@pytest.mark.parametrize("change", ["seq", "hash", "mac", "text", "key"])
async def test_a_changed_anchor_is_a_fault(trail, change):
    noted = json.loads(trail.anchor.file.read_text())
    anchor = trail.anchor
    if change == "text":
        anchor.file.write_text("{")
    elif change == "key":
        anchor = Anchor(anchor.file, b"another key")
    else:
        noted[change] = 3 if change == "seq" else "00" * 32
        anchor.file.write_text(json.dumps(noted))
    with pytest.raises(AnchorFault):
        anchor.read()
    verified = await trail.verify(anchor)
    assert verified.fault
    assert verified.seq is None


async def test_without_an_anchor_the_chain_itself_is_still_verified(trail, tmp_path):
    none = Anchor(tmp_path / "none", trail.key)
    assert await trail.verify(none) == audit.ChainVerification(ROWS, anchored=None)


async def test_a_deleted_anchor_is_a_fault_and_is_not_made_anew_by_who_never_saw_it(
    trail, place, clock
):
    """Else whoever cuts the tail deletes the anchor, and nothing shows."""
    assert (
        await confirm_anchor(trail.database, clock=clock, actor=OPERATOR, may_start_over=False)
        is None
    )
    await trail.database.close()
    trail.anchor.file.unlink()
    trail.database = await place.open(clock)
    await trail.grow(3)
    verified = await trail.verify()
    assert "is missing, and the audit chain records" in verified.fault
    await trail.database.close()
    assert not trail.anchor.file.exists()
    assert "is missing" in trail.database.anchor_fault
    trail.database = await place.open(clock)
    with pytest.raises(OperationRefused, match="clearlane batch after-restore"):
        await confirm_anchor(trail.database, clock=clock, actor=OPERATOR, may_start_over=False)
    await record_restore(trail.database, clock=clock, actor=OPERATOR)
    verified = await trail.verify()
    assert (verified.fault, len(verified.restores)) == ("", 1)
    await trail.database.close()


@pytest.mark.slow
async def test_a_deleted_anchor_is_saved_anew_by_the_process_that_remembers_it(trail, clock):
    await confirm_anchor(trail.database, clock=clock, actor=OPERATOR, may_start_over=False)
    trail.anchor.file.unlink()
    await trail.grow(1)
    await until(trail.anchor.file.exists)
    await trail.tamper(*TAMPERED["tail cut and the head set back"][0])
    trail.anchor.file.unlink()
    await trail.grow(1)
    await until(lambda: "no longer holds row" in trail.database.anchor_fault)
    assert not trail.anchor.file.exists()


async def test_a_log_cut_in_half_after_a_kill_is_found_up_to_the_anchor(new_place, clock, tmp_path):
    """The rows that only the write-ahead log held are gone, and the database opens as if nothing were."""
    place = await new_place("sqlite")
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    trail = Trail(place, database, vault)
    await confirm_anchor(database, clock=clock, actor=OPERATOR, may_start_over=False)
    await trail.grow(ROWS)
    head = await audit.read_head(database)
    await until(lambda: trail.anchor.read().head == head)
    killed = replace(place, data=tmp_path / "killed")
    shutil.copytree(place.data, killed.data)
    await database.close()
    log = killed.sqlite_file.with_name("clearlane.db-wal")
    with log.open("rb+") as file:
        file.truncate(log.stat().st_size // 2)
    reopened = await killed.open(clock)
    verified = await Trail(killed, reopened, vault).verify()
    assert verified.rows < head.seq
    assert f"The anchor remembers row {head.seq}" in verified.fault
    await reopened.close()


async def test_triggers_refuse_updates_and_deletions_of_audit_rows(trail):
    async def attempt(statement):
        if trail.place.kind == "postgresql":
            connection = await trail.place.raw()
            try:
                await connection.execute(statement)
            finally:
                await connection.close()
        else:
            with contextlib.closing(sqlite3.connect(trail.place.sqlite_file)) as connection:
                connection.execute(statement)

    for statement in ("UPDATE audit SET actor = 'x'", "DELETE FROM audit WHERE seq = 3"):
        with pytest.raises(Exception, match="append-only"):
            await attempt(statement)


async def test_a_row_that_cannot_even_be_read_is_named(new_place, clock):
    place = await new_place("sqlite")
    database = await place.open(clock)
    vault = Vault(database, place.keys(), clock)
    await vault.load()
    trail = Trail(place, database, vault)
    await trail.grow(ROWS)
    await trail.tamper("UPDATE audit SET detail = CAST(x'ff' AS TEXT) WHERE seq = 7")
    assert (await trail.verify()).seq == 7
    await trail.tamper("UPDATE audit SET hash = 'text' WHERE seq = 5")
    assert (await trail.verify()).seq == 5
    await database.close()


async def test_rows_added_while_verifying_are_no_fault(trail, monkeypatch):
    monkeypatch.setattr("clearlane.store.audit.audit.AUDIT_PAGE_ROWS", 3)
    growing = asyncio.create_task(trail.grow(30))
    verifications = [await trail.verify() for _ in range(5)]
    await growing
    assert [verified.fault for verified in verifications] == [""] * 5
    assert (await trail.verify()).rows == ROWS + 30


async def test_progress_is_reported_and_ends_at_the_head(trail, monkeypatch):
    monkeypatch.setattr("clearlane.store.audit.audit.AUDIT_PAGE_ROWS", 4)
    results = []
    await audit.verify(
        trail.database, trail.vault, trail.anchor, lambda done, total: results.append((done, total))
    )
    assert results == [(4, 10), (8, 10), (10, 10)]


async def test_two_nodes_write_one_chain(place, database, clock, trail):
    other = await place.open(clock, anchor="other.anchor")
    second = Trail(place, other, trail.vault)
    await asyncio.gather(*(each.grow(20) for each in (trail, second, trail, second)))
    verified = await trail.verify()
    assert (verified.fault, verified.rows) == ("", ROWS + 80)
    await other.close()


async def test_rows_are_exported_by_time(trail, clock, monkeypatch):
    from datetime import timedelta

    from clearlane.kernel.clock import to_micros

    clock.advance(timedelta(days=1))
    start = to_micros(clock.now())
    await trail.grow(5)
    monkeypatch.setattr("clearlane.store.audit.audit.AUDIT_PAGE_ROWS", 2)
    found = [row["seq"] async for row in audit.read_between(trail.database, start, start + 1)]
    assert found == [11, 12, 13, 14, 15]
    assert [row async for row in audit.read_between(trail.database, start + 1, start + 2)] == []
