"""Bar charts drawn at the server: the shapes of an SVG, and the same figures as a table.

Knows numbers; knows no page and no claim. Colors are classes of the style sheet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, BASE = 620, 140, 124
TOP = 6
"""Where the highest value of the axis is."""
CENTS = 100
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
    ticks: list[tuple[int, str]]
    """The values of the axis: where each is, and its text, the highest first."""
    width: int = WIDTH
    height: int = HEIGHT
    base: int = BASE


def stacked_chart(title: str, places: Places) -> Chart:
    """Return bars with the parts of each place on top of each other: (place, [(kind, name, number)])."""
    top_value = axis_top(max((sum(n for *_, n in parts) for _, parts in places), default=0))
    step = WIDTH / max(len(places), 1)
    bars: list[Bar] = []
    for at, (place, parts) in enumerate(places):
        top = float(BASE)
        for kind, name, number in parts:
            size = number * (BASE - TOP) / top_value
            top -= size
            if number:
                words = f"{place}: {number:,} {name.lower()}"
                x = at * step + step * GAP / 2
                bars.append(_bar(x, top, step * (1 - GAP), size, kind, words))
    return _chart(title, bars, places, lambda number: f"{number:,}", _ticks(top_value, 1))


def paired_chart(title: str, places: Places) -> Chart:
    """Return bars of each place beside each other; the numbers are cents."""
    top_value = axis_top(max((n for _, parts in places for *_, n in parts), default=0))
    step = WIDTH / max(len(places), 1)
    bars: list[Bar] = []
    for at, (place, parts) in enumerate(places):
        width = step * (1 - GAP) / max(len(parts), 1)
        for nth, (kind, name, cents) in enumerate(parts):
            size = max(cents, 0) * (BASE - TOP) / top_value
            x = at * step + step * GAP / 2 + nth * width
            words = f"{place}: {name.lower()} {cents / CENTS:,.2f}"
            bars.append(_bar(x, BASE - size, width * 0.94, size, kind, words))
    ticks = _ticks(top_value, CENTS)
    return _chart(title, bars, places, lambda cents: f"{cents / CENTS:,.2f}", ticks)


def axis_top(highest: int) -> int:
    """Return where an axis ends: an even first figure and zeros, so that its half is a round number too."""
    power = 1
    while highest > 10 * power:
        power *= 10
    return next(step * power for step in (2, 4, 6, 8, 10) if step * power >= highest)


def _ticks(top_value: int, unit: int) -> list[tuple[int, str]]:
    places = ((TOP, top_value), ((TOP + BASE) // 2, top_value // 2), (BASE, 0))
    return [(y, f"{value / unit:,.{0 if value % unit == 0 else 2}f}") for y, value in places]


def _bar(x: float, y: float, width: float, height: float, kind: str, words: str) -> Bar:
    return Bar(round(x, 1), round(y, 1), round(width, 1), round(height, 1), kind, words)


def _chart(
    title: str,
    bars: list[Bar],
    places: Places,
    text: Callable[[int], str],
    ticks: list[tuple[int, str]],
) -> Chart:
    """Return a chart with the table of its numbers, which a reader hears in place of the bars."""
    names = [name for _, name, _ in places[0][1]] if places else []
    rows = [(place, [text(number) for *_, number in parts]) for place, parts in places]
    return Chart(title=title, bars=bars, columns=names, rows=rows, ticks=ticks)
