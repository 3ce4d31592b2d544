"""An 837I as the JSON of a UB-04: what a sender of the file would write by form locator."""

from datetime import date
from decimal import Decimal

from clearlane.claims.cob import EarlierDecision, EarlierLineDecision
from clearlane.claims.forms.ub04_view import CLAIM, CODES, LINE, LINES, OTHER_PAYERS
from clearlane.claims.view import ClaimView, LineView, PayerView
from tests.claims.test_x12_form import views_in

JSON = dict[str, object]
MADE_FROM_OTHERS = {"FL04_TypeOfBill", "FL12_AdmissionDate", "FL13_AdmissionHour", OTHER_PAYERS}


def ub04_of(data: bytes) -> JSON:
    """Return the claim of a file of one."""
    (view,) = views_in(data)
    return ub04_of_view(view)


def ub04_of_view(view: ClaimView) -> JSON:
    """Return a claim as JSON: the patient who is the subscriber is stated for both."""
    claim: JSON = {
        name: _value(view, path)
        for name, path in CLAIM.paths.items()
        if name not in MADE_FROM_OTHERS and name not in CODES
    }
    stay = view.institutional
    is_self = view.subscriber.relationship == "18"
    for name, path in CLAIM.paths.items():
        if is_self and path.startswith("patient."):
            claim[name] = _value(view, path.replace("patient", "subscriber"))
    moment = stay.admission_time or ""
    claim |= {
        "Svc_VendorClaimId": view.vendor_claim_id,
        "FL04_TypeOfBill": f"{stay.bill_type or ''}{view.frequency or ''}",
        "FL12_AdmissionDate": f"{moment[:4]}-{moment[4:6]}-{moment[6:8]}" if moment else None,
        "FL13_AdmissionHour": moment[8:],
        "FL69_AdmittingDiagnosis": _first(stay.admitting_diagnosis),
        "FL71_DrgCode": _first(stay.drg),
        LINES: [_line(view, line) for line in view.lines],
        OTHER_PAYERS: [_payer(payer) for payer in view.other_payers],
    }
    for name, table in CODES.items():
        path = CLAIM.paths[name].partition(".")[2]
        claim[name] = [
            {field: _text(getattr(code, own)) for field, own in table.paths.items()}
            for code in getattr(stay, path)
        ]
    return _filled(claim)


def _line(view: ClaimView, line: LineView) -> JSON:
    found = {
        name: _value(line, path) for name, path in LINE.paths.items() if "decision" not in path
    }
    found["FL44_Modifiers"] = ",".join(line.modifiers)
    at = view.lines.index(line)
    decided = [payer.decision.lines[at] if payer.decision else None for payer in view.other_payers]
    if any(decided):
        found["X12_PayerDecisions"] = [_line_decision(one) if one else {} for one in decided]
    return found


def _line_decision(decision: EarlierLineDecision) -> JSON:
    return {
        "X12_PaidAmount": str(decision.paid),
        "X12_PaidUnits": _text(decision.units),
        "X12_AdjudicationDate": _text(decision.day),
        "X12_Adjustments": _adjustments(decision),
    }


def _payer(payer: PayerView) -> JSON:
    decision, insured = payer.decision, payer.insured
    return {
        "FL50_PayerName": payer.name,
        "FL51_HealthPlanId": payer.id,
        "X12_CoverageType": payer.coverage,
        "FL54_PriorPayments": str(decision.paid) if decision else None,
        "FL58_InsuredNameLast": insured.last_name,
        "FL58_InsuredNameFirst": insured.first_name,
        "FL59_PatientRelationship": insured.relationship,
        "FL60_InsuredId": insured.member_id,
        "FL62_GroupNumber": insured.group_number,
        "X12_AdjudicationDate": _text(decision.day) if decision else None,
        "X12_Adjustments": _adjustments(decision) if decision else None,
    }


def _adjustments(decision: EarlierDecision | EarlierLineDecision) -> list[JSON]:
    return [
        {
            "X12_AdjustmentGroup": group,
            "X12_AdjustmentReason": one.reason,
            "X12_AdjustmentAmount": str(one.amount),
        }
        for group, adjusted in decision.groups.items()
        for one in adjusted
    ]


def _first(codes: tuple) -> str:
    return codes[0].code if codes else ""


def _value(part: object, path: str) -> object:
    for word in path.split("."):
        name, _, index = word.partition("[")
        part = getattr(part, name, None)
        if index:
            part = part[0] if part else None
    return _text(part)


def _text(value: object) -> object:
    return str(value) if isinstance(value, Decimal | date) else value


def _filled(part: JSON) -> JSON:
    return {
        name: [_filled(item) for item in value]
        if isinstance(value, list | tuple) and value and isinstance(value[0], dict)
        else value
        for name, value in part.items()
        if value not in (None, "", [], ())
    }
