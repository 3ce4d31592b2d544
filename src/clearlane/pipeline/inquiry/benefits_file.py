"""The benefits of a question as the heading of a PDF file: the sheet of console and commands, on paper.

heading = benefits_heading(number, sheets, notices)
"""

from collections.abc import Iterable, Iterator, Sequence

from clearlane.eligibility.benefit_sheet import BenefitSheet
from clearlane.eligibility.benefit_table import PayerError
from clearlane.payments import wording
from clearlane.pdf.frames import BenefitsFileHeading, BenefitsOfService, PatientBenefits


def benefits_heading(
    number: int, sheets: Iterable[BenefitSheet], notices: Sequence[str]
) -> BenefitsFileHeading:
    """Return the sheets of a question as the heading of a file; ``notices`` are what a reader must not miss."""
    return BenefitsFileHeading(
        number=str(number),
        asked=f"question {number}",
        notices=tuple(notices),
        patients=tuple(map(_patient, sheets)),
    )


def _refusals(errors: Iterable[PayerError]) -> Iterator[str]:
    """Yield why a payer gives no answer, or a part of one, in words with its code."""
    for error in errors:
        more = f" {error.action.rstrip('.')}." if error.action else ""
        yield f"{error.message.rstrip('.')}.{more} ({error.code})"


def _patient(sheet: BenefitSheet) -> PatientBenefits:
    table = sheet.table
    facts = [(label, wording.spell_days(value)) for label, value in sheet.facts]
    return PatientBenefits(
        patient=table.patient or "Patient",
        verdict=sheet.verdict.value,
        facts=(("Payer", table.payer), ("Member ID", table.member_id), *facts),
        notices=tuple(_refusals(table.errors)),
        balances=tuple((one.name, f"{one.text} left") for one in sheet.balances),
        columns=sheet.columns,
        groups=tuple(
            BenefitsOfService(service=one.service, coverage=one.coverage, rows=one.rows)
            for one in sheet.groups
        ),
        without_figures=tuple(
            (coverage, "; ".join(services)) for coverage, services in sheet.without_figures
        ),
        notes=tuple(table.notes),
    )
