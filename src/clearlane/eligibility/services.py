"""Translate between the codes of a 270 or 271 and their names in Vendor API V3.

Most lists are those of ``x12.codes``, whose third column holds the V3 names; lists that only V3 needs are here. A
name is found in any case and with any punctuation, and so is the X12 code itself. A code that no list has is
returned as it is, so that nothing of a payer's answer is lost.

Knows lists; knows no request and no file.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from clearlane.kernel import limits
from clearlane.payers.model import PayerType
from clearlane.x12 import codes

NAME_COLUMN = 2

HEALTH_PLAN, DENTAL_CARE = "30", "35"
DEFAULT_SERVICES: Mapping[str, str] = {"Medical": HEALTH_PLAN, "Dental": DENTAL_CARE}
"""The service type of an inquiry that names none, by the type of the payer."""
DENTAL_SERVICES = frozenset({
    "23", "24", "25", "26", "27", "28", "35", "36", "37", "38", "39", "40", "41",
})  # fmt: skip

_V3_LISTS: dict[str, dict[str, str]] = {
    # NM101 of 2100A.
    "payer_roles": {
        "PR": "Payer", "2B": "ThirdPartyAdministrator", "36": "Employer", "GP": "GatewayProvider",
        "P5": "PlanSponsor",
    },
    # NM101 of 2100B.
    "payee_roles": {
        "1P": "Provider", "FA": "Facility", "80": "Hospital", "2B": "ThirdPartyAdministrator",
        "36": "Employer", "GP": "GatewayProvider", "P5": "PlanSponsor", "PR": "Payer",
    },
    # NM101 of 2120.
    "entities": {
        "13": "ContractedServiceProvider", "1I": "PreferredProviderOrganization", "1P": "Provider",
        "2B": "ThirdPartyAdministrator", "36": "Employer", "73": "OtherPhysician", "FA": "Facility",
        "GP": "GatewayProvider", "GW": "Group", "I3": "IndependentPhysiciansAssociation",
        "IL": "InsuredOrSubscriber", "LR": "LegalRepresentative", "OC": "OriginCarrier",
        "P3": "PrimaryCareProvider", "P4": "PriorInsuranceCarrier", "P5": "PlanSponsor",
        "PR": "Payer", "PRP": "PrimaryPayer", "SEP": "SecondaryPayer", "TTP": "TertiaryPayer",
        "VER": "PartyPerformingVerification", "VN": "Vendor",
        "VY": "OrganizationCompletingConfigurationChange",
        "X3": "UtilizationManagementOrganization", "Y2": "ManagedCareOrganization",
    },
    "entity_types": {"1": "Individual", "2": "Organization"},
    "genders": {"M": "Male", "F": "Female", "U": "Unknown"},
    # EB11 and EB12.
    "answers": {"Y": "Yes", "N": "No", "U": "Unknown", "W": "NotApplicable"},
    "contact_numbers": {
        "ED": "ElectronicDataInterchangeAccessNumber", "EM": "ElectronicMail",
        "EX": "TelephoneExtension", "FX": "Facsimile", "TE": "Telephone", "UR": "Url",
        "WP": "WorkPhone",
    },
    # PRV01.
    "provider_roles": {
        "AD": "Admitting", "AT": "Attending", "BI": "Billing", "CO": "Consulting",
        "CV": "Covering", "H": "Hospital", "HH": "HomeHealthCare", "LA": "Laboratory",
        "OT": "OtherPhysician", "P1": "Pharmacist", "P2": "Pharmacy",
        "PC": "PrimaryCarePhysician", "PE": "Performing", "R": "RuralHealthClinic",
        "RF": "Referring", "SB": "Submitting", "SK": "SkilledNursingFacility",
        "SU": "Supervising",
    },
    # AAA04.
    "follow_up_actions": {
        "C": "PleaseCorrectAndResubmit", "N": "ResubmissionNotAllowed",
        "P": "PleaseResubmitOriginalTransaction", "R": "ResubmissionAllowed",
        "S": "DoNotResubmitInquiryInitiatedToAThirdParty", "W": "PleaseWait30DaysAndResubmit",
        "X": "PleaseWait10DaysAndResubmit",
        "Y": "DoNotResubmitWeWillHoldYourRequestAndRespondAgainShortly",
    },
    # HSD07.
    "delivery_patterns": {
        "1": "FirstWeekOfTheMonth", "2": "SecondWeekOfTheMonth", "3": "ThirdWeekOfTheMonth",
        "4": "FourthWeekOfTheMonth", "5": "FifthWeekOfTheMonth", "6": "FirstAndThirdWeeksOfTheMonth",
        "7": "SecondAndFourthWeeksOfTheMonth", "8": "FirstWorkingDayOfPeriod",
        "9": "LastWorkingDayOfPeriod", "A": "MondayThroughFriday", "B": "MondayThroughSaturday",
        "C": "MondayThroughSunday", "D": "Monday", "E": "Tuesday", "F": "Wednesday",
        "G": "Thursday", "H": "Friday", "J": "Saturday", "K": "Sunday",
        "L": "MondayThroughThursday", "M": "Immediately", "N": "AsDirected",
        "O": "DailyMondayThroughFriday", "P": "HalfMondayAndHalfThursday",
        "Q": "HalfTuesdayAndHalfThursday", "R": "HalfWednesdayAndHalfFriday",
        "S": "OnceAnytimeMondayThroughFriday", "SG": "TuesdayThroughFriday",
        "SL": "MondayTuesdayAndThursday", "SP": "MondayTuesdayAndFriday",
        "SX": "WednesdayAndThursday", "SY": "MondayWednesdayAndThursday",
        "SZ": "TuesdayThursdayAndFriday", "T": "HalfTuesdayAndHalfFriday",
        "U": "HalfMondayAndHalfWednesday", "V": "OneThirdMondayWednesdayFriday",
        "W": "WheneverNecessary", "X": "HalfByWednesdayBalanceByFriday",
        "Y": "NoneAlsoUsedToCancelOrOverrideAPreviousPattern",
    },
    # MPI01 to MPI03.
    "information_statuses": {
        "A": "Partial", "C": "Current", "L": "Latest", "O": "Oldest", "P": "Prior",
        "S": "SecondMostCurrent", "T": "ThirdMostCurrent",
    },
    "military_statuses": {
        "AE": "ActiveReserve", "AO": "ActiveMilitaryOverseas", "AS": "AcademyStudent",
        "AT": "PresidentialAppointee", "AU": "ActiveMilitaryUsa", "CC": "Contractor",
        "DD": "DishonorablyDischarged", "HD": "HonorablyDischarged", "IR": "InactiveReserves",
        "LX": "LeaveOfAbsenceMilitary", "PE": "PlanToEnlist", "RE": "Recommissioned",
        "RM": "RetiredMilitaryOverseas", "RR": "RetiredWithoutRecall", "RU": "RetiredMilitaryUsa",
    },
    "service_affiliations": {
        "A": "AirForce", "B": "AirForceReserves", "C": "Army", "D": "ArmyReserves",
        "E": "CoastGuard", "F": "MarineCorps", "G": "MarineCorpsReserves", "H": "NationalGuard",
        "I": "Navy", "J": "NavyReserves", "K": "Other", "L": "PeaceCorps",
        "M": "RegularArmedForces", "N": "Reserves", "O": "UsPublicHealthService",
        "Q": "ForeignMilitary", "R": "AmericanRedCross", "S": "DepartmentOfDefense",
        "U": "UnitedServicesOrganization", "W": "MilitarySealiftCommand",
    },
}  # fmt: skip

# Synonyms that callers may send beside the name and the code.
_SYNONYMS: dict[str, dict[str, str]] = {
    "genders": {"man": "M", "woman": "F", "other": "U", "x": "U"},
    "entity_types": {"person": "1", "nonperson": "2", "nonpersonentity": "2", "organisation": "2"},
    "relationships": {
        "husband": "01", "wife": "01", "1": "01", "son": "19", "daughter": "19", "dependent": "G8",
        "otherrelationship": "G8", "domesticpartner": "53", "partner": "53",
    },
}  # fmt: skip
_PUNCTUATION = re.compile(r"[^0-9a-z]")


def name(list: str, code: str) -> str:
    """Return the V3 name of a code; the code itself if the list does not have it."""
    return names(list).get(code, code)


@cache
def names(list: str) -> Mapping[str, str]:
    """Return the names of a list by code."""
    own = _V3_LISTS.get(list)
    return MappingProxyType(own) if own is not None else codes.load_column(list, NAME_COLUMN)


def code(list: str, text: str) -> str | None:
    """Return the code for a caller's name or code; None if the list has none."""
    return _code(list, text) if len(text) <= limits.CODED_CHARACTERS_MAX else None


def default_service(payer_type: "PayerType | str") -> str:
    """Return the service type of an inquiry that names none."""
    return DEFAULT_SERVICES[payer_type]


@lru_cache(limits.CHECK_RESULTS_CACHED_MAX)
def _code(list: str, text: str) -> str | None:
    return _codes(list).get(_PUNCTUATION.sub("", text.casefold()))


@cache
def _codes(list: str) -> Mapping[str, str]:
    found = dict(_SYNONYMS.get(list, {}))
    found |= {_PUNCTUATION.sub("", name.casefold()): code for code, name in names(list).items()}
    return found | {code.casefold(): code for code in names(list)}
