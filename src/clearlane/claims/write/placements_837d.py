"""The place of each field of a dental claim in an 837D.

First the functions that compute values, then the tables, one per loop. X12 and the ADA form differ as follows:

* SBR09 is always ``ZZ``, since no field holds the kind of insurance;
* benefits are assigned (CLM08 ``Y``) and the dentist accepts assignment (CLM07 ``A``) if the insured signed for
  it, else neither (``N``, ``C``);
* the days of service are sent with the claim if all lines have the same, else with each line; a line without
  a day has the claim's; a predetermination sends none;
* the replacement of a prosthesis is sent only with the date of the prior placement, on the lines with a crown, an
  inlay or a prosthesis, or on all lines if there is no such line;
* a treatment location without a name has the billing dentist's.

Knows the catalogue and the guide; ``write_837`` writes the tables.
"""

import re
from decimal import Decimal
from functools import lru_cache

from clearlane.claims import codes
from clearlane.claims.fields import Line
from clearlane.claims.value_types import ADJUSTMENT_GROUPS
from clearlane.claims.write import claim_context
from clearlane.claims.write.claim_context import ClaimContext, LineContext
from clearlane.claims.write.placement import Computed, ConditionalRows, LoopTable, PlacementTables
from clearlane.kernel import limits
from clearlane.x12.guides.g837d import GUIDE

PAYER_NAME = "F03_PayerName"

NOT_SENT = {
    "Svc_VendorClaimId": "The caller's own key; answers are matched by CLM01 and REF*D9.",
    "F06_OtherInsuredDOB": "5010 has no place for another insured's birth date.",
    "F07_OtherInsuredSex": "5010 has no place for another insured's sex.",
    "F36_PatientSignatureDate": "5010 carries whether there is a release, not since when.",
    "F37_InsuredSignatureDate": "5010 carries whether benefits are assigned, not since when.",
    "F53_TreatingDentistSignatureDate": "5010 carries whether a signature is on file, not since when.",
    "LineItems": "The lines have loops of their own, field by field.",
}
"""Fields that are stored and never sent, each with its reason."""

NOT_ASSIGNED = "N"
BILLING_PLACE = (
    "F48_BillingDentistAddress",
    "F48_BillingDentistCity",
    "F48_BillingDentistST",
    "F48_BillingDentistZip",
)
TREATMENT_PLACE = (
    "F56_TreatmentAddress",
    "F56_TreatmentCity",
    "F56_TreatmentST",
    "F56_TreatmentZip",
)
PAY_TO = ("X12_Paytoaddress", "X12_PaytoCity", "X12_PaytoST", "X12_PaytoZip")
# Inlays and crowns, removable and fixed prostheses (the categories of CDT).
_PLACED = re.compile(r"D(?:2[5-9]|5|6)", re.ASCII)


# --- functions used by the tables ---------------------------------------------------------------


def payer_name(context: ClaimContext) -> str:
    """Return the payer's name in the directory, else the caller's."""
    return claim_context.directory_name(context) or context.claim.F03_PayerName


def employer(context: ClaimContext) -> str | None:
    """Return the group's name, only if it has no number."""
    return (
        None
        if "F16_InsuredGroupNumber" in context.values
        else context.values["F17_InsuredEmployerName"]
    )


def is_insured_person(context: ClaimContext) -> bool:
    """Return whether the insured is a person."""
    person: bool = context.claim.X12_SubscriberEntityTypeQualifier == claim_context.PERSON
    return person


def tax_number(qualifier: str) -> ConditionalRows[ClaimContext]:
    """Return the rows of the billing dentist's tax number under one of its qualifiers."""
    return ConditionalRows(
        when=lambda context: context.claim.X12_TINorSSNQualifier == qualifier,
        computed=(
            Computed(
                f"2010AA/REF:{qualifier}/02",
                lambda context: context.claim.F51_BillingDentistTaxID,
                {
                    "X12_TINorSSNQualifier": f"2010AA/REF:{qualifier}/01",
                    "F51_BillingDentistTaxID": f"2010AA/REF:{qualifier}/02",
                },
            ),
        ),
    )


def is_paid_elsewhere(context: ClaimContext) -> bool:
    """Return whether payments go to another address than the billing dentist's."""
    return not claim_context.same_place(context, PAY_TO, BILLING_PLACE)


def frequency_code(context: ClaimContext) -> str:
    """Return the claim frequency: original, corrected, replacement or void."""
    return context.form.frequency(context.claim)


def is_about_an_earlier_claim(context: ClaimContext) -> bool:
    """Return whether the claim corrects, replaces or voids an earlier one."""
    return context.form.frequency(context.claim) != codes.ORIGINAL


def signature(context: ClaimContext) -> str:
    """Return whether the treating dentist's signature is on file."""
    return "Y" if codes.is_signed(context.claim.F53_TreatingDentistSignature) else "N"


def benefits(context: ClaimContext) -> str:
    """Return whether the insured assigned the benefits."""
    return "Y" if codes.is_signed(context.values.get("F37_InsuredSignature")) else NOT_ASSIGNED


def assignment(context: ClaimContext) -> str:
    """Return whether the dentist accepts assignment."""
    return "A" if benefits(context) == "Y" else "C"


def release(context: ClaimContext) -> str:
    """Return the patient's release of information: a claim without one is not accepted."""
    return "Y"


def causes(context: ClaimContext) -> str | None:
    """Return what the treatment results from, with the state of an auto accident."""
    found = context.form.accidents(context.claim)
    if not found:
        return None
    state = context.values.get("F47_AutoAccidentState") if found[0] == "AA" else None
    return f"{found[0]}:::{state}" if state else found[0]


def programme(context: ClaimContext) -> str | None:
    """Return the special program: 01 for EPSDT, else None."""
    return codes.EPSDT if context.claim.F01_TypeOfTransaction == codes.EPSDT else None


def predetermination(context: ClaimContext) -> str | None:
    """Return PB for a predetermination, else None."""
    return codes.PREDETERMINATION if _is_predetermination(context) else None


def _is_predetermination(context: ClaimContext) -> bool:
    return context.form.is_predetermination(context.claim)


def service_days(context: ClaimContext) -> str | None:
    """Return the period of service if all lines share one."""
    days = {_days(line, context) for line in context.lines}
    return next(iter(days)) if len(days) == 1 and not _is_predetermination(context) else None


def own_service_days(context: LineContext) -> str | None:
    """Return the line's day of service if lines have different ones: a line of an 837D has no period."""
    if _is_predetermination(context.claim_context) or service_days(context.claim_context):
        return None
    first, _ = context.claim_context.form.service_days(context.line)
    first = first or context.claim_context.values.get("X12_ServiceDate")
    return claim_context.days(first, first) if first else None


def _days(line: Line, context: ClaimContext) -> str | None:
    first, last = context.form.service_days(line)
    first = first or context.values.get("X12_ServiceDate")
    return claim_context.days(first, last or first) if first else None


def is_orthodontic(context: ClaimContext) -> bool:
    """Return whether the treatment is orthodontic."""
    treated: bool = context.claim.F40_OrthoTreatment
    return treated


def orthodontic_mark(context: ClaimContext) -> str | None:
    """Return Y if the months of treatment are not known."""
    return None if context.values.get("F42_MonthsTreatment") else "Y"


def hi(context: ClaimContext) -> tuple[str, ...] | None:
    """Return the diagnoses."""
    return claim_context.health_care_codes(
        context.form.icd_version(context.claim), tuple(context.form.diagnoses(context.claim))
    )


def is_treated_by_another(context: ClaimContext) -> bool:
    """Return whether the treating dentist is not the billing dentist."""
    values = context.values
    npi = values.get("F53_TreatingDentistNPI")
    if npi:
        return bool(npi != values["F48_BillingDentistNPI"])
    pairs = (("X12_RenderingProvLastName", "F48_BillingDentistLastName"),
             ("X12_RenderingProvFirstName", "F48_BillingDentistFirstName"))  # fmt: skip
    return any(values.get(one) != values.get(other) for one, other in pairs)


def is_treated_elsewhere(context: ClaimContext) -> bool:
    """Return whether the treatment location is not the billing dentist's."""
    values = context.values
    npi = values.get("X12_TreatmantLocationNPI")
    return not claim_context.same_place(context, TREATMENT_PLACE, BILLING_PLACE) or (
        npi is not None and npi != values["F48_BillingDentistNPI"]
    )


def location_name(context: ClaimContext) -> str:
    """Return the treatment location's name, else the billing dentist's."""
    return str(
        context.values.get("X12_TreatmantLocationName") or context.claim.F48_BillingDentistLastName
    )


# Lines.


def procedure(context: LineContext) -> str:
    """Return the procedure with its description."""
    code: str = context.values["F29_ProcedureCode"]
    description = context.values.get("F30_Description")
    return f"AD:{code}:::::{description}" if description else f"AD:{code}"


def decided_procedure(context: LineContext) -> str:
    """Return the procedure the earlier payer decided about: the line's own."""
    return f"AD:{context.values['F29_ProcedureCode']}"


def fee(context: LineContext) -> Decimal:
    """Return the line's fee with the other fee (31a)."""
    return context.claim_context.form.line_charge(context.line)


def place_of_line(context: LineContext) -> str | None:
    """Return the line's place of service if it is not the claim's."""
    place: str = context.values["X12_PlaceOfServiceCode"]
    return None if place == context.claim_place else place


def areas(context: LineContext) -> str | None:
    """Return the areas of the oral cavity."""
    found = [area for area in context.values["F25_AreaOfOralCavity"] if area]
    return ":".join(found[: limits.ORAL_AREAS_PER_LINE_MAX]) or None


def is_replacement(context: LineContext) -> bool:
    """Return whether the line counts as the replacement of a prosthesis."""
    claim = context.claim_context.claim
    if not claim.F43_Prosthesis:
        return False
    return bool(_PLACED.match(context.values["F29_ProcedureCode"])) or not any(
        _PLACED.match(line.F29_ProcedureCode) for line in claim.LineItems
    )


def pointers(context: LineContext) -> str | None:
    """Return the numbers of the diagnoses that the line treats."""
    values = tuple(context.values["F29a_DiagnosisPointer"].split(","))
    return claim_context.pointer_text(values, context.claim_context.diagnosis_numbers)


def teeth(context: LineContext) -> list[str | None]:
    """Return the teeth; a line may name the notation and no tooth."""
    return [tooth.F27_Tooth for tooth in context.values.get("Teeth", ()) if tooth.F27_Tooth]


def surfaces(context: LineContext) -> list[str | None]:
    """Return the surfaces of each tooth."""
    named = [tooth for tooth in context.values.get("Teeth", ()) if tooth.F27_Tooth]
    return [_surfaces(tooth.F28_ToothSurface) for tooth in named]


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _surfaces(values: tuple[str | None, ...] | None) -> str | None:
    return ":".join(filter(None, values or ())) or None


def is_line_of_another(context: LineContext) -> bool:
    """Return whether the line's treating dentist is not the claim's."""
    values, claim = context.values, context.claim_context.values
    above = ("X12_RenderingProvLastName", "X12_RenderingProvFirstName", "F53_TreatingDentistNPI")
    if "X12_RenderingProvLastName" not in claim:
        above = (
            "F48_BillingDentistLastName",
            "F48_BillingDentistFirstName",
            "F48_BillingDentistNPI",
        )
    npi, other = values.get("X12_LineTreatingDentistNPI"), claim.get(above[2])
    if npi and other:
        return bool(npi != other)
    own = ("X12_LineTreatingDentistLastname", "X12_LineTreatingDentistFirstname")
    return any(values.get(one) != claim.get(two) for one, two in zip(own, above, strict=False))


def units_paid(context: LineContext) -> Decimal:
    """Return the units the earlier payer paid for; if it gave none, the line's quantity."""
    return (
        context.values.get("X12_UnitsPaid")
        or context.values.get("F29b_Quantity")
        or claim_context.ONE
    )


# --- the tables ---------------------------------------------------------------------------------------


BILLING: LoopTable[ClaimContext] = LoopTable(
    GUIDE,
    "2000A",
    generated={"hl": "2000A/HL/01"},
    rows={
        "F48_BillingDentistLastName": "2010AA/NM1/03",
        "F48_BillingDentistNPI": "2010AA/NM1/09",
        "F48_BillingDentistAddress": "2010AA/N3/01",
        "F48_BillingDentistCity": "2010AA/N4/01",
        "F48_BillingDentistST": "2010AA/N4/02",
        "F48_BillingDentistZip": "2010AA/N4/03",
        "F50_BillingDentistLicense": "2010AA/REF:0B/02",
        "F52_BillingDentistPhone": "2010AA/PER/04",
    },
    computed=(
        Computed(
            "2010AA/NM1/02",
            claim_context.person,
            ["F48_BillingDentistFirstName"],
            default=claim_context.ORGANISATION,
        ),
    ),
    conditional=(
        ConditionalRows(
            all_of=["F48_BillingDentistFirstName"],
            rows={
                "F48_BillingDentistFirstName": "2010AA/NM1/04",
                "F48_BillingDentistMI": "2010AA/NM1/05",
                "F48_BillingDentistSuffix": "2010AA/NM1/07",
            },
        ),
        tax_number("EI"),
        tax_number("SY"),
        ConditionalRows(
            when=is_paid_elsewhere,
            all_of=PAY_TO,
            rows={
                "X12_Paytoaddress": "2010AB/N3/01",
                "X12_PaytoCity": "2010AB/N4/01",
                "X12_PaytoST": "2010AB/N4/02",
                "X12_PaytoZip": "2010AB/N4/03",
            },
            computed=(
                Computed(
                    "2010AB/NM1/02",
                    claim_context.person,
                    ["F48_BillingDentistFirstName"],
                    default=claim_context.ORGANISATION,
                ),
            ),
        ),
    ),
    constants={"2010AA/PER/03": "TE"},
)

SUBSCRIBER: LoopTable[ClaimContext] = LoopTable(
    GUIDE,
    "2000B",
    generated={"hl": "2000B/HL/01", "parent": "2000B/HL/02", "child": "2000B/HL/04"},
    rows={
        "F16_InsuredGroupNumber": "2000B/SBR/03",
        "X12_SubscriberEntityTypeQualifier": "2010BA/NM1/02",
        "F12_InsuredLastName": "2010BA/NM1/03",
        "F15_InsuredID": "2010BA/NM1/09",
        "F52a_BillingDentistID": "2010BB/REF:G2/02",
    },
    computed=(
        Computed("2000B/SBR/01", claim_context.order_of_payment, (), always=True),
        Computed("2000B/SBR/02", claim_context.self_code, ["F18_PatientRelationship"]),
        Computed("2000B/SBR/04", employer, ["F17_InsuredEmployerName"]),
        Computed(
            "2010BA/NM1/08",
            claim_context.first_of("X12_SubscriberIdentificationCodeQualifier"),
            ["X12_SubscriberIdentificationCodeQualifier"],
            default="MI",
        ),
        Computed("2010BB/NM1/03", payer_name, [PAYER_NAME]),
        Computed("2010BB/NM1/09", claim_context.payer_id, ["Svc_PayerId"]),
    ),
    conditional=(
        ConditionalRows(
            when=is_insured_person,
            rows={"F12_InsuredFirstName": "2010BA/NM1/04"},
            computed=(
                Computed(
                    "2010BA/NM1/05",
                    claim_context.insured_or_patient("F12_InsuredMI", "F20_PatientMI"),
                    ["F12_InsuredMI", "F20_PatientMI"],
                ),
                Computed(
                    "2010BA/NM1/07",
                    claim_context.insured_or_patient("F12_InsuredSuffix", "F20_PatientSuffix"),
                    ["F12_InsuredSuffix", "F20_PatientSuffix"],
                ),
            ),
        ),
        ConditionalRows(
            when=claim_context.patient_is_insured,
            rows={
                "F12_InsuredAddress": "2010BA/N3/01",
                "F12_InsuredCity": "2010BA/N4/01",
                "F12_InsuredST": "2010BA/N4/02",
                "F12_InsuredZip": "2010BA/N4/03",
                "F13_InsuredDOB": "2010BA/DMG/02",
                "F14_InsuredSex": "2010BA/DMG/03",
            },
        ),
        ConditionalRows(
            all_of=["F03_PayerAddress1", "F03_PayerCity", "F03_PayerState", "F03_PayerZip"],
            rows={
                "F03_PayerAddress1": "2010BB/N3/01",
                "F03_PayerAddress2": "2010BB/N3/02",
                "F03_PayerCity": "2010BB/N4/01",
                "F03_PayerState": "2010BB/N4/02",
                "F03_PayerZip": "2010BB/N4/03",
            },
        ),
    ),
    constants={
        "2000B/SBR/09": claim_context.UNKNOWN_COVERAGE,
        "2010BB/NM1/08": "PI",
    },
    echoes={
        "F20_PatientLastName": "2010BA/NM1/03",
        "F20_PatientFirstName": "2010BA/NM1/04",
        "F20_PatientDOB": "2010BA/DMG/02",
        "F22_PatientSex": "2010BA/DMG/03",
        "F20_PatientAddress": "2010BA/N3/01",
        "F20_PatientCity": "2010BA/N4/01",
        "F20_PatientST": "2010BA/N4/02",
        "F20_PatientZip": "2010BA/N4/03",
    },
)

PATIENT: LoopTable[ClaimContext] = LoopTable(
    GUIDE,
    "2000C",
    generated={"hl": "2000C/HL/01", "parent": "2000C/HL/02"},
    rows={
        "F18_PatientRelationship": "2000C/PAT/01",
        "F20_PatientLastName": "2010CA/NM1/03",
        "F20_PatientFirstName": "2010CA/NM1/04",
        "F20_PatientMI": "2010CA/NM1/05",
        "F20_PatientSuffix": "2010CA/NM1/07",
        "F20_PatientAddress": "2010CA/N3/01",
        "F20_PatientCity": "2010CA/N4/01",
        "F20_PatientST": "2010CA/N4/02",
        "F20_PatientZip": "2010CA/N4/03",
        "F20_PatientDOB": "2010CA/DMG/02",
        "F22_PatientSex": "2010CA/DMG/03",
    },
)

_MISSING = range(1, limits.MISSING_TEETH_MAX + 1)

CLAIM: LoopTable[ClaimContext] = LoopTable(
    GUIDE,
    "2300",
    generated={"number": "2300/CLM/01", "trace": "2300/REF:D9/02"},
    rows={
        "F32_TotalFee": "2300/CLM/02",
        "F38_PlaceOfTreatment": "2300/CLM/05-1",
        "F46_AccidentDate": "2300/DTP:439/03",
        "X12_AttachmentReportType": "2300/PWK/01",
        "X12_AttachmentTransmissionCode": "2300/PWK/02",
        "X12_AttachmentControlNumber": "2300/PWK/06",
        "X12_PredeterminationID": "2300/REF:G3/02",
        "F02_PriorAuthNum": "2300/REF:G1/02",
        "F35_Remarks": "2300/NTE/02",
    },
    computed=(
        Computed(
            "2300/CLM/05-3", frequency_code, ["X12_ClaimFrequencyCode"], default=codes.ORIGINAL
        ),
        Computed("2300/CLM/06", signature, ["F53_TreatingDentistSignature"]),
        Computed("2300/CLM/07", assignment, (), always=True),
        Computed("2300/CLM/08", benefits, ["F37_InsuredSignature"], default=NOT_ASSIGNED),
        Computed("2300/CLM/09", release, ["F36_PatientSignature"]),
        Computed(
            "2300/CLM/11",
            causes,
            {
                "F45_TreatmentResultingFrom": "2300/CLM/11-1",
                "F47_AutoAccidentState": "2300/CLM/11-4",
            },
        ),
        Computed("2300/CLM/12", programme, ["F01_TypeOfTransaction"]),
        Computed("2300/CLM/19", predetermination, ["F01_TypeOfTransaction"]),
        Computed("2300/DTP:472/period", service_days, ["X12_ServiceDate"], always=True),
        Computed(
            [f"2300/DN2#{number}/01" for number in _MISSING],
            lambda context: [tooth for tooth in context.values["F33_MissingTeeth"] if tooth],
            ["F33_MissingTeeth"],
        ),
        Computed(
            "2300/AMT:F5/02",
            claim_context.unless_zero("X12_PatientAmountPaid"),
            ["X12_PatientAmountPaid"],
        ),
        Computed(
            [f"2300/HI/{element:02}" for element in range(1, limits.DENTAL_DIAGNOSES_MAX + 1)],
            hi,
            ["F34a_DiagnosisCode", "F34_DiagnosiseCodeQualifier"],
        ),
    ),
    conditional=(
        ConditionalRows(
            when=is_orthodontic,
            rows={"F41_DateAppliancePlaced": "2300/DTP:452/03"},
            computed=(
                Computed(
                    "2300/DN1/01",
                    claim_context.unless_zero("F42_MonthsTreatment"),
                    ["F42_MonthsTreatment", "F40_OrthoTreatment"],
                ),
                Computed("2300/DN1/04", orthodontic_mark, ["F40_OrthoTreatment"]),
            ),
        ),
        ConditionalRows(
            when=is_about_an_earlier_claim, rows={"X12_PayerControlNumber": "2300/REF:F8/02"}
        ),
        ConditionalRows(
            when=is_treated_by_another,
            all_of=["X12_RenderingProvLastName"],
            rows={
                "X12_RenderingProvLastName": "2310B/NM1/03",
                "F53_TreatingDentistNPI": "2310B/NM1/09",
                "F56a_DentistSpecialtyCode": "2310B/PRV/03",
                "F55_TreatingDentistLicense": "2310B/REF:0B/02",
                "F58_TreatingDentistAddlID": "2310B/REF:G2/02",
            },
            computed=(
                Computed(
                    "2310B/NM1/02",
                    claim_context.person,
                    ["X12_RenderingProvFirstName"],
                    default=claim_context.ORGANISATION,
                ),
            ),
        ),
        ConditionalRows(
            when=is_treated_by_another,
            all_of=["X12_RenderingProvLastName", "X12_RenderingProvFirstName"],
            rows={
                "X12_RenderingProvFirstName": "2310B/NM1/04",
                "X12_RenderingProvMI": "2310B/NM1/05",
                "X12_RenderingProvSuffix": "2310B/NM1/07",
            },
        ),
        ConditionalRows(
            when=is_treated_elsewhere,
            all_of=TREATMENT_PLACE,
            rows={
                "X12_TreatmantLocationNPI": "2310C/NM1/09",
                "F56_TreatmentAddress": "2310C/N3/01",
                "F56_TreatmentCity": "2310C/N4/01",
                "F56_TreatmentST": "2310C/N4/02",
                "F56_TreatmentZip": "2310C/N4/03",
            },
            computed=(
                Computed("2310C/NM1/03", location_name, ["X12_TreatmantLocationName"], always=True),
            ),
        ),
    ),
    constants={
        "2300/NTE/01": "ADD",
        **{f"2300/DN2#{number}/02": "M" for number in _MISSING},
    },
    echoes={"F23_PatientID": "2300/CLM/01"},
)

OTHER: LoopTable[ClaimContext] = LoopTable(
    GUIDE,
    "2320",
    rows={
        "F10_OtherPatientRelationship": "2320/SBR/02",
        "F09_OtherInsuredGrpNumber": "2320/SBR/03",
        "F05_OtherInsuredLastName": "2330A/NM1/03",
        "F08_OtherInsuredPolicy": "2330A/NM1/09",
        "F11_OtherPayerName": "2330B/NM1/03",
    },
    computed=(
        Computed(
            "2320/SBR/01", claim_context.other_order_of_payment, ["F04_OtherCoverage"], always=True
        ),
        Computed("2320/AMT:D/02", claim_context.earlier_paid, (), always=True),
        Computed("2320/OI/03", benefits, ["F37_InsuredSignature"], default=NOT_ASSIGNED),
        Computed("2320/OI/06", release, ["F36_PatientSignature"]),
        Computed(
            "2330A/NM1/02",
            claim_context.person,
            ["F05_OtherInsuredFirstName"],
            default=claim_context.ORGANISATION,
        ),
        Computed("2330B/NM1/09", claim_context.other_payer_id, ["F11_OtherPayerName"]),
    ),
    conditional=(
        ConditionalRows(
            all_of=["F05_OtherInsuredFirstName"],
            rows={
                "F05_OtherInsuredFirstName": "2330A/NM1/04",
                "F05_OtherInsuredMI": "2330A/NM1/05",
                "F05_OtherInsuredSuffix": "2330A/NM1/07",
            },
        ),
        ConditionalRows(
            all_of=[
                "F11_OtherPayerAddress",
                "F11_OtherPayerCity",
                "F11_OtherPayerST",
                "F11_OtherPayerZip",
            ],
            rows={
                "F11_OtherPayerAddress": "2330B/N3/01",
                "F11_OtherPayerCity": "2330B/N4/01",
                "F11_OtherPayerST": "2330B/N4/02",
                "F11_OtherPayerZip": "2330B/N4/03",
            },
        ),
    ),
    constants={
        "2320/SBR/09": claim_context.UNKNOWN_COVERAGE,
        "2330A/NM1/08": "MI",
        "2330B/NM1/08": "PI",
    },
)

_TEETH = range(1, limits.TEETH_PER_LINE_MAX + 1)
_DECISION_OF_LINE = ("X12_PrimaryPaidAmount", "X12_AdjudicationDate", "Adjustments")

LINE: LoopTable[LineContext] = LoopTable(
    GUIDE,
    "2400",
    generated={"line": "2400/LX/01", "control": "2400/REF:6R/02"},
    rows={"F29b_Quantity": "2400/SV3/06"},
    computed=(
        Computed(
            "2400/SV3/01",
            procedure,
            {"F29_ProcedureCode": "2400/SV3/01-2", "F30_Description": "2400/SV3/01-7"},
        ),
        Computed("2400/SV3/02", fee, ["F31_LineFee", "F31a_OtherFee"]),
        Computed("2400/SV3/03", place_of_line, ["X12_PlaceOfServiceCode"]),
        Computed("2400/SV3/04", areas, ["F25_AreaOfOralCavity"]),
        Computed("2400/SV3/11", pointers, ["F29a_DiagnosisPointer"]),
        Computed(
            [f"2400/TOO#{number}/02" for number in _TEETH],
            teeth,
            {
                "Teeth": "2400/TOO/02",
                "F26_ToothSystem": "2400/TOO/01",
                **{f"Teeth[{number - 1}].F27_Tooth": f"2400/TOO#{number}/02" for number in _TEETH},
            },
        ),
        Computed(
            [f"2400/TOO#{number}/03" for number in _TEETH],
            surfaces,
            {
                "Teeth": "2400/TOO/03",
                **{
                    f"Teeth[{number - 1}].F28_ToothSurface": f"2400/TOO#{number}/03"
                    for number in _TEETH
                },
            },
        ),
        Computed(
            "2400/DTP:472/period",
            own_service_days,
            ["F24_DateOfServiceFrom", "F24_DateOfServiceTo"],
            always=True,
        ),
    ),
    conditional=(
        ConditionalRows(
            when=is_replacement,
            computed=(Computed("2400/SV3/05", lambda _: "R", ["F43_Prosthesis"], always=True),),
            claim_rows={"F44_ProsthesisDateOfPriorPlacement": "2400/DTP:441/03"},
            any_of=["F44_ProsthesisDateOfPriorPlacement"],
        ),
        ConditionalRows(
            when=is_line_of_another,
            all_of=["X12_LineTreatingDentistLastname"],
            rows={
                "X12_LineTreatingDentistLastname": "2420A/NM1/03",
                "X12_LineTreatingDentistNPI": "2420A/NM1/09",
                "X12_LineTreatingDentistSpecialtyCode": "2420A/PRV/03",
            },
            computed=(
                Computed(
                    "2420A/NM1/02",
                    claim_context.person,
                    ["X12_LineTreatingDentistFirstname"],
                    default=claim_context.ORGANISATION,
                ),
            ),
        ),
        ConditionalRows(
            when=is_line_of_another,
            all_of=["X12_LineTreatingDentistLastname", "X12_LineTreatingDentistFirstname"],
            rows={
                "X12_LineTreatingDentistFirstname": "2420A/NM1/04",
                "X12_LineTreatingDentistMI": "2420A/NM1/05",
                "X12_LineTreatingDentistSuffix": "2420A/NM1/07",
            },
        ),
        ConditionalRows(
            when=claim_context.has_earlier_decision,
            computed=(
                Computed("2430/SVD/01", claim_context.line_payer, (), always=True),
                Computed(
                    "2430/SVD/02",
                    claim_context.earlier_paid,
                    ["X12_PrimaryPaidAmount"],
                    always=True,
                ),
                Computed("2430/SVD/03", decided_procedure, (), always=True),
                Computed("2430/SVD/05", units_paid, ["X12_UnitsPaid"], always=True),
                Computed(
                    [f"2430/CAS#{number}/01" for number in range(1, len(ADJUSTMENT_GROUPS) + 1)],
                    claim_context.earlier_adjustments,
                    {
                        "Adjustments": "2430/CAS/02",
                        "Adjustments[].X12_AdjustmentGroupCode": "2430/CAS/01",
                        "Adjustments[].X12_AdjustmentReasonCode": "2430/CAS/02",
                        "Adjustments[].X12_AdjustmentAmount": "2430/CAS/03",
                    },
                ),
                Computed(
                    "2430/DTP:573/03",
                    claim_context.line_decision_day,
                    ["X12_AdjudicationDate"],
                    always=True,
                ),
                Computed(
                    "2430/AMT:EAF/02",
                    claim_context.line_remaining_liability,
                    ["X12_LineRemainingPatientLiability"],
                    always=True,
                ),
            ),
            any_of=_DECISION_OF_LINE,
        ),
    ),
    echoes={
        "X12_LineControlNumber": "2400/REF:6R/02",
        "X12_PlaceOfServiceCode": "2300/CLM/05-1",
        "X12_LineTreatingDentistLastname": "2310B/NM1/03",
        "X12_LineTreatingDentistFirstname": "2310B/NM1/04",
        "X12_LineTreatingDentistMI": "2310B/NM1/05",
        "X12_LineTreatingDentistSuffix": "2310B/NM1/07",
        "X12_LineTreatingDentistNPI": "2310B/NM1/09",
        "X12_LineTreatingDentistSpecialtyCode": "2310B/PRV/03",
        "F24_DateOfServiceFrom": "2300/DTP:472/period",
        "F24_DateOfServiceTo": "2300/DTP:472/period",
    },
)

TABLES = PlacementTables(
    guide=GUIDE,
    billing=BILLING,
    subscriber=SUBSCRIBER,
    patient=PATIENT,
    claim=CLAIM,
    other=OTHER,
    line=LINE,
    not_sent=NOT_SENT,
    place="F38_PlaceOfTreatment",
)
