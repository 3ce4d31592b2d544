"""A TA1 or 999 instead of a 271: what was refused, and why.

Knows acknowledgements; knows no inquiry.
"""

from collections.abc import Iterator

from clearlane.eligibility import extract, response
from clearlane.eligibility.inbound import Refusal
from clearlane.x12 import tree, views
from clearlane.x12.views import verdicts
from clearlane.x12.views.original import Originals

_STATUSES = {"A": "Accepted", "E": "AcceptedWithErrors", "P": "PartiallyAccepted"}


def of_interchange(interchange: tree.Interchange) -> Iterator[Refusal]:
    """The TA1s that refuse an interchange."""
    originals = Originals(interchange.delimiters)
    for _, segment in interchange.stray:
        if segment[0] != "TA1":
            continue
        told = originals.restored(verdicts.ta1(segment))
        if told.verdict in verdicts.ACCEPTED:
            continue
        trouble = response.Trouble(
            Code=told.note or None, Message=told.note_words or None, Location="ISA"
        )
        status = _status(told.control, told.verdict, told.note, told.note_words)
        yield Refusal(
            kind="TA1", control=told.control, set_control="", status=status, troubles=(trouble,),
            content=extract.receipt(interchange, segment),
        )  # fmt: skip


def of_group(set: tree.Set) -> Iterator[Refusal]:
    """The refused sets of a 999; all of the group where it names none."""
    view = views.view(set)
    assert isinstance(view, verdicts.GroupVerdict), "a 999 has this view"
    refused = [(nth, one) for nth, one in enumerate(view.sets) if one.verdict and not one.accepted]
    for nth, one in refused:
        troubles = [*_of_set(one)]
        yield _refusal(view, one.control, one.verdict, troubles, extract.verdict(set, nth))
    if not refused and view.verdict not in {*verdicts.ACCEPTED, "P", ""}:
        troubles = [*_coded(view.codes, view.codes_words, "GS")]
        whole = [segment for segment in set.walk() if segment[0] != "SE"]
        yield _refusal(view, "", view.verdict, troubles, extract.sealed(set, whole))


def _refusal(
    view: verdicts.GroupVerdict,
    set_control: str,
    verdict: str,
    troubles: list[response.Trouble],
    content: bytes,
) -> Refusal:
    # Our groups have the number of their interchange.
    control = f"{int(view.control):09}" if view.control.isdecimal() else view.control
    first = troubles[0] if troubles else response.Trouble()
    return Refusal(
        kind="999",
        control=view.control,
        set_control=set_control,
        status=_status(control, verdict, first.Code or "", first.Message or ""),
        troubles=tuple(troubles),
        content=content,
    )


def _of_set(told: verdicts.SetVerdict) -> Iterator[response.Trouble]:
    """The errors of elements, of segments without such, and of the set itself."""
    for segment in told.errors:
        place = f"{segment.loop}/{segment.segment}" if segment.loop else segment.segment
        where = f"{place} (segment {segment.position})"
        if not segment.elements:
            yield response.Trouble(
                Code=segment.error or None, Message=segment.error_words or None, Location=where
            )
        for one in segment.elements:
            at = one.place.element if one.place else ""
            yield response.Trouble(
                Code=one.error or None,
                Message=one.error_words or None,
                Location=f"{place}/{at:0>2} (segment {segment.position})",
            )
    yield from _coded(told.codes, told.codes_words, "ST")


def _coded(
    codes: tuple[str, ...], words: tuple[str, ...], location: str
) -> Iterator[response.Trouble]:
    for at, code in enumerate(codes):
        told = words[at] if at < len(words) else ""
        yield response.Trouble(Code=code, Message=told or None, Location=location)


def _status(control: str, verdict: str, code: str, words: str) -> response.InterchangeStatus:
    return response.InterchangeStatus(
        InterchangeControlNumber=control or None,
        Status=_STATUSES.get(verdict, "Rejected"),
        Code=code or None,
        Message=words or None,
    )
