"""`clearlane payment pdf` and `claim pdf`: files made by another process, whole or not at all.

Also tests `cli/payment/pdf_files`.
"""

import io
import stat
import tempfile

import pypdf
import pytest

from clearlane.pdf.frames import PaymentFileHeading
from clearlane.pipeline.query import pdf_process
from clearlane.pipeline.query.pdf_process import PdfRefused, make_pdf
from tests.claims.answers import paid, payment
from tests.databases import START
from tests.payments.invented import ADJUSTMENTS, CLAIM_PAYMENTS, PAYMENT
from tests.pipeline.flowing import accounts

# The process is started deep in the product, where tests/server_marker.py does not look.
pytestmark = pytest.mark.server

HEADING = PaymentFileHeading(payment=PAYMENT, adjustments=ADJUSTMENTS)


async def in_pages(*claim_payments):
    for one in claim_payments:
        yield [one]


def text_of(file) -> str:
    pages = pypdf.PdfReader(file).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


async def test_a_file_is_made_beside_the_service_and_its_progress_reported():
    done = []
    with tempfile.TemporaryFile() as out:
        await make_pdf(HEADING, in_pages(*CLAIM_PAYMENTS), out, at=START, progress=done.append)
        assert "All 6 claims" in text_of(out)
    assert done == [1, 2, 3, 4, 5, 6]


async def test_a_fault_while_claims_are_read_leaves_no_process_and_no_file():
    async def breaking():
        yield [CLAIM_PAYMENTS[0]]
        raise LookupError("not read")

    with tempfile.TemporaryFile() as out:
        with pytest.raises(LookupError):
            await make_pdf(HEADING, breaking(), out, at=START)
        assert out.seek(0, io.SEEK_END) == 0


async def test_a_process_that_ends_early_says_why(monkeypatch):
    monkeypatch.setattr(pdf_process, "END", b"\xff" * 4)
    with tempfile.TemporaryFile() as out, pytest.raises(PdfRefused, match="FrameFault"):
        await make_pdf(HEADING, in_pages(*CLAIM_PAYMENTS), out, at=START)


def test_too_many_pages_are_refused_with_another_way():
    assert "as CSV instead" in pdf_process._sentence("TooManyPages")


@pytest.fixture
def decided(within):
    """A claim that was paid, taken back and paid anew, and one that nobody has paid; their numbers."""

    async def work(flow):
        [first, second], content = await flow.sent(2)
        account = accounts(content)[0]
        line = ("SVC*HC:99213*100*80**1", "CAS*CO*45*20")
        await flow.arrive(payment(paid(account, "1", "100", "80", *line), amount="80"))
        back = paid(account, "22", "-100", "-80", "SVC*HC:99213*-100*-80", "CAS*CO*45*-20")
        anew = paid(account, "1", "100", "95", "SVC*HC:99213*100*95**1", "CAS*PR*3*5")
        await flow.arrive(payment(back, anew, amount="15", reference="EFT2", day="20261120"))
        return first, second

    return within(work)


def test_an_operator_writes_a_payment_and_a_claim(clearlane, place, decided):
    first, second = decided
    listed = clearlane("payment list --json")
    [key] = [one["payment_id"] for one in listed if one["trace_number"] == "EFT2"]
    assert clearlane(f"payment pdf {key} --out payment.pdf") == "Wrote payment.pdf.\n"
    text = text_of(place.data / "payment.pdf")
    assert "Paid for 2 claims 15.00 Amount of the payment 15.00" in text
    assert stat.S_IMODE((place.data / "payment.pdf").stat().st_mode) == 0o600
    clearlane(f"claim pdf {first} --out claim.pdf")
    text = text_of(place.data / "claim.pdf")
    assert "In force 100.00 100.00 95.00 5.00 0.00" in text
    for decision in (
        "80.00 0.00 20.00 Paid",
        "-80.00 0.00 -20.00 Taken back",
        "95.00 5.00 0.00 Corrected: paid",
    ):
        assert decision in text
    for line, code, sentence in (
        ("payment pdf P0 --out x.pdf", 1, "There is no payment P0."),
        (
            "claim pdf C0 --out x.pdf",
            1,
            "There is no claim with the claim number or vendor claim id C0.",
        ),
        (f"claim pdf {second} --out x.pdf", 1, "No payment has decided on"),
        (
            f"payment pdf {key} --out missing/x.pdf",
            2,
            "--out: missing/x.pdf cannot be written",
        ),
    ):
        assert sentence in clearlane(line, code)
    assert not [file for file in place.data.iterdir() if file.name.startswith(".x.pdf")]
