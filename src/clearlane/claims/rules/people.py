"""C2: the patient, the insured, and how they belong together."""

from collections.abc import Iterator
from datetime import date

from clearlane.claims import codes
from clearlane.claims.fields import Claim, DentalClaim, MedicalClaim
from clearlane.claims.rules.registry import (
    DENTAL,
    MEDICAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    quoted,
    rule,
)
from clearlane.kernel import limits

# Patient's field, insured's field, and what it is.
MEDICAL_PAIRS = (
    ("F02_PatientNameLast", "F04_InsuredNameLast", "last name"),
    ("F02_PatientNameFirst", "F04_InsuredNameFirst", "first name"),
    ("F03_PatientDob", "F11A_InsuredDob", "birth date"),
    ("F03_PatientSex", "F11A_InsuredSex", "sex"),
)
DENTAL_PAIRS = (
    ("F20_PatientLastName", "F12_InsuredLastName", "last name"),
    ("F20_PatientFirstName", "F12_InsuredFirstName", "first name"),
    ("F20_PatientDOB", "F13_InsuredDOB", "birth date"),
    ("F22_PatientSex", "F14_InsuredSex", "sex"),
)
BIRTHS = (
    "F03_PatientDob",
    "F11A_InsuredDob",
    "F09B_OtherInsuredDOB",
    "F20_PatientDOB",
    "F13_InsuredDOB",
    "F06_OtherInsuredDOB",
)
NOT_SIGNED = frozenset({"N", "NO", "NONE", "FALSE", "NOT SIGNED", "NOT ON FILE", "NO SIGNATURE"})
_PAIR_FIELDS = [name for pair in (*MEDICAL_PAIRS, *DENTAL_PAIRS) for name in pair[:2]]


def relationship(claim: Claim) -> str:
    """Return the X12 code of the patient's relationship to the insured."""
    if isinstance(claim, MedicalClaim):
        return claim.F06_PatientRelationshipToInsured
    return claim.F18_PatientRelationship


def patient_birth(claim: Claim) -> date:
    """Return the patient's birth date; a dental claim for the insured need not repeat it."""
    if isinstance(claim, MedicalClaim):
        return claim.F03_PatientDob
    return claim.F20_PatientDOB or claim.F13_InsuredDOB


def is_signed(signature: str | None) -> bool:
    """Return whether a signature field states that there is a signature."""
    return bool(signature) and signature not in NOT_SIGNED


@rule("C201", fields=_PAIR_FIELDS, x12="2000B/SBR/02")
def self_is_the_insured(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient who is the insured has the insured's name, birth date and sex."""
    if relationship(claim) != codes.SELF:
        return
    given = claim.__dict__
    for patient, insured, what in _pairs(claim):
        if given.get(patient) is not None and _key(given.get(patient)) != _key(given.get(insured)):
            yield (
                patient,
                f"The relationship is Self, but the patient's {what} {quoted(given.get(patient))} is not the "
                f"insured's {quoted(given.get(insured))}; make them equal, or give another relationship.",
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
    if relationship(claim) != codes.SELF and claim.F05_PatientAddress1 is None:
        yield (
            "F05_PatientAddress1",
            "The patient is not the insured, and no street was given; the insured's is sent. Give the "
            "patient's own.",
        )


@rule("C203", fields=_PAIR_FIELDS, x12="2000C/PAT/01", severity=WARNING)
def dependent_is_another_person(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient who is not the insured is another person."""
    if relationship(claim) == codes.SELF:
        return
    given = claim.__dict__
    last, first, birth, _ = _pairs(claim)
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
    fields=("F03_PatientDob", "F20_PatientDOB"),
    x12="2010CA/DMG/02",
    severity=WARNING,
)
def child_is_younger(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A child is born after the insured."""
    birth, insured_birth, _ = _pairs(claim)[2]
    given = claim.__dict__
    if relationship(claim) == "19" and birth in given and given[birth] <= given[insured_birth]:
        yield (
            birth,
            f"The child's birth date {given.get(birth)} is not after the insured's; check both.",
        )


@rule("C205", fields=BIRTHS, x12="DMG/02")
def births_are_past(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Nobody on the claim is born in the future."""
    given = claim.__dict__
    for name in BIRTHS:
        birth = given.get(name)
        if birth is not None and birth > inputs.today:
            yield name, f"The birth date {birth} is in the future; give a day up to today."


@rule("C206", fields=BIRTHS, x12="DMG/02")
def births_are_not_absurd(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Nobody on the claim is older than people get."""
    given = claim.__dict__
    oldest = inputs.today.year - limits.PATIENT_AGE_YEARS_MAX
    for name in BIRTHS:
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
    if claim.X12_SubscriberEntityTypeQualifier == "2" and relationship(claim) == codes.SELF:
        yield (
            "X12_SubscriberEntityTypeQualifier",
            "The insured is no person (2), but the relationship is Self; give 1, or another relationship.",
        )


@rule("C208", fields=("F36_PatientSignature",), x12="2300/CLM/09", kinds=(DENTAL,))
def release_is_signed(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The patient released the information the claim carries."""
    if not is_signed(claim.F36_PatientSignature):
        yield (
            "F36_PatientSignature",
            f"The patient's signature says {quoted(claim.F36_PatientSignature)}; a claim may be sent only "
            "with the patient's release, such as SIGNATURE ON FILE.",
        )


def _pairs(claim: Claim) -> tuple[tuple[str, str, str], ...]:
    return MEDICAL_PAIRS if isinstance(claim, MedicalClaim) else DENTAL_PAIRS


def _key(value: object) -> object:
    # O'NEIL, O NEIL and ONEIL are one name.
    return "".join(filter(str.isalnum, value)) if isinstance(value, str) else value
