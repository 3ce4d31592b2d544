"""Write the 277 that answers questions about claims.

Knows questions and what is said of them; decides nothing, and knows no clock.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from clearlane.sandbox.model import Profile
from clearlane.sandbox.read_276 import Question
from clearlane.sandbox.responses.status_set import NOT_KNOWN, Row
from clearlane.x12 import guides
from clearlane.x12.writer.encode import clean
from clearlane.x12.writer.writer import Envelope, format_period, format_segment, wrap_sets

Code = tuple[str, ...]
"""STC01: category, status, and the entity if the status needs one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSaid:
    """What the payer says of a claim."""

    code: Code
    charge: Decimal | None = None
    paid: Decimal | None = None
    check: str = ""
    number: str = ""
    """The payer's claim number; empty if it has none."""
    account: str = ""
    clearinghouse_number: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSaid:
    """What the payer says of a whole question, without a word on the claim: at the level of receiver (21) or provider (19)."""

    level: str
    code: Code


Said = ClaimSaid | LevelSaid


def write(
    profile: Profile, sets: Sequence[Sequence[tuple[Question, Said]]], envelope: Envelope
) -> bytes:
    """Return the interchange: one set for each set of questions."""
    bodies = [
        ["*".join(format_segment(*row)) for row in _Set(profile, envelope, number).rows(answers)]
        for number, answers in enumerate(sets, 1)
        if answers
    ]
    return b"".join(wrap_sets(envelope, guides.by_kind("277"), bodies))


class _Set:
    """Writes one set."""

    def __init__(self, profile: Profile, envelope: Envelope, number: int) -> None:
        self._profile = profile
        self._moment = envelope.moment
        self._reference = f"{envelope.control:09}{number:04}"
        self._level = 0

    def _next(self) -> str:
        self._level += 1
        return str(self._level)

    def rows(self, answers: Sequence[tuple[Question, Said]]) -> Iterator[Row]:
        moment, first = self._moment, answers[0][0]
        yield ("BHT", "0010", "08", self._reference, moment.date(), f"{moment:%H%M}", "DG")
        yield ("HL", self._next(), "", "20", "1")
        name = clean(self._profile.name)[0][:60] or NOT_KNOWN
        yield ("NM1", "PR", "2", name, "", "", "", "", "PI", clean(self._profile.id)[0])
        refused = next((one for _, one in answers if _is_at(one, "21")), None)
        yield ("HL", self._next(), "1", "21", "0" if refused else "1")
        yield ("NM1", *_with_name(first.receiver))
        if refused:
            yield ("TRN", "2", first.reference)
            yield ("STC", refused.code, moment.date())
            return
        for provider, asked in groupby(answers, key=lambda one: one[0].provider):
            yield from self._provider(provider, list(asked))

    def _provider(
        self, provider: tuple[str, ...], answers: list[tuple[Question, Said]]
    ) -> Iterator[Row]:
        parent = self._next()
        refused = next((one for _, one in answers if _is_at(one, "19")), None)
        yield ("HL", parent, "2", "19", "0" if refused else "1")
        yield ("NM1", *_with_name(provider))
        if refused:
            yield ("TRN", "1", "0")
            yield ("STC", refused.code, self._moment.date())
            return
        for question, said in answers:
            if isinstance(said, ClaimSaid):
                yield from self._claim(question, said, parent)

    def _claim(self, question: Question, said: ClaimSaid, parent: str) -> Iterator[Row]:
        level = self._next()
        yield ("HL", level, parent, "22", "1" if question.patient else "0")
        yield ("NM1", *_with_name(question.subscriber))
        if question.patient:
            yield ("HL", self._next(), level, "23")
            yield ("NM1", *_with_name(question.patient))
        yield ("TRN", "2", question.trace)
        today = self._moment.date()
        charge = "" if said.charge is None else said.charge
        money: tuple[object, ...] = (charge,)
        if said.paid is not None:
            money = (charge, said.paid, today, "", today if said.check else "", said.check)
        yield ("STC", said.code, today, "", *money)
        for qualifier, number in (
            ("1K", said.number),
            ("EJ", said.account),
            ("D9", said.clearinghouse_number),
        ):
            if number:
                yield ("REF", qualifier, number)
        if question.first and question.last:
            yield ("DTP", "472", *format_period(question.first, question.last))


def _is_at(said: Said, level: str) -> bool:
    return isinstance(said, LevelSaid) and said.level == level


def _with_name(name: tuple[str, ...]) -> tuple[str, ...]:
    """Return NM101 to NM109 with a name, which a response must have."""
    return (*name[:2], name[2] or NOT_KNOWN, *name[3:])
