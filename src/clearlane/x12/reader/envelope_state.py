"""Open interchanges, groups and sets while they are read: counts, control numbers, findings.

Knows envelopes and one set at a time; does not know bytes and tokens.
"""

from clearlane.kernel import limits
from clearlane.kernel.finding import Severity
from clearlane.x12 import guides, tree
from clearlane.x12.checker import envelope
from clearlane.x12.checker.collector import FindingCollector
from clearlane.x12.checker.element import check_unplaced_segment
from clearlane.x12.reader.loop_parser import CONTROL_SEGMENTS, LoopParser

# GS01 of the 270 on a 271: payers send it, and a public file that other validators call clean has it. A warning; any
# other GS01 of another set is an error.
COUNTERPARTS = {"HB": ("HS",)}
# GS01 by transaction (ST01), for sets whose guide is not known.
FUNCTIONS = {
    "270": "HS", "271": "HB", "276": "HR", "277": "HN", "278": "HI", "820": "RA", "834": "BE",
    "835": "HP", "837": "HC", "997": "FA", "999": "FA",
}  # fmt: skip


class OpenInterchange:
    """An interchange that is being read."""

    __slots__ = ("control_numbers", "findings", "first_segment", "groups", "interchange")

    def __init__(
        self, interchange: tree.Interchange, findings: FindingCollector, first_segment: int
    ) -> None:
        self.interchange = interchange
        self.findings = findings
        self.first_segment = first_segment
        self.groups = 0
        self.control_numbers: set[str] = set()

    def position_of(self, file_segment: int) -> int:
        """Return the position in this interchange of a segment counted in the file."""
        return file_segment - self.first_segment + 1

    def keep(self, segment: tree.Segment, *, stream: bool) -> None:
        """Keep a segment outside any group, unless the reader streams."""
        if not stream:
            self.interchange.stray.append((self.groups, segment))


class OpenGroup:
    """A group that is being read."""

    __slots__ = (
        "control_numbers",
        "findings",
        "first_segment",
        "function_reported",
        "group",
        "sets",
    )

    def __init__(
        self, group: tree.FunctionalGroup, findings: FindingCollector, first_segment: int
    ) -> None:
        self.group = group
        self.findings = findings
        self.first_segment = first_segment
        self.sets = 0
        self.control_numbers: set[str] = set()
        self.function_reported = False

    def position_of(self, file_segment: int) -> int:
        """Return the position in this group of a segment counted in the file."""
        return file_segment - self.first_segment + 1

    def keep(self, segment: tree.Segment, *, stream: bool) -> None:
        """Keep a segment outside any set, unless the reader streams."""
        if not stream:
            self.group.stray.append((self.sets, segment))


class OpenSet:
    """A set that is being read: parsed into loops if its guide is known, else kept as a list of segments."""

    __slots__ = ("_check", "_parser", "_position", "_stream", "_trailer", "findings", "set")

    def __init__(
        self,
        set: tree.TransactionSet,
        findings: FindingCollector,
        parser: LoopParser | None,
        *,
        check: bool,
        stream: bool,
    ) -> None:
        self.set = set
        self.findings = findings
        self._parser = parser
        self._check = check
        self._stream = stream
        self._position = 1
        self._trailer: tree.Segment | None = None

    @property
    def done(self) -> bool:
        """Whether the SE has been read."""
        return self._trailer is not None or (self._parser is not None and self._parser.done)

    def consume(self, texts: list[str], segments: list[tree.Segment]) -> int:
        """Consume segments until the set or the list ends; return how many were consumed."""
        if self._parser is None:
            return self._consume_unknown(segments)
        consumed = self._parser.consume(texts, segments)
        if self._parser.done:
            self._trailer = segments[consumed - 1]
        return consumed

    def _consume_unknown(self, segments: list[tree.Segment]) -> int:
        root = self.set.root
        for consumed, segment in enumerate(segments):
            id = segment[0]
            if id in CONTROL_SEGMENTS:
                return consumed
            self._position += 1
            if self._check and not self.findings.is_full:
                for finding in check_unplaced_segment(segment):
                    self.findings.add_element_finding(finding, id[:3], self._position, "")
            root.items.append(segment)
            if self._stream and len(root.items) > limits.SEGMENTS_HELD_MAX:
                root.items[1:] = []
                root.dropped = [tree.DroppedLoops(1, self._position - 1, None)]
            if id == "SE":
                self._trailer = segment
                return consumed + 1
        return len(segments)

    def skip(self, rule: str, message: str, id: str) -> None:
        """Count and report a segment that the lexer left out."""
        if self._parser is None:
            self._position += 1
            position = self._position
        else:
            self._parser.position += 1
            position = self._parser.position
        self.findings.add(rule, message, id, position)

    def end_without_se(self) -> None:
        """End a set that has no SE."""
        if self._parser is not None:
            self._parser.end_without_se()
        else:
            self._position += 1
            self.findings.add(
                "SE-MISSING", "The set must end with an SE segment", "SE", self._position
            )

    def check_trailer(self) -> None:
        """Check the SE against the ST."""
        if self._trailer is not None:
            segments = self._position if self._parser is None else self._parser.position
            envelope.check_set_end(self.set.header, self._trailer, segments, self.findings)


def check_version(
    open_group: OpenGroup, set: tree.TransactionSet, version: str, findings: FindingCollector
) -> None:
    """Check that ST01, ST03, GS01 and GS08 agree with each other and with the guide."""
    guide, group = set.guide, open_group.group
    own = tree.get_element(set.header, 3).strip()
    if own and own != group.version.strip():
        # Two ids of one guide are harmless; ids of two guides are a contradiction.
        same = guide is not None and {own, group.version.strip()}.issubset(guide.all_ids)
        severity = Severity.WARNING if same else Severity.ERROR
        findings.add("ST-AGREE", "ST03 must equal GS08", "ST", 1, element=3, severity=severity)
    if guide is None:
        transaction = tree.get_element(set.header, 1)
        if transaction in FUNCTIONS:
            _check_function(open_group, FUNCTIONS[transaction], transaction)
        known = ", ".join(guides.KINDS)
        message = f"ST01 and the version must name a guide that is known here ({known}): the set is checked for its envelope and syntax only"
        findings.add("ST-GUIDE", message, "ST", 1)
        return
    if version in guide.later_ids:
        message = f"The version is a later erratum of {guide.id} and is read as that one"
        findings.add("ST-LATER", message, "ST", 1, element=3)
    elif version != guide.id:
        message = f"The version is an earlier name of {guide.id} and is read as that one"
        findings.add("ST-EARLIER", message, "ST", 1, element=3)
    _check_function(open_group, guide.functional_id, guide.kind)


def _check_function(open_group: OpenGroup, wanted: str, kind: str) -> None:
    """Check GS01 against the sets of the group; report it once per group."""
    function = tree.get_element(open_group.group.header, 1)
    if function != wanted and not open_group.function_reported:
        open_group.function_reported = True
        message = f"GS01 must be {wanted} for a group of {kind} sets"
        severity = Severity.WARNING if function in COUNTERPARTS.get(wanted, ()) else Severity.ERROR
        open_group.findings.add("GS-FUNCTION", message, "GS", 1, element=1, severity=severity)
