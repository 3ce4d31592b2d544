"""Where each field of a medical claim stands in an 837P.

Tables first, then the functions they name. What a claim does not say and X12 wants:

* a coverage of no said kind is ``ZZ`` (SBR09); the other payer's coverage always is, it has no field;
* without box 13 benefits are not assigned (CLM08 ``N``), as an empty box says on paper; without box 27 the
  provider accepts assignment where the benefits are assigned (CLM07 ``A``), else not (``C``);
* units are 1; the claim's place of service is that of its first line;
* a billing NPI or ZIP code that was not given is left out.

Knows the catalogue and the guide; writes nothing itself.
"""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache

from clearlane.claims import claim_context as ask
from clearlane.claims import cob
from clearlane.claims.claim_context import Case, LineCase
from clearlane.claims.placement import Block, Made, Scope
from clearlane.claims.rules.dates import accidents
from clearlane.claims.rules.diagnoses import diagnoses, version
from clearlane.claims.rules.drugs import UNITS, drug
from clearlane.claims.rules.numbers import frequency
from clearlane.claims.rules.providers import SHADED, rendering_npi
from clearlane.claims.value_types import GROUPS
from clearlane.kernel import limits
from clearlane.x12.encode import day
from clearlane.x12.guides.g837p import GUIDE

ACCOUNT = "F26_PatientAcctNumber"
LINE_CONTROL = "X12_ProviderControlNumber"
PAYER_NAME = "F00_PayerName"

NOT_SENT = {
    "Svc_VendorClaimId": "The caller's own key; answers are matched by CLM01 and REF*D9.",
    "F09B_OtherInsuredDOB": "5010 has no place for another insured's birth date.",
    "F09B_OtherInsuredSex": "5010 has no place for another insured's sex.",
    "F09C_OtherEmployerName": "5010 has no place for another insured's employer.",
    "F12_PatientAuthorizationDate": "5010 says that there is a release, not since when.",
    "F33B_BillingProviderSsn": "2010AA has one tax number, and box 25 tells it.",
    "F24_ClaimLines": "The lines stand in loops of their own, field by field.",
}
"""Fields that are kept and never sent, each with its reason."""

PROPERTY_AND_CASUALTY = frozenset({"AM", "LM", "WC"})
ORIGINAL = "1"
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


# --- the functions that the tables name ---------------------------------------------------------------


def coverage(case: Case) -> str:
    """What kind of insurance it is."""
    kind: str = case.given.get("F01_ClaimType", ask.UNKNOWN_COVERAGE)
    return kind


def plan_name(case: Case) -> str | None:
    """A group is named only where it has no number."""
    if "F11_InsuredsPolicyGroupOrFecaNumber" in case.given:
        return None
    return case.given.get("F11C_PlanName")


def is_property_and_casualty(case: Case) -> bool:
    """Only these claims carry a telephone number of the insured or the patient."""
    return coverage(case) in PROPERTY_AND_CASUALTY or not {"AA", "EM"}.isdisjoint(
        accidents(case.claim)
    )


def payer_name(case: Case) -> str:
    """The payer's name as the directory has it, else as the caller wrote it."""
    return ask.directory_name(case) or case.claim.F00_PayerName


def place_of_service(case: Case) -> str:
    """The claim's own place, else that of its first line."""
    own: str = (
        case.given.get("X12_PlaceOfServiceCode")
        or case.claim.F24_ClaimLines[0].F24B_PlaceOfServiceCode
    )
    return own


def frequency_code(case: Case) -> str:
    """Original, corrected, replacement or void."""
    return frequency(case.claim)


def is_about_an_earlier_claim(case: Case) -> bool:
    """Whether the payer has seen the claim before in another form."""
    return frequency(case.claim) != ORIGINAL


def signature(case: Case) -> str:
    """Whether the provider's signature is on file."""
    return "Y" if case.claim.F31_PhysicianOrSupplierSignatureIsOnFile else "N"


def benefits(case: Case) -> str:
    """Whether the benefits are assigned to the provider."""
    return case.given.get("F13_InsuredAuthorization") or NOT_ASSIGNED


def assignment(case: Case) -> str:
    """Whether the provider accepts assignment."""
    return case.given.get("F27_AcceptAssignment") or ("A" if benefits(case) == "Y" else "C")


def release(case: Case) -> str:
    """The patient's release of information."""
    said: str = case.claim.F12_PatientAuthorization
    return said


def causes(case: Case) -> str | None:
    """Auto accident, employment, other accident: X12 carries two, and the state of the first."""
    found = accidents(case.claim)[:2]
    if not found:
        return None
    state = case.given.get("F10B_PatientCondAutoAccidentState") if found[0] == "AA" else None
    return ":".join([found[0], found[1] if len(found) > 1 else "", "", state or ""]).rstrip(":")


def both_days_of_disability(case: Case) -> str | None:
    """First and last day of a disability; X12 writes both even where they are the same."""
    first, last = _disability(case)
    return f"{day(first)}-{day(last)}" if first and last else None


def first_day_of_disability(case: Case) -> date | None:
    """The first day, where the last is not known."""
    first, last = _disability(case)
    return None if last else first


def last_day_of_disability(case: Case) -> date | None:
    """The last day, where the first is not known."""
    first, last = _disability(case)
    return None if first else last


def _disability(case: Case) -> tuple[date | None, date | None]:
    return case.given.get("X12_DisabilityDateFrom"), case.given.get("X12_DisabilityDateTo")


def hi(case: Case) -> tuple[str, ...]:
    """The diagnoses without gaps."""
    return ask.health_care_codes(version(case.claim), tuple(diagnoses(case.claim)))


def is_rendered_by_another(case: Case) -> bool:
    """Whether the rendering provider is another than the billing provider."""
    npi, billing = rendering_npi(case.claim), case.given.get("F33A_BillingProviderNpi")
    if npi:
        return npi != billing
    pairs = (("X12_RendProviderNameLast", "F33_BillingProviderNameLast"),
             ("X12_RendProviderNameFirst", "F33_BillingProviderNameFirst"))  # fmt: skip
    return any(case.given.get(one) != case.given.get(other) for one, other in pairs)


def rendered_by(case: Case) -> str | None:
    """The rendering provider's NPI, the claim's own or the one on its lines."""
    return rendering_npi(case.claim)


def is_given_elsewhere(case: Case) -> bool:
    """Whether the facility is another place than the billing provider's."""
    given = case.given
    npi = given.get("F32A_FacilityNpi")
    return (
        not ask.same_place(case, FACILITY_PLACE, BILLING_PLACE)
        or (npi is not None and npi != given.get("F33A_BillingProviderNpi"))
        or any(name in given for name in FACILITY_NUMBERS)
    )


def other_plan(case: Case) -> str | None:
    """The other plan's name, unless it already stands for the payer."""
    name: str | None = case.given.get("F09D_OtherPlanName")
    return name if "X12_OtherPayerName" in case.given else None


def other_payer_name(case: Case) -> str | None:
    """The other payer."""
    return cob.other_payer_name(case.claim)


# Lines.


def procedure(told: LineCase) -> str:
    """The procedure with its modifiers and description."""
    given = told.given
    return _procedure(
        given["F24D_HcpcsProcedureCode"],
        given.get("F24D_Modifiers", ""),
        given.get("X12_Description", ""),
    )


def decided_procedure(told: LineCase) -> str:
    """The procedure that the earlier payer decided about: the line's."""
    given = told.given
    return _procedure(given["F24D_HcpcsProcedureCode"], given.get("F24D_Modifiers", ""), "")


@lru_cache(maxsize=limits.VERDICTS_REMEMBERED_MAX)
def _procedure(code: str, modifiers: str, description: str) -> str:
    words = (modifiers.split(",") if modifiers else [])[: limits.MODIFIERS_PER_LINE_MAX]
    words += [""] * (limits.MODIFIERS_PER_LINE_MAX - len(words))
    return ":".join(["HC", code, *words, description]).rstrip(":")


def measure(told: LineCase) -> str:
    """Minutes for anaesthesia, units for everything else."""
    return MINUTES if told.given.get("X12_Anesthesia") else UNITS_OF_SERVICE


def units(told: LineCase) -> Decimal:
    """How many; one where nobody said."""
    return told.given.get("F24G_DaysOrUnits") or ask.ONE


def place_of_line(told: LineCase) -> str | None:
    """The line's place of service where it is not the claim's."""
    place: str = told.given["F24B_PlaceOfServiceCode"]
    return None if place == told.place else place


def pointers(told: LineCase) -> str | None:
    """Which diagnoses the line treats."""
    return ask.pointer_text(told.given["F24E_DiagnosisPointers"], told.case.pointed)


def service_days(told: LineCase) -> str:
    """First and last day of the service."""
    first = told.given["F24A_DateOfServiceFrom"]
    return ask.days(first, told.given.get("F24A_DateOfServiceTo", first))


def drug_quantity(told: LineCase) -> Decimal | None:
    """How much of the drug was given."""
    found = drug(told.line)
    return found.quantity if found else None


def drug_unit(told: LineCase) -> str | None:
    """In which unit."""
    found = drug(told.line)
    return found.unit if found else None


def link_number(told: LineCase) -> str | None:
    """The number that links a compound; a prescription number takes its only place."""
    if "X12_NdcPharmacyPrescriptionNumber" in told.given:
        return None
    return told.given.get("X12_NdcLinkSequenceNumber")


def is_line_of_another(told: LineCase) -> bool:
    """Whether the line tells numbers of the rendering provider that the claim does not."""
    own, claim = told.given, told.case.given
    return "X12_RendProviderNameLast" in claim and any(
        own[name] != claim.get(OF_CLAIM[name]) for name in SHADED if name in own
    )


def line_rendered_by(told: LineCase) -> str | None:
    """The NPI of the line's rendering provider."""
    return told.given.get("F24J_RenderingNpi") or rendering_npi(told.case.claim)


def line_entity(told: LineCase) -> str:
    """Person or organisation, as on the claim."""
    return ask.PERSON if "X12_RendProviderNameFirst" in told.above else ask.ORGANISATION


OF_CLAIM = {
    "F24J_Shaded_RendProviderTaxonomyCode": "X12_RendProviderTaxonomyCode",
    "F24J_Shaded_RendProviderStateLicenseNumber": "X12_RendProviderStateLicenseNumber",
    "F24J_Shaded_RendProviderUpinNumber": "X12_RendProviderUpinNumber",
    "F24J_Shaded_RendProviderCommercialNumber": "X12_RendProviderCommercialNumber",
    "F24J_Shaded_RendProviderLocationNumber": "X12_RendProviderLocationNumber",
}


# --- the tables ---------------------------------------------------------------------------------------


BILLING: Scope[Case] = Scope(
    GUIDE,
    "2000A",
    ours={"hl": "2000A/HL/01"},
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
    made=(
        Made(
            "2010AA/NM1/02",
            ask.person,
            ["F33_BillingProviderNameFirst"],
            default=ask.ORGANISATION,
        ),
    ),
    blocks=(
        Block(
            given=["F33_BillingProviderNameFirst"],
            rows={
                "F33_BillingProviderNameFirst": "2010AA/NM1/04",
                "F33_BillingProviderNameMiddle": "2010AA/NM1/05",
                "F33_BillingProviderSuffix": "2010AA/NM1/07",
            },
        ),
        Block(lacking=["F25_FederalTaxIdEin"], rows={"F25_FederalTaxIdSsn": "2010AA/REF:SY/02"}),
    ),
    constants={"2010AA/PER/03": "TE"},
)

SUBSCRIBER: Scope[Case] = Scope(
    GUIDE,
    "2000B",
    ours={"hl": "2000B/HL/01", "parent": "2000B/HL/02", "child": "2000B/HL/04"},
    rows={
        "F11_InsuredsPolicyGroupOrFecaNumber": "2000B/SBR/03",
        "F04_InsuredNameLast": "2010BA/NM1/03",
        "F04_InsuredNameFirst": "2010BA/NM1/04",
        "F01A_InsuredId": "2010BA/NM1/09",
    },
    made=(
        Made("2000B/SBR/01", ask.order_of_payment, (), always=True),
        Made("2000B/SBR/02", ask.self_code, ["F06_PatientRelationshipToInsured"]),
        Made("2000B/SBR/04", plan_name, ["F11C_PlanName"]),
        Made("2000B/SBR/09", coverage, ["F01_ClaimType"], default=ask.UNKNOWN_COVERAGE),
        Made(
            "2010BA/NM1/05",
            ask.when_own_patient("F04_InsuredNameMiddle", "F02_PatientNameMiddle"),
            ["F04_InsuredNameMiddle", "F02_PatientNameMiddle"],
        ),
        Made(
            "2010BA/NM1/07",
            ask.when_own_patient("F04_InsuredSuffix", "F02_PatientSuffix"),
            ["F04_InsuredSuffix", "F02_PatientSuffix"],
        ),
        Made("2010BB/NM1/03", payer_name, [PAYER_NAME]),
        Made("2010BB/NM1/09", ask.payer_id, ["Svc_PayerId"]),
    ),
    blocks=(
        Block(
            when=ask.is_own_patient,
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
        Block(
            when=is_property_and_casualty,
            made=(
                Made(
                    "2010BA/PER/04",
                    ask.when_own_patient("F07_InsuredPhone", "F05_PatientPhone"),
                    ["F07_InsuredPhone", "F05_PatientPhone"],
                ),
            ),
        ),
        Block(
            given=["F00_PayerAddress1", "F00_PayerCity", "F00_PayerState", "F00_PayerZip"],
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
        "2010BA/NM1/02": ask.PERSON,
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

PATIENT: Scope[Case] = Scope(
    GUIDE,
    "2000C",
    ours={"hl": "2000C/HL/01", "parent": "2000C/HL/02"},
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
    made=(
        # The required fields tell a dependent's city and no street; the insured's is the likeliest.
        Made(
            "2010CA/N3/01",
            ask.first_of("F05_PatientAddress1", "F07_InsuredAddress1"),
            ["F05_PatientAddress1"],
            always=True,
        ),
    ),
    blocks=(Block(when=is_property_and_casualty, rows={"F05_PatientPhone": "2010CA/PER/04"}),),
    constants={"2010CA/PER/03": "TE"},
)


def _glasses(name: str, category: str) -> Made[Case]:
    places = [f"2300/CRC:{category}/{element:02}" for element in range(3, 8)]
    return Made(places, lambda case: case.given[name].split(","), [name])


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

CLAIM: Scope[Case] = Scope(
    GUIDE,
    "2300",
    ours={"number": "2300/CLM/01", "trace": "2300/REF:D9/02"},
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
    made=(
        Made("2300/CLM/05-1", place_of_service, ["X12_PlaceOfServiceCode"], always=True),
        Made("2300/CLM/05-3", frequency_code, ["F22_MedicaidResubmissionCode"], default=ORIGINAL),
        Made("2300/CLM/06", signature, ["F31_PhysicianOrSupplierSignatureIsOnFile"]),
        Made("2300/CLM/07", assignment, ["F27_AcceptAssignment"], always=True),
        Made("2300/CLM/08", benefits, ["F13_InsuredAuthorization"], default=NOT_ASSIGNED),
        Made(
            "2300/CLM/11",
            causes,
            {
                "F10B_PatientCondAutoAccident": "2300/CLM/11",
                "F10A_PatientCondEmployment": "2300/CLM/11",
                "F10C_PatientCondOtherAccident": "2300/CLM/11",
                "F10B_PatientCondAutoAccidentState": "2300/CLM/11-4",
            },
        ),
        Made(
            "2300/DTP:314/03",
            both_days_of_disability,
            ["X12_DisabilityDateFrom", "X12_DisabilityDateTo"],
        ),
        Made("2300/DTP:360/03", first_day_of_disability, ["X12_DisabilityDateFrom"]),
        Made("2300/DTP:361/03", last_day_of_disability, ["X12_DisabilityDateTo"]),
        Made("2300/AMT:F5/02", ask.unless_zero("F29_PatientAmountPaid"), ["F29_PatientAmountPaid"]),
        _glasses("X12_SpectacleLenses", "E1"),
        _glasses("X12_ContactLenses", "E2"),
        _glasses("X12_SpectacleFrames", "E3"),
        Made(
            [f"2300/HI/{element:02}" for element in range(1, limits.MEDICAL_DIAGNOSES_MAX + 1)],
            hi,
            ["F21_DiagnosisCodes", "F21_IcdIndicator"],
        ),
    ),
    blocks=(
        Block(
            when=is_about_an_earlier_claim,
            rows={"F22_OriginalReferenceNumber": "2300/REF:F8/02"},
        ),
        Block(
            given=["X12_ClaimContractTypeCode"],
            rows={
                "X12_ClaimContractTypeCode": "2300/CN1/01",
                "X12_ClaimContractCode": "2300/CN1/04",
            },
            made=(
                Made(
                    "2300/CN1/02",
                    ask.unless_zero("X12_ClaimContractMonetaryAmount"),
                    ["X12_ClaimContractMonetaryAmount"],
                ),
            ),
        ),
        Block(
            when=is_rendered_by_another,
            given=["X12_RendProviderNameLast"],
            rows={
                "X12_RendProviderNameLast": "2310B/NM1/03",
                "X12_RendProviderTaxonomyCode": "2310B/PRV/03",
                "X12_RendProviderStateLicenseNumber": "2310B/REF:0B/02",
                "X12_RendProviderUpinNumber": "2310B/REF:1G/02",
                "X12_RendProviderCommercialNumber": "2310B/REF:G2/02",
                "X12_RendProviderLocationNumber": "2310B/REF:LU/02",
            },
            made=(
                Made(
                    "2310B/NM1/02",
                    ask.person,
                    ["X12_RendProviderNameFirst"],
                    default=ask.ORGANISATION,
                ),
                Made("2310B/NM1/09", rendered_by, ["X12_RenderingNPI"], always=True),
            ),
        ),
        Block(
            when=is_rendered_by_another,
            given=["X12_RendProviderNameLast", "X12_RendProviderNameFirst"],
            rows={
                "X12_RendProviderNameFirst": "2310B/NM1/04",
                "X12_RendProviderNameMiddle": "2310B/NM1/05",
                "X12_RendProviderSuffix": "2310B/NM1/07",
            },
        ),
        Block(
            when=is_given_elsewhere,
            given=FACILITY_NEEDS,
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
    echoes={ACCOUNT: "2300/CLM/01"},
)

OTHER: Scope[Case] = Scope(
    GUIDE,
    "2320",
    rows={
        "F09_PatientRelationshipToInsured": "2320/SBR/02",
        "F09_OtherInsuredNameLast": "2330A/NM1/03",
        "F09A_OtherInsuredGroupNum": "2330A/NM1/09",
    },
    made=(
        Made("2320/SBR/01", ask.other_order_of_payment, ["F11D_OtherPlan"], always=True),
        Made("2320/SBR/04", other_plan, ["F09D_OtherPlanName"]),
        Made(
            "2320/AMT:D/02",
            ask.paid,
            ["X12_ClaimPrimaryPayerPaidAmount", "F29_PayerAmountPaid"],
            always=True,
        ),
        Made(
            [f"2320/CAS#{number}/01" for number in range(1, len(GROUPS) + 1)],
            ask.adjustments,
            {name: f"2320/CAS:{group}/02" for name, group in cob.CLAIM_GROUPS.items()},
        ),
        Made("2320/OI/03", benefits, ["F13_InsuredAuthorization"], default=NOT_ASSIGNED),
        Made("2320/OI/06", release, ["F12_PatientAuthorization"]),
        Made(
            "2330A/NM1/02",
            ask.person,
            ["F09_OtherInsuredNameFirst"],
            default=ask.ORGANISATION,
        ),
        Made("2330B/NM1/03", other_payer_name, ["X12_OtherPayerName", "F09D_OtherPlanName"]),
        Made("2330B/NM1/09", ask.other_payer_id, ["X12_OtherPayerName", "F09D_OtherPlanName"]),
        Made("2330B/DTP:573/03", ask.decided_on, ["X12_ClaimAdjudicationDate"]),
    ),
    blocks=(
        Block(
            given=["F09_OtherInsuredNameFirst"],
            rows={
                "F09_OtherInsuredNameFirst": "2330A/NM1/04",
                "F09_OtherInsuredNameMiddle": "2330A/NM1/05",
                "F09_OtherInsuredSuffix": "2330A/NM1/07",
            },
        ),
    ),
    constants={
        "2320/SBR/09": ask.UNKNOWN_COVERAGE,
        "2330A/NM1/08": "MI",
        "2330B/NM1/08": "PI",
    },
)


DECISION_OF_LINE: Sequence[str] = (
    "X12_PrimaryPayerPaidAmount",
    "X12_AdjudicationOrPaymentDate",
    *cob.LINE_GROUPS,
)

LINE: Scope[LineCase] = Scope(
    GUIDE,
    "2400",
    ours={"line": "2400/LX/01", "control": "2400/REF:6R/02"},
    rows={
        "F24F_Charges": "2400/SV1/02",
        "F24_Shaded_LineNoteText": "2400/NTE/02",
    },
    above=_provider("Ordering", "2420E"),
    made=(
        Made(
            "2400/SV1/01",
            procedure,
            {
                "F24D_HcpcsProcedureCode": "2400/SV1/01-2",
                "F24D_Modifiers": "2400/SV1/01-3",
                "X12_Description": "2400/SV1/01-7",
            },
        ),
        Made("2400/SV1/03", measure, ["X12_Anesthesia"], default=UNITS_OF_SERVICE),
        Made("2400/SV1/04", units, ["F24G_DaysOrUnits"], default=ask.ONE),
        Made("2400/SV1/05", place_of_line, ["F24B_PlaceOfServiceCode"]),
        Made("2400/SV1/07", pointers, ["F24E_DiagnosisPointers"]),
        Made("2400/SV1/09", ask.yes("F24C_Emg"), ["F24C_Emg"]),
        Made(
            "2400/SV1/11",
            ask.yes("F24H_EarlyPeriodicScreeningDiagnosisAndTreatment"),
            ["F24H_EarlyPeriodicScreeningDiagnosisAndTreatment"],
        ),
        Made("2400/SV1/12", ask.yes("F24H_FamilyPlannning"), ["F24H_FamilyPlannning"]),
        Made(
            "2400/DTP:472/period",
            service_days,
            ["F24A_DateOfServiceFrom", "F24A_DateOfServiceTo"],
        ),
    ),
    blocks=(
        Block(
            given=["X12_MeasurementId", "X12_MeasurementQualifier", "X12_MeasurementValue"],
            rows={
                "X12_MeasurementId": "2400/MEA/01",
                "X12_MeasurementQualifier": "2400/MEA/02",
                "X12_MeasurementValue": "2400/MEA/03",
            },
        ),
        Block(
            given=["X12_ContractTypeCode"],
            rows={"X12_ContractTypeCode": "2400/CN1/01"},
            made=(
                Made(
                    "2400/CN1/02",
                    ask.unless_zero("X12_ContractMonetaryAmount"),
                    ["X12_ContractMonetaryAmount"],
                ),
            ),
        ),
        Block(
            given=["X12_NdcCode"],
            rows={
                "X12_NdcCode": "2410/LIN/03",
                "X12_NdcPharmacyPrescriptionNumber": "2410/REF:XZ/02",
            },
            made=(
                Made("2410/CTP/04", drug_quantity, ["X12_NdcQuantity", *UNITS]),
                Made("2410/CTP/05-1", drug_unit, ["X12_NdcQuantity", *UNITS]),
                Made("2410/REF:VY/02", link_number, ["X12_NdcLinkSequenceNumber"]),
            ),
        ),
        Block(
            when=is_line_of_another,
            rows={
                "F24J_Shaded_RendProviderTaxonomyCode": "2420A/PRV/03",
                "F24J_Shaded_RendProviderStateLicenseNumber": "2420A/REF:0B/02",
                "F24J_Shaded_RendProviderUpinNumber": "2420A/REF:1G/02",
                "F24J_Shaded_RendProviderCommercialNumber": "2420A/REF:G2/02",
                "F24J_Shaded_RendProviderLocationNumber": "2420A/REF:LU/02",
            },
            made=(
                Made("2420A/NM1/02", line_entity, (), always=True),
                Made("2420A/NM1/09", line_rendered_by, ["F24J_RenderingNpi"], always=True),
            ),
            above={"X12_RendProviderNameLast": "2420A/NM1/03"},
            one_of=SHADED,
        ),
        Block(
            when=is_line_of_another,
            given=["X12_RendProviderNameFirst"],
            above={
                "X12_RendProviderNameFirst": "2420A/NM1/04",
                "X12_RendProviderNameMiddle": "2420A/NM1/05",
                "X12_RendProviderSuffix": "2420A/NM1/07",
            },
            one_of=SHADED,
        ),
        Block(
            when=ask.decided,
            made=(
                Made("2430/SVD/01", ask.line_payer, (), always=True),
                Made("2430/SVD/02", ask.paid, ["X12_PrimaryPayerPaidAmount"], always=True),
                Made("2430/SVD/03", decided_procedure, (), always=True),
                Made("2430/SVD/05", units, (), always=True),
                Made(
                    [f"2430/CAS#{number}/01" for number in range(1, len(GROUPS) + 1)],
                    ask.adjustments,
                    {name: f"2430/CAS:{group}/02" for name, group in cob.LINE_GROUPS.items()},
                ),
                Made(
                    "2430/DTP:573/03",
                    ask.line_decided_on,
                    ["X12_AdjudicationOrPaymentDate"],
                    always=True,
                ),
            ),
            one_of=DECISION_OF_LINE,
        ),
    ),
    constants={"2400/NTE/01": "ADD", "2410/LIN/02": "N4"},
    echoes={
        LINE_CONTROL: "2400/REF:6R/02",
        "F24B_PlaceOfServiceCode": "2300/CLM/05-1",
        "F24J_RenderingNpi": "2310B/NM1/09",
        "F24J_Shaded_RendProviderTaxonomyCode": "2310B/PRV/03",
        "F24J_Shaded_RendProviderStateLicenseNumber": "2310B/REF:0B/02",
        "F24J_Shaded_RendProviderUpinNumber": "2310B/REF:1G/02",
        "F24J_Shaded_RendProviderCommercialNumber": "2310B/REF:G2/02",
        "F24J_Shaded_RendProviderLocationNumber": "2310B/REF:LU/02",
    },
)
