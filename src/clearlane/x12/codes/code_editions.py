"""The code lists in force: the lists of the package, and over them the editions that an operator has imported.

    lists = CodeLists({"icd-10-cm": combine(embedded("icd-10-cm"), [(edition, rows)])})
    lists.find("icd-10-cm").is_valid("I4200", day, day)

An edition says which codes are valid on its days. If several cover a day, the one that was imported last decides; if none
does, the list of the package. ``CodeLists`` is a snapshot, replaced as a whole when the operator changes a list. A list
that is too large for memory is asked for the codes of some claims: ``with_asked`` adds what was found, so that rules ask
in one way. Pure: knows neither database nor files.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType
from typing import NamedTuple

from clearlane.x12.codes import dated_codes
from clearlane.x12.codes.dated_codes import NOTHING, DatedCodes, Period

DAY = timedelta(days=1)

Days = tuple[date, date]
"""From a day to a day, both included."""


class CodeEdition(NamedTuple):
    """An edition of a list that an operator has imported."""

    id: int
    """Editions that were imported later have higher ids."""
    list: str
    edition: str
    first_day: date
    last_day: date
    codes: int


class EditionCode(NamedTuple):
    """A code of an edition: from a day to a day, or for all days of the edition."""

    code: str
    first_day: date | None
    last_day: date | None
    attributes: str = ""
    """What the publisher says of the code, separated by blanks."""


class CodeLists:
    """The lists in force on one node. Rules are given it, and ask a list about a day."""

    __slots__ = ("_complete_until", "_imported", "imported", "large")

    def __init__(
        self,
        imported: Mapping[str, DatedCodes] = MappingProxyType({}),
        large: Mapping[str, tuple[CodeEdition, ...]] = MappingProxyType({}),
    ) -> None:
        self._imported = imported
        self.large = large
        """The editions of the lists that are too large for memory, the first imported first, by list."""
        self.imported = frozenset(imported)
        """The names of the imported lists that can be asked: in memory, or asked already."""
        self._complete_until: date | None = None

    def find(self, name: str) -> DatedCodes | None:
        """Return a list such as ``icd-10-cm``, or None if there is none, or it is large and was not asked."""
        found = self._imported.get(name)
        return dated_codes.find(name) if found is None else found

    def __getitem__(self, name: str) -> DatedCodes:
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*dated_codes.names(), *self._imported, *self.large}))

    @property
    def complete_until(self) -> date:
        """The day until which every list in memory speaks without a gap."""
        if self._complete_until is None:
            embedded = filter(
                None, map(dated_codes.find_days, dated_codes.names() - self._imported.keys())
            )
            ends = [days[1] for days in embedded]
            ends += [known.days[0][1] for known in self._imported.values()]
            self._complete_until = min(ends)
        return self._complete_until

    def with_asked(self, asked: Mapping[str, DatedCodes]) -> "CodeLists":
        """Return the lists with what was found in large ones: as much of each as the claims at hand need."""
        return CodeLists({**self._imported, **asked}, self.large)


EMBEDDED = CodeLists()
"""The lists of the package alone, for checks outside of an installation."""


def combine(
    below: DatedCodes | None, editions: Sequence[tuple[CodeEdition, Iterable[EditionCode]]]
) -> DatedCodes:
    """Return one list of editions, the first imported first, and of the list of the package below them.

    Marks that an edition does not have (ages and sexes of diagnoses are not in the publisher's file) stay as they are below.
    """
    marks = {code: period.attributes for code, period in below or () if period.attributes}
    parts: list[Period] = []
    # Most codes share their periods with many others: what is done for each code is done with numbers of parts.
    numbers: dict[str, tuple[int, ...]] = {}
    covered: list[Days] = []

    def add(
        days: Sequence[Days],
        codes: Iterable[tuple[str, Period]],
        marks: Mapping[str, frozenset[str]],
    ) -> None:
        free = [part for own in days for part in _without(own, covered)]
        covered.extend(days)
        known: dict[tuple[int, frozenset[str] | None], tuple[int, ...]] = {}
        for code, period in codes:
            key = (id(period), None if period.attributes else marks.get(code))
            found = known.get(key)
            if found is None:
                own = list(_within(_marked(period, key[1]), free))
                found = known[key] = tuple(range(len(parts), len(parts) + len(own)))
                parts.extend(own)
            numbers[code] = numbers.get(code, ()) + found

    for edition, rows in reversed(editions):
        add([(edition.first_day, edition.last_day)], _periods(edition, rows), marks)
    if below is not None:
        add(below.days, below, {})
    groups: defaultdict[tuple[int, ...], list[str]] = defaultdict(list)
    for code, own in numbers.items():
        groups[own].append(code)
    return DatedCodes(
        joined_days(covered),
        [
            (period, codes)
            for own, codes in groups.items()
            for period in _joined([parts[number] for number in own])
        ],
    )


def hidden(newest_first: Iterable[CodeEdition]) -> Iterator[CodeEdition]:
    """Return the editions of a list that decide on no day, because later ones cover all of their days."""
    covered: list[Days] = []
    for one in newest_first:
        days = one.first_day, one.last_day
        if not any(_without(days, covered)):
            yield one
        covered.append(days)


def joined_days(parts: Iterable[Days]) -> list[Days]:
    """Return days in order, without overlaps, those that follow each other as one part."""
    found: list[Days] = []
    for first, last in sorted(parts):
        if found and first <= found[-1][1] + DAY:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def _periods(edition: CodeEdition, rows: Iterable[EditionCode]) -> Iterator[tuple[str, Period]]:
    """Return the codes of an edition; those of the same days and attributes share a period."""
    made: dict[tuple[date | None, date | None, str], Period] = {}
    for code, first, last, attributes in rows:
        key = (first, last, attributes)
        period = made.get(key)
        if period is None:
            words = frozenset(attributes.split()) if attributes else NOTHING
            period = made[key] = Period(
                edition.first_day if first is None else first,
                edition.last_day if last is None else last,
                words,
            )
        yield code, period


def _marked(period: Period, marks: frozenset[str] | None) -> Period:
    return period._replace(attributes=marks) if marks else period


def _within(period: Period, days: Iterable[Days]) -> Iterator[Period]:
    """Return the parts of a period that are between days."""
    first_day, last_day, _ = period
    for first, last in days:
        if period.overlaps(first, last):
            yield period._replace(first_day=max(first, first_day), last_day=min(last, last_day))


def _without(days: Days, covered: Sequence[Days]) -> Iterator[Days]:
    """Return the parts of days that nothing covers yet."""
    first, end = days
    for begin, last in joined_days(covered):
        if begin > end:
            break
        if first < begin:
            yield first, begin - DAY
        first = max(first, last + DAY)
    if first <= end:
        yield first, end


def _joined(periods: list[Period]) -> list[Period]:
    """Return the periods of one code in order; those that follow each other with the same attributes as one."""
    found: list[Period] = []
    for period in sorted(periods, key=lambda one: one.first_day):
        before = found[-1] if found else None
        if (
            before is not None
            and before.attributes == period.attributes
            and period.first_day <= before.last_day + DAY
        ):
            found[-1] = before._replace(last_day=max(before.last_day, period.last_day))
        else:
            found.append(period)
    return found
