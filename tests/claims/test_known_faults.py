"""Claims with one known fault each, as JSON and as a file: every fault is found, and nothing else is.

The faults are those that payers and clearinghouses publish. A row names the rule that finds it, and others that find what
follows from it: a claim rule, or one of the engine if the guide itself forbids the fault.
"""

import json
from datetime import date
from typing import NamedTuple

import pytest

from clearlane.claims.forms import FORMS, V3_DENTAL, V3_MEDICAL, AnyForm
from clearlane.claims.forms.samples import minimal_claim
from clearlane.claims.read import decode
from clearlane.claims.rules import RULES, RuleInputs, repair_and_check
from clearlane.claims.rules.file_findings import FileFindings
from clearlane.kernel.finding import Severity
from clearlane.x12.checker.check import check
from tests.claims.institutional_faults import FAULTS
from tests.claims.outgoing import outgoing, stored, written

SERVICE, TODAY = date(2026, 4, 10), date(2026, 4, 15)
MEDICAL_CLAIM = {
    **minimal_claim(V3_MEDICAL, SERVICE),
    "F01_ClaimType": "Group",
    "F33A_BillingProviderNpi": "1234567893",
    "F33_BillingProviderZip": "787011234",
    "F33_BillingProviderPhoneNumber": "5125550142",
    "F33B_BillingProviderTaxonomyCode": "207Q00000X",
    "X12_RendProviderNameLast": "Fenn",
    "X12_RendProviderNameFirst": "Oskar",
    "X12_RenderingNPI": "1679576722",
    "F17_ReferringProviderNameLast": "Birch",
    "F17_ReferringProviderNameFirst": "Nora",
    "F17B_ReferringProviderNpi": "1000000012",
    "F22_MedicaidResubmissionCode": "1",
}
DENTAL_CLAIM = {
    **minimal_claim(V3_DENTAL, SERVICE),
    "F48_BillingDentistNPI": "1234567893",
    "F48_BillingDentistZip": "787011234",
}
CLAIMS = {V3_MEDICAL: MEDICAL_CLAIM, V3_DENTAL: DENTAL_CLAIM}


def of_json(form: AnyForm, changes: dict):
    claim = dict(CLAIMS[form])
    lines = [dict(line) for line in claim[form.lines_field]]
    for name, value in changes.items():
        where = lines[0] if name in lines[0] or name.startswith("line.") else claim
        where[name.removeprefix("line.")] = value
    claim[form.lines_field] = lines * changes.get("lines", 1)
    read = decode.read_claim(form, json.dumps(claim).encode(), "")
    if read.claim is None:
        return read.findings
    inputs = RuleInputs(today=TODAY, available=frozenset())
    return [*read.findings, *repair_and_check(read.claim, inputs).findings]


def file_of(form: AnyForm) -> str:
    return written([outgoing(stored(form, CLAIMS[form]))]).decode()


def of_file(form: AnyForm, edits: dict[str, str]):
    text = file_of(form)
    for old, new in edits.items():
        assert old in text, (old, text.replace("~", "~\n"))
        text = text.replace(old, new)
    rows = text.split("~")
    first = next(at for at, row in enumerate(rows) if row.startswith("ST*"))
    last = next(at for at, row in enumerate(rows) if row.startswith("SE*"))
    rows[last] = f"SE*{last - first + 1}*{rows[last].split('*')[2]}"
    found = check("~".join(rows).encode(), findings_of=FileFindings(TODAY)).findings
    return [each for each in found if each.severity is not Severity.INFO]


E, W = Severity.ERROR, Severity.WARNING
M, D = V3_MEDICAL, V3_DENTAL


class Fault(NamedTuple):
    """A form, what is changed in its clean claim, the severity, and the rules that may name the fault."""

    form: AnyForm
    changes: dict
    severity: Severity
    rules: str


LX = "LX*1~"
BILLING = "N4*AUSTIN*TX*787011234"
CLAIM = "CLM*C000000000000000001*100***11:B:1*Y*C*N*Y"
DENTAL = "CLM*C000000000000000001*95***11:B:1*Y*C*N*Y"
SELF = "NM1*IL*1*ARDEN*ROSA****MI*II4711"
LINE = "SV1*HC:99213*100*UN*1***1"
DTP = "DTP*472*D8*20260410"


def code(text: str, day: str = "20260410") -> dict:
    return {"HC:99213": f"HC:{text}", DTP: f"DTP*472*D8*{day}"}


def diagnosis(first: str, second: str = "R059") -> dict:
    return {"HI*ABK:J029*ABF:R059": f"HI*ABK:{first}*ABF:{second}"}


def claim_with(rows: str, at: str = "REF*D9*", **more: str) -> dict:
    """Add segments before the first of a kind."""
    return {at: f"{rows}~{at}", **more}


def earlier(
    claim: str = "CAS*PR*1*40~AMT*D*60~",
    line: str = "",
    sbr: str = "SBR*P*18*******CI",
    day="20260412",
    payer="HARBOR",
) -> dict:
    """Add an earlier payer, who decided the claim or its line."""
    dated = f"DTP*573*D8*{day}~" if day else ""
    return {
        "SBR*P*18*******CI": "SBR*S*18*******CI",
        LX: f"{sbr}~{claim}OI***Y***Y~NM1*IL*1*ARDEN*ROSA****MI*HH1~NM1*PR*2*HARBOR*****PI*{payer}~{dated}LX*1~",
        **(
            {"REF*6R*C000000000000000001-1~": f"REF*6R*C000000000000000001-1~{line}"}
            if line
            else {}
        ),
    }


def line_decision(
    paid="60", units="1", adjusted="CAS*PR*1*40~", day="DTP*573*D8*20260412~", more=""
) -> str:
    return f"SVD*HARBOR*{paid}*HC:99213**{units}~{adjusted}{day}{more}"


DECIDED = {"claim": "AMT*D*60~", "day": ""}

FILES: dict[str, Fault] = {
    # codes by the day of service
    "no such diagnosis": Fault(M, diagnosis("J9999"), E, "C503"),
    "a diagnosis that began later": Fault(M, diagnosis("I4200"), E, "C503"),
    "a heading": Fault(M, diagnosis("J45"), E, "C504"),
    "an external cause first": Fault(M, diagnosis("W010XXA"), E, "C508"),
    "a sequela first": Fault(M, diagnosis("S52501S", "M25531"), W, "C522"),
    "a manifestation first": Fault(M, diagnosis("D631", "N189"), E, "C521"),
    "ICD-9 after 2015": Fault(M, {"HI*ABK:J029*ABF:R059": "HI*BK:4659*BF:4660"}, E, "C501"),
    "a diagnosis twice": Fault(M, diagnosis("J029", "J029"), E, "C505"),
    "a CPT code of no range": Fault(M, code("99999"), E, "C614"),
    "a local code of workers' compensation": Fault(
        M, {**code("99999"), "SBR*P*18*******CI": "SBR*P*18*******WC"}, W, "C616"
    ),
    "a CDT code below D0100": Fault(D, {"AD:D1110": "AD:D0099"}, E, "C601"),
    "no CDT code": Fault(D, {"AD:D1110": "AD:99213"}, E, "C601"),
    "a modifier that does not exist": Fault(M, code("99213:48"), W, "C615"),
    "a modifier twice": Fault(M, code("99213:25:25"), E, "C610"),
    "a place of service that does not exist": Fault(M, {"***11:B:1": "***98:B:1"}, E, "ELM-LIST"),
    "a taxonomy of nine characters": Fault(M, {"207Q00000X": "207Q0000X"}, E, "C308"),
    "an NPI with a wrong check digit": Fault(M, {"1679576722": "1679576723"}, E, "C304"),
    "an NDC of ten digits": Fault(
        M,
        {
            "REF*6R*C000000000000000001-1~": "REF*6R*C000000000000000001-1~LIN**N4*0000900110~CTP****1*UN~"
        },
        E,
        "X837-NDC",
    ),
    # people, providers, addresses
    "no NPI and no other id": Fault(
        M, {"FERNHILL FAMILY PRACTICE*****XX*1234567893": "FERNHILL FAMILY PRACTICE"}, E, "C416"
    ),
    "a tax id of eight digits": Fault(M, {"REF*EI*123456789": "REF*EI*12345678"}, E, "C309"),
    "an SSN never given": Fault(M, {"REF*EI*123456789": "REF*SY*666123456"}, E, "C414"),
    "a post office box": Fault(
        M, {"1234567893~N3*12 FERNHILL ROAD": "1234567893~N3*PO BOX 12"}, E, "C401"
    ),
    "a lock box": Fault(
        M, {"1234567893~N3*12 FERNHILL ROAD": "1234567893~N3*LOCKBOX 12"}, E, "C401"
    ),
    "a mail box": Fault(
        M, {"1234567893~N3*12 FERNHILL ROAD": "1234567893~N3*MAIL BOX 12"}, E, "C401"
    ),
    "a billing ZIP of five digits": Fault(M, {BILLING: "N4*AUSTIN*TX*78701"}, W, "VAL-ZIP4"),
    "no such state": Fault(M, {"N4*AUSTIN*TX*78701~": "N4*AUSTIN*ZZ*78701~"}, E, "ELM-LIST"),
    "a ZIP code of another state": Fault(
        M, {"N4*AUSTIN*TX*78701~": "N4*AUSTIN*TX*10001~"}, W, "C431"
    ),
    "a telephone of nine digits": Fault(M, {"5125550142": "512555014"}, E, "C307"),
    "an area code with 1": Fault(M, {"5125550142": "1125550142"}, E, "C307"),
    "an exchange with 0": Fault(M, {"5125550142": "5120550142"}, E, "C307"),
    "a person without a last name": Fault(
        M, {"NM1*IL*1*ARDEN*ROSA": "NM1*IL*1**ROSA"}, E, "ELM-MISSING"
    ),
    "an organization with a first name": Fault(
        M,
        {"NM1*85*2*FERNHILL FAMILY PRACTICE**": "NM1*85*2*FERNHILL FAMILY PRACTICE*ANN*"},
        E,
        "X837-NAME",
    ),
    "a digit in a person's name": Fault(
        M, {"NM1*IL*1*ARDEN*ROSA": "NM1*IL*1*ARDEN*R0SA"}, W, "C209"
    ),
    "a person without a first name": Fault(
        M, {"NM1*IL*1*ARDEN*ROSA": "NM1*IL*1*ARDEN*"}, W, "C210"
    ),
    "a UPIN of another form": Fault(
        M, {"FENN*OSKAR****XX*1679576722": "FENN*OSKAR****XX*1679576722~REF*1G*12345A"}, W, "C906"
    ),
    "the rendering provider supervises": Fault(
        M,
        {
            "FENN*OSKAR****XX*1679576722": "FENN*OSKAR****XX*1679576722~NM1*DQ*1*FENN*OSKAR****XX*1679576722"
        },
        W,
        "C415",
    ),
    "the billing person renders": Fault(
        M,
        {
            "NM1*85*2*FERNHILL FAMILY PRACTICE*****XX*1234567893": "NM1*85*1*FENN*OSKAR****XX*1679576722"
        },
        W,
        "C417",
    ),
    "a referring provider on a line only": Fault(
        M,
        {
            "NM1*DN*1*BIRCH*NORA****XX*1000000012~": "",
            "REF*6R*C000000000000000001-1": "REF*6R*C000000000000000001-1~NM1*DN*1*BIRCH*NORA****XX*1000000012",
        },
        W,
        "C418",
    ),
    "a Medicare number of another form": Fault(
        M, {"SBR*P*18*******CI": "SBR*P*18*******MB"}, W, "C211"
    ),
    "a birth after today": Fault(M, {"19860420": "20270420"}, E, "C205"),
    "a birth after the service": Fault(M, {"19860420": "20260412"}, E, "C803"),
    "a patient of 150": Fault(M, {"19860420": "18760101"}, E, "C206"),
    "a last menstrual period of a man": Fault(
        M, {"D8*19860420*F": "D8*19860420*M", CLAIM: f"{CLAIM}~DTP*484*D8*20260301"}, E, "C809"
    ),
    "a postal code of a country without": Fault(
        M, {"N4*AUSTIN*TX*78701~": "N4*HONG KONG**999077*HK~"}, W, "C432"
    ),
    # dates and money
    "no service day": Fault(M, {f"{DTP}~": ""}, E, "SEG-MISSING"),
    "no service day, dental": Fault(D, {f"{DTP}~": ""}, E, "C812"),
    "a service in the future": Fault(M, {DTP: "DTP*472*D8*20260601"}, E, "C802"),
    "a range backwards": Fault(M, {DTP: "DTP*472*RD8*20260410-20260408"}, E, "C801"),
    "an accident after the service": Fault(
        M, {CLAIM: f"{CLAIM}**OA~DTP*439*D8*20260411"}, E, "C855"
    ),
    "an onset after the service": Fault(M, {CLAIM: f"{CLAIM}~DTP*431*D8*20260411"}, E, "C811"),
    "no admission": Fault(M, {"***11:B:1": "***21:B:1"}, W, "C808"),
    "a charge of 0": Fault(
        M, {CLAIM: CLAIM.replace("*100*", "*0*"), LINE: LINE.replace("*100*", "*0*")}, W, "C703"
    ),
    "charges that do not add up": Fault(M, {LINE: LINE.replace("*100*", "*90*")}, E, "C701"),
    "a negative line charge": Fault(
        M,
        {CLAIM: CLAIM.replace("*100*", "*-100*"), LINE: LINE.replace("*100*", "*-100*")},
        E,
        "C311",
    ),
    "units of 0": Fault(M, {LINE: LINE.replace("UN*1", "UN*0")}, E, "C314"),
    "one unit for a span of days": Fault(M, {DTP: "DTP*472*RD8*20260406-20260410"}, W, "C617"),
    "a line twice": Fault(
        M,
        {CLAIM: CLAIM.replace("*100*", "*200*"), "SE*29": f"LX*2~{LINE}~{DTP}~REF*6R*2~SE*29"},
        W,
        "C612",
    ),
    "a frequency that is none": Fault(M, {"11:B:1": "11:B:4"}, E, "C910"),
    "a replacement without the original": Fault(M, {"11:B:1": "11:B:7"}, E, "C901"),
    "an original with a number of an original": Fault(M, claim_with("REF*F8*PAYER1"), W, "C902"),
    "an attachment by fax without a number": Fault(
        M, {CLAIM: f"{CLAIM}~PWK*OZ*FX"}, E, "X837-ATTACHMENT"
    ),
    "an attachment on request with a number": Fault(
        M, {CLAIM: f"{CLAIM}~PWK*OZ*AA***AC*N1"}, E, "C909"
    ),
    # earlier payers
    "no first payer": Fault(M, {"SBR*P*18*******CI": "SBR*S*18*******CI"}, E, "X837-FIRST-PAYER"),
    "two second payers": Fault(
        M, earlier(sbr="SBR*S*18*******CI"), E, "X837-PAYMENT-ORDER X837-FIRST-PAYER"
    ),
    "no day of decision": Fault(M, earlier(day=""), E, "C753"),
    "days of decision at both levels": Fault(
        M, earlier("AMT*D*60~", line_decision()), E, "X837-COB-DATE"
    ),
    "a decided line that does not balance": Fault(
        M, earlier(**DECIDED, line=line_decision(adjusted="CAS*PR*1*30~")), E, "C754 C755"
    ),
    "a decided claim that does not balance": Fault(M, earlier("CAS*PR*1*30~AMT*D*60~"), E, "C755"),
    "a negative paid amount": Fault(M, earlier("CAS*PR*1*160~AMT*D*-60~"), E, "C768"),
    "a negative paid amount of a line": Fault(
        M,
        earlier("AMT*D*-60~", day="", line=line_decision(paid="-60", adjusted="CAS*PR*1*160~")),
        E,
        "C768",
    ),
    "paid units of 0": Fault(M, earlier(**DECIDED, line=line_decision(units="0")), E, "C769"),
    "an adjustment of 0": Fault(M, earlier("CAS*PR*1*40**2*0~AMT*D*60~"), W, "X837-COB-ZERO"),
    "an adjustment without a reason": Fault(
        M, earlier("CAS*PR**40~AMT*D*60~"), E, "ELM-MISSING C755"
    ),
    "a reason that does not exist": Fault(M, earlier("CAS*PR*999*40~AMT*D*60~"), E, "ELM-LIST"),
    "what is left at both levels": Fault(
        M,
        earlier("AMT*D*60~AMT*EAF*40~", day="", line=line_decision(more="AMT*EAF*40~")),
        E,
        "X837-COB-REST",
    ),
    "Medicare second without a reason": Fault(
        M,
        {**earlier(), "SBR*P*18*******CI": "SBR*S*18*******MB", "II4711": "1EG4TE5MK73"},
        E,
        "X837-MEDICARE",
    ),
    # what common payers want
    "an ambulance without its journey": Fault(
        M, {"***11:B:1": "***41:B:1", **code("A0428")}, W, "C618"
    ),
    "a mammography without certification": Fault(M, code("77067"), W, "C905"),
    "anesthesia in units": Fault(M, code("00170"), W, "C606"),
    "a crown without a tooth": Fault(D, {"AD:D1110": "AD:D2740"}, W, "D119"),
    "an extraction without a tooth": Fault(D, {"AD:D1110": "AD:D7140"}, W, "D119"),
    "a filling without a tooth": Fault(D, {"AD:D1110": "AD:D2392"}, W, "D105"),
    "a filling without a surface": Fault(
        D, {"AD:D1110": "AD:D2392", "REF*6R": "TOO*JP*3~REF*6R"}, W, "D105"
    ),
    "a quadrant without an area": Fault(D, {"AD:D1110": "AD:D4341"}, W, "D107"),
    "orthodontics without months": Fault(D, {"AD:D1110": "AD:D8080"}, W, "X837D-ORTHODONTICS"),
    "a newborn's diagnosis of an adult": Fault(M, diagnosis("J029", "A33"), W, "C523"),
}

L = "line."
JSON: dict[str, Fault] = {
    "no such diagnosis": Fault(M, {"F21_DiagnosisCodes": ["J99.99"]}, E, "C503"),
    "a diagnosis that began later": Fault(M, {"F21_DiagnosisCodes": ["I42.00"]}, E, "C503"),
    "a heading": Fault(M, {"F21_DiagnosisCodes": ["J45"]}, E, "C504"),
    "an external cause first": Fault(M, {"F21_DiagnosisCodes": ["W01.0XXA"]}, E, "C508"),
    "a sequela first": Fault(M, {"F21_DiagnosisCodes": ["S52.501S", "M25.531"]}, W, "C522"),
    "a manifestation first": Fault(M, {"F21_DiagnosisCodes": ["D63.1", "N18.9"]}, E, "C521"),
    "a diagnosis twice": Fault(M, {"F21_DiagnosisCodes": ["J02.9", "J02.9"]}, E, "C505"),
    "a CPT code of no range": Fault(M, {"F24D_HcpcsProcedureCode": "99999"}, E, "C614"),
    "a CDT code below D0100": Fault(D, {"F29_ProcedureCode": "D0099"}, E, "C601"),
    "a modifier that does not exist": Fault(M, {L + "F24D_Modifiers": "48"}, W, "C615"),
    "a modifier twice": Fault(M, {L + "F24D_Modifiers": "25,25"}, E, "C610"),
    "a taxonomy of nine characters": Fault(
        M, {"F33B_BillingProviderTaxonomyCode": "207Q0000X"}, E, "C308"
    ),
    "an NPI with a wrong check digit": Fault(M, {"X12_RenderingNPI": "1679576723"}, E, "C304"),
    "an NDC of ten digits": Fault(
        M, {L + "X12_NdcCode": "0000900110", L + "X12_DrugQuantityUnits": "1"}, E, "C320"
    ),
    "a tax id of eight digits": Fault(M, {"F25_FederalTaxIdEin": "12345678"}, E, "C309"),
    "an SSN never given": Fault(
        M, {"F25_FederalTaxIdEin": None, "F25_FederalTaxIdSsn": "666123456"}, E, "C414"
    ),
    "a post office box": Fault(M, {"F33_BillingProviderAddress1": "PO Box 12"}, E, "C401"),
    "a lock box": Fault(M, {"F33_BillingProviderAddress1": "Lockbox 12"}, E, "C401"),
    "a mail box": Fault(M, {"F33_BillingProviderAddress1": "Mail Box 12"}, E, "C401"),
    "no such state": Fault(M, {"F05_PatientState": "ZZ"}, E, "C305"),
    "a ZIP code of another state": Fault(M, {"F07_InsuredZip": "10001"}, W, "C431"),
    "a telephone of nine digits": Fault(
        M, {"F33_BillingProviderPhoneNumber": "512555014"}, E, "C307"
    ),
    "an area code with 1": Fault(M, {"F33_BillingProviderPhoneNumber": "1125550142"}, E, "C307"),
    "an exchange with 0": Fault(M, {"F33_BillingProviderPhoneNumber": "5120550142"}, E, "C307"),
    "a digit in a person's name": Fault(M, {"F17_ReferringProviderNameFirst": "N0ra"}, W, "C209"),
    "a UPIN of another form": Fault(M, {"X12_RendProviderUpinNumber": "12345A"}, W, "C906"),
    "the rendering provider supervises": Fault(
        M,
        {
            "F17_SupervisingProviderNameLast": "Fenn",
            "F17_SupervisingProviderNameFirst": "Oskar",
            "F17B_SupervisingProviderNpi": "1679576722",
        },
        W,
        "C415",
    ),
    "a Medicare number of another form": Fault(M, {"F01_ClaimType": "Medicare"}, W, "C211"),
    "a birth after today": Fault(
        M, {"F03_PatientDob": "2027-04-20", "F11A_InsuredDob": "2027-04-20"}, E, "C205"
    ),
    "a birth after the service": Fault(
        M, {"F03_PatientDob": "2026-04-12", "F11A_InsuredDob": "2026-04-12"}, E, "C803"
    ),
    "a patient of 150": Fault(
        M, {"F03_PatientDob": "1876-01-01", "F11A_InsuredDob": "1876-01-01"}, E, "C206"
    ),
    "Self with another name": Fault(M, {"F02_PatientNameFirst": "Tessa"}, E, "C201"),
    "a last menstrual period of a man": Fault(
        M,
        {
            "F03_PatientSex": "M",
            "F11A_InsuredSex": "M",
            "F14_LastMenstrualPeriodDate": "2026-03-01",
        },
        E,
        "C809",
    ),
    "no service day, dental": Fault(D, {"F24_DateOfServiceFrom": None}, E, "shape"),
    "a service in the future": Fault(M, {"F24A_DateOfServiceFrom": "2026-06-01"}, E, "C802"),
    "a range backwards": Fault(M, {L + "F24A_DateOfServiceTo": "2026-04-08"}, E, "C801"),
    "an accident after the service": Fault(
        M, {"F10C_PatientCondOtherAccident": True, "F15_AccidentDate": "2026-04-11"}, E, "C855"
    ),
    "an onset after the service": Fault(
        M, {"F14_DateOfCurrentIllnessOrSymptom": "2026-04-11"}, E, "C811"
    ),
    "a charge of 0": Fault(M, {"F28_TotalCharge": "0", "F24F_Charges": "0"}, W, "C703"),
    "charges that do not add up": Fault(M, {"F24F_Charges": "90"}, E, "C701"),
    "a negative line charge": Fault(
        M, {"F28_TotalCharge": "-100", "F24F_Charges": "-100"}, E, "C311"
    ),
    "units of 0": Fault(M, {L + "F24G_DaysOrUnits": "0"}, E, "C314"),
    "one unit for a span of days": Fault(
        M,
        {"F24A_DateOfServiceFrom": "2026-04-06", L + "F24A_DateOfServiceTo": "2026-04-10"},
        W,
        "C617",
    ),
    "a line twice": Fault(M, {"lines": 2, "F28_TotalCharge": "200"}, W, "C612"),
    "a frequency that is none": Fault(M, {"F22_MedicaidResubmissionCode": "4"}, E, "C310"),
    "a replacement without the original": Fault(
        M, {"F22_MedicaidResubmissionCode": "7"}, E, "C901"
    ),
    "an original with a number of an original": Fault(
        M, {"F22_OriginalReferenceNumber": "PAYER1"}, W, "C902"
    ),
    "a mammography without certification": Fault(
        M, {"F24D_HcpcsProcedureCode": "77067"}, W, "C905"
    ),
    "anesthesia in units": Fault(M, {"F24D_HcpcsProcedureCode": "00170"}, W, "C606"),
    "a crown without a tooth": Fault(D, {"F29_ProcedureCode": "D2740"}, W, "D119"),
    "an extraction without a tooth": Fault(D, {"F29_ProcedureCode": "D7140"}, W, "D119"),
    "a filling without a tooth": Fault(D, {"F29_ProcedureCode": "D2392"}, W, "D105"),
    "a quadrant without an area": Fault(D, {"F29_ProcedureCode": "D4341"}, W, "D107"),
    "orthodontics without months": Fault(D, {"F29_ProcedureCode": "D8080"}, W, "D120"),
    "ICD-9 after 2015": Fault(
        M, {"F21_IcdIndicator": "9", "F21_DiagnosisCodes": ["465.9"]}, E, "C501"
    ),
    "a newborn's diagnosis of an adult": Fault(
        M, {"F21_DiagnosisCodes": ["J02.9", "A33"]}, W, "C523"
    ),
    "a place of service that does not exist": Fault(
        M, {"F24B_PlaceOfServiceCode": "98"}, E, "C310"
    ),
    "no admission": Fault(M, {"F24B_PlaceOfServiceCode": "21"}, W, "C808"),
    "a local code of workers' compensation": Fault(
        M, {"F24D_HcpcsProcedureCode": "99999", "F01_ClaimType": "WC"}, W, "C616"
    ),
    "a person without a first name": Fault(
        M,
        {
            "F09_OtherInsuredNameLast": "Lund",
            "X12_OtherInsuredId": "P1",
            "F09_PatientRelationshipToInsured": "Child",
            "X12_OtherPayerName": "Harbor",
        },
        W,
        "C210",
    ),
    "an attachment by fax without a number": Fault(
        D, {"X12_AttachmentReportType": "OZ", "X12_AttachmentTransmissionCode": "FX"}, E, "C907"
    ),
    "an attachment on request with a number": Fault(
        D,
        {
            "X12_AttachmentReportType": "OZ",
            "X12_AttachmentTransmissionCode": "AA",
            "X12_AttachmentControlNumber": "N1",
        },
        E,
        "C909",
    ),
}


def test_the_claims_without_a_fault_are_clean():
    for form in CLAIMS:
        assert not of_json(form, {})
        assert not of_file(form, {})


@pytest.mark.parametrize(("table", "findings_of"), [(JSON, of_json), (FILES, of_file)])
def test_every_known_fault_is_found_and_nothing_else(table, findings_of):
    missed = {}
    for name, fault in table.items():
        found = {(each.rule, each.severity) for each in findings_of(fault.form, fault.changes)}
        first, *others = fault.rules.split()
        rules = {rule for rule, _ in found}
        if (first, fault.severity) not in found or not rules <= {first, *others}:
            missed[name] = found
    assert not missed


def test_a_fault_has_the_same_verdict_in_json_and_in_a_file():
    """Value rules have their own names in the guide's terms; what counts is whether the claim goes out."""
    both = JSON.keys() & FILES.keys()
    assert len(both) > 50
    assert not [name for name in both if JSON[name].severity is not FILES[name].severity]


def test_rules_for_files_alone_say_why_and_are_in_the_table():
    every = (*FILES.values(), *FAULTS.values())
    named = {rule for fault in every for rule in fault.rules.split()}
    for rule in RULES.values():
        if not any(map(rule.applies_to, FORMS.values())):
            assert rule.id in named, rule.id
        assert not rule.not_in_json or rule.not_in_json.endswith("."), rule.id
