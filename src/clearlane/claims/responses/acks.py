"""Read TA1, 999, 277CA and 277 into facts, claim by claim.

    for message in read(content):                           # nothing is looked up
        sent = read_layout(...) if message.reference else None  # the interchange it answers
        for fact in derive_facts(message, sent): ...        # Fact or UnmatchedFact

A TA1 and a 999 answer files, so they need the layout of the file that was sent. A status names its claim itself, and
its fact is matched later by the numbers in ``fact.claim``. A status that rejects a level above the claims
applies to all claims below; if the file names none of them, to all of that batch (and provider).

If a 999 rejects a set and its positions name single claims, these are rejected and the others are to be sent
again in a new set. Any other reason for rejecting a set applies to all its claims.

Knows acknowledgement loops and the layout of what was sent; knows no field, no database and no clock.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from clearlane.claims.responses import statuses
from clearlane.claims.responses.ack_messages import (
    AckMessage,
    ClaimStatusReport,
    GroupAck,
    InterchangeAck,
    InterchangeReference,
    LevelRejection,
    key_of,
    position_in_file,
    same_number,
)
from clearlane.claims.responses.facts import Complaint, Fact, FactKind, FilePosition, UnmatchedFact
from clearlane.claims.responses.statuses import StatusReader
from clearlane.claims.write.sent_layout import SentClaim, SentLayout, SentSet
from clearlane.x12 import tree
from clearlane.x12.reader import reader
from clearlane.x12.reader.envelope_time import (
    parse_count,
    read_control_number,
    read_group_time,
    read_interchange_time,
)
from clearlane.x12.views import verdicts
from clearlane.x12.views.original import SeparatorRestorer

ACCEPTED = frozenset({"A", "E"})
SEGMENT_ERROR_CODES = frozenset({"", "5", "I5"})
"""IK502 codes that only say that segments are in error; every other one concerns the set itself."""
CLAIMS_FUNCTION = "HC"


def read(source: reader.Source) -> Iterator[AckMessage]:
    """Read the acknowledgements and statuses of a file. Other sets are skipped."""
    return read_events(reader.read(source, check=False))


def read_events(events: Iterable[reader.Event]) -> Iterator[AckMessage]:
    """Read the acknowledgements and statuses of a file from the events of its reader."""
    responses: list[tree.Loop] = []
    status_reader: StatusReader | None = None
    for event in events:
        match event:
            case reader.SetOpened(opened):
                responses, kind = [], _kind(opened)
                is_status = kind in statuses.STATUS_TRANSACTIONS
                status_reader = StatusReader(opened, kind) if is_status else None
            case reader.UnitClosed(loop):
                if status_reader is not None:
                    yield from status_reader.claims(event)
                elif _kind(event.set) == "999":
                    responses.append(loop)
            case reader.ParentClosed() if status_reader is not None:
                yield from status_reader.level(event)
            case reader.SetClosed(closed) if _kind(closed) == "999":
                yield _group(closed, responses)
            case reader.InterchangeClosed(interchange):
                yield from _interchanges(interchange)
            case _:
                pass


def _kind(set: tree.TransactionSet) -> str:
    return set.guide.kind if set.guide else ""


def derive_facts(
    message: AckMessage, sent: SentLayout | None = None
) -> Iterator[Fact | UnmatchedFact]:
    """Derive the facts of each claim that a message concerns."""
    if isinstance(message, ClaimStatusReport):
        yield message.fact
    elif sent is None:
        yield _unmatched(message, "It answers a file that we do not know.")
    elif isinstance(message, InterchangeAck):
        yield from _of_interchange(message, sent)
    elif isinstance(message, GroupAck):
        yield from _of_group(message, sent)
    else:
        concerned = list(statuses.level_facts(message, sent))
        yield from concerned
        if not concerned:
            yield _unmatched(message, "It concerns a batch or provider that we did not send.")


def is_accepted_whole(message: AckMessage) -> bool:
    """Return whether a 999 accepts a group and notes no error in it: of what was sent it needs the claims' numbers alone."""
    return (
        isinstance(message, GroupAck)
        and message.verdict.verdict in ACCEPTED
        and not message.verdict.codes
        and all(one.accepted and not one.errors for one in message.verdict.sets)
    )


# TA1.


def _interchanges(interchange: tree.Interchange) -> Iterator[InterchangeAck]:
    originals = SeparatorRestorer(interchange.delimiters)
    for number, (_, segment) in enumerate(interchange.stray, 1):
        if segment[0] == "TA1":
            verdict = originals.restore(verdicts.view_ta1(segment))
            yield InterchangeAck(
                reference=InterchangeReference(level="interchange", number=verdict.control),
                at=read_interchange_time(interchange),
                serial=read_control_number(interchange),
                where=FilePosition(interchange=interchange.number, position=number),
                verdict=verdict,
                interchange=interchange,
                segment=segment,
            )


def _of_interchange(message: InterchangeAck, sent: SentLayout) -> Iterator[Fact]:
    if message.verdict.verdict in ACCEPTED:
        return
    complaint = Complaint(source="TA1", code=message.verdict.note, level="interchange")
    for one in sent.claims:
        yield _fact(message, FactKind.TA1_REFUSED, one, "TA1", message.where, (complaint,))


# 999.


def _group(set: tree.TransactionSet, responses: list[tree.Loop]) -> GroupAck:
    originals = SeparatorRestorer(set.group.interchange.delimiters)
    whole: verdicts.GroupVerdictView = verdicts.SET(set.root)
    found = tuple(map(verdicts.UNIT, responses))
    verdict = originals.restore(replace(whole, sets=found))
    positions = {
        (verdict.control, one.control, at)
        for one in verdict.sets
        for error in one.errors
        if (at := parse_count(error.position))
    }
    return GroupAck(
        reference=InterchangeReference(
            level="group", number=verdict.control, positions=frozenset(positions)
        ),
        at=read_group_time(set.group),
        serial=read_control_number(set.group.interchange),
        where=position_in_file(set, 1),
        verdict=verdict,
        set=set,
        responses=tuple(responses),
    )


def _of_group(message: GroupAck, sent: SentLayout) -> Iterator[Fact | UnmatchedFact]:
    verdict = message.verdict
    sets = [one for one in sent.sets if same_number(one.group, verdict.control)]
    if verdict.function not in {CLAIMS_FUNCTION, ""} or not sets:
        yield _unmatched(message, "It answers a group that we did not send.")
        return
    known = {
        one.control: (one, loop.position)
        for one, loop in zip(verdict.sets, message.responses, strict=True)
    }
    for one in sets:
        answer, at = known.pop(one.control, (None, 1))
        yield from _of_set(message, sent, one, answer, replace(message.where, position=at))
    # The number is not quoted: the payer may have written anything there, and reasons are not encrypted.
    for _ in known:
        yield _unmatched(message, "It answers a set that we did not send.")


def _of_set(
    message: GroupAck,
    sent: SentLayout,
    set: SentSet,
    answer: verdicts.SetVerdictView | None,
    where: FilePosition,
) -> Iterator[Fact]:
    """Derive the facts of every claim of a set."""
    group = message.verdict
    refused_group = _is_group_refused(group, answer)
    code = answer.verdict if answer else "R" if refused_group else group.verdict
    if code == "P":
        return  # the group was accepted in part, and the 999 has no verdict on this set
    complaints = _complaints(sent, set, answer)
    shared = complaints.pop(None, ())
    whole: list[Complaint] = []
    # The kinds of fact about a claim without and with reasons.
    kinds = (FactKind.ACCEPTED_999, FactKind.ACCEPTED_999)
    if refused_group or code not in ACCEPTED:
        whole = _complaints_of_all(group, answer, refused_group=refused_group)
        single = complaints and not (shared or whole or refused_group)
        kinds = (FactKind.SET_REFUSED, FactKind.SET_REFUSED)
        if single:
            kinds = (FactKind.SEND_AGAIN, FactKind.CLAIM_REFUSED)
    for one in set.claims:
        reasons = (*whole, *shared, *complaints.get(one.number, ()))
        yield _fact(message, kinds[bool(reasons)], one, "999", where, reasons)


def _is_group_refused(
    group: verdicts.GroupVerdictView, answer: verdicts.SetVerdictView | None
) -> bool:
    # A group whose only set is rejected is rejected too; that alone is not an error of the group.
    return group.verdict not in {*ACCEPTED, "P"} and (
        answer is None or bool(group.codes) or answer.accepted
    )


def _complaints_of_all(
    group: verdicts.GroupVerdictView,
    answer: verdicts.SetVerdictView | None,
    *,
    refused_group: bool,
) -> list[Complaint]:
    """Return the complaints about a whole group and a whole set."""
    codes = [(code, "group") for code in group.codes if refused_group]
    codes += [
        (code, "set")
        for code in (answer.codes if answer else ())
        if code not in SEGMENT_ERROR_CODES
    ]
    return [Complaint(source="999", code=code, level=level) for code, level in codes]


def _complaints(
    sent: SentLayout, set: SentSet, answer: verdicts.SetVerdictView | None
) -> dict[str | None, tuple[Complaint, ...]]:
    """Return the complaints by claim number; under None those about the set as a whole."""
    found: dict[str | None, tuple[Complaint, ...]] = {}
    for error in answer.errors if answer else ():
        at = parse_count(error.position)
        errors = tuple(_of_error(error, at, sent, set))
        concerned = _concerned(error, at, set)
        for number in [None] if concerned is None else [one.number for one in concerned]:
            found[number] = (*found.get(number, ()), *errors)
    return found


def _concerned(
    error: verdicts.SegmentErrorView, at: int, set: SentSet
) -> tuple[SentClaim, ...] | None:
    """Return the claims an error belongs to; None for the whole set.

    A CTX that names CLM01 is surer than a position: a missing segment has none.
    """
    contexts = [*error.contexts, *(c for one in error.elements for c in one.contexts)]
    for context in contexts:
        for name in context.names:
            one = set.by_account(name.value) if name.name == "CLM01" else None
            if one is not None:
                return (one,)
    return set.claims_at(at) if at else None


def _of_error(
    error: verdicts.SegmentErrorView, at: int, sent: SentLayout, set: SentSet
) -> Iterator[Complaint]:
    sent_segment = sent.segments.get((set.group, set.control, at))
    same = sent_segment is not None and sent_segment.segment == error.segment
    base = Complaint(
        source="999",
        code=error.error,
        level="segment",
        loop=sent_segment.loop if sent_segment and same else error.loop,
        segment=error.segment,
        qualifier=sent_segment.qualifier if sent_segment and same else "",
        nth=sent_segment.nth if sent_segment and same else 0,
        line=sent_segment.line if sent_segment else 0,
        position=at,
        sent_level=sent_segment.level if sent_segment and same else "",
        offset=sent_segment.offset if sent_segment and same else 0,
    )
    if not error.elements:
        yield base
    for one in error.elements:
        place = one.place or verdicts.ErrorPlaceView()
        yield replace(
            base,
            code=one.error,
            level="element",
            element=parse_count(place.element),
            component=parse_count(place.component),
            repetition=parse_count(place.repetition),
        )


# What they share.


def _fact(
    message: InterchangeAck | GroupAck,
    kind: FactKind,
    claim: SentClaim,
    source: str,
    where: FilePosition,
    complaints: tuple[Complaint, ...],
) -> Fact:
    return Fact(
        kind=kind, at=message.at, claim=key_of(claim), attempt=claim.attempt, serial=message.serial,
        where=where, source=source, complaints=complaints,
    )  # fmt: skip


def _unmatched(message: InterchangeAck | GroupAck | LevelRejection, reason: str) -> UnmatchedFact:
    if isinstance(message, LevelRejection):
        fact = message.fact
        return UnmatchedFact(
            reason=reason, kind=fact.kind, at=fact.at, where=fact.where, source=fact.source
        )
    source = "TA1" if isinstance(message, InterchangeAck) else "999"
    kind = FactKind.TA1_REFUSED if source == "TA1" else FactKind.SET_REFUSED
    if message.verdict.verdict in ACCEPTED:
        kind = FactKind.ACCEPTED_999
    return UnmatchedFact(
        reason=reason, kind=kind, at=message.at, where=message.where, source=source
    )
