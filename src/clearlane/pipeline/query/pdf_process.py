"""Make PDF files in a process of their own, which ends with the file.

    await make_pdf(heading, pages, out, at=clock.now())

A file of thousands of pages takes much memory for a minute; a process that ends gives it back, and the service or
command beside it never grows. The process gets values on its standard input, writes to the open file, and knows
neither the database nor a key. Knows no text for people, but that a file can be too long.
"""

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import BinaryIO

from clearlane.payments.payment import ClaimPayment
from clearlane.pdf.file_limits import PAGES_MAX, TOO_MANY_PAGES
from clearlane.pdf.frames import END, FileHeading, frame
from clearlane.pipeline.helper_process import bare_environment

PDF_SECONDS_MAX = 1_800
FAULT_CHARACTERS_MAX = 80


class PdfRefused(Exception):
    """A file that cannot be made; says why in a sentence, never what would have been in it."""


async def make_pdf(
    heading: FileHeading,
    pages: AsyncIterator[list[ClaimPayment]],
    out: BinaryIO,
    *,
    at: datetime,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Write a PDF file to an open file. ``progress`` is called with the number of claim payments handed over."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-m",
        "clearlane.pdf",
        str(int(at.timestamp())),
        stdin=asyncio.subprocess.PIPE,
        stdout=out,
        stderr=asyncio.subprocess.PIPE,
        env=bare_environment(),
    )
    try:
        async with asyncio.timeout(PDF_SECONDS_MAX):
            # A process that refuses ends early, and its pipe breaks; why is on its standard error.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                await _hand_over(process, heading, pages, progress)
            _, fault = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise PdfRefused(_sentence(fault.decode("ascii", "replace")[:FAULT_CHARACTERS_MAX]))


async def make_pdf_content(heading: FileHeading, *, at: datetime) -> bytes:
    """Return a PDF file that a heading alone describes: no claim payments follow it."""
    with tempfile.TemporaryFile() as file:
        await make_pdf(heading, _no_claim_payments(), file, at=at)
        file.seek(0)
        return file.read()


async def _no_claim_payments() -> AsyncIterator[list[ClaimPayment]]:
    pages: list[list[ClaimPayment]] = []
    for page in pages:
        yield page


async def _hand_over(
    process: asyncio.subprocess.Process,
    heading: FileHeading,
    pages: AsyncIterator[list[ClaimPayment]],
    progress: Callable[[int], None],
) -> None:
    pipe = process.stdin
    if pipe is None:
        raise PdfRefused(_sentence(""))
    done = 0
    pipe.write(frame(heading))
    async for page in pages:
        pipe.writelines(frame(one) for one in page)
        await pipe.drain()
        done += len(page)
        progress(done)
    pipe.write(END)
    await pipe.drain()


def _sentence(fault: str) -> str:
    if fault == TOO_MANY_PAGES:
        return (
            f"The file would have more than {PAGES_MAX:,} pages. Export the payment as CSV instead."
        )
    return f"The file could not be made ({fault or 'the process did not start'})."
