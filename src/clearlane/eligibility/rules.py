"""A well-formed request becomes inquiries that can be sent, and reasons why the others cannot.

    inquiries, results = judge(request, Facts(find=payers.find, sandbox=True, today=day))

A rule has an id, a sentence (its docstring), a level and a small function that yields ``(field, message)``: what
is wrong, what was found, what would pass. What is wrong with a document, payer or provider is told once and stops all
patients below it.

Knows requests and rules of the trade; facts of the world are handed in. Knows no X12 place.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from clearlane.eligibility import fields, services, wire_struct
from clearlane.eligibility.build_inquiry import Asking, cleaned, looks_dental, payer_of
from clearlane.eligibility.fields import EligibilityRequest, Patient, patients
from clearlane.eligibility.model import Inquiry
from clearlane.eligibility.stepwise import finish
from clearlane.eligibility.wire_struct import Shape
from clearlane.kernel import formats, limits
from clearlane.payers.model import Payer

Fault = tuple[str, str]
"""Field, relative to the level, and message."""


class ValidationResult(Shape, frozen=True, kw_only=True):
    """An element of ``ValidationResults``: why a part of a request could not be sent."""

    Location: str
    Code: str
    Message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the rules are told of the world."""

    find: Callable[[str, str], Payer | None]
    """The payer of an id and a type, such as ``Payers.find``."""
    sandbox: bool
    today: date


class Level(StrEnum):
    """What part of a request a rule looks at."""

    DOCUMENT = "document"
    INQUIRY = "inquiry"
    PAYER = "payer"
    PAYEE = "payee"
    SUBSCRIBER = "subscriber"
    PATIENT = "patient"


class Judged(NamedTuple):
    """What can be sent, and why the rest cannot."""

    inquiries: list[Inquiry]
    results: list[ValidationResult]


@dataclass(frozen=True, slots=True)
class Case:
    """What a rule is told: the facts, the request, and of the patient as much as its level may know."""

    facts: Facts
    request: EligibilityRequest
    count: int
    """How many patients the request asks about."""
    at: Any = None
    """The patient; at a higher level the first patient below it."""
    found: Payer | None = None
    """The payer in the directory."""

    @property
    def person(self) -> fields.Dependent | fields.Subscriber:
        """Who is asked about."""
        return self.at.dependent or self.at.subscriber  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table of rules."""

    id: str
    level: Level
    sentence: str
    check: Callable[[Case], Iterable[Fault]]


RULES: dict[str, Rule] = {}
BY_LEVEL: dict[Level, list[Rule]] = {level: [] for level in Level}

Check = Callable[[Case], Iterable[Fault]]


def judge(request: EligibilityRequest, facts: Facts) -> Judged:
    """Everything at once."""
    return finish(judging(request, facts))


def judging(request: EligibilityRequest, facts: Facts) -> Generator[None, None, Judged]:
    """The same with a pause after each patient."""
    judged = Judged([], [])
    asked = list(patients(request))
    case = Case(facts, request, len(asked))
    if _told(Level.DOCUMENT, case, "", judged.results):
        return judged
    verdicts: dict[str, Any] = {}
    asking = Asking()
    for patient in asked:
        payer = _above(case, patient, verdicts, judged.results)
        mine = Case(facts, request, len(asked), patient, payer)
        # A patient is judged whatever is wrong above: whoever corrects a request wants every fault at once.
        told = _told(Level.PATIENT, mine, patient.path, judged.results)
        if payer is not None and not told:
            judged.inquiries.append(asking.inquiry(patient, payer))
        yield
    return judged


def rule(id: str, level: Level) -> Callable[[Check], Check]:
    """Register a rule."""

    def register(check: Check) -> Check:
        assert id not in RULES, f"rule {id} is defined twice"
        assert check.__doc__, f"rule {id} has no sentence"
        RULES[id] = Rule(id, level, check.__doc__, check)
        BY_LEVEL[level].append(RULES[id])
        return check

    return register


# --- the document -----------------------------------------------------------------------------------


@rule("TooManyPatients", Level.DOCUMENT)
def patients_are_few_enough(case: Case) -> Iterator[Fault]:
    """A document asks about 10,000 patients at most."""
    if case.count > limits.ELIGIBILITY_PATIENTS_MAX:
        most = limits.ELIGIBILITY_PATIENTS_MAX
        yield (
            "BenefitInquiries",
            f"The document asks about {case.count} patients; send {most} at most.",
        )


@rule("TestInProduction", Level.DOCUMENT)
def production_takes_no_tests(case: Case) -> Iterator[Fault]:
    """A production installation takes no test inquiries."""
    if case.request.IsTest and not case.facts.sandbox:
        yield "IsTest", "IsTest is true, but this is production: send false."


@rule("RequestTypeUnknown", Level.INQUIRY)
def request_type_is_request(case: Case) -> Iterator[Fault]:
    """The request type is Request, or absent."""
    word = case.at.inquiry.RequestType
    if word and word.casefold() != "request":
        yield (
            "RequestType",
            f"The request type {_quoted(word)} is unknown; send Request or nothing.",
        )


# --- the payer --------------------------------------------------------------------------------------


@rule("PayerUnknown", Level.PAYER)
def payer_is_known(case: Case) -> Iterator[Fault]:
    """The payer is in the directory."""
    if case.found is None:
        yield (
            "PayerId",
            f"The payer id {_payer(case)} is not in the directory; "
            "give a PayerId or SvcPayerId of the list of eligibility payers.",
        )


@rule("PayerInactive", Level.PAYER)
def payer_is_active(case: Case) -> Iterator[Fault]:
    """The payer is active."""
    if case.found and not case.found.active:
        yield (
            "PayerId",
            f"The payer {_payer(case)} is not active; give a payer of the current list.",
        )


@rule("PayerWithoutEligibility", Level.PAYER)
def payer_answers_inquiries(case: Case) -> Iterator[Fault]:
    """The payer offers eligibility."""
    if case.found and not case.found.offers_eligibility:
        yield (
            "PayerId",
            f"The payer {_payer(case)} answers no eligibility inquiries; "
            "give a payer of the list of eligibility payers.",
        )


@rule("PayerWithoutRoute", Level.PAYER)
def payer_can_be_reached(case: Case) -> Iterator[Fault]:
    """There is an active route to the payer."""
    if case.found and case.found.active and not case.found.has_route:
        yield (
            "PayerId",
            f"The payer {_payer(case)} cannot be reached: there is no active route; "
            "ask the operator, or give another payer.",
        )


@rule("PayerMode", Level.PAYER)
def payer_is_right_for_the_mode(case: Case) -> Iterator[Fault]:
    """IsTest is true for test payers and false for live ones."""
    test = bool(case.request.IsTest)
    if case.found and case.found.is_test != test:
        kind, wanted = ("test", "true") if case.found.is_test else ("live", "false")
        yield (
            "PayerId",
            f"The payer {_payer(case)} is a {kind} payer; send IsTest as {wanted}, or another payer.",
        )


@rule("PayerTypeUnknown", Level.PAYER)
def payer_type_is_known(case: Case) -> Iterator[Fault]:
    """What the payer is, and whether a person, is said in words of their lists."""
    yield from _word(case.at.payer, "Type", "payer_roles")
    yield from _word(case.at.payer, "EntityType", "entity_types")


@rule("PayerName", Level.PAYER)
def payer_name_fits(case: Case) -> Iterator[Fault]:
    """The payer's name is no longer than X12 can carry."""
    yield from _texts(case.at.payer, "CommonName")


# --- the provider -----------------------------------------------------------------------------------


@rule("NpiMissing", Level.PAYEE)
def provider_has_an_npi(case: Case) -> Iterator[Fault]:
    """The provider has an NPI."""
    if not case.at.payee.NationalProviderId:
        yield "NationalProviderId", "The NPI is missing; give the provider's ten digits."


@rule("NpiInvalid", Level.PAYEE)
def npi_is_right(case: Case) -> Iterator[Fault]:
    """The NPI is ten digits with a right check digit."""
    npi = case.at.payee.NationalProviderId
    if npi and not formats.is_npi(npi):
        yield (
            "NationalProviderId",
            f"{_quoted(npi)} is no NPI; give ten digits with a right check digit.",
        )


@rule("PayeeTypeUnknown", Level.PAYEE)
def payee_type_is_known(case: Case) -> Iterator[Fault]:
    """What the provider is, and whether a person, is said in words of their lists."""
    yield from _word(case.at.payee, "Type", "payee_roles")
    yield from _word(case.at.payee, "EntityType", "entity_types")


@rule("PayeeName", Level.PAYEE)
def payee_name_fits(case: Case) -> Iterator[Fault]:
    """The provider's names hold what X12 can carry, and no more."""
    yield from _texts(case.at.payee, "CommonName", "FirstName")


# --- the patient ------------------------------------------------------------------------------------


@rule("BirthDateMissing", Level.PATIENT)
def birth_date_is_given(case: Case) -> Iterator[Fault]:
    """The patient has a birth date."""
    if case.person.BirthDate is None:
        yield "BirthDate", "The birth date is missing; payers find a patient by it."


@rule("BirthDateInFuture", Level.PATIENT)
def birth_date_is_past(case: Case) -> Iterator[Fault]:
    """The birth date is not in the future."""
    born = case.person.BirthDate
    if born and born > case.facts.today:
        yield "BirthDate", f"The birth date '{born}' is in the future; give a past day."


@rule("GenderUnknown", Level.PATIENT)
def gender_is_known(case: Case) -> Iterator[Fault]:
    """The sex is Male, Female or Unknown, or absent."""
    yield from _word(case.person, "Gender", "genders")


@rule("RelationshipUnknown", Level.PATIENT)
def relationship_is_known(case: Case) -> Iterator[Fault]:
    """The relationship of a dependent is a word of its list, and not Self."""
    if case.at.dependent:
        word = case.at.dependent.Relationship
        if word and services.code("relationships", word) in (None, SELF):
            yield (
                "Relationship",
                f"The relationship {_quoted(word)} is unknown; give Spouse, Child or Other.",
            )


@rule("ServiceTypeUnknown", Level.PATIENT)
def service_types_are_known(case: Case) -> Iterator[Fault]:
    """Every service type is a name or code of the X12 list."""
    for at, benefit in enumerate(case.person.RequestedBenefits):
        for nth, word in enumerate(benefit.Type):
            if services.code("service_types", word) is None:
                yield (
                    f"RequestedBenefits[{at}].Type[{nth}]",
                    f"The service type {_quoted(word)} is unknown; "
                    "give a name such as HealthBenefitPlanCoverage, or an X12 code.",
                )


@rule("TooManyBenefits", Level.PATIENT)
def benefits_are_few_enough(case: Case) -> Iterator[Fault]:
    """A patient is asked about with at most 99 benefits of at most 99 service types each."""
    asked = case.person.RequestedBenefits
    if len(asked) > limits.QUESTIONS_PER_PATIENT_MAX:
        most = limits.QUESTIONS_PER_PATIENT_MAX
        yield "RequestedBenefits", f"{len(asked)} benefits are asked about; send {most} at most."
    for at, benefit in enumerate(asked):
        if len(benefit.Type) > limits.SERVICE_TYPES_PER_QUESTION_MAX:
            most = limits.SERVICE_TYPES_PER_QUESTION_MAX
            yield (
                f"RequestedBenefits[{at}].Type",
                f"{len(benefit.Type)} service types are named; send {most} at most.",
            )


@rule("PlanDateOrder", Level.PATIENT)
def plan_dates_are_in_order(case: Case) -> Iterator[Fault]:
    """The days asked about do not end before they start."""
    for at, benefit in enumerate(case.person.RequestedBenefits):
        days = benefit.PlanDate
        if days and days.Start and days.End and days.End < days.Start:
            yield (
                f"RequestedBenefits[{at}].PlanDate",
                f"End '{days.End}' is before Start '{days.Start}'; give them in order.",
            )


@rule("PatientText", Level.PATIENT)
def patient_texts_fit(case: Case) -> Iterator[Fault]:
    """A dependent's names and a patient's trace number hold what X12 can carry, and no more."""
    if case.at.dependent:
        yield from _texts(case.at.dependent, "CommonName", "FirstName")
    trace = case.person.PayeeTraceNumber
    if trace:
        for field, message in _texts(trace, "Number"):
            yield f"PayeeTraceNumber.{field}", message


# --- the subscriber, who may be the patient -----------------------------------------------------------


@rule("SubscriberText", Level.SUBSCRIBER)
def subscriber_texts_fit(case: Case) -> Iterator[Fault]:
    """The subscriber's names and member id hold what X12 can carry, and no more."""
    yield from _texts(case.at.subscriber, "CommonName", "FirstName", "MemberId")


@rule("MemberIdShort", Level.SUBSCRIBER)
def member_id_is_long_enough(case: Case) -> Iterator[Fault]:
    """The member id has at least two characters."""
    if 0 < len(cleaned(case.at.subscriber.MemberId)) < MEMBER_ID_MIN:
        yield "MemberId", f"The member id is too short; X12 wants {MEMBER_ID_MIN} characters."


SELF = "18"
MEMBER_ID_MIN = 2


# --- carrying out -----------------------------------------------------------------------------------


def _above(
    case: Case, patient: Patient, verdicts: dict[str, Any], results: list[ValidationResult]
) -> Payer | None:
    """The payer, if it and all above the patient can be asked; each part is judged once."""
    inquiry_path = patient.payer_path.partition(".")[0]
    key = f"{patient.payer_path}{looks_dental(patient)}"
    if key not in verdicts:
        verdicts[key] = payer_of(patient, case.facts.find, test=bool(case.request.IsTest))
    mine = Case(case.facts, case.request, case.count, patient, verdicts[key])
    levels = (
        (Level.INQUIRY, inquiry_path),
        (Level.PAYER, patient.payer_path),
        (Level.PAYEE, patient.payee_path),
        (Level.SUBSCRIBER, patient.subscriber_path),
    )
    for level, path in levels:
        if path not in verdicts:
            verdicts[path] = _told(level, mine, path, results)
    if any(verdicts[path] for _, path in levels):
        return None
    return mine.found


def _told(level: Level, case: Case, path: str, results: list[ValidationResult]) -> bool:
    """Whether some rule of the level has something against it."""
    before = len(results)
    for rule in BY_LEVEL[level]:
        for field, message in rule.check(case):
            location = f"{path}.{field}" if path else field
            results.append(ValidationResult(Location=location, Code=rule.id, Message=message))
    return len(results) > before


def _word(part: Shape, field: str, list: str) -> Iterator[Fault]:
    word = getattr(part, field)
    if word and services.code(list, word) is None:
        known = ", ".join(services.names(list).values())
        yield field, f"The value {_quoted(word)} is unknown; give one of {known}, or nothing."


def _texts(part: Shape, *names: str) -> Iterator[Fault]:
    """Texts that X12 cannot carry: nothing is left of them, or too much."""
    rows = _lines(type(part))
    for name in names:
        text = getattr(part, name)
        if not text:
            continue
        carried = cleaned(text)
        most = rows[name].max
        if not carried:
            yield name, f"Nothing of {name} can be sent; give plain letters or digits."
        elif most and len(carried) > most:
            yield name, f"{name} has {len(carried)} characters; X12 carries {most} at most."


_lines = cache(wire_struct.lines)


def _payer(case: Case) -> str:
    return _quoted(case.at.payer.PayerId)


def _quoted(text: str) -> str:
    return f"'{text[: limits.QUOTED_CHARACTERS_MAX]}'"
