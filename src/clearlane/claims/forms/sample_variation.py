"""Samples that differ: patient, insured's number, day and charge follow from the claim's id.

    vary(minimal_claim(form, day), form, claim_id="FIRST-1")

A payer takes two claims of one patient with the same day, code and charge for duplicates, and so does the sandbox; samples
with different ids must therefore be different claims. The same id gives the same claim, always. People are invented.
"""

import hashlib
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from clearlane.claims.codes import NOTICES
from clearlane.claims.forms import AnyForm, field_at, samples

LAST_NAMES = ("Arden", "Birch", "Fenn", "Lund", "Quill", "Sorrel", "Tarn", "Wick")
FIRST_NAMES = ("Rosa", "Tessa", "Nora", "Ines", "Maren", "Vera")
BIRTH_YEARS_FIRST, BIRTH_DAYS = 1950, 20_000
MEMBER_NUMBERS = 1_000_000_000
CHARGES_FROM, CHARGES_STEP, CHARGES = 80, 5, 25
"""In dollars: 80.00, 85.00 and so on."""
DAYS_AGO_MIN, DAYS_AGO_VARIED = 3, 25
"""How many days ago the service of a sample was, at least, and over how many days samples spread."""


BILLING_ZIP = "787012345"


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


def notice_day(claim_id: str, today: date) -> date:
    """Return the day of an admission that a sample gives notice of: not so long ago that the notice is late."""
    return today - timedelta(days=_Choices(f"day {claim_id}").below(DAYS_AGO_MIN))


def vary(
    claim: samples.JSON, form: AnyForm, *, claim_id: str, patient: tuple[str, str] | None = None
) -> samples.JSON:
    """Return a minimal claim with another patient, insured's number and charge, chosen by its id.

    ``patient`` is a last and a first name to take instead.
    """
    choices = _Choices(claim_id)
    charge = f"{CHARGES_FROM + CHARGES_STEP * choices.below(CHARGES)}.00"
    member = f"W{choices.below(MEMBER_NUMBERS):09}"
    birth = date(BIRTH_YEARS_FIRST, 1, 1) + timedelta(days=choices.below(BIRTH_DAYS))
    chosen = (
        LAST_NAMES[choices.below(len(LAST_NAMES))],
        FIRST_NAMES[choices.below(len(FIRST_NAMES))],
    )
    last, first = patient or chosen
    person = {"last_name": last, "first_name": first, "birth": birth.isoformat()}
    people = {
        form.locate(f"{who}.{name}"): value
        for who in ("patient", "subscriber")
        for name, value in person.items()
    }
    lines = claim[form.lines_field]
    asks_nothing = Decimal(claim[form.locate("total_charge")]) == 0
    # The sum of several lines stays what it is, and a notice asks for no money.
    charges = {
        form.locate("total_charge"): charge,
        form.lines_field: [{**lines[0], field_at(form, "lines[].charge"): charge}],
    }
    return {
        **claim,
        # A minimal claim may leave out the patient, who is the insured.
        **{name: value for name, value in people.items() if name in claim},
        # Most claims have these although they are not required: without them a payer would answer with a warning.
        form.locate("billing.zip"): BILLING_ZIP,
        form.locate("billing.npi"): samples.BILLING_NPI,
        form.locate("subscriber.member_id"): member,
        **(charges if len(lines) == 1 and not asks_nothing else {}),
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
    bill_type: str = ""
    """The type of bill of an institutional claim."""


def sample_claim(form: AnyForm, claim_id: str, wish: SampleWish, *, today: date) -> samples.JSON:
    """Return one claim for the sandbox's test payers."""
    chosen = notice_day if wish.bill_type[2:] in NOTICES else service_day
    day = wish.day or chosen(claim_id, today)
    document = samples.document(
        form,
        day=day,
        full=wish.full,
        insured_id=wish.scenario,
        claim_id=claim_id,
        bill_type=wish.bill_type,
    )
    [claim] = document["Claims"]
    if wish.full:
        names = (form.locate("patient.last_name"), form.locate("patient.first_name"))
        return claim | dict(zip(names, wish.patient, strict=True)) if wish.patient else dict(claim)
    varied = vary(claim, form, claim_id=claim_id, patient=wish.patient)
    if wish.scenario:
        varied[form.locate("subscriber.member_id")] = wish.scenario
    return varied
