"""The lists of the coded fields: X12's code, what it means, and the names people send for it.

A field of list ``sex`` takes ``F``, ``female`` and ``Female`` alike and becomes ``F``. Case, blanks and
punctuation do not matter. What is on no row of the list is left as it came; a rule says so then.
Where X12 has no code of its own for a row (a claim that is no predetermination, say), the code is ours
and no placement sends it.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from clearlane.kernel import limits
from clearlane.x12 import codes as x12_codes

SELF = "18"
PREDETERMINATION = "PB"
EPSDT = "01"
NO_ACCIDENT = "NO"
REPLACEMENT, VOID = "7", "8"

# One row a code: the code, what it means, then the other names, separated by "|".
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
        A|Assigned|Yes|Y|True|Accepted|Accepts assignment
        B|Assigned for clinical laboratory services only|Assigned lab only|Clinical lab only|Assignment accepted on clinical lab services only
        C|Not assigned|No|N|False|Unassigned
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
    "attachment_transmission": """
        AA|Available on request at the provider's site|Available on request
        BM|By mail|Mail
        EL|Electronic only|Electronically only|Electronic
        EM|E-mail
        FT|File transfer
        FX|Fax|By fax
    """,
}

# Lists whose rows are the outside list of the same name; only the names people send stand here.
_OUTSIDE: dict[str, dict[str, tuple[str, ...]]] = {
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

LISTS: tuple[str, ...] = (*_ROWS, *_OUTSIDE)
# Fields of these lists may hold several codes, separated by commas.
SEVERAL = frozenset({"vision"})


@cache
def words(name: str) -> Mapping[str, str]:
    """The codes of a list and what each means."""
    if name in _OUTSIDE:
        return x12_codes.load(name)
    return MappingProxyType({row[0]: row[1] for row in _rows(name)})


def find(name: str, text: str) -> str | None:
    """The code that a text stands for in a list, or None."""
    return _find(name, text) if len(text) <= limits.CODED_CHARACTERS_MAX else None


@lru_cache(maxsize=limits.VERDICTS_REMEMBERED_MAX)
def _find(name: str, text: str) -> str | None:
    return _names(name).get(_key(text))


@cache
def glance(name: str) -> Mapping[str, str]:
    """The usual spellings of a list's names, for a look-up without any work on the text."""
    found: dict[str, str] = {}
    for row in _rows(name):
        for text in row:
            for spelling in (text, text.upper(), text.lower(), text.title().replace(" ", "")):
                code = find(name, spelling)
                if code:
                    found[spelling] = code
    return MappingProxyType(found)


@cache
def passing(name: str) -> str:
    """What a list takes, told in a sentence's end: codes with their meaning."""
    shown = [f"{code} ({meaning})" for code, meaning in words(name).items()]
    if len(shown) > 12:
        return f"a code of the list, such as {', '.join(shown[:3])}"
    return f"one of {', '.join(shown)}"


@cache
def _names(name: str) -> Mapping[str, str]:
    """Every text that is understood, and the code it becomes."""
    found: dict[str, str] = {}
    rows = _rows(name)
    # A code is never hidden by another row's name, so the codes come first.
    for row in rows:
        found.setdefault(_key(row[0]), row[0])
    for row in rows:
        for text in row[1:]:
            found.setdefault(_key(text), row[0])
    return found


def _rows(name: str) -> list[list[str]]:
    if name in _OUTSIDE:
        extra = _OUTSIDE[name]
        return [[code, meaning, *extra.get(code, ())] for code, meaning in words(name).items()]
    return [line.strip().split("|") for line in _ROWS[name].splitlines() if line.strip()]


def _key(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
