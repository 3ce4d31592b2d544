"""Read a 276 that a sender wrote: the claims it asks about, and the question about each.

    for claim in read_claims(set):
        inquiry = build_question(claim, payer)       # with the sender's own segments, to be sent as they are

A question keeps every segment of its levels but those of other claims; only the payer's id may become that of the directory. Knows
276s; knows no directory of payers and no store.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation

from clearlane.claims.inquiry.status_inquiry import StatusInquiry, StatusParty, StatusPerson
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
from clearlane.x12.tree import Segment, get_element
from clearlane.x12.writer.encode import clean

SOURCE, RECEIVER, PROVIDER, SUBSCRIBER, DEPENDENT = (f"2000{letter}" for letter in "ABCDE")
CLAIMS = ("2200D", "2200E")
PROVIDER_AT = 2
"""Where the provider is among the levels of a question."""
PERSON_LEVELS = 3
"""How many levels are above subscriber and dependent."""
SERVICE_DAYS, CHARGE = "472", "T3"
PAYER_NUMBER, ACCOUNT_NUMBER, CLAIM_NUMBER, TYPE_OF_BILL = "1K", "EJ", "D9", "BLT"


class SentQuestion(SentInquiry):
    """A claim that a sender's 276 asks about, with the levels above."""

    __slots__ = ()

    def reference(self, qualifier: str) -> str:
        """Return a number that the sender knows the claim by; empty if there is none of the kind."""
        found = (s for s in self.levels[-1] if s[0] == "REF" and get_element(s, 1) == qualifier)
        return get_element(next(found, []), 2).strip()

    @property
    def providers(self) -> list[str]:
        """The numbers of the provider: NPI, tax id or one of the payer's."""
        return level_numbers(self.levels[PROVIDER_AT])


class ClaimReader:
    """Reads the claims of one 276, subscriber by subscriber, and numbers them."""

    def __init__(self, set: tree.TransactionSet) -> None:
        """The heading of the set must have been read."""
        self._reader = SentReader(set)

    def of_subscriber(
        self, source: tree.Loop, receiver: tree.Loop, provider: tree.Loop, subscriber: tree.Loop
    ) -> Iterator[SentQuestion]:
        """Yield the claims of a subscriber and of each dependent."""
        above = tuple(_level(one) for one in (source, receiver, provider))
        for levels in _claim_levels(above, subscriber):
            yield self._reader.next_inquiry(SentQuestion, "claims", levels)


def read_claims(set: tree.TransactionSet) -> list[SentQuestion]:
    """Return the claims of a 276 that was read as a whole."""
    reader = ClaimReader(set)
    return [
        claim
        for source in set.root.loops(SOURCE)
        for receiver in source.loops(RECEIVER)
        for provider in receiver.loops(PROVIDER)
        for subscriber in provider.loops(SUBSCRIBER)
        for claim in reader.of_subscriber(source, receiver, provider, subscriber)
    ]


def _claim_levels(above: SentLevels, subscriber: tree.Loop) -> Iterator[SentLevels]:
    """Yield the levels of every claim: names alone above it, and its own segments at the end of the last."""
    insured = _level(subscriber)
    for claim in subscriber.loops(*CLAIMS):
        yield (*above, (*insured, *claim.all_segments()))
    for dependent in subscriber.loops(DEPENDENT):
        for claim in dependent.loops(*CLAIMS):
            yield (*above, insured, (*_level(dependent), *claim.all_segments()))


def _level(loop: tree.Loop) -> tuple[Segment, ...]:
    """Return the segments of a level without those of claims."""
    return tuple(own_segments(loop, without=CLAIMS))


def build_question(claim: SentQuestion, payer: Payer, claim_number: str = "") -> StatusInquiry:
    """Return the question about a claim to a payer of the directory; ``claim_number`` is ours, if it came through us."""
    subscriber = claim.levels[PERSON_LEVELS]
    has_dependent = len(claim.levels) > PERSON_LEVELS + 1
    first, last = _days(claim.levels[-1])
    source = first_segment(claim.levels[0], "NM1")
    return StatusInquiry(
        claim_number=claim_number,
        payer_type=payer.type,
        payer=StatusParty(name=_text(source, 3), id_type="PI", id=clean(payer.payer_id)[0]),
        payer_names=tuple(dict.fromkeys((*payer.ids, payer.name, *payer.aliases, claim.payer_id))),
        provider=_party(claim.levels[PROVIDER_AT]),
        member_id=_text(first_segment(subscriber, "NM1"), 9),
        subscriber=_person(subscriber),
        dependent=_person(claim.levels[-1]) if has_dependent else None,
        payer_control_number=claim.reference(PAYER_NUMBER),
        account_number=claim.reference(ACCOUNT_NUMBER),
        type_of_bill=claim.reference(TYPE_OF_BILL),
        charge=sent_charge(claim),
        first_day=first,
        last_day=last,
        path=claim.path,
        trace=claim.trace,
        levels=tuple(level_texts(claim.levels, payer.payer_id, claim.foreign)),
    )


def sent_charge(claim: SentQuestion) -> Decimal | None:
    """Return the total charge that a question states; None if it states none."""
    found = (s for s in claim.levels[-1] if s[0] == "AMT" and get_element(s, 1) == CHARGE)
    try:
        return Decimal(get_element(next(found, []), 2))
    except InvalidOperation:
        return None


def _days(level: tuple[Segment, ...]) -> tuple[date | None, date | None]:
    """Return the first and the last day of service of a claim and its lines."""
    stated = (
        get_element(s, 3) for s in level if s[0] == "DTP" and get_element(s, 1) == SERVICE_DAYS
    )
    days = [day for text in stated for part in text.split("-") if (day := parse_x12_date(part))]
    return min(days, default=None), max(days, default=None)


def _party(level: tuple[Segment, ...]) -> StatusParty:
    nm1 = first_segment(level, "NM1")
    return StatusParty(
        entity_type=get_element(nm1, 2),
        name=_text(nm1, 3),
        first=_text(nm1, 4),
        id_type=get_element(nm1, 8),
        id=_text(nm1, 9),
    )


def _person(level: tuple[Segment, ...]) -> StatusPerson:
    nm1, dmg = first_segment(level, "NM1"), first_segment(level, "DMG")
    return StatusPerson(
        entity_type=get_element(nm1, 2),
        last=_text(nm1, 3),
        first=_text(nm1, 4),
        birth=parse_x12_date(get_element(dmg, 2)),
        sex=get_element(dmg, 3),
    )


def _text(segment: Segment, at: int) -> str:
    text = get_element(segment, at)
    return clean(text)[0] if text else ""
