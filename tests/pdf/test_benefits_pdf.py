"""The PDF file of benefits: what comes first, the service table over pages, and what names no patient."""

import io

import pypdf

from clearlane.pdf.benefits_pdf import write_benefits_pdf
from clearlane.pdf.frames import BenefitsFileHeading, BenefitsOfService, PatientBenefits
from clearlane.pdf.page_parts import PLAIN

PATIENT = PatientBenefits(
    patient="ARDEN, RUTH",
    verdict="Active",
    facts=(("Payer", "HARBOR HEALTH"), ("Plan", "GOLD"), ("Copay", "not stated")),
    notices=("Subscriber found, patient not found. (67)",),
    balances=(("Deductible, individual, in network", "600.00 of 1,500.00 left"),),
    columns=("Network", "Copay"),
    groups=(
        BenefitsOfService(service="Urgent care", rows=(("In", "60.00"), ("Out", "90.00"))),
        BenefitsOfService(service="Frames", coverage="Not covered", rows=(("In", "5.00"),)),
    ),
    without_figures=(("Active coverage", "Vision; Dental care"),),
    notes=("BENEFITS ARE NO PROMISE OF PAYMENT",),
)


def made(*patients, notices=()):
    out = io.BytesIO()
    heading = BenefitsFileHeading(
        number="41", asked="question 41", notices=notices, patients=patients
    )
    count = write_benefits_pdf(heading, out)
    pages = [" ".join(page.extract_text().split()) for page in pypdf.PdfReader(out).pages]
    assert count == len(pages)
    return pages


def test_the_verdict_comes_first_then_what_is_left_then_each_service():
    [page] = made(PATIENT, notices=("Payer B did not answer.",))
    order = (
        "Payer B did not answer.", "Benefits Active", "ARDEN, RUTH", "HARBOR HEALTH", "patient not found. (67)",
        "Left", "600.00 of 1,500.00 left", "Service by service", "Service Network Copay", "Urgent care In 60.00 Out 90.00",
        "Frames (Not covered) In 5.00", "Active coverage: Vision; Dental care.", "Messages of the payer",
    )  # fmt: skip
    places = [page.index(words) for words in order]
    assert places == sorted(places)


def test_amounts_are_as_large_as_every_other_text_of_the_table():
    names = (
        "Network",
        "Level",
        "Deductible",
        "Deductible left",
        "Out of pocket",
        "Copay",
        "Coinsurance",
    )
    texts = (
        "Not stated",
        "Individual",
        "12,000.00",
        "12,000.00",
        "112,000.00",
        "12,000.00",
        "100 %",
    )
    rows = (BenefitsOfService(service="Urgent care", rows=(texts, texts)),)
    out = io.BytesIO()
    patient = PatientBenefits(patient="ARDEN, RUTH", verdict="Active", columns=names, groups=rows)
    write_benefits_pdf(BenefitsFileHeading(number="41", asked="", patients=(patient,)), out)
    shown = []
    pypdf.PdfReader(out).pages[0].extract_text(
        visitor_text=lambda text, _, __, ___, size: shown.append((" ".join(text.split()), size))
    )
    assert shown.count((" ".join(texts), PLAIN.size)) == 2


def test_a_long_table_repeats_its_head_and_names_no_patient_on_further_pages():
    many = tuple(
        BenefitsOfService(service=f"Service {number}", rows=(("In", "1.00"),))
        for number in range(120)
    )
    pages = made(PatientBenefits(patient="ARDEN, RUTH", verdict="Inactive", columns=PATIENT.columns, groups=many))  # fmt: skip
    assert len(pages) > 1
    for page in pages[1:]:
        assert "Service Network Copay" in page
        assert "Benefits: question 41" in page
        assert "ARDEN" not in page


def test_what_a_payer_does_not_state_is_left_out():
    [page] = made(PatientBenefits(patient="Patient", verdict="Not stated"))
    for words in ("Left", "Service by service", "Messages"):
        assert words not in page
