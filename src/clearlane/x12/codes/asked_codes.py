"""The codes of a large list that claims have asked for: as much of the list as a node has seen.

A list of millions of codes stays in the database. Claims of one practice ask for the same codes again and again, so what
was found is remembered, and so is that a code was not found. Pure: what asks the database is the pipeline's.
"""

from collections.abc import Iterable, Sequence
from datetime import date

from clearlane.x12.codes.dated_codes import DatedCodes, Period


class AskedCodes(DatedCodes):
    """Codes of a list that were asked for, each with its periods. Says nothing of other codes."""

    __slots__ = ("_asked",)

    def __init__(self, days: Sequence[tuple[date, date]]) -> None:
        super().__init__(days, ())
        self._asked: dict[str, list[Period]] = {}

    def __len__(self) -> int:
        return len(self._asked)

    def unknown(self, codes: set[str]) -> set[str]:
        """Return which of these codes were not asked for."""
        return codes - self._asked.keys()

    def add(self, codes: Iterable[str], found: DatedCodes) -> None:
        """Remember codes that were asked for, those that were not found as well."""
        self._asked.update((code, found.periods(code)) for code in codes)

    def periods(self, code: str) -> list[Period]:
        """Return when the code is valid, the earliest period first; nothing if it never was."""
        return self._asked.get(code, [])
