"""Institutional claims just beyond a limit of a rule and just within it."""

from typing import NamedTuple

from tests.claims.institutional_claims import ATTENDING, BILLS, OPERATING, Bill
from tests.claims.institutional_faults import DEMANDING_PAYER

STAY, SURGERY, VISIT = (
    BILLS[name] for name in ("111 pneumonia", "111 appendectomy", "131 emergency")
)
TESTS, DAY, DEATH = (BILLS[name] for name in ("131 laboratory", "111 one day", "111 died"))
INTERIM, CONTINUING, LAST = (
    BILLS[name] for name in ("112 first interim", "113 continuing", "114 last interim")
)
NURSING, LEAVE, HOME = (
    BILLS[name] for name in ("211 nursing", "211 with leave", "329 home health")
)
SECOND, MEDICARE_LINES = BILLS["111 second payer"], BILLS["131 of 449 lines"]
UNPAID, DIALYSIS, NEWBORN = (
    BILLS[name] for name in ("111 with an unpaid day", "721 dialysis", "111 newborn")
)
TRANSPORT, HOSPICE = BILLS["131 transport alone"], BILLS["812 hospice"]
NOTICE, CLINIC = BILLS["81A notice of election"], BILLS["711 rural clinic"]
REPLACEMENT, VOID = BILLS["117 replacement"], BILLS["118 void"]
MEDICARE = {"coverage": "MA", "member": "1EG4TE5MK73"}
PART_B = MEDICARE | {"coverage": "MB"}
BED, DRUGS = "0120**1500*DA*3", "0250**210.50*UN*12"
TEST = "0301*HC:83036*37*UN*1 20260306"
REFERRING = "NM1*DN*1*BIRCH*NORA****XX*1000000012"
RENDERING = "NM1*82*1*BIRCH*NORA****XX*1000000012"
FACILITY = "NM1*77*2*ROWANFIELD HOSPITAL*****XX*1234567893"
HOME_ADDRESS = "N3*700 ORCHARD AVENUE~N4*AUSTIN*TX*787010042"


class BillEdge(NamedTuple):
    """A rule, a bill that breaks it, and one that keeps it by a hair."""

    rule: str
    beyond: Bill
    within: Bill


def coded(bill: Bill, *codes: str) -> Bill:
    """Return a bill with further codes."""
    return bill.but(codes=(*bill.codes, *codes))


def with_lines(bill: Bill, *lines: str) -> Bill:
    """Return a bill with other lines."""
    return bill.but(lines=lines)


def with_people(bill: Bill, *people: str) -> Bill:
    """Return a bill with other people."""
    return bill.but(people=people)


def paid_first(value: str, *more: str) -> Bill:
    """Return a bill to Medicare after a payer that paid 1,556.50, with what its value codes state."""
    return SECOND.but(codes=(*STAY.codes[:3], f"BE:80:::3{value}", *more), **MEDICARE)


EDGES: list[BillEdge] = [
    BillEdge(*row)
    for row in (
        # days and hours
        ("I108", TESTS.but(days="20260302-20260416"), TESTS.but(days="20260302-20260415")),
        ("I108", TESTS.but(days="20260302-20260416"), NOTICE.but(days="20260416-20260416")),
        ("I113", STAY.but(admission="202603061015"), STAY.but(admission="202603051015")),
        ("I213", STAY.but(days="20260301-20260308", admission="202603051015"),
            STAY.but(days="20260302-20260308", admission="202603051015")),
        ("I213", STAY.but(admission="202603011015"), STAY.but(admission="202603021015")),
        ("I213", INTERIM.but(admission="202603011015"), CONTINUING),
        ("I114", LAST.but(discharge=""), CONTINUING.but(cl1="1*1*01")),
        ("I114", STAY.but(discharge=""), STAY.but(discharge="", cl1="1*1*30")),
        ("I115", STAY.but(cl1="1*1*30"), STAY),
        ("I115", CONTINUING.but(discharge="1130"), LAST),
        ("I115", INTERIM.but(discharge="1130", cl1="1*1*01"), INTERIM),
        ("I122", HOSPICE.but(cl1="3**30"), NOTICE.but(cl1="3**30")),
        *[("I121", NEWBORN.but(cl1=f"4*{other}*01"), NEWBORN.but(cl1=f"4*{own}*01")) for other, own in (("1", "5"), ("4", "6"))],
        ("I123", LAST.but(cl1="1*1*30", discharge=""), CONTINUING),
        ("I223", TESTS.but(cl1="3*1*30"), TESTS.but(cl1="3*1*30", type="132")),
        ("I124", CONTINUING.but(cl1="1*1*01"), LAST),
        ("I125", DEATH.but(codes=STAY.codes), DEATH),
        *[("I125", HOSPICE.but(type="814", cl1=f"3*1*{status}"), coded(HOSPICE.but(type="814", cl1=f"3*1*{status}"), "BH:55:D8:20260331"))
            for status in ("40", "41", "42")],
        ("I126", DAY.but(codes=DAY.codes[:-1]), DAY.but(codes=DAY.codes[:-1], admission="202603011015")),
        ("I126", DAY.but(codes=DAY.codes[:-1], cl1="1*1*70"), DAY.but(codes=DAY.codes[:-1], cl1="1*1*04")),
        # diagnoses and procedures
        ("I130", coded(VISIT, "ABN:U071"), coded(VISIT, "ABN:V0001XA*ABN:Y998")),
        ("I132", STAY.but(codes=("ABK:Z7902", *STAY.codes[1:])), STAY.but(type="121", codes=("ABK:Z7902", *STAY.codes[1:]))),
        ("I134", VISIT.but(codes=("ABK:R079",)), VISIT.but(codes=("ABK:R079",), cl1="3*1*01")),
        *[("I134", with_lines(VISIT.but(codes=("ABK:R079",), cl1=f"{kind}*1*01"), f"{code}*HC:99284*780*UN*1 20260310"),
            with_lines(VISIT.but(codes=("ABK:R079",)), f"{other}*HC:99284*780*UN*1 20260310"))
            for kind, code, other in (("1", "0459", "0460"), ("2", "0516", "0515"), ("5", "0762", "0761"), ("1", "0526", "0527"))],
        ("I136", STAY.but(codes=("ABK:J189", *STAY.codes[1:])), STAY.but(codes=("ABK:I252", *STAY.codes[1:]))),
        ("I137", coded(STAY, "ABF:Q249:::::::Y"), coded(STAY, "ABF:P0700:::::::Y")),
        ("I138", coded(VISIT, "ABN:V0001XA:::::::Y"), coded(VISIT, "ABN:V0001XA")),
        ("I143", SURGERY.but(codes=(*SURGERY.codes[:2], "BBR:0DTJ4ZZ:D8:20260311", "BE:80:::2")),
            SURGERY.but(codes=(*SURGERY.codes[:2], "BBR:0DTJ4ZZ:D8:20260310", "BE:80:::2"))),
        ("I143", SURGERY.but(codes=(*SURGERY.codes[:2], "BBR:0DTJ4ZZ:D8:20260304", "BE:80:::2")),
            SURGERY.but(codes=(*SURGERY.codes[:2], "BBR:0DTJ4ZZ:D8:20260305", "BE:80:::2"))),
        ("I143", coded(CONTINUING, "BBR:0DTJ4ZZ:D8:20260129"), coded(CONTINUING, "BBR:0DTJ4ZZ:D8:20260130")),
        ("I145", with_people(SURGERY, ATTENDING), with_people(SURGERY, ATTENDING, "NM1*72*1*BIRCH*NORA")),
        ("I145", with_people(with_lines(SURGERY, "0120**1400*DA*2"), ATTENDING),
            with_lines(STAY.but(codes=(*STAY.codes, "BBR:3E0234Z:D8:20260303")), BED)),
        ("I145", coded(STAY, "BBR:10E0XZZ:D8:20260303"), coded(STAY, "BBR:4A023N7:D8:20260303")),
        ("I145", with_lines(STAY, BED, "0369**41*UN*1"), with_lines(STAY, BED, "0370**41*UN*1")),
        ("I146", coded(STAY, "DR:19"), coded(STAY, "DR:194")),
        ("I146", coded(STAY, "DR:A194"), coded(STAY, "DR:0194")),
        # other codes
        ("I148", coded(DAY.but(codes=DAY.codes[:-1]), "BG:40*BG:40*BG:40"), DAY),
        ("I149", coded(STAY, "BH:11:D8:20260301*BH:11:D8:20260301"), coded(STAY, "BH:11:D8:20260301*BH:11:D8:20260302")),
        ("I249", coded(STAY, "BH:70:D8:20260301"), coded(STAY, "BH:69:D8:20260301*BH:A0:D8:20260301*BH:L9:D8:20260301")),
        ("I249", coded(STAY, "BI:69:RD8:20260301-20260302"),
            coded(STAY, "BI:70:RD8:20260301-20260302*BI:M0:RD8:20260301-20260302*BI:Z9:RD8:20260301-20260302")),
        ("I248", coded(STAY, "BG:00"), coded(STAY, "BG:01*BG:99*BG:A0*BG:W9")),
        ("I150", coded(STAY, "BI:70:RD8:20260302-20260301"), coded(STAY, "BI:70:RD8:20260302-20260302")),
        ("I150", coded(STAY, "BI:70:RD8:19860419-19860425"), coded(STAY, "BI:70:RD8:19860420-19860425")),
        ("I250", coded(STAY, "BI:70:RD8:20260301-20260302*BI:70:RD8:20260301-20260302"),
            coded(STAY, "BI:70:RD8:20260301-20260302*BI:70:RD8:20260301-20260303")),
        ("I152", UNPAID.but(codes=(*UNPAID.codes[:2], "BE:80:::2*BE:81:::2")), UNPAID),
        ("I152", with_lines(STAY, "0120**1500*DA*2"), with_lines(STAY, "0120**1500*DA*2", "0180**15*DA*1")),
        ("I152", STAY.but(cl1="1*1*30", discharge="", type="112"),
            with_lines(STAY.but(cl1="1*1*30", discharge="", type="112", codes=(*STAY.codes[:3], "BE:80:::4")), "0120**1500*DA*4")),
        ("I152", with_lines(STAY.but(days="20260228-20260305", codes=(*STAY.codes[:3], "BE:80:::5")), "0120**2500*DA*5"),
            STAY.but(days="20260228-20260305")),
        ("I152", with_lines(DAY.but(codes=("ABK:I214:::::::Y", "ABJ:R079", "BE:80:::2", "BG:40")), "0200**24*DA*2"), DAY),
        ("I154", coded(STAY, "BG:02"), coded(STAY, "BG:02", "BH:04:D8:20260301")),
        *[("I254", coded(STAY, f"BH:{code}:D8:20260301"), coded(STAY, "BH:07:D8:20260301")) for code in ("01", "02", "03", "04", "05", "06")],
        *[("I254", coded(STAY, "BH:06:D8:20260301"), coded(STAY, "BH:06:D8:20260301", f"ABF:{injury}")) for injury in
            ("S61412A:::::::Y", "T7840XA:::::::Y", "V435XXA", "Y998")],
        *[("I354", coded(VISIT, "ABN:V435XXA", f"BH:{code}:D8:20260310"),
            coded(VISIT.but(references=("REF*LU*TX",)), "ABN:V435XXA", f"BH:{code}:D8:20260310")) for code in ("01", "02", "03")],
        ("I354", coded(VISIT, "ABN:V435XXA", "BH:01:D8:20260310"), coded(VISIT, "ABN:W010XXA", "BH:01:D8:20260310")),
        ("I354", coded(VISIT, "ABN:V435XXA", "BH:03:D8:20260310"), coded(VISIT, "ABN:V435XXA", "BH:04:D8:20260310")),
        ("I156", coded(HOME.but(days="20200101-20200105"), "TC:11IL11AA11FG11"), coded(HOME.but(days="20191227-20191231"), "TC:11IL11AA11FG11")),
        ("I157", DIALYSIS.but(codes=("ABK:N186", "BE:A8:::72.5")), DIALYSIS),
        ("I158", coded(with_lines(STAY, f"{BED}**1499.99"), "BG:21"), coded(with_lines(STAY, f"{BED}**1500"), "BG:21")),
        ("I158", coded(STAY, "BG:20"), coded(with_lines(STAY, BED, f"{DRUGS}**0.50"), "BG:20")),
        ("I158", coded(STAY, "BG:20"), coded(NOTICE, "BG:20")),
        # people
        ("I159", with_people(with_lines(TRANSPORT, *TRANSPORT.lines, TEST)), TRANSPORT),
        ("I160", TESTS.but(payer=DEMANDING_PAYER), TRANSPORT.but(payer=DEMANDING_PAYER)),
        ("I160", TESTS.but(payer=DEMANDING_PAYER),
            with_people(TESTS, f"{ATTENDING}~PRV*AT*PXC*207Q00000X").but(payer=DEMANDING_PAYER)),
        ("I147", STAY.but(payer=DEMANDING_PAYER), coded(STAY.but(payer=DEMANDING_PAYER), "DR:194")),
        ("I161", with_people(SURGERY, ATTENDING, "NM1*ZZ*1*BIRCH*NORA****XX*1000000012"),
            with_people(SURGERY, ATTENDING, OPERATING, "NM1*ZZ*1*QUILL*HANA****XX*1000000020")),
        ("I162", with_people(STAY, ATTENDING, RENDERING.replace("1000000012", "1679576722")), with_people(STAY, ATTENDING, RENDERING)),
        ("I163", with_people(TESTS, ATTENDING, REFERRING.replace("1000000012", "1679576722")), with_people(TESTS, ATTENDING, REFERRING)),
        ("I164", with_people(STAY, ATTENDING, f"{FACILITY}~{HOME_ADDRESS}"),
            with_people(STAY, ATTENDING, f"{FACILITY}~N3*701 ORCHARD AVENUE~N4*AUSTIN*TX*787010042")),
        ("I167", with_lines(TESTS.but(people=(ATTENDING, REFERRING)), f"0301*HC:80053*48*UN*1 20260302 {REFERRING}"),
            with_lines(TESTS, f"0301*HC:80053*48*UN*1 20260302 {REFERRING}")),
        ("I167", with_lines(TESTS.but(people=(ATTENDING, RENDERING)), f"0301*HC:80053*48*UN*1 20260302 {RENDERING}"),
            with_lines(TESTS, f"0301*HC:80053*48*UN*1 20260302 {RENDERING}")),
        ("I168", STAY.but(address=HOME_ADDRESS), NURSING.but(address=HOME_ADDRESS)),
        # lines
        ("I269", with_lines(TESTS, "0002*HC:83036*37*UN*1 20260306"), TESTS),
        *[("I170", with_lines(TESTS, f"{code}**37*UN*1 20260306"), with_lines(TESTS, f"{other}**37*UN*1 20260306"))
            for code, other in (("0300", "0290"), ("0359", "0360"), ("0450", "0440"), ("0636", "0637"))],
        ("I171", with_lines(NURSING, "0022*HP:KAQD*0*UN*14 20260316", *NURSING.lines[1:]), NURSING),
        ("I173", TESTS.but(lines=(TEST.replace("0306", "0226"),)), TESTS.but(lines=(TEST.replace("0306", "0227"),))),
        ("I173", TESTS.but(lines=(TEST.replace("0306", "0307"),)), TESTS.but(lines=(TEST,))),
        ("I173", TESTS.but(lines=(TEST.replace("20260306", "20260306-20260307"),)),
            TESTS.but(lines=(TEST.replace("20260306", "20260305-20260306"),))),
        ("I172", TESTS.but(lines=(TEST.split(maxsplit=1)[0],)), CLINIC.but(lines=("0521*HC:99213*165*UN*1",))),
        ("I272", CLINIC.but(lines=("0521*HC:99213*165*UN*1",)), TESTS.but(lines=(TEST.split(maxsplit=1)[0],))),
        ("I174", with_lines(STAY, BED, "0250**210.50*DA*1"), with_lines(STAY, BED, "0250**210.50*UN*1")),
        ("I175", with_lines(STAY, "0120**1500*DA*2.5"), with_lines(STAY, BED, "0250**210.50*UN*2.5")),
        *[("I177", with_lines(STAY, f"{code}**1500*UN*3"), with_lines(STAY, f"{other}**1500*DA*3"))
            for code, other in (("0220", "0219"), ("0300", "0100"))],
        ("I178", with_lines(TESTS, TEST, "0100**37*DA*1"), with_lines(TESTS, TEST, "0220**37*UN*1")),
        ("I179", with_lines(LEAVE, LEAVE.lines[0], "0182**100*DA*3"), LEAVE),
        ("I179", with_lines(LEAVE, LEAVE.lines[0], "0182**100*DA*1", "0183**50*DA*2"),
            with_lines(LEAVE, LEAVE.lines[0], "0182**100*DA*1", "0183**50*DA*1")),
        ("I180", with_lines(STAY, BED, "0250**0*UN*1"), NOTICE),
        ("I182", with_lines(STAY, f"{BED}**1500.01"), with_lines(STAY, f"{BED}**1500")),
        ("I182", with_lines(STAY, f"{BED}**-0.01"), with_lines(STAY, f"{BED}**0")),
        ("I184", with_lines(STAY, BED, "0636**20*UN*1"), with_lines(STAY, BED, "0636*HC:J1885*20*UN*1 20260303")),
        ("I185", MEDICARE_LINES.but(lines=(*MEDICARE_LINES.lines, TEST)), MEDICARE_LINES),
        ("I185", MEDICARE_LINES.but(lines=(*MEDICARE_LINES.lines, TEST)), MEDICARE_LINES.but(lines=(*MEDICARE_LINES.lines, TEST), coverage="CI")),
        # money and Medicare
        ("I194", TESTS.but(references=("AMT*F3*85.01",)), TESTS.but(references=("AMT*F3*85",))),
        ("I194", TESTS.but(references=("AMT*F3*-0.01",)), TESTS.but(references=("AMT*F3*0",))),
        ("I192", paid_first(""), SECOND),
        ("I192", paid_first("*BE:12:::1556.49"), paid_first("*BE:12:::1556.5")),
        *[("I192", paid_first(f"*BE:{value}:::1000*BE:43:::500"), paid_first(f"*BE:{value}:::1000*BE:43:::556.5"))
            for value in ("13", "14", "15", "16", "41", "47")],
        *[("I292", paid_first(f"*BE:{value}:::1556.5"), paid_first(f"*BE:{value}:::1556.5", "BH:01:D8:20260301"))
            for value in ("14", "15", "47")],
        ("I292", paid_first("*BE:14:::1556.5"), paid_first("*BE:12:::1556.5")),
        ("I197", coded(REPLACEMENT.but(**MEDICARE), "BG:D0*BG:D1"), coded(REPLACEMENT.but(**MEDICARE), "BG:D0")),
        ("I197", coded(REPLACEMENT.but(**MEDICARE), "BG:D5"), coded(REPLACEMENT.but(**PART_B), "BG:E0")),
        ("I197", coded(VOID.but(**MEDICARE), "BG:D4"), coded(VOID.but(**MEDICARE), "BG:D5")),
        ("I198", STAY.but(type="115", **MEDICARE), TESTS.but(type="135", **MEDICARE)),
    )
]  # fmt: skip
