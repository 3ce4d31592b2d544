"""Write what goes back for a file that was read: TA1, 999 and 277CA in the sender's numbers, or a report in words.

Pure: knows the reading of a file, not where its responses are stored.
"""

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from clearlane.kernel.finding import Finding, Severity
from clearlane.pipeline.intake.files.file_reading import TA1, InterchangeReading, SetReading
from clearlane.x12 import tree
from clearlane.x12.checker.ack import acknowledge_interchange
from clearlane.x12.delimiters import ISA_CHARACTERS

ACK_999, RECEIPT_277CA, REPORT = "999", "277CA", "text"
CONTROLS_PER_INTERCHANGE = 2
"""A TA1 and a 999 are interchanges of their own."""
FINDINGS_REPORTED_MAX = 50
INQUIRIES_REPORTED_MAX = 5_000

EMPTY = "The file is empty."
NO_INTERCHANGE = "No X12 interchange was found: an interchange begins with ISA."
CUT_HEADER = f"The file ends inside its ISA, which has {ISA_CHARACTERS} characters: it was cut off."
WRONG_HEADER = (
    "The file begins with an ISA that cannot be read: its 16 elements must have their fixed widths."
)
TOO_MANY_SETS = "The file has more than {limit} transaction sets. Send it in several files."
FAULT = (
    "Processing the file failed, and none of it was accepted. The operator of the clearinghouse sees the fault. "
    "Send the file again after it was corrected."
)
NOT_ASKED = "No payer is asked about these patients or claims:"
ADVICE = "Export an 837 (X12 005010) as plain text from the practice system, and send that file."
# How files of other formats begin, and what people call these.
_FORMATS: Mapping[bytes, str] = {
    b"PK\x03\x04": "a ZIP archive or an Office document",
    b"PK\x05\x06": "an empty ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"%PDF": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an Office document",
    b"{\\rtf": "an RTF document",
    b"-----BEGIN PGP": "a file that is encrypted with PGP",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"II*\x00": "a picture",
    b"MM\x00*": "a picture",
    b"<": "XML or HTML",
    b"{": "JSON",
    b"[": "JSON",
    b"UNA": "EDIFACT",
    b"UNB": "EDIFACT",
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff", b"I\0S\0A\0", b"\0I\0S\0A"), "text in UTF-16"),
}


def acknowledgements(
    interchanges: Sequence[InterchangeReading], controls: Sequence[int], moment: datetime
) -> dict[str, bytes]:
    """Return what goes back for the interchanges of a file, by type; each type is one file, of several interchanges if need be.

    ``controls`` are :data:`CONTROLS_PER_INTERCHANGE` for each interchange.
    """
    found: dict[str, list[bytes]] = {}
    for at, one in enumerate(interchanges):
        acknowledged = acknowledge_interchange(
            one.interchange, one.groups, controls[CONTROLS_PER_INTERCHANGE * at], moment
        )
        wanted = acknowledged.accepted == "R" or _asks_for_ta1(one) or not one.groups
        if wanted and not one.is_acknowledgement:
            found.setdefault(TA1, []).append(acknowledged.ta1)
        if acknowledged.ack_999:
            found.setdefault(ACK_999, []).append(acknowledged.ack_999)
        receipts = (set.receipt for set in one.sets if set.receipt is not None)
        if content := [receipt.write() for receipt in receipts]:
            found.setdefault(RECEIPT_277CA, []).extend(content)
    return {type: b"".join(content) for type, content in found.items()}


def _asks_for_ta1(reading: InterchangeReading) -> bool:
    return tree.get_element(reading.interchange.header, 14) == "1"


def report(name: str, sentences: Sequence[str]) -> bytes:
    """Return a report in words about a file."""
    lines = [f"Clearlane has received the file {name}.", "", *sentences, ""]
    return "\r\n".join(lines).encode()


def unreadable_sentences(head: bytes, size: int) -> list[str]:
    """Return what a report says of a file without an interchange. ``head`` is its first bytes."""
    if not size:
        return [EMPTY, ADVICE]
    if _text_start(head).startswith(b"ISA"):
        return [CUT_HEADER if size < ISA_CHARACTERS else WRONG_HEADER, ADVICE]
    format = known_format(head)
    looks = [f"It looks like {format}."] if format else []
    return [NO_INTERCHANGE, *looks, ADVICE]


def known_format(head: bytes) -> str:
    """Return what a file is by its first bytes, if it is of another format; an archive may hold an 837 in clear."""
    start = _text_start(head)
    return next((words for begin, words in _FORMATS.items() if start.startswith(begin)), "")


def _text_start(head: bytes) -> bytes:
    return head.removeprefix(BOM_UTF8).lstrip()


def finding_sentences(findings: Sequence[Finding]) -> list[str]:
    """Return what a report says of findings that no acknowledgement can report."""
    errors = [one for one in findings if one.severity is Severity.ERROR]
    return [*_first_sentences(errors), *_rest(len(errors), FINDINGS_REPORTED_MAX)]


def not_asked_sentences(sets: Iterable[SetReading]) -> list[str]:
    """Return what a report says of inquiries that no payer is asked: a 271 cannot name each of them."""
    found = [sentence for one in sets for sentence in one.not_asked]
    if not found:
        return []
    named = found[:INQUIRIES_REPORTED_MAX]
    return [NOT_ASKED, "", *named, *_rest(len(found), INQUIRIES_REPORTED_MAX)]


def _first_sentences(errors: Sequence[Finding]) -> Iterator[str]:
    for one in errors[:FINDINGS_REPORTED_MAX]:
        at = one.position.file_segment if one.position else 0
        yield f"{one.message}{f' (segment {at})' if at else ''}."


def _rest(count: int, shown: int) -> list[str]:
    more = count - shown
    return [f"And {more} more."] if more > 0 else []
