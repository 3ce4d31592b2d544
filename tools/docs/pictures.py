"""Draw the tables: the lifecycles of a claim, of a batch and of an enrollment, and the packages in their layers.

Each picture is an SVG made from the table that the product runs on, so it cannot show what is not so. In a
lifecycle, every state is a vertical line and every event a row: dots where it can happen, an arrow to the next state.
Colors follow the reader's light or dark setting.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from html import escape
from pathlib import Path
from types import ModuleType

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"

STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1b1f24}.small{font-size:12px;fill:#4a525c}"
    ".box{fill:#e8f0fe;stroke:#2257b8}.line{stroke:#9aa4b0;stroke-dasharray:3 4}"
    ".arrow{stroke:#2257b8;stroke-width:2;fill:none}.dot{fill:#fff;stroke:#2257b8;stroke-width:2}"
    ".head{fill:#2257b8}.apart{stroke-dasharray:5 4}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ee}.small{fill:#b3bcc8}"
    ".box{fill:#1d2f4f;stroke:#86aef5}.line{stroke:#5b6570}.arrow{stroke:#86aef5}"
    ".dot{fill:#14171b;stroke:#86aef5}.head{fill:#86aef5}}"
)

LABEL_WIDTH, COLUMN, ROW, TOP, DOT, BOX_HEIGHT = 190, 128, 44, 70, 5, 34
LAYER, PACKAGE, GAP, PACKAGE_HEIGHT = 74, 172, 12, 56


def claim_life() -> str:
    """Draw the lifecycle of a claim."""
    from clearlane.claims import lifecycle

    return life("The lifecycle of a claim", *_table(lifecycle))


def batch_life() -> str:
    """Draw the lifecycle of a batch."""
    from clearlane.claims import batch_lifecycle

    return life("The lifecycle of a batch", *_table(batch_lifecycle))


def enrollment_life() -> str:
    """Draw the lifecycle of an enrollment with one payer."""
    from clearlane.enrollment import lifecycle

    return life("The lifecycle of an enrollment with one payer", *_table(lifecycle))


def packages() -> str:
    """Draw the packages, layer by layer, from the table that holds the imports."""
    from tests.architecture.test_architecture import MAY_IMPORT

    drawn = {
        package: may
        for package, may in MAY_IMPORT.items()
        if package not in {"__init__", "__main__"}
    }
    layers = list(_layers(drawn))
    widest = max(len(set(layer) - set(APART)) for layer in layers)
    width = GAP + (widest + 1) * (PACKAGE + GAP)
    title = "The packages: each may import what is drawn below it"
    return _svg(title, width, GAP + len(layers) * LAYER, list(_packages(layers, drawn, width)))


def life(
    title: str,
    states: type[Enum],
    events: type[Enum],
    table: Mapping[tuple[Enum, Enum], Enum],
) -> str:
    """Draw a table of states and events."""
    column = {state: LABEL_WIDTH + COLUMN * at + COLUMN // 2 for at, state in enumerate(states)}
    height = TOP + ROW * _row_count(events, table) + GAP
    parts = []
    for state, x in column.items():
        parts.append(f'<line class="line" x1="{x}" y1="{TOP - 20}" x2="{x}" y2="{height - GAP}"/>')
        parts.append(_box(x - COLUMN // 2 + 6, 14, COLUMN - 12, BOX_HEIGHT, str(state.value)))
    y = TOP + ROW // 2
    for event, target, sources in _arrows(events, table):
        parts.append(f'<text x="{LABEL_WIDTH - 14}" y="{y + 5}" text-anchor="end">')
        parts.append(f"{escape(str(event.value))}</text>")
        parts.extend(_arrow([column[source] for source in sources], column[target], y))
        y += ROW
    return _svg(title, LABEL_WIDTH + COLUMN * len(column), height, parts)


def _arrows(
    events: type[Enum], table: Mapping[tuple[Enum, Enum], Enum]
) -> Iterator[tuple[Enum, Enum, list[Enum]]]:
    """Return each event with its next state and the states before; one that leads to two comes twice."""
    for event in events:
        targets: dict[Enum, list[Enum]] = {}
        for (state, cause), after in table.items():
            if cause is event:
                targets.setdefault(after, []).append(state)
        for target, sources in targets.items():
            yield event, target, sources


def _table(
    lifecycle: ModuleType,
) -> tuple[type[Enum], type[Enum], Mapping[tuple[Enum, Enum], Enum]]:
    """Return the states, events and transitions of a lifecycle module."""
    state, event = next(iter(lifecycle.NEXT))
    return type(state), type(event), lifecycle.NEXT


def _row_count(events: type[Enum], table: Mapping[tuple[Enum, Enum], Enum]) -> int:
    return sum(1 for _ in _arrows(events, table))


def _arrow(sources: Sequence[int], target: int, y: int) -> Iterator[str]:
    """Draw dots at the sources, one line through them, an arrow at the target; a loop if it stays."""
    left, right = [x for x in sources if x < target], [x for x in sources if x > target]
    tip = DOT + 10
    if left:
        yield f'<path class="arrow" d="M{min(left)} {y}H{target - tip}"/>'
        yield _head(target - DOT - 1, y, -1)
    if right:
        yield f'<path class="arrow" d="M{max(right)} {y}H{target + tip}"/>'
        yield _head(target + DOT + 1, y, 1)
    if target in sources:
        yield f'<path class="arrow" d="M{target - 3} {y - 5}c-14 -22 20 -22 8 -3"/>'
    for x in sources:
        yield f'<circle class="dot" cx="{x}" cy="{y}" r="{DOT}"/>'
    if target not in sources:
        yield f'<circle class="head" cx="{target}" cy="{y}" r="{DOT - 1}"/>'


def _head(x: int, y: int, side: int) -> str:
    return f'<path class="head" d="M{x} {y}l{side * 11} -6v12z"/>'


def _layers(drawn: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """Return the packages with the same number of layers below them, the highest first."""
    height: dict[str, int] = {}

    def of(package: str) -> int:
        if package not in height:
            # Two packages that may import each other are one layer: the command line and the wiring.
            below = [of(other) for other in drawn[package] if package not in drawn[other]]
            height[package] = 1 + max(below, default=-1)
        return height[package]

    for level in sorted({of(package) for package in drawn}, reverse=True):
        yield [package for package in drawn if height[package] == level]


def _packages(
    layers: list[list[str]], drawn: Mapping[str, Iterable[str]], width: int
) -> Iterator[str]:
    """Draw each layer in the middle, and the packages apart in a column with what they import."""
    apart_at = width - PACKAGE - GAP
    for at, layer in enumerate(layers):
        y = GAP + at * LAYER
        inside = [package for package in layer if package not in APART]
        start = (apart_at - len(inside) * (PACKAGE + GAP) + GAP) // 2
        for place, package in enumerate(inside):
            yield from _package(start + place * (PACKAGE + GAP), y, package, WORDS[package])
        for package in (package for package in layer if package in APART):
            known = ", ".join(sorted(drawn[package])) or "none of our packages"
            yield from _package(apart_at, y, package, f"imports {known}", "box apart")


def _package(x: int, y: int, name: str, words: str, style: str = "box") -> Iterator[str]:
    middle = x + PACKAGE // 2
    yield (
        f'<rect class="{style}" x="{x}" y="{y}" width="{PACKAGE}" height="{PACKAGE_HEIGHT}" rx="6"/>'
    )
    yield f'<text x="{middle}" y="{y + 22}" text-anchor="middle">{name}</text>'
    yield f'<text class="small" x="{middle}" y="{y + 42}" text-anchor="middle">{escape(words)}</text>'


# Packages that share only the lowest layers with the rest, and the settings, which only the edge reads.
APART = ("sandbox", "client", "settings")

# A few words for each package; the table itself names the packages.
WORDS = {
    "kernel": "shared values",
    "x12": "the format engine",
    "payers": "who can be reached",
    "accounts": "vendors, sites, people",
    "inquiry": "what inquiries share",
    "code_files": "files of code lists",
    "claims": "fields, rules, lifecycle",
    "payments": "835: what was paid",
    "eligibility": "270 and 271",
    "enrollment": "providers with payers",
    "events": "what happened",
    "proofs": "proofs of filing",
    "store": "the database",
    "connect": "connections to payers",
    "engine": "durable work",
    "pdf": "files to print",
    "pipeline": "the verbs",
    "api": "HTTP and Vendor API V3",
    "console": "pages for people",
    "sftp_server": "files of sites by SFTP",
    "cli": "the commands",
    "programs": "processes beside a node",
    "wiring": "builds an installation",
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
    "batch-life.svg": batch_life,
    "enrollment-life.svg": enrollment_life,
    "packages.svg": packages,
}
