"""Read, check, write and acknowledge X12 files. Useful as a library, without the server.

The engine converts bytes to segments to a tree and back. Guides (837P, 837D, 837I, 835, 270, 271, 276, 277, 277CA, 999) are
data, so reading, writing, checking and describing follow one definition.

**Write a file.** The guide defines what is allowed where; the envelope and all counts are written for you:

    >>> from datetime import UTC, datetime
    >>> from clearlane import x12
    >>> noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    >>> envelope = x12.Envelope(sender="FERNHILL", receiver="MEADOW", control=17, moment=noon)
    >>> name, _ = x12.clean("Ardén")
    >>> inquiry = [
    ...     "BHT*0022*13*17*20240501*1200",
    ...     "HL*1**20*1", "NM1*PR*2*MEADOW MUTUAL*****PI*MM001",
    ...     "HL*2*1*21*1", "NM1*1P*2*FERNHILL FAMILY PRACTICE*****XX*1234567893",
    ...     "HL*3*2*22*0", f"NM1*IL*1*{name}*ROSA****MI*M1", "DMG*D8*19800229", "EQ*30",
    ... ]
    >>> data = b"".join(x12.wrap_sets(envelope, x12.guides.by_kind("270"), [inquiry]))

**Check it.** Each finding has its rule, its position and a sentence that says what would pass:

    >>> x12.check.check(data).errors
    0
    >>> for finding in x12.iter_findings(data.replace(b"19800229", b"19810229")):
    ...     finding.rule, finding.position.loop, finding.position.segment, finding.message
    ('ELM-PERIOD', '2100C', 9, 'DMG02 (birth date) must be a day of the calendar, CCYYMMDD, as its qualifier D8 requires')

**Read it**, as a tree or as a stream of events, get values by path, and write it back unchanged:

    >>> file = x12.parse(data)
    >>> [person] = [loop for set in file.sets() for loop in set.root.descendants("2100C")]
    >>> x12.placement.get(person, "2100C/NM1/03")
    'ARDEN'
    >>> x12.write(file) == data
    True
    >>> [event.__class__.__name__ for event in x12.read(data)][:3]
    ['InterchangeOpened', 'GroupOpened', 'SetOpened']

**Get typed values** instead of segments:

    >>> [interchange] = x12.views.read_views(data)
    >>> [member] = [member for set in interchange.sets for member in set.view.members]
    >>> member.party.birth, member.questions[0].service_types_words
    (datetime.date(1980, 2, 29), ('Health benefit plan coverage',))

**Acknowledge it** with a TA1 and a 999:

    >>> [acknowledgement.accepted for acknowledgement in x12.acknowledge(data, control=18, moment=noon)]
    ['A']

The modules; each has its own documentation:

    reader      ``read`` streams a file unit by unit, ``parse`` returns the whole tree
    tree        interchanges, groups, sets, loops and segments
    check       ``check`` and ``iter_findings``: everything that is wrong, in words
    views       claims, remittances, benefits, statuses and verdicts as typed values
    writer      ``write`` returns a file unchanged, ``wrap_sets`` puts envelopes around new sets
    build       the tree of a set from plain data
    placement   fields to paths such as ``2300/DTP:431/03`` and back
    encode      ``clean``: texts as X12 can carry them
    ack         ``acknowledge``: the TA1 and the 999 for a file
    describe    every segment in words;  page: the same as an HTML page, with findings;  outline: segments in loops
    diff        two files compared by meaning
    extract     one claim's or patient's part of a file, as a complete interchange
    redact      a file without personal data;  reformat: a file in other separators
    guides      the guides by version and kind
    rules       rules that need several segments at once;  codes: code lists

Names are imported on first use. Knows no HTTP, SQL, claim form or clock.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearlane.x12.checker.ack import acknowledge
    from clearlane.x12.checker.check import CheckResult, iter_findings
    from clearlane.x12.delimiters import Delimiters
    from clearlane.x12.reader.reader import Reader, parse, read
    from clearlane.x12.writer.encode import clean
    from clearlane.x12.writer.writer import Envelope, wrap_sets, write

__all__ = [
    "CheckResult", "Delimiters", "Envelope", "Reader", "acknowledge", "clean", "iter_findings", "parse", "read",
    "wrap_sets", "write",
]  # fmt: skip

# The module of each public name. A function with the name of its module (``check.check``, ``build.build``,
# ``describe.describe``) is reached through the module.
_MODULE_OF = {
    "CheckResult": "checker.check",
    "Delimiters": "delimiters",
    "Envelope": "writer.writer",
    "Reader": "reader.reader",
    "acknowledge": "checker.ack",
    "clean": "writer.encode",
    "iter_findings": "checker.check",
    "parse": "reader.reader",
    "read": "reader.reader",
    "wrap_sets": "writer.writer",
    "write": "writer.writer",
}
# The modules that are reached as ``x12.describe``, and the part that each is in.
_PARTS = {
    "": ("codes", "guides", "rules", "tree", "views"),
    "reader.": ("extract", "outline"),
    "writer.": ("build", "encode", "placement"),
    "checker.": ("ack", "check"),
    "show.": ("describe", "diff", "page", "redact", "reformat"),
}
_MODULES = {name: f"{part}{name}" for part, names in _PARTS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{_MODULES[name]}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
