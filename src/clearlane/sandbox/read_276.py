"""Read a 276 as a payer does, from the file alone: one question for each claim asked about.

    for interchange in read(content, now): ...

Knows the loops of a 276; does not know its writer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

from msgspec.structs import replace

from clearlane.kernel import formats
from clearlane.kernel.finding import Severity
from clearlane.kernel.redacted_repr import redact_repr
from clearlane.sandbox.model import Parties
from clearlane.sandbox.read_837 import identifier, parties_of, party
from clearlane.x12 import tree
from clearlane.x12.checker.ack import acknowledge
from clearlane.x12.reader import reader
from clearlane.x12.tree import Loop, get_element
from clearlane.x12.writer.encode import clean

KIND, GROUP = "276", "HR"
NAMES = range(1, 10)
CLAIM_LOOPS = ("2200D", "2200E")


@redact_repr
@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A claim asked about. Names are NM101 to NM109."""

    trace: str
    reference: str
    """BHT03."""
    source: tuple[str, ...]
    receiver: tuple[str, ...]
    provider: tuple[str, ...]
    subscriber: tuple[str, ...]
    patient: tuple[str, ...] | None
    """None if the subscriber is the patient."""
    payer_number: str
    account: str
    number: str
    """``REF*D9``: the clearinghouse's number."""
    charge: Decimal | None
    first: date | None
    last: date | None
    lines: tuple[tree.Segment, ...] = ()

    @property
    def member(self) -> str:
        """The insured's id."""
        return self.subscriber[8]

    @property
    def last_name(self) -> str:
        """The patient's last name."""
        return (self.patient or self.subscriber)[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class InterchangeRead:
    """An interchange: its refusal or its questions by set."""

    control: str
    parties: Parties
    ta1: bytes
    wants_ta1: bool
    is_refused: bool
    ack_999: bytes
    sets: tuple[tuple[Question, ...], ...]
    """The questions of the sets that are accepted."""
    refused_sets: int


def read(content: bytes, now: datetime, control: int = 1) -> Iterator[InterchangeRead]:
    """Yield the interchanges of a file, with their acknowledgements: TA1 and 999 take two control numbers each."""
    read_file = reader.parse(content)
    answers = acknowledge(content, control=control, moment=now)
    for source, answer in zip(read_file.interchanges, answers, strict=False):
        sets = [one for group in source.groups for one in group.sets]
        is_refused = answer.accepted == "R"
        taken = [one for one in sets if not is_refused and _is_taken(one)]
        yield InterchangeRead(
            control=source.control,
            parties=_parties(source),
            ta1=answer.ta1,
            wants_ta1=get_element(source.header, 14) == "1",
            is_refused=is_refused,
            ack_999=answer.ack_999,
            sets=tuple(tuple(_questions(one)) for one in taken),
            refused_sets=len(sets) - len(taken),
        )


def _is_taken(set: tree.TransactionSet) -> bool:
    is_276 = set.guide is not None and set.guide.kind == KIND
    findings = (*set.findings, *set.group.findings)
    return is_276 and not any(one.severity is Severity.ERROR for one in findings)


def _parties(source: tree.Interchange) -> Parties:
    parties = parties_of(source)
    if not source.groups:
        return parties
    sender, receiver = (party(get_element(source.groups[0].header, at)) for at in (2, 3))
    return replace(parties, application_sender=sender, application_receiver=receiver)


def _questions(set: tree.TransactionSet) -> Iterator[Question]:
    reference = identifier(set.root.value("BHT", 3))
    for source in set.root.loops("2000A"):
        for receiver in source.loops("2000B"):
            for provider in receiver.loops("2000C"):
                for subscriber in provider.loops("2000D"):
                    above = (source, receiver, provider, subscriber)
                    names = [_name(one.loop(f"2100{one.id[-1]}")) for one in above]
                    for patient in (subscriber, *subscriber.loops("2000E")):
                        own = None if patient is subscriber else _name(patient.loop("2100E"))
                        for claim in patient.loops(*CLAIM_LOOPS):
                            yield _question(claim, reference, names, own)


def _question(
    claim: Loop, reference: str, names: list[tuple[str, ...]], patient: tuple[str, ...] | None
) -> Question:
    source, receiver, provider, subscriber = names
    lines = list(claim.loops("2210D", "2210E"))
    periods = [claim.value("DTP", 3, "472"), *(line.value("DTP", 3, "472") for line in lines)]
    days = [formats.parse_x12_date(one) for text in periods for one in text.split("-")]
    known = [day for day in days if day]
    return Question(
        trace=identifier(claim.value("TRN", 2)),
        reference=reference,
        source=source,
        receiver=receiver,
        provider=provider,
        subscriber=subscriber,
        patient=patient,
        payer_number=identifier(claim.value("REF", 2, "1K")),
        account=identifier(claim.value("REF", 2, "EJ")),
        number=identifier(claim.value("REF", 2, "D9")),
        charge=_amount(claim.value("AMT", 2, "T3")),
        first=min(known, default=None),
        last=max(known, default=None),
        lines=tuple(segment for line in lines for segment in line.segments("SVC")),
    )


def _amount(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _name(loop: Loop | None) -> tuple[str, ...]:
    """Return NM101 to NM109 as a response can carry them."""
    found = (loop.segment("NM1") if loop is not None else None) or ["NM1"]
    return tuple(clean(get_element(found, at))[0] for at in NAMES)
