"""Institutional claims written by hand, one or more for each type of bill; the builder adds envelope, people and counts.

    BILLS["111 pneumonia"].file()          # an 837I as bytes

A bill is clean: neither the guide, nor a rule, nor pyx12 has anything against it on ``TODAY``.
"""

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

TODAY = date(2026, 4, 15)

_HEAD = """ISA*00*          *00*          *ZZ*ROWANFIELD     *ZZ*CLEARLANE      *260415*0925*^*00501*000000103*0*T*:
GS*HC*ROWANFIELD*CLEARLANE*20260415*0925*103*X*005010X223A2
ST*837*0001*005010X223A2
BHT*0019*00*RH0103*20260415*0925*CH
NM1*41*2*ROWANFIELD HOSPITAL*****46*ROWANFIELD
PER*IC*PATIENT ACCOUNTS*TE*5125550163
NM1*40*2*CLEARLANE*****46*CLEARLANE"""
_PROVIDER = """PRV*BI*PXC*{}
NM1*85*2*ROWANFIELD HOSPITAL*****XX*1234567893
N3*700 ORCHARD AVENUE
N4*AUSTIN*TX*787010042
REF*EI*456789123"""
_TAXONOMIES = {
    "21": "314000000X",
    "32": "251E00000X",
    "71": "261QR1300X",
    "72": "261QE0700X",
    "81": "251G00000X",
}
"""The billing provider's taxonomy code by type of bill; a hospital's for others."""
ATTENDING = "NM1*71*1*FENN*OSKAR****XX*1679576722"
OPERATING = "NM1*72*1*BIRCH*NORA****XX*1000000012"
PAYER = "NM1*PR*2*HARBOR HEALTH PLAN*****PI*"


@dataclass(frozen=True, kw_only=True)
class Bill:
    """A claim: its type of bill with the frequency, its days, its codes, its lines."""

    type: str
    days: str = "20260310-20260310"
    admission: str = ""
    discharge: str = ""
    cl1: str = "3*1*01"
    """Admission type, point of origin, patient status."""
    references: tuple[str, ...] = ()
    codes: tuple[str, ...] = ("ABK:I10",)
    """The elements of an HI each."""
    people: tuple[str, ...] = (ATTENDING,)
    other: tuple[str, ...] = ()
    """Segments of another payer."""
    lines: tuple[str, ...]
    """SV2 without its name, and the day of the line after a blank; more segments after further ones."""
    birth: str = "19860420"
    coverage: str = "CI"
    member: str = "H55577"
    number: str = "RH-3001"
    address: str = "N3*8 QUARRY LANE~N4*AUSTIN*TX*787020042"
    payer: str = "HHP20"

    @property
    def taxonomy(self) -> str:
        """The taxonomy code of a provider with such bills."""
        return _TAXONOMIES.get(self.type[:2], "282N00000X")

    @property
    def charge(self) -> str:
        """The sum of the lines."""
        return str(sum(Decimal(line.split()[0].split("*")[2]) for line in self.lines))

    def segments(self) -> list[str]:
        """Return the claim without the levels around it."""
        facility, frequency = self.type[:2], self.type[2:]
        rows = [f"CLM*{self.number}*{self.charge}***{facility}:A:{frequency}**A*Y*Y"]
        if self.discharge:
            rows.append(f"DTP*096*TM*{self.discharge}")
        rows.append(f"DTP*434*RD8*{self.days}")
        if self.admission:
            rows.append(f"DTP*435*{'DT' if len(self.admission) > 8 else 'D8'}*{self.admission}")
        rows += [f"CL1*{self.cl1}", *self.references]
        rows += [f"HI*{one}" for one in self.codes]
        rows += [*self.people, *self.other]
        for number, line in enumerate(self.lines, 1):
            service, *rest = line.split()
            rows += [f"LX*{number}", f"SV2*{service}"]
            if rest and rest[0] != "-":
                rows.append(f"DTP*472*{'RD8' if '-' in rest[0] else 'D8'}*{rest[0]}")
            rows += [f"REF*6R*{self.number}-{number}", *rest[1:]]
        return rows

    def level(self) -> list[str]:
        """Return the claim with its subscriber, without the HL."""
        return [
            f"SBR*{'S' if self.other else 'P'}*18*H7001******{self.coverage}",
            f"NM1*IL*1*LUND*IVA****MI*{self.member}",
            *self.address.split("~"),
            f"DMG*D8*{self.birth}*F",
            f"{PAYER}{self.payer}",
            *self.segments(),
        ]

    def text(self) -> str:
        """Return the file."""
        return file_of(self)

    def file(self) -> bytes:
        """Return the file as bytes."""
        return self.text().encode()

    def but(self, **changes: Any) -> "Bill":
        """Return another bill."""
        return replace(self, **changes)


def file_of(*bills: Bill) -> str:
    """Return a file of some bills, each under a subscriber of its own."""
    rows, level, billing = _HEAD.split("\n"), 0, 0
    for number, bill in enumerate(bills):
        if not number or bill.taxonomy != bills[number - 1].taxonomy:
            level += 1
            billing = level
            rows += [f"HL*{level}**20*1", *_PROVIDER.format(bill.taxonomy).split("\n")]
        level += 1
        rows += [f"HL*{level}*{billing}*22*0", *bill.level()]
    rows.append(f"SE*{len(rows) - 1}*0001")
    return "~".join([*rows, "GE*1*103", "IEA*1*000000103"]) + "~"


def _bed(days: int, price: int = 500, code: str = "0120") -> str:
    return f"{code}**{days * price}*DA*{days}"


STAY = Bill(
    type="111",
    days="20260302-20260305",
    admission="202603021015",
    discharge="1130",
    cl1="1*1*01",
    codes=(
        "ABK:J189:::::::Y",
        "ABJ:R0602",
        "ABF:I10:::::::Y*ABF:E119:::::::Y",
        "BE:80:::3",
    ),
    lines=(_bed(3), "0250**210.50*UN*12", "0300*HC:80053*96*UN*2 20260303"),
)
SURGERY = Bill(
    type="111",
    days="20260308-20260310",
    admission="202603080340",
    discharge="0915",
    cl1="1*1*06",
    codes=("ABK:K3580:::::::Y", "ABJ:R1031", "BBR:0DTJ4ZZ:D8:20260308", "BE:80:::2"),
    people=(ATTENDING, OPERATING),
    lines=(_bed(2, 700), "0360**4100*UN*1", "0370**850*UN*1", "0710**320*UN*2"),
)
EMERGENCY = Bill(
    type="131",
    days="20260310-20260310",
    cl1="1*1*01",
    codes=("ABK:R079", "APR:R079*APR:R0602", "ABF:I10"),
    lines=(
        "0450*HC:99284*780*UN*1 20260310",
        "0300*HC:84484*110*UN*1 20260310",
        "0730*HC:93005*95*UN*1 20260310",
    ),
)
LABORATORY = Bill(
    type="131",
    days="20260302-20260306",
    codes=("ABK:E119",),
    lines=("0301*HC:80053*48*UN*1 20260302", "0301*HC:83036*37*UN*1 20260306"),
)
NURSING = Bill(
    type="211",
    days="20260302-20260316",
    admission="20260302",
    cl1="3*4*06",
    codes=("ABK:I69354", "ABJ:I69354", "BI:70:RD8:20260223-20260227", "BE:80:::14"),
    lines=("0022*HP:KAQD1*0*UN*14 20260316", _bed(14, 310), "0420**640*UN*8"),
)
HOME_HEALTH = Bill(
    type="329",
    days="20260302-20260331",
    admission="20260302",
    cl1="3*2*01",
    codes=("ABK:E1165", "ABF:I10", "BH:50:D8:20260301", "BE:61:::12420"),
    lines=(
        "0023*HP:1CA11*0*UN*1 20260302",
        "0551*HC:G0299*180*UN*3 20260302",
        "0551*HC:G0299*180*UN*3 20260316",
        "0421*HC:G0151*210*UN*4 20260320",
    ),
)
HOSPICE = Bill(
    type="812",
    days="20260310-20260331",
    admission="20260310",
    cl1="3*1*30",
    codes=("ABK:C3490", "BH:27:D8:20260310", "BE:61:::12420"),
    lines=("0651*HC:Q5001*4400*UN*22 20260310", "0551*HC:G0299*80*UN*4 20260312"),
)
DIALYSIS = Bill(
    type="721",
    days="20260302-20260330",
    cl1="3*1*01",
    codes=("ABK:N186", "BE:A8:::72.5*BE:A9:::168", "BG:74"),
    lines=(
        "0821*HC:90999:::::HEMODIALYSIS*290*UN*1 20260302",
        "0821*HC:90999:::::HEMODIALYSIS*290*UN*1 20260304",
    ),
)
CLINIC = Bill(
    type="711",
    codes=("ABK:J0190",),
    lines=("0521*HC:99213*165*UN*1 20260310",),
)
TEST_CODES = (
    "80048 80053 80061 80076 81001 82043 82306 82607 82728 83036 83540 84443 84484 85025 85610"
)
MANY_LINES = tuple(
    f"0301*HC:{code}*10*UN*1 202603{day:02}" for day in range(1, 32) for code in TEST_CODES.split()
)

BILLS: dict[str, Bill] = {
    "111 pneumonia": STAY,
    "111 appendectomy": SURGERY,
    "111 newborn": STAY.but(
        days="20260302-20260304",
        admission="202603021015",
        cl1="4*5*01",
        codes=("ABK:Z3800", "ABJ:Z3800", "BE:80:::2*BE:54:::3200"),
        birth="20260302",
        lines=(_bed(2, 420, "0171"), "0300*HC:82247*31*UN*1"),
    ),
    "111 one day": STAY.but(
        days="20260302-20260302",
        cl1="1*1*02",
        codes=("ABK:I214:::::::Y", "ABJ:R079", "BE:80:::1", "BG:40"),
        lines=(_bed(1, 2400, "0200"), "0730**95*UN*1"),
    ),
    "111 died": STAY.but(
        cl1="1*1*20",
        codes=("ABK:J189:::::::Y", "ABJ:R0602", "BH:55:D8:20260305", "BE:80:::3"),
    ),
    "111 with an unpaid day": STAY.but(
        codes=("ABK:J189:::::::Y", "ABJ:R0602", "BE:80:::2*BE:81:::1"),
        lines=("0120**1500*DA*3**500", "0250**210.50*UN*12"),
    ),
    "111 services before admission": STAY.but(
        days="20260228-20260305",
        lines=(_bed(3), "0300*HC:80053*96*UN*2 20260228"),
    ),
    "111 second payer": STAY.but(
        other=(
            "SBR*P*18*******CI",
            "CAS*PR*1*250",
            "AMT*D*1556.5",
            "OI***Y***Y",
            "NM1*IL*1*LUND*IVA****MI*S1",
            "NM1*PR*2*SUMMIT HEALTH*****PI*SUM01",
            "DTP*573*D8*20260401",
        ),
    ),
    "112 first interim": STAY.but(
        type="112",
        days="20260302-20260331",
        discharge="",
        cl1="1*1*30",
        codes=("ABK:J189:::::::Y", "ABJ:R0602", "BE:80:::30"),
        lines=(_bed(30), "0250**910*UN*60"),
    ),
    "113 continuing": STAY.but(
        type="113",
        days="20260302-20260331",
        admission="202602021015",
        discharge="",
        cl1="1*1*30",
        codes=("ABK:J189:::::::Y", "ABJ:R0602", "BE:80:::30"),
        lines=(_bed(30),),
    ),
    "114 last interim": STAY.but(
        type="114",
        admission="202602021015",
        lines=(_bed(3),),
    ),
    "115 late charges": STAY.but(
        type="115", discharge="", codes=(*STAY.codes[:2], "BE:80:::3"), lines=(_bed(3, 10),)
    ),
    "117 replacement": STAY.but(type="117", references=("REF*F8*H2026000417",)),
    "118 void": STAY.but(type="118", references=("REF*F8*H2026000417",)),
    "121 ancillary": Bill(
        type="121",
        days="20260302-20260305",
        admission="202603021015",
        cl1="1*1*01",
        codes=("ABK:J189", "ABJ:R0602"),
        lines=("0300*HC:80053*96*UN*2 20260303", "0420*HC:97110*120*UN*2 20260304"),
    ),
    "131 emergency": EMERGENCY,
    "131 laboratory": LABORATORY,
    "131 same procedure twice": LABORATORY.but(
        lines=("0301*HC:80053*48*UN*1 20260302", "0301*HC:80053:91*48*UN*1 20260302")
    ),
    "131 transport alone": LABORATORY.but(
        people=(),
        lines=("0540*HC:A0429:RH*640*UN*1 20260302", "0540*HC:A0425:RH*90*UN*12 20260302"),
    ),
    "131 of 449 lines": LABORATORY.but(
        days="20260301-20260331",
        coverage="MA",
        member="1EG4TE5MK73",
        lines=MANY_LINES[:449],
    ),
    "137 replacement": LABORATORY.but(type="137", references=("REF*F8*H2026000418",)),
    "141 others' laboratory": LABORATORY.but(type="141", cl1="**01"),
    "181 swing bed": STAY.but(type="181", cl1="3*4*03"),
    "211 nursing": NURSING,
    "212 nursing, first": NURSING.but(
        type="212",
        cl1="3*4*30",
        codes=("ABK:I69354", "ABJ:I69354", "BI:70:RD8:20260223-20260227", "BE:80:::15"),
        lines=("0022*HP:KAQD1*0*UN*15 20260316", _bed(15, 310)),
    ),
    "211 with leave": NURSING.but(
        codes=("ABK:I69354", "ABJ:I69354", "BI:74:RD8:20260307-20260308", "BE:80:::12*BE:81:::2"),
        lines=(_bed(12, 310), "0182**100*DA*2"),
    ),
    "221 nursing, Part B": Bill(
        type="221",
        days="20260302-20260316",
        admission="20260202",
        cl1="3*4*01",
        codes=("ABK:I69354", "ABJ:I69354"),
        lines=("0420*HC:97110:GP*120*UN*2 20260304",),
    ),
    "231 nursing, outpatient": LABORATORY.but(
        type="231", lines=("0420*HC:97110:GP*120*UN*2 20260304",)
    ),
    "241 nursing, others' laboratory": LABORATORY.but(type="241"),
    "281 nursing, swing bed": NURSING.but(type="281", lines=(_bed(14, 310),)),
    "329 home health": HOME_HEALTH,
    "331 home health, Part A": HOME_HEALTH.but(type="331"),
    "341 home health without a plan": LABORATORY.but(
        type="341", lines=("0274*HC:L1832*640*UN*1 20260304",)
    ),
    "411 religious, stay": STAY.but(
        type="411", codes=("ABK:J189", "ABJ:R0602", "BE:80:::3"), lines=(_bed(3, 200),)
    ),
    "431 religious, outpatient": LABORATORY.but(type="431", lines=("0590**60*UN*1 20260304",)),
    "651 intermediate care": STAY.but(
        type="651", cl1="3*1*01", codes=("ABK:F79", "BE:80:::3"), lines=(_bed(3, 260),)
    ),
    "661 intermediate care": STAY.but(
        type="661", cl1="3*1*01", codes=("ABK:F79", "BE:80:::3"), lines=(_bed(3, 260),)
    ),
    "711 rural clinic": CLINIC,
    "721 dialysis": DIALYSIS,
    "731 clinic": CLINIC.but(type="731", lines=("0510*HC:99213*165*UN*1 20260310",)),
    "741 rehabilitation": CLINIC.but(
        type="741", codes=("ABK:M25561",), lines=("0420*HC:97110:GP*120*UN*2 20260310",)
    ),
    "751 comprehensive rehabilitation": CLINIC.but(
        type="751", codes=("ABK:M25561",), lines=("0430*HC:97530:GO*90*UN*2 20260310",)
    ),
    "761 mental health": CLINIC.but(
        type="761", codes=("ABK:F332",), lines=("0912*HC:G0410*300*UN*1 20260310",)
    ),
    "771 health center": CLINIC.but(
        type="771",
        lines=("0519*HC:G0467*190*UN*1 20260310", "0521*HC:99213*165*UN*1 20260310"),
    ),
    "781 emergency center": EMERGENCY.but(type="781"),
    "791 other clinic": CLINIC.but(type="791", lines=("0510*HC:99213*165*UN*1 20260310",)),
    "812 hospice": HOSPICE,
    "822 hospice of a hospital": HOSPICE.but(type="822"),
    "81A notice of election": HOSPICE.but(
        type="81A",
        days="20260310-20260310",
        cl1="3*1*30",
        codes=("ABK:C3490", "BH:27:D8:20260310"),
        lines=("0651**0*UN*1",),
    ),
    "32A notice of admission": HOME_HEALTH.but(
        type="32A",
        days="20260302-20260302",
        cl1="3*2*30",
        codes=("ABK:E1165",),
        lines=("0023*HP:1AA11*0*UN*1 20260302",),
    ),
    "811 hospice, died": HOSPICE.but(
        type="811",
        cl1="3*1*40",
        codes=("ABK:C3490", "BH:27:D8:20260310*BH:55:D8:20260331", "BE:61:::12420"),
    ),
    "831 surgery center": CLINIC.but(
        type="831",
        codes=("ABK:H2511",),
        people=(ATTENDING, OPERATING),
        lines=("0490*HC:66984:RT*2100*UN*1 20260310",),
    ),
    "841 birthing center": CLINIC.but(
        type="841",
        codes=("ABK:O80", "ABF:Z370*ABF:Z3A39"),
        lines=("0724*HC:59409*1900*UN*1 20260310",),
    ),
    "851 critical access": EMERGENCY.but(type="851"),
    "861 residential": STAY.but(
        type="861",
        cl1="3*1*01",
        codes=("ABK:F332", "BE:80:::3"),
        lines=("1001**1200*UN*3", _bed(3, 150)),
    ),
    "871 opioid treatment": CLINIC.but(
        type="871", codes=("ABK:F1120",), lines=("0900*HC:G2067*230*UN*1 20260310",)
    ),
    "891 other facility": CLINIC.but(type="891", lines=("0510*HC:99213*165*UN*1 20260310",)),
}
