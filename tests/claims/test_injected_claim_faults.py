"""Every kind of single fault that a careful reader finds in an 837, as a caller would put it into a claim.

The kinds are the names of ``tests.x12.injected_faults``: what the checker must notice in a file. Here each one
is an edit of a good claim, and it ends in one of three ways:

- ``refused``: 400 or ``not_accepted``, at the field that is wrong;
- ``repaired``: the claim is accepted, the repair is recorded, and the file no longer has the fault;
- ``written``: no claim can say it. The claim is accepted, and what the writer makes is right.

What ends in no such way is in ``NOT_CAUGHT``, with the reason.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from copy import deepcopy
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import pytest

from clearlane.claims.forms import V3_DENTAL, V3_FORMS, V3_MEDICAL, AnyForm
from clearlane.claims.read.decode import open_document
from clearlane.claims.rules import CheckedClaim, RuleInputs, repair_and_check
from clearlane.claims.write.write_837 import OutgoingClaim
from clearlane.kernel.finding import Severity
from clearlane.payers.model import Payer
from clearlane.x12.checker.check import check
from tests.cases import every_case
from tests.claims.outgoing import written as write
from tests.x12 import injected_faults
from tests.x12.injected_faults import FAULTS

MEDICAL, DENTAL = V3_MEDICAL, V3_DENTAL
TODAY = date(2025, 3, 20)
FUTURE = "2025-03-21"
PAYERS = {
    MEDICAL: Payer("Medical", "Meadow Mutual", "T1", "TST01", is_test=True, has_route=True),
    DENTAL: Payer("Dental", "Summit Dental", "T2", "TST02", is_test=True, has_route=True),
}
KINDS_OF_FILE = {MEDICAL: "837P", DENTAL: "837D"}

# --- good claims ------------------------------------------------------------------------------------------
# One whose patient is the insured, and one whose patient is a child, after an accident, with an earlier payer.

EVERY_FORM = V3_FORMS
OWN, CHILD = "own", "child"
GOOD: Mapping[tuple[AnyForm, str], dict[str, Any]] = {
    (MEDICAL, OWN): {
        "Svc_PayerId": "TST01", "Svc_VendorClaimId": "A100", "F00_PayerName": "Meadow Mutual",
        "F01_ClaimType": "Group", "F01A_InsuredId": "M1000001",
        "F02_PatientNameLast": "Arden", "F02_PatientNameFirst": "Rosa", "F03_PatientDob": "1985-02-14",
        "F03_PatientSex": "F", "F04_InsuredNameLast": "Arden", "F04_InsuredNameFirst": "Rosa",
        "F05_PatientAddress1": "7 Elm Street", "F05_PatientCity": "Salem", "F05_PatientState": "OR",
        "F05_PatientZip": "97301", "F06_PatientRelationshipToInsured": "Self",
        "F07_InsuredAddress1": "7 Elm Street", "F07_InsuredCity": "Salem", "F07_InsuredState": "OR",
        "F07_InsuredZip": "97301", "F11_InsuredsPolicyGroupOrFecaNumber": "GRP100",
        "F11A_InsuredDob": "1985-02-14", "F11A_InsuredSex": "F", "F12_PatientAuthorization": "Yes",
        "F13_InsuredAuthorization": "Y", "F19_ClaimSupplementalInfoNoteText": "Patient seen before",
        "F21_IcdIndicator": "10", "F21_DiagnosisCodes": ["E119", "I10"],
        "F23_PriorAuthorizationNumber": "AUTH1", "F25_FederalTaxIdEin": "123456789",
        "F26_PatientAcctNumber": "ACCT100", "F27_AcceptAssignment": "Assigned", "F28_TotalCharge": 250,
        "F29_PatientAmountPaid": 10, "F31_PhysicianOrSupplierSignatureIsOnFile": True,
        "F33_BillingProviderNameLast": "Fernhill Family Practice",
        "F33_BillingProviderAddress1": "12 Alder Street", "F33_BillingProviderCity": "Portland",
        "F33_BillingProviderState": "OR", "F33_BillingProviderZip": "972011234",
        "F33_BillingProviderPhoneNumber": "5035550144", "F33A_BillingProviderNpi": "1234567893",
        "F33B_BillingProviderTaxonomyCode": "207Q00000X", "X12_RendProviderNameLast": "Fenn",
        "X12_RendProviderNameFirst": "Oskar", "X12_RenderingNPI": "1679576722",
        "X12_RendProviderTaxonomyCode": "207R00000X",
        "F24_ClaimLines": [
            {
                "F24A_DateOfServiceFrom": "2025-02-10", "F24B_PlaceOfServiceCode": "11",
                "F24D_HcpcsProcedureCode": "99213", "F24D_Modifiers": "25", "F24E_DiagnosisPointers": ["A", "B"],
                "F24F_Charges": 150, "F24G_DaysOrUnits": 1, "X12_ProviderControlNumber": "A100L1",
            },
            {
                "F24A_DateOfServiceFrom": "2025-02-11", "F24B_PlaceOfServiceCode": "11",
                "F24D_HcpcsProcedureCode": "36415", "F24E_DiagnosisPointers": ["A"], "F24F_Charges": 100,
                "F24G_DaysOrUnits": 1, "X12_ProviderControlNumber": "A100L2",
            },
        ],
    },
    (DENTAL, OWN): {
        "Svc_PayerId": "TST02", "Svc_VendorClaimId": "A100", "F01_TypeOfTransaction": "ActualServices",
        "F02_PriorAuthNum": "AUTH1", "F03_PayerName": "Summit Dental", "F04_OtherCoverage": False,
        "F12_InsuredLastName": "Arden", "F12_InsuredFirstName": "Rosa", "F12_InsuredAddress": "7 Elm Street",
        "F12_InsuredCity": "Salem", "F12_InsuredST": "OR", "F12_InsuredZip": "97301",
        "F13_InsuredDOB": "1985-02-14", "F14_InsuredSex": "F", "F15_InsuredID": "M1000001",
        "F16_InsuredGroupNumber": "GRP100", "F18_PatientRelationship": "Self", "F23_PatientID": "ACCT100",
        "F32_TotalFee": "250.00", "F33_MissingTeeth": ["17"], "F34_DiagnosiseCodeQualifier": "AB",
        "F34a_DiagnosisCode": "K029,K0530", "F35_Remarks": "Patient seen before",
        "F36_PatientSignature": "SIGNATURE ON FILE", "F37_InsuredSignature": "SIGNATURE ON FILE",
        "F38_PlaceOfTreatment": "11", "F40_OrthoTreatment": True, "F41_DateAppliancePlaced": "2024-11-05",
        "F42_MonthsTreatment": "24", "F43_Prosthesis": False, "F48_BillingDentistLastName": "Larkspur Dental",
        "F48_BillingDentistAddress": "12 Alder Street", "F48_BillingDentistCity": "Portland",
        "F48_BillingDentistST": "OR", "F48_BillingDentistZip": "972011234",
        "F48_BillingDentistNPI": "1234567893", "F51_BillingDentistTaxID": "123456789",
        "X12_TINorSSNQualifier": "EI", "F52_BillingDentistPhone": "5035550144",
        "F53_TreatingDentistSignature": "SIGNATURE ON FILE", "X12_RenderingProvLastName": "Birch",
        "X12_RenderingProvFirstName": "Nora", "F53_TreatingDentistNPI": "1679576722",
        "F56a_DentistSpecialtyCode": "1223X0400X", "X12_AttachmentReportType": "RB",
        "X12_AttachmentTransmissionCode": "EL", "X12_AttachmentControlNumber": "ATT1",
        "X12_PatientAmountPaid": "10.00", "X12_SubscriberEntityTypeQualifier": "1",
        "X12_ServiceDate": "2025-02-10",
        "LineItems": [
            {
                "F24_DateOfServiceFrom": "2025-02-10", "F29_ProcedureCode": "D2392", "F29b_Quantity": "1",
                "F29a_DiagnosisPointer": "AB", "F31_LineFee": "150.00", "X12_LineControlNumber": "A100L1",
                "Teeth": [{"F27_Tooth": "14", "F28_ToothSurface": ["M", "O", None, None, None]}],
            },
            {
                "F24_DateOfServiceFrom": "2025-02-11", "F25_AreaOfOralCavity": ["10"],
                "F29_ProcedureCode": "D4341", "F29b_Quantity": "1", "F31_LineFee": "100.00",
                "X12_LineControlNumber": "A100L2",
            },
        ],
    },
}  # fmt: skip
CHILDREN: Mapping[AnyForm, dict[str, Any]] = {
    MEDICAL: {
        "Svc_VendorClaimId": "B200", "F01A_InsuredId": "M2000002", "F26_PatientAcctNumber": "ACCT200",
        "F06_PatientRelationshipToInsured": "Child", "F02_PatientNameFirst": "Milo",
        "F03_PatientDob": "2015-06-01", "F03_PatientSex": "M", "F10B_PatientCondAutoAccident": True,
        "F10B_PatientCondAutoAccidentState": "OR", "F15_AccidentDate": "2025-01-15", "F28_TotalCharge": 200,
        "F09_OtherInsuredNameLast": "Lund", "F09_OtherInsuredNameFirst": "Ivo",
        "F09A_OtherInsuredGroupNum": "GRP300", "X12_OtherInsuredId": "M3000003", "F09_PatientRelationshipToInsured": "Child",
        "F11D_OtherPlan": True, "X12_OtherPayerName": "Harbor Health Plan",
        "X12_ClaimPrimaryPayerPaidAmount": 120,
        "F24_ClaimLines[0].X12_NdcCode": "00002323330", "F24_ClaimLines[0].X12_DrugQuantityMilliliters": 2,
        "F24_ClaimLines[0].F24D_HcpcsProcedureCode": "J1100", "F24_ClaimLines[0].F24D_Modifiers": ...,
        "F24_ClaimLines[0].F24F_Charges": 120, "F24_ClaimLines[0].X12_PrimaryPayerPaidAmount": 80,
        "F24_ClaimLines[0].X12_LineContractualObligationAdjustments": "45:30",
        "F24_ClaimLines[0].X12_LinePatientResponsibilityAdjustments": "2:10",
        "F24_ClaimLines[0].X12_AdjudicationOrPaymentDate": "2025-03-01",
        "F24_ClaimLines[0].X12_ProviderControlNumber": "B200L1",
        "F24_ClaimLines[1].F24D_HcpcsProcedureCode": "99214", "F24_ClaimLines[1].F24F_Charges": 80,
        "F24_ClaimLines[1].X12_PrimaryPayerPaidAmount": 40,
        "F24_ClaimLines[1].X12_LinePatientResponsibilityAdjustments": "1:40",
        "F24_ClaimLines[1].X12_AdjudicationOrPaymentDate": "2025-03-02",
        "F24_ClaimLines[1].X12_ProviderControlNumber": "B200L2",
    },
    DENTAL: {
        "Svc_VendorClaimId": "B200", "F15_InsuredID": "M2000002", "F23_PatientID": "ACCT200",
        "F18_PatientRelationship": "Child", "F20_PatientLastName": "Arden", "F20_PatientFirstName": "Milo",
        "F20_PatientAddress": "9 Oak Street", "F20_PatientCity": "Eugene", "F20_PatientST": "OR",
        "F20_PatientZip": "97401", "F20_PatientDOB": "2010-06-01", "F22_PatientSex": "M",
        "F40_OrthoTreatment": False, "F41_DateAppliancePlaced": ..., "F42_MonthsTreatment": ...,
        "F43_Prosthesis": True, "F44_ProsthesisDateOfPriorPlacement": "2020-03-01",
        "F45_TreatmentResultingFrom": "AutoAccident", "F46_AccidentDate": "2025-01-15",
        "F47_AutoAccidentState": "OR", "F04_OtherCoverage": True, "F05_OtherInsuredLastName": "Lund",
        "F05_OtherInsuredFirstName": "Ivo", "F08_OtherInsuredPolicy": "M3000003",
        "F09_OtherInsuredGrpNumber": "GRP300", "F10_OtherPatientRelationship": "Child",
        "F11_OtherPayerName": "Harbor Health Plan", "F32_TotalFee": "200.00",
        "LineItems[0].F29_ProcedureCode": "D2740", "LineItems[0].F31_LineFee": "120.00",
        "LineItems[0].Teeth": [{"F27_Tooth": "30", "F28_ToothSurface": None}],
        "LineItems[0].X12_PrimaryPaidAmount": "80.00", "LineItems[0].X12_AdjudicationDate": "2025-03-01",
        "LineItems[0].X12_LineControlNumber": "B200L1",
        "LineItems[0].Adjustments": [
            {"X12_AdjustmentGroupCode": "CO", "X12_AdjustmentReasonCode": "45", "X12_AdjustmentAmount": "30"},
            {"X12_AdjustmentGroupCode": "PR", "X12_AdjustmentReasonCode": "2", "X12_AdjustmentAmount": "10"},
        ],
        "LineItems[1].F25_AreaOfOralCavity": ..., "LineItems[1].F29_ProcedureCode": "D1110",
        "LineItems[1].F31_LineFee": "80.00", "LineItems[1].X12_PrimaryPaidAmount": "40.00",
        "LineItems[1].X12_AdjudicationDate": "2025-03-02", "LineItems[1].X12_LineControlNumber": "B200L2",
        "LineItems[1].Adjustments": [
            {"X12_AdjustmentGroupCode": "PR", "X12_AdjustmentReasonCode": "1", "X12_AdjustmentAmount": "40"},
        ],
    },
}  # fmt: skip

# --- the three ends -----------------------------------------------------------------------------------------

Row = list[str]
Holds = Callable[[list[Row]], bool]


class Case(NamedTuple):
    """What a caller writes to make the fault, and how it must end."""

    kind: AnyForm
    base: str
    changes: dict[str, Any]
    at: str = ""
    """``refused``: the location of the finding. ``repaired``: the field that was repaired."""
    end: str = "refused"
    reason: str = ""
    """``written``: why no claim can say it."""
    holds: Holds = lambda rows: True
    """``repaired`` and ``written``: what must be so in the file."""


def m(changes, at, base=OWN):
    return Case(MEDICAL, base, changes, at)


def d(changes, at, base=OWN):
    return Case(DENTAL, base, changes, at)


def both(medical, dental, value, base=OWN, **more):
    """The same fault in a field of each kind."""
    return (m({medical: value, **more}, medical, base), d({dental: value, **more}, dental, base))


def fixed(kind, changes, at, holds, base=OWN):
    return Case(kind, base, changes, at, "repaired", holds=holds)


def written(reason, holds, kinds=EVERY_FORM, base=CHILD, changes=None):
    """The writer makes it right, whatever the claim says."""
    return tuple(Case(kind, base, changes or {}, "", "written", reason, holds) for kind in kinds)


# --- what is so in a file -----------------------------------------------------------------------------------


def all_of(rows: list[Row], start: str) -> list[Row]:
    ids = start.split("*")
    return [row for row in rows if row[: len(ids)] == ids]


def has(start: str) -> Holds:
    """There is such a segment."""
    return lambda rows: bool(all_of(rows, start))


def hasnt(start: str) -> Holds:
    return lambda rows: not all_of(rows, start)


def each(start: str, element: int, pattern: str) -> Holds:
    """Every such segment, and there is one, has an element of this form."""
    return lambda rows: (
        bool(found := all_of(rows, start))
        and all(re.fullmatch(pattern, row[element] if len(row) > element else "") for row in found)
    )


def said(pattern: str) -> Holds:
    """Some segment reads so."""
    return lambda rows: any(re.fullmatch(pattern, "*".join(row)) for row in rows)


def one(rows: list[Row], id: str) -> Row:
    (found,) = all_of(rows, id)
    return found


def same(first: str, at: int, last: str, also: int) -> Holds:
    return lambda rows: one(rows, first)[at] == one(rows, last)[also]


def levels_are_right(rows: list[Row]) -> bool:
    """HL01 counts, HL02 is an earlier level of the right kind, HL04 states whether a child follows."""
    found = all_of(rows, "HL")
    parents = Counter(row[2] for row in found)
    above = {"20": "", "22": "20", "23": "22"}
    kinds = {"": "", **{row[1]: row[3] for row in found}}
    return (
        [row[1] for row in found] == [str(at) for at in range(1, len(found) + 1)]
        and all(kinds[row[2]] == above[row[3]] for row in found)
        and all(row[4] == ("1" if parents[row[1]] else "0") for row in found)
    )


def follows(first: str, then: str) -> Holds:
    """After each segment of one form comes one of the other."""

    def holds(rows: list[Row]) -> bool:
        texts = ["*".join(row) for row in rows]
        starts = [at for at, text in enumerate(texts) if re.match(first, text)]
        return bool(starts) and all(re.match(then, texts[at + 1]) for at in starts)

    return holds


def count_of(id: str) -> Callable[[list[Row]], str]:
    return lambda rows: str(len(all_of(rows, id)))


def segment_count(rows: list[Row]) -> bool:
    ids = [row[0] for row in rows]
    return one(rows, "SE")[1] == str(ids.index("SE") - ids.index("ST") + 1)


def lines_count_up(rows: list[Row]) -> bool:
    numbers = [row[1] for row in all_of(rows, "LX")]
    return numbers == [str(at) for at in range(1, len(numbers) + 1)]


KNOWN_SEGMENTS = frozenset(
    row.partition("*")[0] for kind in injected_faults.GOOD for row in injected_faults.good(kind)
)
ENVELOPE = "The writer makes the envelope and counts what it wrote."
HEADER = "The writer makes the header; no field of a claim reaches it."
TREE = "The writer numbers the levels; a claim has no field for them."
SYNTAX = "The writer cuts empty ends off; a claim has no segments."
TABLE = "The placement writes this code itself; no field says it."
M, D = (MEDICAL,), (DENTAL,)
L0, L1, T0, T1 = "F24_ClaimLines[0].", "F24_ClaimLines[1].", "LineItems[0].", "LineItems[1]."
LONG = "A" * 61
SURFACES = f"{T0}Teeth[0].F28_ToothSurface"


def teeth(tooth, *surfaces):
    return {f"{T0}Teeth": [{"F27_Tooth": tooth, "F28_ToothSurface": list(surfaces)}]}


def adjusted(**own):
    good = {
        "X12_AdjustmentGroupCode": "PR",
        "X12_AdjustmentReasonCode": "1",
        "X12_AdjustmentAmount": "40",
    }
    return {f"{T1}Adjustments": [good | own]}


TABLE_OF_FAULTS: Mapping[str, tuple[Case, ...]] = {
    # Envelope.
    "ISA control number not repeated in IEA": written(ENVELOPE, same("ISA", 13, "IEA", 2)),
    "wrong count of groups": written(ENVELOPE, lambda rows: one(rows, "IEA")[1] == count_of("GS")(rows)),
    "GS control number not repeated in GE": written(ENVELOPE, same("GS", 6, "GE", 2)),
    "wrong count of sets": written(ENVELOPE, lambda rows: one(rows, "GE")[1] == count_of("ST")(rows)),
    "ST control number not repeated in SE": written(ENVELOPE, same("ST", 2, "SE", 2)),
    "wrong count of segments": written(ENVELOPE, segment_count),
    "no SE": written(ENVELOPE, has("SE")),
    "no GE": written(ENVELOPE, has("GE")),
    "wrong functional identifier": written(ENVELOPE, each("GS", 1, "HC")),
    "another guide in ST03": written(ENVELOPE, same("ST", 3, "GS", 8)),
    "no such guide": written(ENVELOPE, each("ST", 1, "837")),
    "short set control number": written(ENVELOPE, each("ST", 2, r"\d{4,9}")),
    # Syntax.
    "empty element at the end": written(SYNTAX, lambda rows: all(row[-1] for row in rows)),
    "empty component at the end": written(
        SYNTAX, lambda rows: not any(cell.endswith(":") and len(cell) > 1 for row in rows[1:] for cell in row)
    ),
    "unknown segment": written(TABLE, lambda rows: {row[0] for row in rows} <= KNOWN_SEGMENTS),
    "segment of another place": written(TABLE, follows(r"LX\*", r"SV[13]\*")),
    "city before street": written(TABLE, follows(r"N3\*", r"N4\*")),
    "lower case": (
        fixed(
            MEDICAL, {"F33_BillingProviderNameLast": "Fernhill"}, "F33_BillingProviderNameLast",
            has("NM1*85*2*FERNHILL"),
        ),
        fixed(
            DENTAL, {"F48_BillingDentistLastName": "Fernhill"}, "F48_BillingDentistLastName",
            has("NM1*85*2*FERNHILL"),
        ),
    ),
    "name too long": both("F02_PatientNameLast", "F20_PatientLastName", LONG, CHILD),
    "day that is none": both("F03_PatientDob", "F13_InsuredDOB", "1985-02-31"),
    "date with slashes": both(f"{L0}F24A_DateOfServiceFrom", f"{T0}F24_DateOfServiceFrom", "02/10/2025"),
    "amount with a currency sign": both("F29_PatientAmountPaid", "X12_PatientAmountPaid", "$10"),
    "amount with parts of a cent": both("F29_PatientAmountPaid", "X12_PatientAmountPaid", 10.005),
    "amount of eleven digits": both("F29_PatientAmountPaid", "X12_PatientAmountPaid", 123456789.01),
    "character outside the set": (
        *both("F19_ClaimSupplementalInfoNoteText", "F35_Remarks", "\u674e"),
    ),
    "letter of another language": (
        fixed(
            MEDICAL, {"F19_ClaimSupplementalInfoNoteText": "CAF\u00c9"}, "F19_ClaimSupplementalInfoNoteText",
            has("NTE*ADD*CAFE"),
        ),
        fixed(DENTAL, {"F35_Remarks": "CAF\u00c9"}, "F35_Remarks", has("NTE*ADD*CAFE")),
    ),
    "note too long": both("F19_ClaimSupplementalInfoNoteText", "F35_Remarks", "A" * 81),
    # Header.
    "batch number of 31 characters": written(HEADER, each("BHT", 3, ".{1,30}")),
    "wrong order of levels": written(HEADER, each("BHT", 1, "0019")),
    "wrong purpose": written(HEADER, each("BHT", 2, "00")),
    "wrong type of transaction": written(HEADER, each("BHT", 6, "CH")),
    "short date in the header": written(HEADER, each("BHT", 4, r"20\d{6}")),
    "no BHT": written(HEADER, follows(r"ST\*", r"BHT\*")),
    "no submitter contact": written(HEADER, follows(r"NM1\*41\*", r"PER\*IC\*")),
    "formatted telephone number": (
        fixed(
            MEDICAL, {"F33_BillingProviderPhoneNumber": "(503) 555-0144"}, "F33_BillingProviderPhoneNumber",
            said(r"PER\*IC\*.*\*TE\*5035550144"),
        ),
        fixed(
            DENTAL, {"F52_BillingDentistPhone": "(503) 555-0144"}, "F52_BillingDentistPhone",
            said(r"PER\*IC\*.*\*TE\*5035550144"),
        ),
        m({"F33_BillingProviderPhoneNumber": "(503) 555"}, "F33_BillingProviderPhoneNumber"),
    ),
    "no receiver": written(HEADER, has("NM1*40")),
    # Hierarchy.
    "level number left out": written(TREE, levels_are_right),
    "wrong parent": written(TREE, levels_are_right),
    "child announced and missing": written(TREE, levels_are_right, base=OWN),
    "child not announced": written(TREE, levels_are_right),
    "patient level under a subscriber who is the patient": (
        m({"F06_PatientRelationshipToInsured": "Self"}, "F02_PatientNameFirst", CHILD),
        d({"F18_PatientRelationship": "Self"}, "F20_PatientFirstName", CHILD),
    ),
    "claim under a subscriber who is not the patient": (
        m(
            {"F06_PatientRelationshipToInsured": "", "F02_PatientNameFirst": "Milo"},
            "F06_PatientRelationshipToInsured",
        ),
        d({"F18_PatientRelationship": ""}, "F18_PatientRelationship"),
        m({"F06_PatientRelationshipToInsured": "Neighbor"}, "F06_PatientRelationshipToInsured"),
    ),
    "self as a patient's relationship": written(
        "A patient who is the insured has no level of its own.", each("PAT", 1, "19")
    ),
    "no payer": both("Svc_PayerId", "Svc_PayerId", ...),
    "no patient segment": written(TREE, follows(r"HL\*\d+\*\d+\*23", r"PAT\*")),
    # People.
    "own patient without birth date and sex": both("F03_PatientDob", "F13_InsuredDOB", ...),
    "own patient without street": both("F07_InsuredAddress1", "F12_InsuredAddress", ...),
    "own patient without city": both("F07_InsuredCity", "F12_InsuredCity", ...),
    "dependent without birth date and sex": both("F03_PatientDob", "F20_PatientDOB", ..., CHILD),
    "sex that is no code": both("F03_PatientSex", "F14_InsuredSex", "Q"),
    "birth after the claim": (
        m({"F03_PatientDob": FUTURE, "F11A_InsuredDob": FUTURE}, "F03_PatientDob"),
        d({"F13_InsuredDOB": FUTURE}, "F13_InsuredDOB"),
    ),
    "no member number": both("F01A_InsuredId", "F15_InsuredID", " "),
    "no payer id": both("Svc_PayerId", "Svc_PayerId", ""),
    "kind of insurance that is no code": (
        m({"F01_ClaimType": "XX"}, "F01_ClaimType"),
        *written(TABLE, each("SBR", 9, "[A-Z0-9]{2}"), D),
    ),
    "two payers in the same place": written(
        "The earlier payer is the first one and this payer the second; no field says otherwise.",
        lambda rows: sorted(row[1] for row in all_of(rows, "SBR")) == ["P", "S"],
    ),
    "state that is none": both("F05_PatientState", "F12_InsuredST", "XX"),
    "no state": both("F05_PatientState", "F12_InsuredST", None),
    "ZIP code of four digits": both("F05_PatientZip", "F12_InsuredZip", "9730"),
    # Providers.
    "NPI with a wrong check digit": both("X12_RenderingNPI", "F53_TreatingDentistNPI", "1679576721"),
    "NPI of nine digits": both("X12_RenderingNPI", "F53_TreatingDentistNPI", "167957672"),
    "no tax number": both("F25_FederalTaxIdEin", "F51_BillingDentistTaxID", ...),
    "two tax numbers": (
        *written(
            "Of two numbers the EIN is sent.",
            lambda rows: bool(all_of(rows, "REF*EI")) and not all_of(rows, "REF*SY"),
            M, changes={"F25_FederalTaxIdSsn": "219099999"},
        ),
        *written("A dental claim has one field for it.", hasnt("REF*SY"), D),
    ),
    "tax number of eight digits": both("F25_FederalTaxIdEin", "F51_BillingDentistTaxID", "12345678"),
    "billing ZIP code of five digits": (
        fixed(
            MEDICAL, {"F33_BillingProviderZip": "97201"}, "F33_BillingProviderZip",
            has("N4*PORTLAND*OR*972019998"),
        ),
        fixed(
            DENTAL, {"F48_BillingDentistZip": "97201"}, "F48_BillingDentistZip",
            has("N4*PORTLAND*OR*972019998"),
        ),
    ),
    "box as the billing address": both(
        "F33_BillingProviderAddress1", "F48_BillingDentistAddress", "PO Box 12"
    ),
    "malformed taxonomy": both("X12_RendProviderTaxonomyCode", "F56a_DentistSpecialtyCode", "207R"),
    "taxonomy qualifier of 4010": written(TABLE, each("PRV", 2, "PXC")),
    "organization with a first name": (
        *written(
            "A billing provider with a first name is a person.", has("NM1*85*1"), M,
            changes={"F33_BillingProviderNameFirst": "Oskar"},
        ),
        *written(
            "A billing dentist with a first name is a person.", has("NM1*85*1"), D,
            changes={"F48_BillingDentistFirstName": "Nora"},
        ),
    ),
    "no billing address": both("F33_BillingProviderAddress1", "F48_BillingDentistAddress", ...),
    # The claim.
    "total that is not the sum of lines": both("F28_TotalCharge", "F32_TotalFee", 251),
    "claim number twice": written(
        "Where another living claim has the account number, CLM01 is our own number.",
        lambda rows: len({row[1] for row in all_of(rows, "CLM")}) == 2,
        changes={"F26_PatientAcctNumber": "ACCT100", "F23_PatientID": "ACCT100"},
    ),
    "claim number of 39 characters": written(
        "An account number of more than 20 characters is not CLM01; ours is.", each("CLM", 1, ".{1,20}"),
        changes={"F26_PatientAcctNumber": "A" * 39, "F23_PatientID": "A" * 39},
    ),
    "claim number of 21 characters": written(
        "An account number of more than 20 characters is not CLM01; ours is.", each("CLM", 1, ".{1,20}"),
        changes={"F26_PatientAcctNumber": "A" * 21, "F23_PatientID": "A" * 21},
    ),
    "place of another kind of bill": written(TABLE, each("CLM", 5, r"\d\d:B:\d")),
    "place of service that is none": both(f"{L0}F24B_PlaceOfServiceCode", "F38_PlaceOfTreatment", "98"),
    "signature that is neither yes nor no": (
        m({"F31_PhysicianOrSupplierSignatureIsOnFile": "X"}, "F31_PhysicianOrSupplierSignatureIsOnFile"),
        *written(
            "The signature's text is read as yes or no.", each("CLM", 6, "[YN]"), D,
            changes={"F53_TreatingDentistSignature": "X"},
        ),
    ),
    "assignment that is no code": (
        m({"F27_AcceptAssignment": "X"}, "F27_AcceptAssignment"),
        *written(TABLE, each("CLM", 7, "[ABC]"), D),
    ),
    "release of information refused": both("F12_PatientAuthorization", "F36_PatientSignature", "No"),
    "replacement without the payer's number": (
        m({"F22_MedicaidResubmissionCode": "7"}, "F22_OriginalReferenceNumber"),
        d({"X12_ClaimFrequencyCode": "7"}, "X12_PayerControlNumber"),
    ),
    "accident without its day": both("F15_AccidentDate", "F46_AccidentDate", ..., CHILD),
    "car accident without a state": both(
        "F10B_PatientCondAutoAccidentState", "F47_AutoAccidentState", ..., CHILD
    ),
    "attachment without a number": (
        d({"X12_AttachmentControlNumber": ...}, "X12_AttachmentControlNumber"),
        *written("A medical claim has no field for attachments.", hasnt("PWK"), M),
    ),
    "patient paid nothing": written(
        "A zero is not sent.", hasnt("AMT*F5"),
        changes={"F29_PatientAmountPaid": 0, "X12_PatientAmountPaid": "0.00"},
    ),
    "reference with a placeholder": both("F23_PriorAuthorizationNumber", "F02_PriorAuthNum", "NONE"),
    "note of a claim in a line": written(TABLE, hasnt("NTE*CER"), M),
    "reference with no place": written(TABLE, each("REF*D9", 2, "C0+[12]")),
    "frequency that is none": both("F22_MedicaidResubmissionCode", "X12_ClaimFrequencyCode", "L"),
    "exception of authorization that is none": written(TABLE, hasnt("REF*4N")),
    "crossover that is neither yes nor no": written(TABLE, hasnt("REF*F5"), M),
    "billing provider's number at the payer twice": written(
        TABLE, lambda rows: len(all_of(rows, "REF*G2") + all_of(rows, "REF*LU")) < 2, D
    ),
    # Diagnoses.
    "no diagnosis": (m({"F21_DiagnosisCodes": []}, "F21_DiagnosisCodes"),),
    "ICD with a dot": (
        fixed(
            MEDICAL, {"F21_DiagnosisCodes": ["E11.9", "I10"]}, "F21_DiagnosisCodes",
            has("HI*ABK:E119*ABF:I10"),
        ),
        fixed(
            DENTAL, {"F34a_DiagnosisCode": "K02.9,K05.30"}, "F34a_DiagnosisCode",
            has("HI*ABK:K029*ABF:K0530"),
        ),
    ),
    "ICD-10 under BK": both("F21_IcdIndicator", "F34_DiagnosiseCodeQualifier", "9"),
    "ICD-9 today": (
        m({"F21_IcdIndicator": "9", "F21_DiagnosisCodes": ["25000", "4019"]}, "F21_IcdIndicator"),
        d(
            {"F34_DiagnosiseCodeQualifier": "B", "F34a_DiagnosisCode": "52100,52300"},
            "F34_DiagnosiseCodeQualifier",
        ),
    ),
    "two ICD versions": (
        m({"F21_DiagnosisCodes": ["E119", "4019"]}, "F21_DiagnosisCodes[1]"),
        d({"F34a_DiagnosisCode": "K029,4019"}, "F34a_DiagnosisCode"),
    ),
    "second diagnosis as principal": written(
        TABLE, lambda rows: [cell[:4] for cell in one(rows, "HI")[1:]] == ["ABK:", "ABF:"]
    ),
    "other diagnosis first": (m({"F21_DiagnosisCodes": [None, "I10"]}, "F21_DiagnosisCodes[0]"),),
    "thirteen diagnoses": (
        m({"F21_DiagnosisCodes": [f"M54{n}" for n in range(10, 23)]}, "F21_DiagnosisCodes"),
    ),
    "five diagnoses of teeth": (
        d({"F34a_DiagnosisCode": "K029,K0530,K021,K022,K023"}, "F34a_DiagnosisCode"),
    ),
    "pointer past the last diagnosis": (
        m({f"{L0}F24E_DiagnosisPointers": ["A", "C"]}, f"{L0}F24E_DiagnosisPointers[1]"),
        d({f"{T0}F29a_DiagnosisPointer": "AC"}, f"{T0}F29a_DiagnosisPointer"),
    ),
    "five pointers": (
        m({f"{L0}F24E_DiagnosisPointers": ["A", "B", "A", "B", "A"]}, f"{L0}F24E_DiagnosisPointers"),
    ),
    "pointer as a letter": written(
        "Letters become the numbers of the diagnoses.", each("SV1", 7, r"\d+(:\d+)*"), M
    ),
    "no pointer": (m({f"{L0}F24E_DiagnosisPointers": ...}, f"{L0}F24E_DiagnosisPointers"),),
    # Lines.
    "gap in line numbers": written(TREE, lines_count_up),
    "line control number twice": both(
        f"{L1}X12_ProviderControlNumber", f"{T1}X12_LineControlNumber", "A100L1"
    ),
    "fifth modifier": (m({f"{L0}F24D_Modifiers": "25,59,76,LT,RT"}, f"{L0}F24D_Modifiers"),),
    "modifier of three characters": (m({f"{L0}F24D_Modifiers": "255"}, f"{L0}F24D_Modifiers"),),
    "procedure of four characters": (
        m({f"{L0}F24D_HcpcsProcedureCode": "9921"}, f"{L0}F24D_HcpcsProcedureCode"),
        d({f"{T0}F29_ProcedureCode": "D239"}, f"{T0}F29_ProcedureCode"),
    ),
    "procedure of another list": (d({f"{T0}F29_ProcedureCode": "99213"}, f"{T0}F29_ProcedureCode"),),
    "medical procedure in a dental claim": written(TABLE, each("SV3", 1, r"AD:D\d{4}.*"), D),
    "unlisted procedure without a description": (
        m({f"{L1}F24D_HcpcsProcedureCode": "99499"}, f"{L1}X12_Description"),
        d({f"{T1}F29_ProcedureCode": "D4999"}, f"{T1}F30_Description"),
    ),
    "unit that is none": written("Units are UN, minutes of anesthesia MJ.", each("SV1", 3, "UN|MJ"), M),
    "no units": both(f"{L1}F24G_DaysOrUnits", f"{T1}F29b_Quantity", 0),
    "units of nine digits": (m({f"{L1}F24G_DaysOrUnits": 123456789}, f"{L1}F24G_DaysOrUnits"),),
    "units with four decimals": (m({f"{L1}F24G_DaysOrUnits": 1.2345}, f"{L1}F24G_DaysOrUnits"),),
    "emergency indicator N": written(
        "A no is not sent.", lambda rows: all(len(row) < 10 for row in all_of(rows, "SV1")), M,
        changes={f"{L0}F24C_Emg": False},
    ),
    "line without a service": both(f"{L1}F24D_HcpcsProcedureCode", f"{T1}F29_ProcedureCode", ...),
    "line without its number": written(TREE, lines_count_up),
    "no service date": both(f"{L1}F24A_DateOfServiceFrom", f"{T1}F24_DateOfServiceFrom", ...),
    "period that runs backwards": both(
        f"{L0}F24A_DateOfServiceTo", f"{T0}F24_DateOfServiceTo", "2025-02-01"
    ),
    "period of a dental line": (
        d({f"{T0}F24_DateOfServiceTo": "2025-02-11"}, f"{T0}F24_DateOfServiceTo"),
    ),
    "period with one day": (
        *written(
            "A period of one day is written as that day.", has("DTP*472*D8*20250210"), M,
            changes={f"{L0}F24A_DateOfServiceTo": "2025-02-10"},
        ),
        *written(
            "A period of one day is written as that day.", has("DTP*472*D8*20250210"), D,
            changes={f"{T0}F24_DateOfServiceTo": "2025-02-10"},
        ),
    ),
    "service after the claim": both(f"{L0}F24A_DateOfServiceFrom", f"{T0}F24_DateOfServiceFrom", FUTURE),
    "drug code of ten digits": (m({f"{L0}X12_NdcCode": "0002323330"}, f"{L0}X12_NdcCode", CHILD),),
    "drug code with hyphens": (
        fixed(
            MEDICAL, {f"{L0}X12_NdcCode": "00002-3233-30"}, f"{L0}X12_NdcCode",
            has("LIN**N4*00002323330"), CHILD,
        ),
    ),
    "drug unit that is none": written("The field says the unit.", each("CTP", 5, "ML"), M),
    "drug without quantity": (
        m({f"{L0}X12_DrugQuantityMilliliters": ...}, f"{L0}X12_NdcQuantity", CHILD),
    ),
    # Teeth.
    "surface twice": (d(teeth("14", "M", "M"), SURFACES),),
    "surface that is none": (d(teeth("14", "M", "X"), f"{SURFACES}[1]"),),
    "tooth that is none": (d(teeth("99", "M", "O"), f"{T0}Teeth[0].F27_Tooth"),),
    "quadrant as a tooth": (d(teeth("UR", "M", "O"), f"{T0}Teeth[0].F27_Tooth"),),
    "area of the mouth that is none": (
        d({f"{T1}F25_AreaOfOralCavity": ["99"]}, f"{T1}F25_AreaOfOralCavity[0]"),
    ),
    "replacement without the earlier day": (
        d({"F44_ProsthesisDateOfPriorPlacement": ...}, "F44_ProsthesisDateOfPriorPlacement", CHILD),
    ),
    "prosthesis that is no code": (d({"F43_Prosthesis": "X"}, "F43_Prosthesis", CHILD),),
    "predetermination with a service date": written(
        "A predetermination's service dates are not sent.", hasnt("DTP*472"), D, base=OWN,
        changes={"F01_TypeOfTransaction": "Predetermination"},
    ),
    "missing tooth without its numbering": written(TABLE, each("DN2", 6, "JP"), D),
    "missing tooth twice": (d({"F33_MissingTeeth": ["17", "17"]}, "F33_MissingTeeth"),),
    "orthodontics without the day of placement": (
        d({"F41_DateAppliancePlaced": ...}, "F41_DateAppliancePlaced"),
    ),
    "more months left than there are": written(
        "A claim has one field of months, those in all.", lambda rows: len(one(rows, "DN1")) == 2, D, base=OWN
    ),
    # Other payers.
    "adjustment mark that is none": written(TABLE, hasnt("REF*T4")),
    "line bundled into one that is not there": written(
        TABLE, lambda rows: all(len(row) < 7 for row in all_of(rows, "SVD"))
    ),
    "no other insurance segment": written(TABLE, has("OI")),
    "no other payer": both("X12_OtherPayerName", "F11_OtherPayerName", ..., CHILD),
    "no other subscriber": both("F09_OtherInsuredNameLast", "F05_OtherInsuredLastName", ..., CHILD),
    "adjustment group that is none": (
        d(
            adjusted(X12_AdjustmentGroupCode="XX"), f"{T1}Adjustments[0].X12_AdjustmentGroupCode", CHILD
        ),
        *written("The field says the group.", each("CAS", 1, "CO|CR|OA|PI|PR"), M),
    ),
    "reason that does not exist": (
        m(
            {f"{L0}X12_LineContractualObligationAdjustments": "999:30"},
            f"{L0}X12_LineContractualObligationAdjustments", CHILD,
        ),
        d(
            adjusted(X12_AdjustmentReasonCode="999"), f"{T1}Adjustments[0].X12_AdjustmentReasonCode", CHILD
        ),
    ),
    "adjustment without an amount": (
        m(
            {f"{L0}X12_LineContractualObligationAdjustments": "45:"},
            f"{L0}X12_LineContractualObligationAdjustments", CHILD,
        ),
        d(adjusted(X12_AdjustmentAmount=None), f"{T1}Adjustments[0].X12_AdjustmentAmount", CHILD),
    ),
    "line out of balance": (
        m({f"{L1}X12_LinePatientResponsibilityAdjustments": "1:39"}, f"{L1}X12_PrimaryPayerPaidAmount", CHILD),
        d(adjusted(X12_AdjustmentAmount="39"), f"{T1}X12_PrimaryPaidAmount", CHILD),
    ),
    "claim out of balance": (
        m({"X12_ClaimPrimaryPayerPaidAmount": 121}, "X12_ClaimPrimaryPayerPaidAmount", CHILD),
        *written("A dental claim's paid amount is the sum of its lines.", each("AMT*D", 2, "120"), D),
    ),
    "decided claim without a paid amount": written(
        "Where the claim does not say it, the paid amount is the sum of the lines.", each("AMT*D", 2, "120"),
        changes={"X12_ClaimPrimaryPayerPaidAmount": ...},
    ),
    "line decided by a payer the claim does not have": written(
        "Every decision is the one other payer's.",
        lambda rows: {row[1] for row in all_of(rows, "SVD")} <= {row[9] for row in all_of(rows, "NM1*PR")},
    ),
    "minutes of an office visit": (
        m({f"{L1}X12_Anesthesia": True, f"{L1}F24G_DaysOrUnits": 30}, f"{L1}X12_Anesthesia"),
    ),
    "decision without a day": (
        m(
            {f"{L1}X12_AdjudicationOrPaymentDate": ...}, f"{L1}X12_AdjudicationOrPaymentDate", CHILD
        ),
        d({f"{T1}X12_AdjudicationDate": ...}, f"{T1}X12_AdjudicationDate", CHILD),
    ),
    "decision with two days": (
        *written(
            "Days of lines and a day of the claim are not sent together.",
            lambda rows: len(all_of(rows, "DTP*573")) == 2, M,
            changes={"X12_ClaimAdjudicationDate": "2025-03-03"},
        ),
        *written("A dental claim has days of lines only.", lambda rows: len(all_of(rows, "DTP*573")) == 2, D),
    ),
    "adjustments of a group in two segments": (
        *written(
            "A group is one field and one segment.", has("CAS*CO*45*20**97*10"), M,
            changes={f"{L0}X12_LineContractualObligationAdjustments": "45:20,97:10"},
        ),
        *written(
            "Adjustments of one group are gathered in one segment.",
            lambda rows: [row[1] for row in all_of(rows, "CAS")] == ["PR", "PR"], D,
            changes={
                f"{T0}Adjustments": [
                    {"X12_AdjustmentGroupCode": "PR", "X12_AdjustmentReasonCode": "1", "X12_AdjustmentAmount": "30"},
                    {"X12_AdjustmentGroupCode": "PR", "X12_AdjustmentReasonCode": "2", "X12_AdjustmentAmount": "10"},
                ]
            },
        ),
    ),
}  # fmt: skip

# Kinds of fault that a claim may have and still be accepted; each says why.
NOT_CAUGHT: Mapping[str, tuple[Case, str]] = {
    "person without a first name": (
        m({"F17_ReferringProviderNameLast": "Fenn"}, "F17_ReferringProviderNameFirst"),
        "The interface asks for no first name of a provider, and payers take the last name alone.",
    ),
    "anesthesia in units": (
        m({f"{L1}F24D_HcpcsProcedureCode": "00400"}, f"{L1}X12_Anesthesia"),
        "The mark of anesthesia is the caller's word: some payers count base units.",
    ),
    "inpatient without an admission": (
        m({f"{L1}F24B_PlaceOfServiceCode": "21"}, "F18_HospitalizationDateFrom"),
        "A warning (C808): only visits need the day, and the claim does not say what is one.",
    ),
    "occlusal face of an incisor": (
        d(teeth("8", "M", "O"), f"{SURFACES}[1]"),
        "A warning (D101): which surfaces a tooth has is an edit of payers, not of the guide.",
    ),
}

# The faults that no other validator at hand finds in a file: our own rules must.
OURS_ALONE = (
    "ICD with a dot", "ICD-10 under BK", "pointer past the last diagnosis", "NPI with a wrong check digit",
    "NPI of nine digits", "lower case", "billing ZIP code of five digits", "box as the billing address",
    "patient level under a subscriber who is the patient", "formatted telephone number",
    "own patient without birth date and sex", "own patient without street", "own patient without city",
    "fifth modifier", "replacement without the payer's number", "line out of balance",
    "reason that does not exist", "line decided by a payer the claim does not have", "claim number twice",
    "state that is none", "malformed taxonomy",
)  # fmt: skip
CAUGHT_MIN, KINDS_MIN = 155, 159

# --- putting it together ----------------------------------------------------------------------------------------


def changed(claim: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a claim with other values; ``...`` takes a field away."""
    copy = deepcopy(claim)
    for path, value in changes.items():
        inside = re.fullmatch(r"(\w+)\[(\d+)\]\.(\w+)", path)
        part, name = (copy[inside[1]][int(inside[2])], inside[3]) if inside else (copy, path)
        if value is ...:
            part.pop(name, None)
        else:
            part[name] = value
    return copy


def good(kind: AnyForm, base: str) -> dict[str, Any]:
    own = GOOD[kind, OWN]
    return changed(own, CHILDREN[kind]) if base == CHILD else deepcopy(own)


def given(case: Case) -> dict[str, Any]:
    """The claim of a case. Changes of fields that its kind does not have are of the other kind."""
    known = case.kind.claim.model_fields
    own = {path: value for path, value in case.changes.items() if path.partition("[")[0] in known}
    return changed(good(case.kind, case.base), own)


class Answer(NamedTuple):
    """What the server says of a document with one claim."""

    malformed: dict[str, str]
    checked: CheckedClaim | None

    @property
    def refused_at(self) -> set[str]:
        if self.malformed:
            return set(self.malformed)
        errors = (f for f in self.checked.findings if f.severity is Severity.ERROR)
        return {finding.location for finding in errors}


def answer(kind: AnyForm, claim: dict[str, Any]) -> Answer:
    document = {"DocumentType": kind.document_type, "Claims": [claim]}
    submission = open_document(json.dumps(document).encode(), kind)
    (read,) = submission.read(0, 1)
    assert submission.ignored_fields == read.ignored_fields == ()
    found = (*submission.findings, *read.findings)
    if found:
        return Answer({finding.location: finding.message for finding in found}, None)
    facts = RuleInputs(today=TODAY, payer=PAYERS[kind])
    return Answer({}, repair_and_check(read.claim, facts, at="Claims[0]"))


def sent(kind: AnyForm, *claims: dict[str, Any]) -> bytes:
    """The interchange of accepted claims. An account number that an earlier one has is not taken again."""
    outs, taken = [], set()
    for number, claim in enumerate(claims, 1):
        result = answer(kind, claim)
        assert result.refused_at == set()
        account = claim.get("F26_PatientAcctNumber") or claim.get("F23_PatientID")
        outs.append(
            OutgoingClaim(
                claim=result.checked.claim, number=f"C{number:018}", payer_id="MM001",
                account_as_number=account not in taken,
            )
        )  # fmt: skip
        taken.add(account)
    return write(outs)


def rows_of(data: bytes) -> list[Row]:
    return [segment.strip().split("*") for segment in data.decode().split("~")][:-1]


@cache
def rules_of(name: str, kind: AnyForm) -> frozenset[str]:
    """What the checker calls the fault in a file."""
    return frozenset(
        fault.rule for fault in FAULTS if fault.name == name and KINDS_OF_FILE[kind] in fault.kinds
    )


def cases():
    for name, rows in TABLE_OF_FAULTS.items():
        for at, case in enumerate(rows):
            yield pytest.param(name, case, id=f"{name}-{case.kind}-{at}")


@pytest.mark.parametrize("kind", V3_FORMS)
@pytest.mark.parametrize("base", [OWN, CHILD])
def test_the_good_claims_are_accepted_and_their_file_is_clean(kind, base):
    result = answer(kind, good(kind, base))
    assert result.refused_at == set()
    # Of what an earlier payer left the patient it is recorded that it was computed.
    assert {f.rule for f in result.checked.findings} == ({"C765"} if base == CHILD else set())
    assert check(sent(kind, good(kind, base))).findings == ()


def test_every_kind_of_fault_is_in_the_table():
    named = {fault.name for fault in FAULTS}
    assert TABLE_OF_FAULTS.keys() | NOT_CAUGHT.keys() == named
    assert TABLE_OF_FAULTS.keys().isdisjoint(NOT_CAUGHT)
    for name in named - NOT_CAUGHT.keys():
        files = {kind for fault in FAULTS if fault.name == name for kind in fault.kinds}
        result = {KINDS_OF_FILE[case.kind] for case in TABLE_OF_FAULTS[name]}
        assert files <= result, name


def test_enough_kinds_are_caught_and_all_that_only_we_can_catch():
    assert len(TABLE_OF_FAULTS) + len(NOT_CAUGHT) >= KINDS_MIN
    assert len(TABLE_OF_FAULTS) >= CAUGHT_MIN
    assert len(NOT_CAUGHT) <= KINDS_MIN - CAUGHT_MIN
    assert set(OURS_ALONE) <= TABLE_OF_FAULTS.keys()
    # Most are caught because somebody says so, not because no field can express them.
    ends = Counter(rows[0].end for rows in TABLE_OF_FAULTS.values())
    assert ends["refused"] > ends["written"] > ends["repaired"]


@every_case(("name", "case"), list(cases()))
@pytest.mark.slow
def test_a_fault_ends_as_the_table_says(name, case):
    claim = given(case)
    result = answer(case.kind, claim)
    if case.end == "refused":
        assert f"Claims[0].{case.at}" in result.refused_at
        return
    assert result.refused_at == set()
    if case.end == "repaired":
        assert any(repair.field.startswith(case.at) for repair in result.checked.repairs)
    data = sent(case.kind, claim)
    if name == "claim number twice":
        data = sent(case.kind, good(case.kind, OWN), claim)
    assert case.holds(rows_of(data))
    verdict = check(data)
    assert verdict.errors == 0
    assert rules_of(name, case.kind).isdisjoint(finding.rule for finding in verdict.findings)


@pytest.mark.parametrize("name", NOT_CAUGHT)
def test_what_is_not_caught_is_accepted_and_has_a_reason(name):
    case, reason = NOT_CAUGHT[name]
    assert answer(case.kind, given(case)).refused_at == set()
    assert reason.endswith(".")
