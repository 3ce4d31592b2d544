"""Draw the tables: the life of a claim, the life of an enrollment, the rooms of the house.

Each picture is an SVG made from the table that the product runs on, so it cannot show what is not so. In a
life, every state is a line downwards and every event a row: dots where it can happen, an arrow to where it leads.
Colours follow the reader's light or dark setting.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from html import escape
from pathlib import Path

PICTURES = Path(__file__).parent / "pictures"

STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1b1f24}.small{font-size:12px;fill:#4a525c}"
    ".box{fill:#e8f0fe;stroke:#2257b8}.line{stroke:#9aa4b0;stroke-dasharray:3 4}"
    ".way{stroke:#2257b8;stroke-width:2;fill:none}.dot{fill:#fff;stroke:#2257b8;stroke-width:2}"
    ".head{fill:#2257b8}.apart{stroke-dasharray:5 4}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ee}.small{fill:#b3bcc8}"
    ".box{fill:#1d2f4f;stroke:#86aef5}.line{stroke:#5b6570}.way{stroke:#86aef5}"
    ".dot{fill:#14171b;stroke:#86aef5}.head{fill:#86aef5}}"
)

LABEL_WIDTH, COLUMN, ROW, TOP, DOT, BOX_HEIGHT = 190, 128, 44, 70, 5, 34
FLOOR, ROOM, GAP, ROOM_HEIGHT = 74, 172, 12, 56


def claim_life() -> str:
    """The life of a claim."""
    from clearlane.claims.lifecycle import NEXT, Event, State

    return life("The life of a claim", State, Event, NEXT)


def enrollment_life() -> str:
    """The life of an enrollment with one payer."""
    from clearlane.enrollment.lifecycle import NEXT, Event, State

    return life("The life of an enrollment with one payer", State, Event, NEXT)


def rooms() -> str:
    """The rooms of the house, floor by floor, from the table that holds the imports."""
    from tests.house.test_architecture import MAY_IMPORT

    packages = {
        room: may for room, may in MAY_IMPORT.items() if room not in {"__init__", "__main__"}
    }
    floors = list(_floors(packages))
    widest = max(len(set(floor) - set(APART)) for floor in floors)
    width = GAP + (widest + 1) * (ROOM + GAP)
    title = "The rooms of the house: a room may import what lies below it"
    return _svg(title, width, GAP + len(floors) * FLOOR, list(_rooms(floors, packages, width)))


def life(
    title: str,
    states: type[Enum],
    events: type[Enum],
    table: Mapping[tuple[Enum, Enum], Enum],
) -> str:
    """A table of states and events as a picture."""
    column = {state: LABEL_WIDTH + COLUMN * at + COLUMN // 2 for at, state in enumerate(states)}
    height = TOP + ROW * _row_count(events, table) + GAP
    parts = []
    for state, x in column.items():
        parts.append(f'<line class="line" x1="{x}" y1="{TOP - 20}" x2="{x}" y2="{height - GAP}"/>')
        parts.append(_box(x - COLUMN // 2 + 6, 14, COLUMN - 12, BOX_HEIGHT, str(state.value)))
    y = TOP + ROW // 2
    for event, target, sources in _ways(events, table):
        parts.append(f'<text x="{LABEL_WIDTH - 14}" y="{y + 5}" text-anchor="end">')
        parts.append(f"{escape(str(event.value))}</text>")
        parts.extend(_way([column[source] for source in sources], column[target], y))
        y += ROW
    return _svg(title, LABEL_WIDTH + COLUMN * len(column), height, parts)


def _ways(
    events: type[Enum], table: Mapping[tuple[Enum, Enum], Enum]
) -> Iterator[tuple[Enum, Enum, list[Enum]]]:
    """Each event with where it leads and from where; an event that leads to two states comes twice."""
    for event in events:
        targets: dict[Enum, list[Enum]] = {}
        for (state, what), after in table.items():
            if what is event:
                targets.setdefault(after, []).append(state)
        for target, sources in targets.items():
            yield event, target, sources


def _row_count(events: type[Enum], table: Mapping[tuple[Enum, Enum], Enum]) -> int:
    return sum(1 for _ in _ways(events, table))


def _way(sources: Sequence[int], target: int, y: int) -> Iterator[str]:
    """Dots at the sources, one line through them, an arrow at the target; a loop where it stays."""
    left, right = [x for x in sources if x < target], [x for x in sources if x > target]
    tip = DOT + 10
    if left:
        yield f'<path class="way" d="M{min(left)} {y}H{target - tip}"/>'
        yield _head(target - DOT - 1, y, -1)
    if right:
        yield f'<path class="way" d="M{max(right)} {y}H{target + tip}"/>'
        yield _head(target + DOT + 1, y, 1)
    if target in sources:
        yield f'<path class="way" d="M{target - 3} {y - 5}c-14 -22 20 -22 8 -3"/>'
    for x in sources:
        yield f'<circle class="dot" cx="{x}" cy="{y}" r="{DOT}"/>'
    if target not in sources:
        yield f'<circle class="head" cx="{target}" cy="{y}" r="{DOT - 1}"/>'


def _head(x: int, y: int, side: int) -> str:
    return f'<path class="head" d="M{x} {y}l{side * 11} -6v12z"/>'


def _floors(packages: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """Rooms that stand on the same number of floors, the highest first."""
    height: dict[str, int] = {}

    def of(room: str) -> int:
        if room not in height:
            # Two rooms that may know each other stand on one floor: the command line and the wiring.
            below = [of(other) for other in packages[room] if room not in packages[other]]
            height[room] = 1 + max(below, default=-1)
        return height[room]

    for level in sorted({of(room) for room in packages}, reverse=True):
        yield [room for room in packages if height[room] == level]


def _rooms(
    floors: list[list[str]], packages: Mapping[str, Iterable[str]], width: int
) -> Iterator[str]:
    """Each floor in the middle; the rooms that stand apart in a column of their own, with what they know."""
    apart_at = width - ROOM - GAP
    for at, floor in enumerate(floors):
        y = GAP + at * FLOOR
        inside = [room for room in floor if room not in APART]
        start = (apart_at - len(inside) * (ROOM + GAP) + GAP) // 2
        for place, room in enumerate(inside):
            yield from _room(start + place * (ROOM + GAP), y, room, WORDS[room])
        for room in (room for room in floor if room in APART):
            known = ", ".join(sorted(packages[room])) or "nothing of the house"
            yield from _room(apart_at, y, room, f"knows {known}", "box apart")


def _room(x: int, y: int, name: str, words: str, style: str = "box") -> Iterator[str]:
    middle = x + ROOM // 2
    yield f'<rect class="{style}" x="{x}" y="{y}" width="{ROOM}" height="{ROOM_HEIGHT}" rx="6"/>'
    yield f'<text x="{middle}" y="{y + 22}" text-anchor="middle">{name}</text>'
    yield f'<text class="small" x="{middle}" y="{y + 42}" text-anchor="middle">{escape(words)}</text>'


# Rooms that share the ground floor and never the house, and the settings, which only faces read.
APART = ("sandbox", "client", "settings")

# A few words for each room; the table itself names the rooms.
WORDS = {
    "kernel": "words everyone shares",
    "x12": "the format engine",
    "payers": "who can be reached",
    "accounts": "vendors, sites, people",
    "claims": "fields, rules, life",
    "remits": "what was paid and why",
    "eligibility": "270 and 271",
    "enrollment": "providers with payers",
    "store": "the database",
    "connect": "cables to payers",
    "pipeline": "the verbs",
    "api": "the front door",
    "console": "pages for people",
    "cli": "the command line",
    "wiring": "puts the rooms together",
}


def _box(x: int, y: int, width: int, height: int, text: str) -> str:
    return (
        f'<rect class="box" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        f'<text x="{x + width // 2}" y="{y + height // 2 + 5}" text-anchor="middle">{escape(text)}</text>'
    )


def _svg(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


DRAWN: dict[str, Callable[[], str]] = {
    "claim-life.svg": claim_life,
    "enrollment-life.svg": enrollment_life,
    "rooms.svg": rooms,
}
