"""Bar charts drawn at the server: the shapes of an SVG, and the same figures as a table.

Knows numbers; knows no page and no claim. Colors are classes of the style sheet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, BASE = 620, 140, 124
GAP = 0.25
"""The share of a bar's place that stays free."""


Places = Sequence[tuple[str, Sequence[tuple[str, str, int]]]]
"""Places of an axis, each with its parts: kind, name and number."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One rectangle; ``kind`` is the end of its class."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart and its table."""

    title: str
    bars: list[Bar]
    columns: list[str]
    rows: list[tuple[str, list[str]]]
    width: int = WIDTH
    height: int = HEIGHT
    base: int = BASE


def stacked_chart(title: str, places: Places) -> Chart:
    """Return bars with the parts of each place on top of each other: (place, [(kind, name, number)])."""
    highest = max((sum(n for *_, n in parts) for _, parts in places), default=0)
    step = WIDTH / max(len(places), 1)
    bars: list[Bar] = []
    for at, (place, parts) in enumerate(places):
        top = float(BASE)
        for kind, name, number in parts:
            size = number * (BASE - 6) / highest if highest else 0
            top -= size
            if number:
                words = f"{place}: {number:,} {name.lower()}"
                x = at * step + step * GAP / 2
                bars.append(_bar(x, top, step * (1 - GAP), size, kind, words))
    return _chart(title, bars, places, lambda number: f"{number:,}")


def paired_chart(title: str, places: Places) -> Chart:
    """Return bars of each place beside each other; the numbers are cents."""
    highest = max((n for _, parts in places for *_, n in parts), default=0)
    step = WIDTH / max(len(places), 1)
    bars: list[Bar] = []
    for at, (place, parts) in enumerate(places):
        width = step * (1 - GAP) / max(len(parts), 1)
        for nth, (kind, name, cents) in enumerate(parts):
            size = max(cents, 0) * (BASE - 6) / highest if highest else 0
            x = at * step + step * GAP / 2 + nth * width
            words = f"{place}: {name.lower()} {cents / 100:,.2f}"
            bars.append(_bar(x, BASE - size, width * 0.94, size, kind, words))
    return _chart(title, bars, places, lambda cents: f"{cents / 100:,.2f}")


def _bar(x: float, y: float, width: float, height: float, kind: str, words: str) -> Bar:
    return Bar(round(x, 1), round(y, 1), round(width, 1), round(height, 1), kind, words)


def _chart(title: str, bars: list[Bar], places: Places, text: Callable[[int], str]) -> Chart:
    """Return a chart with the table of its numbers, which a reader hears in place of the bars."""
    names = [name for _, name, _ in places[0][1]] if places else []
    rows = [(place, [text(number) for *_, number in parts]) for place, parts in places]
    return Chart(title=title, bars=bars, columns=names, rows=rows)
