"""Code lists of claim fields: the X12 code, its meaning, and the names that callers send for it.

A field of list ``sex`` accepts ``F``, ``female`` and ``Female`` alike and becomes ``F``. Case, blanks and
punctuation do not matter. A value that is not on the list stays as it came, for a rule to find.
If X12 has no code for a row (a claim that is no predetermination), the code is Clearlane's own and is not sent.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from clearlane.kernel import limits
from clearlane.x12 import codes

SELF = "18"
ACTUAL_SERVICES, PREDETERMINATION = "CH", "PB"
EPSDT = "01"
NO_ACCIDENT = "NO"
ISO_TEETH, UNIVERSAL_TEETH = "JO", "JP"
ORIGINAL, CORRECTED, REPLACEMENT, VOID = "1", "6", "7", "8"
REOPENING = "Q"
"""Takes the place of a claim after the filing limit."""
CORRECTING = frozenset({CORRECTED, REPLACEMENT, VOID, REOPENING})
"""Frequencies that act on one earlier claim; others add a bill of its own."""
ADDING = frozenset("2345")
"""Interim bills and late charges: bills of a series, which take over from no other."""
NOTICES = frozenset("ABCDE")
"""Frequencies of institutional claims that tell of an admission or election, and ask for no money."""
MEDICARE = frozenset({"MA", "MB"})
"""The types of coverage (SBR09) that are Medicare's own, not those of a plan that replaces it."""

# What callers write instead of a missing signature.
NOT_SIGNED = frozenset({"N", "NO", "NONE", "FALSE", "NOT SIGNED", "NOT ON FILE", "NO SIGNATURE"})
POINTER_LETTERS = "ABCDEFGHIJKL"
POINTED_PLACES: Mapping[str, int] = MappingProxyType(
    {
        **{letter: place for place, letter in enumerate(POINTER_LETTERS, start=1)},
        **{str(place): place for place in range(1, len(POINTER_LETTERS) + 1)},
    }
)
"""The place of the diagnosis that a pointer names, from 1: a letter A to L, or a number 1 to 12."""

# One row per code: the code, its meaning, then other names, separated by "|".
_ROWS: dict[str, str] = {
    "sex": """
        M|Male|Man|Boy
        F|Female|Woman|Girl
        U|Unknown|Other|X|Undetermined|Non-binary
    """,
    "relationship": """
        18|Self|Insured|Subscriber|Same|S
        01|Spouse|Husband|Wife|1
        19|Child|Son|Daughter|Dependent child
        20|Employee
        21|Unknown
        39|Organ donor
        40|Cadaver donor
        53|Life partner|Domestic partner|Partner
        G8|Other|Other relationship|Dependent|Other dependent
    """,
    "claim_type": """
        CI|Commercial insurance|Group|Group health plan|Commercial|Commercial insurance co|Private
        MB|Medicare|Medicare part B
        MA|Medicare part A
        MC|Medicaid
        CH|Tricare|Champus|Tricare Champus
        VA|Champva|Veterans|Veterans Affairs plan
        OF|FECA|Black lung|FECA black lung|FECA blk lung|Other federal program
        WC|Workers compensation|Workers' comp health claim|Workers comp
        BL|Blue Cross Blue Shield|Blue Cross|Blue Shield|BCBS
        HM|HMO|Health maintenance organization
        12|PPO|Preferred provider organization
        13|POS|Point of service
        14|EPO|Exclusive provider organization
        15|Indemnity|Indemnity insurance
        16|HMO Medicare risk|Medicare advantage
        17|Dental maintenance organization|DMO
        11|Other non-federal programs
        AM|Automobile medical|Auto
        DS|Disability
        FI|Federal employees program|FEP
        LM|Liability|Liability medical
        TV|Title V
        ZZ|Other|Mutually defined|Unknown
    """,
    "medicare_secondary_reason": """
        12|Working aged, with a group plan of an employer|Working aged
        13|End-stage renal disease, in the coordination period of a group plan|End-stage renal disease|ESRD
        14|No-fault insurance, an automobile's included|No-fault|Auto
        15|Workers' compensation|Workers' comp
        16|Public Health Service or another federal agency|Federal agency|PHS
        41|Black lung|Federal black lung program
        42|Veterans Affairs|VA|Veterans
        43|Disabled and under 65, with a large group plan|Disabled
        47|Liability insurance|Liability
    """,
    "release": """
        Y|Signed statement is on file|Yes|True|SOF|Signature on file|Signed|On file|1
        I|Informed consent|Informed consent without signature
    """,
    "benefits": """
        Y|Benefits are assigned|Yes|True|SOF|Signature on file|Signed|On file|Assigned|1
        N|Benefits are not assigned|No|False|Not assigned|0
        W|Patient refuses to assign|Not applicable|Refused
    """,
    "assignment": """
        A|Assigned|Yes|Y|True|Accepted|Accepts assignment|1
        B|Assigned for clinical laboratory services only|Assigned lab only|Clinical lab only|Assignment accepted on clinical lab services only
        C|Not assigned|No|N|False|Unassigned|0
    """,
    "icd_version": """
        10|ICD-10|ICD-10-CM|0|ABK|AB|ICD10
        9|ICD-9|ICD-9-CM|BK|B|ICD9
    """,
    "frequency": """
        1|Original|Original claim|01
        6|Corrected|Adjustment|06
        7|Replacement|Replacement of prior claim|07
        8|Void|Cancel|Void or cancel of prior claim|08
    """,
    "contract_type": """
        01|Diagnosis related group|DRG|1
        02|Per diem|2
        03|Variable per diem|3
        04|Flat|Flat rate|4
        05|Capitated|Capitation|5
        06|Percent|Percentage|6
        09|Other|9
    """,
    "measurement": """
        TR|Test results|Test result
        OG|Original|Starting dosage
    """,
    "measurement_qualifier": """
        HT|Height
        R1|Hemoglobin|Haemoglobin
        R2|Hematocrit|Haematocrit
        R3|Epoetin starting dosage|Epoetin
        R4|Creatinine
    """,
    "patient_condition": """
        A|Acute|Acute condition
        C|Chronic|Chronic condition
        D|Non-acute
        E|Non-life threatening
        F|Routine
        G|Symptomatic
        M|Acute manifestation|Acute manifestation of a chronic condition
    """,
    "vision": """
        L1|Change of 20 degrees or half a dioptre|Change of prescription
        L2|Replacement after loss or theft|Loss or theft|Lost|Stolen
        L3|Replacement after breakage or damage|Breakage or damage|Broken|Damaged
        L4|Replacement by patient's preference|Patient preference
        L5|Replacement for a medical reason|Medical reason
    """,
    "delay_reason": """
        1|Proof of eligibility unknown or unavailable|01
        2|Litigation|02
        3|Authorization delays|03
        4|Delay in certifying provider|04
        5|Delay in supplying billing forms|05
        6|Delay in delivery of custom-made appliances|06
        7|Third party processing delay|07
        8|Delay in eligibility determination|08
        9|Original claim rejected or denied due to a reason unrelated to the billing limitation rules|09
        10|Administration delay in the prior approval process
        11|Other
        15|Natural disaster
    """,
    "adjustment_group": """
        CO|Contractual obligations|Contractual obligation
        CR|Correction and reversals|Correction and reversal
        OA|Other adjustments|Other
        PI|Payor initiated reductions|Payer initiated reductions
        PR|Patient responsibility|Patient
    """,
    "oral_area": """
        00|Entire oral cavity|0|Whole mouth|Full mouth
        01|Maxillary arch|1|Upper arch|Maxilla
        02|Mandibular arch|2|Lower arch|Mandible
        10|Upper right quadrant|UR
        20|Upper left quadrant|UL
        30|Lower left quadrant|LL
        40|Lower right quadrant|LR
    """,
    "tooth_system": """
        JP|Universal national tooth designation|Universal|ADA|US
        JO|ISO tooth designation|ISO|FDI|International
    """,
    "surface": """
        M|Mesial
        O|Occlusal
        D|Distal
        I|Incisal
        B|Buccal
        F|Facial|Labial|V|Vestibular
        L|Lingual|Palatal
    """,
    "transaction_type": """
        CH|Statement of actual services|Actual services|Actual|Claim|Statement
        PB|Request for predetermination|Predetermination|Preauthorization|Predetermination or preauthorization|Pre-determination|Pre-authorization|Request for predetermination or preauthorization
        01|EPSDT|Title XIX|EPSDT or Title XIX|EPSDT Title XIX
    """,
    "accident": """
        EM|Occupational illness or injury|Occupational|Employment|Work|Occupational illness/injury
        AA|Auto accident|Auto|Automobile
        OA|Other accident|Other
        NO|No accident|None|N
    """,
    "tax_id": """
        EI|Employer's number|EIN|TIN|24|Employer identification number
        SY|Social security number|SSN|34
    """,
    "member_id": """
        MI|Member identification number|Member id|1
        II|Standard unique health identifier|2
    """,
    "entity": """
        1|Person|Individual
        2|Non-person|Organization|Organisation|Non-person entity
    """,
    "attachment_type": """
        B4|Referral form|Referral
        DA|Dental models|Models
        DG|Diagnostic report
        EB|Explanation of benefits|EOB
        OZ|Support data for claim|Support data|Other
        P6|Periodontal charts|Perio chart
        RB|Radiology films|Radiographs|X-rays|X-ray
        RR|Radiology reports|Radiology report
    """,
    "admission_type": """
        1|Emergency|ER
        2|Urgent
        3|Elective|Routine
        4|Newborn
        5|Trauma
        9|Not known|Unknown|Not available
    """,
    "point_of_origin": """
        1|Home or workplace|Home|Workplace|Non-facility
        2|Clinic or office|Clinic|Office
        4|Another hospital|Hospital
        5|Nursing facility; of a newborn: born here|Nursing facility|Born here
        6|Another facility; of a newborn: born elsewhere|Another facility|Born elsewhere
        8|Court or police|Court|Police
        9|Not known|Unknown|Not available
        D|Another unit of this hospital|Another unit
        E|Ambulatory surgery center
        F|Hospice
        G|Disaster site
    """,
    "patient_status": """
        01|Went home|1|Home
        02|To another hospital|2
        03|To a nursing facility|3
        04|To intermediate care|4
        05|To a cancer center or children's hospital|5
        06|Home with home health care|6
        07|Left against advice|7
        08|Home with infusion care|8
        09|Admitted here after an outpatient service|9
        20|Died|Expired
        21|To court or police
        30|Still a patient
        40|Died at home, hospice
        41|Died in a facility, hospice
        42|Died, place not known, hospice
        43|To a federal hospital
        50|To hospice at home
        51|To hospice in a facility
        61|To a swing bed
        62|To rehabilitation
        63|To long-term hospital care
        64|To a nursing facility under Medicaid
        65|To a psychiatric hospital
        66|To a critical access hospital
        69|To a disaster care site
        70|To another kind of institution
        81|Went home, return planned
        82|To another hospital, return planned
        83|To a nursing facility, return planned
        84|To intermediate care, return planned
        85|To a cancer center or children's hospital, return planned
        86|Home with home health care, return planned
        87|To court or police, return planned
        88|To a federal hospital, return planned
        89|To a swing bed, return planned
        90|To rehabilitation, return planned
        91|To long-term hospital care, return planned
        92|To a nursing facility under Medicaid, return planned
        93|To a psychiatric hospital, return planned
        94|To a critical access hospital, return planned
        95|To another kind of institution, return planned
    """,
    "attachment_transmission": """
        AA|Available on request at the provider's site|Available on request
        BM|By mail|Mail
        EL|Electronic only|Electronically only|Electronic
        EM|E-mail
        FT|File transfer
        FX|Fax|By fax
    """,
}

# Lists whose codes are an X12 code list of the same name; here are only the names callers send.
_EXTERNAL: dict[str, dict[str, tuple[str, ...]]] = {
    "places_of_service": {
        "02": ("Telehealth",),
        "11": ("Office", "Provider's office", "Dental office"),
        "12": ("Home", "Patient's home"),
        "21": ("Inpatient", "Hospital", "Inpatient hospital"),
        "22": ("Outpatient", "Outpatient hospital"),
        "23": ("Emergency room",),
        "24": ("Ambulatory surgical center",),
        "31": ("ECF", "Skilled nursing facility"),
        "32": ("Nursing home", "Nursing facility"),
        "81": ("Laboratory", "Independent laboratory"),
        "99": ("Other", "Other place of service"),
    },
}

# Codes that are understood, so that a finding says what to give instead, but not accepted.
_NOT_ACCEPTED: dict[str, frozenset[str]] = {"frequency": frozenset({CORRECTED})}

LISTS: tuple[str, ...] = (*_ROWS, *_EXTERNAL)
# Fields of these lists may hold several codes, separated by commas.
MULTIPLE = frozenset({"vision"})


@cache
def meanings(name: str) -> Mapping[str, str]:
    """Return the codes of a list with their meanings."""
    if name in _EXTERNAL:
        return codes.load(name)
    return MappingProxyType({row[0]: row[1] for row in _rows(name)})


def find(name: str, text: str) -> str | None:
    """Return the code that a text means in a list, or None."""
    return _find(name, text) if len(text) <= limits.CODED_CHARACTERS_MAX else None


@lru_cache(maxsize=limits.CHECK_RESULTS_CACHED_MAX)
def _find(name: str, text: str) -> str | None:
    return _names(name).get(_key(text))


def is_signed(signature: str | None) -> bool:
    """Return whether a signature field states that there is a signature."""
    return bool(signature) and signature not in NOT_SIGNED


@cache
def common_spellings(name: str) -> Mapping[str, str]:
    """Return the codes by common spellings, for a look-up without normalizing the text."""
    found: dict[str, str] = {}
    for row in _rows(name):
        for text in row:
            for spelling in (text, text.upper(), text.lower(), text.title().replace(" ", "")):
                code = find(name, spelling)
                if code:
                    found[spelling] = code
    return MappingProxyType(found)


def accepted_meanings(name: str) -> dict[str, str]:
    """Return the codes that a field of a list may have, with their meanings."""
    without = _NOT_ACCEPTED.get(name, frozenset())
    return {code: meaning for code, meaning in meanings(name).items() if code not in without}


@cache
def accepted_values(name: str) -> str:
    """Return what a list accepts, as the end of a sentence: codes with their meanings."""
    shown = [f"{code} ({meaning})" for code, meaning in accepted_meanings(name).items()]
    if len(shown) > 12:
        return f"a code of the list, such as {', '.join(shown[:3])}"
    return f"one of {', '.join(shown)}"


@cache
def _names(name: str) -> Mapping[str, str]:
    """Return the code of every accepted text."""
    found: dict[str, str] = {}
    rows = _rows(name)
    # Codes come first, so that no name of another row hides one.
    for row in rows:
        found.setdefault(_key(row[0]), row[0])
    for row in rows:
        for text in row[1:]:
            found.setdefault(_key(text), row[0])
    return found


def _rows(name: str) -> list[list[str]]:
    if name in _EXTERNAL:
        extra = _EXTERNAL[name]
        return [[code, meaning, *extra.get(code, ())] for code, meaning in meanings(name).items()]
    return [line.strip().split("|") for line in _ROWS[name].splitlines() if line.strip()]


def _key(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
