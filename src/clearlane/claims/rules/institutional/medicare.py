"""I191 to I199: earlier payers, what Medicare wants, what the patient is expected to owe, and payers without institutional
claims. That what is still owed is at one level (AMT*EAF) is a rule of every 837.
"""

from collections.abc import Iterator

from clearlane.claims.cob import ZERO
from clearlane.claims.codes import MEDICARE, REPLACEMENT, VOID
from clearlane.claims.rules.institutional.bill_types import BillElement, forbids, requires
from clearlane.claims.rules.institutional.claim_codes import (
    CONDITIONS,
    HI,
    OCCURRENCES,
    VALUES,
)
from clearlane.claims.rules.institutional.facility_codes import (
    ACCIDENT_PAYERS,
    ACCIDENTS,
    PRIMARY_PAYERS,
    REPLACEMENT_REASONS,
    VOID_REASONS,
)
from clearlane.claims.rules.institutional.stay import named_bill_type
from clearlane.claims.rules.registry import (
    BILL_TYPE,
    WARNING,
    FieldFinding,
    RuleInputs,
    edit_rule,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView
from clearlane.kernel.finding import Severity
from clearlane.kernel.formats import format_amount

SHARE = "institutional.patient_share"
LATE_CHARGES = "5"


def _is_medicare(view: ClaimView) -> bool:
    return view.payer.coverage in MEDICARE


@rule(
    "I192",
    paths=(VALUES, "payer.coverage", "other_payers[0].decision.paid"),
    x12=HI,
    severity=WARNING,
)
def medicare_second_states_what_came_first(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """If Medicare pays second, a value code (12 to 16, 41, 43, 47) states what the first payer paid, as that stated it."""
    decided = [other.decision.paid for other in view.other_payers if other.decision is not None]
    if not _is_medicare(view) or not decided:
        return
    primary = [
        (at, one)
        for at, one in enumerate(view.institutional.value_codes)
        if one.code in PRIMARY_PAYERS
    ]
    paid = sum(decided, ZERO)
    if not primary:
        yield (
            VALUES,
            "Medicare pays after another payer, and no value code states what that paid; give 12 to 16, 41, 43 or 47 with "
            f"{format_amount(paid)}.",
        )
    elif sum([one.amount or ZERO for _, one in primary], ZERO) != paid:
        at, one = primary[0]
        yield (
            f"{VALUES}[{at}]",
            f"Value {one.code} states {format_amount(one.amount or ZERO)} of the payer before Medicare, which paid "
            f"{format_amount(paid)}; make them equal.",
        )


@rule("I292", paths=(VALUES, OCCURRENCES, "payer.coverage"), x12=HI, severity=WARNING)
def accident_payer_has_an_accident(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """If Medicare pays after a payer for accidents (values 14, 15, 47), an occurrence (01 to 06) states the day."""
    stay = view.institutional
    if not _is_medicare(view) or any(one.code in ACCIDENTS for one in stay.occurrences):
        return
    for at, one in enumerate(stay.value_codes):
        if one.code in ACCIDENT_PAYERS:
            yield (
                f"{VALUES}[{at}]",
                f"Value {one.code} is of a payer for accidents, and the day of the accident is missing; give an occurrence "
                "01 to 06.",
            )


@rule(
    "I191",
    paths=("other_payers[0].decision.paid", BILL_TYPE),
    if_form_has=BILL_TYPE,
    x12="2320/AMT:D/02",
    severity=WARNING,
)
def decision_fits_the_bill_type(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """What an earlier payer said of a stay (MIA) is on the bill of a stay, what it said of an outpatient (MOA) elsewhere."""
    bill_type = view.institutional.bill_type
    for at, other in enumerate(view.other_payers):
        is_wrong = (
            other.decided_a_stay
            and (other.decided_outpatient or forbids(BillElement.STAY_DECISION, bill_type))
        ) or (other.decided_outpatient and forbids(BillElement.OUTPATIENT_DECISION, bill_type))
        if is_wrong:
            yield (
                f"other_payers[{at}]",
                f"The earlier payer's decision does not fit the type of bill {named_bill_type(view)}; give MIA for a stay, MOA "
                "for an outpatient, and not both.",
            )


@rule("I194", paths=(SHARE, "total_charge"), x12="2300/AMT:F3/02", severity=WARNING)
def patient_share_is_part_of_the_total(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """What the patient is expected to owe is not more than the total, and not negative."""
    share, total = view.institutional.patient_share, view.total_charge
    if share is None or total is None or ZERO <= share <= total:
        return
    yield (
        SHARE,
        f"The patient is expected to owe {format_amount(share)} of a total of {format_amount(total)}; give an amount from 0 "
        "to the total.",
    )


@rule("I197", paths=(CONDITIONS, "frequency", "payer.coverage"), x12=HI, severity=WARNING)
def change_for_medicare_has_a_reason(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A replacement for Medicare has one condition code that says why (D0 to D4, D7 to D9, E0), a void D5 or D6."""
    wanted = {REPLACEMENT: REPLACEMENT_REASONS, VOID: VOID_REASONS}.get(view.frequency or "")
    if wanted is None or not _is_medicare(view):
        return
    given = [one.code for one in view.institutional.condition_codes if one.code in wanted]
    if len(given) != 1:
        yield (
            CONDITIONS,
            f"Frequency {view.frequency} for Medicare has one condition code that says why, and this claim has {len(given)}; "
            f"give one of {', '.join(sorted(wanted))}.",
        )


@rule(
    "I198",
    paths=("frequency", "payer.coverage"),
    if_form_has=BILL_TYPE,
    x12="2300/CLM/05-3",
    severity=WARNING,
)
def medicare_stay_has_no_late_charges(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Medicare takes late charges of a stay by a replacement, not by frequency 5."""
    is_stay = requires(BillElement.ACCOMMODATION, view.institutional.bill_type)
    if view.frequency == LATE_CHARGES and is_stay and _is_medicare(view):
        yield (
            "frequency",
            "Frequency 5 adds late charges, which Medicare does not take for a stay; give 7 with all charges.",
        )


@edit_rule(
    "I199",
    edit="professional_only",
    paths=(BILL_TYPE, "payer.id"),
    x12="2010BB/NM1/09",
    severity=Severity.ERROR,
)
def payer_takes_institutional_claims(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """An institutional claim goes to a payer that takes such claims."""
    yield (
        "payer.id",
        f"The payer {quoted(view.payer.id)} takes professional claims alone, no institutional ones; give the id of the payer "
        "for these.",
    )
