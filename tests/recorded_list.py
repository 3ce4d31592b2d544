"""A list of what the product says in many cases, as a run writes it: a test compares, a person reads the difference.

    RECORDED = RecordedList(Path(__file__).with_suffix(".txt"), {"examples": _of_examples})

Each part has a heading. A module with such a list is run as a program to write it again.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from functools import cached_property
from pathlib import Path

HEADING = "== "


@dataclass(frozen=True)
class RecordedList:
    """A file of recorded lines, in parts, and what makes the lines of each part."""

    file: Path
    parts: Mapping[str, Callable[[], Iterable[str]]]

    @cached_property
    def recorded(self) -> dict[str, list[str]]:
        """The lines of the file by their heading."""
        found: dict[str, list[str]] = {}
        for line in self.file.read_text(encoding="utf-8").splitlines():
            if line.startswith(HEADING):
                own = found[line.removeprefix(HEADING)] = []
            else:
                own.append(line)
        return found

    def changes(self, part: str) -> list[str]:
        """Return how a part differs from what is recorded; nothing if it does not."""
        found = self._lines(part)
        return [*unified_diff(self.recorded[part], found, "recorded", "found", "", "", 1, "")]

    def write(self) -> None:
        """Write the file."""
        parts = ["\n".join([HEADING + part, *self._lines(part)]) for part in self.parts]
        self.file.write_text("\n".join(parts) + "\n", encoding="utf-8")

    def _lines(self, part: str) -> list[str]:
        """Return the lines of a part as they are recorded: what cannot be printed by its number."""
        return [
            "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in line)
            for line in self.parts[part]()
        ]
