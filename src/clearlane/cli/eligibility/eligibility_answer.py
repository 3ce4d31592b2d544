"""Read the benefits in V3's eligibility response, as the service sends it to a vendor, into tables.

The names of V3 become the codes of X12 here, those that a table needs: other benefits have no row in it.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from clearlane.eligibility import services
from clearlane.eligibility.benefit_table import PatientTable, PayerError, build_table
from clearlane.kernel.formats import last_first
from clearlane.x12 import codes
from clearlane.x12.views.benefits import BenefitView, RefusalView
from clearlane.x12.views.shared_types import DateView, PartyView, ReferenceView

JSON = Mapping[str, Any]

BENEFITS = {
    "ActiveCoverage": "1", "ActiveFullRiskCapitation": "2", "ActiveServicesCapitated": "3",
    "ActiveServicesCapitatedToPrimaryCarePhysician": "4", "ActivePendingInvestigation": "5",
    "Inactive": "6", "InactivePendingEligibilityUpdate": "7", "InactivePendingInvestigation": "8",
    "CoInsurance": "A", "CoPayment": "B", "Deductible": "C", "OutOfPocketStopLoss": "G",
    "NonCovered": "I", "PrimaryCareProvider": "L",
}  # fmt: skip
COVERAGE_LEVELS = {
    "ChildrenOnly": "CHD", "DependentsOnly": "DEP", "EmployeeAndChildren": "ECH",
    "EmployeeOnly": "EMP", "EmployeeAndSpouse": "ESP", "Family": "FAM", "Individual": "IND",
    "SpouseAndChildren": "SPC", "SpouseOnly": "SPO",
}  # fmt: skip
TIME_PERIODS = {"YearToDate": "24", "Remaining": "29", "LifetimeRemaining": "33"}
REFERENCES = {"GroupNumber": "6P", "GroupOrPolicyNumber": "1L"}
PERIODS = {"PlanDates": ("291", "346", "347"), "EligibilityDates": ("307", "356", "357")}
"""Objects with a first and a last day: the qualifiers of a period as a whole, of its first day, of its last day."""
DAYS = {"PlanDate": "291", "EligibilityDate": "307"}
ROLES = {"PrimaryCareProvider": "P3"}
NETWORKS = {"Yes": "Y", "No": "N", "NotApplicable": "W"}
FOLLOW_UP_ACTIONS = {
    "PleaseCorrectAndResubmit": "C", "ResubmissionNotAllowed": "N",
    "PleaseResubmitOriginalTransaction": "P", "ResubmissionAllowed": "R",
    "DoNotResubmitInquiryInitiatedToAThirdParty": "S", "PleaseWait30DaysAndResubmit": "W",
    "PleaseWait10DaysAndResubmit": "X",
    "DoNotResubmitWeWillHoldYourRequestAndRespondAgainShortly": "Y",
}  # fmt: skip


def response_tables(body: JSON) -> Iterator[PatientTable]:
    """Yield a table for each patient of a response; one without rows for a refused inquiry."""
    for response in _objects(body, "Responses"):
        for payer in _objects(response, "Payers"):
            errors = [*_errors(response, "EnvelopeErrors"), *_errors(payer)]
            yield from _payer_tables(payer, errors)


def _payer_tables(payer: JSON, errors: list[PayerError]) -> Iterator[PatientTable]:
    payees = _objects(payer, "Payees")
    if not payees:
        yield _table(payer, {}, {}, errors)
    for payee in payees:
        payee_errors = [*errors, *_errors(payee)]
        subscribers = _objects(payee, "Subscribers")
        if not subscribers:
            yield _table(payer, {}, {}, payee_errors)
        for subscriber in subscribers:
            subscriber_errors = [*payee_errors, *_errors(subscriber)]
            dependents = _objects(subscriber, "Dependents")
            if subscriber.get("Benefits") or not dependents:
                yield _table(payer, subscriber, subscriber, subscriber_errors)
            for dependent in dependents:
                yield _table(
                    payer, subscriber, dependent, [*subscriber_errors, *_errors(dependent)]
                )


def _table(
    payer: JSON, subscriber: JSON, patient: JSON, errors: Iterable[PayerError]
) -> PatientTable:
    return build_table(
        tuple(map(_benefit, _objects(patient, "Benefits"))),
        errors,
        payer=payer.get("CommonName") or payer.get("PayerId") or "",
        patient=last_first(patient.get("CommonName"), patient.get("FirstName")),
        member_id=subscriber.get("MemberId") or "",
        references=tuple(_references(patient)),
        dates=tuple(_dates(patient)),
    )


def _benefit(benefit: JSON) -> BenefitView:
    return BenefitView(
        benefit=_code(BENEFITS, benefit.get("Type")),
        level=_code(COVERAGE_LEVELS, benefit.get("LevelOfCoverage")),
        service_types=tuple(
            services.code("service_types", name) or name
            for name in benefit.get("TypesOfService") or ()
        ),
        plan=benefit.get("PlanCoverageDescription") or "",
        period=_code(TIME_PERIODS, benefit.get("BenefitTimePeriod")),
        amount=_number(benefit.get("BenefitAmount")),
        fraction=_number(benefit.get("PatientResponsibilityPercentage")),
        in_network=_code(NETWORKS, benefit.get("PlanInNetwork")),
        refusals=tuple(
            RefusalView(reason=one.code, reason_words=one.message, follow_up_words=one.action)
            for one in _errors(benefit)
        ),
        messages=tuple(benefit.get("Messages") or ()),
        references=tuple(_references(benefit)),
        dates=tuple(_dates(benefit)),
        parties=tuple(map(_party, _objects(benefit, "BenefitEntities"))),
    )


def _references(level: JSON) -> Iterator[ReferenceView]:
    for name, qualifier in REFERENCES.items():
        if level.get(name):
            yield ReferenceView(qualifier=qualifier, value=level[name])


def _dates(level: JSON) -> Iterator[DateView]:
    for name, qualifier in DAYS.items():
        if level.get(name):
            yield DateView(qualifier=qualifier, start=_day(level[name]))
    for name, (whole, first, last) in PERIODS.items():
        start, end = (_day((level.get(name) or {}).get(part)) for part in ("Start", "End"))
        if start and end:
            yield DateView(qualifier=whole, start=start, end=end)
        else:
            yield DateView(qualifier=first, start=start)
            yield DateView(qualifier=last, start=end)


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text[:10]) if text else None


def _party(entity: JSON) -> PartyView:
    return PartyView(
        role=_code(ROLES, entity.get("Type")),
        name=entity.get("CommonName") or "",
        first=entity.get("FirstName") or "",
    )


def _errors(level: JSON, name: str = "Errors") -> Iterator[PayerError]:
    for error in _objects(level, name):
        action = _code(FOLLOW_UP_ACTIONS, error.get("FollowUpAction"))
        words = codes.load("follow_up_actions").get(action, action)
        yield PayerError(error.get("Code") or "", error.get("Message") or "", words)


def _objects(level: JSON, name: str) -> list[JSON]:
    return level.get(name) or []


def _code(names: Mapping[str, str], name: str | None) -> str:
    """Return the code of a name; the name itself if the table needs none."""
    return names.get(name, name) if name else ""


def _number(value: object) -> Decimal | None:
    return None if value is None else Decimal(str(value))
