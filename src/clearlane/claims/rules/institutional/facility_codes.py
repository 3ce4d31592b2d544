"""Code values of institutional claims: the numbers of the National Uniform Billing Committee with words of our own.

A revenue code is judged by its category: the committee adds codes to categories every year. Knows no claim.

What the numbers rest on: patient statuses and frequencies were compared with the public code tables of Medicare's claim files
(ResDAC: Patient Discharge Status Code, Claim Frequency Code), points of origin with the values that a vendor of hospital
systems recommends, the first revenue codes with ResDAC's table of revenue centers, spans 70 to 79 with a list of a Medicare
contractor. The committee's own list is not public. The types of bill (ResDAC's tables have more of them, without their days),
the other revenue codes and the ranges of condition, occurrence, span and value codes have no public source that says what is
in use today, so what is outside of them is a warning.
"""

import re

from clearlane.claims import codes
from clearlane.x12 import codes as x12_codes

ADMISSION_TYPES = codes.meanings("admission_type")
ORIGINS = codes.meanings("point_of_origin")
PATIENT_STATUSES = codes.meanings("patient_status")
NEWBORN = "4"
UNSCHEDULED = frozenset({"1", "2", "5"})
NEWBORN_ORIGINS = ("5", "6")
STILL_A_PATIENT = "30"
DIED, DIED_IN_HOSPICE = frozenset({"20", "40", "41", "42"}), frozenset({"40", "41", "42"})
SAME_DAY_TRANSFERS = frozenset(["02", "03", "05", "50", "51", "61", "62", "63", "65", "66", "70"])

# Condition codes.
EMPLOYMENT, SAME_DAY_TRANSFER, DEMAND_BILL, DENIAL_NOTICE = "02", "40", "20", "21"
REPLACEMENT_REASONS = frozenset(["D0", "D1", "D2", "D3", "D4", "D7", "D8", "D9", "E0"])
VOID_REASONS = frozenset({"D5", "D6"})
# Occurrence codes.
EMPLOYMENT_ACCIDENT, DEATH = "04", "55"
# Value codes.
COVERED_DAYS, NOT_COVERED_DAYS, WEIGHT, HEIGHT = "80", "81", "A8", "A9"
PRIMARY_PAYERS = frozenset(["12", "13", "14", "15", "16", "41", "43", "47"])
"""Value codes that state what the payer before Medicare paid."""
LEAVE_SPAN = "74"

ACCIDENTS = frozenset(["01", "02", "03", "04", "05", "06"])
"""Occurrence codes of an accident or a crime."""
CAR_ACCIDENTS = frozenset({"01", "02", "03"})
"""Those of them that may be a car's: with medical coverage, under no-fault insurance, with someone liable."""
ACCIDENT_PAYERS = frozenset({"14", "15", "47"})
"""Value codes of payers for accidents: auto, employment, liability."""

# Ranges of the committee. The second character of a code with a letter is a digit, except for disasters (DR, MR) and
# newer codes.
OCCURRENCE = re.compile(r"(?!00)[0-6]\d|[A-L][0-9A-Z]", re.ASCII)
OCCURRENCE_SPAN = re.compile(r"[7-9]\d|[M-Z][0-9A-Z]", re.ASCII)
CONDITION = re.compile(r"(?!00)\d\d|[A-HMNPRW][0-9A-Z]", re.ASCII)
VALUE = re.compile(r"(?!00)\d\d|[A-HPQX-Z][0-9A-Z]", re.ASCII)

REVENUE_CODES = x12_codes.load("revenue_codes")
_FOUR_DIGITS = re.compile(r"\d{4}", re.ASCII)
TOTAL_LINE = "0001"
HIPPS_REVENUE = frozenset({"0022", "0023", "0024"})
"""Lines of prospective payment of nursing facilities, home health and rehabilitation."""
DETAILED_DRUGS = "0636"
LEAVE_OF_ABSENCE = "018"
_ACCOMMODATION = re.compile(r"01[0-9]\d|02[01]\d", re.ASCII)
_UNSCHEDULED_VISIT = re.compile(r"045\d|0516|0526|0762", re.ASCII)
_TRANSPORT = re.compile(r"054\d", re.ASCII)
_OPERATION = re.compile(r"036\d", re.ASCII)
_WITH_PROCEDURE = re.compile(r"03[0-5]\d|045\d|0636", re.ASCII)
"""Laboratory, imaging, emergency department and detailed drugs."""


def has_four_digits(code: str) -> bool:
    """Return whether a text has the form of a revenue code."""
    return _FOUR_DIGITS.fullmatch(code) is not None


def is_revenue_code(code: str) -> bool:
    """Return whether a code is in a category of revenue codes."""
    return code in REVENUE_CODES


def is_accommodation(code: str | None) -> bool:
    """Return whether a revenue code is for days of accommodation, leave of absence included."""
    return _ACCOMMODATION.fullmatch(code or "") is not None


def is_unscheduled_visit(code: str | None) -> bool:
    """Return whether a revenue code is for emergency or urgent care, or observation."""
    return _UNSCHEDULED_VISIT.fullmatch(code or "") is not None


def is_transport(code: str | None) -> bool:
    """Return whether a revenue code is for an ambulance."""
    return _TRANSPORT.fullmatch(code or "") is not None


def is_operation(code: str | None) -> bool:
    """Return whether a revenue code is for an operation."""
    return _OPERATION.fullmatch(code or "") is not None


def asks_for_procedure(code: str | None) -> bool:
    """Return whether an outpatient line with a revenue code has a procedure."""
    return _WITH_PROCEDURE.fullmatch(code or "") is not None
