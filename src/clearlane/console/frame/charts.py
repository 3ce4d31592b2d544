"""Bar charts drawn at the server: the shapes of an SVG, and the same figures as a table.

Knows numbers; knows no page and no claim. Colors are classes of the style sheet.
"""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, BASE = 620, 140, 124
GAP = 0.25
"""The share of a bar's place that stays free."""


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
    is_empty: bool = False


def stacked_chart(
    title: str, places: Sequence[tuple[str, Sequence[tuple[str, str, int]]]]
) -> Chart:
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
                bars.append(
                    Bar(
                        round(x, 1),
                        round(top, 1),
                        round(step * (1 - GAP), 1),
                        round(size, 1),
                        kind,
                        words,
                    )
                )
    names = [name for _, name, _ in places[0][1]] if places else []
    rows = [(place, [f"{n:,}" for *_, n in parts]) for place, parts in places]
    return Chart(title=title, bars=bars, columns=names, rows=rows, is_empty=not highest)


def paired_chart(title: str, places: Sequence[tuple[str, Sequence[tuple[str, str, int]]]]) -> Chart:
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
            bars.append(
                Bar(
                    round(x, 1),
                    round(BASE - size, 1),
                    round(width * 0.94, 1),
                    round(size, 1),
                    kind,
                    words,
                )
            )
    names = [name for _, name, _ in places[0][1]] if places else []
    rows = [(place, [f"{n / 100:,.2f}" for *_, n in parts]) for place, parts in places]
    return Chart(title=title, bars=bars, columns=names, rows=rows, is_empty=not highest)
