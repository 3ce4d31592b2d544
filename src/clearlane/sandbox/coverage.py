"""What a payer answers to the questions of a set: refusals where they stand, and benefits.

Pure: the same set on the same day gives the same answer. Knows scenarios and plans; writes nothing itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from clearlane.sandbox import benefits, full_271_sample, members
from clearlane.sandbox.benefits import Benefit, DateRow, Plan, Row
from clearlane.sandbox.members import Level, Refusal, Scenario
from clearlane.sandbox.model import Profile
from clearlane.sandbox.read_270 import Asked, Patient, Receiver, SetRead
from clearlane.sandbox.styles import Style

TRACES = 2
"""How many trace numbers of a question fit beside the payer's own."""
FIRST_YEAR = 1900
TERSE = frozenset({benefits.ACTIVE, benefits.DEDUCTIBLE, benefits.NOT_COVERED})

# What the long answer says of the patient.
REFERENCES: tuple[Row, ...] = (
    ("18", "FC100", "FERNLEAF COMPLETE"),
    ("1L", "P20070"),
    ("6P", "G10070", "FERNHILL FAMILY PRACTICE"),
    ("HJ", "1007001"),
    ("EJ", "ACCT1007"),
)
ADDRESS: tuple[Row, ...] = (("N3", "7 OAK LANE", "FLAT 2"), ("N4", "PORTLAND", "OR", "97201"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientTold:
    """The answer about a patient, or the head above the dependents who are told of."""

    patient: Patient
    traces: tuple[tuple[str, ...], ...] = ()
    traced: bool = True
    """Whether the payer gives a trace number of its own: not above a dependent."""
    refusals: tuple[Refusal, ...] = ()
    references: tuple[Row, ...] = ()
    dates: tuple[DateRow, ...] = ()
    address: tuple[Row, ...] = ()
    changed: bool = False
    """Whether the payer knows the patient a little otherwise (INS03 and INS04)."""
    benefits: tuple[Benefit, ...] = ()
    dependents: "tuple[PatientTold, ...]" = ()

    def __repr__(self) -> str:
        """Without what it holds."""
        return "PatientTold(...)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverTold:
    """The answer to who asks."""

    receiver: Receiver
    refusals: tuple[Refusal, ...] = ()
    subscribers: tuple[PatientTold, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTold:
    """The answer of who is asked."""

    source: Asked
    envelope: tuple[Refusal, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    receivers: tuple[ReceiverTold, ...] = ()


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a payer's questions are decided."""

    profile: Profile
    plan: Plan
    style: Style

    def answer(self, asked: SetRead, today: date) -> list[SourceTold]:
        """What is told of each who is asked."""
        return [self._source(one, today) for one in asked.sources]

    def _source(self, source: Asked, today: date) -> SourceTold:
        everyone = [one for receiver in source.receivers for one in receiver.subscribers]
        envelope = _steered(everyone, Level.ENVELOPE)
        refusals = _steered(everyone, Level.PAYER)
        if not (envelope or refusals or _all_steered(everyone)):
            refusals = members.source_refusals(source, self.profile)
        if envelope or refusals:
            return SourceTold(source=source, envelope=envelope, refusals=refusals)
        receivers = tuple(self._receiver(one, today) for one in source.receivers)
        return SourceTold(source=source, receivers=receivers)

    def _receiver(self, receiver: Receiver, today: date) -> ReceiverTold:
        refusals = _steered(receiver.subscribers, Level.PAYEE)
        if not (refusals or _all_steered(receiver.subscribers)):
            refusals = members.receiver_refusals(receiver)
        if refusals:
            return ReceiverTold(receiver=receiver, refusals=refusals)
        subscribers = tuple(self._subscriber(one, today) for one in receiver.subscribers)
        return ReceiverTold(receiver=receiver, subscribers=subscribers)

    def _subscriber(self, patient: Patient, today: date) -> PatientTold:
        scenario = members.scenario_of(patient.member)
        refusals = scenario.at(Level.SUBSCRIBER)
        if scenario is members.ANY_OTHER and patient.asked:
            refusals = members.patient_refusals(patient, Level.SUBSCRIBER, today)
        elif scenario is members.ANY_OTHER and not patient.member:
            refusals = (members.NO_MEMBER,)
        elif scenario.level is Level.DEPENDENT and not patient.dependents:
            refusals = tuple(
                replace(one, code=members.own_code(one.code, Level.SUBSCRIBER))
                for one in scenario.refusals
            )
        if refusals:
            return self._refused(patient, refusals, scenario.message)
        told = self._told(patient, patient, scenario, today) if patient.asked else None
        dependents = tuple(
            self._dependent(one, patient, scenario, today) for one in patient.dependents
        )
        if told is None:
            group = self._figures(patient, patient, today).group
            told = PatientTold(
                patient=patient,
                traces=patient.traces[:TRACES],
                traced=False,
                references=() if self.style.terse else (("6P", group),),
            )
        return replace(told, dependents=dependents)

    def _dependent(
        self, patient: Patient, subscriber: Patient, scenario: Scenario, today: date
    ) -> PatientTold:
        refusals = scenario.at(Level.DEPENDENT)
        if scenario is members.ANY_OTHER:
            refusals = members.patient_refusals(patient, Level.DEPENDENT, today)
        if refusals:
            return PatientTold(patient=patient, traces=patient.traces[:TRACES], refusals=refusals)
        return self._told(patient, subscriber, scenario, today)

    def _refused(
        self, patient: Patient, refusals: tuple[Refusal, ...], message: str
    ) -> PatientTold:
        """Nothing is told of the dependents, so their trace numbers come back with the subscriber's."""
        traces = [one for each in (patient, *patient.dependents) for one in each.traces]
        said = Benefit(kind=benefits.CANNOT, services=(benefits.HEALTH,), messages=(message,))
        return PatientTold(
            patient=patient,
            traces=tuple(dict.fromkeys(traces))[:TRACES],
            refusals=refusals,
            benefits=(said,) if message else (),
        )

    def _told(
        self, patient: Patient, subscriber: Patient, scenario: Scenario, today: date
    ) -> PatientTold:
        day = _day(patient, today)
        told = PatientTold(patient=patient, traces=patient.traces[:TRACES])
        if scenario.everything:
            return replace(
                told,
                benefits=self._spread(full_271_sample.everything(day)),
                changed=True,
                references=REFERENCES,
                dates=_dates(day),
                address=ADDRESS,
            )
        own = self._figures(patient, subscriber, today)
        services = [code for one in patient.wanted for code in one.services]
        procedures = [one.procedure for one in patient.wanted if any(one.procedure)]
        family = any(one.family for one in patient.wanted)
        if not (services or procedures):
            services = [self.plan.main]
        rows: Iterable[Benefit] = benefits.simple(own, services, procedures, family=family)
        if self.style.terse:
            rows = [replace(one, plan="", insurance="") for one in rows if one.kind in TERSE]
            return replace(told, benefits=tuple(rows))
        if self.style.parties:
            rows = [*rows, *full_271_sample.with_parties(day)]
        return replace(
            told,
            benefits=self._spread(rows),
            references=(("6P", own.group),),
            dates=(("346", own.since, own.since), _year("291", day)),
            address=patient.address,
        )

    def _figures(self, patient: Patient, subscriber: Patient, today: date) -> benefits.Figures:
        return benefits.figures(self.plan, subscriber.member, _day(patient, today))

    def _spread(self, rows: Iterable[Benefit]) -> tuple[Benefit, ...]:
        """In the payer's manner: an EB for each service type, or one for those that are alike."""
        if self.style.repeats:
            return tuple(rows)
        spread: list[Benefit] = []
        for row in rows:
            alone = [replace(row, services=(one,)) for one in row.services]
            spread += alone or [row]
        return tuple(spread)


def _day(patient: Patient, today: date) -> date:
    """The day that is asked about; one before there were plans is taken for today."""
    return patient.day if patient.day and patient.day.year >= FIRST_YEAR else today


def _dates(day: date) -> tuple[DateRow, ...]:
    """What the long answer says of the patient's days."""
    first, before = date(day.year, 1, 1), date(day.year - 1, 12, 1)
    single = (("346", first), ("356", first), ("102", before), ("636", first))
    return (_year("291", day), *((qualifier, one, one) for qualifier, one in single))


def _year(qualifier: str, day: date) -> DateRow:
    return (qualifier, date(day.year, 1, 1), date(day.year, 12, 31))


def _steered(subscribers: Iterable[Patient], level: Level) -> tuple[Refusal, ...]:
    """The refusals that the member ids below a level ask for there."""
    found = (members.scenario_of(one.member).at(level) for one in subscribers)
    return next(filter(None, found), ())


def _all_steered(subscribers: Iterable[Patient]) -> bool:
    return all(members.scenario_of(one.member) is not members.ANY_OTHER for one in subscribers)
