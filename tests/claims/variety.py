"""Random valid claims: over a run every optional field, every relationship and every kind of other insurance.

A claim is a pure function of a random generator and a day. It is made as a caller would write it, so names come
in mixed case and with accents, phones with punctuation, codes as words or as X12 codes.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from clearlane.claims import codes
from clearlane.claims.fields import ClaimField, fields_of
from clearlane.claims.forms import UB04, V3_DENTAL, V3_MEDICAL, AnyForm
from clearlane.claims.forms.samples import (
    BILLING_NPI,
    JSON,
    RENDERING_NPI,
    minimal_claim,
    npi,
)
from clearlane.claims.teeth import FRONT, PERMANENT, PRIMARY
from clearlane.claims.value_types import ValueType
from tests.claims.institutional_variety import random_institutional


def random_claim(kind: AnyForm, rng: Random, day: date) -> JSON:
    """Return a valid claim; ``day`` is the latest day of service."""
    return _MAKERS[kind](rng, day)


# --- words -------------------------------------------------------------------------------------------------

LAST_NAMES = (
    "Arden",
    "LUND",
    "Quill",
    "birch",
    "Fenn",
    "O'Fern",
    "De la Marsh",
    "Lünd-Åsen",
    "Sæther",
)
FIRST_NAMES = ("Rosa", "MILO", "Ivo", "tessa", "Nora", "Oskar", "Zoë", "Anne-Mari")
STREETS = (
    "12 Fernhill Road",
    "7 LARKSPUR LN APT #4",
    "1500 Harbor Blvd., Suite 200",
    "88 rue de l'Été",
)
CITIES = ("Austin", "SAN MARCOS", "St. Elmo", "Winston-Salem")
STATES = ("TX", "ca", "NY", "FL", "PR")
ZIPS = ("78701", "78701-1234", "787011234", "02134")
PHONES = ("5125550142", "(512) 555-0142", "+1 512-555-0142", "512.555.0142")
PLANS = ("Meadow Mutual", "Harbor Health Plan", "SUMMIT DENTAL", "Gold & Silver Plan")
ORGANIZATIONS = ("Fernhill Family Practice", "Larkspur Dental", "Harbor Clinic (North)")
TAXONOMIES = ("207Q00000X", "1223G0001X", "208D00000X", "122300000X")
NOTES = (
    "Patient seen at home",
    "See attached chart: page 2",
    "Très urgent * call first",
    "50% reduced",
)
DIAGNOSES = (
    "J02.9",
    "R059",
    "I10",
    "E11.9",
    "M54.50",
    "Z0000",
    "K02.9",
    "S93.401A",
    "N39.0",
    "G43.909",
)
DENTAL_DIAGNOSES = ("K02.9", "K0530", "K08.109", "Z01.20")
PROCEDURES = ("99213", "99214", "G0008", "85025", "97110", "71046", "36415", "0001A", "93000")
CDT = ("D0120", "D0274", "D1110", "D2740", "D7140", "D9110", "D8080", "D5110")
QUADRANT_CDT = ("D4341", "D4342")
MODIFIERS = ("25", "59", "RT", "LT", "76", "GP")
NPIS = tuple(npi(123000000 + 37 * step) for step in range(12))
ALPHANUMERIC = "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789"
OFTEN, SELDOM = 0.5, 0.15


class _RandomValues:
    """Source of random values of fields."""

    def __init__(self, rng: Random, day: date) -> None:
        self.rng = rng
        self.day = day

    def maybe(self, chance: float = OFTEN) -> bool:
        return self.rng.random() < chance

    def one(self, words: tuple[str, ...]) -> str:
        return self.rng.choice(words)

    def before(self, least: int, most: int) -> str:
        """A day some days before the day of service."""
        return (self.day - timedelta(days=self.rng.randint(least, most))).isoformat()

    def after(self, least: int, most: int) -> str:
        return (self.day + timedelta(days=self.rng.randint(least, most))).isoformat()

    def money(self, least: int, most: int) -> Decimal:
        return Decimal(self.rng.randint(least * 100, most * 100)) / 100

    def wire(self, amount: Decimal) -> Any:
        """An amount as some caller writes it: a number or a string."""
        return float(amount) if self.maybe() else f"{amount:.2f}"

    def reference(self, most: int) -> str:
        length = most if self.maybe(0.05) else self.rng.randint(min(3, most), min(most, 14))
        return "".join(self.rng.choice(ALPHANUMERIC) for _ in range(length))

    def code(self, name: str) -> str:
        """A value of a list: its code, or a name."""
        code = self.rng.choice(sorted(codes.meanings(name)))
        word = codes.meanings(name)[code]
        return word if self.maybe(0.3) and codes.find(name, word) == code else code

    def value(self, field: ClaimField) -> Any:
        return _WRITE[field.value_type](self, field)


def _name(random: _RandomValues, field: ClaimField) -> str:
    low = field.name.lower()
    if "suffix" in low:
        return random.one(("Jr", "III", "MD"))
    if "middle" in low or low.endswith("mi"):
        return random.one(("J", "Q."))
    if "first" in low:
        return random.one(FIRST_NAMES)
    if any(word in low for word in ("plan", "payer", "employer", "facility", "location")):
        return random.one(PLANS)
    return random.one(LAST_NAMES)


def _coded(random: _RandomValues, field: ClaimField) -> Any:
    return [random.code(field.codes)] if field.is_array else random.code(field.codes)


_WRITE: Mapping[ValueType, Callable[[_RandomValues, ClaimField], Any]] = {
    ValueType.KEY: lambda random, field: random.reference(30),
    ValueType.NAME: _name,
    ValueType.STREET: lambda random, field: (
        "Floor 3" if field.name.endswith("2") else random.one(STREETS)
    ),
    ValueType.CITY: lambda random, field: random.one(CITIES),
    ValueType.STATE: lambda random, field: random.one(STATES),
    ValueType.ZIP: lambda random, field: random.one(ZIPS),
    ValueType.PHONE: lambda random, field: random.one(PHONES),
    ValueType.NPI: lambda random, field: random.one(NPIS),
    ValueType.TAXONOMY: lambda random, field: random.one(TAXONOMIES),
    ValueType.TAX_ID: lambda random, field: random.one(("123456789", "12-3456789")),
    ValueType.REFERENCE: lambda random, field: random.reference(field.max_length or 20),
    ValueType.NOTE: lambda random, field: random.one(NOTES),
    ValueType.SIGNATURE: lambda random, field: random.one(("SIGNATURE ON FILE", "Signed", "Y")),
    ValueType.CODED: _coded,
    ValueType.PLACE: lambda random, field: random.one(("11", "22", "12", "Office")),
    ValueType.DAY: lambda random, field: random.before(1, 300),
    ValueType.AMOUNT: lambda random, field: random.wire(random.money(1, 90)),
    ValueType.COUNT: lambda random, field: random.rng.randint(1, 9),
    ValueType.FLAG: lambda random, field: random.rng.choice((True, False, "true", "False")),
}


# --- choosing fields ----------------------------------------------------------------------------------------

Bundle = tuple[tuple[str, ...], tuple[str, ...]]
"""Fields that go together, and fields that may go with them."""


def _choose(
    random: _RandomValues, kind: AnyForm, bundles: tuple[Bundle, ...], apart: frozenset[str]
) -> JSON:
    """Some of the optional fields of a claim, each bundle whole or not at all."""
    known = fields_of(kind.claim)
    bound = {name for core, extra in bundles for name in (*core, *extra)} | apart
    chosen: JSON = {}
    for core, extra in bundles:
        if random.maybe():
            chosen |= {name: random.value(known[name]) for name in core}
            chosen |= {name: random.value(known[name]) for name in extra if random.maybe()}
    for name, field in known.items():
        if not field.required and name not in bound and random.maybe(0.4):
            chosen[name] = random.value(field)
    return chosen


def _fields(kind: AnyForm, *starts: str) -> frozenset[str]:
    return frozenset(name for name in fields_of(kind.claim) if name.startswith(starts))


def _role(role: str) -> Bundle:
    return (
        (f"F17_{role}ProviderNameLast",),
        (
            f"F17_{role}ProviderNameFirst",
            f"F17_{role}ProviderNameMiddle",
            f"F17_{role}ProviderSuffix",
            f"F17A_{role}ProviderIdNumber",
            f"F17B_{role}ProviderNpi",
        ),
    )


# --- medical ----------------------------------------------------------------------------------------------

_MEDICAL_BUNDLES: tuple[Bundle, ...] = (
    (
        ("F00_PayerAddress1", "F00_PayerCity", "F00_PayerState", "F00_PayerZip"),
        ("F00_PayerAddress2",),
    ),
    _role("Referring"),
    _role("Supervising"),
    _role("Ordering"),
    (
        (
            "F32_FacilityName",
            "F32_FacilityAddress1",
            "F32_FacilityCity",
            "F32_FacilityState",
            "F32_FacilityZip",
        ),
        (
            "F32_FacilityAddress2",
            "F32A_FacilityNpi",
            "F32B_FacilityIdStateLicenseNumber",
            "F32B_FacilityIdProviderCommercialLicenseNumber",
            "F32B_FacilityIdLocationNumber",
        ),
    ),
    (
        ("X12_ClaimContractTypeCode",),
        ("X12_ClaimContractMonetaryAmount", "X12_ClaimContractCode"),
    ),
    (
        ("F33_BillingProviderNameFirst",),
        ("F33_BillingProviderNameMiddle", "F33_BillingProviderSuffix"),
    ),
)
_MEDICAL_APART = _fields(
    V3_MEDICAL,
    "F09",
    "F10",
    "F11D",
    "F22",
    "F25",
    "F29_Payer",
    "X12_Rend",
    "X12_Claim",
    "X12_Other",
) | {
    "F05_PatientAddress1",
    "F05_PatientAddress2",
    "F14_LastMenstrualPeriodDate",
    "F15_AccidentDate",
    "F15_AssumedCareEndDate",
    "F16_AuthorizedReturnToWorkDate",
    "F18_HospitalizationDateFrom",
    "F18_HospitalizationDateTo",
    "X12_DisabilityDateTo",
    "F23_ClinicalLaboratoryImprovementAmendmentNumber",
    "F23_MammographyCertificationNumber",
    "F33B_BillingProviderSsn",
    "X12_SpectacleLenses",
    "X12_MedicareSecondaryReason",
}


def _medical(rng: Random, day: date) -> JSON:
    random = _RandomValues(rng, day)
    claim = minimal_claim(V3_MEDICAL, day)
    claim |= _choose(random, V3_MEDICAL, _MEDICAL_BUNDLES, _MEDICAL_APART)
    claim |= {
        "Svc_VendorClaimId": random.reference(24),
        "F01A_InsuredId": random.reference(20),
        "F21_DiagnosisCodes": rng.sample(DIAGNOSES, rng.randint(1, len(DIAGNOSES))),
        "F12_PatientAuthorization": random.one(("Yes", "Y", "I", "true")),
        "F31_PhysicianOrSupplierSignatureIsOnFile": random.maybe(),
    }
    _medical_people(random, claim)
    _medical_numbers(random, claim)
    _medical_dates(random, claim)
    _medical_rendering(random, claim)
    count = rng.randint(1, 6) if random.maybe(0.9) else rng.randint(7, 50)
    diagnoses = claim["F21_DiagnosisCodes"]
    claim["F24_ClaimLines"] = [
        _medical_line(random, at, len(diagnoses), claim) for at in range(count)
    ]
    _medical_insurance(random, claim)
    total = sum(
        (Decimal(str(line["F24F_Charges"])) for line in claim["F24_ClaimLines"]), Decimal(0)
    )
    claim["F28_TotalCharge"] = random.wire(total)
    if random.maybe(SELDOM):
        claim["NotInTheCatalogue"] = {"ignored": True}
    return claim


def _medical_people(random: _RandomValues, claim: JSON) -> None:
    relationship = random.code("relationship")
    claim["F06_PatientRelationshipToInsured"] = relationship
    claim |= {
        "F04_InsuredNameLast": "Arden",
        "F04_InsuredNameFirst": "Rosa",
        "F11A_InsuredDob": random.before(12_000, 20_000),
        "F11A_InsuredSex": random.one(("F", "Female")),
    }
    if codes.find("relationship", relationship) == codes.SELF:
        claim |= {
            "F02_PatientNameLast": "ARDEN",
            "F02_PatientNameFirst": "rosa",
            "F03_PatientDob": claim["F11A_InsuredDob"],
            "F03_PatientSex": "f",
        }
    else:
        claim |= {
            "F02_PatientNameLast": random.one(LAST_NAMES),
            "F02_PatientNameFirst": "Milo",
            "F03_PatientDob": random.before(400, 9_000),
            "F03_PatientSex": random.code("sex"),
            "F05_PatientAddress1": random.one(STREETS),
        }
        if random.maybe():
            claim["F05_PatientAddress2"] = "Floor 3"
    if codes.find("sex", claim["F03_PatientSex"]) == "F" and random.maybe(0.3):
        claim["F14_LastMenstrualPeriodDate"] = random.before(10, 200)


def _medical_numbers(random: _RandomValues, claim: JSON) -> None:
    which = random.rng.randint(0, 2)
    claim.pop("F25_FederalTaxIdEin", None)
    if which != 1:
        claim["F25_FederalTaxIdEin"] = random.one(("123456789", "12-3456789"))
    if which != 0:
        claim["F25_FederalTaxIdSsn"] = "219-09-9999"
        if random.maybe():
            claim["F33B_BillingProviderSsn"] = "219099999"
    if random.maybe(0.3):
        claim["F22_MedicaidResubmissionCode"] = random.one(("7", "8", "Replacement", "Void"))
        claim["F22_OriginalReferenceNumber"] = random.reference(20)
    if random.maybe(0.3):
        claim["F23_ClinicalLaboratoryImprovementAmendmentNumber"] = "45D0123456"
    if random.maybe(0.3):
        claim["F23_MammographyCertificationNumber"] = "123456"
    if random.maybe(0.3):
        claim["X12_SpectacleLenses"] = random.one(("L1", "L2,L3", "Medical reason"))
    if "F33A_BillingProviderNpi" in claim:
        claim["F33A_BillingProviderNpi"] = BILLING_NPI


def _medical_dates(random: _RandomValues, claim: JSON) -> None:
    causes = random.rng.sample(
        (
            "F10A_PatientCondEmployment",
            "F10B_PatientCondAutoAccident",
            "F10C_PatientCondOtherAccident",
        ),
        random.rng.choice((0, 0, 1, 2)),
    )
    claim |= dict.fromkeys(causes, True)
    if causes:
        claim["F15_AccidentDate"] = random.before(5, 200)
    if "F10B_PatientCondAutoAccident" in causes:
        claim["F10B_PatientCondAutoAccidentState"] = random.one(STATES)
    elif random.maybe(0.3):
        claim["F10B_PatientCondAutoAccident"] = False
    if random.maybe():
        claim["F18_HospitalizationDateFrom"] = random.before(2, 30)
        if random.maybe():
            claim["F18_HospitalizationDateTo"] = random.before(0, 2)
    for name in (
        "F15_AssumedCareEndDate",
        "F16_AuthorizedReturnToWorkDate",
        "X12_DisabilityDateTo",
    ):
        if random.maybe(0.3):
            claim[name] = random.after(1, 60)


def _medical_rendering(random: _RandomValues, claim: JSON) -> None:
    if not random.maybe():
        return
    known = fields_of(V3_MEDICAL.claim)
    claim["X12_RendProviderNameLast"] = random.one(LAST_NAMES)
    for name in sorted(_fields(V3_MEDICAL, "X12_RendProvider")):
        if name != "X12_RendProviderNameLast" and random.maybe():
            claim[name] = "A12345" if "Upin" in name else random.value(known[name])
    if random.maybe(0.8):
        claim["X12_RenderingNPI"] = RENDERING_NPI


_DRUG_UNITS = (
    "X12_DrugQuantityInternationalUnits",
    "X12_DrugQuantityGrams",
    "X12_DrugQuantityMilligrams",
    "X12_DrugQuantityMilliliters",
    "X12_DrugQuantityUnits",
)
_LINE_SINGLES = (
    "F24C_Emg",
    "F24G_DaysOrUnits",
    "F24H_EarlyPeriodicScreeningDiagnosisAndTreatment",
    "F24H_FamilyPlannning",
    "X12_Description",
    "F24_Shaded_LineNoteText",
)
_SHADED = (
    "F24J_Shaded_RendProviderTaxonomyCode",
    "F24J_Shaded_RendProviderStateLicenseNumber",
    "F24J_Shaded_RendProviderUpinNumber",
    "F24J_Shaded_RendProviderCommercialNumber",
    "F24J_Shaded_RendProviderLocationNumber",
)


def _medical_line(random: _RandomValues, at: int, diagnoses: int, claim: JSON) -> JSON:
    known = fields_of(V3_MEDICAL.line)
    first = random.before(1, 4)
    line: JSON = {
        "F24A_DateOfServiceFrom": first,
        "F24B_PlaceOfServiceCode": random.one(("11", "22", "12", "Office")),
        "F24D_HcpcsProcedureCode": random.one(PROCEDURES),
        "F24E_DiagnosisPointers": random.rng.sample(
            "ABCDEFGHIJKL"[:diagnoses], random.rng.randint(1, min(4, diagnoses))
        ),
        "F24F_Charges": random.wire(random.money(0, 900)),
    }
    line |= {name: random.value(known[name]) for name in _LINE_SINGLES if random.maybe(0.4)}
    if random.maybe():
        line["F24A_DateOfServiceTo"] = random.day.isoformat() if random.maybe() else first
    if random.maybe(0.4):
        line["F24D_Modifiers"] = random.one((" ", ",", ":")).join(
            random.rng.sample(MODIFIERS, random.rng.randint(1, 4))
        )
    if random.maybe(0.2):
        line |= {"F24D_HcpcsProcedureCode": "00170", "X12_Anesthesia": True, "F24G_DaysOrUnits": 45}
    if random.maybe(0.2):
        line |= {"F24D_HcpcsProcedureCode": "J3490", "X12_Description": "Unlisted drug"}
        line.pop("X12_Anesthesia", None)
    if random.maybe():
        line["X12_ProviderControlNumber"] = f"{random.reference(10)}-{at}"
    if "X12_RendProviderNameLast" in claim:
        line |= {
            name: "A12345" if "Upin" in name else random.value(known[name])
            for name in _SHADED
            if random.maybe(0.2)
        }
        if random.maybe(0.3):
            line["F24J_RenderingNpi"] = RENDERING_NPI
    _medical_extras(random, line)
    return line


def _medical_extras(random: _RandomValues, line: JSON) -> None:
    if random.maybe(0.3):
        line["X12_NdcCode"] = random.one(("00009-0011-03", "0009-0011-03", "00009001103"))
        quantity = random.rng.randint(1, 900) / 8
        unit = random.rng.choice((None, *_DRUG_UNITS))
        if unit is None or random.maybe():
            line["X12_NdcQuantity"] = quantity
        if unit:
            line[unit] = quantity
        if random.maybe():
            line["X12_NdcPharmacyPrescriptionNumber"] = random.reference(20)
        if random.maybe():
            line["X12_NdcLinkSequenceNumber"] = random.reference(10)
    if random.maybe(0.2):
        line["X12_MeasurementId"] = random.one(("TR", "OG"))
        line["X12_MeasurementQualifier"] = random.code("measurement_qualifier")
        line["X12_MeasurementValue"] = 12.5
    if random.maybe(0.2):
        line["X12_ContractTypeCode"] = random.code("contract_type")
        if random.maybe():
            line["X12_ContractMonetaryAmount"] = random.wire(random.money(1, 90))


# --- other insurance ------------------------------------------------------------------------------------------


def _split(random: _RandomValues, amount: Decimal, parts: int) -> list[Decimal]:
    """An amount in some parts; each is above zero where that is possible."""
    left, found = amount, []
    for _ in range(parts - 1):
        part = (left * Decimal(str(round(random.rng.uniform(0.1, 0.6), 2)))).quantize(
            Decimal("0.01")
        )
        found.append(part)
        left -= part
    return [*found, left]


_LINE_ADJUSTMENTS = {
    "X12_LineContractualObligationAdjustments": "45",
    "X12_LineCorrectionAndReversalAdjustments": "96",
    "X12_LineOtherAdjustments": "23",
    "X12_LinePayorInitiatedReductions": "96",
    "X12_LinePatientResponsibilityAdjustments": "2",
}
_CLAIM_ADJUSTMENTS = {
    name.replace("_Line", "_Claim"): code for name, code in _LINE_ADJUSTMENTS.items()
}


def _adjust(random: _RandomValues, names: Mapping[str, str], amount: Decimal) -> JSON:
    """An amount spread over some adjustment fields, with and without reasons."""
    chosen = random.rng.sample(sorted(names), random.rng.randint(1, len(names)))
    written: JSON = {}
    for name, part in zip(chosen, _split(random, amount, len(chosen)), strict=True):
        form = random.rng.randint(0, 2)
        first, second = _split(random, part, 2)
        texts = (f"{part}", f"{names[name]}:{part}", f"{names[name]}:{first}; 97:{second}:1")
        if part:
            written[name] = texts[form]
    return written


def _medical_insurance(random: _RandomValues, claim: JSON) -> None:
    case = random.rng.randint(0, 5)
    if case < 2:
        if case:
            claim["F11D_OtherPlan"] = False
        return
    known = fields_of(V3_MEDICAL.claim)
    names = [
        "F09_OtherInsuredNameLast",
        random.one(("F09A_OtherInsuredGroupNum", "X12_OtherInsuredId")),
        "F09_PatientRelationshipToInsured",
        random.one(("X12_OtherPayerName", "F09D_OtherPlanName")),
        *(name for name in sorted(_fields(V3_MEDICAL, "F09", "X12_Other")) if random.maybe(0.4)),
    ]
    claim |= {name: random.value(known[name]) for name in names}
    claim["F11D_OtherPlan"] = True
    if "F09B_OtherInsuredDOB" in claim:
        claim["F09B_OtherInsuredDOB"] = random.before(9_000, 20_000)
    if case > 2:
        _medical_decision(random, claim, at_claim=case in (3, 5), at_lines=case in (4, 5))
    if random.maybe(0.2):
        claim["X12_OtherPayerClaimType"] = "Medicare"
    second = "F01_ClaimType" if case > 2 else "X12_OtherPayerClaimType"
    if codes.find("claim_type", claim.get(second, "")) in {"MA", "MB"}:
        claim["X12_MedicareSecondaryReason"] = random.one(("12", "ESRD", "47"))


def _medical_decision(
    random: _RandomValues, claim: JSON, *, at_claim: bool, at_lines: bool
) -> None:
    """What an earlier payer paid and adjusted, balanced, for the claim or its lines or both."""
    lines: list[JSON] = claim["F24_ClaimLines"]
    paid = sum((Decimal(str(line["F24F_Charges"])) for line in lines), Decimal(0))
    for line in lines if at_lines else ():
        charge = Decimal(str(line["F24F_Charges"]))
        line_paid = (charge * Decimal("0.6")).quantize(Decimal("0.01"))
        line["X12_PrimaryPayerPaidAmount"] = random.wire(line_paid)
        line |= _adjust(random, _LINE_ADJUSTMENTS, charge - line_paid)
        if not at_claim or random.maybe():
            line["X12_AdjudicationOrPaymentDate"] = random.day.isoformat()
        if random.maybe(0.3):
            line["X12_LineRemainingPatientLiability"] = random.wire(random.money(0, 90))
        paid -= charge - line_paid
    if at_claim:
        kept = (paid * Decimal("0.9")).quantize(Decimal("0.01"))
        claim |= _adjust(random, _CLAIM_ADJUSTMENTS, paid - kept)
        claim["X12_ClaimAdjudicationDate"] = random.day.isoformat()
        claim[random.one(("X12_ClaimPrimaryPayerPaidAmount", "F29_PayerAmountPaid"))] = random.wire(
            kept
        )
        if not at_lines and random.maybe(0.3):
            claim["X12_ClaimRemainingPatientLiability"] = random.wire(random.money(0, 90))
    elif random.maybe():
        claim["X12_ClaimPrimaryPayerPaidAmount"] = random.wire(paid)


# --- dental -----------------------------------------------------------------------------------------------

_DENTAL_BUNDLES: tuple[Bundle, ...] = (
    (
        ("F03_PayerAddress1", "F03_PayerCity", "F03_PayerState", "F03_PayerZip"),
        ("F03_PayerAddress2",),
    ),
    (
        ("X12_RenderingProvLastName",),
        (
            "X12_RenderingProvFirstName",
            "X12_RenderingProvMI",
            "X12_RenderingProvSuffix",
            "F53_TreatingDentistNPI",
            "F55_TreatingDentistLicense",
            "F56a_DentistSpecialtyCode",
            "F58_TreatingDentistAddlID",
        ),
    ),
    (
        ("F56_TreatmentAddress", "F56_TreatmentCity", "F56_TreatmentST", "F56_TreatmentZip"),
        ("X12_TreatmantLocationName", "X12_TreatmantLocationNPI"),
    ),
    (("X12_Paytoaddress", "X12_PaytoCity", "X12_PaytoST", "X12_PaytoZip"), ()),
    (
        (
            "X12_AttachmentReportType",
            "X12_AttachmentControlNumber",
            "X12_AttachmentTransmissionCode",
        ),
        (),
    ),
    (
        ("F48_BillingDentistFirstName",),
        ("F48_BillingDentistMI", "F48_BillingDentistSuffix"),
    ),
)
_DENTAL_APART = _fields(
    V3_DENTAL,
    "F05",
    "F06",
    "F07",
    "F08",
    "F09",
    "F10",
    "F11",
    "F20",
    "F22",
    "F33",
    "F34",
    "F4",
) | {"X12_ClaimFrequencyCode", "X12_PayerControlNumber", "X12_ServiceDate"}
_DENTAL_APART -= {"F48_BillingDentistFirstName", "F48_BillingDentistMI", "F48_BillingDentistSuffix"}


def _dental(rng: Random, day: date) -> JSON:
    random = _RandomValues(rng, day)
    claim = minimal_claim(V3_DENTAL, day)
    claim |= _choose(random, V3_DENTAL, _DENTAL_BUNDLES, _DENTAL_APART)
    predetermination = random.maybe(SELDOM)
    claim |= {
        "F01_TypeOfTransaction": "Predetermination"
        if predetermination
        else random.one(("ActualServices", "EPSDT")),
        "F15_InsuredID": random.reference(20),
        "F04_OtherCoverage": False,
        "F38_PlaceOfTreatment": random.one(("11", "Office", "22")),
        "F48_BillingDentistNPI": BILLING_NPI,
    }
    spelling = random.one(("Svc_VendorClaimId", "Svc_VendorClaimID"))
    claim.pop("Svc_VendorClaimId")
    claim[spelling] = random.reference(24)
    if (
        codes.find("attachment_transmission", claim.get("X12_AttachmentTransmissionCode", ""))
        == "AA"
    ):
        del claim["X12_AttachmentControlNumber"]
    _dental_people(random, claim)
    _dental_treatment(random, claim, predetermination=predetermination)
    claim["LineItems"] = [
        _dental_line(random, at, claim, predetermination=predetermination)
        for at in range(rng.randint(1, 6))
    ]
    if predetermination:
        claim.pop("X12_ServiceDate")
    _dental_insurance(random, claim)
    total = sum(
        (
            Decimal(str(line.get(name, 0)))
            for line in claim["LineItems"]
            for name in ("F31_LineFee", "F31a_OtherFee")
        ),
        Decimal(0),
    )
    claim["F32_TotalFee"] = random.wire(total)
    return claim


def _dental_people(random: _RandomValues, claim: JSON) -> None:
    known = fields_of(V3_DENTAL.claim)
    claim["F18_PatientRelationship"] = random.code("relationship")
    claim["F13_InsuredDOB"] = random.before(12_000, 20_000)
    if codes.find("relationship", claim["F18_PatientRelationship"]) == codes.SELF:
        return
    optional = ("F20_PatientMI", "F20_PatientSuffix")
    for name in sorted(_fields(V3_DENTAL, "F20", "F22")):
        if name not in optional or random.maybe():
            claim[name] = random.value(known[name])
    claim["F20_PatientFirstName"] = "Milo"
    claim["F20_PatientDOB"] = random.before(2_100, 9_000)


def _dental_treatment(random: _RandomValues, claim: JSON, *, predetermination: bool) -> None:
    if random.maybe(0.3):
        claim |= {"F40_OrthoTreatment": True, "F42_MonthsTreatment": random.rng.randint(1, 36)}
        if not predetermination or random.maybe():
            claim["F41_DateAppliancePlaced"] = random.before(1, 300)
    if random.maybe(0.3):
        claim |= {
            "F43_Prosthesis": "true",
            "F44_ProsthesisDateOfPriorPlacement": random.before(600, 2_000),
        }
    if random.maybe(0.4):
        cause = random.one(("EM", "AutoAccident", "Other accident", "None"))
        claim["F45_TreatmentResultingFrom"] = cause
        if cause != "None":
            claim["F46_AccidentDate"] = random.before(5, 100)
        if cause == "AutoAccident":
            claim["F47_AutoAccidentState"] = random.one(STATES)
    if random.maybe():
        claim["F33_MissingTeeth"] = random.rng.sample(
            ("1", "16", "17", "32"), random.rng.randint(1, 4)
        )
    if random.maybe():
        chosen = random.rng.sample(DENTAL_DIAGNOSES, random.rng.randint(1, 4))
        claim |= {"F34_DiagnosiseCodeQualifier": "AB", "F34a_DiagnosisCode": ",".join(chosen)}
    if random.maybe(0.3):
        claim["X12_ClaimFrequencyCode"] = random.one(("7", "8"))
        claim["X12_PayerControlNumber"] = random.reference(20)


def _dental_line(random: _RandomValues, at: int, claim: JSON, *, predetermination: bool) -> JSON:
    known = fields_of(V3_DENTAL.line)
    line: JSON = {
        "F31_LineFee": random.wire(random.money(10, 900)),
        **random.rng.choice(_SITES)(random),
    }
    if not predetermination:
        line["F24_DateOfServiceFrom"] = random.before(0, 4)
        if random.maybe(0.3):
            line["F24_DateOfServiceTo"] = line["F24_DateOfServiceFrom"]
    if "F34a_DiagnosisCode" in claim and random.maybe():
        line["F29a_DiagnosisPointer"] = random.one(("A", "1"))
    for name in ("F29b_Quantity", "F30_Description", "X12_PlaceOfServiceCode"):
        if random.maybe(0.4):
            line[name] = random.value(known[name])
    if random.maybe(0.3):
        line["F31a_OtherFee"] = "5.00"
    if random.maybe():
        line["X12_LineControlNumber"] = f"{random.reference(10)}-{at}"
    if random.maybe(0.3):
        line["X12_LineTreatingDentistLastname"] = random.one(LAST_NAMES)
        names = [name for name in known if name.startswith("X12_LineTreating") and name not in line]
        line |= {name: random.value(known[name]) for name in names if random.maybe()}
    return line


# Where in the mouth a service is done: nowhere in particular, a quadrant, some teeth.
_SITES: tuple[Callable[[_RandomValues], JSON], ...] = (
    lambda random: {"F29_ProcedureCode": random.one(CDT)},
    lambda random: {
        "F29_ProcedureCode": random.one(QUADRANT_CDT),
        "F25_AreaOfOralCavity": [random.one(("10", "UL", "30", "40"))],
    },
    lambda random: {"F29_ProcedureCode": "D2391", "F26_ToothSystem": "JP", "Teeth": _teeth(random)},
)


def _teeth(random: _RandomValues) -> list[JSON]:
    chosen = random.rng.sample((*PERMANENT[1:15], *PRIMARY), random.rng.randint(1, 3))
    found = []
    for tooth in chosen:
        legal = "MDIFL" if tooth in FRONT else "MDOBL"
        surfaces = random.rng.sample(legal, random.rng.randint(1, 5))
        found.append(
            {"F27_Tooth": tooth, "F28_ToothSurface": [*surfaces, *[None] * (5 - len(surfaces))]}
        )
    return found


def _dental_insurance(random: _RandomValues, claim: JSON) -> None:
    if random.maybe():
        return
    known = fields_of(V3_DENTAL.claim)
    needed = (
        "F05_OtherInsuredLastName",
        "F08_OtherInsuredPolicy",
        "F10_OtherPatientRelationship",
        "F11_OtherPayerName",
    )
    address = (
        "F11_OtherPayerAddress",
        "F11_OtherPayerCity",
        "F11_OtherPayerST",
        "F11_OtherPayerZip",
    )
    names = [*needed, *(address if random.maybe() else ())]
    names += [
        name for name in sorted(_fields(V3_DENTAL, "F05", "F06", "F07", "F09")) if random.maybe(0.4)
    ]
    claim |= {name: random.value(known[name]) for name in names}
    claim["F04_OtherCoverage"] = True
    if "F06_OtherInsuredDOB" in claim:
        claim["F06_OtherInsuredDOB"] = random.before(9_000, 20_000)
    if random.maybe() or claim["F01_TypeOfTransaction"] == "Predetermination":
        return
    for line in claim["LineItems"]:
        charge = sum(
            (Decimal(str(line.get(name, 0))) for name in ("F31_LineFee", "F31a_OtherFee")),
            Decimal(0),
        )
        paid = (charge * Decimal("0.6")).quantize(Decimal("0.01"))
        first, second = _split(random, charge - paid, 2)
        line |= {
            "X12_PrimaryPaidAmount": random.wire(paid),
            "X12_AdjudicationDate": random.day.isoformat(),
            "Adjustments": [
                {
                    "X12_AdjustmentGroupCode": group,
                    "X12_AdjustmentReasonCode": reason,
                    "X12_AdjustmentAmount": f"{part}",
                }
                for group, reason, part in (("CO", "45", first), ("PR", "2", second))
                if part
            ],
        }
        if random.maybe():
            line["X12_UnitsPaid"] = 1
        if random.maybe(0.3):
            line["X12_LineRemainingPatientLiability"] = random.wire(random.money(0, 90))


_MAKERS: Mapping[AnyForm, Callable[[Random, date], JSON]] = {
    V3_MEDICAL: _medical,
    V3_DENTAL: _dental,
    UB04: random_institutional,
}
