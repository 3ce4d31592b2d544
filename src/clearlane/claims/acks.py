"""TA1, 999, 277CA and 277 to facts, claim by claim.

    for heard in read(content):                   # what the file says; nothing is looked up
        sent = layout(...) if heard.asks else None    # which of our interchanges it speaks of, and where in it
        for fact in facts(heard, sent): ...       # Fact or Unmatched

A TA1 and a 999 speak of files: they need the layout of the one that was sent. A status names its claim itself, and
its fact is still to be matched by the numbers in ``fact.claim``. A status that rejects a level above the
claims concerns all claims below; where the file names none of them, all of that batch (and provider).

Where a 999 refuses a set and its positions name single claims, these are refused and the others are to be sent
again in a new set. Everything else that a set is refused for concerns all of it.

Knows acknowledgement loops and the layout of what was sent; knows no field, no database and no clock.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from clearlane.claims import statuses
from clearlane.claims.ack_messages import (
    Asks,
    Heard,
    HeardGroup,
    HeardInterchange,
    HeardLevel,
    HeardStatus,
    same_number,
    sent_key,
    where_in,
)
from clearlane.claims.facts import Complaint, Fact, Kind, Unmatched, Where
from clearlane.claims.sent_layout import Layout, SentClaim, SentSet
from clearlane.claims.statuses import Statuses
from clearlane.x12 import reader, tree
from clearlane.x12.envelope_time import serial_of, time_of, time_of_interchange, whole_number
from clearlane.x12.views import verdicts
from clearlane.x12.views.original import Originals

ACCEPTED = frozenset({"A", "E"})
SEGMENT_FAULTS = frozenset({"", "5", "I5"})
"""IK502 codes that only say that segments are in error; every other one is a fault of the set itself."""
CLAIMS_FUNCTION = "HC"


def read(content: bytes) -> Iterator[Heard]:
    """What the acknowledgements and statuses of a file say. Other sets are left alone."""
    units: list[reader.Unit] = []
    known: Statuses | None = None
    named: set[tuple[int, ...]] | None = None
    """The levels of statuses that name claims; None while there are no statuses at all."""
    for event in reader.read(content, check=False):
        match event:
            case reader.SetOpened(opened):
                units = []
                kind = _kind(opened)
                known = Statuses(opened, kind) if kind in statuses.KINDS else None
                named = named or (set() if known else None)
            case reader.Unit():
                if known is not None and named is not None:
                    named.update(statuses.place_of(event, parent) for parent in event.parents)
                    yield from known.claims(event)
                elif _kind(event.set) == "999":
                    units.append(event)
            case reader.SetClosed(closed) if _kind(closed) == "999":
                yield _group(closed, units)
            case reader.InterchangeClosed(interchange):
                yield from _interchanges(interchange)
            case _:
                pass
    if named is not None:
        for unit in statuses.levels(content, named):
            yield from Statuses(unit.set, _kind(unit.set)).level(unit)


def _kind(set: tree.Set) -> str:
    return set.guide.kind if set.guide else ""


def facts(heard: Heard, sent: Layout | None = None) -> Iterator[Fact | Unmatched]:
    """The facts of each claim that something heard concerns."""
    if isinstance(heard, HeardStatus):
        yield heard.fact
    elif sent is None:
        yield _unmatched(heard, "It answers a file that we do not know.")
    elif isinstance(heard, HeardInterchange):
        yield from _of_interchange(heard, sent)
    elif isinstance(heard, HeardGroup):
        yield from _of_group(heard, sent)
    else:
        concerned = list(statuses.of_level(heard, sent))
        yield from concerned
        if not concerned:
            yield _unmatched(heard, "It speaks of a batch or provider that we did not send.")


# TA1.


def _interchanges(interchange: tree.Interchange) -> Iterator[HeardInterchange]:
    originals = Originals(interchange.delimiters)
    for number, (_, segment) in enumerate(interchange.stray, 1):
        if segment[0] == "TA1":
            verdict = originals.restored(verdicts.ta1(segment))
            yield HeardInterchange(
                asks=Asks(by="interchange", number=verdict.control),
                at=time_of_interchange(interchange),
                serial=serial_of(interchange),
                where=Where(interchange=interchange.number, position=number),
                verdict=verdict,
            )


def _of_interchange(heard: HeardInterchange, sent: Layout) -> Iterator[Fact]:
    if heard.verdict.verdict in ACCEPTED:
        return
    complaint = Complaint(source="TA1", code=heard.verdict.note, level="interchange")
    for one in sent.claims:
        yield _fact(heard, Kind.TA1_REFUSED, one, "TA1", heard.where, (complaint,))


# 999.


def _group(set: tree.Set, units: list[reader.Unit]) -> HeardGroup:
    originals = Originals(set.group.interchange.delimiters)
    whole: verdicts.GroupVerdict = verdicts.SET(set.root)
    found = tuple(verdicts.UNIT(unit.loop) for unit in units)
    verdict = originals.restored(replace(whole, sets=found))
    positions = {
        (verdict.control, one.control, at)
        for one in verdict.sets
        for error in one.errors
        if (at := whole_number(error.position))
    }
    return HeardGroup(
        asks=Asks(by="group", number=verdict.control, positions=frozenset(positions)),
        at=time_of(set.group),
        serial=serial_of(set.group.interchange),
        where=where_in(set, 1),
        verdict=verdict,
        places=tuple(unit.loop.position for unit in units),
    )


def _of_group(heard: HeardGroup, sent: Layout) -> Iterator[Fact | Unmatched]:
    verdict = heard.verdict
    mine = [one for one in sent.sets if same_number(one.group, verdict.control)]
    if verdict.function not in {CLAIMS_FUNCTION, ""} or not mine:
        yield _unmatched(heard, "It answers a group that we did not send.")
        return
    known = {one.control: (one, at) for one, at in zip(verdict.sets, heard.places, strict=True)}
    for one in mine:
        answer, at = known.pop(one.control, (None, 1))
        yield from _of_set(heard, sent, one, answer, replace(heard.where, position=at))
    # A number is whatever the payer wrote there, and reasons are kept in clear.
    for _ in known:
        yield _unmatched(heard, "It answers a set that we did not send.")


def _of_set(
    heard: HeardGroup, sent: Layout, set: SentSet, answer: verdicts.SetVerdict | None, where: Where
) -> Iterator[Fact]:
    """The facts of every claim of a set."""
    group = heard.verdict
    # A group whose only set is refused is refused too; that alone is no fault of the group.
    refused_group = group.verdict not in {*ACCEPTED, "P"} and (
        answer is None or bool(group.codes) or answer.accepted
    )
    code = answer.verdict if answer else "R" if refused_group else group.verdict
    if code == "P":
        return  # the group was accepted in part, and nothing is said of this set
    complaints = _complaints(sent, set, answer)
    shared = complaints.pop(None, ())
    if code in ACCEPTED and not refused_group:
        for one in set.claims:
            told = (*shared, *complaints.get(one.number, ()))
            yield _fact(heard, Kind.ACCEPTED_999, one, "999", where, told)
        return
    whole = [Complaint(source="999", code=c, level="group") for c in group.codes if refused_group]
    found = answer.codes if answer else ()
    whole += [
        Complaint(source="999", code=c, level="set") for c in found if c not in SEGMENT_FAULTS
    ]
    single = complaints and not shared and not whole and not refused_group
    for one in set.claims:
        told = (*whole, *shared, *complaints.get(one.number, ()))
        if not single:
            yield _fact(heard, Kind.SET_REFUSED, one, "999", where, told)
        elif told:
            yield _fact(heard, Kind.CLAIM_REFUSED, one, "999", where, told)
        else:
            yield _fact(heard, Kind.SEND_AGAIN, one, "999", where, ())


def _complaints(
    sent: Layout, set: SentSet, answer: verdicts.SetVerdict | None
) -> dict[str | None, tuple[Complaint, ...]]:
    """What is objected to, by our claim number; under None what concerns the set as a whole."""
    found: dict[str | None, tuple[Complaint, ...]] = {}
    for error in answer.errors if answer else ():
        at = whole_number(error.position)
        told = tuple(_of_error(error, at, sent, set))
        concerned = _concerned(error, at, set)
        for number in [None] if concerned is None else [one.number for one in concerned]:
            found[number] = (*found.get(number, ()), *told)
    return found


def _concerned(error: verdicts.SegmentError, at: int, set: SentSet) -> tuple[SentClaim, ...] | None:
    """The claims an error belongs to. A business unit by name is surer than a position: what is missing has none."""
    contexts = [*error.contexts, *(c for one in error.elements for c in one.contexts)]
    for context in contexts:
        for name in context.names:
            one = set.by_account(name.value) if name.name == "CLM01" else None
            if one is not None:
                return (one,)
    return set.concerned(at) if at else None


def _of_error(
    error: verdicts.SegmentError, at: int, sent: Layout, set: SentSet
) -> Iterator[Complaint]:
    spot = sent.spots.get((set.group, set.control, at))
    same = spot is not None and spot.segment == error.segment
    base = Complaint(
        source="999",
        code=error.error,
        level="segment",
        loop=spot.loop if spot and same else error.loop,
        segment=error.segment,
        qualifier=spot.qualifier if spot and same else "",
        nth=spot.nth if spot and same else 0,
        line=spot.line if spot else 0,
        position=at,
    )
    if not error.elements:
        yield base
    for one in error.elements:
        place = one.place or verdicts.Place()
        yield replace(
            base,
            code=one.error,
            level="element",
            element=whole_number(place.element),
            component=whole_number(place.component),
            repetition=whole_number(place.repetition),
        )


# What they share.


def _fact(
    heard: HeardInterchange | HeardGroup,
    kind: Kind,
    claim: SentClaim,
    source: str,
    where: Where,
    complaints: tuple[Complaint, ...],
) -> Fact:
    return Fact(
        kind=kind, at=heard.at, claim=sent_key(claim), attempt=claim.attempt, serial=heard.serial,
        where=where, source=source, complaints=complaints,
    )  # fmt: skip


def _unmatched(heard: HeardInterchange | HeardGroup | HeardLevel, reason: str) -> Unmatched:
    if isinstance(heard, HeardLevel):
        fact = heard.fact
        return Unmatched(
            reason=reason, kind=fact.kind, at=fact.at, where=fact.where, source=fact.source
        )
    source = "TA1" if isinstance(heard, HeardInterchange) else "999"
    kind = Kind.TA1_REFUSED if source == "TA1" else Kind.SET_REFUSED
    if heard.verdict.verdict in ACCEPTED:
        kind = Kind.ACCEPTED_999
    return Unmatched(reason=reason, kind=kind, at=heard.at, where=heard.where, source=source)
