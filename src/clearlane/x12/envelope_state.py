"""Parts of a file while they are read: what is counted, remembered and judged on the way.

Knows envelopes and one set at a time; knows nothing of bytes and tokens.
"""

from clearlane.kernel.finding import Severity
from clearlane.x12 import envelope, guides, tree
from clearlane.x12.collector import Report
from clearlane.x12.element import generic
from clearlane.x12.loop_parser import CONTROL, Walk

# A request's code on an answer, or the other way round, is seen in files that everyone reads.
SIBLINGS = {"HS": ("HB",), "HB": ("HS",), "HR": ("HN",), "HN": ("HR",)}


class OpenInterchange:
    """An interchange while it is read."""

    __slots__ = ("groups", "interchange", "line", "numbers", "report")

    def __init__(self, interchange: tree.Interchange, report: Report, line: int) -> None:
        self.interchange = interchange
        self.report = report
        self.line = line
        self.groups = 0
        self.numbers: set[str] = set()

    def at(self, line: int) -> int:
        """The position of a line of the file in this part of it."""
        return line - self.line + 1

    def keep(self, segment: tree.Segment, *, stream: bool) -> None:
        if not stream:
            self.interchange.stray.append((self.groups, segment))


class OpenGroup:
    """A group while it is read."""

    __slots__ = ("function_told", "group", "line", "numbers", "report", "sets")

    def __init__(self, group: tree.Group, report: Report, line: int) -> None:
        self.group = group
        self.report = report
        self.line = line
        self.sets = 0
        self.numbers: set[str] = set()
        self.function_told = False

    def at(self, line: int) -> int:
        """The position of a line of the file in this part of it."""
        return line - self.line + 1

    def keep(self, segment: tree.Segment, *, stream: bool) -> None:
        if not stream:
            self.group.stray.append((self.sets, segment))


class OpenSet:
    """A set while it is read: walked where its guide is known, else taken as it comes."""

    __slots__ = ("_check", "_position", "_stream", "_trailer", "_walk", "report", "set")

    def __init__(
        self, set: tree.Set, report: Report, walk: Walk | None, *, check: bool, stream: bool
    ) -> None:
        self.set = set
        self.report = report
        self._walk = walk
        self._check = check
        self._stream = stream
        self._position = 1
        self._trailer: tree.Segment | None = None

    @property
    def done(self) -> bool:
        return self._trailer is not None or (self._walk is not None and self._walk.done)

    def run(self, texts: list[str], segments: list[tree.Segment]) -> int:
        """Take segments until the set or the batch ends; answers how many were taken."""
        if self._walk is None:
            return self._run_unknown(segments)
        taken = self._walk.run(texts, segments)
        if self._walk.done:
            self._trailer = segments[taken - 1]
        return taken

    def _run_unknown(self, segments: list[tree.Segment]) -> int:
        for taken, segment in enumerate(segments):
            id = segment[0]
            if id in CONTROL:
                return taken
            self._position += 1
            if self._check and not self.report.full:
                for flaw in generic(segment):
                    self.report.flaw(flaw, id[:3], self._position, "")
            if not self._stream or id == "SE":
                self.set.root.items.append(segment)
            if id == "SE":
                self._trailer = segment
                return taken + 1
        return len(segments)

    def skip(self, rule: str, message: str, id: str) -> None:
        """A segment was left out by the lexer; it counts all the same."""
        if self._walk is None:
            self._position += 1
            position = self._position
        else:
            self._walk.position += 1
            position = self._walk.position
        self.report.add(rule, message, id, position)

    def stop(self) -> None:
        """The set ends without an SE."""
        if self._walk is not None:
            self._walk.stop()
        else:
            self._position += 1
            self.report.add(
                "SE-MISSING", "The set must end with an SE segment", "SE", self._position
            )

    def judge(self) -> None:
        """Hold the SE against the ST."""
        if self._trailer is not None:
            segments = self._position if self._walk is None else self._walk.position
            envelope.check_set_end(self.set.header, self._trailer, segments, self.report)


def judge_version(opened: OpenGroup, set: tree.Set, version: str, report: Report) -> None:
    """Whether ST01, ST03, GS01 and GS08 agree with each other and with the guide."""
    guide, group = set.guide, opened.group
    own = tree.element(set.header, 3).strip()
    if own and own != group.version.strip():
        # Two names of one guide are a slip that can be read; two guides are a contradiction.
        same = guide is not None and {own, group.version.strip()} <= {guide.id, *guide.also}
        weight = Severity.WARNING if same else Severity.ERROR
        report.add("ST-AGREE", "ST03 must equal GS08", "ST", 1, element=3, severity=weight)
    if guide is None:
        known = ", ".join(guides.KINDS)
        message = f"ST01 and the version must name a guide that is known here ({known}): the set is checked for its envelope and syntax only"
        report.add("ST-GUIDE", message, "ST", 1)
        return
    if version != guide.id:
        message = f"The version is an earlier name of {guide.id} and is read as that one"
        report.add("ST-EARLIER", message, "ST", 1, element=3)
    function = tree.element(group.header, 1)
    if function != guide.functional and not opened.function_told:
        opened.function_told = True
        message = f"GS01 must be {guide.functional} for a group of {guide.kind} sets"
        weight = (
            Severity.WARNING if function in SIBLINGS.get(guide.functional, ()) else Severity.ERROR
        )
        opened.report.add("GS-FUNCTION", message, "GS", 1, element=1, severity=weight)
