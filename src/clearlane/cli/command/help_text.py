"""Help texts in words: what is typed in place of a Python type, and bounds as numbers.

The library writes ``--scope <list[str]>``, ``[1<=x<=500]`` and ``{CLAIM} [[FIELD=VALUE]...]...``. Knows no command.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import typer

UNBROKEN_HYPHEN = "\u2011"
UNBROKEN_BLANK = "\xa0"
"""Take the place of a hyphen and a blank while lines are broken."""
TYPE_WORDS: Mapping[str, str] = {
    "str": "TEXT",
    "int": "NUMBER",
    "float": "NUMBER",
    "path": "PATH",
    "Path": "PATH",
}
"""What is typed for a type. The choices of an option stay: ``<on|off>``."""
_TYPE = re.compile(r" <(?:list\[(?P<each>.+)\]|(?P<one>[^>]+?)(?: range)?)>$")
_BOUNDS = re.compile(
    r"(?<=[\[ ])(?:(?P<low>[\d.]+)<=x<=(?P<high>[\d.]+)|x(?P<side>[<>])=(?P<bound>[\d.]+))(?=[];])"
)
_SIDES = {">": "at least", "<": "at most"}
_REQUIRED = re.compile(r"\{([^{}]+)\}")

_HelpFormatter: Any = typer.Context.formatter_class


class PlainHelpFormatter(_HelpFormatter):  # type: ignore[misc]  # its base is typer's, whatever that is
    """The library's formatter of help texts, in words, which never breaks a line within the name of an option."""

    def write_usage(self, prog: str, args: str = "", *more: Any, **options: Any) -> None:
        super().write_usage(prog, plain_usage(args), *more, **options)

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", UNBROKEN_HYPHEN))

    def write_dl(self, rows: Sequence[tuple[str, str]], *args: Any, **options: Any) -> None:
        shown = [(plain_name(name), plain_bounds(text)) for name, text in rows]
        unbroken = [(name, text.replace("-", UNBROKEN_HYPHEN)) for name, text in shown]
        super().write_dl(unbroken, *args, **options)

    def getvalue(self) -> str:
        text: str = super().getvalue()
        return text.replace(UNBROKEN_HYPHEN, "-").replace(UNBROKEN_BLANK, " ")


class HelpContext(typer.Context):
    """The context of a command, with our formatter of help texts."""

    formatter_class = PlainHelpFormatter


def show_plainly(command: Any) -> None:
    """Give a command, and those below it, our help texts; arguments are named in capitals there, and in what is said of them."""
    command.context_class = HelpContext
    for one in command.params:
        if one.param_type_name == "argument" and one.metavar is None:
            one.metavar = one.name.upper()
    for inner in getattr(command, "commands", {}).values():
        show_plainly(inner)


def plain_usage(pieces: str) -> str:
    """Return what follows a command, with brackets around what may be left out alone."""
    return _REQUIRED.sub(r"\1", pieces)


def plain_name(name: str) -> str:
    """Return an option with what is typed for it, or an argument, whose name says that already unless there are choices."""
    found = _TYPE.search(name)
    if found is None:
        return name
    named, type = name[: found.start()], found["each"] or found["one"]
    if "|" in type:
        return f"{named} <{type}>"
    return f"{named} {TYPE_WORDS[type]}" if named.startswith("-") else named


def plain_bounds(text: str) -> str:
    """Return a help text whose bounds of a number are in words."""
    return _BOUNDS.sub(_bounds, text)


def _bounds(found: re.Match[str]) -> str:
    words = (
        (_SIDES[found["side"]], found["bound"])
        if found["side"]
        else (found["low"], "to", found["high"])
    )
    return " ".join(words).replace(" ", UNBROKEN_BLANK)
