"""Random valid claims: every optional field appears over a run, every relationship, every story of other insurance.

A claim is a pure function of a random generator and a day. It is made as a caller would write it, so names come
in mixed case and with accents, phones with punctuation, codes as words or as X12 codes.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from clearlane.claims import codes
from clearlane.claims.fields import PAPERS, ClaimKind, Row, rows
from clearlane.claims.samples import (
    BILLING_NPI,
    JSON,
    RENDERING_NPI,
    minimal_claim,
    npi,
)
from clearlane.claims.teeth import FRONT, PERMANENT, PRIMARY
from clearlane.claims.value_types import Kind


def random_claim(kind: ClaimKind, rng: Random, day: date) -> JSON:
    """A valid claim; ``day`` is the latest day of service."""
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
ORGANISATIONS = ("Fernhill Family Practice", "Larkspur Dental", "Harbor Clinic (North)")
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


class _Pen:
    """Writes values of a kind at random."""

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
        code = self.rng.choice(sorted(codes.words(name)))
        word = codes.words(name)[code]
        return word if self.maybe(0.3) and codes.find(name, word) == code else code

    def value(self, row: Row) -> Any:
        return _WRITE[row.kind](self, row)


def _name(pen: _Pen, row: Row) -> str:
    low = row.name.lower()
    if "suffix" in low:
        return pen.one(("Jr", "III", "MD"))
    if "middle" in low or low.endswith("mi"):
        return pen.one(("J", "Q."))
    if "first" in low:
        return pen.one(FIRST_NAMES)
    if any(word in low for word in ("plan", "payer", "employer", "facility", "location")):
        return pen.one(PLANS)
    return pen.one(LAST_NAMES)


def _coded(pen: _Pen, row: Row) -> Any:
    return [pen.code(row.codes)] if row.many else pen.code(row.codes)


_WRITE: Mapping[Kind, Callable[[_Pen, Row], Any]] = {
    Kind.KEY: lambda pen, row: pen.reference(30),
    Kind.NAME: _name,
    Kind.STREET: lambda pen, row: "Floor 3" if row.name.endswith("2") else pen.one(STREETS),
    Kind.CITY: lambda pen, row: pen.one(CITIES),
    Kind.STATE: lambda pen, row: pen.one(STATES),
    Kind.ZIP: lambda pen, row: pen.one(ZIPS),
    Kind.PHONE: lambda pen, row: pen.one(PHONES),
    Kind.NPI: lambda pen, row: pen.one(NPIS),
    Kind.TAXONOMY: lambda pen, row: pen.one(TAXONOMIES),
    Kind.TAX_ID: lambda pen, row: pen.one(("123456789", "12-3456789")),
    Kind.REFERENCE: lambda pen, row: pen.reference(row.max or 20),
    Kind.NOTE: lambda pen, row: pen.one(NOTES),
    Kind.SIGNATURE: lambda pen, row: pen.one(("SIGNATURE ON FILE", "Signed", "Y")),
    Kind.CODED: _coded,
    Kind.PLACE: lambda pen, row: pen.one(("11", "22", "12", "Office")),
    Kind.DAY: lambda pen, row: pen.before(1, 300),
    Kind.AMOUNT: lambda pen, row: pen.wire(pen.money(1, 90)),
    Kind.COUNT: lambda pen, row: pen.rng.randint(1, 9),
    Kind.FLAG: lambda pen, row: pen.rng.choice((True, False, "true", "False")),
}


# --- choosing fields ----------------------------------------------------------------------------------------

Bundle = tuple[tuple[str, ...], tuple[str, ...]]
"""Fields that go together, and fields that may go with them."""


def _choose(pen: _Pen, kind: ClaimKind, bundles: tuple[Bundle, ...], apart: frozenset[str]) -> JSON:
    """Some of the optional fields of a claim, each bundle whole or not at all."""
    known = rows(PAPERS[kind].claim)
    bound = {name for core, extra in bundles for name in (*core, *extra)} | apart
    chosen: JSON = {}
    for core, extra in bundles:
        if pen.maybe():
            chosen |= {name: pen.value(known[name]) for name in core}
            chosen |= {name: pen.value(known[name]) for name in extra if pen.maybe()}
    for name, row in known.items():
        if not row.required and name not in bound and pen.maybe(0.4):
            chosen[name] = pen.value(row)
    return chosen


def _fields(kind: ClaimKind, *starts: str) -> frozenset[str]:
    return frozenset(name for name in rows(PAPERS[kind].claim) if name.startswith(starts))


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
    ClaimKind.MEDICAL,
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
}


def _medical(rng: Random, day: date) -> JSON:
    pen = _Pen(rng, day)
    claim = minimal_claim(ClaimKind.MEDICAL, day)
    claim |= _choose(pen, ClaimKind.MEDICAL, _MEDICAL_BUNDLES, _MEDICAL_APART)
    claim |= {
        "Svc_VendorClaimId": pen.reference(24),
        "F01A_InsuredId": pen.reference(20),
        "F21_DiagnosisCodes": rng.sample(DIAGNOSES, rng.randint(1, len(DIAGNOSES))),
        "F12_PatientAuthorization": pen.one(("Yes", "Y", "I", "true")),
        "F31_PhysicianOrSupplierSignatureIsOnFile": pen.maybe(),
    }
    _medical_people(pen, claim)
    _medical_numbers(pen, claim)
    _medical_dates(pen, claim)
    _medical_rendering(pen, claim)
    count = rng.randint(1, 6) if pen.maybe(0.9) else rng.randint(7, 50)
    diagnoses = claim["F21_DiagnosisCodes"]
    claim["F24_ClaimLines"] = [_medical_line(pen, at, len(diagnoses), claim) for at in range(count)]
    _medical_insurance(pen, claim)
    total = sum(
        (Decimal(str(line["F24F_Charges"])) for line in claim["F24_ClaimLines"]), Decimal(0)
    )
    claim["F28_TotalCharge"] = pen.wire(total)
    if pen.maybe(SELDOM):
        claim["NotInTheCatalogue"] = {"ignored": True}
    return claim


def _medical_people(pen: _Pen, claim: JSON) -> None:
    relationship = pen.code("relationship")
    claim["F06_PatientRelationshipToInsured"] = relationship
    claim |= {
        "F04_InsuredNameLast": "Arden",
        "F04_InsuredNameFirst": "Rosa",
        "F11A_InsuredDob": pen.before(12_000, 20_000),
        "F11A_InsuredSex": pen.one(("F", "Female")),
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
            "F02_PatientNameLast": pen.one(LAST_NAMES),
            "F02_PatientNameFirst": "Milo",
            "F03_PatientDob": pen.before(400, 9_000),
            "F03_PatientSex": pen.code("sex"),
            "F05_PatientAddress1": pen.one(STREETS),
        }
        if pen.maybe():
            claim["F05_PatientAddress2"] = "Floor 3"
    if codes.find("sex", claim["F03_PatientSex"]) == "F" and pen.maybe(0.3):
        claim["F14_LastMenstrualPeriodDate"] = pen.before(10, 200)


def _medical_numbers(pen: _Pen, claim: JSON) -> None:
    which = pen.rng.randint(0, 2)
    claim.pop("F25_FederalTaxIdEin", None)
    if which != 1:
        claim["F25_FederalTaxIdEin"] = pen.one(("123456789", "12-3456789"))
    if which != 0:
        claim["F25_FederalTaxIdSsn"] = "987-65-4320"
        if pen.maybe():
            claim["F33B_BillingProviderSsn"] = "987654320"
    if pen.maybe(0.3):
        claim["F22_MedicaidResubmissionCode"] = pen.one(("7", "8", "Replacement", "Void", "6"))
        claim["F22_OriginalReferenceNumber"] = pen.reference(20)
    if pen.maybe(0.3):
        claim["F23_ClinicalLaboratoryImprovementAmendmentNumber"] = "45D0123456"
    if pen.maybe(0.3):
        claim["F23_MammographyCertificationNumber"] = "123456"
    if pen.maybe(0.3):
        claim["X12_SpectacleLenses"] = pen.one(("L1", "L2,L3", "Medical reason"))
    if "F33A_BillingProviderNpi" in claim:
        claim["F33A_BillingProviderNpi"] = BILLING_NPI


def _medical_dates(pen: _Pen, claim: JSON) -> None:
    causes = pen.rng.sample(
        (
            "F10A_PatientCondEmployment",
            "F10B_PatientCondAutoAccident",
            "F10C_PatientCondOtherAccident",
        ),
        pen.rng.choice((0, 0, 1, 2)),
    )
    claim |= dict.fromkeys(causes, True)
    if causes:
        claim["F15_AccidentDate"] = pen.before(5, 200)
    if "F10B_PatientCondAutoAccident" in causes:
        claim["F10B_PatientCondAutoAccidentState"] = pen.one(STATES)
    elif pen.maybe(0.3):
        claim["F10B_PatientCondAutoAccident"] = False
    if pen.maybe():
        claim["F18_HospitalizationDateFrom"] = pen.before(2, 30)
        if pen.maybe():
            claim["F18_HospitalizationDateTo"] = pen.before(0, 2)
    for name in (
        "F15_AssumedCareEndDate",
        "F16_AuthorizedReturnToWorkDate",
        "X12_DisabilityDateTo",
    ):
        if pen.maybe(0.3):
            claim[name] = pen.after(1, 60)


def _medical_rendering(pen: _Pen, claim: JSON) -> None:
    if not pen.maybe():
        return
    known = rows(PAPERS[ClaimKind.MEDICAL].claim)
    claim["X12_RendProviderNameLast"] = pen.one(LAST_NAMES)
    for name in sorted(_fields(ClaimKind.MEDICAL, "X12_RendProvider")):
        if name != "X12_RendProviderNameLast" and pen.maybe():
            claim[name] = "A12345" if "Upin" in name else pen.value(known[name])
    if pen.maybe(0.8):
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


def _medical_line(pen: _Pen, at: int, diagnoses: int, claim: JSON) -> JSON:
    known = rows(PAPERS[ClaimKind.MEDICAL].line)
    first = pen.before(1, 4)
    line: JSON = {
        "F24A_DateOfServiceFrom": first,
        "F24B_PlaceOfServiceCode": pen.one(("11", "22", "12", "Office")),
        "F24D_HcpcsProcedureCode": pen.one(PROCEDURES),
        "F24E_DiagnosisPointers": pen.rng.sample(
            "ABCDEFGHIJKL"[:diagnoses], pen.rng.randint(1, min(4, diagnoses))
        ),
        "F24F_Charges": pen.wire(pen.money(0, 900)),
    }
    line |= {name: pen.value(known[name]) for name in _LINE_SINGLES if pen.maybe(0.4)}
    if pen.maybe():
        line["F24A_DateOfServiceTo"] = pen.day.isoformat() if pen.maybe() else first
    if pen.maybe(0.4):
        line["F24D_Modifiers"] = pen.one((" ", ",", ":")).join(
            pen.rng.sample(MODIFIERS, pen.rng.randint(1, 4))
        )
    if pen.maybe(0.2):
        line |= {"F24D_HcpcsProcedureCode": "00170", "X12_Anesthesia": True, "F24G_DaysOrUnits": 45}
    if pen.maybe(0.2):
        line |= {"F24D_HcpcsProcedureCode": "J3490", "X12_Description": "Unlisted drug"}
        line.pop("X12_Anesthesia", None)
    if pen.maybe():
        line["X12_ProviderControlNumber"] = f"{pen.reference(10)}-{at}"
    if "X12_RendProviderNameLast" in claim:
        line |= {
            name: "A12345" if "Upin" in name else pen.value(known[name])
            for name in _SHADED
            if pen.maybe(0.2)
        }
        if pen.maybe(0.3):
            line["F24J_RenderingNpi"] = RENDERING_NPI
    _medical_extras(pen, line)
    return line


def _medical_extras(pen: _Pen, line: JSON) -> None:
    if pen.maybe(0.3):
        line["X12_NdcCode"] = pen.one(("00009-0011-03", "0009-0011-03", "00009001103"))
        quantity = pen.rng.randint(1, 900) / 8
        unit = pen.rng.choice((None, *_DRUG_UNITS))
        if unit is None or pen.maybe():
            line["X12_NdcQuantity"] = quantity
        if unit:
            line[unit] = quantity
        if pen.maybe():
            line["X12_NdcPharmacyPrescriptionNumber"] = pen.reference(20)
        if pen.maybe():
            line["X12_NdcLinkSequenceNumber"] = pen.reference(10)
    if pen.maybe(0.2):
        line["X12_MeasurementId"] = pen.one(("TR", "OG"))
        line["X12_MeasurementQualifier"] = pen.code("measurement_qualifier")
        line["X12_MeasurementValue"] = 12.5
    if pen.maybe(0.2):
        line["X12_ContractTypeCode"] = pen.code("contract_type")
        if pen.maybe():
            line["X12_ContractMonetaryAmount"] = pen.wire(pen.money(1, 90))


# --- other insurance ------------------------------------------------------------------------------------------


def _split(pen: _Pen, amount: Decimal, parts: int) -> list[Decimal]:
    """An amount in some parts; each is above zero where that is possible."""
    left, found = amount, []
    for _ in range(parts - 1):
        part = (left * Decimal(str(round(pen.rng.uniform(0.1, 0.6), 2)))).quantize(Decimal("0.01"))
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


def _adjust(pen: _Pen, names: Mapping[str, str], amount: Decimal) -> JSON:
    """An amount spread over some adjustment fields, with and without reasons."""
    chosen = pen.rng.sample(sorted(names), pen.rng.randint(1, len(names)))
    written: JSON = {}
    for name, part in zip(chosen, _split(pen, amount, len(chosen)), strict=True):
        form = pen.rng.randint(0, 2)
        first, second = _split(pen, part, 2)
        texts = (f"{part}", f"{names[name]}:{part}", f"{names[name]}:{first}; 97:{second}:1")
        if part:
            written[name] = texts[form]
    return written


def _medical_insurance(pen: _Pen, claim: JSON) -> None:
    story = pen.rng.randint(0, 5)
    if story < 2:
        if story:
            claim["F11D_OtherPlan"] = False
        return
    known = rows(PAPERS[ClaimKind.MEDICAL].claim)
    names = [
        "F09_OtherInsuredNameLast",
        "F09A_OtherInsuredGroupNum",
        "F09_PatientRelationshipToInsured",
        pen.one(("X12_OtherPayerName", "F09D_OtherPlanName")),
        *(
            name
            for name in sorted(_fields(ClaimKind.MEDICAL, "F09", "X12_Other"))
            if pen.maybe(0.4)
        ),
    ]
    claim |= {name: pen.value(known[name]) for name in names}
    claim["F11D_OtherPlan"] = True
    if "F09B_OtherInsuredDOB" in claim:
        claim["F09B_OtherInsuredDOB"] = pen.before(9_000, 20_000)
    if story > 2:
        _medical_decision(pen, claim, at_claim=story in (3, 5), at_lines=story in (4, 5))


def _medical_decision(pen: _Pen, claim: JSON, *, at_claim: bool, at_lines: bool) -> None:
    """What an earlier payer paid and adjusted, balanced, for the claim or its lines or both."""
    lines: list[JSON] = claim["F24_ClaimLines"]
    paid = sum((Decimal(str(line["F24F_Charges"])) for line in lines), Decimal(0))
    for line in lines if at_lines else ():
        charge = Decimal(str(line["F24F_Charges"]))
        line_paid = (charge * Decimal("0.6")).quantize(Decimal("0.01"))
        line["X12_PrimaryPayerPaidAmount"] = pen.wire(line_paid)
        line |= _adjust(pen, _LINE_ADJUSTMENTS, charge - line_paid)
        if not at_claim or pen.maybe():
            line["X12_AdjudicationOrPaymentDate"] = pen.day.isoformat()
        paid -= charge - line_paid
    if at_claim:
        kept = (paid * Decimal("0.9")).quantize(Decimal("0.01"))
        claim |= _adjust(pen, _CLAIM_ADJUSTMENTS, paid - kept)
        claim["X12_ClaimAdjudicationDate"] = pen.day.isoformat()
        claim[pen.one(("X12_ClaimPrimaryPayerPaidAmount", "F29_PayerAmountPaid"))] = pen.wire(kept)
    elif pen.maybe():
        claim["X12_ClaimPrimaryPayerPaidAmount"] = pen.wire(paid)


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
    ClaimKind.DENTAL,
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
    pen = _Pen(rng, day)
    claim = minimal_claim(ClaimKind.DENTAL, day)
    claim |= _choose(pen, ClaimKind.DENTAL, _DENTAL_BUNDLES, _DENTAL_APART)
    predetermination = pen.maybe(SELDOM)
    claim |= {
        "F01_TypeOfTransaction": "Predetermination"
        if predetermination
        else pen.one(("ActualServices", "EPSDT")),
        "F15_InsuredID": pen.reference(20),
        "F04_OtherCoverage": False,
        "F38_PlaceOfTreatment": pen.one(("11", "Office", "22")),
        "F48_BillingDentistNPI": BILLING_NPI,
    }
    spelling = pen.one(("Svc_VendorClaimId", "Svc_VendorClaimID"))
    claim.pop("Svc_VendorClaimId")
    claim[spelling] = pen.reference(24)
    _dental_people(pen, claim)
    _dental_treatment(pen, claim, predetermination=predetermination)
    claim["LineItems"] = [
        _dental_line(pen, at, claim, predetermination=predetermination)
        for at in range(rng.randint(1, 6))
    ]
    if predetermination:
        claim.pop("X12_ServiceDate")
    _dental_insurance(pen, claim)
    total = sum(
        (
            Decimal(str(line.get(name, 0)))
            for line in claim["LineItems"]
            for name in ("F31_LineFee", "F31a_OtherFee")
        ),
        Decimal(0),
    )
    claim["F32_TotalFee"] = pen.wire(total)
    return claim


def _dental_people(pen: _Pen, claim: JSON) -> None:
    known = rows(PAPERS[ClaimKind.DENTAL].claim)
    claim["F18_PatientRelationship"] = pen.code("relationship")
    claim["F13_InsuredDOB"] = pen.before(12_000, 20_000)
    if codes.find("relationship", claim["F18_PatientRelationship"]) == codes.SELF:
        return
    optional = ("F20_PatientMI", "F20_PatientSuffix")
    for name in sorted(_fields(ClaimKind.DENTAL, "F20", "F22")):
        if name not in optional or pen.maybe():
            claim[name] = pen.value(known[name])
    claim["F20_PatientFirstName"] = "Milo"
    claim["F20_PatientDOB"] = pen.before(2_100, 9_000)


def _dental_treatment(pen: _Pen, claim: JSON, *, predetermination: bool) -> None:
    if pen.maybe(0.3):
        claim |= {"F40_OrthoTreatment": True, "F42_MonthsTreatment": pen.rng.randint(1, 36)}
        if not predetermination or pen.maybe():
            claim["F41_DateAppliancePlaced"] = pen.before(1, 300)
    if pen.maybe(0.3):
        claim |= {
            "F43_Prosthesis": "true",
            "F44_ProsthesisDateOfPriorPlacement": pen.before(600, 2_000),
        }
    if pen.maybe(0.4):
        cause = pen.one(("EM", "AutoAccident", "Other accident", "None"))
        claim["F45_TreatmentResultingFrom"] = cause
        if cause != "None":
            claim["F46_AccidentDate"] = pen.before(5, 100)
        if cause == "AutoAccident":
            claim["F47_AutoAccidentState"] = pen.one(STATES)
    if pen.maybe():
        claim["F33_MissingTeeth"] = pen.rng.sample(("1", "16", "17", "32"), pen.rng.randint(1, 4))
    if pen.maybe():
        chosen = pen.rng.sample(DENTAL_DIAGNOSES, pen.rng.randint(1, 4))
        claim |= {"F34_DiagnosiseCodeQualifier": "AB", "F34a_DiagnosisCode": ",".join(chosen)}
    if pen.maybe(0.3):
        claim["X12_ClaimFrequencyCode"] = pen.one(("7", "8", "6"))
        claim["X12_PayerControlNumber"] = pen.reference(20)


def _dental_line(pen: _Pen, at: int, claim: JSON, *, predetermination: bool) -> JSON:
    known = rows(PAPERS[ClaimKind.DENTAL].line)
    line: JSON = {"F31_LineFee": pen.wire(pen.money(10, 900)), **pen.rng.choice(_SITES)(pen)}
    if not predetermination:
        line["F24_DateOfServiceFrom"] = pen.before(0, 4)
        if pen.maybe(0.3):
            line["F24_DateOfServiceTo"] = pen.day.isoformat()
    if "F34a_DiagnosisCode" in claim and pen.maybe():
        line["F29a_DiagnosisPointer"] = pen.one(("A", "1"))
    for name in ("F29b_Quantity", "F30_Description", "X12_PlaceOfServiceCode"):
        if pen.maybe(0.4):
            line[name] = pen.value(known[name])
    if pen.maybe(0.3):
        line["F31a_OtherFee"] = "5.00"
    if pen.maybe():
        line["X12_LineControlNumber"] = f"{pen.reference(10)}-{at}"
    if pen.maybe(0.3):
        line["X12_LineTreatingDentistLastname"] = pen.one(LAST_NAMES)
        names = [name for name in known if name.startswith("X12_LineTreating") and name not in line]
        line |= {name: pen.value(known[name]) for name in names if pen.maybe()}
    return line


# Where in the mouth a service is done: nowhere in particular, a quadrant, some teeth.
_SITES: tuple[Callable[[_Pen], JSON], ...] = (
    lambda pen: {"F29_ProcedureCode": pen.one(CDT)},
    lambda pen: {
        "F29_ProcedureCode": pen.one(QUADRANT_CDT),
        "F25_AreaOfOralCavity": [pen.one(("10", "UL", "30", "40"))],
    },
    lambda pen: {"F29_ProcedureCode": "D2391", "F26_ToothSystem": "JP", "Teeth": _teeth(pen)},
)


def _teeth(pen: _Pen) -> list[JSON]:
    chosen = pen.rng.sample((*PERMANENT[1:15], *PRIMARY), pen.rng.randint(1, 3))
    found = []
    for tooth in chosen:
        legal = "MDIFL" if tooth in FRONT else "MDOBL"
        surfaces = pen.rng.sample(legal, pen.rng.randint(1, 5))
        found.append(
            {"F27_Tooth": tooth, "F28_ToothSurface": [*surfaces, *[None] * (5 - len(surfaces))]}
        )
    return found


def _dental_insurance(pen: _Pen, claim: JSON) -> None:
    if pen.maybe():
        return
    known = rows(PAPERS[ClaimKind.DENTAL].claim)
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
    names = [*needed, *(address if pen.maybe() else ())]
    names += [
        name
        for name in sorted(_fields(ClaimKind.DENTAL, "F05", "F06", "F07", "F09"))
        if pen.maybe(0.4)
    ]
    claim |= {name: pen.value(known[name]) for name in names}
    claim["F04_OtherCoverage"] = True
    if "F06_OtherInsuredDOB" in claim:
        claim["F06_OtherInsuredDOB"] = pen.before(9_000, 20_000)
    if pen.maybe() or claim["F01_TypeOfTransaction"] == "Predetermination":
        return
    for line in claim["LineItems"]:
        charge = sum(
            (Decimal(str(line.get(name, 0))) for name in ("F31_LineFee", "F31a_OtherFee")),
            Decimal(0),
        )
        paid = (charge * Decimal("0.6")).quantize(Decimal("0.01"))
        first, second = _split(pen, charge - paid, 2)
        line |= {
            "X12_PrimaryPaidAmount": pen.wire(paid),
            "X12_AdjudicationDate": pen.day.isoformat(),
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
        if pen.maybe():
            line["X12_UnitsPaid"] = 1


_MAKERS: Mapping[ClaimKind, Callable[[Random, date], JSON]] = {
    ClaimKind.MEDICAL: _medical,
    ClaimKind.DENTAL: _dental,
}
