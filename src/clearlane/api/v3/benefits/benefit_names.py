"""V3's names of the codes of a 271, by list. The rest of the code has the codes themselves.

    name("benefits", "C")      # Deductible

Names that a request may give too are those of ``eligibility.services``. A code that no list has is returned as it is,
so that no part of a payer's answer is lost.
"""

from collections.abc import Mapping

from clearlane.eligibility import services
from clearlane.inquiry.inquiry_result import RequestStatus

REQUEST_STATUSES: Mapping[RequestStatus, str] = {
    RequestStatus.NOTHING_SENT: "AllInvalid",
    RequestStatus.INCOMPLETE: "ResultsIncomplete",
    RequestStatus.COMPLETE: "ResultsComplete",
}
INTERCHANGE_STATUSES: Mapping[str, str] = {
    "A": "Accepted",
    "E": "AcceptedWithErrors",
    "P": "PartiallyAccepted",
}
"""By TA104 or AK901; every other code rejects."""

NAMES: Mapping[str, Mapping[str, str]] = {
    # EB01.
    "benefits": {
        "1": "ActiveCoverage", "2": "ActiveFullRiskCapitation", "3": "ActiveServicesCapitated",
        "4": "ActiveServicesCapitatedToPrimaryCarePhysician", "5": "ActivePendingInvestigation",
        "6": "Inactive", "7": "InactivePendingEligibilityUpdate",
        "8": "InactivePendingInvestigation", "A": "CoInsurance", "B": "CoPayment",
        "C": "Deductible", "CB": "CoverageBasis", "D": "BenefitDescription", "E": "Exclusions",
        "F": "Limitations", "G": "OutOfPocketStopLoss", "H": "Unlimited", "I": "NonCovered",
        "J": "CostContainment", "K": "Reserve", "L": "PrimaryCareProvider",
        "M": "PreExistingCondition", "MC": "ManagedCareCoordinator",
        "N": "ServicesRestrictedToFollowingProvider", "O": "NotDeemedAMedicalNecessity",
        "P": "BenefitDisclaimer", "Q": "SecondSurgicalOpinionRequired",
        "R": "OtherOrAdditionalPayor", "S": "PriorYearsHistory", "T": "CardsReportedLostStolen",
        "U": "ContactFollowingEntityForEligibilityOrBenefitInformation", "V": "CannotProcess",
        "W": "OtherSourceOfData", "X": "HealthCareFacility", "Y": "SpendDown",
    },
    # EB02.
    "coverage_levels": {
        "CHD": "ChildrenOnly", "DEP": "DependentsOnly", "ECH": "EmployeeAndChildren",
        "EMP": "EmployeeOnly", "ESP": "EmployeeAndSpouse", "FAM": "Family", "IND": "Individual",
        "SPC": "SpouseAndChildren", "SPO": "SpouseOnly",
    },
    # EB04.
    "insurance_types": {
        "12": "MedicareSecondaryWorkingAgedBeneficiaryOrSpouseWithEmployerGroupHealthPlan",
        "13": "MedicareSecondaryEndStageRenalDiseaseBeneficiary",
        "14": "MedicareSecondaryNoFaultInsurance", "15": "MedicareSecondaryWorkersCompensation",
        "16": "MedicareSecondaryPublicHealthServiceOrOtherFederalAgency",
        "41": "MedicareSecondaryBlackLung", "42": "MedicareSecondaryVeteransAdministration",
        "43": "MedicareSecondaryDisabledBeneficiaryUnderAge65WithLargeGroupHealthPlan",
        "47": "MedicareSecondaryOtherLiabilityInsuranceIsPrimary", "AP": "AutoInsurancePolicy",
        "C1": "Commercial", "CO": "ConsolidatedOmnibusBudgetReconciliationAct",
        "CP": "MedicareConditionallyPrimary", "D": "Disability", "DB": "DisabilityBenefits",
        "EP": "ExclusiveProviderOrganization", "FF": "FamilyOrFriends", "GP": "GroupPolicy",
        "HM": "HealthMaintenanceOrganization", "HN": "HealthMaintenanceOrganizationMedicareRisk",
        "HS": "SpecialLowIncomeMedicareBeneficiary", "IN": "Indemnity", "IP": "IndividualPolicy",
        "LC": "LongTermCare", "LD": "LongTermPolicy", "LI": "LifeInsurance", "LT": "Litigation",
        "MA": "MedicarePartA", "MB": "MedicarePartB", "MC": "Medicaid", "MH": "MedigapPartA",
        "MI": "MedigapPartB", "MP": "MedicarePrimary", "OT": "Other",
        "PE": "PropertyInsurancePersonal", "PL": "Personal",
        "PP": "PersonalPaymentCashNoInsurance", "PR": "PreferredProviderOrganization",
        "PS": "PointOfService", "QM": "QualifiedMedicareBeneficiary",
        "RP": "PropertyInsuranceReal", "SP": "SupplementalPolicy",
        "TF": "TaxEquityFiscalResponsibilityAct", "WC": "WorkersCompensation",
        "WU": "WrapUpPolicy",
    },
    # EB06 and HSD05.
    "time_periods": {
        "6": "Hour", "7": "Day", "13": "TwentyFourHours", "21": "Years", "22": "ServiceYear",
        "23": "CalendarYear", "24": "YearToDate", "25": "Contract", "26": "Episode", "27": "Visit",
        "28": "Outlier", "29": "Remaining", "30": "Exceeded", "31": "NotExceeded",
        "32": "Lifetime", "33": "LifetimeRemaining", "34": "Month", "35": "Week",
        "36": "Admission",
    },
    # EB09 and HSD01.
    "quantities": {
        "8H": "Minimum", "99": "QuantityUsed", "CA": "CoveredActual", "CE": "CoveredEstimated",
        "D3": "NumberOfCoInsuranceDays", "DB": "DeductibleBloodUnits", "DY": "Days", "FL": "Units",
        "HS": "Hours", "LA": "LifeTimeReserveActual", "LE": "LifeTimeReserveEstimated",
        "M2": "Maximum", "MN": "Month", "P6": "NumberOfServicesOrProcedures",
        "QA": "QuantityApproved", "S7": "AgeHighValue", "S8": "AgeLowValue", "VS": "Visits",
        "YY": "Years",
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


def name(list: str, code: str) -> str:
    """Return the V3 name of a code; the code itself if the list does not have it."""
    return _ALL[list].get(code, code)


_REQUESTED = (
    "entity_types",
    "genders",
    "payee_roles",
    "payer_roles",
    "relationships",
    "service_types",
)
# One lookup a name: a response of thousands of patients has hundreds of thousands of them.
_ALL = {**NAMES, **{list: services.names(list) for list in _REQUESTED}}
