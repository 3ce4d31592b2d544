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

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache

from clearlane.claims import cob, codes
from clearlane.claims.drug_quantity import UNITS, drug
from clearlane.claims.rendering_provider import SHADED, rendering_npi
from clearlane.claims.value_types import ADJUSTMENT_GROUPS
from clearlane.claims.write import claim_context
from clearlane.claims.write.claim_context import ClaimContext, LineContext
from clearlane.claims.write.placement import Computed, ConditionalRows, LoopTable, PlacementTables
from clearlane.kernel import limits
from clearlane.x12.guides.g837p import GUIDE
from clearlane.x12.writer.encode import format_day

PAYER_NAME = "F00_PayerName"

NOT_SENT = {
    "Svc_VendorClaimId": "The caller's own key; answers are matched by CLM01 and REF*D9.",
    "F09B_OtherInsuredDOB": "5010 has no place for another insured's birth date.",
    "F09B_OtherInsuredSex": "5010 has no place for another insured's sex.",
    "F09C_OtherEmployerName": "5010 has no place for another insured's employer.",
    "F12_PatientAuthorizationDate": "5010 carries whether there is a release, not since when.",
    "F33B_BillingProviderSsn": "2010AA has one tax number, and box 25 holds it.",
    "F24_ClaimLines": "The lines have loops of their own, field by field.",
}
"""Fields that are stored and never sent, each with its reason."""

PROPERTY_AND_CASUALTY = frozenset({"AM", "LM", "WC"})
NOT_ASSIGNED = "N"
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
        context.form.accidents(context.claim)
    )


def payer_name(context: ClaimContext) -> str:
    """Return the payer's name in the directory, else the caller's."""
    return claim_context.directory_name(context) or context.claim.F00_PayerName


def place_of_service(context: ClaimContext) -> str:
    """Return the claim's place of service, else that of its first line."""
    own: str = (
        context.values.get("X12_PlaceOfServiceCode")
        or context.claim.F24_ClaimLines[0].F24B_PlaceOfServiceCode
    )
    return own


def frequency_code(context: ClaimContext) -> str:
    """Return the claim frequency: original, corrected, replacement or void."""
    return context.form.frequency(context.claim)


def is_about_an_earlier_claim(context: ClaimContext) -> bool:
    """Return whether the claim corrects, replaces or voids an earlier one."""
    return context.form.frequency(context.claim) != codes.ORIGINAL


def signature(context: ClaimContext) -> str:
    """Return whether the provider's signature is on file."""
    return "Y" if context.claim.F31_PhysicianOrSupplierSignatureIsOnFile else "N"


def benefits(context: ClaimContext) -> str:
    """Return whether the benefits are assigned to the provider."""
    return context.values.get("F13_InsuredAuthorization") or NOT_ASSIGNED


def assignment(context: ClaimContext) -> str:
    """Return whether the provider accepts assignment."""
    return context.values.get("F27_AcceptAssignment") or ("A" if benefits(context) == "Y" else "C")


def release(context: ClaimContext) -> str:
    """Return the patient's release of information."""
    code: str = context.claim.F12_PatientAuthorization
    return code


def causes(context: ClaimContext) -> str | None:
    """Return the related causes: at most two, and the state if the first is an auto accident."""
    found = context.form.accidents(context.claim)[:2]
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


def hi(context: ClaimContext) -> tuple[str, ...]:
    """Return the diagnoses without gaps."""
    return claim_context.health_care_codes(
        context.form.icd_version(context.claim), tuple(context.form.diagnoses(context.claim))
    )


def is_rendered_by_another(context: ClaimContext) -> bool:
    """Return whether the rendering provider is not the billing provider."""
    npi, billing = rendering_npi(context.claim), context.values.get("F33A_BillingProviderNpi")
    if npi:
        return npi != billing
    pairs = (("X12_RendProviderNameLast", "F33_BillingProviderNameLast"),
             ("X12_RendProviderNameFirst", "F33_BillingProviderNameFirst"))  # fmt: skip
    return any(context.values.get(one) != context.values.get(other) for one, other in pairs)


def rendered_by(context: ClaimContext) -> str | None:
    """Return the rendering provider's NPI: the claim's own or the first on its lines."""
    return rendering_npi(context.claim)


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
    """Return the unit of the quantity: minutes for anaesthesia, else units."""
    return MINUTES if context.values.get("X12_Anesthesia") else UNITS_OF_SERVICE


def units(context: LineContext) -> Decimal:
    """Return the quantity of the line, 1 if none is given."""
    return context.values.get("F24G_DaysOrUnits") or claim_context.ONE


def place_of_line(context: LineContext) -> str | None:
    """Return the line's place of service if it is not the claim's."""
    place: str = context.values["F24B_PlaceOfServiceCode"]
    return None if place == context.claim_place else place


def pointers(context: LineContext) -> str | None:
    """Return the numbers of the diagnoses that the line treats."""
    return claim_context.pointer_text(
        context.values["F24E_DiagnosisPointers"], context.claim_context.diagnosis_numbers
    )


def service_days(context: LineContext) -> str:
    """Return the first and last day of the service."""
    first = context.values["F24A_DateOfServiceFrom"]
    return claim_context.days(first, context.values.get("F24A_DateOfServiceTo", first))


def drug_quantity(context: LineContext) -> Decimal | None:
    """Return how much of the drug was given."""
    found = drug(context.line)
    return found.quantity if found else None


def drug_unit(context: LineContext) -> str | None:
    """Return the unit of the drug quantity."""
    found = drug(context.line)
    return found.unit if found else None


def link_number(context: LineContext) -> str | None:
    """Return the number that links the parts of a compound drug; a prescription number is sent instead of it."""
    if "X12_NdcPharmacyPrescriptionNumber" in context.values:
        return None
    return context.values.get("X12_NdcLinkSequenceNumber")


def is_line_of_another(context: LineContext) -> bool:
    """Return whether the line has numbers of the rendering provider that differ from the claim's."""
    own, claim = context.values, context.claim_context.values
    return "X12_RendProviderNameLast" in claim and any(
        own[name] != claim.get(OF_CLAIM[name]) for name in SHADED if name in own
    )


def line_rendered_by(context: LineContext) -> str | None:
    """Return the NPI of the line's rendering provider."""
    return context.values.get("F24J_RenderingNpi") or rendering_npi(context.claim_context.claim)


def line_entity(context: LineContext) -> str:
    """Return whether the rendering provider is a person, as on the claim."""
    return (
        claim_context.PERSON
        if "X12_RendProviderNameFirst" in context.claim_values
        else claim_context.ORGANISATION
    )


OF_CLAIM = {
    "F24J_Shaded_RendProviderTaxonomyCode": "X12_RendProviderTaxonomyCode",
    "F24J_Shaded_RendProviderStateLicenseNumber": "X12_RendProviderStateLicenseNumber",
    "F24J_Shaded_RendProviderUpinNumber": "X12_RendProviderUpinNumber",
    "F24J_Shaded_RendProviderCommercialNumber": "X12_RendProviderCommercialNumber",
    "F24J_Shaded_RendProviderLocationNumber": "X12_RendProviderLocationNumber",
}


# --- the tables ---------------------------------------------------------------------------------------


BILLING: LoopTable[ClaimContext] = LoopTable(
    GUIDE,
    "2000A",
    generated={"hl": "2000A/HL/01"},
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
    computed=(
        Computed(
            "2010AA/NM1/02",
            claim_context.person,
            ["F33_BillingProviderNameFirst"],
            default=claim_context.ORGANISATION,
        ),
    ),
    conditional=(
        ConditionalRows(
            all_of=["F33_BillingProviderNameFirst"],
            rows={
                "F33_BillingProviderNameFirst": "2010AA/NM1/04",
                "F33_BillingProviderNameMiddle": "2010AA/NM1/05",
                "F33_BillingProviderSuffix": "2010AA/NM1/07",
            },
        ),
        ConditionalRows(
            none_of=["F25_FederalTaxIdEin"], rows={"F25_FederalTaxIdSsn": "2010AA/REF:SY/02"}
        ),
    ),
    constants={"2010AA/PER/03": "TE"},
)

SUBSCRIBER: LoopTable[ClaimContext] = LoopTable(
    GUIDE,
    "2000B",
    generated={"hl": "2000B/HL/01", "parent": "2000B/HL/02", "child": "2000B/HL/04"},
    rows={
        "F11_InsuredsPolicyGroupOrFecaNumber": "2000B/SBR/03",
        "F04_InsuredNameLast": "2010BA/NM1/03",
        "F04_InsuredNameFirst": "2010BA/NM1/04",
        "F01A_InsuredId": "2010BA/NM1/09",
    },
    computed=(
        Computed("2000B/SBR/01", claim_context.order_of_payment, (), always=True),
        Computed("2000B/SBR/02", claim_context.self_code, ["F06_PatientRelationshipToInsured"]),
        Computed("2000B/SBR/04", plan_name, ["F11C_PlanName"]),
        Computed("2000B/SBR/05", claim_context.medicare_reason, ["X12_MedicareSecondaryReason"]),
        Computed(
            "2000B/SBR/09", coverage, ["F01_ClaimType"], default=claim_context.UNKNOWN_COVERAGE
        ),
        Computed(
            "2010BA/NM1/05",
            claim_context.insured_or_patient("F04_InsuredNameMiddle", "F02_PatientNameMiddle"),
            ["F04_InsuredNameMiddle", "F02_PatientNameMiddle"],
        ),
        Computed(
            "2010BA/NM1/07",
            claim_context.insured_or_patient("F04_InsuredSuffix", "F02_PatientSuffix"),
            ["F04_InsuredSuffix", "F02_PatientSuffix"],
        ),
        Computed("2010BB/NM1/03", payer_name, [PAYER_NAME]),
        Computed("2010BB/NM1/09", claim_context.payer_id, ["Svc_PayerId"]),
    ),
    conditional=(
        ConditionalRows(
            when=claim_context.patient_is_insured,
            rows={
                "F07_InsuredAddress1": "2010BA/N3/01",
                "F07_InsuredAddress2": "2010BA/N3/02",
                "F07_InsuredCity": "2010BA/N4/01",
                "F07_InsuredState": "2010BA/N4/02",
                "F07_InsuredZip": "2010BA/N4/03",
                "F11A_InsuredDob": "2010BA/DMG/02",
                "F11A_InsuredSex": "2010BA/DMG/03",
            },
        ),
        ConditionalRows(
            when=is_property_and_casualty,
            computed=(
                Computed(
                    "2010BA/PER/04",
                    claim_context.insured_or_patient("F07_InsuredPhone", "F05_PatientPhone"),
                    ["F07_InsuredPhone", "F05_PatientPhone"],
                ),
            ),
        ),
        ConditionalRows(
            all_of=["F00_PayerAddress1", "F00_PayerCity", "F00_PayerState", "F00_PayerZip"],
            rows={
                "F00_PayerAddress1": "2010BB/N3/01",
                "F00_PayerAddress2": "2010BB/N3/02",
                "F00_PayerCity": "2010BB/N4/01",
                "F00_PayerState": "2010BB/N4/02",
                "F00_PayerZip": "2010BB/N4/03",
            },
        ),
    ),
    constants={
        "2010BA/NM1/02": claim_context.PERSON,
        "2010BA/NM1/08": "MI",
        "2010BA/PER/03": "TE",
        "2010BB/NM1/08": "PI",
    },
    echoes={
        "F02_PatientNameLast": "2010BA/NM1/03",
        "F02_PatientNameFirst": "2010BA/NM1/04",
        "F03_PatientDob": "2010BA/DMG/02",
        "F03_PatientSex": "2010BA/DMG/03",
        "F05_PatientAddress1": "2010BA/N3/01",
        "F05_PatientAddress2": "2010BA/N3/02",
        "F05_PatientCity": "2010BA/N4/01",
        "F05_PatientState": "2010BA/N4/02",
        "F05_PatientZip": "2010BA/N4/03",
    },
)

PATIENT: LoopTable[ClaimContext] = LoopTable(
    GUIDE,
    "2000C",
    generated={"hl": "2000C/HL/01", "parent": "2000C/HL/02"},
    rows={
        "F06_PatientRelationshipToInsured": "2000C/PAT/01",
        "F02_PatientNameLast": "2010CA/NM1/03",
        "F02_PatientNameFirst": "2010CA/NM1/04",
        "F02_PatientNameMiddle": "2010CA/NM1/05",
        "F02_PatientSuffix": "2010CA/NM1/07",
        "F05_PatientAddress2": "2010CA/N3/02",
        "F05_PatientCity": "2010CA/N4/01",
        "F05_PatientState": "2010CA/N4/02",
        "F05_PatientZip": "2010CA/N4/03",
        "F03_PatientDob": "2010CA/DMG/02",
        "F03_PatientSex": "2010CA/DMG/03",
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

CLAIM: LoopTable[ClaimContext] = LoopTable(
    GUIDE,
    "2300",
    generated={"number": "2300/CLM/01", "trace": "2300/REF:D9/02"},
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
        Computed(
            "2300/CLM/05-3",
            frequency_code,
            ["F22_MedicaidResubmissionCode"],
            default=codes.ORIGINAL,
        ),
        Computed("2300/CLM/06", signature, ["F31_PhysicianOrSupplierSignatureIsOnFile"]),
        Computed("2300/CLM/07", assignment, ["F27_AcceptAssignment"], always=True),
        Computed("2300/CLM/08", benefits, ["F13_InsuredAuthorization"], default=NOT_ASSIGNED),
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
        Computed(
            "2300/AMT:F5/02",
            claim_context.unless_zero("F29_PatientAmountPaid"),
            ["F29_PatientAmountPaid"],
        ),
        _glasses("X12_SpectacleLenses", "E1"),
        _glasses("X12_ContactLenses", "E2"),
        _glasses("X12_SpectacleFrames", "E3"),
        Computed(
            [f"2300/HI/{element:02}" for element in range(1, limits.MEDICAL_DIAGNOSES_MAX + 1)],
            hi,
            ["F21_DiagnosisCodes", "F21_IcdIndicator"],
        ),
    ),
    conditional=(
        ConditionalRows(
            when=is_about_an_earlier_claim,
            rows={"F22_OriginalReferenceNumber": "2300/REF:F8/02"},
        ),
        ConditionalRows(
            all_of=["X12_ClaimContractTypeCode"],
            rows={
                "X12_ClaimContractTypeCode": "2300/CN1/01",
                "X12_ClaimContractCode": "2300/CN1/04",
            },
            computed=(
                Computed(
                    "2300/CN1/02",
                    claim_context.unless_zero("X12_ClaimContractMonetaryAmount"),
                    ["X12_ClaimContractMonetaryAmount"],
                ),
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
                Computed(
                    "2310B/NM1/02",
                    claim_context.person,
                    ["X12_RendProviderNameFirst"],
                    default=claim_context.ORGANISATION,
                ),
                Computed("2310B/NM1/09", rendered_by, ["X12_RenderingNPI"], always=True),
            ),
        ),
        ConditionalRows(
            when=is_rendered_by_another,
            all_of=["X12_RendProviderNameLast", "X12_RendProviderNameFirst"],
            rows={
                "X12_RendProviderNameFirst": "2310B/NM1/04",
                "X12_RendProviderNameMiddle": "2310B/NM1/05",
                "X12_RendProviderSuffix": "2310B/NM1/07",
            },
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
        "2300/NTE/01": "ADD",
        "2300/CRC:E1/02": "Y",
        "2300/CRC:E2/02": "Y",
        "2300/CRC:E3/02": "Y",
        "2310A/NM1/01": "DN",
    },
    echoes={"F26_PatientAcctNumber": "2300/CLM/01"},
)

OTHER: LoopTable[ClaimContext] = LoopTable(
    GUIDE,
    "2320",
    rows={
        "F09_PatientRelationshipToInsured": "2320/SBR/02",
        "F09_OtherInsuredNameLast": "2330A/NM1/03",
        "F09A_OtherInsuredGroupNum": "2320/SBR/03",
    },
    computed=(
        Computed(
            "2320/SBR/01", claim_context.other_order_of_payment, ["F11D_OtherPlan"], always=True
        ),
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
        Computed(
            [f"2320/CAS#{number}/01" for number in range(1, len(ADJUSTMENT_GROUPS) + 1)],
            claim_context.earlier_adjustments,
            {name: f"2320/CAS:{group}/02" for name, group in cob.CLAIM_GROUPS.items()},
        ),
        Computed("2320/OI/03", benefits, ["F13_InsuredAuthorization"], default=NOT_ASSIGNED),
        Computed("2320/OI/06", release, ["F12_PatientAuthorization"]),
        Computed(
            "2330A/NM1/02",
            claim_context.person,
            ["F09_OtherInsuredNameFirst"],
            default=claim_context.ORGANISATION,
        ),
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
        ConditionalRows(
            all_of=["F09_OtherInsuredNameFirst"],
            rows={
                "F09_OtherInsuredNameFirst": "2330A/NM1/04",
                "F09_OtherInsuredNameMiddle": "2330A/NM1/05",
                "F09_OtherInsuredSuffix": "2330A/NM1/07",
            },
        ),
    ),
    constants={
        "2330A/NM1/08": "MI",
        "2330B/NM1/08": "PI",
    },
)


DECISION_OF_LINE: Sequence[str] = (
    "X12_PrimaryPayerPaidAmount",
    "X12_AdjudicationOrPaymentDate",
    *cob.LINE_GROUPS,
)

LINE: LoopTable[LineContext] = LoopTable(
    GUIDE,
    "2400",
    generated={"line": "2400/LX/01", "control": "2400/REF:6R/02"},
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
        Computed("2400/SV1/05", place_of_line, ["F24B_PlaceOfServiceCode"]),
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
                Computed(
                    "2400/CN1/02",
                    claim_context.unless_zero("X12_ContractMonetaryAmount"),
                    ["X12_ContractMonetaryAmount"],
                ),
            ),
        ),
        ConditionalRows(
            all_of=["X12_NdcCode"],
            rows={
                "X12_NdcCode": "2410/LIN/03",
                "X12_NdcPharmacyPrescriptionNumber": "2410/REF:XZ/02",
            },
            computed=(
                Computed("2410/CTP/04", drug_quantity, ["X12_NdcQuantity", *UNITS]),
                Computed("2410/CTP/05-1", drug_unit, ["X12_NdcQuantity", *UNITS]),
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
            any_of=SHADED,
        ),
        ConditionalRows(
            when=is_line_of_another,
            all_of=["X12_RendProviderNameFirst"],
            claim_rows={
                "X12_RendProviderNameFirst": "2420A/NM1/04",
                "X12_RendProviderNameMiddle": "2420A/NM1/05",
                "X12_RendProviderSuffix": "2420A/NM1/07",
            },
            any_of=SHADED,
        ),
        ConditionalRows(
            when=claim_context.has_earlier_decision,
            computed=(
                Computed("2430/SVD/01", claim_context.line_payer, (), always=True),
                Computed(
                    "2430/SVD/02",
                    claim_context.earlier_paid,
                    ["X12_PrimaryPayerPaidAmount"],
                    always=True,
                ),
                Computed("2430/SVD/03", decided_procedure, (), always=True),
                Computed("2430/SVD/05", units, (), always=True),
                Computed(
                    [f"2430/CAS#{number}/01" for number in range(1, len(ADJUSTMENT_GROUPS) + 1)],
                    claim_context.earlier_adjustments,
                    {name: f"2430/CAS:{group}/02" for name, group in cob.LINE_GROUPS.items()},
                ),
                Computed(
                    "2430/DTP:573/03",
                    claim_context.line_decision_day,
                    ["X12_AdjudicationOrPaymentDate"],
                    always=True,
                ),
                Computed(
                    "2430/AMT:EAF/02",
                    claim_context.line_remaining_liability,
                    ["X12_LineRemainingPatientLiability"],
                    always=True,
                ),
            ),
            any_of=DECISION_OF_LINE,
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
    place="2300/CLM/05-1",
)
