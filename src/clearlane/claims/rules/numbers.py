"""C9: numbers that refer to something: earlier claims, certificates, attachments."""

import re
from collections.abc import Iterator

from clearlane.claims import codes
from clearlane.claims.fields import Claim, DentalClaim, MedicalClaim
from clearlane.claims.forms import form_of, names_of_forms
from clearlane.claims.rules.registry import (
    DENTAL,
    MEDICAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    on_line,
    quoted,
    rule,
)

FREQUENCIES = names_of_forms(lambda names: names.frequency)
ORIGINALS = names_of_forms(lambda names: names.original_reference)
UPINS = ("X12_RendProviderUpinNumber", "F24J_Shaded_RendProviderUpinNumber")
ATTACHMENT = (
    "X12_AttachmentReportType",
    "X12_AttachmentTransmissionCode",
    "X12_AttachmentControlNumber",
)
MAMMOGRAPHY = frozenset({"77065", "77066", "77067", "G0202", "G0204", "G0206"})

_CLIA = re.compile(r"\d{2}D\d{7}", re.ASCII)
_MAMMOGRAPHY = re.compile(r"[0-9A-Z]{6,}", re.ASCII)
_UPIN = re.compile(r"[A-Z]{1,3}\d{3,5}", re.ASCII)


@rule("C901", fields=ORIGINALS, x12="2300/REF:F8/02", when_filled=FREQUENCIES)
def replacement_names_the_original(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A replacement or void names the payer's number of the original claim."""
    form = form_of(claim)
    name, frequency = form.names.original_reference, form.frequency(claim)
    if frequency in (codes.REPLACEMENT, codes.VOID) and claim.__dict__.get(name) is None:
        yield (
            name,
            f"The frequency is {frequency}; give the payer's number of the original in {name}.",
        )


@rule("C902", fields=ORIGINALS, x12="2300/REF:F8/02", severity=WARNING, when_filled=ORIGINALS)
def original_number_has_a_replacement(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The payer's number of an original claim comes with a replacement or void; with an original it is not sent."""
    form = form_of(claim)
    name = form.names.original_reference
    if claim.__dict__.get(name) is not None and form.frequency(claim) == codes.ORIGINAL:
        yield (
            name,
            "There is the payer's number of an earlier claim, but the claim is an original, so the number is not sent; "
            f"give 7 (replacement) or 8 (void) in {form.names.frequency}, or leave the number out.",
        )


@rule(
    "C903",
    fields=("F23_ClinicalLaboratoryImprovementAmendmentNumber",),
    x12="2300/REF:X4/02",
    kinds=(MEDICAL,),
    when_filled=("F23_ClinicalLaboratoryImprovementAmendmentNumber",),
)
def clia_has_the_form(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A CLIA number is two digits, a D and seven digits."""
    number = claim.F23_ClinicalLaboratoryImprovementAmendmentNumber
    if number is not None and not _CLIA.fullmatch(number):
        yield (
            "F23_ClinicalLaboratoryImprovementAmendmentNumber",
            f"The CLIA number {quoted(number)} has not its form; give ten characters such as 45D0123456.",
        )


@rule(
    "C904",
    fields=("F23_MammographyCertificationNumber",),
    x12="2300/REF:EW/02",
    kinds=(MEDICAL,),
    when_filled=("F23_MammographyCertificationNumber",),
)
def mammography_number_has_the_form(
    claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A mammography certification number has six letters or digits."""
    number = claim.F23_MammographyCertificationNumber
    if number is not None and not _MAMMOGRAPHY.fullmatch(number):
        yield (
            "F23_MammographyCertificationNumber",
            f"The mammography number {quoted(number)} has not its form; give six digits or letters.",
        )


@rule(
    "C905",
    fields=("F23_MammographyCertificationNumber",),
    x12="2300/REF:EW/02",
    kinds=(MEDICAL,),
    severity=WARNING,
)
def mammography_is_certified(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A mammography comes with the facility's certification number."""
    if claim.F23_MammographyCertificationNumber is None and any(
        line.F24D_HcpcsProcedureCode in MAMMOGRAPHY for line in claim.F24_ClaimLines
    ):
        yield (
            "F23_MammographyCertificationNumber",
            "A line is a mammography; payers want the certification number of the facility.",
        )


@rule("C906", fields=UPINS, x12="2310B/REF:1G/02", kinds=(MEDICAL,))
def upin_has_the_form(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A UPIN is a letter and five digits."""
    numbers = [line.F24J_Shaded_RendProviderUpinNumber for line in claim.F24_ClaimLines]
    numbers.append(claim.X12_RendProviderUpinNumber)
    for at, number in enumerate(numbers):
        if number is not None and not _UPIN.fullmatch(number):
            yield (
                UPINS[0] if at == len(numbers) - 1 else on_line(claim, at, UPINS[1]),
                f"The UPIN {quoted(number)} has not its form; give a letter and five digits.",
            )


@rule("C907", fields=ATTACHMENT, x12="2300/PWK", kinds=(DENTAL,), when_filled=ATTACHMENT)
def attachment_is_complete(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An attachment has a type, a transmission code, and a control number unless it is available on request."""
    given = claim.__dict__
    if all(given.get(name) is None for name in ATTACHMENT):
        return
    for name in ATTACHMENT:
        on_request = name == ATTACHMENT[2] and claim.X12_AttachmentTransmissionCode == "AA"
        if given.get(name) is None and not on_request:
            yield name, f"The attachment is begun but {name} is missing; give it."


@rule("C908", fields=FREQUENCIES, x12="2300/CLM/05-3", when_filled=FREQUENCIES)
def correction_is_a_replacement(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim is an original, a replacement or a void: payers do not take frequency 6, a corrected claim."""
    form = form_of(claim)
    if form.frequency(claim) == codes.CORRECTED:
        name = form.names.frequency
        yield (
            name,
            f"Frequency 6 (corrected claim) is not accepted; to correct a claim that the payer has, give 7 in {name} "
            f"and the payer's number of that claim in {form.names.original_reference}.",
        )
