"""The PDF file of a payment: its text, fonts, properties and pages, read by another library.

Also tests `pdf/pages`, `pdf/page_parts`, `pdf/claim_table`, `pdf/fonts` and
`pdf/file_limits`.
"""

import io
from pathlib import Path

import msgspec
import pypdf
import pytest

from clearlane.payments.payment import ClaimPayment, Payment
from clearlane.pdf import file_limits, pages
from clearlane.pdf.fonts import Face, printable, text_width, wrap
from clearlane.pdf.payment_pdf import write_payment_pdf
from tests.payments.invented import (
    ADJUSTMENTS,
    CLAIM_PAYMENTS,
    HOSTILE,
    PAYMENT,
    claim_payment,
    line,
    many,
)

replace = msgspec.structs.replace

FOLDER = Path(__file__).parent


def made(payment: Payment = PAYMENT, claim_payments=CLAIM_PAYMENTS, adjustments=ADJUSTMENTS):
    out = io.BytesIO()
    write_payment_pdf(payment, adjustments, claim_payments, out)
    return pypdf.PdfReader(out)


def texts(file: pypdf.PdfReader) -> list[str]:
    return [page.extract_text() for page in file.pages]


def words(file: pypdf.PdfReader) -> str:
    return " ".join(" ".join(texts(file)).split())


def test_a_payment_reads_as_an_advice_whose_figures_add_up():
    text = words(made())
    for part in (
        "Remittance advice 699.10 HARBOR HEALTH Bank transfer (ACH), Dec 3, 2026",
        "Trace number 9981",
        "Paid for 6 claims 1,250.00 Overpayment recovery (WO) -553.00 Interest owed (L6) 2.10 Amount of the payment 699.10",
        "Overpayment recovery (WO) 88007 C1849A C1849A Dec 31, 2026 -553.00",
        "ARDEN, RUTH 1,245.00 1,045.00 1,025.00 20.00 200.00 Paid",
        "PR-3 Co-payment amount (owed by the patient) 20.00",
        "N115 This decision was based on a Local Coverage Determination (LCD).",
        "IBÁÑEZ PEÑA, JOSÉ 650.00 450.00 225.00 225.00 200.00 Partly denied",
        "99213 (billed 99214)",
        "The payer knows the patient as MAVIS J CORRIGAN, member XJ-9001.",
        "All 6 claims 2,375.00 1,675.00 1,250.00 425.00 700.00",
        "page 1 of 2",
        "page 2 of 2",
    ):
        assert part in text


def test_the_advice_holds_nothing_but_what_is_expected():
    expected = (FOLDER / "remittance_advice.txt").read_text(encoding="utf-8")
    lines = [line.rstrip() for text in texts(made()) for line in text.splitlines()]
    assert lines == expected.splitlines()


def test_amounts_end_at_the_right_edge_of_their_column_and_words_begin_at_its_left():
    column = pages.Column(100, 60, pages.Align.RIGHT)
    edge = pages.MARGIN + column.left + column.width - pages.PADDING
    style = pages.Style()
    for text in ("1.00", "1,234,567.00", "9" * 40):
        [placed] = pages.row([(column, text, style)]).texts
        assert placed.x + text_width(text, placed.style.face, placed.style.size) == pytest.approx(
            edge
        )
    [placed] = pages.row([(column._replace(align=pages.Align.LEFT), "Paid", style)]).texts
    assert placed.x == pages.MARGIN + column.left + pages.PADDING


NOTICES = {
    "unbalanced": (
        {"difference": 100, "claims_paid": 124_900},
        "leave 1.00 unexplained",
        "Not explained by the payer 1.00",
    ),
    "unreadable": ({"amount": None, "difference": None}, "amount that cannot be read"),
    "duplicate": ({"duplicate_of": "P1"}, "Duplicate of payment P1: it counts nothing."),
    "differs": ({"differs_from": "P1"}, "Payment P1 has the same payer, trace number and date"),
    "notice": ({"handling": "H", "method": "NON"}, "This is a notice; no money comes with it."),
    "shared": (
        {"your_amount": 20_000, "adjustments_total": -60_000, "claims_paid": 129_910},
        "Provider adjustments of others -49.10",
        "Your part of it 200.00",
    ),
}


@pytest.mark.parametrize("name", NOTICES)
def test_what_a_person_must_know_stands_on_the_first_page(name):
    changes, *expected = NOTICES[name]
    first = " ".join(texts(made(replace(PAYMENT, **changes)))[0].split())
    for part in expected:
        assert part in first


def test_every_font_is_embedded_and_properties_name_no_patient():
    file = made()
    fonts = {font for page in file.pages for font in page["/Resources"]["/Font"].values()}
    assert fonts
    for font in fonts:
        descriptor = font.get_object()["/FontDescriptor"]
        assert "/FontFile2" in descriptor, descriptor["/FontName"]
        assert "/ToUnicode" in font.get_object()
    assert (file.metadata.title, file.metadata.author) == ("Remittance advice", "Clearlane")
    properties = str(dict(file.metadata)).upper() + str(file.trailer["/Root"]).upper()
    for value in ("ARDEN", "CORRIGAN", "XJ-447", "C191P3", "9981"):
        assert value not in properties


def test_headings_and_a_patient_name_stand_again_on_each_further_page():
    lines = [line(at + 1, f"99{at:03}", 1_000, 1_000) for at in range(150)]
    file = made(claim_payments=[claim_payment(1, "ARDEN", "RUTH", *lines)])
    first, *others = texts(file)
    assert len(others) >= 2
    assert "(continued)" not in first
    for text in others[:-1]:
        assert text.index("Service date") < text.index("ARDEN, RUTH (continued)")
    found = words(file)
    assert all(f"99{at:03} 1 10.00" in found for at in range(150))


def test_a_claim_begins_only_where_its_first_line_fits():
    for text in texts(made(claim_payments=many(60))):
        *_, last = [row for row in text.splitlines() if row.strip()]
        rows = [row for row in text.splitlines() if row.strip()]
        begun = [at for at, row in enumerate(rows) if row.startswith("member")]
        assert all(any("99" in row for row in rows[at + 1 :]) for at in begun), last


def test_texts_of_a_payer_print_as_text():
    file = made(
        replace(PAYMENT, payer_name=HOSTILE, payee_name=HOSTILE, trace_number=HOSTILE),
        [replace(CLAIM_PAYMENTS[0], patient_last_name=HOSTILE, unmatched_reason=HOSTILE)],
        [replace(ADJUSTMENTS[0], text=HOSTILE, reference=HOSTILE * 9)],
    )
    text = words(file)
    assert "<script>alert(1)</script>" in text
    assert "endstream" in text
    assert not {"\x1b", "\u202e"} & set(text)
    names = {"/JS", "/JavaScript", "/URI", "/Launch", "/OpenAction", "/AA"}
    assert not names & {name for page in file.pages for name in page} | names & set(
        file.trailer["/Root"]
    )


def test_a_payment_without_claims_is_one_page():
    empty = replace(PAYMENT, amount=0, claims=0, claims_paid=0, adjustments_total=0)
    assert "All 0 claims 0.00" in words(made(empty, (), ()))


def test_amounts_of_any_size_stay_in_their_columns():
    huge = line(1, "99213", 99_999_999_99, -99_999_999_99)
    amount = replace(PAYMENT, amount=99_999_999_99)
    assert "99,999,999.99" in words(
        made(amount, [ClaimPayment(lines=(huge,), charge=99_999_999_99)])
    )


def test_a_file_has_a_limit_of_pages(monkeypatch):
    monkeypatch.setattr(file_limits, "PAGES_MAX", 3)
    with pytest.raises(pages.TooManyPages) as refused:
        made(claim_payments=many(60))
    assert refused.typename == file_limits.TOO_MANY_PAGES


CHARACTERS = {
    "Ñandú": "Ñandú",
    "n\u0303": "ñ",
    "Őrség": "Orség",
    "Łódź": "Łódz",
    "日\t": "? ",
    "x\u0331y": "xy",
    "\u202eA": " A",
}


@pytest.mark.parametrize("text", CHARACTERS)
def test_characters_print_or_are_replaced(text):
    assert printable(text) == CHARACTERS[text]


@pytest.mark.parametrize("width", [20.0, 55.0, 300.0])
def test_wrapped_lines_fit_and_lose_nothing(width):
    text = "Charge exceeds fee-schedule/maximum allowable " + "X" * 60
    lines = wrap(text, Face.PLAIN, 7, width)
    assert all(text_width(one, Face.PLAIN, 7) <= width for one in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
