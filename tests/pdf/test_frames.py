"""The process that makes PDF files: what it reads, what it refuses, and the memory that it takes.

Also tests `pdf/__main__`.
"""

import io
import subprocess
import sys
import tempfile

import pypdf
import pytest

from clearlane.pdf import frames
from clearlane.pdf.frames import END, ClaimFileHeading, PaymentFileHeading, frame
from tests.cases import by_profile
from tests.payments.invented import ADJUSTMENTS, CLAIM_PAYMENTS, PAYMENT, many

HEADING = frame(PaymentFileHeading(payment=PAYMENT, adjustments=ADJUSTMENTS))
CLAIM_HEADING = frame(ClaimFileHeading(payments=(PAYMENT, PAYMENT)))
CLAIM_PAYMENTS = [frame(one) for one in CLAIM_PAYMENTS]
MADE_AT = "1796200000"
MEMORY_MB_MAX = 200


def run(content: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "clearlane.pdf", MADE_AT]
    return subprocess.run(command, input=content, capture_output=True, check=False)


FILES = {
    "payment": ([HEADING, *CLAIM_PAYMENTS, END], "Remittance advice"),
    "claim": ([CLAIM_HEADING, *CLAIM_PAYMENTS[3:5], END], "Explanation of benefits"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_made_of_frames(name):
    content, title = FILES[name]
    answer = run(b"".join(content))
    assert (answer.returncode, answer.stderr) == (0, b"")
    file = pypdf.PdfReader(io.BytesIO(answer.stdout))
    assert title in file.pages[0].extract_text()
    assert file.metadata.creation_date.strftime("%Y-%m-%d") == "2026-12-02"


REFUSED = {
    "nothing": b"",
    "no heading": END,
    "cut within a frame": HEADING + CLAIM_PAYMENTS[0][:-5],
    "cut between frames": HEADING + CLAIM_PAYMENTS[0],
    "a frame too long": HEADING + b"\xff" * 4,
    "not a claim payment": HEADING + HEADING[:4] + b"\x01" * (len(HEADING) - 4) + END,
    "fewer claim payments than payments": CLAIM_HEADING + CLAIM_PAYMENTS[0] + END,
}


@pytest.mark.parametrize("name", REFUSED)
def test_input_that_is_not_whole_makes_no_file_and_names_no_patient(name):
    answer = run(REFUSED[name])
    assert answer.returncode == 3
    assert answer.stdout == b""
    assert answer.stderr.isalpha(), "the type of a fault, and nothing of its content"


def test_a_frame_has_a_limit(monkeypatch):
    monkeypatch.setattr(frames, "FRAME_BYTES_MAX", 10)
    with pytest.raises(frames.FrameFault, match="longer than 10 bytes"):
        frame(CLAIM_PAYMENTS[0])


# The process itself tells its peak: what the system counts for a child includes the memory of who started it.
MEASURED = """
import re, sys
from pathlib import Path
from clearlane.pdf.__main__ import main
status = main(sys.argv[1:], sys.stdin.buffer, sys.stdout.buffer)
sys.stderr.write(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
sys.exit(status)
"""


def peak_mb(count: int) -> float:
    """Return the most memory that the process takes for a payment with so many claims."""
    with tempfile.TemporaryFile() as source:
        source.write(HEADING)
        source.writelines(map(frame, many(count)))
        source.write(END)
        source.seek(0)
        command = [sys.executable, "-c", MEASURED, MADE_AT]
        answer = subprocess.run(command, stdin=source, capture_output=True, check=True)
    return int(answer.stderr) / 1024


def test_memory_stays_within_its_limit_for_20_000_claims():
    # Memory grows by the page, so the growth of a short file tells that of a long one.
    small, large = 100, by_profile(thorough=1_600, usual=800, quick=800)
    low, high = peak_mb(small), peak_mb(large)
    at_20_000 = high + (high - low) * (20_000 - large) / (large - small)
    assert at_20_000 < MEMORY_MB_MAX, (low, high)
