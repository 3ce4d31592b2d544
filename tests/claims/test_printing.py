"""Claims on paper: what is read back out of the PDF file is where the form has its boxes, in the form's own notation.

Also tests `claims/printing/fill_form`, `claims/printing/form_notation`, `claims/printing/cms1500_boxes`,
`claims/printing/ada_boxes`, `claims/printing/sheet_type`, `claims/printing/ub04_boxes`, `claims/printing/printed_form`, `pdf/form_pdf`,
`pdf/sheet_pdf` and `pipeline/filing/claim_form_file`.
"""

import io
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pypdf
import pytest

from clearlane.claims.fields import value_at
from clearlane.claims.forms import FORMS, UB04, V3_DENTAL, V3_MEDICAL, form_of, samples
from clearlane.claims.forms.ub04_samples import bill
from clearlane.claims.printing import form_notation as notation
from clearlane.claims.printing.fill_form import PRINTED_FORMS, LeftOut, fill_form
from clearlane.claims.printing.printed_form import PAGE_HEIGHT, PAGE_WIDTH
from clearlane.claims.printing.sheet_type import SheetType
from clearlane.pdf.__main__ import make_file
from clearlane.pdf.frames import END, frame
from clearlane.pdf.sheet_pdf import NOT_FOR_SUBMISSION
from clearlane.pipeline.filing.claim_form_file import (
    ClaimOnForm,
    _form_heading,
    _sheet_heading,
)
from tests.cases import every_case
from tests.claims.file_claims import claims_in
from tests.claims.outgoing import outgoing, stored, written

DAY = date(2026, 11, 10)
INCH = 72
NEAR = 0.06
"""Inches: less than the width of a letter, which is a tenth, and than half a line."""

# Where the boxes are on the forms, measured on them in inches from the left and the top, and what the samples state. The
# baseline of a text is about a twelfth of an inch above the lower rule of its box.
MEASURED = {
    V3_MEDICAL: (
        (5.21, 1.61, "1EG4TE5MK73"), (0.31, 1.94, "QUILL JR, TESSA, J"), (3.31, 1.94, "07 12 1988"),
        (0.51, 6.61, "J029"), (2.71, 7.61, "99213"), (5.41, 7.61, "100 00"), (7.01, 7.61, "1679576722"),
        (5.6, 9.61, "500 00"), (5.21, 10.44, "1234567893"),
    ),
    V3_DENTAL: (
        (4.45, 1.44, "ARDEN, ROSA, J, JR"), (6.62, 2.28, "IID4711"), (0.35, 4.94, "11/10/2026"), (3.81, 4.94, "D2392"),
        (7.69, 4.94, "100.00"), (7.69, 6.94, "200.00"), (0.35, 10.34, "1234567893"),
    ),
    UB04: (
        (7.85, 0.43, "0117"), (6.15, 0.76, "110726"), (0.15, 3.1, "0120"), (6.45, 3.1, "150000"), (6.45, 6.76, "600000"),
        (0.25, 8.93, "K3580"), (6.85, 6.93, "1234567893"),
    ),
}  # fmt: skip


def on_form(form, claim, made_on=DAY) -> ClaimOnForm:
    filled = fill_form(form_of(claim).view(claim), made_on=made_on)
    return ClaimOnForm(claim_number="C1", patient="ARDEN, ROSA", filled=filled)


def sample(form, **own):
    return stored(form, samples.extended_claim(form, DAY) | own)


def pdf_of(heading) -> pypdf.PdfReader:
    out = io.BytesIO()
    make_file(io.BytesIO(frame(heading) + END), out)
    return pypdf.PdfReader(out)


def texts_of(page) -> list[tuple[float, float, str]]:
    """The texts of a page with their places in points, as another library reads them."""
    found = []

    def visit(text, _, matrix, font, size):
        if text.strip():
            assert (font["/BaseFont"], size) == ("/Courier", 12)
            found.append((matrix[4], matrix[5], text.strip()))

    page.extract_text(visitor_text=visit)
    return found


def words_of(reader) -> str:
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


@pytest.mark.parametrize("form", list(FORMS.values()))
def test_every_text_is_read_back_at_its_place(form):
    printed = on_form(form, sample(form))
    reader = pdf_of(_form_heading(printed))
    assert len(reader.pages) == len(printed.filled.pages)
    for page, filled in zip(reader.pages, printed.filled.pages, strict=True):
        assert (page.mediabox.width, page.mediabox.height) == (PAGE_WIDTH, PAGE_HEIGHT)
        read = [(round(x, 1), round(y, 1), text) for x, y, text in texts_of(page)]
        placed = [(round(one.x, 1), round(one.y, 1), one.text.strip()) for one in filled.texts]
        assert read == placed
        for x, y, text in read:  # ten characters an inch, all of them on the page
            assert 0 <= x <= PAGE_WIDTH - 7.2 * len(text) + 1
            assert 0 < y < PAGE_HEIGHT


@pytest.mark.parametrize("form", list(FORMS.values()))
def test_texts_are_where_the_form_has_their_boxes(form):
    [page] = on_form(form, sample(form)).filled.pages
    placed = [(one.x / INCH, (PAGE_HEIGHT - one.y) / INCH, one.text) for one in page.texts]
    for x, y, text in MEASURED[form]:
        places = [one[:2] for one in placed if one[2] == text]
        assert any(abs(x - at) < NEAR and abs(y - below) < NEAR for at, below in places), (
            text,
            places,
        )


@pytest.mark.parametrize("form", list(FORMS.values()))
def test_boxes_never_overlap(form):
    printed = PRINTED_FORMS[form.kind]
    rows = [(box, place) for box in printed.boxes for place in (*box.places, *box.marks.values())]
    rows += [
        (box, place._replace(line=place.line + printed.first_row + at * printed.row_lines))
        for box in printed.line_boxes
        for place in box.places
        for at in range(printed.rows)
    ]
    for at, (box, one) in enumerate(rows):
        for other_box, other in rows[at + 1 :]:
            if abs(one.line - other.line) < 0.5 and (box.number, other_box.number) != ("28", "28"):
                apart = (
                    one.column + one.width <= other.column + 0.01
                    or other.column + other.width <= one.column + 0.01
                )
                assert apart, (box.number, one, other_box.number, other)


def with_lines(form, count):
    claim = samples.minimal_claim(form, DAY)
    lines = [claim[form.lines_field][0]] * count
    total = sum(Decimal(str(line[CHARGES[form]])) for line in lines)
    return stored(form, claim | {form.lines_field: lines, TOTALS[form]: str(total)})


CHARGES = {
    V3_MEDICAL: "F24F_Charges",
    V3_DENTAL: "F31_LineFee",
    UB04: "FL47_TotalCharges",
}
TOTALS = {
    V3_MEDICAL: "F28_TotalCharge",
    V3_DENTAL: "F32_TotalFee",
    UB04: "FL47_ClaimTotalCharges",
}


def test_more_lines_give_more_pages_and_the_form_says_where_totals_are():
    def pages(form, count):
        return [
            [one.text for one in page.texts]
            for page in on_form(form, with_lines(form, count)).filled.pages
        ]

    medical = pages(V3_MEDICAL, 13)
    assert ["99213" in page and page.count("99213") for page in medical] == [6, 6, 1]
    assert [[text for text in page if text.startswith("PAGE")] for page in medical] == [
        ["PAGE 01 OF 03"],
        ["PAGE 02 OF 03"],
        ["PAGE 03 OF 03"],
    ]
    charge = value_at(with_lines(V3_MEDICAL, 13), "F28_TotalCharge")
    total = notation.two_columns(charge)
    assert [("CONTINUED" in page, total in page) for page in medical] == [
        (True, False),
        (True, False),
        (False, True),
    ]
    # Each dental form is complete: it has the total of its own lines.
    dental = pages(V3_DENTAL, 12)
    fee = value_at(with_lines(V3_DENTAL, 1), "F32_TotalFee")
    assert [
        notation.with_point(fee * count) in page
        for count, page in zip((10, 2), dental, strict=True)
    ] == [True, True]
    institutional = pages(UB04, 23)
    assert [page.count("0001") for page in institutional] == [0, 1]
    last = on_form(UB04, with_lines(UB04, 23)).filled.pages[1].texts
    numbers = [one.text for one in last if one.number == "FL43" and one.text.isdigit()]
    assert numbers == ["2", "2"]
    for form, count in ((V3_MEDICAL, 6), (V3_DENTAL, 10), (UB04, 22)):
        assert len(pages(form, count)) == 1
        assert len(pages(form, count + 1)) == 2


def test_what_lines_share_is_named_once():
    filled = replace(
        on_form(V3_MEDICAL, sample(V3_MEDICAL)).filled,
        left_out=(
            LeftOut("4", "Insured's name", "too long."),
            *(LeftOut("24D", "Procedure", "too long.", line) for line in (1, 2, 5)),
            LeftOut("24D", "Procedure", "no space.", 3),
        ),
    )
    assert filled.left_out_sentences == [
        "Box 4 (Insured's name): too long.",
        "Box 24D, lines 1, 2 and 5 (Procedure): too long.",
        "Box 24D, line 3 (Procedure): no space.",
    ]


def test_what_does_not_fit_is_named_and_never_cut_in_silence():
    long_name, long_id = "ARDEN-QUILL-BIRCH-LUND-FENN-CORRIGAN", "W" * 40
    claim = sample(V3_MEDICAL, F04_InsuredNameLast=long_name, F23_PriorAuthorizationNumber=long_id)
    filled = on_form(V3_MEDICAL, claim).filled
    sentences = [one.sentence for one in filled.left_out]
    for part in (
        "Box 4 (Insured's name): longer than the 29 characters of the box; the first 29 are printed.",
        "Box 23 (Authorization, referral, CLIA or mammography number): longer than the 29 characters of the box; the box is left empty.",
        "Box 15 (Other day): the claim states 9 and the form has space for 1; the rest is left out.",
    ):
        assert part in sentences
    texts = [one.text for one in filled.pages[0].texts]
    assert long_name[:29] in texts
    assert not [text for text in texts if "WWW" in text]
    # The sentences go to terminals: they hold no value.
    assert not [one for one in sentences if "ARDEN" in one or "WW" in one]
    sheet = words_of(pdf_of(_sheet_heading(on_form(V3_MEDICAL, claim))))
    assert f"On the pre-printed form: {sentences[0]}" in sheet
    assert long_id in sheet.replace(" ", "")
    child_tooth = on_form(V3_DENTAL, sample(V3_DENTAL, F33_MissingTeeth=["A", "3"])).filled
    assert [one.sentence for one in child_tooth.left_out if one.number == "33"] == [
        "Box 33 (Missing teeth): the form has no box to tick for this value."
    ]


def test_codes_of_a_stay_beyond_the_form_are_named():
    many = [{"FL39_Code": f"{at}", "FL39_Amount": "1.00"} for at in range(20, 34)]
    claim = stored(UB04, bill("111", DAY) | {"FL39_ValueCodes": many})
    left_out = [one.sentence for one in on_form(UB04, claim).filled.left_out]
    assert left_out == [
        "Box FL39-41 (Value codes): the claim states 14 and the form has space for 12; the rest is left out."
    ]


@pytest.mark.parametrize("form", list(FORMS.values()))
def test_the_plain_sheet_has_every_box_and_says_that_it_is_not_for_submission(form):
    printed = on_form(form, with_lines(form, 30))
    reader = pdf_of(_sheet_heading(printed))
    for page in reader.pages:
        assert NOT_FOR_SUBMISSION in page.extract_text()
    words = words_of(reader)
    for box in printed.filled.boxes:
        assert box.words.split()[0] in words
    assert " 30 " in words


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda one: one.form_name)
def test_no_value_of_a_line_is_broken_on_the_plain_sheet(form):
    printed = on_form(form, with_lines(form, 6))
    words = words_of(pdf_of(_sheet_heading(printed))).split()
    stated = {
        word
        for line in printed.filled.lines
        for box in line
        for text in box.texts
        for word in text.split()
    }
    assert stated - {*words} == set()
    assert {each.number for line in printed.filled.lines for each in line if each.texts} <= {*words}
    phones = [box.texts for box in printed.filled.boxes if box.words.endswith("phone")]
    assert {len(texts) for texts in phones} <= {1}


def test_a_claim_is_printed_alike_whatever_it_came_as():
    for form in FORMS.values():
        json = stored(form, samples.minimal_claim(form, DAY))
        [of_file] = claims_in(written([outgoing(json)]))
        own, other = (
            {one.text for one in page.texts}
            for claim in (json, of_file)
            for page in on_form(form, claim).filled.pages
        )
        # An 837 has one number for the claim id and the account, and it leaves out what the sender may.
        assert len(own & other) >= 0.8 * len(own), own ^ other


@every_case(
    ("got", "wanted"),
    [
        (notation.capitals("Núñez  Ø'Hara"), "NUNEZ ?'HARA"),
        (notation.zip_code("787010042"), "78701-0042"),
        (notation.zip_code("78701"), "78701"),
        (notation.two_columns(Decimal("1234.5")), "1234 50"),
        (notation.joined_cents(Decimal(7)), "700"),
        (notation.with_point(None), ""),
        (notation.count(Decimal(10)), "10"),
        (notation.count(Decimal("1.50")), "1.5"),
        (notation.without_dot("j02.9"), "J029"),
        (notation.with_dot("J029"), "J02.9"),
        (notation.with_dot("I10"), "I10"),
        (notation.pointer_letters(("1", "B", None, "x")), "AB"),
        (notation.phone_parts("(512) 555-0142"), ("512", "555", "0142")),
        (notation.phone_parts("911"), ("", "", "911")),
        (notation.tax_id("123456789"), "12-3456789"),
        (notation.short_day(None), ""),
        (notation.fold_text("one two three four", (7, 6)), ["ONE TWO", "THREE FOUR"]),
        (notation.plain(notation.joined_cents(Decimal(1500))), "1,500.00"),
        (notation.plain(notation.short_day(DAY)), "Nov 10, 2026"),
        (notation.plain("x"), "x"),
    ],
)
def test_the_notation_of_forms(got, wanted):
    assert got == wanted


def test_a_sheet_has_a_name_for_its_file():
    printed = on_form(V3_MEDICAL, sample(V3_MEDICAL))
    assert printed.file_name(SheetType.PLAIN) == "C1-plain.pdf"
