"""Tables of payers' codes: the places of an 837 that a code concerns, and what to do about it.

A row of ``STATUS_PLACES``, ``REASON_PLACES`` or ``REMARK_PLACES`` lists the places of an 837 that a code concerns; the
placement tables know their fields. In a place ``{e}`` is the loop of the entity that a status names, ``{line}`` the
segment of a service line (SV1 or SV3). A code without a row is explained by its description, with the field of the
charge it reduces, or none.

A row of the tables of advice names the act that a code asks for, with its sentence: the act is the main button of the
claim's page. A reason that a correction does not answer (duplicate, not covered, not medically necessary, filing limit)
has another act.

Knows codes and places; knows no field by name.
"""

from collections.abc import Mapping

from clearlane.claims.responses.advice_act import Advice, AdviceAct

# The entities of STC01-3 and their loops in an 837. Submitter and receiver are the clearinghouse.
ENTITY_LOOPS: Mapping[str, str] = {
    "85": "2010AA", "1P": "2010AA", "87": "2010AB", "IL": "2010BA", "QC": "2010CA", "PR": "2010BB",
    "DN": "2310A", "P3": "2310A", "82": "2310B", "77": "2310C", "FA": "2310C", "DQ": "2310D",
    "DK": "2420E", "GB": "2330A", "PRP": "2330B", "SEP": "2330B", "TTP": "2330B", "TU": "2330B",
}  # fmt: skip
CLEARINGHOUSE_ENTITIES = frozenset({"40", "41", "36", "AY"})
"""Entities of a status that are the clearinghouse itself."""

_NAME = ("{e}/NM1/03", "{e}/NM1/04")
_ADDRESS = ("{e}/N3/01", "{e}/N4/01", "{e}/N4/02", "{e}/N4/03")
_ID = ("{e}/NM1/09",)
_TAX = ("{e}/REF:EI/02", "{e}/REF:SY/02")
_MEMBER = ("2010BA/NM1/09",)
_INSURED = (*_MEMBER, "2010BA/NM1/03", "2010BA/NM1/04")
_SERVICE_DAY = ("2400/DTP:472/03",)
_CODE = ("2400/{line}/01-2",)
_MODIFIERS = ("2400/{line}/01-3",)
_CHARGE = ("2400/{line}/02",)
_UNITS = ("2400/SV1/04", "2400/SV3/06")
_POINTERS = ("2400/SV1/07", "2400/SV3/11")
_PLACE = ("2300/CLM/05-1", "2400/SV1/05", "2400/SV3/03")
_TEETH = ("2400/TOO/02", "2400/TOO/03", "2400/SV3/04")
_DIAGNOSES = ("2300/HI",)
_APPROVAL = ("2300/REF:G1/02", "2300/REF:9F/02")
_ATTACHMENT = ("2300/PWK/01", "2300/PWK/02", "2300/PWK/06")
_EARLIER = ("2300/REF:F8/02", "2300/CLM/05-3")
_OTHER_PAYER = ("2320/AMT:D/02", "2330B/NM1/03", "2330B/DTP:573/03")
_OTHER_INSURED = ("2330A/NM1/03", "2330A/NM1/09", "2320/SBR/02")
_ACCIDENT = ("2300/CLM/11-1", "2300/CLM/11-4", "2300/DTP:439/03")
_NPIS = ("2010AA/NM1/09", "2310B/NM1/09")

STATUS_PLACES: Mapping[str, tuple[str, ...]] = {
    "24": (), "26": (*_ID, *_NAME), "29": _INSURED, "30": _INSURED, "31": _INSURED, "32": _INSURED,
    "33": _INSURED, "34": _INSURED, "54": _SERVICE_DAY, "78": _SERVICE_DAY, "81": _DIAGNOSES,
    "84": _APPROVAL, "86": (*_DIAGNOSES, "2010CA/DMG/03"), "88": (*_MEMBER, *_SERVICE_DAY),
    "89": (*_MEMBER, *_SERVICE_DAY), "90": (*_MEMBER, *_SERVICE_DAY),
    "91": (*_ID, *_SERVICE_DAY), "92": ("2000C/PAT/01", "2000B/SBR/02"), "96": _ID,
    "97": (*_INSURED, "2010CA/DMG/02"), "109": _ID, "116": ("2010BB/NM1/09",),
    "117": ("2300/CLM/06",), "124": (*_NAME, *_ADDRESS, *_ID), "125": _NAME, "126": _ADDRESS,
    "127": ("{e}/PER/04",), "128": _TAX, "133": ("{e}/REF:1G/02",), "135": ("{e}/REF:G2/02",),
    "142": ("{e}/REF:0B/02",), "143": ("{e}/REF:0B/02",),
    "145": ("{e}/PRV/03", "2000A/PRV/03"), "148": _TAX, "149": _TAX, "153": _ID,
    "155": ("2000C/PAT/01", "2000B/SBR/02"), "156": ("2000C/PAT/01", "2000B/SBR/02"),
    "157": ("{e}/DMG/03",), "158": ("{e}/DMG/02",), "163": ("2000B/SBR/03",), "164": _MEMBER,
    "171": (*_OTHER_INSURED, *_OTHER_PAYER), "178": ("2300/CLM/02",), "182": _OTHER_PAYER,
    "183": ("2300/AMT:F5/02",), "187": _SERVICE_DAY, "188": _SERVICE_DAY,
    "189": ("2300/DTP:435/03",), "190": ("2300/DTP:096/03",), "191": ("2300/DTP:484/03",),
    "194": ("2300/DTP:435/03", "2300/DTP:096/03"),
    "195": ("2300/DTP:314/03", "2300/DTP:360/03", "2300/DTP:361/03"),
    "196": ("2300/DTP:296/03",), "201": ("2400/DTP:441/03",), "202": ("2400/DTP:441/03",),
    "203": ("2300/DTP:452/03",), "210": ("2300/DTP:455/03",),
    "216": ("2410/LIN/03", "2410/CTP/04"), "218": ("2410/LIN/03",), "219": ("2410/REF:XZ/02",),
    "239": _TEETH, "240": ("2400/TOO/03",), "241": ("2300/DN2/01",), "242": _TEETH,
    "243": ("2300/DN1/01",), "244": ("2400/TOO/02",), "245": ("2400/SV3/04",),
    "246": ("2300/DN1/01", "2300/DTP:452/03"), "247": (*_CODE, *_SERVICE_DAY, *_CHARGE),
    "248": _ACCIDENT, "249": _PLACE, "251": _UNITS, "252": _APPROVAL, "253": _CODE,
    "254": ("2300/HI/01",), "255": _DIAGNOSES, "258": _UNITS, "286": _OTHER_PAYER,
    "294": _ATTACHMENT, "297": _ATTACHMENT, "306": ("2400/{line}/01-7", "2400/NTE/02"),
    "333": ("2300/CLM/09",), "360": ("2300/CLM/08",), "363": ("2300/CLM/11-1",),
    "364": ("2300/CLM/11-1",), "365": ("2300/CLM/11-1",), "366": ("2300/CLM/11-1",),
    "384": ("2400/SV3/05",), "386": ("2300/DN1/04",), "387": ("2300/DTP:304/03",),
    "397": ("2300/DTP:431/03",), "400": ("2300/CLM/02", *_CHARGE), "402": _CHARGE,
    "453": _MODIFIERS, "454": _CODE, "460": (), "464": _EARLIER, "466": ("2300/CLM/06",),
    "471": ("2400/SV1/09",), "474": (*_CODE, "2010CA/DMG/03"), "475": (*_CODE, "2010CA/DMG/02"),
    "476": _UNITS, "477": _POINTERS, "478": ("2300/CLM/01",), "479": ("2330B/NM1/09",),
    "480": ("2000B/SBR/09",), "488": _DIAGNOSES, "489": ("2300/PWK/06",), "495": _EARLIER,
    "500": ("{e}/N4/03",), "501": ("{e}/N4/02",), "502": ("{e}/N4/01",), "503": ("{e}/N3/01",),
    "504": ("{e}/NM1/03",), "505": ("{e}/NM1/04",), "507": _CODE, "510": _SERVICE_DAY,
    "514": ("{e}/NM1/05",), "516": ("2330B/DTP:573/03", "2430/DTP:573/03"),
    "519": ("2320/CAS/02", "2430/CAS/02"), "521": ("2320/CAS/02", "2430/CAS/02"),
    "535": _EARLIER, "544": ("2300/REF:X4/02",), "545": ("2300/CN1/02",),
    "546": ("2300/CN1/04",), "548": ("2300/CN1/01",), "555": ("2300/CLM/20",),
    "560": ("{e}/REF:G2/02", "{e}/REF:0B/02"), "562": _ID, "564": ("2400/SV1/11",),
    "568": ("2400/SV1/12",), "578": ("2000B/SBR/09",), "581": ("2300/DTP:297/03",),
    "583": _CHARGE, "584": ("2400/REF:6R/02",), "586": ("2400/NTE/02",),
    "588": ("2300/REF:EA/02",), "589": ("2300/CLM/07",), "605": ("2300/DN1/01",),
    "625": ("2300/REF:G3/02",), "633": _ACCIDENT, "659": ("2410/CTP/05-1", "2400/SV1/03"),
    "664": ("2300/DTP:452/03",), "672": _OTHER_PAYER, "693": _CHARGE, "694": _CHARGE,
    "696": ("2320/CAS/02", "2430/CAS/02"), "697": _CHARGE, "700": _DIAGNOSES,
    "701": ("2300/DTP:454/03",), "704": ("2300/NTE/02",), "715": ("2300/DTP:453/03",),
    "718": _SERVICE_DAY, "724": ("2410/CTP/04",), "727": ("2300/DTP:439/03",),
    "728": ("2300/CLM/11-4",), "730": ("2300/CLM/11-1",), "731": ("2400/MEA/03",),
    "733": _MEMBER, "737": _CODE, "742": ("2000B/SBR/01",), "743": _ID,
    "746": (), "749": ("2300/DTP:431/03",), "750": ("2300/CLM/11-4",), "754": ("{e}/NM1/07",),
    "755": _ID, "757": ("2300/DTP:304/03",), "761": ("2300/REF:9F/02",), "772": _DIAGNOSES,
}  # fmt: skip

REASON_PLACES: Mapping[str, tuple[str, ...]] = {
    "4": (*_CODE, *_MODIFIERS), "5": (*_CODE, *_PLACE), "6": (*_CODE, "2010CA/DMG/02"),
    "7": (*_CODE, "2010CA/DMG/03"), "8": (*_CODE, "2310B/PRV/03", "2000A/PRV/03"),
    "9": (*_DIAGNOSES, "2010CA/DMG/02"), "10": (*_DIAGNOSES, "2010CA/DMG/03"),
    "11": (*_DIAGNOSES, *_POINTERS, *_CODE), "12": (*_DIAGNOSES, "2310B/PRV/03"),
    "13": _SERVICE_DAY, "14": ("2010CA/DMG/02", *_SERVICE_DAY), "15": _APPROVAL,
    "18": (*_SERVICE_DAY, *_CODE), "19": ("2300/CLM/11-1",), "20": _ACCIDENT, "21": _ACCIDENT,
    "22": (*_OTHER_INSURED, *_OTHER_PAYER), "23": _OTHER_PAYER, "26": _SERVICE_DAY,
    "27": _SERVICE_DAY, "29": _SERVICE_DAY, "31": _INSURED,
    "32": ("2000C/PAT/01", "2000B/SBR/02"), "33": ("2000C/PAT/01",), "34": ("2000C/PAT/01",),
    "39": _APPROVAL, "47": _DIAGNOSES, "49": (*_CODE, *_DIAGNOSES),
    "50": (*_DIAGNOSES, *_CODE), "58": _PLACE, "62": _APPROVAL, "109": ("2010BB/NM1/09",),
    "110": _SERVICE_DAY, "129": _OTHER_PAYER, "140": _INSURED, "146": (*_DIAGNOSES, *_SERVICE_DAY),
    "150": _CODE, "151": _UNITS, "152": _UNITS, "163": _ATTACHMENT, "164": _ATTACHMENT,
    "165": ("2300/REF:9F/02",), "167": _DIAGNOSES, "170": ("2310B/PRV/03", "2000A/PRV/03"),
    "171": (*_PLACE, "2310B/PRV/03"), "172": ("2310B/PRV/03", "2000A/PRV/03"),
    "181": (*_CODE, *_SERVICE_DAY), "182": (*_MODIFIERS, *_SERVICE_DAY),
    "183": ("2310A/NM1/09",), "184": ("2420E/NM1/09",), "185": ("2310B/NM1/09", "2010AA/NM1/09"),
    "189": _CODE, "197": _APPROVAL, "198": _APPROVAL, "200": _SERVICE_DAY,
    "206": _NPIS, "207": _NPIS, "208": _NPIS, "210": _APPROVAL, "211": ("2410/LIN/03",),
    "222": _UNITS, "226": _ATTACHMENT, "231": _CODE, "234": _CODE, "236": (*_CODE, *_MODIFIERS),
    "242": ("2310B/NM1/09", "2010AA/NM1/09"), "243": ("2310A/NM1/09",), "250": _ATTACHMENT,
    "251": _ATTACHMENT, "252": _ATTACHMENT, "254": ("2010BB/NM1/09",), "261": _CODE,
    "268": _SERVICE_DAY, "270": ("2010BB/NM1/09",), "280": ("2010BB/NM1/09",),
    "284": _APPROVAL, "287": ("2300/REF:9F/02",), "288": ("2300/REF:9F/02",),
    "296": _APPROVAL, "299": ("2010AA/NM1/09",), "302": _APPROVAL,
    "B7": _NPIS, "B11": ("2010BB/NM1/09",), "B13": _SERVICE_DAY, "B14": (*_SERVICE_DAY, *_CODE),
    "B16": _CODE, "B22": _DIAGNOSES, "B23": ("2300/REF:X4/02", *_CODE),
}  # fmt: skip

REMARK_PLACES: Mapping[str, tuple[str, ...]] = {
    "M20": _CODE, "M47": _EARLIER, "M51": _CODE, "M52": _SERVICE_DAY, "M53": _UNITS,
    "M54": ("2300/CLM/02",), "M56": ("2010BB/NM1/09",), "M59": _SERVICE_DAY,
    "M62": _APPROVAL, "M64": _DIAGNOSES, "M67": _CODE, "M76": _DIAGNOSES, "M77": _PLACE,
    "M79": _CHARGE, "M119": ("2410/LIN/03",), "M123": ("2410/LIN/03", "2410/CTP/04"),
    "MA04": _OTHER_PAYER, "MA27": _INSURED, "MA36": ("2010CA/NM1/03", "2010CA/NM1/04"),
    "MA37": ("2010CA/N3/01", "2010CA/N4/01"), "MA39": ("2010CA/DMG/03",),
    "MA58": ("2300/CLM/09",), "MA63": ("2300/HI/01",), "MA92": _OTHER_INSURED,
    "MA100": ("2300/DTP:431/03",), "MA112": ("2010AA/NM1/09",), "N657": _CODE,
    "MA114": ("2310C/NM1/03", "2310C/N3/01"), "MA120": ("2300/REF:X4/02",), "N56": _CODE,
    "N65": _CODE, "N129": ("2010CA/DMG/02",), "N255": ("2000A/PRV/03",),
    "N256": ("2010AA/NM1/03",), "N257": ("2010AA/NM1/09",),
    "N258": ("2010AA/N3/01", "2010AA/N4/01"), "N264": ("2420E/NM1/03",),
    "N265": ("2420E/NM1/09",), "N285": ("2310A/NM1/03",), "N286": ("2310A/NM1/09",),
    "N288": ("2310B/PRV/03",), "N289": ("2310B/NM1/03",), "N290": ("2310B/NM1/09",),
    "N291": ("2310B/REF:G2/02",), "N292": ("2310C/NM1/03",), "N293": ("2310C/NM1/09",),
    "N294": ("2310C/N3/01",), "N297": ("2310D/NM1/09",), "N301": _SERVICE_DAY,
    "N318": ("2300/DTP:096/03",), "N329": ("2010CA/DMG/02",), "N362": _UNITS, "N382": _MEMBER,
    "N519": _MODIFIERS, "N822": _MODIFIERS, "N823": _MODIFIERS,
}  # fmt: skip

_REFUSED = "; the rejected one counts for nothing."
CORRECT = Advice(
    AdviceAct.CORRECT, f"Correct the fields named here and send the claim again{_REFUSED}"
)
CATEGORY_ADVICE: Mapping[str, Advice] = {
    "A3": CORRECT,
    "A4": Advice(
        AdviceAct.ASK_PAYER,
        "The payer does not find the claim: ask it by patient and day of service. Send the claim again only once the payer "
        "says that it never got it.",
    ),
    "A6": Advice(AdviceAct.CORRECT, f"Fill in what is missing and send the claim again{_REFUSED}"),
    "A7": CORRECT,
    "A8": Advice(
        AdviceAct.CORRECT, f"Make the fields named here agree and send the claim again{_REFUSED}"
    ),
    "E4": Advice(
        AdviceAct.ASK_PAYER, "Ask the payer for its own rules, correct the claim and send it again."
    ),
    "P3": Advice(AdviceAct.SEND_RECORDS, "Send the payer the information it asked for."),
    "P4": Advice(
        AdviceAct.ASK_PATIENT, "The payer waits for the patient: ask the patient to answer."
    ),
    "R0": Advice(AdviceAct.SEND_RECORDS, "Send the payer the information it asks for."),
    "R4": Advice(AdviceAct.SEND_RECORDS, "Send the payer the documents it asks for."),
    "R9": Advice(
        AdviceAct.SEND_RECORDS,
        "Send the payer the records that show why the service was necessary.",
    ),
}
LETTER_ADVICE: Mapping[str, Advice] = {
    "A": CORRECT,
    "D": Advice(AdviceAct.ASK_PAYER, "Check the numbers of the claim and ask the payer."),
    # Errors are about a question (276), not about the claim: the payer may well have it.
    "E": Advice(
        AdviceAct.ASK_PAYER, "The payer could not answer the question: ask it again later."
    ),
    "F": Advice(AdviceAct.WAIT, "Nothing: the remittance follows."),
    "P": Advice(AdviceAct.WAIT, "Nothing: the payer is working on the claim."),
    "R": Advice(AdviceAct.SEND_RECORDS, "Send the payer the information it asks for."),
}
ASK_PAYER = Advice(AdviceAct.ASK_PAYER, "Ask the payer.")
"""The advice for a code without a row."""
ASK_OPERATOR = Advice(AdviceAct.ASK_OPERATOR, "The operator of the clearinghouse must look.")
_ENROLL = Advice(AdviceAct.ENROLL, "Enroll the provider with the payer, then send the claim again.")
_OUT_OF_COVER = Advice(
    AdviceAct.ASK_PATIENT,
    "Ask the patient which insurance was in force on the service date, and send the claim there.",
)
_IN_TIME = ("The acknowledgements of this claim (999 and 277CA): they show when it was sent",)
_RECORDS = ("The records that show why the service was necessary", "The explanation of benefits")
_TOO_LATE = Advice(
    AdviceAct.APPEAL,
    "Appeal with a proof that the claim was sent in time (the acknowledgements of this claim); else write it off.",
    _IN_TIME,
)
_NOT_COVERED = Advice(
    AdviceAct.APPEAL,
    "A correction does not answer this: appeal if the plan covers the service, or ask about other insurance.",
    ("The part of the plan that covers the service", "The explanation of benefits"),
    patient_bears=True,
)
STATUS_ADVICE: Mapping[str, Advice] = {
    "24": Advice(
        AdviceAct.ENROLL,
        "The payer wants electronic claims to be agreed first: enroll the provider with the payer.",
    ),
    "54": Advice(
        AdviceAct.FIND_FIRST,
        "The payer has this claim already: look for its first answer. To change it, send a replacement (frequency 7).",
    ),
    "78": Advice(
        AdviceAct.WAIT, "The payer is working on the same claim already: wait for its answer."
    ),
    "81": _NOT_COVERED,
    "83": _NOT_COVERED,
    "88": _OUT_OF_COVER,
    "89": _OUT_OF_COVER,
    "90": _OUT_OF_COVER,
    "96": _ENROLL,
    "116": Advice(
        AdviceAct.OTHER_PAYER, "Find the right payer in the payer list and send the claim there."
    ),
    "585": _NOT_COVERED,
    "596": _NOT_COVERED,
    "684": Advice(
        AdviceAct.ASK_OPERATOR,
        "Our file was refused: the operator of the clearinghouse must look.",
    ),
    "718": _TOO_LATE,
    "743": _ENROLL,
    "746": Advice(AdviceAct.NOTHING, "The payer has this file already: nothing to do."),
    "764": _NOT_COVERED,
    "765": _NOT_COVERED,
    "770": Advice(
        AdviceAct.FIND_FIRST,
        "The payer has this claim from another payer already: look for that answer.",
    ),
}

GROUP_ADVICE: Mapping[str, Advice] = {
    "PR": Advice(AdviceAct.BILL_PATIENT, "Bill the patient for this amount."),
    "CO": Advice(
        AdviceAct.WRITE_OFF,
        "Write this amount off: by contract it may not be billed to the patient.",
    ),
    "OA": Advice(
        AdviceAct.ASK_PAYER,
        "Neither patient nor contract bears it: see the reason before booking it.",
    ),
    "PI": Advice(
        AdviceAct.APPEAL,
        "The payer lowered the payment by itself: appeal if you disagree; do not bill the patient.",
        ("The contract or fee that you rely on", "The explanation of benefits"),
    ),
    "CR": Advice(AdviceAct.NOTHING, "It corrects an earlier decision: book it against that one."),
}
PATIENT_GROUP = "PR"
CONTRACT_WRITE_OFF = "45"
UNPROCESSABLE = "MA130"
"""The remark that a claim could not be processed: nothing was decided, so there is nothing to appeal."""
UNPROCESSABLE_ADVICE = Advice(
    AdviceAct.NEW_CLAIM,
    "The payer could not process the claim, so there is nothing to appeal or replace: correct the fields named here and send a new claim.",
)
PARTLY_UNPROCESSABLE_ADVICE = Advice(
    AdviceAct.CORRECT,
    "The payer could not process this part, so there is nothing to appeal: correct the fields named here and send a replacement (frequency 7), as a new claim would bill again what was paid.",
)
FORWARDED_STATUSES = frozenset({"19", "20", "21", "23"})
"""CLP02 of claims that the payer forwarded to another one."""
MEDICAID = "MC"
"""The claim filing indicator of Medicaid (SBR09, CLP06)."""
FORWARDED_ADVICE = Advice(
    AdviceAct.WAIT, "Nothing yet: the payer forwarded the claim to the next one."
)
NEXT_PAYER_ADVICE = Advice(
    AdviceAct.NEXT_PAYER,
    "Send the claim to the next payer with this decision; bill the patient only for what that payer leaves.",
    ("The explanation of benefits of this payer",),
)
MEDICAID_ADVICE = Advice(
    AdviceAct.ASK_PAYER,
    "Do not bill the patient: Medicaid allows that only for what its state's rules name. Ask the payer.",
)
_QUALIFIED_ADVICE = Advice(
    AdviceAct.NEXT_PAYER,
    "Do not bill the patient, a qualified Medicare beneficiary, and return what was collected: send the claim to Medicaid with this decision.",
    ("The explanation of benefits of this payer",),
)
NOT_THE_PATIENTS: Mapping[str, Advice] = {
    "N192": _QUALIFIED_ADVICE,
    "N781": _QUALIFIED_ADVICE,
    "N782": _QUALIFIED_ADVICE,
    "N783": _QUALIFIED_ADVICE,
    "N842": Advice(
        AdviceAct.ASK_PAYER,
        "Do not bill the patient: the payer forbids it. Ask the payer who bears it.",
    ),
}
"""Remarks beside which an adjustment of group PR is not billed to the patient."""
_RESEND = Advice(
    AdviceAct.CORRECT,
    "Correct the claim and send it as a replacement (frequency 7, with the payer's claim number).",
)
_AUTHORIZATION = Advice(
    AdviceAct.CORRECT,
    "Check the authorization or referral with the payer, put its number on the claim and send a replacement.",
)
_RECORDS_WANTED = Advice(
    AdviceAct.SEND_RECORDS, "Send the attachment, with the control number the claim names."
)
_NOT_SUPPORTED = Advice(
    AdviceAct.APPEAL, "Appeal with records that support what was billed.", _RECORDS
)
_USED_UP = Advice(
    AdviceAct.WRITE_OFF,
    "The benefit is used up: write it off, or ask about other insurance.",
    patient_bears=True,
)
_RIGHT_PLAN = Advice(
    AdviceAct.OTHER_PAYER, "Find the right payer in the payer list and send the claim there."
)
REASON_ADVICE: Mapping[str, Advice] = {
    **dict.fromkeys(
        (
            "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "16", "47", "58", "110", "129", "140", "146",
            "170", "171", "172", "181", "182", "183", "184", "185", "189", "206", "207", "208", "211", "231",
            "268", "299", "B7", "B16", "B23",
        ),
        _RESEND,
    ),
    **dict.fromkeys(("15", "62", "165", "243", "284", "287", "288", "296"), _AUTHORIZATION),
    **dict.fromkeys(("26", "27", "33", "34", "200"), _OUT_OF_COVER),
    **dict.fromkeys(
        ("46", "48", "49", "51", "53", "54", "78", "96", "111", "167", "202", "204", "258", "269", "276", "B1"),
        _NOT_COVERED,
    ),
    **dict.fromkeys(("150", "151", "152", "222", "261", "B14", "B22"), _NOT_SUPPORTED),
    **dict.fromkeys(("35", "119"), _USED_UP),
    **dict.fromkeys(("109", "254", "270", "280"), _RIGHT_PLAN),
    **dict.fromkeys(("163", "164", "250", "251"), _RECORDS_WANTED),
    "18": Advice(
        AdviceAct.FIND_FIRST,
        "The payer has decided this service before: find that remittance. Do not send it a third time; to change it, send a replacement (frequency 7) of the first claim.",
    ),
    "19": Advice(AdviceAct.OTHER_PAYER, "Send the claim to the workers' compensation carrier."),
    "20": Advice(AdviceAct.OTHER_PAYER, "Send the claim to the liability carrier."),
    "21": Advice(AdviceAct.OTHER_PAYER, "Send the claim to the no-fault carrier."),
    "22": Advice(
        AdviceAct.CHECK_PAYER_ORDER,
        "Check the order of payers: ask the patient for other insurance. If another payer comes first, send the claim there, then here with its decision.",
    ),
    "29": _TOO_LATE,
    "31": Advice(
        AdviceAct.CORRECT,
        "Check the insured's number and name against the card, correct them and send the claim again.",
    ),
    "32": Advice(
        AdviceAct.CORRECT,
        "Check the relationship and the birth date with the insured, correct them and send the claim again.",
    ),
    "39": Advice(
        AdviceAct.APPEAL,
        "Appeal the refused authorization, or write the amount off.",
        ("The request for the authorization, and its answer", *_RECORDS),
    ),
    "45": Advice(
        AdviceAct.WRITE_OFF,
        "Write off the part above the contracted fee; nothing is wrong with the claim.",
    ),
    "50": Advice(
        AdviceAct.APPEAL,
        "Appeal with records that show the need, or check the diagnoses the line points to.",
        _RECORDS,
    ),
    "97": Advice(
        AdviceAct.CORRECT,
        "The service is paid within another one: a modifier may tell them apart if they were separate.",
    ),
    "138": _TOO_LATE,
    "197": Advice(
        AdviceAct.CORRECT,
        "Ask the payer for an authorization after the fact, put its number on the claim and send a replacement.",
    ),
    "198": Advice(
        AdviceAct.CORRECT, "Ask the payer to extend the authorization, then send a replacement."
    ),
    "210": Advice(
        AdviceAct.APPEAL,
        "Appeal with a proof that the authorization was asked for in time; else write it off.",
        ("The request for the authorization, and its answer", "The explanation of benefits"),
    ),
    "226": Advice(
        AdviceAct.SEND_RECORDS,
        "Send the payer the information it asked for, then ask it to decide again.",
    ),
    "236": Advice(
        AdviceAct.CORRECT,
        "Check whether a modifier tells the two procedures apart; if so send a replacement.",
    ),
    "242": Advice(
        AdviceAct.APPEAL,
        "The provider is not in the plan's network: appeal with a referral, or write it off.",
        ("The referral", "The explanation of benefits"),
        patient_bears=True,
    ),
    "252": Advice(AdviceAct.SEND_RECORDS, "Send the documents that the remark code names."),
    "253": Advice(AdviceAct.WRITE_OFF, "Write it off: federal law cut the payment."),
    "302": Advice(
        AdviceAct.CORRECT,
        "Ask the payer to extend the authorization, put its number on the claim and send a replacement.",
    ),
    "B11": Advice(AdviceAct.WAIT, "Nothing yet: the payer passed the claim on to the right one."),
    "B13": Advice(
        AdviceAct.FIND_FIRST,
        "The payer may have paid this before: find that remittance. Do not send it again.",
    ),
}  # fmt: skip
VOIDED_ADVICE = Advice(
    AdviceAct.NOTHING,
    "Nothing: it is a void, and the payer canceled the earlier claim as it asks.",
)
