"""Samples that differ: patient, insured's number, day and charge follow from the claim's id.

    vary(minimal_claim(form, day), form, claim_id="FIRST-1")

A payer takes two claims of one patient with the same day, code and charge for duplicates, and so does the sandbox; samples
with different ids must therefore be different claims. The same id gives the same claim, always. People are invented.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from clearlane.claims import samples
from clearlane.claims.forms import V3_DENTAL, V3_MEDICAL, AnyForm

LAST_NAMES = ("Arden", "Birch", "Fenn", "Lund", "Quill", "Sorrel", "Tarn", "Wick")
FIRST_NAMES = ("Rosa", "Tessa", "Nora", "Ines", "Maren", "Vera")
BIRTH_YEARS_FIRST, BIRTH_DAYS = 1950, 20_000
MEMBER_NUMBERS = 1_000_000_000
CHARGES_FROM, CHARGES_STEP, CHARGES = 80, 5, 25
"""In dollars: 80.00, 85.00 and so on."""
DAYS_AGO_MIN, DAYS_AGO_VARIED = 3, 25
"""How many days ago the service of a sample was, at least, and over how many days samples spread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _VariedFields:
    """The fields of one kind of claim that vary."""

    last_names: tuple[str, ...]
    first_names: tuple[str, ...]
    birth_dates: tuple[str, ...]
    patient_of_full: tuple[str, str]
    """The patient's last and first name in a claim with every field, whose patient is not the insured."""
    line_charge: str
    usual: Mapping[str, str]
    """Fields that most claims have although they are not required: without them a payer would answer with a warning."""


_FIELDS: Mapping[AnyForm, _VariedFields] = {
    V3_MEDICAL: _VariedFields(
        last_names=("F02_PatientNameLast", "F04_InsuredNameLast"),
        first_names=("F02_PatientNameFirst", "F04_InsuredNameFirst"),
        birth_dates=("F03_PatientDob", "F11A_InsuredDob"),
        patient_of_full=("F02_PatientNameLast", "F02_PatientNameFirst"),
        line_charge="F24F_Charges",
        usual={
            "F33_BillingProviderZip": "787012345",
            "F33A_BillingProviderNpi": samples.BILLING_NPI,
        },
    ),
    V3_DENTAL: _VariedFields(
        last_names=("F12_InsuredLastName",),
        first_names=("F12_InsuredFirstName",),
        birth_dates=("F13_InsuredDOB",),
        patient_of_full=("F20_PatientLastName", "F20_PatientFirstName"),
        line_charge="F31_LineFee",
        usual={"F48_BillingDentistZip": "787012345"},
    ),
}


class _Choices:
    """Numbers that follow from a text: each call gives the next one."""

    def __init__(self, text: str) -> None:
        self._left = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")

    def below(self, count: int) -> int:
        self._left, chosen = divmod(self._left, count)
        return chosen


def service_day(claim_id: str, today: date) -> date:
    """Return the day of service of a sample: within the last weeks, chosen by its id."""
    return today - timedelta(days=DAYS_AGO_MIN + _Choices(f"day {claim_id}").below(DAYS_AGO_VARIED))


def vary(
    claim: dict[str, Any], form: AnyForm, *, claim_id: str, patient: tuple[str, str] | None = None
) -> dict[str, Any]:
    """Return a minimal claim with another patient, insured's number and charge, chosen by its id.

    ``patient`` is a last and a first name to take instead.
    """
    fields, choices = _FIELDS[form], _Choices(claim_id)
    charge = f"{CHARGES_FROM + CHARGES_STEP * choices.below(CHARGES)}.00"
    member = f"W{choices.below(MEMBER_NUMBERS):09}"
    birth = date(BIRTH_YEARS_FIRST, 1, 1) + timedelta(days=choices.below(BIRTH_DAYS))
    chosen = (
        LAST_NAMES[choices.below(len(LAST_NAMES))],
        FIRST_NAMES[choices.below(len(FIRST_NAMES))],
    )
    last, first = patient or chosen
    [line] = claim[form.lines_field]
    return {
        **claim,
        **dict.fromkeys(fields.last_names, last),
        **dict.fromkeys(fields.first_names, first),
        **dict.fromkeys(fields.birth_dates, birth.isoformat()),
        **fields.usual,
        form.locate("subscriber.member_id"): member,
        form.locate("total_charge"): charge,
        form.lines_field: [{**line, fields.line_charge: charge}],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleWish:
    """What the caller asks of a sample; its id decides the rest."""

    full: bool = False
    """Every field of the catalogue; then only the day follows from the id."""
    scenario: str = ""
    """The insured's id, which selects a test payer's response."""
    patient: tuple[str, str] | None = None
    """Last and first name."""
    day: date | None = None
    """The day of service."""


def sample_claim(form: AnyForm, claim_id: str, wish: SampleWish, *, today: date) -> dict[str, Any]:
    """Return one claim for the sandbox's test payers."""
    day = wish.day or service_day(claim_id, today)
    document = samples.document(
        form, day=day, full=wish.full, insured_id=wish.scenario, claim_id=claim_id
    )
    [claim] = document["Claims"]
    if wish.full:
        names = _FIELDS[form].patient_of_full
        return claim | dict(zip(names, wish.patient, strict=True)) if wish.patient else dict(claim)
    varied = vary(claim, form, claim_id=claim_id, patient=wish.patient)
    if wish.scenario:
        varied[form.locate("subscriber.member_id")] = wish.scenario
    return varied
