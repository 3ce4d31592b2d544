"""Advise on an adjustment of an 835: by its reason, its group, the remarks beside it, and who else may pay.

    advise_adjustment(adjustment, remarks, paid, claim)     # Advice(AdviceAct.BILL_PATIENT, "Bill the patient ...")

"Bill the patient" is advised for group PR alone, and only if no further payer is known, the claim was not forwarded,
the payer is not Medicaid, and no remark says that the patient may not be billed.

Knows the tables of advice; knows no file and no database.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from clearlane.claims.fields import Claim
from clearlane.claims.forms import AnyForm, ClaimForm, form_of
from clearlane.claims.responses import code_advice
from clearlane.claims.responses.advice_act import Advice, AdviceAct
from clearlane.claims.x12_claim import X12Claim

if TYPE_CHECKING:
    from clearlane.x12.views import remittance, shared_types


def advise_adjustment(
    one: "shared_types.AdjustmentView",
    remarks: "Sequence[shared_types.RemarkView]",
    paid: "remittance.RemittanceClaimView",
    claim: Claim | AnyForm,
    *,
    is_medicaid: bool = False,
) -> Advice:
    """Return what to do about one adjustment; ``is_medicaid`` is whether the claim was sent as one for Medicaid."""
    said = {remark.code for remark in (*remarks, *_claim_remarks(paid))}
    known = code_advice.REASON_ADVICE.get(one.reason)
    if one.group == code_advice.PATIENT_GROUP and (known is None or known.patient_bears):
        return _advise_share(said, paid, claim, is_medicaid=is_medicaid)
    advice = known or code_advice.GROUP_ADVICE.get(one.group, code_advice.ASK_PAYER)
    if one.reason == code_advice.CONTRACT_WRITE_OFF:
        return advice
    if paid.paid:
        # Part of it was processed: a new claim would bill that part twice.
        return (
            code_advice.PARTLY_UNPROCESSABLE_ADVICE if code_advice.UNPROCESSABLE in said else advice
        )
    # The claim goes out as a new one whichever line has the remark, so that no other line advises a replacement.
    said |= _line_remarks(paid) if advice.act is AdviceAct.CORRECT else set()
    return code_advice.UNPROCESSABLE_ADVICE if code_advice.UNPROCESSABLE in said else advice


def _advise_share(
    said: set[str],
    paid: "remittance.RemittanceClaimView",
    claim: Claim | AnyForm,
    *,
    is_medicaid: bool,
) -> Advice:
    """Return what to do about what the payer calls the patient's responsibility."""
    if paid.forwarded_to is not None or paid.status in code_advice.FORWARDED_STATUSES:
        return code_advice.FORWARDED_ADVICE
    forbidden = [code_advice.NOT_THE_PATIENTS[code] for code in sorted(said & _FORBIDDING)]
    if forbidden:
        return forbidden[0]
    if _has_next_payer(claim):
        return code_advice.NEXT_PAYER_ADVICE
    if is_medicaid or paid.filing == code_advice.MEDICAID:
        return code_advice.MEDICAID_ADVICE
    return code_advice.GROUP_ADVICE[code_advice.PATIENT_GROUP]


_FORBIDDING = code_advice.NOT_THE_PATIENTS.keys()


def _has_next_payer(claim: Claim | AnyForm) -> bool:
    """Return whether the claim names another insurance that has not decided yet."""
    if isinstance(claim, ClaimForm):
        return False
    if isinstance(claim, X12Claim):
        view = form_of(claim).view(claim)
        return bool(view.other_payers) and view.decision is None
    form = form_of(claim)
    return form.has_other_insurance(claim) and form.earlier_decision(claim) is None


def _line_remarks(paid: "remittance.RemittanceClaimView") -> set[str]:
    return {remark.code for line in paid.lines for remark in line.remarks}


def _claim_remarks(paid: "remittance.RemittanceClaimView") -> "Iterable[shared_types.RemarkView]":
    for whole in (paid.outpatient, paid.inpatient):
        if whole is not None:
            yield from whole.remarks
