"""Types of bill, and the elements of a claim that depend on them: one table.

    usage(BillElement.ADMISSION_DATE, "32")         # Usage.REQUIRED

A type of bill is a facility and a classification; the frequency of the claim is its third character. Whether an element
is needed is decided for each element and each type (X12's interpretations 1479 and 1520): home health is outpatient for
the admitting diagnosis and inpatient for the admission date. So there is no notion of an inpatient here.

The numbers are those of the National Uniform Billing Committee, the words are our own. Knows no claim.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

BILL_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "11": "hospital, stay",
        "12": "hospital, stay, billed under Part B",
        "13": "hospital, outpatient",
        "14": "hospital, laboratory for others than its patients",
        "18": "hospital, swing bed",
        "21": "nursing facility, stay",
        "22": "nursing facility, stay, billed under Part B",
        "23": "nursing facility, outpatient",
        "24": "nursing facility, laboratory for others than its patients",
        "28": "nursing facility, swing bed",
        "32": "home health under a plan of treatment",
        "33": "home health under a plan of treatment, billed under Part A",
        "34": "home health without a plan of treatment",
        "41": "religious nonmedical institution, stay",
        "43": "religious nonmedical institution, outpatient",
        "65": "intermediate care, level one",
        "66": "intermediate care, level two",
        "71": "rural health clinic",
        "72": "dialysis center",
        "73": "free-standing clinic",
        "74": "outpatient rehabilitation facility",
        "75": "comprehensive outpatient rehabilitation facility",
        "76": "community mental health center",
        "77": "federally qualified health center",
        "78": "free-standing emergency center",
        "79": "other clinic",
        "81": "hospice outside a hospital",
        "82": "hospice of a hospital",
        "83": "ambulatory surgery center",
        "84": "free-standing birthing center",
        "85": "critical access hospital, outpatient",
        "86": "residential facility",
        "87": "opioid treatment program",
        "89": "other special facility",
    }
)
# Public tables name facilities 1 to 8 with classifications 1 to 9, some of them without saying whether they are still in use.
_BILL_TYPE = re.compile(r"[1-9][1-9]", re.ASCII)


class Usage(StrEnum):
    """Whether a type of bill has an element."""

    REQUIRED = "required"
    ALLOWED = "allowed"
    NOT = "not"


class BillElement(StrEnum):
    """What depends on the type of bill."""

    ADMISSION_DATE = "admission date"
    ADMISSION_HOUR = "admission hour"
    ADMISSION_ON_FIRST_DAY = "admission on the first day of the first bill"
    DISCHARGE_HOUR = "discharge hour"
    DISCHARGE = "patient status by frequency"
    ADMISSION_TYPE = "admission type"
    ORIGIN = "point of origin"
    ADMITTING_DIAGNOSIS = "admitting diagnosis"
    VISIT_REASON = "reason for an unscheduled visit"
    PRESENT_ON_ADMISSION = "present on admission"
    PRINCIPAL_DIAGNOSIS = "principal diagnosis that is a reason for a stay"
    ICD_PROCEDURE = "ICD procedure"
    ACCOMMODATION = "accommodation"
    COVERED_DAYS = "covered days"
    LINE_DATE = "line date"
    LINE_PROCEDURE = "procedure with certain revenue codes"
    REFERRING = "referring provider"
    INTERIM = "interim bill (2, 3, 4)"
    NOTICE = "notice (A to E)"
    FINAL_EPISODE = "final bill of an episode (9)"
    DIALYSIS_MEASURES = "weight and height"
    HOSPICE_DEATH = "hospice patient's death (40 to 42)"
    SAME_DAY_TRANSFER = "mark of a transfer on the day of admission"
    STAY_DECISION = "earlier payer's decision on a stay (MIA)"
    OUTPATIENT_DECISION = "earlier payer's decision on an outpatient (MOA)"
    FACILITY_ADDRESS = "facility as the patient's address"
    TREATMENT_CODE = "treatment authorization code (until 2019)"


STAYS = "11 18 21 28 41 65 66 86"
STAYS_PART_B = "12 22"
HOME_HEALTH, HOSPICE, DIALYSIS = "32 33", "81 82", "72"
OUTPATIENT = "13 14 23 24 34 43 71 72 73 74 75 76 77 78 79 83 84 85 87 89"


def _others(bill_types: str) -> str:
    """Return all types but some."""
    return " ".join(set(BILL_TYPES) - set(bill_types.split()))


_ROWS: Mapping[BillElement, tuple[str, str]] = {
    BillElement.ADMISSION_DATE: (
        f"{STAYS} {STAYS_PART_B} {HOME_HEALTH} {HOSPICE}",
        "13 14 71 77 83 85",
    ),
    # A nursing facility (21) does not state hours, its swing bed (28) if the payer asks.
    BillElement.ADMISSION_HOUR: ("11 18 41 65 66 86", ""),
    BillElement.ADMISSION_ON_FIRST_DAY: (STAYS, ""),
    BillElement.DISCHARGE_HOUR: ("11 18 41 65 66 86", ""),
    BillElement.DISCHARGE: (f"{STAYS} {HOME_HEALTH} {HOSPICE}", ""),
    BillElement.ADMISSION_TYPE: (f"{STAYS} {STAYS_PART_B}", ""),
    BillElement.ORIGIN: (_others("14"), ""),
    BillElement.ADMITTING_DIAGNOSIS: ("11 12 18 21 22 41", HOME_HEALTH),
    BillElement.VISIT_REASON: ("13 85", STAYS),
    BillElement.PRESENT_ON_ADMISSION: ("11", OUTPATIENT),
    BillElement.PRINCIPAL_DIAGNOSIS: ("11", ""),
    BillElement.ICD_PROCEDURE: ("", _others(STAYS)),
    BillElement.ACCOMMODATION: (STAYS, f"{OUTPATIENT} {STAYS_PART_B}"),
    BillElement.COVERED_DAYS: (STAYS, ""),
    BillElement.LINE_DATE: (f"{OUTPATIENT} {STAYS_PART_B}", ""),
    BillElement.LINE_PROCEDURE: (OUTPATIENT, ""),
    BillElement.REFERRING: ("", f"{STAYS} {STAYS_PART_B}"),
    BillElement.INTERIM: ("", _others(f"{STAYS} {HOME_HEALTH} {HOSPICE} {DIALYSIS}")),
    BillElement.NOTICE: ("", _others("32 81 82")),
    BillElement.FINAL_EPISODE: ("", _others("32")),
    BillElement.DIALYSIS_MEASURES: (DIALYSIS, ""),
    BillElement.HOSPICE_DEATH: ("", _others(HOSPICE)),
    BillElement.SAME_DAY_TRANSFER: ("11", ""),
    BillElement.STAY_DECISION: ("", f"{OUTPATIENT} {STAYS_PART_B}"),
    BillElement.OUTPATIENT_DECISION: ("", STAYS),
    # Where patients may live.
    BillElement.FACILITY_ADDRESS: ("", _others(f"18 21 22 28 65 66 86 {HOSPICE}")),
    BillElement.TREATMENT_CODE: ("", _others(HOME_HEALTH)),
}
"""Of each element: the types that require it, and those that do not have it. Others allow it."""


def _usages(required: str, never: str) -> dict[str, Usage]:
    usages = dict.fromkeys(BILL_TYPES, Usage.ALLOWED)
    usages |= dict.fromkeys(required.split(), Usage.REQUIRED)
    return usages | dict.fromkeys(never.split(), Usage.NOT)


USAGES: Mapping[BillElement, Mapping[str, Usage]] = MappingProxyType(
    {element: _usages(*_ROWS[element]) for element in BillElement}
)


TAXONOMIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        # Hospitals and their units.
        **dict.fromkeys(("11", "13"), ("27", "28")),
        "21": ("31", "275N", "282N"),
        "32": ("251E",),
        "71": ("261QR",),
        "72": ("261QE",),
        "81": ("251G", "315D"),
    }
)
"""What the billing provider's taxonomy code begins with, by type of bill; other types have no expectation."""


def is_bill_type(given: str) -> bool:
    """Return whether a text can be a facility and a classification, also one that is not in the table."""
    return _BILL_TYPE.fullmatch(given) is not None


def usage(element: BillElement, bill_type: str | None) -> Usage:
    """Return whether a type of bill has an element; of a type that does not exist nothing is known."""
    return USAGES[element].get(bill_type or "", Usage.ALLOWED)


def requires(element: BillElement, bill_type: str | None) -> bool:
    """Return whether a type of bill requires an element."""
    return usage(element, bill_type) is Usage.REQUIRED


def forbids(element: BillElement, bill_type: str | None) -> bool:
    """Return whether a type of bill does not have an element."""
    return usage(element, bill_type) is Usage.NOT
