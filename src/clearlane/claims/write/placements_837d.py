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
from typing import Any

from clearlane.claims import codes
from clearlane.claims.forms import dental_view
from clearlane.claims.write import claim_context, placements_837
from clearlane.claims.write.claim_context import ClaimContext, LineContext
from clearlane.claims.write.placement import Computed, ConditionalRows, LoopTable, PlacementTables
from clearlane.kernel import limits
from clearlane.x12.guides.g837d import GUIDE

NOT_SENT = {
    **placements_837.NOT_SENT,
    "F06_OtherInsuredDOB": placements_837.NO_OTHER_BIRTH_DATE,
    "F07_OtherInsuredSex": placements_837.NO_OTHER_SEX,
    "F36_PatientSignatureDate": placements_837.NO_RELEASE_DATE,
    "F37_InsuredSignatureDate": "5010 carries whether benefits are assigned, not since when.",
    "F53_TreatingDentistSignatureDate": "5010 carries whether a signature is on file, not since when.",
    "LineItems": placements_837.NO_LINES,
}
"""Fields that are stored and never sent, each with its reason."""

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
PATIENT_NAME = (
    "F20_PatientLastName",
    "F20_PatientFirstName",
    "F20_PatientMI",
    "F20_PatientSuffix",
)
PATIENT_PLACE = ("F20_PatientAddress", "F20_PatientCity", "F20_PatientST", "F20_PatientZip")
PATIENT_BIRTH_AND_SEX = ("F20_PatientDOB", "F22_PatientSex")
LINE_DENTIST = (
    "X12_LineTreatingDentistLastname",
    "X12_LineTreatingDentistFirstname",
    "X12_LineTreatingDentistMI",
    "X12_LineTreatingDentistSuffix",
)
# Inlays and crowns, removable and fixed prostheses (the categories of CDT).
_PLACED = re.compile(r"D(?:2[5-9]|5|6)", re.ASCII)


# --- functions used by the tables ---------------------------------------------------------------


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


def signature(context: ClaimContext) -> str:
    """Return whether the treating dentist's signature is on file."""
    return "Y" if codes.is_signed(context.claim.F53_TreatingDentistSignature) else "N"


def benefits(context: ClaimContext) -> str:
    """Return whether the insured assigned the benefits."""
    return (
        "Y"
        if codes.is_signed(context.values.get("F37_InsuredSignature"))
        else placements_837.NOT_ASSIGNED
    )


def assignment(context: ClaimContext) -> str:
    """Return whether the dentist accepts assignment."""
    return "A" if benefits(context) == "Y" else "C"


def release(context: ClaimContext) -> str:
    """Return the patient's release of information: a claim without one is not accepted."""
    return "Y"


def causes(context: ClaimContext) -> str | None:
    """Return what the treatment results from, with the state of an auto accident."""
    found = context.form.value(context.claim, "causes")
    if not found:
        return None
    state = context.values.get("F47_AutoAccidentState") if found[0] == "AA" else None
    return f"{found[0]}:::{state}" if state else found[0]


def program(context: ClaimContext) -> str | None:
    """Return the special program: 01 for EPSDT, else None."""
    return codes.EPSDT if context.claim.F01_TypeOfTransaction == codes.EPSDT else None


def predetermination(context: ClaimContext) -> str | None:
    """Return PB for a predetermination, else None."""
    return codes.PREDETERMINATION if _is_predetermination(context) else None


def _is_predetermination(context: ClaimContext) -> bool:
    return bool(context.form.value(context.claim, "is_predetermination"))


def service_days(context: ClaimContext) -> str | None:
    """Return the period of service if all lines share one."""
    days = {_days(line, context) for line in context.lines}
    return next(iter(days)) if len(days) == 1 and not _is_predetermination(context) else None


def own_service_days(context: LineContext) -> str | None:
    """Return the line's day of service if lines have different ones: a line of an 837D has no period."""
    if _is_predetermination(context.claim_context) or service_days(context.claim_context):
        return None
    claim = context.claim_context.values
    first = context.values.get("F24_DateOfServiceFrom") or claim.get("X12_ServiceDate")
    return claim_context.days(first, first) if first else None


def _days(line: Any, context: ClaimContext) -> str | None:
    first = line.F24_DateOfServiceFrom or context.values.get("X12_ServiceDate")
    return claim_context.days(first, line.F24_DateOfServiceTo or first) if first else None


def is_orthodontic(context: ClaimContext) -> bool:
    """Return whether the treatment is orthodontic."""
    treated: bool = context.claim.F40_OrthoTreatment
    return treated


def orthodontic_mark(context: ClaimContext) -> str | None:
    """Return Y if the months of treatment are not known."""
    return None if context.values.get("F42_MonthsTreatment") else "Y"


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
    return dental_view.charge(context.values)


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
    pairs = zip(LINE_DENTIST[:2], above, strict=False)
    return any(values.get(one) != claim.get(two) for one, two in pairs)


def units_paid(context: LineContext) -> Decimal:
    """Return the units the earlier payer paid for; if it gave none, the line's quantity."""
    return (
        context.values.get("X12_UnitsPaid")
        or context.values.get("F29b_Quantity")
        or claim_context.ONE
    )


# --- the tables ---------------------------------------------------------------------------------------


BILLING = placements_837.loop_table(
    GUIDE,
    "2000A",
    rows={
        "F48_BillingDentistLastName": "2010AA/NM1/03",
        "F48_BillingDentistNPI": "2010AA/NM1/09",
        **placements_837.address("2010AA", BILLING_PLACE),
        "F50_BillingDentistLicense": "2010AA/REF:0B/02",
        "F52_BillingDentistPhone": "2010AA/PER/04",
    },
    computed=(placements_837.entity_type("2010AA", "F48_BillingDentistFirstName"),),
    conditional=(
        placements_837.given_names(
            "2010AA",
            ("F48_BillingDentistFirstName", "F48_BillingDentistMI", "F48_BillingDentistSuffix"),
        ),
        tax_number("EI"),
        tax_number("SY"),
        ConditionalRows(
            when=is_paid_elsewhere,
            all_of=PAY_TO,
            rows=placements_837.address("2010AB", PAY_TO),
            computed=(placements_837.entity_type("2010AB", "F48_BillingDentistFirstName"),),
        ),
    ),
)

SUBSCRIBER = placements_837.loop_table(
    GUIDE,
    "2000B",
    rows={
        "F16_InsuredGroupNumber": "2000B/SBR/03",
        "X12_SubscriberEntityTypeQualifier": "2010BA/NM1/02",
        "F12_InsuredLastName": "2010BA/NM1/03",
        "F15_InsuredID": "2010BA/NM1/09",
        "F52a_BillingDentistID": "2010BB/REF:G2/02",
    },
    computed=(
        Computed("2000B/SBR/02", claim_context.self_code, ["F18_PatientRelationship"]),
        Computed("2000B/SBR/04", employer, ["F17_InsuredEmployerName"]),
        Computed(
            "2010BA/NM1/08",
            claim_context.first_of("X12_SubscriberIdentificationCodeQualifier"),
            ["X12_SubscriberIdentificationCodeQualifier"],
            default="MI",
        ),
        placements_837.payer_name("F03_PayerName"),
    ),
    conditional=(
        ConditionalRows(
            when=is_insured_person,
            rows={"F12_InsuredFirstName": "2010BA/NM1/04"},
            computed=(
                placements_837.insured_or_patient(
                    "2010BA/NM1/05", "F12_InsuredMI", "F20_PatientMI"
                ),
                placements_837.insured_or_patient(
                    "2010BA/NM1/07", "F12_InsuredSuffix", "F20_PatientSuffix"
                ),
            ),
        ),
        ConditionalRows(
            when=claim_context.patient_is_insured,
            rows={
                **placements_837.address(
                    "2010BA",
                    ("F12_InsuredAddress", "F12_InsuredCity", "F12_InsuredST", "F12_InsuredZip"),
                ),
                "F13_InsuredDOB": "2010BA/DMG/02",
                "F14_InsuredSex": "2010BA/DMG/03",
            },
        ),
        placements_837.whole_address(
            "2010BB",
            (
                "F03_PayerAddress1",
                "F03_PayerAddress2",
                "F03_PayerCity",
                "F03_PayerState",
                "F03_PayerZip",
            ),
        ),
    ),
    constants={"2000B/SBR/09": claim_context.UNKNOWN_COVERAGE},
    echoes={
        **placements_837.rows_at("2010BA", placements_837.NAME[:2], PATIENT_NAME[:2]),
        **placements_837.rows_at("2010BA", placements_837.BIRTH_AND_SEX, PATIENT_BIRTH_AND_SEX),
        **placements_837.address("2010BA", PATIENT_PLACE),
    },
)

PATIENT: LoopTable[ClaimContext] = placements_837.loop_table(
    GUIDE,
    "2000C",
    rows={
        "F18_PatientRelationship": "2000C/PAT/01",
        **placements_837.rows_at("2010CA", placements_837.NAME, PATIENT_NAME),
        **placements_837.address("2010CA", PATIENT_PLACE),
        **placements_837.rows_at("2010CA", placements_837.BIRTH_AND_SEX, PATIENT_BIRTH_AND_SEX),
    },
)

_MISSING = range(1, limits.MISSING_TEETH_MAX + 1)

CLAIM = placements_837.loop_table(
    GUIDE,
    "2300",
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
        placements_837.frequency("X12_ClaimFrequencyCode"),
        Computed("2300/CLM/06", signature, ["F53_TreatingDentistSignature"]),
        Computed("2300/CLM/07", assignment, (), always=True),
        Computed(
            "2300/CLM/08", benefits, ["F37_InsuredSignature"], default=placements_837.NOT_ASSIGNED
        ),
        Computed("2300/CLM/09", release, ["F36_PatientSignature"]),
        Computed(
            "2300/CLM/11",
            causes,
            {
                "F45_TreatmentResultingFrom": "2300/CLM/11-1",
                "F47_AutoAccidentState": "2300/CLM/11-4",
            },
        ),
        Computed("2300/CLM/12", program, ["F01_TypeOfTransaction"]),
        Computed("2300/CLM/19", predetermination, ["F01_TypeOfTransaction"]),
        Computed("2300/DTP:472/period", service_days, ["X12_ServiceDate"], always=True),
        Computed(
            [f"2300/DN2#{number}/01" for number in _MISSING],
            lambda context: [tooth for tooth in context.values["F33_MissingTeeth"] if tooth],
            ["F33_MissingTeeth"],
        ),
        placements_837.amount_unless_zero("2300/AMT:F5/02", "X12_PatientAmountPaid"),
        placements_837.diagnoses(
            limits.DENTAL_DIAGNOSES_MAX, "F34a_DiagnosisCode", "F34_DiagnosiseCodeQualifier"
        ),
    ),
    conditional=(
        ConditionalRows(
            when=is_orthodontic,
            rows={"F41_DateAppliancePlaced": "2300/DTP:452/03"},
            computed=(
                placements_837.amount_unless_zero(
                    "2300/DN1/01", "F42_MonthsTreatment", "F40_OrthoTreatment"
                ),
                Computed("2300/DN1/04", orthodontic_mark, ["F40_OrthoTreatment"]),
            ),
        ),
        placements_837.original_reference("X12_PayerControlNumber"),
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
            computed=(placements_837.entity_type("2310B", "X12_RenderingProvFirstName"),),
        ),
        placements_837.given_names(
            "2310B",
            ("X12_RenderingProvFirstName", "X12_RenderingProvMI", "X12_RenderingProvSuffix"),
            "X12_RenderingProvLastName",
            when=is_treated_by_another,
        ),
        ConditionalRows(
            when=is_treated_elsewhere,
            all_of=TREATMENT_PLACE,
            rows={
                "X12_TreatmantLocationNPI": "2310C/NM1/09",
                **placements_837.address("2310C", TREATMENT_PLACE),
            },
            computed=(
                Computed("2310C/NM1/03", location_name, ["X12_TreatmantLocationName"], always=True),
            ),
        ),
    ),
    constants={f"2300/DN2#{number}/02": "M" for number in _MISSING},
    echoes={"F23_PatientID": "2300/CLM/01"},
)

OTHER = placements_837.loop_table(
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
        placements_837.other_order_of_payment("F04_OtherCoverage"),
        Computed("2320/AMT:D/02", claim_context.earlier_paid, (), always=True),
        Computed(
            "2320/OI/03", benefits, ["F37_InsuredSignature"], default=placements_837.NOT_ASSIGNED
        ),
        Computed("2320/OI/06", release, ["F36_PatientSignature"]),
        placements_837.entity_type("2330A", "F05_OtherInsuredFirstName"),
        Computed("2330B/NM1/09", claim_context.other_payer_id, ["F11_OtherPayerName"]),
    ),
    conditional=(
        placements_837.given_names(
            "2330A",
            ("F05_OtherInsuredFirstName", "F05_OtherInsuredMI", "F05_OtherInsuredSuffix"),
        ),
        placements_837.whole_address(
            "2330B",
            (
                "F11_OtherPayerAddress",
                "F11_OtherPayerCity",
                "F11_OtherPayerST",
                "F11_OtherPayerZip",
            ),
        ),
    ),
    constants={"2320/SBR/09": claim_context.UNKNOWN_COVERAGE},
)

_TEETH = range(1, limits.TEETH_PER_LINE_MAX + 1)

LINE = placements_837.loop_table(
    GUIDE,
    "2400",
    rows={"F29b_Quantity": "2400/SV3/06"},
    computed=(
        Computed(
            "2400/SV3/01",
            procedure,
            {"F29_ProcedureCode": "2400/SV3/01-2", "F30_Description": "2400/SV3/01-7"},
        ),
        Computed("2400/SV3/02", fee, ["F31_LineFee", "F31a_OtherFee"]),
        placements_837.place_of_line("2400/SV3/03", "X12_PlaceOfServiceCode"),
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
            computed=(placements_837.entity_type("2420A", "X12_LineTreatingDentistFirstname"),),
        ),
        placements_837.given_names(
            "2420A", LINE_DENTIST[1:], LINE_DENTIST[0], when=is_line_of_another
        ),
        placements_837.earlier_line_decision(
            paid="X12_PrimaryPaidAmount",
            day="X12_AdjudicationDate",
            procedure=decided_procedure,
            units=Computed("2430/SVD/05", units_paid, ["X12_UnitsPaid"], always=True),
            adjustments={
                "Adjustments": "2430/CAS/02",
                "Adjustments[].X12_AdjustmentGroupCode": "2430/CAS/01",
                "Adjustments[].X12_AdjustmentReasonCode": "2430/CAS/02",
                "Adjustments[].X12_AdjustmentAmount": "2430/CAS/03",
            },
            decided_by=("X12_PrimaryPaidAmount", "X12_AdjudicationDate", "Adjustments"),
        ),
    ),
    echoes={
        "X12_LineControlNumber": "2400/REF:6R/02",
        "X12_PlaceOfServiceCode": "2300/CLM/05-1",
        **placements_837.rows_at("2310B", placements_837.NAME, LINE_DENTIST),
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
    place=lambda context: context.values["F38_PlaceOfTreatment"],
)
