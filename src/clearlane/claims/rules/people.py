"""C2: the patient, the insured, and how they belong together."""

import re
from collections.abc import Iterator
from datetime import date
from operator import attrgetter

from clearlane.claims import codes
from clearlane.claims.rules.dates import Span, age_on, span
from clearlane.claims.rules.registry import (
    GUIDE_FIXES,
    OUR_WRITER,
    WARNING,
    FieldFinding,
    RuleInputs,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView, PersonView, ProviderView

AGE_YEARS_LIMIT = 150
ORGANIZATION = "2"
MBI_ALONE_FROM = date(2020, 1, 1)
_DIGIT = re.compile(r"\d", re.ASCII)
_LETTER, _EITHER = "[AC-HJKMNP-RT-Y]", "[0-9AC-HJKMNP-RT-Y]"
_MBI = re.compile(
    rf"[1-9]{_LETTER}{_EITHER}\d{_LETTER}{_EITHER}\d{_LETTER}{_LETTER}\d\d",
    re.ASCII | re.IGNORECASE,
)


# What identifies a person, and what a sentence calls it.
IDENTITY = {
    "last_name": "last name",
    "first_name": "first name",
    "birth": "birth date",
    "sex": "sex",
}
PERSONS = [f"{whose}.{name}" for name in IDENTITY for whose in ("patient", "subscriber")]
BIRTHS = ("patient.birth", "subscriber.birth", "other_payers[0].insured.birth")


@rule("C201", paths=PERSONS, x12="2000B/SBR/02")
def self_is_the_insured(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient who is the insured has the insured's name, birth date and sex."""
    if view.subscriber.relationship != codes.SELF:
        return
    for name, what in IDENTITY.items():
        patient, insured = getattr(view.patient, name), getattr(view.subscriber, name)
        if patient is not None and patient != insured and _key(patient) != _key(insured):
            yield (
                f"patient.{name}",
                f"The relationship is Self, but the patient's {what} {quoted(patient)} is not the "
                f"insured's {quoted(insured)}; make them equal, or give another relationship.",
            )


@rule(
    "C202", paths=("patient.street",), x12="2010CA/N3/01", severity=WARNING, not_in_files=OUR_WRITER
)
def dependent_has_an_address(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient who is not the insured has a street address; without one the insured's is sent."""
    if view.subscriber.relationship != codes.SELF and view.patient.street is None:
        yield (
            "patient.street",
            "The patient is not the insured, and no street was given; the insured's is sent. Give the "
            "patient's own.",
        )


@rule("C203", paths=PERSONS, x12="2000C/PAT/01", severity=WARNING)
def dependent_is_another_person(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient who is not the insured is another person."""
    patient, insured = view.patient, view.subscriber
    if (
        insured.relationship != codes.SELF
        and patient.last_name is not None
        and patient.last_name == insured.last_name
        and patient.first_name == insured.first_name
        and patient.birth == insured.birth
    ):
        yield (
            "patient.last_name",
            "The patient has the insured's name and birth date, but the relationship is not Self; "
            "give Self if they are the same person.",
        )


@rule("C204", paths=("patient.birth",), x12="2010CA/DMG/02", severity=WARNING)
def child_is_younger(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A child is born after the insured."""
    birth, insured_birth = view.patient.birth, view.subscriber.birth
    if view.subscriber.relationship == "19" and birth and insured_birth and birth <= insured_birth:
        yield (
            "patient.birth",
            f"The child's birth date {birth} is not after the insured's; check both.",
        )


def _births(view: ClaimView) -> list[tuple[str, date]]:
    people = [("patient.birth", view.patient), ("subscriber.birth", view.subscriber)]
    if view.other_payers:
        others = enumerate(view.other_payers)
        people += [(f"other_payers[{at}].insured.birth", other.insured) for at, other in others]
    return [(path, one.birth) for path, one in people if one.birth is not None]


@rule("C205", paths=BIRTHS, x12="DMG/02", covers=("X837-BIRTH",))
def births_are_past(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """No birth date on the claim is in the future."""
    for path, birth in _births(view):
        if birth > inputs.today:
            yield path, f"The birth date {birth} is in the future; give a day up to today."


@rule("C206", paths=BIRTHS, x12="DMG/02")
def births_are_not_absurd(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """No birth date on the claim is 150 years ago or longer."""
    today = inputs.today
    for path, birth in _births(view):
        # A look at the years alone is enough for nearly every birth.
        if birth.year > today.year - AGE_YEARS_LIMIT:
            continue
        years = age_on(birth, today)
        if years >= AGE_YEARS_LIMIT:
            yield path, f"The birth date {birth} is {years} years ago; give the right year."


@rule("C207", paths=("subscriber.entity_type", "subscriber.relationship"), x12="2010BA/NM1/02")
def patient_is_a_person(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An insured that is no person is not the patient."""
    if view.subscriber.entity_type == "2" and view.subscriber.relationship == codes.SELF:
        yield (
            "subscriber.entity_type",
            "The insured is no person (2), but the relationship is Self; give 1, or another relationship.",
        )


@rule(
    "C208",
    paths=("release_signature",),
    x12="2300/CLM/09",
    when_filled=("release_signature",),
    fixed=GUIDE_FIXES,
)
def release_is_signed(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The patient released the information the claim carries."""
    signature = view.release_signature
    if signature is not None and not codes.is_signed(signature):
        yield (
            "release_signature",
            f"The patient's signature says {quoted(signature)}; a claim may be sent only "
            "with the patient's release, such as SIGNATURE ON FILE.",
        )


def _key(value: object) -> object:
    # O'NEIL, O NEIL and ONEIL are one name.
    return "".join(filter(str.isalnum, value)) if isinstance(value, str) else value


NAMES = ("last_name", "first_name")
WHOSE = ("patient", "subscriber", "other_payers[0].insured")
PROVIDERS = ("billing", "rendering", "referring", "supervising", "ordering")
_PROVIDERS = attrgetter(*PROVIDERS)


def _people(view: ClaimView) -> Iterator[tuple[str, PersonView]]:
    """Return everyone on the claim who is a person, with the path."""
    people = [("patient", view.patient), ("subscriber", view.subscriber)]
    people += [
        (f"other_payers[{at}].insured", each.insured) for at, each in enumerate(view.other_payers)
    ]
    return ((path, person) for path, person in people if person.entity_type != ORGANIZATION)


def _may_have_digits(view: ClaimView) -> bool:
    """Return whether a name on the claim has a digit: one search for all, since nearly no claim has one."""
    # These two are on every claim, most of the others on few. A missing name is written as None, without a digit.
    patient, insured = view.patient, view.subscriber
    names = f"{patient.last_name}{patient.first_name}{insured.last_name}{insured.first_name}"
    others: list[PersonView | ProviderView] = [one for one in _PROVIDERS(view) if one.first_name]
    others += [other.insured for other in view.other_payers]
    for one in others:
        names += f"{one.last_name}{one.first_name}"
    return _DIGIT.search(names) is not None


@rule(
    "C209",
    paths=[f"{whose}.{name}" for whose in (*WHOSE, *PROVIDERS) for name in NAMES],
    x12="NM1/03",
    severity=WARNING,
)
def names_have_no_digits(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A person's name has no digits."""
    if not _may_have_digits(view):
        return
    people: list[tuple[str, PersonView | ProviderView]] = list(_people(view))
    # A provider without a first name is an organization, whose name may have digits.
    providers = zip(PROVIDERS, _PROVIDERS(view), strict=True)
    people += [(role, provider) for role, provider in providers if provider.first_name]
    for path, person in people:
        for name in NAMES:
            text = getattr(person, name)
            if text and _DIGIT.search(text):
                yield f"{path}.{name}", f"The name {quoted(text)} has a digit; check it."


@rule(
    "C210",
    paths=[f"{whose}.first_name" for whose in WHOSE],
    x12="NM1/04",
    severity=WARNING,
    covers=("X837-NAME",),
)
def persons_have_first_names(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A person has a first name."""
    patient, insured = view.patient, view.subscriber
    if patient.first_name and insured.first_name and not view.other_payers:
        return
    for path, person in _people(view):
        if person.last_name and not person.first_name:
            yield f"{path}.first_name", "There is a last name without a first name; give both."


@rule("C211", paths=("subscriber.member_id",), x12="2010BA/NM1/09", severity=WARNING, reading=span)
def medicare_number_has_the_form(
    view: ClaimView, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """A Medicare number (MBI, since 2020) has eleven positions, without the letters S, L, O, I, B and Z."""
    number = view.subscriber.member_id
    if (
        view.payer.coverage in codes.MEDICARE
        and days.last >= MBI_ALONE_FROM
        and number
        and not _MBI.fullmatch(number.replace("-", ""))
    ):
        yield (
            "subscriber.member_id",
            "The number has not the form of a Medicare beneficiary identifier, such as 1EG4TE5MK73; check the card.",
        )
