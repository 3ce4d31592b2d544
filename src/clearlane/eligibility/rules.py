"""Check a decoded request: build the inquiries that can be sent, and the reasons why others cannot.

    StepwiseCall(check_stepwise(request, InquiryFacts(find=payers.find, sandbox=True, today=day)))

A rule has an id, a sentence (its docstring), a level and a small function that yields ``(field, message)``; the
message says what is wrong, what was found and what would pass. A problem of a document, payer or provider is
reported once and stops all patients below it.

Knows requests and business rules; the caller passes the facts. Knows no X12 position.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from clearlane.eligibility import fields, json_struct, services
from clearlane.eligibility.build_inquiry import (
    InquiryBuilder,
    asks_only_dental,
    choose_payer,
    clean_text,
)
from clearlane.eligibility.fields import EligibilityRequest, RequestPatient, patients
from clearlane.eligibility.json_struct import JsonStruct
from clearlane.eligibility.model import Inquiry
from clearlane.inquiry.inquiry_result import ValidationResult
from clearlane.kernel import formats, limits
from clearlane.kernel.finding import Severity
from clearlane.kernel.rule_registry import FindingType, RuleRegistry
from clearlane.payers.model import Payer

ELIGIBILITY_PATIENTS_MAX = 10_000
QUESTIONS_PER_PATIENT_MAX = 99
SERVICE_TYPES_PER_QUESTION_MAX = 99


RuleProblem = tuple[str, str]
"""A field's path relative to its level, and a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InquiryFacts:
    """Facts that the rules need beside the request."""

    find: Callable[[str, str], Payer | None]
    """The payer of an id and a type, such as ``PayerDirectory.find``."""
    sandbox: bool
    today: date
    why_not_asked: Callable[[Payer, str], str] = lambda payer, npi: ""
    """Why a payer answers no inquiries of the provider with an NPI, for want of an enrollment; empty if it does."""


class RequestLevel(StrEnum):
    """The part of a request that a rule checks."""

    DOCUMENT = "document"
    INQUIRY = "inquiry"
    PAYER = "payer"
    PAYEE = "payee"
    SUBSCRIBER = "subscriber"
    PATIENT = "patient"


class CheckedRequest(NamedTuple):
    """The inquiries that can be sent, and the reasons why the rest cannot."""

    inquiries: list[Inquiry]
    results: list[ValidationResult]


@dataclass(frozen=True, slots=True)
class InquiryRuleContext:
    """The input of a rule: the facts, the request, and the patient or level it checks."""

    facts: InquiryFacts
    request: EligibilityRequest
    count: int
    """The number of patients in the request."""
    patient: Any = None
    """The patient; for a rule of a higher level, the first patient below it."""
    payer: Payer | None = None
    """The payer in the directory."""

    @property
    def person(self) -> fields.RequestDependent | fields.RequestSubscriber:
        """The patient: the dependent, else the subscriber."""
        return self.patient.dependent or self.patient.subscriber  # type: ignore[no-any-return]  # fields of the catalogue are of any type


Check = Callable[[InquiryRuleContext], Iterable[RuleProblem]]


@dataclass(frozen=True, slots=True, kw_only=True)
class InquiryRule(FindingType):
    """One row of the table of rules."""

    level: RequestLevel
    check: Check


RULES: RuleRegistry[InquiryRule] = RuleRegistry(InquiryRule)


def check_stepwise(
    request: EligibilityRequest, facts: InquiryFacts
) -> Generator[None, None, CheckedRequest]:
    """Check a request with a pause after each patient."""
    checked = CheckedRequest([], [])
    requested = list(patients(request))
    context = InquiryRuleContext(facts, request, len(requested))
    if _add_results(RequestLevel.DOCUMENT, context, "", checked.results):
        return checked
    memo: dict[str, Any] = {}
    builder = InquiryBuilder()
    for patient in requested:
        payer = _check_levels_above(context, patient, memo, checked.results)
        own_context = InquiryRuleContext(facts, request, len(requested), patient, payer)
        # A patient is checked even if a level above failed, so that the caller sees every problem at once.
        failed = _add_results(RequestLevel.PATIENT, own_context, patient.path, checked.results)
        if payer is not None and not failed:
            checked.inquiries.append(builder.build(patient, payer))
        yield
    return checked


def rule(id: str, level: RequestLevel) -> Callable[[Check], Check]:
    """Return a decorator that registers a rule."""
    return RULES.rule(id, Severity.ERROR, level=level)


# --- the document -----------------------------------------------------------------------------------


@rule("TooManyPatients", RequestLevel.DOCUMENT)
def patients_are_few_enough(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """A document asks about 10,000 patients at most."""
    if context.count > ELIGIBILITY_PATIENTS_MAX:
        most = ELIGIBILITY_PATIENTS_MAX
        yield (
            "BenefitInquiries",
            f"The document asks about {context.count} patients; send {most} at most.",
        )


@rule("TestInProduction", RequestLevel.DOCUMENT)
def production_takes_no_tests(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """A production installation takes no test inquiries."""
    if context.request.IsTest and not context.facts.sandbox:
        yield "IsTest", "IsTest is true, but this is production: send false."


@rule("RequestTypeUnknown", RequestLevel.INQUIRY)
def request_type_is_request(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The request type is Request, or absent."""
    name = context.patient.inquiry.RequestType
    if name and name.casefold() != "request":
        yield (
            "RequestType",
            f"The request type {_quoted(name)} is unknown; send Request or nothing.",
        )


# --- the payer --------------------------------------------------------------------------------------


@rule("PayerUnknown", RequestLevel.PAYER)
def payer_is_known(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The payer is in the directory."""
    if context.payer is None:
        yield (
            "PayerId",
            f"The payer id {_payer(context)} is not in the directory; "
            "give a PayerId or SvcPayerId of the list of eligibility payers.",
        )


@rule("PayerInactive", RequestLevel.PAYER)
def payer_is_active(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The payer is active."""
    if context.payer and not context.payer.active:
        yield (
            "PayerId",
            f"The payer {_payer(context)} is not active; give a payer of the current list.",
        )


@rule("PayerWithoutEligibility", RequestLevel.PAYER)
def payer_answers_inquiries(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The payer offers eligibility."""
    if context.payer and not context.payer.offers_eligibility:
        yield (
            "PayerId",
            f"The payer {_payer(context)} answers no eligibility inquiries; "
            "give a payer of the list of eligibility payers.",
        )


@rule("PayerWithoutRoute", RequestLevel.PAYER)
def payer_can_be_reached(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """There is an active route to the payer."""
    if context.payer and context.payer.active and not context.payer.has_route:
        yield (
            "PayerId",
            f"The payer {_payer(context)} cannot be reached: there is no active route; "
            "ask the operator, or give another payer.",
        )


@rule("PayerMode", RequestLevel.PAYER)
def payer_is_right_for_the_mode(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """IsTest is true for test payers and false for live ones."""
    test = bool(context.request.IsTest)
    if context.payer and context.payer.is_test != test:
        kind, wanted = ("test", "true") if context.payer.is_test else ("live", "false")
        yield (
            "PayerId",
            f"The payer {_payer(context)} is a {kind} payer; send IsTest as {wanted}, or another payer.",
        )


@rule("PayerTypeUnknown", RequestLevel.PAYER)
def payer_type_is_known(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The payer's type and entity type are names of their lists."""
    yield from _check_name(context.patient.payer, "Type", "payer_roles")
    yield from _check_name(context.patient.payer, "EntityType", "entity_types")


@rule("PayerName", RequestLevel.PAYER)
def payer_name_fits(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The payer's name is no longer than X12 can carry."""
    yield from _check_texts(context.patient.payer, "CommonName")


# --- the provider -----------------------------------------------------------------------------------


@rule("NpiMissing", RequestLevel.PAYEE)
def provider_has_an_npi(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The provider has an NPI."""
    if not context.patient.payee.NationalProviderId:
        yield "NationalProviderId", "The NPI is missing; give the provider's ten digits."


@rule("NpiInvalid", RequestLevel.PAYEE)
def npi_is_right(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The NPI is ten digits with a right check digit."""
    npi = context.patient.payee.NationalProviderId
    if npi and not formats.is_npi(npi):
        yield (
            "NationalProviderId",
            f"{_quoted(npi)} is no NPI; give ten digits with a right check digit.",
        )


@rule("ProviderNotEnrolled", RequestLevel.PAYEE)
def provider_is_enrolled(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The provider is enrolled with a payer that answers enrolled providers only."""
    npi = context.patient.payee.NationalProviderId
    if npi and context.payer and (why := context.facts.why_not_asked(context.payer, npi)):
        yield "NationalProviderId", why


@rule("PayeeTypeUnknown", RequestLevel.PAYEE)
def payee_type_is_known(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The provider's type and entity type are names of their lists."""
    yield from _check_name(context.patient.payee, "Type", "payee_roles")
    yield from _check_name(context.patient.payee, "EntityType", "entity_types")


@rule("PayeeName", RequestLevel.PAYEE)
def payee_name_fits(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The provider's names hold what X12 can carry, and no more."""
    yield from _check_texts(context.patient.payee, "CommonName", "FirstName")


# --- the patient ------------------------------------------------------------------------------------


@rule("BirthDateMissing", RequestLevel.PATIENT)
def birth_date_is_given(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The patient has a birth date."""
    if context.person.BirthDate is None:
        yield "BirthDate", "The birth date is missing; payers find a patient by it."


@rule("BirthDateInFuture", RequestLevel.PATIENT)
def birth_date_is_past(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The birth date is not in the future."""
    born = context.person.BirthDate
    if born and born > context.facts.today:
        yield "BirthDate", f"The birth date '{born}' is in the future; give a past day."


@rule("GenderUnknown", RequestLevel.PATIENT)
def gender_is_known(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The sex is Male, Female or Unknown, or absent."""
    yield from _check_name(context.person, "Gender", "genders")


@rule("RelationshipUnknown", RequestLevel.PATIENT)
def relationship_is_known(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The relationship of a dependent is a name of its list, and not Self."""
    if context.patient.dependent:
        name = context.patient.dependent.Relationship
        if name and services.code("relationships", name) in (None, SELF):
            yield (
                "Relationship",
                f"The relationship {_quoted(name)} is unknown; give Spouse, Child or Other.",
            )


@rule("ServiceTypeUnknown", RequestLevel.PATIENT)
def service_types_are_known(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """Every service type is a name or code of the X12 list."""
    for at, benefit in enumerate(context.person.RequestedBenefits):
        for nth, name in enumerate(benefit.Type):
            if services.code("service_types", name) is None:
                yield (
                    f"RequestedBenefits[{at}].Type[{nth}]",
                    f"The service type {_quoted(name)} is unknown; "
                    "give a name such as HealthBenefitPlanCoverage, or an X12 code.",
                )


@rule("TooManyBenefits", RequestLevel.PATIENT)
def benefits_are_few_enough(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """A patient has at most 99 requested benefits of at most 99 service types each."""
    requested = context.person.RequestedBenefits
    if len(requested) > QUESTIONS_PER_PATIENT_MAX:
        most = QUESTIONS_PER_PATIENT_MAX
        yield (
            "RequestedBenefits",
            f"{len(requested)} benefits are requested; send {most} at most.",
        )
    for at, benefit in enumerate(requested):
        if len(benefit.Type) > SERVICE_TYPES_PER_QUESTION_MAX:
            most = SERVICE_TYPES_PER_QUESTION_MAX
            yield (
                f"RequestedBenefits[{at}].Type",
                f"{len(benefit.Type)} service types are named; send {most} at most.",
            )


@rule("PlanDateOrder", RequestLevel.PATIENT)
def plan_dates_are_in_order(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The days of service do not end before they start."""
    for at, benefit in enumerate(context.person.RequestedBenefits):
        days = benefit.PlanDate
        if days and days.Start and days.End and days.End < days.Start:
            yield (
                f"RequestedBenefits[{at}].PlanDate",
                f"End '{days.End}' is before Start '{days.Start}'; give them in order.",
            )


@rule("PatientText", RequestLevel.PATIENT)
def patient_texts_fit(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """A dependent's names and a patient's trace number hold what X12 can carry, and no more."""
    if context.patient.dependent:
        yield from _check_texts(context.patient.dependent, "CommonName", "FirstName")
    trace = context.person.PayeeTraceNumber
    if trace:
        for field, message in _check_texts(trace, "Number"):
            yield f"PayeeTraceNumber.{field}", message


# --- the subscriber, who may be the patient -----------------------------------------------------------


@rule("SubscriberText", RequestLevel.SUBSCRIBER)
def subscriber_texts_fit(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The subscriber's names and member id hold what X12 can carry, and no more."""
    yield from _check_texts(context.patient.subscriber, "CommonName", "FirstName", "MemberId")


@rule("MemberIdShort", RequestLevel.SUBSCRIBER)
def member_id_is_long_enough(context: InquiryRuleContext) -> Iterator[RuleProblem]:
    """The member id has at least two characters."""
    if 0 < len(clean_text(context.patient.subscriber.MemberId)) < MEMBER_ID_MIN:
        yield "MemberId", f"The member id is too short; X12 wants {MEMBER_ID_MIN} characters."


SELF = "18"
MEMBER_ID_MIN = 2
BY_LEVEL: Mapping[RequestLevel, list[InquiryRule]] = {
    level: [rule for rule in RULES.values() if rule.level is level] for level in RequestLevel
}


# --- running the rules -----------------------------------------------------------------------------------


def _check_levels_above(
    context: InquiryRuleContext,
    patient: RequestPatient,
    memo: dict[str, Any],
    results: list[ValidationResult],
) -> Payer | None:
    """Return the payer if all levels above the patient pass; each level is checked once."""
    inquiry_path = patient.payer_path.partition(".")[0]
    dental = asks_only_dental(patient)
    key = f"{patient.payer_path}{dental}"
    if key not in memo:
        memo[key] = choose_payer(
            patient.payer.PayerId,
            context.facts.find,
            dental=dental,
            test=bool(context.request.IsTest),
        )
    own_context = InquiryRuleContext(
        context.facts, context.request, context.count, patient, memo[key]
    )
    levels = (
        (RequestLevel.INQUIRY, inquiry_path),
        (RequestLevel.PAYER, patient.payer_path),
        (RequestLevel.PAYEE, patient.payee_path),
        (RequestLevel.SUBSCRIBER, patient.subscriber_path),
    )
    for level, path in levels:
        if path not in memo:
            memo[path] = _add_results(level, own_context, path, results)
    if any(memo[path] for _, path in levels):
        return None
    return own_context.payer


def _add_results(
    level: RequestLevel, context: InquiryRuleContext, path: str, results: list[ValidationResult]
) -> bool:
    """Run the rules of a level, add their results, and return whether there are any."""
    before = len(results)
    for rule in BY_LEVEL[level]:
        for field, message in rule.check(context):
            location = f"{path}.{field}" if path else field
            results.append(ValidationResult(location=location, code=rule.id, message=message))
    return len(results) > before


def _check_name(part: JsonStruct, field: str, list: str) -> Iterator[RuleProblem]:
    name = getattr(part, field)
    if name and services.code(list, name) is None:
        known = ", ".join(services.names(list).values())
        yield field, f"The value {_quoted(name)} is unknown; give one of {known}, or nothing."


def _check_texts(part: JsonStruct, *names: str) -> Iterator[RuleProblem]:
    """Yield texts that X12 cannot carry: those without a valid character, or too long."""
    rows = _eligibility_fields(type(part))
    for name in names:
        text = getattr(part, name)
        if not text:
            continue
        carried = clean_text(text)
        most = rows[name].max_length
        if not carried:
            yield name, f"Nothing of {name} can be sent; give plain letters or digits."
        elif most and len(carried) > most:
            yield name, f"{name} has {len(carried)} characters; X12 carries {most} at most."


_eligibility_fields = cache(json_struct.eligibility_fields)


def _payer(context: InquiryRuleContext) -> str:
    return _quoted(context.patient.payer.PayerId)


def _quoted(text: str) -> str:
    return f"'{text[: limits.QUOTED_CHARACTERS_MAX]}'"
