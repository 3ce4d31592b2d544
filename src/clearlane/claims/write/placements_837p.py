"""The place of each field of a medical claim in an 837P.

First the functions that compute values, then the tables, one per loop. If X12 requires a value that the claim
does not have:

* without a claim type SBR09 is ``ZZ``, that of the other payer too;
* box 9a, a policy or group number, is SBR03; if the claim states no member id of the other insured, which 2330A
  requires, it is sent there as well, with a warning;
* without box 13 benefits are not assigned (CLM08 ``N``), the meaning of an empty box on the CMS-1500;
* without box 27 the provider accepts assignment (CLM07 ``A``) if benefits are assigned, else not (``C``);
* without a quantity a line has 1 unit; without a place of service the claim has that of its first line;
* a patient without a street address has the insured's.

A missing billing NPI or ZIP code is left out.

Knows the catalogue and the guide; ``write_837`` writes the tables.
"""

from datetime import date
from decimal import Decimal
from functools import lru_cache

from clearlane.claims.forms.medical_view import CLAIM_GROUPS, LINE_GROUPS
from clearlane.claims.write import claim_context, placements_837
from clearlane.claims.write.claim_context import ClaimContext, LineContext
from clearlane.claims.write.placement import Computed, ConditionalRows, LoopTable, PlacementTables
from clearlane.kernel import limits
from clearlane.x12.guides.g837p import GUIDE
from clearlane.x12.writer.encode import format_day

NOT_SENT = {
    **placements_837.NOT_SENT,
    "F09B_OtherInsuredDOB": placements_837.NO_OTHER_BIRTH_DATE,
    "F09B_OtherInsuredSex": placements_837.NO_OTHER_SEX,
    "F09C_OtherEmployerName": "5010 has no place for another insured's employer.",
    "F12_PatientAuthorizationDate": placements_837.NO_RELEASE_DATE,
    "F33B_BillingProviderSsn": "2010AA has one tax number, and box 25 holds it.",
    "F24_ClaimLines": placements_837.NO_LINES,
}
"""Fields that are stored and never sent, each with its reason."""

PROPERTY_AND_CASUALTY = frozenset({"AM", "LM", "WC"})
UNITS_OF_SERVICE, MINUTES = "UN", "MJ"
BILLING_PLACE = (
    "F33_BillingProviderAddress1",
    "F33_BillingProviderCity",
    "F33_BillingProviderState",
    "F33_BillingProviderZip",
)
FACILITY_PLACE = (
    "F32_FacilityAddress1",
    "F32_FacilityCity",
    "F32_FacilityState",
    "F32_FacilityZip",
)
FACILITY_NEEDS = ("F32_FacilityName", *FACILITY_PLACE)
PATIENT_NAME = (
    "F02_PatientNameLast",
    "F02_PatientNameFirst",
    "F02_PatientNameMiddle",
    "F02_PatientSuffix",
)
RENDERING_GIVEN_NAMES = (
    "X12_RendProviderNameFirst",
    "X12_RendProviderNameMiddle",
    "X12_RendProviderSuffix",
)
PATIENT_BIRTH_AND_SEX = ("F03_PatientDob", "F03_PatientSex")
FACILITY_NUMBERS = {
    "F32B_FacilityIdStateLicenseNumber": "2310C/REF:0B/02",
    "F32B_FacilityIdProviderCommercialLicenseNumber": "2310C/REF:G2/02",
    "F32B_FacilityIdLocationNumber": "2310C/REF:LU/02",
}


# --- functions used by the tables ---------------------------------------------------------------


def coverage(context: ClaimContext) -> str:
    """Return the kind of insurance (SBR09)."""
    kind: str = context.values.get("F01_ClaimType", claim_context.UNKNOWN_COVERAGE)
    return kind


def plan_name(context: ClaimContext) -> str | None:
    """Return the name of the group, only if it has no number."""
    if "F11_InsuredsPolicyGroupOrFecaNumber" in context.values:
        return None
    return context.values.get("F11C_PlanName")


def is_property_and_casualty(context: ClaimContext) -> bool:
    """Return whether it is a property and casualty claim: only these carry phone numbers of insured and patient."""
    return coverage(context) in PROPERTY_AND_CASUALTY or not {"AA", "EM"}.isdisjoint(
        context.form.value(context.claim, "causes")
    )


def place_of_service(context: ClaimContext) -> str:
    """Return the claim's place of service, else that of its first line."""
    own: str = (
        context.values.get("X12_PlaceOfServiceCode")
        or context.claim.F24_ClaimLines[0].F24B_PlaceOfServiceCode
    )
    return own


def signature(context: ClaimContext) -> str:
    """Return whether the provider's signature is on file."""
    return "Y" if context.claim.F31_PhysicianOrSupplierSignatureIsOnFile else "N"


def benefits(context: ClaimContext) -> str:
    """Return whether the benefits are assigned to the provider."""
    return context.values.get("F13_InsuredAuthorization") or placements_837.NOT_ASSIGNED


def assignment(context: ClaimContext) -> str:
    """Return whether the provider accepts assignment."""
    return context.values.get("F27_AcceptAssignment") or ("A" if benefits(context) == "Y" else "C")


def release(context: ClaimContext) -> str:
    """Return the patient's release of information."""
    code: str = context.claim.F12_PatientAuthorization
    return code


def causes(context: ClaimContext) -> str | None:
    """Return the related causes: at most two, and the state if the first is an auto accident."""
    found = context.form.value(context.claim, "causes")[:2]
    if not found:
        return None
    state = context.values.get("F10B_PatientCondAutoAccidentState") if found[0] == "AA" else None
    return ":".join([found[0], found[1] if len(found) > 1 else "", "", state or ""]).rstrip(":")


def both_days_of_disability(context: ClaimContext) -> str | None:
    """Return the first and last day of a disability; DTP*314 has both even if they are the same."""
    first, last = _disability(context)
    return f"{format_day(first)}-{format_day(last)}" if first and last else None


def first_day_of_disability(context: ClaimContext) -> date | None:
    """Return the first day of a disability, if the last is not known."""
    first, last = _disability(context)
    return None if last else first


def last_day_of_disability(context: ClaimContext) -> date | None:
    """Return the last day of a disability, if the first is not known."""
    first, last = _disability(context)
    return None if first else last


def _disability(context: ClaimContext) -> tuple[date | None, date | None]:
    return context.values.get("X12_DisabilityDateFrom"), context.values.get("X12_DisabilityDateTo")


def is_rendered_by_another(context: ClaimContext) -> bool:
    """Return whether the rendering provider is not the billing provider."""
    npi, billing = rendered_by(context), context.values.get("F33A_BillingProviderNpi")
    if npi:
        return npi != billing
    pairs = (("X12_RendProviderNameLast", "F33_BillingProviderNameLast"),
             ("X12_RendProviderNameFirst", "F33_BillingProviderNameFirst"))  # fmt: skip
    return any(context.values.get(one) != context.values.get(other) for one, other in pairs)


def rendered_by(context: ClaimContext) -> str | None:
    """Return the rendering provider's NPI: the claim's own or the first on its lines."""
    own: str | None = context.claim.X12_RenderingNPI
    lines = context.claim.F24_ClaimLines
    return own or next((line.F24J_RenderingNpi for line in lines if line.F24J_RenderingNpi), None)


def is_given_elsewhere(context: ClaimContext) -> bool:
    """Return whether the service facility is not the billing provider's."""
    values = context.values
    npi = values.get("F32A_FacilityNpi")
    return (
        not claim_context.same_place(context, FACILITY_PLACE, BILLING_PLACE)
        or (npi is not None and npi != values.get("F33A_BillingProviderNpi"))
        or any(name in values for name in FACILITY_NUMBERS)
    )


def other_plan(context: ClaimContext) -> str | None:
    """Return the other plan's name, unless it is sent as the other payer's or the group has a number."""
    values = context.values
    if "F09A_OtherInsuredGroupNum" in values or "X12_OtherPayerName" not in values:
        return None
    return values.get("F09D_OtherPlanName")


def other_coverage(context: ClaimContext) -> str:
    """Return the other payer's type of coverage (SBR09)."""
    kind: str = context.values["X12_OtherPayerClaimType"]
    return kind


def other_payer_name(context: ClaimContext) -> str | None:
    """Return the other payer's name."""
    return context.form.other_payer_name(context.claim)


# Lines.


def procedure(context: LineContext) -> str:
    """Return the procedure with its modifiers and description."""
    values = context.values
    return _procedure(
        values["F24D_HcpcsProcedureCode"],
        values.get("F24D_Modifiers", ""),
        values.get("X12_Description", ""),
    )


def decided_procedure(context: LineContext) -> str:
    """Return the procedure the earlier payer decided about: the line's own."""
    values = context.values
    return _procedure(values["F24D_HcpcsProcedureCode"], values.get("F24D_Modifiers", ""), "")


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _procedure(code: str, modifiers: str, description: str) -> str:
    words = (modifiers.split(",") if modifiers else [])[: limits.MODIFIERS_PER_LINE_MAX]
    words += [""] * (limits.MODIFIERS_PER_LINE_MAX - len(words))
    return ":".join(["HC", code, *words, description]).rstrip(":")


def measure(context: LineContext) -> str:
    """Return the unit of the quantity: minutes for anesthesia, else units."""
    return MINUTES if context.values.get("X12_Anesthesia") else UNITS_OF_SERVICE


def units(context: LineContext) -> Decimal:
    """Return the quantity of the line, 1 if none is given."""
    return context.values.get("F24G_DaysOrUnits") or claim_context.ONE


def pointers(context: LineContext) -> str | None:
    """Return the numbers of the diagnoses that the line treats."""
    return claim_context.pointer_text(
        context.values["F24E_DiagnosisPointers"], context.claim_context.diagnosis_numbers
    )


def service_days(context: LineContext) -> str:
    """Return the first and last day of the service."""
    first = context.values["F24A_DateOfServiceFrom"]
    return claim_context.days(first, context.values.get("F24A_DateOfServiceTo", first))


# The first that is given counts; a quantity without a unit is in units.
DRUG_UNITS = {
    "X12_DrugQuantityInternationalUnits": "F2",
    "X12_DrugQuantityGrams": "GR",
    "X12_DrugQuantityMilligrams": "ME",
    "X12_DrugQuantityMilliliters": "ML",
    "X12_DrugQuantityUnits": "UN",
    "X12_NdcQuantity": "UN",
}


def _drug_field(context: LineContext) -> str:
    return next((name for name in DRUG_UNITS if context.values.get(name)), "")


def drug_quantity(context: LineContext) -> Decimal | None:
    """Return how much of the drug was given."""
    return context.values.get(_drug_field(context))


def drug_unit(context: LineContext) -> str | None:
    """Return the unit of the drug quantity."""
    return DRUG_UNITS.get(_drug_field(context))


def link_number(context: LineContext) -> str | None:
    """Return the number that links the parts of a compound drug; a prescription number is sent instead of it."""
    if "X12_NdcPharmacyPrescriptionNumber" in context.values:
        return None
    return context.values.get("X12_NdcLinkSequenceNumber")


def is_line_of_another(context: LineContext) -> bool:
    """Return whether the line has numbers of the rendering provider that differ from the claim's."""
    own, claim = context.values, context.claim_context.values
    return "X12_RendProviderNameLast" in claim and any(
        own[name] != claim.get(OF_CLAIM[name]) for name in OF_CLAIM if name in own
    )


def line_rendered_by(context: LineContext) -> str | None:
    """Return the NPI of the line's rendering provider."""
    return context.values.get("F24J_RenderingNpi") or rendered_by(context.claim_context)


def line_entity(context: LineContext) -> str:
    """Return whether the rendering provider is a person, as on the claim."""
    return (
        claim_context.PERSON
        if "X12_RendProviderNameFirst" in context.claim_values
        else claim_context.ORGANIZATION
    )


OF_CLAIM = {
    "F24J_Shaded_RendProviderTaxonomyCode": "X12_RendProviderTaxonomyCode",
    "F24J_Shaded_RendProviderStateLicenseNumber": "X12_RendProviderStateLicenseNumber",
    "F24J_Shaded_RendProviderUpinNumber": "X12_RendProviderUpinNumber",
    "F24J_Shaded_RendProviderCommercialNumber": "X12_RendProviderCommercialNumber",
    "F24J_Shaded_RendProviderLocationNumber": "X12_RendProviderLocationNumber",
}


# --- the tables ---------------------------------------------------------------------------------------


BILLING = placements_837.loop_table(
    GUIDE,
    "2000A",
    rows={
        "F33B_BillingProviderTaxonomyCode": "2000A/PRV/03",
        "F33_BillingProviderNameLast": "2010AA/NM1/03",
        "F33A_BillingProviderNpi": "2010AA/NM1/09",
        "F33_BillingProviderAddress1": "2010AA/N3/01",
        "F33_BillingProviderAddress2": "2010AA/N3/02",
        "F33_BillingProviderCity": "2010AA/N4/01",
        "F33_BillingProviderState": "2010AA/N4/02",
        "F33_BillingProviderZip": "2010AA/N4/03",
        "F25_FederalTaxIdEin": "2010AA/REF:EI/02",
        "F33_BillingProviderPhoneNumber": "2010AA/PER/04",
    },
    computed=(placements_837.entity_type("2010AA", "F33_BillingProviderNameFirst"),),
    conditional=(
        placements_837.given_names(
            "2010AA",
            (
                "F33_BillingProviderNameFirst",
                "F33_BillingProviderNameMiddle",
                "F33_BillingProviderSuffix",
            ),
        ),
        ConditionalRows(
            none_of=["F25_FederalTaxIdEin"], rows={"F25_FederalTaxIdSsn": "2010AA/REF:SY/02"}
        ),
    ),
)

SUBSCRIBER = placements_837.loop_table(
    GUIDE,
    "2000B",
    rows={
        "F11_InsuredsPolicyGroupOrFecaNumber": "2000B/SBR/03",
        "F04_InsuredNameLast": "2010BA/NM1/03",
        "F04_InsuredNameFirst": "2010BA/NM1/04",
        "F01A_InsuredId": "2010BA/NM1/09",
    },
    computed=(
        Computed("2000B/SBR/02", claim_context.self_code, ["F06_PatientRelationshipToInsured"]),
        Computed("2000B/SBR/04", plan_name, ["F11C_PlanName"]),
        Computed("2000B/SBR/05", claim_context.medicare_reason, ["X12_MedicareSecondaryReason"]),
        Computed(
            "2000B/SBR/09", coverage, ["F01_ClaimType"], default=claim_context.UNKNOWN_COVERAGE
        ),
        placements_837.insured_or_patient(
            "2010BA/NM1/05", "F04_InsuredNameMiddle", "F02_PatientNameMiddle"
        ),
        placements_837.insured_or_patient(
            "2010BA/NM1/07", "F04_InsuredSuffix", "F02_PatientSuffix"
        ),
        placements_837.payer_name("F00_PayerName"),
    ),
    conditional=(
        ConditionalRows(
            when=claim_context.patient_is_insured,
            rows={
                **placements_837.address(
                    "2010BA",
                    (
                        "F07_InsuredAddress1",
                        "F07_InsuredAddress2",
                        "F07_InsuredCity",
                        "F07_InsuredState",
                        "F07_InsuredZip",
                    ),
                ),
                "F11A_InsuredDob": "2010BA/DMG/02",
                "F11A_InsuredSex": "2010BA/DMG/03",
            },
        ),
        ConditionalRows(
            when=is_property_and_casualty,
            computed=(
                placements_837.insured_or_patient(
                    "2010BA/PER/04", "F07_InsuredPhone", "F05_PatientPhone"
                ),
            ),
        ),
        placements_837.whole_address(
            "2010BB",
            (
                "F00_PayerAddress1",
                "F00_PayerAddress2",
                "F00_PayerCity",
                "F00_PayerState",
                "F00_PayerZip",
            ),
        ),
    ),
    constants={
        "2010BA/NM1/02": claim_context.PERSON,
        "2010BA/NM1/08": "MI",
        "2010BA/PER/03": "TE",
    },
    echoes={
        **placements_837.rows_at("2010BA", placements_837.NAME[:2], PATIENT_NAME[:2]),
        **placements_837.rows_at("2010BA", placements_837.BIRTH_AND_SEX, PATIENT_BIRTH_AND_SEX),
        **placements_837.address(
            "2010BA",
            (
                "F05_PatientAddress1",
                "F05_PatientAddress2",
                "F05_PatientCity",
                "F05_PatientState",
                "F05_PatientZip",
            ),
        ),
    },
)

PATIENT: LoopTable[ClaimContext] = placements_837.loop_table(
    GUIDE,
    "2000C",
    rows={
        "F06_PatientRelationshipToInsured": "2000C/PAT/01",
        **placements_837.rows_at("2010CA", placements_837.NAME, PATIENT_NAME),
        "F05_PatientAddress2": "2010CA/N3/02",
        "F05_PatientCity": "2010CA/N4/01",
        "F05_PatientState": "2010CA/N4/02",
        "F05_PatientZip": "2010CA/N4/03",
        **placements_837.rows_at("2010CA", placements_837.BIRTH_AND_SEX, PATIENT_BIRTH_AND_SEX),
    },
    computed=(
        # A dependent's city is required and the street is not; the insured's street is the likeliest.
        Computed(
            "2010CA/N3/01",
            claim_context.first_of("F05_PatientAddress1", "F07_InsuredAddress1"),
            ["F05_PatientAddress1"],
            always=True,
        ),
    ),
    conditional=(
        ConditionalRows(when=is_property_and_casualty, rows={"F05_PatientPhone": "2010CA/PER/04"}),
    ),
    constants={"2010CA/PER/03": "TE"},
)


def _glasses(name: str, category: str) -> Computed[ClaimContext]:
    places = [f"2300/CRC:{category}/{element:02}" for element in range(3, 8)]
    return Computed(places, lambda context: context.values[name].split(","), [name])


def _provider(role: str, loop: str) -> dict[str, str]:
    return {
        f"F17_{role}ProviderNameLast": f"{loop}/NM1/03",
        f"F17_{role}ProviderNameFirst": f"{loop}/NM1/04",
        f"F17_{role}ProviderNameMiddle": f"{loop}/NM1/05",
        f"F17_{role}ProviderSuffix": f"{loop}/NM1/07",
        f"F17B_{role}ProviderNpi": f"{loop}/NM1/09",
        f"F17A_{role}ProviderIdNumber": f"{loop}/REF:G2/02",
    }


DATES = {
    "F14_DateOfCurrentIllnessOrSymptom": "2300/DTP:431/03",
    "F15_InitialTreatmentDate": "2300/DTP:454/03",
    "F15_LastSeenDate": "2300/DTP:304/03",
    "F15_AcuteManifestionDate": "2300/DTP:453/03",
    "F15_AccidentDate": "2300/DTP:439/03",
    "F14_LastMenstrualPeriodDate": "2300/DTP:484/03",
    "F15_LastXRayDate": "2300/DTP:455/03",
    "F15_HearingAndVisionPrescriptionDate": "2300/DTP:471/03",
    "F16_LastWorkedDate": "2300/DTP:297/03",
    "F16_AuthorizedReturnToWorkDate": "2300/DTP:296/03",
    "F18_HospitalizationDateFrom": "2300/DTP:435/03",
    "F18_HospitalizationDateTo": "2300/DTP:096/03",
    "F15_AssumedCareStartDate": "2300/DTP:090/03",
    "F15_AssumedCareEndDate": "2300/DTP:091/03",
    "F15_PropertyCasualtyFirstContactDate": "2300/DTP:444/03",
}

CLAIM = placements_837.loop_table(
    GUIDE,
    "2300",
    rows={
        "F28_TotalCharge": "2300/CLM/02",
        "F12_PatientAuthorization": "2300/CLM/09",
        "X12_DelayReasonCode": "2300/CLM/20",
        **DATES,
        "F23_MammographyCertificationNumber": "2300/REF:EW/02",
        "F23_ReferralNumber": "2300/REF:9F/02",
        "F23_PriorAuthorizationNumber": "2300/REF:G1/02",
        "F23_ClinicalLaboratoryImprovementAmendmentNumber": "2300/REF:X4/02",
        "X12_MedicalRecordNumber": "2300/REF:EA/02",
        "F19_ClaimSupplementalInfoNoteText": "2300/NTE/02",
        "X12_AcuteManifestationCode": "2300/CR2/08",
        **_provider("Referring", "2310A"),
        **_provider("Supervising", "2310D"),
    },
    computed=(
        Computed("2300/CLM/05-1", place_of_service, ["X12_PlaceOfServiceCode"], always=True),
        placements_837.frequency("F22_MedicaidResubmissionCode"),
        Computed("2300/CLM/06", signature, ["F31_PhysicianOrSupplierSignatureIsOnFile"]),
        Computed("2300/CLM/07", assignment, ["F27_AcceptAssignment"], always=True),
        Computed(
            "2300/CLM/08",
            benefits,
            ["F13_InsuredAuthorization"],
            default=placements_837.NOT_ASSIGNED,
        ),
        Computed(
            "2300/CLM/11",
            causes,
            {
                "F10B_PatientCondAutoAccident": "2300/CLM/11",
                "F10A_PatientCondEmployment": "2300/CLM/11",
                "F10C_PatientCondOtherAccident": "2300/CLM/11",
                "F10B_PatientCondAutoAccidentState": "2300/CLM/11-4",
            },
        ),
        Computed(
            "2300/DTP:314/03",
            both_days_of_disability,
            ["X12_DisabilityDateFrom", "X12_DisabilityDateTo"],
        ),
        Computed("2300/DTP:360/03", first_day_of_disability, ["X12_DisabilityDateFrom"]),
        Computed("2300/DTP:361/03", last_day_of_disability, ["X12_DisabilityDateTo"]),
        placements_837.amount_unless_zero("2300/AMT:F5/02", "F29_PatientAmountPaid"),
        _glasses("X12_SpectacleLenses", "E1"),
        _glasses("X12_ContactLenses", "E2"),
        _glasses("X12_SpectacleFrames", "E3"),
        placements_837.diagnoses(
            limits.MEDICAL_DIAGNOSES_MAX, "F21_DiagnosisCodes", "F21_IcdIndicator"
        ),
    ),
    conditional=(
        placements_837.original_reference("F22_OriginalReferenceNumber"),
        ConditionalRows(
            all_of=["X12_ClaimContractTypeCode"],
            rows={
                "X12_ClaimContractTypeCode": "2300/CN1/01",
                "X12_ClaimContractCode": "2300/CN1/04",
            },
            computed=(
                placements_837.amount_unless_zero("2300/CN1/02", "X12_ClaimContractMonetaryAmount"),
            ),
        ),
        ConditionalRows(
            when=is_rendered_by_another,
            all_of=["X12_RendProviderNameLast"],
            rows={
                "X12_RendProviderNameLast": "2310B/NM1/03",
                "X12_RendProviderTaxonomyCode": "2310B/PRV/03",
                "X12_RendProviderStateLicenseNumber": "2310B/REF:0B/02",
                "X12_RendProviderUpinNumber": "2310B/REF:1G/02",
                "X12_RendProviderCommercialNumber": "2310B/REF:G2/02",
                "X12_RendProviderLocationNumber": "2310B/REF:LU/02",
            },
            computed=(
                placements_837.entity_type("2310B", "X12_RendProviderNameFirst"),
                Computed("2310B/NM1/09", rendered_by, ["X12_RenderingNPI"], always=True),
            ),
        ),
        placements_837.given_names(
            "2310B",
            RENDERING_GIVEN_NAMES,
            "X12_RendProviderNameLast",
            when=is_rendered_by_another,
        ),
        ConditionalRows(
            when=is_given_elsewhere,
            all_of=FACILITY_NEEDS,
            rows={
                "F32_FacilityName": "2310C/NM1/03",
                "F32A_FacilityNpi": "2310C/NM1/09",
                "F32_FacilityAddress1": "2310C/N3/01",
                "F32_FacilityAddress2": "2310C/N3/02",
                "F32_FacilityCity": "2310C/N4/01",
                "F32_FacilityState": "2310C/N4/02",
                "F32_FacilityZip": "2310C/N4/03",
                **FACILITY_NUMBERS,
            },
        ),
    ),
    constants={
        "2300/DTP:314/02": "RD8",
        "2300/DTP:360/02": "D8",
        "2300/DTP:361/02": "D8",
        "2300/CRC:E1/02": "Y",
        "2300/CRC:E2/02": "Y",
        "2300/CRC:E3/02": "Y",
        "2310A/NM1/01": "DN",
    },
    echoes={"F26_PatientAcctNumber": "2300/CLM/01"},
)

OTHER = placements_837.loop_table(
    GUIDE,
    "2320",
    rows={
        "F09_PatientRelationshipToInsured": "2320/SBR/02",
        "F09_OtherInsuredNameLast": "2330A/NM1/03",
        "F09A_OtherInsuredGroupNum": "2320/SBR/03",
    },
    computed=(
        placements_837.other_order_of_payment("F11D_OtherPlan"),
        Computed("2320/SBR/04", other_plan, ["F09D_OtherPlanName"]),
        Computed(
            "2320/SBR/05", claim_context.other_medicare_reason, ["X12_MedicareSecondaryReason"]
        ),
        Computed(
            "2320/SBR/09",
            other_coverage,
            ["X12_OtherPayerClaimType"],
            default=claim_context.UNKNOWN_COVERAGE,
        ),
        Computed(
            "2320/AMT:D/02",
            claim_context.earlier_paid,
            ["X12_ClaimPrimaryPayerPaidAmount", "F29_PayerAmountPaid"],
            always=True,
        ),
        Computed(
            "2320/AMT:EAF/02",
            claim_context.claim_remaining_liability,
            ["X12_ClaimRemainingPatientLiability"],
            always=True,
        ),
        placements_837.earlier_adjustments(
            "2320", {name: f"2320/CAS:{group}/02" for name, group in CLAIM_GROUPS.items()}
        ),
        Computed(
            "2320/OI/03",
            benefits,
            ["F13_InsuredAuthorization"],
            default=placements_837.NOT_ASSIGNED,
        ),
        Computed("2320/OI/06", release, ["F12_PatientAuthorization"]),
        placements_837.entity_type("2330A", "F09_OtherInsuredNameFirst"),
        # Box 9a is a policy or group number. Without a member id it is the only number that says who is insured.
        Computed(
            "2330A/NM1/09",
            claim_context.first_of("X12_OtherInsuredId", "F09A_OtherInsuredGroupNum"),
            ["X12_OtherInsuredId", "F09A_OtherInsuredGroupNum"],
        ),
        Computed("2330B/NM1/03", other_payer_name, ["X12_OtherPayerName", "F09D_OtherPlanName"]),
        Computed(
            "2330B/NM1/09",
            claim_context.other_payer_id,
            ["X12_OtherPayerName", "F09D_OtherPlanName"],
        ),
        Computed(
            "2330B/DTP:573/03", claim_context.claim_decision_day, ["X12_ClaimAdjudicationDate"]
        ),
    ),
    conditional=(
        placements_837.given_names(
            "2330A",
            (
                "F09_OtherInsuredNameFirst",
                "F09_OtherInsuredNameMiddle",
                "F09_OtherInsuredSuffix",
            ),
        ),
    ),
)

LINE = placements_837.loop_table(
    GUIDE,
    "2400",
    rows={
        "F24F_Charges": "2400/SV1/02",
        "F24_Shaded_LineNoteText": "2400/NTE/02",
    },
    claim_rows=_provider("Ordering", "2420E"),
    computed=(
        Computed(
            "2400/SV1/01",
            procedure,
            {
                "F24D_HcpcsProcedureCode": "2400/SV1/01-2",
                "F24D_Modifiers": "2400/SV1/01-3",
                "X12_Description": "2400/SV1/01-7",
            },
        ),
        Computed("2400/SV1/03", measure, ["X12_Anesthesia"], default=UNITS_OF_SERVICE),
        Computed("2400/SV1/04", units, ["F24G_DaysOrUnits"], default=claim_context.ONE),
        placements_837.place_of_line("2400/SV1/05", "F24B_PlaceOfServiceCode"),
        Computed("2400/SV1/07", pointers, ["F24E_DiagnosisPointers"]),
        Computed("2400/SV1/09", claim_context.yes_if_set("F24C_Emg"), ["F24C_Emg"]),
        Computed(
            "2400/SV1/11",
            claim_context.yes_if_set("F24H_EarlyPeriodicScreeningDiagnosisAndTreatment"),
            ["F24H_EarlyPeriodicScreeningDiagnosisAndTreatment"],
        ),
        Computed(
            "2400/SV1/12",
            claim_context.yes_if_set("F24H_FamilyPlannning"),
            ["F24H_FamilyPlannning"],
        ),
        Computed(
            "2400/DTP:472/period",
            service_days,
            ["F24A_DateOfServiceFrom", "F24A_DateOfServiceTo"],
        ),
    ),
    conditional=(
        ConditionalRows(
            all_of=["X12_MeasurementId", "X12_MeasurementQualifier", "X12_MeasurementValue"],
            rows={
                "X12_MeasurementId": "2400/MEA/01",
                "X12_MeasurementQualifier": "2400/MEA/02",
                "X12_MeasurementValue": "2400/MEA/03",
            },
        ),
        ConditionalRows(
            all_of=["X12_ContractTypeCode"],
            rows={"X12_ContractTypeCode": "2400/CN1/01"},
            computed=(
                placements_837.amount_unless_zero("2400/CN1/02", "X12_ContractMonetaryAmount"),
            ),
        ),
        ConditionalRows(
            all_of=["X12_NdcCode"],
            rows={
                "X12_NdcCode": "2410/LIN/03",
                "X12_NdcPharmacyPrescriptionNumber": "2410/REF:XZ/02",
            },
            computed=(
                Computed("2410/CTP/04", drug_quantity, [*DRUG_UNITS]),
                Computed("2410/CTP/05-1", drug_unit, [*DRUG_UNITS]),
                Computed("2410/REF:VY/02", link_number, ["X12_NdcLinkSequenceNumber"]),
            ),
        ),
        ConditionalRows(
            when=is_line_of_another,
            rows={
                "F24J_Shaded_RendProviderTaxonomyCode": "2420A/PRV/03",
                "F24J_Shaded_RendProviderStateLicenseNumber": "2420A/REF:0B/02",
                "F24J_Shaded_RendProviderUpinNumber": "2420A/REF:1G/02",
                "F24J_Shaded_RendProviderCommercialNumber": "2420A/REF:G2/02",
                "F24J_Shaded_RendProviderLocationNumber": "2420A/REF:LU/02",
            },
            computed=(
                Computed("2420A/NM1/02", line_entity, (), always=True),
                Computed("2420A/NM1/09", line_rendered_by, ["F24J_RenderingNpi"], always=True),
            ),
            claim_rows={"X12_RendProviderNameLast": "2420A/NM1/03"},
            any_of=tuple(OF_CLAIM),
        ),
        ConditionalRows(
            when=is_line_of_another,
            all_of=["X12_RendProviderNameFirst"],
            claim_rows=placements_837.rows_at(
                "2420A", placements_837.GIVEN_NAMES, RENDERING_GIVEN_NAMES
            ),
            any_of=tuple(OF_CLAIM),
        ),
        placements_837.earlier_line_decision(
            paid="X12_PrimaryPayerPaidAmount",
            day="X12_AdjudicationOrPaymentDate",
            procedure=decided_procedure,
            units=Computed("2430/SVD/05", units, (), always=True),
            adjustments={name: f"2430/CAS:{group}/02" for name, group in LINE_GROUPS.items()},
            decided_by=(
                "X12_PrimaryPayerPaidAmount",
                "X12_AdjudicationOrPaymentDate",
                *LINE_GROUPS,
            ),
        ),
    ),
    constants={"2400/NTE/01": "ADD", "2410/LIN/02": "N4"},
    echoes={
        "X12_ProviderControlNumber": "2400/REF:6R/02",
        "F24B_PlaceOfServiceCode": "2300/CLM/05-1",
        "F24J_RenderingNpi": "2310B/NM1/09",
        "F24J_Shaded_RendProviderTaxonomyCode": "2310B/PRV/03",
        "F24J_Shaded_RendProviderStateLicenseNumber": "2310B/REF:0B/02",
        "F24J_Shaded_RendProviderUpinNumber": "2310B/REF:1G/02",
        "F24J_Shaded_RendProviderCommercialNumber": "2310B/REF:G2/02",
        "F24J_Shaded_RendProviderLocationNumber": "2310B/REF:LU/02",
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
    place=place_of_service,
)
