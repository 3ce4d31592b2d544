"""Read a 270 that a sender wrote: the patients it asks about, and the inquiry about each.

    for patient in read_patients(set):
        inquiry = build_inquiry(patient, payer)      # with the sender's own segments, to be sent as they are

An inquiry keeps every segment of the patient's levels; only the payer's id may become that of the directory. Values are
cleaned as those of JSON requests are. Knows 270s; knows no directory of payers and no store.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clearlane.eligibility import services
from clearlane.eligibility.build_inquiry import clean_element, clean_text
from clearlane.eligibility.model import BenefitQuestion, Inquiry, InquiryParty, InquiryPerson
from clearlane.eligibility.patient_levels import LEVELS, own_segments
from clearlane.inquiry.inquiry_result import InquiryTrace
from clearlane.kernel.formats import parse_x12_date
from clearlane.payers.model import Payer
from clearlane.x12 import tree
from clearlane.x12.tree import Segment, get_element, split_repetitions

SUBSCRIBER, DEPENDENT = "2000C", "2000D"
BENEFITS = {SUBSCRIBER: "2110C", DEPENDENT: "2110D"}
PLAN_DATE = "291"
KEPT_ELEMENTS = {"ISA": (6, 8, 13), "GS": (2, 3, 6), "ST": (2,), "BHT": (3,)}


@dataclass(frozen=True, slots=True, repr=False)
class SentPatient:
    """A patient of a sender's 270, with the levels above."""

    path: str
    """The patient's place in the file: patients[1] is the first."""
    levels: tuple[tuple[Segment, ...], ...]
    """The segments of each level, outermost first, HL first; the patient's is the last."""
    purpose: str
    """BHT02."""
    transaction_type: str
    """BHT06."""
    foreign: Mapping[int, str]
    """What stands for a usual separator in his texts, if he uses others; see ``Delimiters.blank_foreign``."""
    envelope: Mapping[str, str]
    """The sender's ids and control numbers, by element."""

    @property
    def payer(self) -> Segment:
        """NM1 of the information source."""
        return _first(self.levels[0], "NM1")

    @property
    def payer_id(self) -> str:
        """The payer's id as the sender wrote it."""
        return get_element(self.payer, 9).strip()

    @property
    def traces(self) -> list[Segment]:
        """The sender's trace numbers of the patient."""
        return [segment for segment in self.levels[-1] if segment[0] == "TRN"]

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


def read_patients(set: tree.TransactionSet) -> list[SentPatient]:
    """Return the patients of a 270: every dependent, and every subscriber who is asked about or alone."""
    bht = set.root.segment("BHT") or []
    purpose, type = get_element(bht, 2) or "13", get_element(bht, 6)
    foreign = set.group.interchange.delimiters.blank_foreign()
    envelope = _envelope(set)
    return [
        SentPatient(f"patients[{number}]", levels, purpose, type, foreign, envelope)
        for number, levels in enumerate(_patient_levels(set), start=1)
    ]


def _envelope(set: tree.TransactionSet) -> dict[str, str]:
    """Return what CORE has an intermediary keep of the envelope; TRN02 is kept with the patient."""
    segments = {
        "ISA": set.group.interchange.header, "GS": set.group.header, "ST": set.header,
        "BHT": set.root.segment("BHT") or [],
    }  # fmt: skip
    return {
        f"{id}{at:02}": get_element(segments[id], at).strip()
        for id, elements in KEPT_ELEMENTS.items()
        for at in elements
    }


def _patient_levels(set: tree.TransactionSet) -> Iterator[tuple[tuple[Segment, ...], ...]]:
    """Yield the levels of every patient."""
    for source in set.root.loops(LEVELS[0]):
        for receiver in source.loops(LEVELS[1]):
            above = (_level(source), _level(receiver))
            for subscriber in receiver.loops(SUBSCRIBER):
                dependents = list(subscriber.loops(DEPENDENT))
                if not dependents or any(
                    True for _ in subscriber.descendants(BENEFITS[SUBSCRIBER])
                ):
                    yield (*above, _level(subscriber))
                insured = tuple(s for s in _level(subscriber, asked=False) if s[0] != "TRN")
                for dependent in dependents:
                    yield (*above, insured, _level(dependent))


def build_inquiry(patient: SentPatient, payer: Payer) -> Inquiry:
    """Return the inquiry about a patient to a payer of the directory."""
    source, receiver, subscriber = patient.levels[:3]
    dependent = patient.levels[3] if len(patient.levels) > 3 else None
    traces = patient.traces
    asked = dependent or subscriber
    return Inquiry(
        path=patient.path,
        payer_type=payer.type,
        payer=_party(source, clean_text(payer.payer_id)),
        payer_names=tuple(
            dict.fromkeys((*payer.ids, payer.name, *payer.aliases, patient.payer_id))
        ),
        is_test=payer.is_test,
        payee=_party(receiver, clean_text(get_element(_first(receiver, "NM1"), 9))),
        member_id=clean_text(get_element(_first(subscriber, "NM1"), 9)),
        subscriber=_person(subscriber),
        dependent=_person(dependent) if dependent else None,
        relationship=get_element(_first(dependent, "INS"), 2) if dependent else "",
        trace=InquiryTrace(number=get_element(traces[0], 2), originator=get_element(traces[0], 3))
        if traces
        else None,
        questions=_questions(asked, payer.type),
        levels=tuple(_texts(patient, payer)),
        purpose=patient.purpose,
        transaction_type=patient.transaction_type,
        envelope=dict(patient.envelope),
    )


def _level(loop: tree.Loop, *, asked: bool = True) -> tuple[Segment, ...]:
    """Return the segments of a level; without what is asked about the subscriber if that is not to be asked."""
    return tuple(own_segments(loop, without=() if asked else (BENEFITS[SUBSCRIBER],)))


def _texts(patient: SentPatient, payer: Payer) -> Iterator[str]:
    """Yield the segments of the levels, numbered again, with the directory's id of the payer."""
    last = len(patient.levels)
    for number, level in enumerate(patient.levels, start=1):
        hl = level[0]
        parent = str(number - 1) if number > 1 else ""
        yield f"HL*{number}*{parent}*{get_element(hl, 3)}*{int(number < last)}"
        for segment in level[1:]:
            if segment[0] == "TRN":
                continue
            is_payer = number == 1 and segment is patient.payer
            sent = [*segment[:8], "PI", payer.payer_id, *segment[10:]] if is_payer else segment
            texts = (text.translate(patient.foreign) for text in sent)
            yield "*".join(map(clean_element, texts)).rstrip("*")


def _party(level: tuple[Segment, ...], id: str) -> InquiryParty:
    nm1 = _first(level, "NM1")
    return InquiryParty(
        role=get_element(nm1, 1),
        entity_type=get_element(nm1, 2),
        name=clean_text(get_element(nm1, 3)),
        first=clean_text(get_element(nm1, 4)),
        id=id,
    )


def _person(level: tuple[Segment, ...]) -> InquiryPerson:
    nm1, dmg = _first(level, "NM1"), _first(level, "DMG")
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


def _first(level: tuple[Segment, ...], id: str) -> Segment:
    return next((segment for segment in level if segment[0] == id), [])
