"""Time stamps of checkpoints: asked for by the service, held by proofs, checked offline; one that is wrong is named.

Also tests `pipeline/filing/stamp_checkpoints`, `connect/time_stamp_http` and `store/delivery/proof_stamps`.
"""

import asyncio
import json
from dataclasses import replace as with_parts
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from clearlane.cli.command.root import app
from clearlane.pipeline.filing.checkpoints import make_checkpoints
from clearlane.pipeline.filing.claim_proof import load_claim_proof
from clearlane.pipeline.filing.stamp_checkpoints import stamp_checkpoints
from clearlane.proofs.evidence import CheckpointStamp, write_evidence
from clearlane.proofs.time_stamp import StampFault, ask_for_stamp, read_roots, read_stamp
from clearlane.proofs.verify_proof import OWN_CLOCK, verify_file
from tests.pipeline.flowing import ACTOR, Flow
from tests.proofs.test_verify_proof import SEED, made
from tests.proofs.time_authority import TimeAuthority

AT = datetime(2026, 11, 2, 14, 1, tzinfo=UTC)


@cache
def authority(name="Elm Street Time"):
    return TimeAuthority(name)


def stamped(*, by=authority, of=0, at=AT):
    """Evidence whose checkpoints are stamped; ``of`` moves the stamps to other checkpoints."""
    evidence, _ = made()
    checkpoints = evidence.checkpoints
    stamps = []
    for place, one in enumerate(checkpoints):
        other = checkpoints[(place + of) % len(checkpoints)]
        response = by().stamp(ask_for_stamp(other), at)
        stamps.append(CheckpointStamp(checkpoint=one.number, response=response.hex()))
    return replace(evidence, stamps=tuple(stamps))


def test_a_stamp_proves_the_time_to_whoever_trusts_its_authority():
    content = write_evidence(stamped(), SEED)
    [root] = read_roots(authority().pem)
    trusted, unknown = verify_file(content, roots=[root]), verify_file(content)
    assert trusted.holds
    assert unknown.holds
    said = "heckpoint 1 existed at 2026-11-02T14:01:00Z, by a time stamp of CN=Elm Street Time"
    assert any(f"C{said}" in one for one in trusted.proven)
    assert OWN_CLOCK not in trusted.not_proven
    assert not any("time stamp" in one for one in unknown.proven)
    assert OWN_CLOCK in unknown.not_proven
    assert any(f"c{said}" in one and "--authority" in one for one in unknown.not_proven)
    assert [one.is_trusted for one in trusted.stamps] == [True, True]


def test_a_stamp_of_something_else_another_authority_or_changed_bytes_is_named():
    [root] = read_roots(authority().pem)
    evidence = stamped()

    def faults(evidence):
        return " ".join(verify_file(write_evidence(evidence, SEED), roots=[root]).faults)

    assert "stamp of something else" in faults(stamped(of=1))
    other = stamped(by=lambda: authority("Other Time"))
    assert "None of the authorities that were given signed it" in faults(other)
    first, second = evidence.stamps
    assert "is there twice" in faults(replace(evidence, stamps=(first, first)))
    assert "of none that is here" in faults(
        replace(evidence, stamps=(replace(first, checkpoint=9),))
    )
    for response in ("", "zz", first.response[:-8], "30" * 70_000):
        assert faults(replace(evidence, stamps=(replace(first, response=response), second)))
    # Another time in the same stamp.
    response = bytes.fromhex(first.response)
    at = response.index(b"20261102")
    moved = response[: at + 3] + b"5" + response[at + 4 :]
    changed = replace(evidence, stamps=(replace(first, response=moved.hex()), second))
    assert "or it was changed" in faults(changed)
    with pytest.raises(StampFault, match="no certificates in PEM"):
        read_roots(b"none")


def test_the_command_says_what_a_stamp_proves(tmp_path):
    file, root, wrong = (tmp_path / name for name in ("proof.json", "root.pem", "wrong.pem"))
    file.write_bytes(write_evidence(stamped(), SEED))
    root.write_bytes(authority().pem)
    wrong.write_bytes(authority("Other Time").pem)

    def run(*line, code=0):
        result = CliRunner().invoke(app, ["proof", "verify", str(file), *line])
        assert result.exit_code == code, result.output
        return result

    found = json.loads(run("--authority", str(root), "--json").stdout)
    assert found["stamps"][0] == {
        "checkpoint": 1, "at": "2026-11-02T14:01:00.000000Z", "authority": "CN=Elm Street Time",
        "trusted": True,
    }  # fmt: skip
    assert "--authority FILE" in " ".join(run().stdout.split())
    assert "proves nothing" in run("--authority", str(wrong), code=1).stderr
    assert "no certificates in PEM" in run("--authority", str(file), code=2).stderr


class StampServer:
    """An authority behind HTTP, on a port of this machine."""

    def __init__(self):
        self.asked = 0
        self.broken = b""

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        [socket] = self._server.sockets
        self.url = f"http://127.0.0.1:{socket.getsockname()[1]}/stamps"
        return self

    async def __aexit__(self, *_):
        self._server.close()
        await self._server.wait_closed()

    async def _answer(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = int(head.partition("content-length:")[2].split()[0])
        request = await reader.readexactly(size)
        self.asked += 1
        body = self.broken or authority().stamp(request, AT)
        writer.write(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        )
        writer.write(body)
        await writer.drain()
        writer.close()


async def test_checkpoints_are_stamped_once_and_proofs_hold_the_stamps(place, database, clock):
    flow = await Flow.open(place, database, clock)
    [number], _ = await flow.sent()
    clock.advance(timedelta(hours=2))
    assert await make_checkpoints(flow.context, clock.now()) == 1
    assert await stamp_checkpoints(flow.context) == 0  # no authority is named
    async with StampServer() as server:
        flow.context = with_parts(flow.context, timestamp_url=server.url)
        for server.broken in (b"no stamp", b"x" * 70_000):
            assert await stamp_checkpoints(flow.context) == 0
        server.broken = b""
        assert await stamp_checkpoints(flow.context) == 1
        assert await stamp_checkpoints(flow.context) == 0
        assert server.asked == 3
    proof = await load_claim_proof(flow.context, flow.site.scope, number, actor=ACTOR)
    [stamp] = proof.evidence.stamps
    [checkpoint] = proof.evidence.checkpoints
    assert read_stamp(bytes.fromhex(stamp.response), checkpoint).at == AT
    content = write_evidence(proof.evidence, flow.vault.proof_seed)
    verdict = verify_file(content, roots=read_roots(authority().pem))
    assert verdict.holds, verdict.faults
    # An authority that cannot be reached keeps nothing back.
    [_], _ = await flow.sent()
    clock.advance(timedelta(hours=2))
    assert await make_checkpoints(flow.context, clock.now()) == 1
    assert await stamp_checkpoints(flow.context) == 0
