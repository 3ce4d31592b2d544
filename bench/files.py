"""The file channel: claims a second from an 837 of a site until they wait for their payer, beside the same claims as JSON."""

import asyncio
import gc
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from bench.flow import (
    ACTOR,
    PAYER,
    OneMailbox,
    memory_megabytes,
    posting_context,
    reset_peak_memory,
)
from bench.harness import Measure, bench
from bench.submit import MARK, a_claim
from clearlane.accounts.model import Site
from clearlane.claims.forms import V3_MEDICAL
from clearlane.kernel.client_file import FileChannel, FileState
from clearlane.kernel.ids import Scope
from clearlane.pipeline.intake import submit
from clearlane.pipeline.intake.files.process_file import process_file
from clearlane.pipeline.intake.files.upload import Upload
from clearlane.pipeline.outbound import dispatch

CLAIMS, PER_DOCUMENT = 5_000, 50


@bench("files.claims")
def file_claims() -> Iterator[Measure]:
    """Claims of one file: judged, staged, accepted with their 999 and 277CA, released; against documents of 50."""
    with tempfile.TemporaryDirectory() as folder:
        as_json, content = asyncio.run(_submit(Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        as_file, grown = asyncio.run(_send(Path(folder), content))
    yield Measure("files.claims", as_file, "claims/s", as_file / as_json, "documents-of-50")
    yield Measure("files.memory", grown, "MB", grown / (len(content) / 1e6), "size-of-the-file")


def _site(scope: Scope) -> Site:
    return Site(scope.site, scope.vendor, "S1", "C1", "Larkspur Clinic", baa_accepted=True)


async def _submit(folder: Path) -> tuple[float, bytes]:
    """Submit the claims as JSON; return claims a second, and the file that they become."""
    connections = OneMailbox()
    claim = a_claim() | {"Svc_PayerId": PAYER}
    document = {"DocumentType": "MedicalClaim", "Claims": [claim] * PER_DOCUMENT}
    parts = json.dumps(document, default=str).encode().split(MARK)
    async with posting_context(folder, connections) as (context, scope):
        site, taken = _site(scope), 0.0
        for start in range(0, CLAIMS, PER_DOCUMENT):
            ids = [b"C%011d" % (start + at) for at in range(PER_DOCUMENT)]
            pieces = [piece for pair in zip(parts, [*ids, b""], strict=True) for piece in pair]
            began = perf_counter()
            done = await submit.submit(
                context,
                b"".join(pieces),
                V3_MEDICAL,
                site=site,
                actor=ACTOR,
                now=context.clock.now(),
            )
            taken += perf_counter() - began
            assert isinstance(done, submit.SubmissionReceipt), done
            assert all(one.accepted for one in done.results), done.results[0].findings
        await dispatch.create_batches(context, context.clock.now(), everything=True)
        await dispatch.deliver_due(context, context.clock.now())
        [content] = connections.box.sent.values()
    return CLAIMS / taken, content


async def _send(folder: Path, content: bytes) -> tuple[float, float]:
    """Send the file of a site; return claims a second, and how memory grew in MB."""
    async with posting_context(folder, OneMailbox()) as (context, scope):
        site = _site(scope)
        await context.vault.ensure_key(scope)
        gc.collect()
        reset_peak_memory()
        before, began = memory_megabytes("VmRSS"), perf_counter()
        upload = await Upload.begin(
            context, site, name="claims.837", channel=FileChannel.HTTPS, actor=ACTOR
        )
        await upload.write(content)
        file = await upload.finish("claims.837")
        state = await process_file(context, site, file.file_id, "bench")
        taken = perf_counter() - began
        assert state == FileState.ACCEPTED.value, state
        return CLAIMS / taken, memory_megabytes("VmHWM") - before
