"""Write claims of senders' files into a set: their own segments, regrouped under new hierarchical levels.

    for text in file_levels(outgoing, hl, delimiters): ...

What changes is what an intermediary must change: the numbers of the levels and whether others follow (HL01, HL02,
HL04), REF*D9, which is ours, and the payer's id if the directory maps it. All else is sent as it came. Claims of one
billing provider, subscriber or patient that follow each other share that level.

Knows the levels of an 837; knows no envelope and no value of a claim beside these.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from clearlane.claims.forms.x12_changes import edited, with_values
from clearlane.claims.forms.x12_loops import ClaimLoops
from clearlane.claims.write.claim_context import OutgoingClaim
from clearlane.claims.x12_claim import X12Claim
from clearlane.x12 import path
from clearlane.x12.delimiters import CANONICAL, Delimiters
from clearlane.x12.writer.encode import SIGNS, clean

TRACE = "2300/REF:D9/02"
MATCHED_BY = {"CLM": 1, "PWK": 6, "REF*6R": 2}
"""The elements whose case never changes: they come back, or are on an attachment."""
BILLING, SUBSCRIBER, PATIENT = "2000A", "2000B", "2000C"
_SEPARATORS = "*:^~"
# If a value holds a separator, another one is used for the whole file: the first of these that no value holds.
_OTHER_SEPARATORS = "|!>`\x1d\x1f\x1e\x1c"


class _LevelTexts(NamedTuple):
    """The segments of a claim by level, each without its HL, in the separators of the file that they go into."""

    billing: str
    subscriber: str
    patient: str
    """Empty if the subscriber is the patient."""
    claim: str


def sent_claim(out: OutgoingClaim) -> X12Claim:
    """Return a claim of a file as it goes out: with our REF*D9, and under the payer's id in the directory or at the hop."""
    claim = out.claim
    assert isinstance(claim, X12Claim), "only claims of files are written from their segments"

    def rename_payer(loops: ClaimLoops) -> None:
        for parent in loops.parents:
            for payer in parent.loops("2010BB"):
                path.put(payer, "2010BB/NM1/09", out.sent_payer_id)

    sent = with_values(claim, {TRACE: out.number})
    return edited(sent, rename_payer) if payer_id_of(claim) != out.sent_payer_id else sent


def payer_id_of(claim: X12Claim) -> str:
    """Return the payer's id as the sender wrote it (2010BB NM109)."""
    for part in claim.parts:
        for segment in part.segments:
            if segment[:2] == ["NM1", "PR"] and part.loop in (SUBSCRIBER, PATIENT):
                return segment[9] if len(segment) > 9 else ""
    return ""


def passing_changes(
    claim: X12Claim, payer_id: str, *, is_capital: bool = False, is_shadow: bool = False
) -> Iterator[str]:
    """Yield in words what goes out otherwise than it came, beside the numbers of levels: for the claim's history.

    ``payer_id`` is the payer's id in the directory; empty if a hop's own id goes out. A claim of a shadow file is never
    sent: the words say what would go out.
    """
    before = payer_id_of(claim)
    goes, go = ("would go", "would go") if is_shadow else ("goes", "go")
    if payer_id and before != payer_id:
        yield f"The payer's id {before or 'that was left out'} {goes} out as {payer_id}, its id in the directory."
    if claim.sender_trace:
        back = "" if is_shadow else ", who gets his own back"
        yield f"Our trace number {goes} out in place of the sender's (REF*D9){back}."
    if is_capital and any(part.text != part.text.upper() for part in claim.parts):
        yield f"Small letters {go} out as capital ones, because the payer takes no others."
    beyond = {mark for part in claim.parts for mark in part.text if not mark.isascii()}
    if beyond - SIGNS.keys():
        yield f"Letters that X12 cannot carry {go} out as plain ones."
    if beyond & SIGNS.keys():
        yield f"Typographic signs (quotes, dashes, an ellipsis, blanks that do not break) {go} out as plain ones."
    if claim.delimiters != CANONICAL:
        yield f"It {goes} out in the separators of the payer's file."


def file_levels(
    claims: Sequence[OutgoingClaim], first: int, delimiters: Delimiters
) -> Iterator[str]:
    """Yield the billing providers with their subscribers, patients and claims, the levels numbered from ``first``."""
    providers: dict[str, list[_LevelTexts]] = {}
    for out in claims:
        texts = _level_texts(sent_claim(out), delimiters, capital=out.capital_letters)
        providers.setdefault(texts.billing, []).append(texts)
    level = first
    for billing, own in providers.items():
        parent = level
        yield f"HL*{level}**20*1~{billing}"
        for text in _subscribers(own, parent):
            level += text.startswith("HL*")
            yield text
        level += 1


def _subscribers(claims: Sequence[_LevelTexts], billing: int) -> Iterator[str]:
    """Yield the levels and claims below a billing provider; a level that several claims in a row have is written once."""
    level = subscriber = billing
    before: _LevelTexts | None = None
    for at, texts in enumerate(claims):
        # A subscriber's own claims come before those of the patients below.
        is_same = before is not None and before.subscriber == texts.subscriber
        if before is None or not is_same or (before.patient and not texts.patient):
            level += 1
            subscriber = level
            child = int(_has_patient(claims[at:]))
            yield f"HL*{level}*{billing}*22*{child}~{texts.subscriber}"
            before = None
        if texts.patient and (before is None or before.patient != texts.patient):
            level += 1
            yield f"HL*{level}*{subscriber}*23*0~{texts.patient}"
        yield texts.claim
        before = texts


def _has_patient(following: Sequence[_LevelTexts]) -> bool:
    """Return whether a patient's level follows below the subscriber that the first of these claims begins."""
    for texts in following:
        if texts.subscriber != following[0].subscriber:
            return False
        if texts.patient:
            return True
    return False


def _level_texts(claim: X12Claim, delimiters: Delimiters, *, capital: bool) -> _LevelTexts:
    table = _to_separators(claim.delimiters, delimiters)
    plain = {part.loop: plain_text(part.text) for part in claim.parts}
    if capital:
        plain = {loop: capital_text(text) for loop, text in plain.items()}
    texts = {loop: text.translate(table) for loop, text in plain.items()}
    billing, subscriber, patient = (
        texts.get(loop, "").partition("~")[2] for loop in (BILLING, SUBSCRIBER, PATIENT)
    )
    return _LevelTexts(billing, subscriber, patient, texts[claim.parts[-1].loop])


def plain_text(text: str) -> str:
    """Return a text with plain letters for those that X12 cannot carry; lower case stays as it came."""
    if text.isascii():
        return text
    return "".join([mark if mark.isascii() else _plain_mark(mark) for mark in text])


def capital_text(text: str) -> str:
    """Return segments in capital letters, but for numbers by which payers' answers and attachments are matched."""
    if text.upper() == text:
        return text
    return "~".join(map(_capital_segment, text.split("~")))


def _capital_segment(segment: str) -> str:
    elements = segment.split("*")
    kept = MATCHED_BY.get("*".join(elements[:2])) or MATCHED_BY.get(elements[0], 0)
    return "*".join(one if at == kept else one.upper() for at, one in enumerate(elements))


def _plain_mark(mark: str) -> str:
    if mark in SIGNS:
        return SIGNS[mark]
    plain = clean(mark)[0]
    return plain.lower() if mark.islower() else plain


# --- separators -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _to_separators(sender: Delimiters, target: Delimiters) -> dict[int, int]:
    """Return the translation of a sender's canonical text into the canonical text of a file with other separators.

    In canonical text a separator of ours that a value holds is written as one of the sender's, and so on for the target.
    """
    own, other = sender.from_canonical(), target.to_canonical()
    table = {}
    for code in {*own, *other} - {ord(mark) for mark in _SEPARATORS}:
        meant = own.get(code, code)
        table[code] = other.get(meant, meant)
    return {code: written for code, written in table.items() if code != written}


def choose_delimiters(claims: Sequence[OutgoingClaim], wanted: Delimiters) -> Delimiters:
    """Return separators that no value of these claims holds: those wanted, or others in place of some of them."""
    of_files = [out.claim for out in claims if isinstance(out.claim, X12Claim)]
    held = {mark for claim in of_files for mark in _held_marks(claim, wanted)}
    if held.isdisjoint(_used(wanted)):
        return wanted
    free = iter([mark for mark in _OTHER_SEPARATORS if mark not in held | set(_used(wanted))])
    names = ("element", "component", "repetition", "terminator")
    chosen = {
        name: next(free) if (mark := getattr(wanted, name)) in held else mark for name in names
    }
    return Delimiters(**chosen, line_ending=wanted.line_ending)


def _held_marks(claim: X12Claim, wanted: Delimiters) -> set[str]:
    """Return the characters in the values of a claim that could be separators."""
    if claim.delimiters == wanted == CANONICAL:
        return set()
    own = claim.delimiters.from_canonical()
    used = {ord(mark) for mark in (*_SEPARATORS, *_used(wanted), *_OTHER_SEPARATORS)}
    candidates = {*own, *used} - {ord(mark) for mark in _SEPARATORS}
    texts = [part.text for part in claim.parts]
    return {
        chr(own.get(code, code)) for code in candidates if any(chr(code) in text for text in texts)
    }


def _used(delimiters: Delimiters) -> str:
    return (
        f"{delimiters.element}{delimiters.component}{delimiters.repetition}{delimiters.terminator}"
    )
