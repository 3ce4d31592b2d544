"""The X12 engine: bytes <-> segments <-> tree, driven by guides that are data. Useful without the server.

Make a file. A guide says what stands where; the envelope and every count are written for you:

    >>> from datetime import UTC, datetime
    >>> from clearlane import x12
    >>> noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    >>> envelope = x12.Envelope(sender="FERNHILL", receiver="MEADOW", control=17, moment=noon)
    >>> name, _ = x12.clean("Ardén")
    >>> question = [
    ...     "BHT*0022*13*17*20240501*1200",
    ...     "HL*1**20*1", "NM1*PR*2*MEADOW MUTUAL*****PI*MM001",
    ...     "HL*2*1*21*1", "NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
    ...     "HL*3*2*22*0", f"NM1*IL*1*{name}*ROSA****MI*M1", "DMG*D8*19800229", "EQ*30",
    ... ]
    >>> data = b"".join(x12.seal(envelope, x12.guides.by_kind("270"), [question]))

Check it. Every fault is a finding with its rule, its place and a sentence that says what would pass:

    >>> x12.check.check(data).errors
    0
    >>> for finding in x12.findings(data.replace(b"19800229", b"19810229")):
    ...     finding.rule, finding.spot.loop, finding.spot.segment, finding.message
    ('ELM-PERIOD', '2100C', 9, 'DMG02 (birth date) must be a day of the calendar, CCYYMMDD, as its qualifier D8 says')

Read it, whole or as it comes, ask for values by their place, and write it back unchanged:

    >>> file = x12.parse(data)
    >>> [person] = [loop for set in file.sets() for loop in set.root.descend("2100C")]
    >>> x12.place.get(person, "2100C/NM1/03")
    'ARDEN'
    >>> x12.write(file) == data
    True
    >>> [event.__class__.__name__ for event in x12.read(data)][:3]
    ['InterchangeOpened', 'GroupOpened', 'SetOpened']

Answer it with a TA1 and a 999:

    >>> [reply.accepted for reply in x12.answers(data, control=18, moment=noon)]
    ['A']

The modules, each with more to say in its own words:

    reader     ``read`` streams a file unit by unit, ``parse`` gives the whole tree
    check      ``check`` and ``findings``: everything that is wrong, in words
    writer     ``write`` gives a file back, ``seal`` puts envelopes around new sets
    encode     ``clean``: texts as X12 can carry them
    build      the tree of a set from plain data
    placement  fields to places and back, ``2300/DTP:431/03``
    ack        ``answers``: the TA1 and the 999 for a file
    overlay    a payer's small differences applied to a guide
    views      claims, remittances, benefits, statuses and verdicts as typed values
    guides     the guides by version and kind;  ``rules`` what needs several segments at once

A name here is loaded when it is first asked for. Knows no HTTP, SQL, claim form or clock.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearlane.x12.ack import answers
    from clearlane.x12.check import Verdict, findings
    from clearlane.x12.delimiters import Delimiters
    from clearlane.x12.encode import clean
    from clearlane.x12.reader import Reader, parse, read
    from clearlane.x12.writer import Envelope, seal, write

__all__ = [
    "Delimiters", "Envelope", "Reader", "Verdict", "answers", "clean", "findings", "parse", "read",
    "seal", "write",
]  # fmt: skip

# Where each public name lives. A function that is called like its room (``check.check``,
# ``build.build``, ``overlay.overlay``) is reached through the room.
_HOMES = {
    "Delimiters": "delimiters",
    "Envelope": "writer",
    "Reader": "reader",
    "Verdict": "check",
    "answers": "ack",
    "clean": "encode",
    "findings": "check",
    "parse": "reader",
    "read": "reader",
    "seal": "writer",
    "write": "writer",
}
_MODULES = frozenset({
    "ack", "build", "check", "describe", "diff", "guides", "encode", "overlay", "placement", "reader", "redact", "reformat",
    "tree", "views", "writer",
})  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
