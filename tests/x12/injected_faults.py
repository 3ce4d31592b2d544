"""Single faults, each put into a good file: what a careful reader must notice.

``GOOD`` holds one good file of each kind. A row of ``FAULTS`` names the first segment that begins with
``find`` and what replaces it: other segments (separated by ``~``), or nothing. The count in SE01 is
made right again, so that nothing else is wrong, unless the row is about counts.
"""

from dataclasses import dataclass

HEAD = """\
ISA*00*          *00*          *ZZ*CLEARLANE      *ZZ*PAYER          *250301*1200*^*00501*000000017*0*T*:
GS*HC*CLEARLANE*PAYER*20250301*1200*17*X*{guide}
ST*837*0017*{guide}
BHT*0019*00*B00017*20250301*1200*CH
NM1*41*2*CLEARLANE*****46*CLR001
PER*IC*CLAIMS OFFICE*TE*5035550142
NM1*40*2*MEADOW MUTUAL*****46*MM001
HL*1**20*1
PRV*BI*PXC*{taxonomy}
NM1*85*2*{practice}*****XX*1234567893
N3*12 ALDER STREET
N4*PORTLAND*OR*972011234
REF*EI*123456789
PER*IC*FRONT DESK*TE*5035550144
HL*2*1*22*0
SBR*P*18*GRP100******CI
NM1*IL*1*ARDEN*ROSA****MI*M1000001
N3*7 ELM STREET
N4*SALEM*OR*97301
DMG*D8*19850214*F
NM1*PR*2*MEADOW MUTUAL*****PI*MM001
"""
DEPENDENT = """\
HL*3*1*22*1
SBR*S**GRP200******CI
NM1*IL*1*QUILL*TESSA****MI*M2000002
NM1*PR*2*HARBOR HEALTH PLAN*****PI*HH001
HL*4*3*23*0
PAT*19
NM1*QC*1*ARDEN*MILO
N3*9 OAK STREET
N4*EUGENE*OR*97401
DMG*D8*20150601*M
CLM*B200*200***11:B:1*Y*A*Y*Y**AA:::OR
DTP*439*D8*20250115
"""
OTHER_PAYER = """\
SBR*P*19*GRP300******CI
AMT*D*120
OI***Y***Y
NM1*IL*1*LUND*IVO****MI*M3000003
NM1*PR*2*SUMMIT DENTAL*****PI*SD001
"""
TAIL = """\
SE*0*0017
GE*1*17
IEA*1*000000017
"""
PROFESSIONAL = (
    HEAD.format(guide="005010X222A1", taxonomy="207Q00000X", practice="FERNHILL FAMILY PRACTICE")
    + """\
CLM*A100*250***11:B:1*Y*A*Y*Y
REF*D9*T100
NTE*ADD*PATIENT SEEN BEFORE
HI*ABK:E119*ABF:I10
NM1*82*1*FENN*OSKAR****XX*1679576722
PRV*PE*PXC*207R00000X
LX*1
SV1*HC:99213:25*150*UN*1***1:2
DTP*472*D8*20250210
REF*6R*A100L1
LX*2
SV1*HC:36415*100*UN*1***1
DTP*472*D8*20250211
REF*6R*A100L2
"""
    + DEPENDENT
    + """\
PWK*OZ*EL***AC*ATT1
AMT*F5*10
REF*G1*AUTH1
HI*ABK:S93401A
"""
    + OTHER_PAYER
    + """\
LX*1
SV1*HC:J1100*120*UN*2***1
DTP*472*D8*20250116
REF*6R*B200L1
LIN**N4*00002323330
CTP****2*ML
SVD*SD001*80*HC:J1100**2
CAS*CO*45*30
CAS*PR*2*10
DTP*573*D8*20250201
LX*2
SV1*HC:99214*80*UN*1***1
DTP*472*D8*20250117
REF*6R*B200L2
SVD*SD001*40*HC:99214**1
CAS*PR*1*40
DTP*573*D8*20250202
"""
    + TAIL
)
DENTAL = (
    HEAD.format(guide="005010X224A2", taxonomy="1223G0001X", practice="LARKSPUR DENTAL")
    + """\
CLM*A100*250***11:B:1*Y*A*Y*Y
DTP*452*D8*20241105
DN1*24*20
DN2*17*M****JP
REF*D9*T100
NTE*ADD*PATIENT SEEN BEFORE
HI*ABK:K029*ABF:K0530
NM1*82*1*BIRCH*NORA****XX*1679576722
PRV*PE*PXC*1223X0400X
LX*1
SV3*AD:D2392*150****1*****1:2
TOO*JP*14*M:O
DTP*472*D8*20250210
REF*6R*A100L1
LX*2
SV3*AD:D4341*100**10**1
DTP*472*D8*20250211
REF*6R*A100L2
"""
    + DEPENDENT
    + """\
PWK*OZ*EL***AC*ATT1
AMT*F5*10
REF*G1*AUTH1
HI*ABK:K029
"""
    + OTHER_PAYER
    + """\
LX*1
SV3*AD:D2740*120***R*2*****1
TOO*JP*30
DTP*472*D8*20250116
DTP*441*D8*20150301
REF*6R*B200L1
SVD*SD001*80*AD:D2740**2
CAS*CO*45*30
CAS*PR*2*10
DTP*573*D8*20250201
LX*2
SV3*AD:D1110*80
DTP*472*D8*20250117
REF*6R*B200L2
SVD*SD001*40*AD:D1110**1
CAS*PR*1*40
DTP*573*D8*20250202
"""
    + TAIL
)
GOOD = {"837P": PROFESSIONAL, "837D": DENTAL}

P, D, BOTH = ("837P",), ("837D",), ("837P", "837D")


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault and who must notice it."""

    name: str
    find: str
    to: str
    rule: str
    """The finding that must come."""
    kinds: tuple[str, ...] = BOTH
    where: str = "file"
    """"file": an error here. "claim": at least a warning here, and an error of the claim rules."""
    position: str = ""
    """How the segment begins at which the finding is expected; if empty, the one put in, or the one that
    now follows where a segment was removed."""
    right_count: bool = True


def good(kind: str) -> list[str]:
    """The good file as segments."""
    return _counted(GOOD[kind].split("\n")[:-1])


def inject(kind: str, fault: Fault) -> tuple[bytes, int]:
    """The file with the fault, and the place in the set where it must be found (0 outside the set)."""
    rows = good(kind)
    at = next(i for i, row in enumerate(rows) if row.startswith(fault.find))
    rows[at : at + 1] = [part for part in fault.to.split("~") if part]
    if fault.right_count:
        rows = _counted(rows)
    found = at
    if fault.position:
        # The nearest such segment: at the fault or after it, else the last one before.
        order = [*range(at, len(rows)), *range(at - 1, -1, -1)]
        found = next(i for i in order if rows[i].startswith(fault.position))
    start = next((i for i, row in enumerate(rows) if row.startswith("ST*")), len(rows))
    end = next((i for i, row in enumerate(rows) if row.startswith(("SE*", "GE*"))), len(rows))
    position = found - start + 1 if start <= found <= end else 0
    return "".join(row + "~\n" for row in rows).encode("latin-1"), position


def _counted(rows: list[str]) -> list[str]:
    start = next((i for i, row in enumerate(rows) if row.startswith("ST*")), 0)
    return [
        f"SE*{i - start + 1}*{row.split('*')[2]}" if row.startswith("SE*") else row
        for i, row in enumerate(rows)
    ]


LONG = "A" * 61

FAULTS: tuple[Fault, ...] = (
    # Envelope.
    Fault("ISA control number not repeated in IEA", "IEA", "IEA*1*000000018", "IEA-CONTROL"),
    Fault("wrong count of groups", "IEA", "IEA*2*000000017", "IEA-COUNT"),
    Fault("GS control number not repeated in GE", "GE", "GE*1*18", "GE-CONTROL"),
    Fault("wrong count of sets", "GE", "GE*2*17", "GE-COUNT"),
    Fault("ST control number not repeated in SE", "SE", "SE*1*0018", "SE-CONTROL"),
    Fault("wrong count of segments", "SE", "SE*12*0017", "SE-COUNT", right_count=False),
    Fault("no SE", "SE", "", "SE-MISSING"),
    Fault("no GE", "GE", "", "GE-MISSING"),
    Fault("wrong functional identifier", "GS", "GS*HP*CLEARLANE*PAYER*20250301*1200*17*X*005010X222A1", "GS-FUNCTION", P),
    Fault("another guide in ST03", "ST", "ST*837*0017*005010X229", "ST-AGREE"),
    Fault("no such guide", "ST", "ST*838*0017*005010X222A1", "ST-GUIDE"),
    Fault("short set control number", "ST", "ST*837*017*005010X222A1", "ST-CONTROL", P),
    # Syntax.
    Fault("empty element at the end", "REF*EI", "REF*EI*123456789*", "SEG-TRAILING"),
    Fault("empty component at the end", "SV1*HC:36415", "SV1*HC:36415:*100*UN*1***1", "ELM-TRAILING", P),
    Fault("empty component at the end", "SV3*AD:D4341", "SV3*AD:D4341:*100**10**1", "ELM-TRAILING", D),
    Fault("unknown segment", "REF*D9", "REF*D9*T100~ZZZ*1", "SEG-UNKNOWN", position="ZZZ"),
    Fault("segment of another place", "REF*D9", "REF*D9*T100~LIN**N4*1", "SEG-UNEXPECTED", P, position="LIN**N4*1"),
    Fault("city before street", "N3*12", "N4*BEND*OR*977011234~N3*12 ALDER STREET", "SEG-ORDER", position="N3*12"),
    Fault("lower case", "NM1*85", "NM1*85*2*Fernhill*****XX*1234567893", "ELM-CASE", where="claim"),
    Fault("name too long", "NM1*QC", f"NM1*QC*1*{LONG}*MILO", "ELM-LONG"),
    Fault("day that is none", "DMG*D8*1985", "DMG*D8*19850231*F", "ELM-PERIOD"),
    Fault("date with slashes", "DTP*472*D8*20250210", "DTP*472*D8*02/10/2025", "ELM-PERIOD"),
    Fault("amount with a currency sign", "AMT*F5", "AMT*F5*$10", "ELM-NUMBER"),
    Fault("amount with parts of a cent", "AMT*F5", "AMT*F5*10.005", "ELM-CENTS"),
    Fault("amount of eleven digits", "AMT*F5", "AMT*F5*123456789.01", "ELM-AMOUNT"),
    Fault("character outside the set", "NTE*ADD", "NTE*ADD*CAF\u00a7", "ELM-CHARACTER"),
    Fault("letter of another language", "NTE*ADD", "NTE*ADD*CAF\u00c9", "ELM-NATIONAL", where="claim"),
    Fault("note too long", "NTE*ADD", "NTE*ADD*" + "A" * 81, "ELM-LONG"),
    # Header.
    Fault("batch number of 31 characters", "BHT", f"BHT*0019*00*{'B' * 31}*20250301*1200*CH", "ELM-LONG"),
    Fault("wrong order of levels", "BHT", "BHT*0022*00*B00017*20250301*1200*CH", "ELM-CODE"),
    Fault("wrong purpose", "BHT", "BHT*0019*13*B00017*20250301*1200*CH", "ELM-CODE"),
    Fault("wrong type of transaction", "BHT", "BHT*0019*00*B00017*20250301*1200*ZZ", "ELM-CODE"),
    Fault("short date in the header", "BHT", "BHT*0019*00*B00017*250301*1200*CH", "ELM-DATE"),
    Fault("no BHT", "BHT", "", "SEG-MISSING"),
    Fault("no submitter contact", "PER*IC*CLAIMS", "", "SEG-MISSING"),
    Fault("formatted telephone number", "PER*IC*FRONT", "PER*IC*FRONT DESK*TE*(503) 555-0144", "VAL-PHONE", where="claim"),
    Fault("no receiver", "NM1*40", "", "LOOP-MISSING"),
    # Hierarchy.
    Fault("level number left out", "HL*3", "HL*5*1*22*1", "HL-NUMBER"),
    Fault("wrong parent", "HL*4", "HL*4*2*23*0", "HL-PARENT"),
    Fault("child announced and missing", "HL*2", "HL*2*1*22*1", "HL-CHILD"),
    Fault("child not announced", "HL*3", "HL*3*1*22*0", "HL-CHILD"),
    Fault("patient level under a subscriber who is the patient", "SBR*S", "SBR*S*18*GRP200******CI", "X837-SELF", position="HL*4"),
    Fault("claim under a subscriber who is not the patient", "SBR*P*18", "SBR*P**GRP100******CI", "X837-WHO-IS-PATIENT"),
    Fault("self as a patient's relationship", "PAT*19", "PAT*18", "ELM-CODE"),
    Fault("no payer", "NM1*PR*2*MEADOW", "", "LOOP-MISSING"),
    Fault("no patient segment", "PAT", "", "SEG-MISSING"),
    # People.
    Fault("own patient without birth date and sex", "DMG*D8*1985", "", "X837-SELF-FACTS", position="NM1*IL*1*ARDEN"),
    Fault("own patient without street", "N3*7", "", "X837-SELF-FACTS", position="NM1*IL*1*ARDEN"),
    Fault("own patient without city", "N4*SALEM", "", "X837-SELF-FACTS", position="NM1*IL*1*ARDEN"),
    Fault("dependent without birth date and sex", "DMG*D8*2015", "", "SEG-MISSING"),
    Fault("sex that is no code", "DMG*D8*1985", "DMG*D8*19850214*X", "ELM-CODE"),
    Fault("birth after the claim", "DMG*D8*1985", "DMG*D8*20260214*F", "X837-BIRTH", where="claim"),
    Fault("no member number", "NM1*IL*1*ARDEN", "NM1*IL*1*ARDEN*ROSA", "X837-MEMBER"),
    Fault("no payer id", "NM1*PR*2*MEADOW", "NM1*PR*2*MEADOW MUTUAL", "ELM-MISSING"),
    Fault("kind of insurance that is no code", "SBR*P*18", "SBR*P*18*GRP100******XX", "ELM-CODE"),
    Fault("two payers in the same place", "SBR*P*19", "SBR*S*19*GRP300******CI", "X837-PAYMENT-ORDER"),
    Fault("state that is none", "N4*SALEM", "N4*SALEM*XX*97301", "ELM-LIST"),
    Fault("no state", "N4*SALEM", "N4*SALEM**97301", "X837-ADDRESS"),
    Fault("ZIP code of four digits", "N4*SALEM", "N4*SALEM*OR*9730", "VAL-ZIP", where="claim"),
    # Providers.
    Fault("NPI with a wrong check digit", "NM1*82", "NM1*82*1*FENN*OSKAR****XX*1679576721", "VAL-NPI", where="claim"),
    Fault("NPI of nine digits", "NM1*82", "NM1*82*1*FENN*OSKAR****XX*167957672", "VAL-NPI", where="claim"),
    Fault("no tax number", "REF*EI", "", "SEG-MISSING"),
    Fault("two tax numbers", "REF*EI", "REF*EI*123456789~REF*SY*219099999", "SEG-REPEAT", position="REF*SY"),
    Fault("tax number of eight digits", "REF*EI", "REF*EI*12345678", "X837-TAX-NUMBER", where="claim"),
    Fault("billing ZIP code of five digits", "N4*PORTLAND", "N4*PORTLAND*OR*97201", "VAL-ZIP4", where="claim"),
    Fault("box as the billing address", "N3*12", "N3*PO BOX 12", "VAL-STREET", where="claim"),
    Fault("malformed taxonomy", "PRV*PE", "PRV*PE*PXC*207R", "VAL-TAXONOMY", where="claim"),
    Fault("taxonomy qualifier of 4010", "PRV*BI", "PRV*BI*ZZ*207Q00000X", "ELM-CODE"),
    Fault("organization with a first name", "NM1*85", "NM1*85*2*FERNHILL*OSKAR****XX*1234567893", "X837-NAME"),
    Fault("person without a first name", "NM1*82", "NM1*82*1*FENN*****XX*1679576722", "X837-NAME", where="claim"),
    Fault("no billing address", "N3*12", "", "SEG-MISSING"),
    # The claim.
    Fault("total that is not the sum of lines", "CLM*A100", "CLM*A100*251***11:B:1*Y*A*Y*Y", "X837-TOTAL"),
    Fault("claim number twice", "CLM*B200", "CLM*A100*200***11:B:1*Y*A*Y*Y**AA:::OR", "X837-NUMBER-TWICE", where="claim"),
    Fault("claim number of 39 characters", "CLM*A100", f"CLM*{'A' * 39}*250***11:B:1*Y*A*Y*Y", "ELM-LONG"),
    Fault("claim number of 21 characters", "CLM*A100", f"CLM*{'A' * 21}*250***11:B:1*Y*A*Y*Y", "X837-NUMBER-LONG", where="claim"),
    Fault("place of another kind of bill", "CLM*A100", "CLM*A100*250***11:A:1*Y*A*Y*Y", "ELM-CODE"),
    Fault("place of service that is none", "CLM*A100", "CLM*A100*250***98:B:1*Y*A*Y*Y", "ELM-LIST"),
    Fault("signature that is neither yes nor no", "CLM*A100", "CLM*A100*250***11:B:1*X*A*Y*Y", "ELM-CODE"),
    Fault("assignment that is no code", "CLM*A100", "CLM*A100*250***11:B:1*Y*P*Y*Y", "ELM-CODE"),
    Fault("release of information refused", "CLM*A100", "CLM*A100*250***11:B:1*Y*A*Y*N", "ELM-CODE"),
    Fault("replacement without the payer's number", "CLM*A100", "CLM*A100*250***11:B:7*Y*A*Y*Y", "X837-ORIGINAL"),
    Fault("accident without its day", "DTP*439", "", "X837-ACCIDENT-DATE", position="CLM*B200"),
    Fault("car accident without a state", "CLM*B200", "CLM*B200*200***11:B:1*Y*A*Y*Y**AA", "X837-ACCIDENT-STATE"),
    Fault("attachment without a number", "PWK", "PWK*OZ*EL", "X837-ATTACHMENT"),
    Fault("patient paid nothing", "AMT*F5", "AMT*F5*0", "X837-PAID", where="claim"),
    Fault("reference with a placeholder", "REF*G1", "REF*G1*NONE", "X837-EMPTY-NUMBER", where="claim"),
    Fault("note of a claim in a line", "REF*6R*A100L1", "REF*6R*A100L1~NTE*CER*TEXT", "SEG-UNEXPECTED", P, position="NTE*CER"),
    Fault("reference with no place", "REF*D9", "REF*6R*T100", "SEG-UNEXPECTED"),
    Fault("frequency that is none", "CLM*A100", "CLM*A100*250***11:B:L*Y*A*Y*Y", "ELM-LIST"),
    Fault("exception of authorization that is none", "REF*D9", "REF*4N*8~REF*D9*T100", "ELM-CODE"),
    Fault("crossover that is neither yes nor no", "REF*D9", "REF*F5*X~REF*D9*T100", "ELM-CODE", P),
    Fault("inpatient without an admission", "CLM*A100", "CLM*A100*250***21:B:1*Y*A*Y*Y", "X837-ADMISSION", P, "claim"),
    Fault("billing provider's number at the payer twice", "NM1*PR*2*MEADOW", "NM1*PR*2*MEADOW MUTUAL*****PI*MM001~REF*G2*N1~REF*LU*N2", "SEG-REPEAT", D, position="REF*LU"),
    # Diagnoses.
    Fault("no diagnosis", "HI*ABK:E119", "", "SEG-MISSING", P),
    Fault("ICD with a dot", "HI*ABK", "HI*ABK:K02.9*ABF:K0530", "X837-ICD-DOT"),
    Fault("ICD-10 under BK", "HI*ABK", "HI*BK:K029*BF:K0530", "X837-ICD-FORM"),
    Fault("ICD-9 today", "HI*ABK", "HI*BK:25000*BF:4019", "X837-ICD-DAY", where="claim"),
    Fault("two ICD versions", "HI*ABK", "HI*ABK:K029*BF:4019", "X837-ICD-MIX"),
    Fault("second diagnosis as principal", "HI*ABK", "HI*ABK:K029*ABK:K0530", "ELM-CODE"),
    Fault("other diagnosis first", "HI*ABK", "HI*ABF:K029*ABF:K0530", "ELM-CODE", P),
    Fault("thirteen diagnoses", "HI*ABK", "HI*ABK:K029" + "".join(f"*ABF:A{n}" for n in range(10, 22)), "ELM-SURPLUS", P),
    Fault("five diagnoses of teeth", "HI*ABK", "HI*ABK:K029*ABF:K0530*ABF:K021*ABF:K022*ABF:K023", "ELM-UNUSED", D),
    Fault("pointer past the last diagnosis", "SV1*HC:99213", "SV1*HC:99213:25*150*UN*1***1:3", "X837-POINTER", P),
    Fault("pointer past the last diagnosis", "SV3*AD:D2392", "SV3*AD:D2392*150****1*****1:3", "X837-POINTER", D),
    Fault("five pointers", "SV1*HC:99213", "SV1*HC:99213:25*150*UN*1***1:2:1:2:1", "ELM-COMPONENTS", P),
    Fault("pointer as a letter", "SV1*HC:99213", "SV1*HC:99213:25*150*UN*1***A", "ELM-CODE", P),
    Fault("no pointer", "SV1*HC:99213", "SV1*HC:99213:25*150*UN*1", "ELM-MISSING", P),
    # Lines.
    Fault("gap in line numbers", "LX*2", "LX*3", "X837-LINE-NUMBER"),
    Fault("line control number twice", "REF*6R*A100L2", "REF*6R*A100L1", "X837-LINE-CONTROL", position="REF*6R*A100L1"),
    Fault("fifth modifier", "SV1*HC:99213", "SV1*HC:99213:25:59:76:LT:RT*150*UN*1***1", "X837-FIFTH-MODIFIER", P),
    Fault("modifier of three characters", "SV1*HC:99213", "SV1*HC:99213:255*150*UN*1***1", "ELM-LONG", P),
    Fault("procedure of four characters", "SV1*HC:99213", "SV1*HC:9921*150*UN*1***1", "X837-PROCEDURE", P, "claim"),
    Fault("procedure of another list", "SV3*AD:D2392", "SV3*AD:99213*150****1*****1", "X837-PROCEDURE", D, "claim"),
    Fault("medical procedure in a dental claim", "SV3*AD:D2392", "SV3*HC:D2392*150****1*****1", "ELM-CODE", D),
    Fault("unlisted procedure without a description", "SV1*HC:36415", "SV1*HC:99499*100*UN*1***1", "X837-UNLISTED", P, "claim"),
    Fault("unlisted procedure without a description", "SV3*AD:D4341", "SV3*AD:D4999*100**10**1", "X837-UNLISTED", D, "claim"),
    Fault("unit that is none", "SV1*HC:36415", "SV1*HC:36415*100*DA*1***1", "ELM-CODE", P),
    Fault("no units", "SV1*HC:36415", "SV1*HC:36415*100*UN*0***1", "X837-UNITS", P, "claim"),
    Fault("no units", "SV3*AD:D4341", "SV3*AD:D4341*100**10**0", "X837-UNITS", D, "claim"),
    Fault("minutes of an office visit", "SV1*HC:36415", "SV1*HC:36415*100*MJ*30***1", "X837-MINUTES", P, "claim"),
    Fault("units of nine digits", "SV1*HC:36415", "SV1*HC:36415*100*UN*123456789***1", "ELM-UNITS", P),
    Fault("units with four decimals", "SV1*HC:36415", "SV1*HC:36415*100*UN*1.2345***1", "ELM-UNITS", P),
    Fault("anesthesia in units", "SV1*HC:36415", "SV1*HC:00400*100*UN*1***1", "X837-MINUTES", P, "claim"),
    Fault("emergency indicator N", "SV1*HC:36415", "SV1*HC:36415*100*UN*1***1**N", "ELM-CODE", P),
    Fault("line without a service", "SV1*HC:36415", "", "SEG-MISSING", P),
    Fault("line without a service", "SV3*AD:D4341", "", "SEG-MISSING", D),
    Fault("line without its number", "LX*1", "", "SEG-UNEXPECTED", P, position="SV1*HC:99213"),
    Fault("no service date", "DTP*472*D8*20250211", "", "SEG-MISSING", P),
    Fault("no service date", "DTP*472*D8*20250211", "", "X837D-PREDETERMINATION", D, "claim", position="SV3*AD:D4341"),
    Fault("period that runs backwards", "DTP*472*D8*20250210", "DTP*472*RD8*20250210-20250201", "X837-PERIOD", P),
    Fault("period that runs backwards", "DTP*452", "DTP*452*D8*20241105~DTP*472*RD8*20250210-20250201", "X837-PERIOD", D, position="DTP*472*RD8"),
    Fault("period of a dental line", "DTP*472*D8*20250210", "DTP*472*RD8*20250210-20250211", "ELM-CODE", D),
    Fault("period with one day", "DTP*472*D8*20250210", "DTP*472*RD8*20250210", "ELM-PERIOD", P),
    Fault("period with one day", "DTP*452", "DTP*452*D8*20241105~DTP*472*RD8*20250210", "ELM-PERIOD", D, position="DTP*472*RD8"),
    Fault("service after the claim", "DTP*472*D8*20250210", "DTP*472*D8*20260210", "X837-FUTURE", where="claim"),
    Fault("drug code of ten digits", "LIN**N4", "LIN**N4*0002323330", "X837-NDC", P),
    Fault("drug code with hyphens", "LIN**N4", "LIN**N4*00002-3233-30", "X837-NDC", P),
    Fault("drug unit that is none", "CTP", "CTP****2*MG", "ELM-CODE", P),
    Fault("drug without quantity", "CTP", "", "SEG-MISSING", P),
    # Teeth.
    Fault("occlusal face of an incisor", "TOO*JP*14", "TOO*JP*8*M:O", "X837D-SURFACE", D, "claim"),
    Fault("surface twice", "TOO*JP*14", "TOO*JP*14*M:M", "X837D-SURFACE", D),
    Fault("surface that is none", "TOO*JP*14", "TOO*JP*14*M:X", "ELM-CODE", D),
    Fault("tooth that is none", "TOO*JP*14", "TOO*JP*99*M:O", "ELM-CODE", D),
    Fault("quadrant as a tooth", "TOO*JP*14", "TOO*JP*UR*M:O", "ELM-CODE", D),
    Fault("area of the mouth that is none", "SV3*AD:D4341", "SV3*AD:D4341*100**99**1", "ELM-CODE", D),
    Fault("replacement without the earlier day", "DTP*441", "", "X837D-PRIOR", D, position="SV3*AD:D2740"),
    Fault("prosthesis that is no code", "SV3*AD:D2740", "SV3*AD:D2740*120***X*2*****1", "ELM-CODE", D),
    Fault("predetermination with a service date", "CLM*A100", "CLM*A100*250***11:B:1*Y*A*Y*Y**********PB", "X837D-PREDETERMINATION", D, position="DTP*472*D8*20250210"),
    Fault("missing tooth without its numbering", "DN2", "DN2*17*M", "ELM-MISSING", D),
    Fault("missing tooth twice", "DN2", "DN2*17*M****JP~DN2*17*E****JP", "X837D-MISSING-TWICE", D, "claim", position="DN2*17*E"),
    Fault("orthodontics without the day of placement", "DTP*452", "", "X837D-ORTHODONTICS", D, "claim", position="DN1"),
    Fault("more months left than there are", "DN1", "DN1*24*25", "X837D-MONTHS", D),
    # Other payers.
    Fault("adjustment mark that is none", "NM1*PR*2*SUMMIT", "NM1*PR*2*SUMMIT DENTAL*****PI*SD001~REF*T4*N", "ELM-CODE", position="REF*T4"),
    Fault("line bundled into one that is not there", "SVD*SD001*40", "SVD*SD001*40*HC:99214**1*9", "X837-COB-BUNDLED", P),
    Fault("line bundled into one that is not there", "SVD*SD001*40", "SVD*SD001*40*AD:D1110**1*9", "X837-COB-BUNDLED", D),
    Fault("no other insurance segment", "OI", "", "SEG-MISSING"),
    Fault("no other payer", "NM1*PR*2*SUMMIT", "", "LOOP-MISSING"),
    Fault("no other subscriber", "NM1*IL*1*LUND", "", "LOOP-MISSING"),
    Fault("adjustment group that is none", "CAS*CO", "CAS*XX*45*30", "ELM-CODE"),
    Fault("reason that does not exist", "CAS*CO", "CAS*CO*999*30", "ELM-LIST"),
    Fault("adjustment without an amount", "CAS*CO", "CAS*CO*45", "ELM-MISSING"),
    Fault("line out of balance", "CAS*PR*1", "CAS*PR*1*39", "X837-COB-LINE", position="SVD*SD001*40"),
    Fault("claim out of balance", "AMT*D", "AMT*D*121", "X837-COB-CLAIM"),
    Fault("decided claim without a paid amount", "AMT*D", "", "X837-COB-PAID", position="SBR*P*19"),
    Fault("line decided by a payer the claim does not have", "SVD*SD001*40", "SVD*SD002*40*HC:99214**1", "X837-COB-PAYER", P),
    Fault("line decided by a payer the claim does not have", "SVD*SD001*40", "SVD*SD002*40*AD:D1110**1", "X837-COB-PAYER", D),
    Fault("decision without a day", "DTP*573*D8*20250202", "", "SEG-MISSING"),
    Fault("decision with two days", "NM1*PR*2*SUMMIT", "NM1*PR*2*SUMMIT DENTAL*****PI*SD001~DTP*573*D8*20250203", "X837-COB-DATE", position="DTP*573*D8*20250203"),
    Fault("adjustments of a group in two segments", "CAS*PR*2", "CAS*CO*2*10", "X837-COB-GROUP", where="claim"),
)  # fmt: skip
