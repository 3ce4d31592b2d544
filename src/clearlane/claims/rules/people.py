"""C2: the patient, the insured, and how they belong together."""

from collections.abc import Iterator

from clearlane.claims import codes
from clearlane.claims.fields import Claim, DentalClaim, MedicalClaim
from clearlane.claims.forms import fields_of_forms, form_of
from clearlane.claims.rules.registry import (
    DENTAL,
    MEDICAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    quoted,
    rule,
)

PATIENT_AGE_YEARS_MAX = 125


_PERSON_FIELDS = fields_of_forms(lambda form: [name for row in form.persons for name in row[:2]])
BIRTHS = fields_of_forms(lambda form: form.birth_dates)


@rule("C201", fields=_PERSON_FIELDS, x12="2000B/SBR/02")
def self_is_the_insured(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient who is the insured has the insured's name, birth date and sex."""
    form = form_of(claim)
    if form.relationship(claim) != codes.SELF:
        return
    given = claim.__dict__
    for patient_field, insured_field, what in form.persons:
        patient, insured = given.get(patient_field), given.get(insured_field)
        if patient is not None and patient != insured and _key(patient) != _key(insured):
            yield (
                patient_field,
                f"The relationship is Self, but the patient's {what} {quoted(patient)} is not the "
                f"insured's {quoted(insured)}; make them equal, or give another relationship.",
            )


@rule(
    "C202",
    fields=("F05_PatientAddress1",),
    x12="2010CA/N3/01",
    kinds=(MEDICAL,),
    severity=WARNING,
)
def dependent_has_an_address(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient who is not the insured has a street address; without one the insured's is sent."""
    if claim.F06_PatientRelationshipToInsured != codes.SELF and claim.F05_PatientAddress1 is None:
        yield (
            "F05_PatientAddress1",
            "The patient is not the insured, and no street was given; the insured's is sent. Give the "
            "patient's own.",
        )


@rule("C203", fields=_PERSON_FIELDS, x12="2000C/PAT/01", severity=WARNING)
def dependent_is_another_person(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient who is not the insured is another person."""
    form = form_of(claim)
    if form.relationship(claim) == codes.SELF:
        return
    given = claim.__dict__
    last, first, birth, _ = form.persons
    if all(
        given.get(patient) == given.get(insured) for patient, insured, _ in (last, first, birth)
    ):
        yield (
            last[0],
            "The patient has the insured's name and birth date, but the relationship is not Self; "
            "give Self if they are the same person.",
        )


@rule(
    "C204",
    fields=fields_of_forms(lambda form: [form.persons[2][0]]),
    x12="2010CA/DMG/02",
    severity=WARNING,
)
def child_is_younger(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A child is born after the insured."""
    form = form_of(claim)
    birth, insured_birth, _ = form.persons[2]
    given = claim.__dict__
    if form.relationship(claim) == "19" and birth in given and given[birth] <= given[insured_birth]:
        yield (
            birth,
            f"The child's birth date {given.get(birth)} is not after the insured's; check both.",
        )


@rule("C205", fields=BIRTHS, x12="DMG/02")
def births_are_past(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Nobody on the claim is born in the future."""
    given = claim.__dict__
    for name in form_of(claim).birth_dates:
        birth = given.get(name)
        if birth is not None and birth > inputs.today:
            yield name, f"The birth date {birth} is in the future; give a day up to today."


@rule("C206", fields=BIRTHS, x12="DMG/02")
def births_are_not_absurd(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Nobody on the claim is older than people get."""
    given = claim.__dict__
    oldest = inputs.today.year - PATIENT_AGE_YEARS_MAX
    for name in form_of(claim).birth_dates:
        birth = given.get(name)
        if birth is not None and birth.year < oldest:
            yield name, f"The birth date {birth} lies before {oldest}; give the right year."


@rule(
    "C207",
    fields=("X12_SubscriberEntityTypeQualifier", "F18_PatientRelationship"),
    x12="2010BA/NM1/02",
    kinds=(DENTAL,),
)
def patient_is_a_person(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An insured that is no person is not the patient."""
    if (
        claim.X12_SubscriberEntityTypeQualifier == "2"
        and claim.F18_PatientRelationship == codes.SELF
    ):
        yield (
            "X12_SubscriberEntityTypeQualifier",
            "The insured is no person (2), but the relationship is Self; give 1, or another relationship.",
        )


@rule("C208", fields=("F36_PatientSignature",), x12="2300/CLM/09", kinds=(DENTAL,))
def release_is_signed(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The patient released the information the claim carries."""
    if not codes.is_signed(claim.F36_PatientSignature):
        yield (
            "F36_PatientSignature",
            f"The patient's signature says {quoted(claim.F36_PatientSignature)}; a claim may be sent only "
            "with the patient's release, such as SIGNATURE ON FILE.",
        )


def _key(value: object) -> object:
    # O'NEIL, O NEIL and ONEIL are one name.
    return "".join(filter(str.isalnum, value)) if isinstance(value, str) else value
