"""Read the refusals in a TA1 or 999 that came instead of an answer.

Knows acknowledgments; knows no inquiry.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from clearlane.inquiry.inquiry_result import AnswerError, InterchangeStatus
from clearlane.kernel.formats import parse_control_number
from clearlane.kernel.redacted_repr import shows
from clearlane.x12 import tree, views
from clearlane.x12.reader.extract import ExtractSpec, extract_loops, extract_ta1
from clearlane.x12.views import verdicts
from clearlane.x12.views.original import SeparatorRestorer

# The errors of other sets may quote their data, so a refusal holds the response to one set.
REFUSAL_PART = ExtractSpec(repeated=frozenset({"2000"}), closing=frozenset({"AK9"}))


@shows("kind", "control_number")
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FileRefusal:
    """A TA1 or 999 that rejects a file we sent."""

    kind: Literal["TA1", "999"]
    control_number: str
    """The control number of our interchange (TA1) or group (999)."""
    set_control_number: str
    """ST02 of the rejected set; empty if the whole interchange or group is rejected."""
    status: InterchangeStatus
    errors: tuple[AnswerError, ...]
    content: bytes


def interchange_refusals(interchange: tree.Interchange) -> Iterator[FileRefusal]:
    """Yield a refusal for each TA1 that rejects an interchange."""
    originals = SeparatorRestorer(interchange.delimiters)
    for _, segment in interchange.stray:
        if segment[0] == "TA1":
            ack = originals.restore(verdicts.view_ta1(segment))
            yield from ta1_refusals(interchange, segment, ack)


def ta1_refusals(
    interchange: tree.Interchange, segment: tree.Segment, ack: verdicts.InterchangeVerdictView
) -> Iterator[FileRefusal]:
    """Yield the refusal of a TA1, if it rejects an interchange; ``ack`` is the reading of its segment."""
    if ack.verdict in verdicts.ACCEPTED:
        return
    status = InterchangeStatus(
        control_number=ack.control,
        verdict=ack.verdict,
        code=ack.note,
        message=ack.note_words,
    )
    yield FileRefusal(
        kind="TA1",
        control_number=ack.control,
        set_control_number="",
        status=status,
        errors=(AnswerError(code=ack.note, message=ack.note_words, location="ISA"),),
        content=extract_ta1(interchange, segment),
    )


def set_refusals(set: tree.TransactionSet) -> Iterator[FileRefusal]:
    """Yield the refusals of a 999 that was read as a whole."""
    view = views.view_set(set)
    assert isinstance(view, verdicts.GroupVerdictView), "a 999 has this view"
    yield from group_refusals(set, view, [*set.root.loops("2000")])


def group_refusals(
    set: tree.TransactionSet, view: verdicts.GroupVerdictView, responses: Sequence[tree.Loop]
) -> Iterator[FileRefusal]:
    """Yield a refusal for each rejected set of a 999; one for the whole group if it names no set.

    ``responses`` are the loops (2000) that ``view.sets`` were read from.
    """
    refused = [(nth, one) for nth, one in enumerate(view.sets) if one.verdict and not one.accepted]
    for nth, one in refused:
        content = _extract_responses(set, responses[nth : nth + 1])
        yield _build_refusal(view, one.control, one.verdict, [*_set_errors(one)], content)
    if not refused and view.verdict not in {*verdicts.ACCEPTED, "P", ""}:
        errors = [*_code_errors(view.codes, view.codes_words, "GS")]
        yield _build_refusal(view, "", view.verdict, errors, _extract_responses(set, responses))


def _extract_responses(set: tree.TransactionSet, responses: Sequence[tree.Loop]) -> bytes:
    segments = [segment for loop in responses for segment in loop.all_segments()]
    return extract_loops(set, (set.root,), segments, REFUSAL_PART)


def _build_refusal(
    view: verdicts.GroupVerdictView,
    set_control: str,
    verdict: str,
    errors: list[AnswerError],
    content: bytes,
) -> FileRefusal:
    # Clearlane gives a group the control number of its interchange.
    number = parse_control_number(view.control)
    control = view.control if number is None else f"{number:09}"
    first = errors[0] if errors else AnswerError()
    return FileRefusal(
        kind="999",
        control_number=view.control,
        set_control_number=set_control,
        status=InterchangeStatus(
            control_number=control, verdict=verdict, code=first.code, message=first.message
        ),
        errors=tuple(errors),
        content=content,
    )


def _set_errors(set_ack: verdicts.SetVerdictView) -> Iterator[AnswerError]:
    """Yield the errors of elements, of segments without element errors, and of the set itself."""
    for segment in set_ack.errors:
        place = f"{segment.loop}/{segment.segment}" if segment.loop else segment.segment
        where = f"{place} (segment {segment.position})"
        if not segment.elements:
            yield AnswerError(code=segment.error, message=segment.error_words, location=where)
        for one in segment.elements:
            at = one.place.element if one.place else ""
            yield AnswerError(
                code=one.error,
                message=one.error_words,
                location=f"{place}/{at:0>2} (segment {segment.position})",
            )
    yield from _code_errors(set_ack.codes, set_ack.codes_words, "ST")


def _code_errors(
    codes: tuple[str, ...], words: tuple[str, ...], location: str
) -> Iterator[AnswerError]:
    for at, code in enumerate(codes):
        message = words[at] if at < len(words) else ""
        yield AnswerError(code=code, message=message, location=location)
