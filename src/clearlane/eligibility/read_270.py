"""Read a 270 that a sender wrote: the patients it asks about, and the inquiry about each.

    for patient in read_patients(set):
        inquiry = build_inquiry(patient, payer)      # with the sender's own segments, to be sent as they are

An inquiry keeps every segment of the patient's levels; only the payer's id may become that of the directory. Values are
cleaned as those of JSON requests are. Knows 270s; knows no directory of payers and no store.
"""

from collections.abc import Iterator

from clearlane.eligibility import services
from clearlane.eligibility.build_inquiry import clean_text
from clearlane.eligibility.model import BenefitQuestion, Inquiry, InquiryParty, InquiryPerson
from clearlane.eligibility.patient_levels import LEVELS
from clearlane.inquiry.sender_levels import (
    SentLevels,
    first_segment,
    level_numbers,
    level_texts,
    own_segments,
)
from clearlane.inquiry.sent_inquiry import SentInquiry, SentReader
from clearlane.kernel.formats import parse_x12_date
from clearlane.payers.model import Payer
from clearlane.x12 import tree
from clearlane.x12.tree import Segment, get_element, split_repetitions

SOURCE, RECEIVER, SUBSCRIBER, DEPENDENT = LEVELS
RECEIVER_AT = 1
"""Where the receiver, who asks, is among the levels of a patient."""
BENEFITS = {SUBSCRIBER: "2110C", DEPENDENT: "2110D"}
PLAN_DATE = "291"


class SentPatient(SentInquiry):
    """A patient of a sender's 270, with the levels above."""

    __slots__ = ()

    @property
    def providers(self) -> list[str]:
        """The numbers of the provider who asks."""
        return level_numbers(self.levels[RECEIVER_AT])

    @property
    def services(self) -> list[str]:
        """The service types asked about."""
        asked = (s for s in self.levels[-1] if s[0] == "EQ")
        return [code for eq in asked for code in split_repetitions(get_element(eq, 1)) if code]

    @property
    def asks_only_dental(self) -> bool:
        """Whether the inquiry is about dental services only."""
        asked = set(self.services)
        return bool(asked) and asked <= services.DENTAL_SERVICES


class PatientReader:
    """Reads the patients of one 270, subscriber by subscriber, and numbers them."""

    def __init__(self, set: tree.TransactionSet) -> None:
        """The heading of the set must have been read."""
        self._reader = SentReader(set)

    def of_subscriber(
        self, source: tree.Loop, receiver: tree.Loop, subscriber: tree.Loop
    ) -> Iterator[SentPatient]:
        """Yield the patients of a subscriber: every dependent, and the subscriber if asked about or alone."""
        for levels in _patient_levels(source, receiver, subscriber):
            yield self._reader.next_inquiry(SentPatient, "patients", levels)


def read_patients(set: tree.TransactionSet) -> list[SentPatient]:
    """Return the patients of a 270 that was read as a whole."""
    reader = PatientReader(set)
    return [
        patient
        for source in set.root.loops(SOURCE)
        for receiver in source.loops(RECEIVER)
        for subscriber in receiver.loops(SUBSCRIBER)
        for patient in reader.of_subscriber(source, receiver, subscriber)
    ]


def _patient_levels(
    source: tree.Loop, receiver: tree.Loop, subscriber: tree.Loop
) -> Iterator[SentLevels]:
    """Yield the levels of every patient of a subscriber."""
    above = (_level(source), _level(receiver))
    dependents = list(subscriber.loops(DEPENDENT))
    if not dependents or any(True for _ in subscriber.descendants(BENEFITS[SUBSCRIBER])):
        yield (*above, _level(subscriber))
    insured = tuple(s for s in _level(subscriber, asked=False) if s[0] != "TRN")
    for dependent in dependents:
        yield (*above, insured, _level(dependent))


def build_inquiry(patient: SentPatient, payer: Payer) -> Inquiry:
    """Return the inquiry about a patient to a payer of the directory."""
    source, receiver, subscriber = patient.levels[:3]
    dependent = patient.levels[3] if len(patient.levels) > 3 else None
    asked = dependent or subscriber
    return Inquiry(
        path=patient.path,
        payer_type=payer.type,
        payer=_party(source, clean_text(payer.payer_id)),
        payer_names=tuple(
            dict.fromkeys((*payer.ids, payer.name, *payer.aliases, patient.payer_id))
        ),
        is_test=payer.is_test,
        payee=_party(receiver, clean_text(get_element(first_segment(receiver, "NM1"), 9))),
        member_id=clean_text(get_element(first_segment(subscriber, "NM1"), 9)),
        subscriber=_person(subscriber),
        dependent=_person(dependent) if dependent else None,
        relationship=get_element(first_segment(dependent, "INS"), 2) if dependent else "",
        trace=patient.trace,
        questions=_questions(asked, payer.type),
        levels=tuple(level_texts(patient.levels, payer.payer_id, patient.foreign)),
        purpose=patient.purpose,
        transaction_type=patient.transaction_type,
        envelope=dict(patient.envelope),
    )


def _level(loop: tree.Loop, *, asked: bool = True) -> tuple[Segment, ...]:
    """Return the segments of a level; without what is asked about the subscriber if that is not to be asked."""
    return tuple(own_segments(loop, without=() if asked else (BENEFITS[SUBSCRIBER],)))


def _party(level: tuple[Segment, ...], id: str) -> InquiryParty:
    nm1 = first_segment(level, "NM1")
    return InquiryParty(
        role=get_element(nm1, 1),
        entity_type=get_element(nm1, 2),
        name=clean_text(get_element(nm1, 3)),
        first=clean_text(get_element(nm1, 4)),
        id=id,
    )


def _person(level: tuple[Segment, ...]) -> InquiryPerson:
    nm1, dmg = first_segment(level, "NM1"), first_segment(level, "DMG")
    sex = get_element(dmg, 3)
    return InquiryPerson(
        last=clean_text(get_element(nm1, 3)),
        first=clean_text(get_element(nm1, 4)),
        birth=parse_x12_date(get_element(dmg, 2)),
        sex=sex if sex in {"M", "F"} else "",
    )


def _questions(level: tuple[Segment, ...], payer_type: str) -> tuple[BenefitQuestion, ...]:
    """Return what is asked about: the service types of each EQ, and the day of the plan."""
    default = (services.default_service(payer_type),)
    day = next((s for s in level if s[0] == "DTP" and get_element(s, 1) == PLAN_DATE), [])
    start, _, end = get_element(day, 3).partition("-")
    found = [
        BenefitQuestion(
            services=tuple(filter(None, split_repetitions(get_element(eq, 1)))) or default,
            family=get_element(eq, 3) == "FAM",
            start=parse_x12_date(start),
            end=parse_x12_date(end or start),
        )
        for eq in level
        if eq[0] == "EQ"
    ]
    return tuple(found) or (BenefitQuestion(services=default),)
