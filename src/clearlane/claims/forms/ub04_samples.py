"""Sample institutional claims, one for each type of bill.

    bill("111", day)                # a claim as JSON, whose statement ends on the day

A sample is what its type of bill needs and no more; the words and the people are invented. The third character of the
type of bill is the frequency: an interim bill says that the patient is still there, a replacement names a claim, a notice
tells of an admission or election and asks for no money.
"""

from collections.abc import (
    Callable,
    Mapping,
)
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any, TypeAlias

from clearlane.claims import codes
from clearlane.claims.forms.ub04_view import LINES, OTHER_PAYERS

JSON: TypeAlias = dict[str, Any]  # Any: JSON of any depth
TEST_PAYER = "TST01"
INTERIM = ("2", "3")
STILL_A_PATIENT = "30"
FREQUENCIES: Mapping[str, str] = MappingProxyType(
    dict.fromkeys("1578", "")
    | dict.fromkeys("234", "11 18 21 28 32 33 41 65 66 72 81 82 86")
    | {"9": "32", "A": "32 81 82", "B": "81 82"}
)
"""The frequencies that samples are made for, and the types of bill that alone have them; empty for all."""


@dataclass(frozen=True, kw_only=True)
class BillSample:
    """What a type of bill states. Days are counted from the first day of the statement."""

    nights: int = 0
    """Nights of the statement; 0 for one day."""
    admission_hour: str | None = None
    """The hour of admission; empty for a day of admission alone, None for no admission."""
    discharge_hour: str = ""
    admission: str = "3 1 01"
    """Admission type, point of origin and patient status; ``-`` for one that is left out."""
    diagnoses: str = "I10"
    """The diagnoses; ``J189/Y`` was present on admission."""
    admitting: str = ""
    reasons: str = ""
    procedures: str = ""
    """ICD procedures, which are done on the first day."""
    conditions: str = ""
    occurrences: str = ""
    """Codes with their day: ``55/3``."""
    spans: str = ""
    """Codes with their first and last day: ``70/-7/-3``."""
    values: str = ""
    """Codes with their amounts: ``80/3``."""
    lines: str
    """Revenue code, procedure with modifiers or ``-``, units, charge, and the day of service or ``-``; lines are separated
    by semicolons. A procedure may have a description: ``90999=Hemodialysis``."""


_BED = "0120 - 3 1500 -"
STAY = BillSample(
    nights=3,
    admission_hour="10",
    discharge_hour="11",
    admission="1 1 01",
    diagnoses="J18.9/Y I10/Y E11.9/Y",
    admitting="R06.02",
    values="80/3",
    lines=f"{_BED}; 0250 - 12 210.50 -; 0300 80053 2 96 1",
)
LABORATORY = BillSample(nights=4, diagnoses="E11.9", lines="0301 80053 1 48 0; 0301 83036 1 37 4")
EMERGENCY = BillSample(
    admission="1 1 01",
    diagnoses="R07.9 I10",
    reasons="R07.9 R06.02",
    lines="0450 99284 1 780 0; 0300 84484 1 110 0; 0730 93005 1 95 0",
)
NURSING = BillSample(
    nights=14,
    admission_hour="",
    admission="3 4 06",
    diagnoses="I69.354",
    admitting="I69.354",
    spans="70/-7/-3",
    values="80/14",
    lines="0022 KAQD1 14 0 14; 0120 - 14 4340 -; 0420 - 8 640 -",
)
HOME_HEALTH = BillSample(
    nights=29,
    admission_hour="",
    admission="3 2 01",
    diagnoses="E11.65 I10",
    occurrences="50/-1",
    values="61/12420",
    lines="0023 1CA11 1 0 0; 0551 G0299 3 180 0; 0551 G0299 3 180 14; 0421 G0151 4 210 18",
)
HOSPICE = BillSample(
    nights=21,
    admission_hour="",
    diagnoses="C34.90",
    occurrences="27/0",
    values="61/12420",
    lines="0651 Q5001 22 4400 0; 0551 G0299 4 80 2",
)
CLINIC = BillSample(diagnoses="J01.90", lines="0521 99213 1 165 0")
INTERMEDIATE = replace(
    STAY,
    admission="3 1 01",
    diagnoses="F79",
    admitting="",
    lines="0120 - 3 780 -",
)
THERAPY = replace(CLINIC, diagnoses="M25.561", lines="0420 97110,GP 2 120 0")

SAMPLES: Mapping[str, BillSample] = MappingProxyType(
    {
        "11": STAY,
        "12": replace(
            STAY,
            discharge_hour="",
            diagnoses="J18.9",
            values="",
            lines="0300 80053 2 96 1; 0420 97110 2 120 2",
        ),
        "13": EMERGENCY,
        "14": replace(LABORATORY, admission="- - 01"),
        "18": replace(STAY, admission="3 4 03"),
        "21": NURSING,
        "22": replace(
            NURSING, admission="3 4 01", spans="", values="", lines="0420 97110,GP 2 120 2"
        ),
        "23": replace(LABORATORY, lines="0420 97110,GP 2 120 2"),
        "24": LABORATORY,
        "28": replace(NURSING, lines="0120 - 14 4340 -"),
        "32": HOME_HEALTH,
        "33": HOME_HEALTH,
        "34": replace(LABORATORY, lines="0274 L1832 1 640 2"),
        "41": replace(STAY, diagnoses="J18.9", lines="0120 - 3 600 -"),
        "43": replace(LABORATORY, lines="0590 - 1 60 2"),
        "65": INTERMEDIATE,
        "66": INTERMEDIATE,
        "71": CLINIC,
        "72": BillSample(
            nights=28,
            diagnoses="N18.6",
            conditions="74",
            values="A8/72.5 A9/168",
            lines="0821 90999=Hemodialysis 1 290 0; 0821 90999=Hemodialysis 1 290 2",
        ),
        "73": replace(CLINIC, lines="0510 99213 1 165 0"),
        "74": THERAPY,
        "75": replace(THERAPY, lines="0430 97530,GO 2 90 0"),
        "76": replace(CLINIC, diagnoses="F33.2", lines="0912 G0410 1 300 0"),
        "77": replace(CLINIC, lines="0519 G0467 1 190 0; 0521 99213 1 165 0"),
        "78": EMERGENCY,
        "79": replace(CLINIC, lines="0510 99213 1 165 0"),
        "81": HOSPICE,
        "82": HOSPICE,
        "83": replace(CLINIC, diagnoses="H25.11", lines="0490 66984,RT 1 2100 0"),
        "84": replace(CLINIC, diagnoses="O80 Z37.0 Z3A.39", lines="0724 59409 1 1900 0"),
        "85": EMERGENCY,
        "86": replace(INTERMEDIATE, diagnoses="F33.2", lines="1001 - 3 1200 -; 0120 - 3 450 -"),
        "87": replace(CLINIC, diagnoses="F11.20", lines="0900 G2067 1 230 0"),
        "89": replace(CLINIC, lines="0510 99213 1 165 0"),
    }
)
"""The samples by facility and classification."""
NOTICES: Mapping[str, BillSample] = MappingProxyType(
    {
        "32": replace(
            HOME_HEALTH,
            nights=0,
            admission="3 2 30",
            occurrences="",
            values="",
            lines="0023 1AA11 1 0 0",
        ),
        **dict.fromkeys(
            ("81", "82"),
            replace(HOSPICE, nights=0, admission="3 1 30", values="", lines="0651 - 1 0 -"),
        ),
    }
)
"""The samples of notices: the day of admission or election, and one line without a charge."""


def bill(bill_type: str, day: date) -> JSON:
    """Return the sample of a type of bill, such as 111; its statement ends on ``day``.

    Raises ValueError for a type of bill that has no sample, with the types that have one.
    """
    sample, frequency = SAMPLES.get(bill_type[:2]), bill_type[2:]
    if sample is None or not _has_frequency(bill_type[:2], frequency):
        raise ValueError(
            f"There is no sample of the type of bill {bill_type}: give one of {' '.join(SAMPLES)} and a frequency, such as 111."
        )
    if frequency in codes.NOTICES:
        return _claim(bill_type, NOTICES[bill_type[:2]], day)
    return _claim(bill_type, _with_frequency(sample, frequency), day)


def _has_frequency(facility: str, frequency: str) -> bool:
    alone = FREQUENCIES.get(frequency)
    return alone is not None and (not alone or facility in alone.split())


def minimal(day: date) -> JSON:
    """Return a claim with the required fields, and what its type of bill needs."""
    return _claim("131", CLINIC, day)


def _with_frequency(sample: BillSample, frequency: str) -> BillSample:
    if frequency == "5":
        return replace(sample, discharge_hour="")
    if frequency not in INTERIM or sample.admission_hour is None:
        return sample
    # The last day of the statement is one of the stay, as the patient is still there.
    kind, origin, _ = sample.admission.split()
    days = sample.nights + 1
    return replace(
        sample,
        discharge_hour="",
        admission=f"{kind} {origin} {STILL_A_PATIENT}",
        values=sample.values.replace(f"80/{sample.nights}", f"80/{days}"),
        lines="; ".join(_longer(line, sample.nights) for line in sample.lines.split("; ")),
    )


def _longer(line: str, nights: int) -> str:
    code, procedure, units, charge, at = line.split()
    if not (at == "-" and code.startswith("012") and units == str(nights)):
        return line
    more = Decimal(charge) / nights * (nights + 1)
    return f"{code} {procedure} {nights + 1} {more.quantize(Decimal(1))} {at}"


def _claim(bill_type: str, sample: BillSample, day: date) -> JSON:
    """Return the claim of a sample. A branch or loop for each list of codes that its row writes as one text."""
    first = day - timedelta(days=sample.nights)

    def at(days: str) -> str:
        return (first + timedelta(days=int(days))).isoformat()

    kind, origin, status = (None if word == "-" else word for word in sample.admission.split())
    lines = [_line(text, at) for text in sample.lines.split("; ")]
    claim: JSON = {
        **_BASE,
        "FL04_TypeOfBill": bill_type,
        "FL06_StatementFrom": first.isoformat(),
        "FL06_StatementThrough": day.isoformat(),
        "FL10_PatientBirthDate": (day - timedelta(days=14_600)).isoformat(),
        "FL12_AdmissionDate": None if sample.admission_hour is None else first.isoformat(),
        "FL13_AdmissionHour": sample.admission_hour,
        "FL14_AdmissionType": kind,
        "FL15_PointOfOrigin": origin,
        "FL16_DischargeHour": sample.discharge_hour,
        "FL17_PatientStatus": status,
        "FL18_ConditionCodes": [{"FL18_Code": code} for code in sample.conditions.split()],
        "FL31_OccurrenceCodes": [
            {"FL31_Code": code, "FL31_Date": at(days)}
            for code, days in (one.split("/") for one in sample.occurrences.split())
        ],
        "FL35_OccurrenceSpans": [
            {"FL35_Code": code, "FL35_From": at(from_), "FL35_Through": at(through)}
            for code, from_, through in (one.split("/") for one in sample.spans.split())
        ],
        "FL39_ValueCodes": [
            {"FL39_Code": code, "FL39_Amount": amount}
            for code, amount in (one.split("/") for one in sample.values.split())
        ],
        LINES: lines,
        "FL47_ClaimTotalCharges": str(sum(Decimal(line["FL47_TotalCharges"]) for line in lines)),
        "FL67_Diagnoses": [
            {"FL67_Code": code, "FL67_PresentOnAdmission": present or None}
            for code, _, present in (one.partition("/") for one in sample.diagnoses.split())
        ],
        "FL69_AdmittingDiagnosis": sample.admitting,
        "FL70_ReasonsForVisit": [{"FL70_Code": code} for code in sample.reasons.split()],
        "FL74_Procedures": [
            {"FL74_Code": code, "FL74_Date": first.isoformat()}
            for code in sample.procedures.split()
        ],
    }
    if bill_type[2:] in {codes.REPLACEMENT, codes.VOID}:
        claim["FL64_DocumentControlNumber"] = "H2026000417"
    return _filled(claim)


def _line(text: str, at: Callable[[str], str]) -> JSON:
    code, procedure, units, charge, days = text.split()
    procedure, _, description = procedure.partition("=")
    name, _, modifiers = procedure.partition(",")
    return _filled(
        {
            "FL42_RevenueCode": code,
            "FL43_Description": description,
            "FL44_ProcedureCode": "" if name == "-" else name,
            "FL44_Modifiers": modifiers,
            "FL45_ServiceDate": None if days == "-" else at(days),
            "FL46_ServiceUnits": units,
            "FL47_TotalCharges": charge,
        }
    )


def _filled(part: JSON) -> JSON:
    """Return a part without what is empty, inside too."""
    return {
        name: [_filled(item) for item in value] if isinstance(value, list) else value
        for name, value in part.items()
        if value not in (None, "", [])
    }


_BASE: Mapping[str, object] = MappingProxyType(
    {
        "Svc_PayerId": TEST_PAYER,
        "Svc_VendorClaimId": "SAMPLE-1",
        "FL01_BillingProviderName": "Rowanfield Hospital",
        "FL01_BillingProviderAddress1": "700 Orchard Avenue",
        "FL01_BillingProviderCity": "Austin",
        "FL01_BillingProviderState": "TX",
        "FL01_BillingProviderZip": "787010042",
        "FL05_FederalTaxId": "456789123",
        "FL08_PatientNameLast": "Arden",
        "FL08_PatientNameFirst": "Rosa",
        "FL09_PatientAddress1": "8 Quarry Lane",
        "FL09_PatientCity": "Austin",
        "FL09_PatientState": "TX",
        "FL09_PatientZip": "78702",
        "FL11_PatientSex": "F",
        "FL50_PayerName": "Meadow Mutual",
        "FL52_ReleaseOfInformation": "Y",
        "FL53_AssignmentOfBenefits": "Y",
        "FL56_BillingProviderNpi": "1234567893",
        "FL58_InsuredNameLast": "Arden",
        "FL58_InsuredNameFirst": "Rosa",
        "FL59_PatientRelationship": "Self",
        "FL60_InsuredId": "MI4711",
        "FL76_AttendingNameLast": "Fenn",
        "FL76_AttendingNameFirst": "Oskar",
        "FL76_AttendingNpi": "1679576722",
    }
)


# --- every field of the catalogue --------------------------------------------------------------------------------


def extended(day: date) -> JSON:
    """Return a claim in which every field of the catalogue appears: the replacement of a stay with an operation, after two
    other payers. A field that excludes others is null."""
    stay = replace(
        STAY,
        diagnoses="K35.80/Y I10/Y S61.412A/Y",
        admitting="R10.31",
        procedures="0DTJ4ZZ 0W9G30Z",
        conditions="40 C5",
        occurrences="11/0",
        spans="70/-9/-5",
        lines="0120 - 3 1500 -; 0360 - 1 4000 -; 0250 J1885,59 10 100 0; 0636 J3490 1 100 1; 0250 J1100 1 100 1; "
        "0250 J2405 1 100 1; 0250 J0690 1 100 2",
    )
    claim = _claim("117", stay, day)
    for at, line in enumerate(claim[LINES]):
        claim[LINES][at] = {**_NO_LINE_FIELDS, **line, **_line_more(at, line, day)}
    return {**_EVERY_FIELD, **claim, **_OTHERS, OTHER_PAYERS: [_payer(day, 0), _payer(day, 1)]}


_NDC_UNITS = (
    "FL43_NdcInternationalUnits",
    "FL43_NdcGrams",
    "FL43_NdcMilligrams",
    "FL43_NdcMilliliters",
    "FL43_NdcUnits",
)


def _line_more(at: int, line: JSON, day: date) -> JSON:
    charge = Decimal(line["FL47_TotalCharges"])
    more: JSON = {
        "X12_LineControlNumber": f"LINE-{at + 1}",
        "X12_PayerDecisions": [
            _line_decision(day, charge, charge / 2, "45"),
            _line_decision(day, charge, charge / 4, "23"),
        ],
        "FL48_NonCoveredCharges": "10.00" if at == 1 else None,
    }
    if "FL44_ProcedureCode" in line:
        more |= {
            "FL43_Description": "Sample description",
            "FL43_NdcCode": "00009-0011-03",
            _NDC_UNITS[at % len(_NDC_UNITS)]: "1",
            "X12_PrescriptionNumber": "RX4711",
            "X12_LastServiceDate": line["FL45_ServiceDate"],
            "X12_RenderingNameLast": "Birch",
            "X12_RenderingNameFirst": "Nora",
            "X12_RenderingNpi": "1000000012",
        }
    return more


def _line_decision(day: date, charge: Decimal, paid: Decimal, reason: str) -> JSON:
    return {
        "X12_PaidAmount": str(paid),
        "X12_PaidUnits": "1",
        "X12_AdjudicationDate": day.isoformat(),
        "X12_RemainingPatientLiability": "0.00",
        "X12_Adjustments": [_adjustment(reason, charge - paid)],
    }


def _adjustment(reason: str, amount: Decimal) -> JSON:
    return {
        "X12_AdjustmentGroup": "CO" if reason == "45" else "OA",
        "X12_AdjustmentReason": reason,
        "X12_AdjustmentAmount": str(amount),
    }


def _payer(day: date, at: int) -> JSON:
    names = ("Harbor Health Plan", "Summit Health")
    return {
        "FL50_PayerName": names[at],
        "FL51_HealthPlanId": ("HHP20", "SUM01")[at],
        "X12_CoverageType": "CI",
        "FL54_PriorPayments": ("2999.00", "1499.00")[at],
        "FL58_InsuredNameLast": "Lund",
        "FL58_InsuredNameFirst": "Ivo",
        "FL58_InsuredNameMiddle": "J",
        "FL58_InsuredSuffix": "JR",
        "FL59_PatientRelationship": "Spouse",
        "FL60_InsuredId": f"MI471{at + 2}",
        "FL61_GroupName": "Tidewater Works",
        "FL62_GroupNumber": f"GN471{at}",
        "FL64_DocumentControlNumber": f"DCN471{at}",
        "X12_AdjudicationDate": day.isoformat(),
        # The payers decided lines, and send what is left with those.
        "X12_RemainingPatientLiability": None,
        "X12_Adjustments": [_adjustment("45", Decimal("1.00"))],
    }


_NO_LINE_FIELDS: Mapping[str, object] = MappingProxyType(
    dict.fromkeys(
        (
            "FL43_Description",
            "FL43_NdcCode",
            "FL43_NdcInternationalUnits",
            "FL43_NdcGrams",
            "FL43_NdcMilligrams",
            "FL43_NdcMilliliters",
            "FL43_NdcUnits",
            "X12_PrescriptionNumber",
            "FL44_ProcedureCode",
            "FL44_Modifiers",
            "FL45_ServiceDate",
            "X12_LastServiceDate",
            "X12_RenderingNameLast",
            "X12_RenderingNameFirst",
            "X12_RenderingNpi",
            # A stay has no referring provider.
            "X12_ReferringNameLast",
            "X12_ReferringNameFirst",
            "X12_ReferringNpi",
        )
    )
)
_EVERY_FIELD: Mapping[str, object] = MappingProxyType(
    {
        "FL70_ReasonsForVisit": None,
        **dict.fromkeys(
            (
                "FL79_ReferringNameLast",
                "FL79_ReferringNameFirst",
                "FL79_ReferringNameMiddle",
                "FL79_ReferringSuffix",
                "FL79_ReferringNpi",
            )
        ),
    }
)


def _provider(start: str, last: str, first: str, npi: str) -> JSON:
    return {
        f"{start}NameLast": last,
        f"{start}NameFirst": first,
        f"{start}NameMiddle": "J",
        f"{start}Suffix": "JR",
        f"{start}Npi": npi,
    }


_OTHERS: Mapping[str, object] = MappingProxyType(
    {
        "FL01_BillingProviderAddress2": "Suite 200",
        "FL01_BillingProviderPhone": "5125550142",
        "FL02_PayToAddress1": "PO Box 4711",
        "FL02_PayToAddress2": "Suite 2",
        "FL02_PayToCity": "Austin",
        "FL02_PayToState": "TX",
        "FL02_PayToZip": "787050042",
        "FL03a_PatientControlNumber": "PCN4711",
        "FL03b_MedicalRecordNumber": "MRN4711",
        "FL08_PatientNameLast": "Quill",
        "FL08_PatientNameFirst": "Tessa",
        "FL08_PatientNameMiddle": "J",
        "FL08_PatientSuffix": "JR",
        "FL09_PatientAddress2": "Suite 200",
        "FL29_AccidentState": "TX",
        "FL38_PayerAddress1": "12 Fernhill Road",
        "FL38_PayerAddress2": "Suite 200",
        "FL38_PayerCity": "Austin",
        "FL38_PayerState": "TX",
        "FL38_PayerZip": "78701",
        "X12_AcceptsAssignment": "Assigned",
        "X12_CoverageType": "CI",
        "X12_PatientEstimatedAmountDue": "10.00",
        "FL57_BillingProviderOtherId": "BPN4711",
        "FL58_InsuredNameMiddle": "J",
        "FL58_InsuredSuffix": "JR",
        "FL59_PatientRelationship": "Spouse",
        "FL61_GroupName": "Meadow Gold",
        "FL62_GroupNumber": "GN4711",
        "FL63_AuthorizationCode": "AUTH4711",
        "X12_ReferralNumber": "REF4711",
        "FL65_EmployerName": "Tidewater Works",
        "FL66_IcdVersion": "10",
        "FL71_DrgCode": "343",
        "FL72_ExternalCauses": [{"FL72_Code": "W26.0XXA", "FL72_PresentOnAdmission": "Y"}],
        **_provider("FL76_Attending", "Fenn", "Oskar", "1679576722"),
        "FL76_AttendingTaxonomy": "208D00000X",
        "FL76_AttendingLicense": "LIC4711",
        **_provider("FL77_Operating", "Birch", "Nora", "1000000012"),
        **_provider("FL78_OtherOperating", "Lund", "Ivo", "1000000020"),
        **_provider("FL79_Rendering", "Quill", "Milo", "1000000038"),
        "FL80_Remarks": "Sample remarks",
        "FL81_BillingProviderTaxonomy": "282N00000X",
        "X12_FacilityName": "Rowanfield North",
        "X12_FacilityAddress1": "12 Fernhill Road",
        "X12_FacilityAddress2": "Suite 200",
        "X12_FacilityCity": "Austin",
        "X12_FacilityState": "TX",
        "X12_FacilityZip": "787060042",
        "X12_FacilityNpi": "1000000046",
        "X12_DelayReasonCode": "11",
        "X12_AttachmentReportType": "OZ",
        "X12_AttachmentTransmissionCode": "EL",
        "X12_AttachmentControlNumber": "ACN4711",
    }
)
