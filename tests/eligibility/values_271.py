"""Find the values of a 271 in what was made from it, with a reading of our own of the file."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal

Row = list[list[str]]


def rows_of(data: bytes) -> tuple[list[Row], str]:
    """Every segment: elements, each a list of its repetitions. Split by hand, so as not to trust the reader."""
    text = data.decode("latin-1").lstrip()
    start = text.index("ISA")
    element, repetition, component = text[start + 3], text[start + 82], text[start + 104]
    terminator = text[start + 105]
    rows = [row.strip("\r\n ") for row in text[start:].split(terminator)]
    return [
        [[one] if at == 0 else one.split(repetition) for at, one in enumerate(row.split(element))]
        for row in rows
        if row
    ], component


def benefit_rows(rows: Iterable[Row]) -> Iterator[Row]:
    """The segments of benefits: from an EB to the end of its level."""
    inside = False
    for row in rows:
        inside = (inside or row[0][0] == "EB") and row[0][0] not in {"HL", "SE"}
        if inside:
            yield row


def count(value, name):
    """How many elements stand in the lists of that name."""
    if isinstance(value, dict):
        own = len(value[name]) if isinstance(value.get(name), list) else 0
        return own + sum(count(one, name) for key, one in value.items() if key != "EnvelopeErrors")
    return sum(count(one, name) for one in value) if isinstance(value, list) else 0


def lost_rows(
    rows: Iterable[Row], component: str, found: object, day: Callable[[str], str]
) -> list[Row]:
    """The segments with a value that is not found; ``day`` gives a day as it is written there."""
    values = _FoundValues(found, day)
    return [row for row in rows if not values.holds(row, component)]


class _FoundValues:
    def __init__(self, found: object, day: Callable[[str], str]) -> None:
        self.day = day
        self.leaves = _leaves(found, Counter())
        self.numbers: Counter[Decimal] = Counter()
        for text, times in self.leaves.items():
            try:
                self.numbers[Decimal(text).normalize()] += times
            except ArithmeticError:
                continue

    def take(self, *texts: str) -> bool:
        if any(self.leaves[text] <= 0 for text in texts):
            return False
        self.leaves.subtract(texts)
        return True

    def holds(self, row: Row, component: str) -> bool:
        elements = ["^".join(one) for one in row]
        get = lambda at: elements[at] if len(elements) > at else ""  # noqa: E731
        checks = {
            "REF": lambda: all(self.take(one) for one in elements[2:4] if one and component not in one),
            "MSG": lambda: self.take(get(1)),
            "III": lambda: all(self.take(one) for one in (get(2), get(4)) if one),
            "DTP": lambda: self.date(get(2), get(3)),
            "EB": lambda: all(self.number(one) for one in (get(7), get(10)) if one)
            and (not get(5) or self.take(get(5))),
            "HSD": lambda: all(self.number(get(at)) for at in (2, 6) if get(at)),
            "TRN": lambda: self.take(get(2)),
            "N3": lambda: all(self.take(one) for one in elements[1:3] if one),
            "NM1": lambda: all(self.take(get(at)) for at in (3, 4, 9) if get(at)),
        }  # fmt: skip
        return checks.get(elements[0], lambda: True)()

    def date(self, form: str, text: str) -> bool:
        # As text where it has no field of its own, so that first: its days may be other dates' too.
        return self.take(text) or (
            form in {"D8", "RD8"} and self.take(*map(self.day, text.split("-")))
        )

    def number(self, text: str) -> bool:
        number = Decimal(text).normalize()
        if self.numbers[number] <= 0:
            return self.leaves[text] > 0
        self.numbers[number] -= 1
        return True


def _leaves(value: object, found: Counter[str]) -> Counter[str]:
    if isinstance(value, dict):
        for one in value.values():
            _leaves(one, found)
    elif isinstance(value, (list, tuple)):
        for one in value:
            _leaves(one, found)
    elif isinstance(value, bool) or value is None:
        pass
    else:
        found[str(value)] += 1
    return found
