"""What is wrong with the words of a command: every fault at once, in lines of the terminal's width, with an example.

The library stops at the first argument or option that it cannot use, and says so in one line of any length. Knows no
command.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import typer

from clearlane.cli.command.table import wrapped
from clearlane.cli.command.terminal import output_width

ERROR = "Error: "
"""What the library writes before the first line."""
HELP_OPTION = "--help"
_FAULTS = (
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"\1 or more is expected."),
    (re.compile(r"Input should be less than or equal to (\S+)"), r"\1 or less is expected."),
    (re.compile(r"Input should be a valid integer, .+"), "A whole number is expected."),
    (re.compile(r"Input should be a valid number, .+"), "A number is expected."),
)
_EXTRA = re.compile(r"Got unexpected extra arguments? ?(?:\(s\) )?\((?P<words>.+)\)")
SEARCHES: Mapping[tuple[str, str], str] = {
    ("claim", "list"): "clearlane claim find",
    ("claim", "status"): "clearlane claim find",
    ("payer", "list"): "clearlane payer search",
    ("payment", "list"): "clearlane payment list --trace",
}
"""Lists that take options alone, and the command that looks for a text."""

UsageError: Any = typer.BadParameter.__base__
"""The library's own, or that of click, on which its earlier releases are built."""


def find_every_fault(command: Any) -> None:
    """Let a command name all of its missing and wrong arguments and options, not the first alone."""
    command.parse_args = partial(_parse_args, command, command.parse_args)


def _parse_args(command: Any, parse: Callable[..., list[str]], ctx: Any, args: list[str]) -> Any:
    try:
        return parse(ctx, [*args])
    except typer.BadParameter as first:
        faults = _faults(command, ctx, args) or [first]
    if len(faults) == 1:
        raise faults[0]
    raise UsageError("\n".join(map(_sentence, faults)), ctx)


def _faults(command: Any, ctx: Any, args: list[str]) -> list[typer.BadParameter]:
    options, rest, _ = command.make_parser(ctx).parse_args(args=[*args])
    found = []
    for one in command.get_params(ctx):
        try:
            one.handle_parse_result(ctx, options, rest)
        except typer.BadParameter as fault:
            found.append(fault)
    return found


def say_plainly(fault: Any) -> Any:
    """Return a fault in our words, in lines that fit, with an example of the command if one helps."""
    if type(fault).__name__ == "NoArgsIsHelpError":  # not a fault: the help text
        return fault
    said = _sentence(fault).splitlines()
    if fault.ctx and not hasattr(fault.ctx.command, "commands"):
        said.append(example_of(fault.ctx.command.help or ""))
    width = output_width(err=True)
    lines = [
        line
        for at, text in enumerate(filter(None, said))
        for line in (_wrapped(text, width, ERROR) if not at else _wrapped(text, width, ""))
    ]
    return UsageError("\n".join(lines), fault.ctx)


def example_of(help: str) -> str:
    """Return the first example of a command's help, as its help begins it; empty without any."""
    found = re.search(r"Examples?: (.+?)(?:;\s|\n\s*\n|$)", help, re.DOTALL)
    return f"Example: {' '.join(found[1].split())}" if found else ""


def plain_fault(message: str) -> str:
    """Return what is wrong with a value, in our words if the library's are known."""
    said = message.removeprefix("Value error, ")
    for pattern, words in _FAULTS:
        if found := pattern.fullmatch(said):
            return found.expand(words)
    return said


def _sentence(fault: Any) -> str:
    """Return what one fault says, in our words."""
    if hasattr(fault, "possibilities"):
        near = [one for one in fault.possibilities or () if one != HELP_OPTION]
        perhaps = f" Perhaps: {', '.join(sorted(near))}." if near else ""
        return f"There is no option {fault.option_name}.{perhaps}"
    if isinstance(fault, typer.BadParameter):
        fault.message = plain_fault(fault.message)
    said = str(fault.format_message())
    extra = _EXTRA.fullmatch(said)
    return _unexpected(extra["words"], fault.ctx) if extra else said


def _unexpected(words: str, ctx: Any) -> str:
    """Return what is said of words that a command does not take, and what looks for them."""
    params = ctx.command.params
    taken = [str(one.metavar) for one in params if one.param_type_name == "argument"]
    takes = f"after {' '.join(taken)}" if taken else "here: the command takes options only"
    path = tuple(ctx.command_path.split()[-2:])
    search = f"\nPerhaps: {SEARCHES[path]} {words}" if path in SEARCHES else ""
    return f"{words!r} is not expected {takes}.{search}"


def _wrapped(text: str, width: int | None, before: str) -> list[str]:
    """Return a line as it is if it fits, else in several; what is written before it is not part of it."""
    if width is None or len(before) + len(text) <= width:
        return [text]
    indent = len(text) - len(text.lstrip())
    lines = wrapped(text.lstrip(), before or " " * indent, width, indent)
    return [lines[0].removeprefix(before), *lines[1:]]
