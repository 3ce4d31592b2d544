"""The terminal a command prints to: how wide it is, whether it shows colors, and what the reader chose.

``--wide`` and ``--no-color`` work on every command; ``NO_COLOR`` is https://no-color.org. A pipe or a file has no
width: nothing is wrapped or left out there, unless ``COLUMNS`` says so.
"""

import os
import sys
from dataclasses import dataclass, replace

import typer

WIDTH_COLUMNS_MIN = 20
"""Nothing is laid out for less: a smaller value of COLUMNS is an accident."""


@dataclass(frozen=True, slots=True)
class OutputChoices:
    """What the reader chose for the output of a command."""

    wide: bool = False
    plain: bool = False


_choices = OutputChoices()


def choose(*, wide: bool = False, plain: bool = False, reset: bool = False) -> None:
    """Add to the choices of this command; ``reset`` forgets those of a command before it."""
    global _choices  # noqa: PLW0603  (one process runs one command; tests run several)
    before = OutputChoices() if reset else _choices
    _choices = replace(before, wide=before.wide or wide, plain=before.plain or plain)


def output_width(*, err: bool = False) -> int | None:
    """Return how many characters fit on a line of standard output, or of the error stream; None is no limit."""
    if _choices.wide:
        return None
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return max(int(given), WIDTH_COLUMNS_MIN)
    stream = sys.stderr if err else sys.stdout
    try:
        return max(os.get_terminal_size(stream.fileno()).columns, WIDTH_COLUMNS_MIN)
    except (OSError, ValueError, AttributeError):  # no terminal, or a stream without a file
        return None


def shows_color() -> bool:
    """Return whether colors may be printed on standard output."""
    if _choices.plain or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def colored(text: str, color: str) -> str:
    """Return a text in a color if colors are shown; no color is named by an empty text."""
    return typer.style(text, fg=color) if color and shows_color() else text


def dimmed(text: str) -> str:
    """Return a text that is dimmed if colors are shown."""
    return typer.style(text, dim=True) if text and shows_color() else text


def bold(text: str) -> str:
    """Return a text that is emphasized if colors are shown."""
    return typer.style(text, bold=True) if text and shows_color() else text
