"""Read the refusals in a TA1 or 999 that came instead of a 271.

Knows acknowledgments; knows no inquiry.
"""

from collections.abc import Iterator

from clearlane.eligibility import extract
from clearlane.eligibility.benefit_answer import AnswerError, InterchangeStatus
from clearlane.eligibility.inbound import FileRefusal
from clearlane.x12 import tree, views
from clearlane.x12.views import verdicts
from clearlane.x12.views.original import SeparatorRestorer


def interchange_refusals(interchange: tree.Interchange) -> Iterator[FileRefusal]:
    """Yield a refusal for each TA1 that rejects an interchange."""
    originals = SeparatorRestorer(interchange.delimiters)
    for _, segment in interchange.stray:
        if segment[0] != "TA1":
            continue
        ack = originals.restore(verdicts.view_ta1(segment))
        if ack.verdict in verdicts.ACCEPTED:
            continue
        error = AnswerError(code=ack.note, message=ack.note_words, location="ISA")
        status = InterchangeStatus(
            control_number=ack.control,
            verdict=ack.verdict,
            code=ack.note,
            message=ack.note_words,
        )
        yield FileRefusal(
            kind="TA1", control_number=ack.control, set_control_number="", status=status, errors=(error,),
            content=extract.extract_ta1(interchange, segment),
        )  # fmt: skip


def set_refusals(set: tree.TransactionSet) -> Iterator[FileRefusal]:
    """Yield a refusal for each rejected set of a 999; one for the whole group if it names no set."""
    view = views.view_set(set)
    assert isinstance(view, verdicts.GroupVerdictView), "a 999 has this view"
    refused = [(nth, one) for nth, one in enumerate(view.sets) if one.verdict and not one.accepted]
    for nth, one in refused:
        errors = [*_set_errors(one)]
        yield _build_refusal(
            view, one.control, one.verdict, errors, extract.extract_set_response(set, nth)
        )
    if not refused and view.verdict not in {*verdicts.ACCEPTED, "P", ""}:
        errors = [*_code_errors(view.codes, view.codes_words, "GS")]
        whole = [segment for segment in set.all_segments() if segment[0] != "SE"]
        yield _build_refusal(view, "", view.verdict, errors, extract.wrap_in_envelope(set, whole))


def _build_refusal(
    view: verdicts.GroupVerdictView,
    set_control: str,
    verdict: str,
    errors: list[AnswerError],
    content: bytes,
) -> FileRefusal:
    # Clearlane gives a group the control number of its interchange.
    control = f"{int(view.control):09}" if view.control.isdecimal() else view.control
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
