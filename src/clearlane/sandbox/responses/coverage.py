"""Decide the response to the inquiries of a 270: refusals at their levels, and benefits.

Pure: the same set on the same day gives the same response. Knows scenarios and plans; writes nothing itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from clearlane.kernel.redacted_repr import shows
from clearlane.sandbox import members
from clearlane.sandbox.members import Level, Refusal, Scenario
from clearlane.sandbox.model import Profile
from clearlane.sandbox.read_270 import InformationSource, Patient, Receiver, SetRead
from clearlane.sandbox.responses import benefits, full_271_sample
from clearlane.sandbox.responses.benefits import Benefit, DateRow, Plan, Row
from clearlane.sandbox.responses.styles import Style271

TRACES = 2
"""How many trace numbers of an inquiry fit beside the payer's own."""
FIRST_YEAR = 1900
TERSE = frozenset({benefits.ACTIVE, benefits.DEDUCTIBLE, benefits.NOT_COVERED})

# References and address of the patient in the full sample.
REFERENCES: tuple[Row, ...] = (
    ("18", "FC100", "FERNLEAF COMPLETE"),
    ("1L", "P20070"),
    ("6P", "G10070", "FERNHILL FAMILY PRACTICE"),
    ("HJ", "1007001"),
    ("EJ", "ACCT1007"),
)
ADDRESS: tuple[Row, ...] = (("N3", "7 OAK LANE", "FLAT 2"), ("N4", "PORTLAND", "OR", "97201"))


@shows()
@dataclass(frozen=True, slots=True, kw_only=True)
class PatientResponse:
    """The response about a patient, or the subscriber level above its dependents."""

    patient: Patient
    traces: tuple[tuple[str, ...], ...] = ()
    traced: bool = True
    """Whether the payer adds a trace number of its own: not above a dependent."""
    refusals: tuple[Refusal, ...] = ()
    references: tuple[Row, ...] = ()
    dates: tuple[DateRow, ...] = ()
    address: tuple[Row, ...] = ()
    changed: bool = False
    """Whether the payer's data on the patient differ (INS03 and INS04)."""
    benefits: tuple[Benefit, ...] = ()
    dependents: "tuple[PatientResponse, ...]" = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverResponse:
    """The response for an information receiver."""

    receiver: Receiver
    refusals: tuple[Refusal, ...] = ()
    subscribers: tuple[PatientResponse, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceResponse:
    """The response of an information source."""

    source: InformationSource
    envelope: tuple[Refusal, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    receivers: tuple[ReceiverResponse, ...] = ()


@dataclass(frozen=True, slots=True)
class CoverageRules:
    """Decides a payer's responses by its plan and style."""

    profile: Profile
    plan: Plan
    style: Style271

    def answer(self, inquiries: SetRead, today: date) -> list[SourceResponse]:
        """Return the response of each information source."""
        return [self._source(one, today) for one in inquiries.sources]

    def _source(self, source: InformationSource, today: date) -> SourceResponse:
        everyone = [one for receiver in source.receivers for one in receiver.subscribers]
        envelope = _scenario_refusals(everyone, Level.ENVELOPE)
        refusals = _scenario_refusals(everyone, Level.PAYER)
        if not (envelope or refusals or _all_have_scenarios(everyone)):
            refusals = members.source_refusals(source, self.profile)
        if envelope or refusals:
            return SourceResponse(source=source, envelope=envelope, refusals=refusals)
        receivers = tuple(self._receiver(one, today) for one in source.receivers)
        return SourceResponse(source=source, receivers=receivers)

    def _receiver(self, receiver: Receiver, today: date) -> ReceiverResponse:
        refusals = _scenario_refusals(receiver.subscribers, Level.PAYEE)
        if not (refusals or _all_have_scenarios(receiver.subscribers)):
            refusals = members.receiver_refusals(receiver)
        if refusals:
            return ReceiverResponse(receiver=receiver, refusals=refusals)
        subscribers = tuple(self._subscriber(one, today) for one in receiver.subscribers)
        return ReceiverResponse(receiver=receiver, subscribers=subscribers)

    def _subscriber(self, patient: Patient, today: date) -> PatientResponse:
        scenario = members.scenario_of(patient.member)
        refusals = scenario.at(Level.SUBSCRIBER)
        if scenario is members.ANY_OTHER and patient.is_inquired:
            refusals = members.patient_refusals(patient, Level.SUBSCRIBER, today)
        elif scenario is members.ANY_OTHER and not patient.member:
            refusals = (members.NO_MEMBER,)
        elif scenario.level is Level.DEPENDENT and not patient.dependents:
            refusals = tuple(
                replace(one, code=members.code_at(one.code, Level.SUBSCRIBER))
                for one in scenario.refusals
            )
        if refusals:
            return self._refused(patient, refusals, scenario.message)
        response = (
            self._patient_response(patient, patient, scenario, today)
            if patient.is_inquired
            else None
        )
        dependents = tuple(
            self._dependent(one, patient, scenario, today) for one in patient.dependents
        )
        if response is None:
            group = self._figures(patient, patient, today).group
            response = PatientResponse(
                patient=patient,
                traces=patient.traces[:TRACES],
                traced=False,
                references=() if self.style.terse else (("6P", group),),
            )
        return replace(response, dependents=dependents)

    def _dependent(
        self, patient: Patient, subscriber: Patient, scenario: Scenario, today: date
    ) -> PatientResponse:
        refusals = scenario.at(Level.DEPENDENT)
        if scenario is members.ANY_OTHER:
            refusals = members.patient_refusals(patient, Level.DEPENDENT, today)
        if refusals:
            return PatientResponse(
                patient=patient, traces=patient.traces[:TRACES], refusals=refusals
            )
        return self._patient_response(patient, subscriber, scenario, today)

    def _refused(
        self, patient: Patient, refusals: tuple[Refusal, ...], message: str
    ) -> PatientResponse:
        """Refuse a subscriber; trace numbers of the dependents, who are left out, come back with the subscriber's."""
        traces = [one for each in (patient, *patient.dependents) for one in each.traces]
        explanation = Benefit(
            kind=benefits.CANNOT, services=(benefits.HEALTH,), messages=(message,)
        )
        return PatientResponse(
            patient=patient,
            traces=tuple(dict.fromkeys(traces))[:TRACES],
            refusals=refusals,
            benefits=(explanation,) if message else (),
        )

    def _patient_response(
        self, patient: Patient, subscriber: Patient, scenario: Scenario, today: date
    ) -> PatientResponse:
        day = _day(patient, today)
        response = PatientResponse(patient=patient, traces=patient.traces[:TRACES])
        if scenario.everything:
            return replace(
                response,
                benefits=self._in_style(full_271_sample.all_benefits(day)),
                changed=True,
                references=REFERENCES,
                dates=_dates(day),
                address=ADDRESS,
            )
        own = self._figures(patient, subscriber, today)
        services = [code for one in patient.inquiries for code in one.services]
        procedures = [one.procedure for one in patient.inquiries if any(one.procedure)]
        family = any(one.family for one in patient.inquiries)
        if not (services or procedures):
            services = [self.plan.main]
        rows: Iterable[Benefit] = benefits.simple_benefits(own, services, procedures, family=family)
        if self.style.terse:
            rows = [replace(one, plan="", insurance="") for one in rows if one.kind in TERSE]
            return replace(response, benefits=tuple(rows))
        if self.style.parties:
            rows = [*rows, *full_271_sample.party_benefits(day)]
        return replace(
            response,
            benefits=self._in_style(rows),
            references=(("6P", own.group),),
            dates=(("346", own.since, own.since), _year("291", day)),
            address=patient.address,
        )

    def _figures(
        self, patient: Patient, subscriber: Patient, today: date
    ) -> benefits.MemberFigures:
        return benefits.figures_of(self.plan, subscriber.member, _day(patient, today))

    def _in_style(self, rows: Iterable[Benefit]) -> tuple[Benefit, ...]:
        """Return benefits in the payer's style: an EB for each service type, or one for equal ones."""
        if self.style.repeats:
            return tuple(rows)
        spread: list[Benefit] = []
        for row in rows:
            alone = [replace(row, services=(one,)) for one in row.services]
            spread += alone or [row]
        return tuple(spread)


def _day(patient: Patient, today: date) -> date:
    """Return the day inquired about; today for one before ``FIRST_YEAR``."""
    return patient.day if patient.day and patient.day.year >= FIRST_YEAR else today


def _dates(day: date) -> tuple[DateRow, ...]:
    """Return the patient's dates in the full sample."""
    first, before = date(day.year, 1, 1), date(day.year - 1, 12, 1)
    single = (("346", first), ("356", first), ("102", before), ("636", first))
    return (_year("291", day), *((qualifier, one, one) for qualifier, one in single))


def _year(qualifier: str, day: date) -> DateRow:
    return (qualifier, date(day.year, 1, 1), date(day.year, 12, 31))


def _scenario_refusals(subscribers: Iterable[Patient], level: Level) -> tuple[Refusal, ...]:
    """Return the refusals at a level which the scenarios of the subscribers below it prescribe."""
    found = (members.scenario_of(one.member).at(level) for one in subscribers)
    return next(filter(None, found), ())


def _all_have_scenarios(subscribers: Iterable[Patient]) -> bool:
    return all(members.scenario_of(one.member) is not members.ANY_OTHER for one in subscribers)
