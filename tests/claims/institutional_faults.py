"""Institutional claims with one known fault each: a clean bill, what is changed in its file, and the rules that find it."""

from typing import NamedTuple

from clearlane.kernel.finding import Severity
from tests.claims.institutional_claims import ATTENDING, BILLS, OPERATING

E, W, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


class BillFault(NamedTuple):
    """A bill, what is changed in it, the severity, the rule that finds it, and others that find what follows from it."""

    bill: str
    changes: dict[str, str]
    severity: Severity
    rules: str

    def file(self) -> bytes:
        """Return the file with the fault."""
        text = BILLS[self.bill].text()
        for old, new in self.changes.items():
            assert old in text, (self.bill, old)
            text = text.replace(old, new, 1)
        rows = text.split("~")
        last = next(at for at, row in enumerate(rows) if row.startswith("SE*"))
        rows[last] = f"SE*{last - 1}*0001"
        return "~".join(rows).encode()


PROFESSIONAL_PAYER, DEMANDING_PAYER = "BLU31", "GRN31"
STAY, SURGERY, VISIT, TESTS = "111 pneumonia", "111 appendectomy", "131 emergency", "131 laboratory"
ADMITTED = "DTP*435*DT*202603021015"
STATEMENT = "DTP*434*RD8*20260302-20260305"
NO_DATES = {"DTP*472*D8*20260302~": "", "DTP*472*D8*20260306~": ""}

OF_FIELDS = {"I102": ({"FL04_TypeOfBill": "13R"}, {"FL04_TypeOfBill": "131"})}
"""Fields that fail by a rule and fields that pass, of rules that are not for files: the guide's check says the same there."""
FAULTS: dict[str, BillFault] = {
    # type of bill, statement, admission and discharge
    # a car accident
    "a car accident without its state": BillFault(
        "131 emergency",
        {"HI*ABF:I10~": "HI*ABF:S61412A~HI*ABN:V435XXA~HI*BH:01:D8:20260310~"},
        W,
        "I354",
    ),
    "no such type of bill": BillFault(TESTS, {"13:A:1": "09:A:1"}, E, "I101"),
    "a type of bill that is not known": BillFault(TESTS, {"13:A:1": "27:A:1"}, W, "I201"),
    "a type of bill with its frequency": BillFault(
        TESTS, {"13:A:1": "131:A:1"}, E, "I101 ELM-LONG"
    ),
    "an interim bill of an outpatient": BillFault(TESTS, {"13:A:1": "13:A:2"}, W, "I103"),
    "a notice of a hospital": BillFault(TESTS, {"13:A:1": "13:A:A"}, W, "I103"),
    "an episode of a hospital": BillFault(TESTS, {"13:A:1": "13:A:9"}, W, "I103"),
    "an original with an earlier number": BillFault(
        TESTS, {"CL1*3*1*01~": "CL1*3*1*01~REF*F8*H1~"}, W, "C902"
    ),
    "a statement in the future": BillFault(
        TESTS, {"20260302-20260306": "20260302-20260506"}, W, "I108"
    ),
    "a stay without admission": BillFault(STAY, {f"{ADMITTED}~": ""}, E, "I110"),
    "home health without start of care": BillFault(
        "329 home health", {"DTP*435*D8*20260302~": ""}, E, "I110"
    ),
    "an admission without its hour": BillFault(STAY, {ADMITTED: "DTP*435*D8*20260302"}, E, "I111"),
    "an admission of an outpatient": BillFault(
        TESTS, {"CL1*3*1*01": "DTP*435*D8*20260302~CL1*3*1*01"}, INFO, "I112"
    ),
    "an admission after the statement": BillFault(
        STAY, {ADMITTED: "DTP*435*DT*202603071015"}, E, "I113"
    ),
    "an admission long before": BillFault(STAY, {ADMITTED: "DTP*435*DT*202602201015"}, W, "I213"),
    "no hour of discharge": BillFault(STAY, {"DTP*096*TM*1130~": ""}, E, "I114"),
    "an hour of discharge of one who stays": BillFault(
        "112 first interim", {"DTP*434": "DTP*096*TM*1130~DTP*434"}, W, "I115"
    ),
    "no such patient status": BillFault(TESTS, {"CL1*3*1*01": "CL1*3*1*10"}, E, "I117"),
    "no such admission type": BillFault(TESTS, {"CL1*3*1*01": "CL1*7*1*01"}, E, "I118"),
    "no admission type": BillFault(STAY, {"CL1*1*1*01": "CL1**1*01"}, E, "I119"),
    "no such origin": BillFault(TESTS, {"CL1*3*1*01": "CL1*3*3*01"}, E, "I120"),
    "a newborn from home": BillFault("111 newborn", {"CL1*4*5*01": "CL1*4*1*01"}, W, "I121"),
    "no origin": BillFault(TESTS, {"CL1*3*1*01": "CL1*3**01"}, E, "I122"),
    "still a patient on the only bill": BillFault(
        STAY,
        {
            "CL1*1*1*01": "CL1*1*1*30",
            "DTP*096*TM*1130~": "",
            "BE:80:::3": "BE:80:::4",
            "0120**1500*DA*3": "0120**1500*DA*4",
        },
        E,
        "I123",
    ),
    "still a patient on the only outpatient bill": BillFault(
        TESTS, {"CL1*3*1*01": "CL1*3*1*30"}, W, "I223"
    ),
    "gone on an interim bill": BillFault(
        "112 first interim",
        {
            "CL1*1*1*30": "CL1*1*1*01",
            "BE:80:::30": "BE:80:::29",
            "0120**15000*DA*30": "0120**15000*DA*29",
        },
        W,
        "I124",
    ),
    "died without a day": BillFault("111 died", {"HI*BH:55:D8:20260305~": ""}, W, "I125"),
    "died as in a hospice": BillFault("111 died", {"CL1*1*1*20": "CL1*1*1*41"}, W, "I125"),
    "a transfer on the first day": BillFault("111 one day", {"HI*BG:40~": ""}, W, "I126"),
    # diagnoses
    "no such diagnosis": BillFault(STAY, {"ABF:E119": "ABF:E1199"}, E, "C503"),
    "a heading": BillFault(STAY, {"ABF:E119": "ABF:E11"}, E, "C504"),
    "an external cause first": BillFault(STAY, {"ABK:J189:::::::Y": "ABK:W010XXA"}, E, "C508"),
    "an external cause that is none": BillFault(
        STAY, {"HI*ABF": "HI*ABN:I10:::::::Y~HI*ABF"}, E, "I130"
    ),
    "a symptom of no weight first": BillFault(STAY, {"ABK:J189:::::::Y": "ABK:Z7902"}, W, "I132"),
    "no admitting diagnosis": BillFault(STAY, {"HI*ABJ:R0602~": ""}, E, "I133"),
    "an admitting diagnosis of home health": BillFault(
        "329 home health", {"HI*ABF": "HI*ABJ:I10~HI*ABF"}, E, "I133"
    ),
    "no reason for the visit": BillFault(VISIT, {"HI*APR:R079*APR:R0602~": ""}, W, "I134"),
    "a reason for a visit of a stay": BillFault(STAY, {"HI*ABF": "HI*APR:R0602~HI*ABF"}, E, "I135"),
    "nothing about presence": BillFault(STAY, {"ABK:J189:::::::Y": "ABK:J189"}, W, "I136"),
    "presence of an exempt diagnosis": BillFault(
        STAY, {"ABF:E119:::::::Y": "ABF:I252:::::::Y"}, W, "I137"
    ),
    "presence of an outpatient": BillFault(TESTS, {"ABK:E119": "ABK:E119:::::::Y"}, W, "I138"),
    "a diagnosis twice": BillFault(STAY, {"ABF:E119": "ABF:I10"}, E, "C505"),
    # procedures and other codes
    "no such procedure": BillFault(SURGERY, {"0DTJ4ZZ": "0DTJ9ZZ"}, E, "I141"),
    "a procedure outside of the stay": BillFault(
        SURGERY, {"0DTJ4ZZ:D8:20260308": "0DTJ4ZZ:D8:20260318"}, W, "I143"
    ),
    "a procedure of an outpatient": BillFault(
        VISIT,
        {"HI*ABF:I10": "HI*ABF:I10~HI*BBR:4A023N7:D8:20260310"},
        W,
        "I144",
    ),
    "nobody operated": BillFault(SURGERY, {f"{OPERATING}~": ""}, W, "I145"),
    "a group of letters": BillFault(STAY, {"HI*ABF": "HI*DR:PNEU~HI*ABF"}, W, "I146"),
    "no group for a payer that prices by it": BillFault(
        STAY, {"PI*HHP20": f"PI*{DEMANDING_PAYER}"}, W, "I147 I160"
    ),
    "no such condition": BillFault("111 one day", {"HI*BG:40": "HI*BG:40*BG:S1"}, W, "I248"),
    "a condition twice": BillFault("111 one day", {"HI*BG:40": "HI*BG:40*BG:40"}, W, "I148"),
    "an occurrence twice": BillFault(
        "111 died", {"BH:55:D8:20260305": "BH:55:D8:20260305*BH:55:D8:20260305"}, W, "I149"
    ),
    "a span as an occurrence": BillFault(
        "111 died", {"BH:55:D8:20260305": "BH:55:D8:20260305*BH:74:D8:20260305"}, W, "I249"
    ),
    "a span backwards": BillFault(
        "211 nursing", {"20260223-20260227": "20260227-20260223"}, E, "I150"
    ),
    "a span before birth": BillFault(
        "211 nursing", {"20260223-20260227": "19850223-19850227"}, E, "I150"
    ),
    "a span twice": BillFault(
        "211 nursing",
        {
            "BI:70:RD8:20260223-20260227": "BI:70:RD8:20260223-20260227*BI:70:RD8:20260223-20260227",
        },
        W,
        "I250",
    ),
    "no such value": BillFault(STAY, {"BE:80:::3": "BE:80:::3*BE:00:::5"}, W, "I251"),
    "a value twice": BillFault(STAY, {"BE:80:::3": "BE:80:::3*BE:80:::3"}, W, "I151"),
    "days that do not add up": BillFault(STAY, {"BE:80:::3": "BE:80:::2"}, W, "I152"),
    "no covered days": BillFault(STAY, {"HI*BE:80:::3~": ""}, W, "I153"),
    "employment without its day": BillFault(
        STAY, {"HI*BE:80:::3": "HI*BE:80:::3~HI*BG:02"}, W, "I154"
    ),
    "an accident without an injury": BillFault(
        STAY, {"HI*BE:80:::3": "HI*BH:05:D8:20260301~HI*BE:80:::3"}, W, "I254"
    ),
    "a treatment code": BillFault(
        "329 home health",
        {"HI*BE:61:::12420": "HI*BE:61:::12420~HI*TC:11IL11AA11FG11"},
        INFO,
        "I156",
    ),
    "dialysis without weight": BillFault(
        "721 dialysis", {"HI*BE:A8:::72.5*BE:A9:::168": "HI*BE:A9:::168"}, W, "I157"
    ),
    "a denial with covered charges": BillFault(
        STAY, {"HI*BE:80:::3": "HI*BE:80:::3~HI*BG:21"}, W, "I158"
    ),
    # people
    "nobody attends": BillFault(STAY, {f"{ATTENDING}~": ""}, E, "I159"),
    "an attending provider without taxonomy": BillFault(
        TESTS, {"PI*HHP20": f"PI*{DEMANDING_PAYER}"}, W, "I160"
    ),
    "a second surgeon alone": BillFault(
        SURGERY, {"NM1*72*1*BIRCH": "NM1*ZZ*1*BIRCH"}, E, "I161 I145"
    ),
    "the attending provider renders": BillFault(
        STAY,
        {ATTENDING: f"{ATTENDING}~NM1*82*1*FENN*OSKAR****XX*1679576722"},
        W,
        "I162",
    ),
    "a referring provider of a stay": BillFault(
        STAY, {ATTENDING: f"{ATTENDING}~NM1*DN*1*BIRCH*NORA****XX*1000000012"}, W, "I163"
    ),
    "the attending provider refers": BillFault(
        TESTS, {ATTENDING: f"{ATTENDING}~NM1*DN*1*FENN*OSKAR****XX*1679576722"}, W, "I163"
    ),
    "a facility that is the hospital": BillFault(
        STAY,
        {
            ATTENDING: f"{ATTENDING}~NM1*77*2*ROWANFIELD HOSPITAL*****XX*1234567893~N3*700 ORCHARD AVENUE~"
            "N4*AUSTIN*TX*787010042"
        },
        INFO,
        "I164",
    ),
    "a hospital that bills as a hospice": BillFault(
        "812 hospice", {"PXC*251G00000X": "PXC*282N00000X"}, W, "I166"
    ),
    "a line of the attending provider": BillFault(
        TESTS,
        {"REF*6R*RH-3001-1~": "REF*6R*RH-3001-1~NM1*82*1*FENN*OSKAR****XX*1679576722~"},
        INFO,
        "I167",
    ),
    "a patient at the hospital": BillFault(
        STAY,
        {"N3*8 QUARRY LANE~N4*AUSTIN*TX*787020042": "N3*700 ORCHARD AVENUE~N4*AUSTIN*TX*787010042"},
        INFO,
        "I168",
    ),
    # lines
    "no such revenue code": BillFault(TESTS, {"SV2*0301": "SV2*301"}, E, "I169"),
    "a revenue code of no category": BillFault(TESTS, {"SV2*0301": "SV2*0050"}, W, "I269"),
    "the total as a line": BillFault(STAY, {"SV2*0250": "SV2*0001"}, E, "I169"),
    "a test without a procedure": BillFault(TESTS, {"SV2*0301*HC:83036": "SV2*0301*"}, W, "I170"),
    "a rate line without its code": BillFault(
        "329 home health", {"SV2*0023*HP:1CA11": "SV2*0023*"}, W, "I171"
    ),
    "a rate code elsewhere": BillFault(
        "329 home health", {"SV2*0551*HC:G0299": "SV2*0551*HP:1CA11"}, W, "I171"
    ),
    "lines without days": BillFault(TESTS, NO_DATES, E, "I172"),
    "lines of one day without it": BillFault(
        "711 rural clinic", {"DTP*472*D8*20260310~": ""}, W, "I272"
    ),
    "a line outside of the statement": BillFault(
        TESTS, {"DTP*472*D8*20260306": "DTP*472*D8*20260309"}, E, "I173"
    ),
    "accommodation in units": BillFault(STAY, {"0120**1500*DA*3": "0120**1500*UN*3"}, W, "I174"),
    "half a day": BillFault(STAY, {"0120**1500*DA*3": "0120**1500*DA*2.5"}, E, "I175 I152"),
    "a stay without accommodation": BillFault(
        STAY, {"0120**1500*DA*3": "0270**1500*UN*3"}, W, "I177"
    ),
    "accommodation of an outpatient": BillFault(
        TESTS, {"0301*HC:83036*37*UN*1": "0120**37*DA*1"}, W, "I178"
    ),
    "leave without its span": BillFault(
        "211 with leave", {"HI*BI:74:RD8:20260307-20260308~": ""}, W, "I179"
    ),
    "a line for nothing": BillFault(
        TESTS, {"*85***13": "*48***13", "HC:83036*37": "HC:83036*0"}, W, "I180"
    ),
    "more not covered than charged": BillFault(
        "111 with an unpaid day", {"DA*3**500": "DA*3**1500.01"}, E, "I182"
    ),
    "a drug without its code": BillFault(STAY, {"SV2*0250": "SV2*0636"}, W, "I184"),
    "a line too many for Medicare": BillFault(
        "131 of 449 lines",
        {
            "*4490***13": "*4500***13",
            "SE*": "LX*450~SV2*0301*HC:85730*10*UN*1~DTP*472*D8*20260301~SE*",
        },
        W,
        "I185",
    ),
    "lines that do not add up": BillFault(TESTS, {"*85***13": "*86***13"}, E, "C701"),
    # money of other payers, Medicare
    "what is still owed, twice": BillFault(
        "111 second payer",
        {
            "AMT*D*1556.5~": "AMT*D*1556.5~AMT*EAF*250~",
            "REF*6R*RH-3001-1~": "REF*6R*RH-3001-1~SVD*SUM01*1250**0120*3~CAS*PR*1*250~AMT*EAF*250~",
        },
        E,
        "X837-COB-REST SEG-MISSING X837-COB-DATE C755",
    ),
    "a decision on an outpatient for a stay": BillFault(
        "111 second payer", {"OI***Y***Y": "OI***Y***Y~MOA***MA01"}, W, "I191"
    ),
    "two kinds of decision": BillFault(
        "111 second payer",
        {"OI***Y***Y": "OI***Y***Y~MIA*3~MOA***MA01"},
        W,
        "I191",
    ),
    "a payer for accidents without one": BillFault(
        "111 second payer",
        {
            "H7001******CI": "H7001******MA",
            "SBR*S*18": "SBR*S*18",
            "MI*H55577": "MI*1EG4TE5MK73",
            "HI*BE:80:::3": "HI*BE:80:::3*BE:47:::1556.5",
        },
        W,
        "I292",
    ),
    "Medicare second without the first": BillFault(
        "111 second payer",
        {"H7001******CI": "H7001******MA", "MI*H55577": "MI*1EG4TE5MK73"},
        W,
        "I192",
    ),
    "a share above the total": BillFault(
        TESTS, {"CL1*3*1*01": "CL1*3*1*01~AMT*F3*85.01"}, W, "I194"
    ),
    "Medicare's replacement without a reason": BillFault(
        "117 replacement",
        {"H7001******CI": "H7001******MA", "MI*H55577": "MI*1EG4TE5MK73"},
        W,
        "I197",
    ),
    "a payer of professional claims": BillFault(
        TESTS, {"PI*HHP20": f"PI*{PROFESSIONAL_PAYER}"}, E, "I199"
    ),
    "late charges for Medicare": BillFault(
        "115 late charges",
        {"H7001******CI": "H7001******MA", "MI*H55577": "MI*1EG4TE5MK73"},
        W,
        "I198",
    ),
}
