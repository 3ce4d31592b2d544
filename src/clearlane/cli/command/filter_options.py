"""Options of a command that come from the table of a list's filters, so that a new filter is one row there.

Knows what typer reads of a function; knows no filter.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Literal, TypeVar

import typer

METAVARS = {"day": "YYYY-MM-DD"}
FLAG = "flag"
F = TypeVar("F", bound=Callable[..., Any])


def filter_option(
    name: str,
    type: str,
    help: str,
    *,
    option: str = "",
    choices: Sequence[str] = (),
    metavar: str | None = None,
) -> inspect.Parameter:
    """Return one option: a flag, one of some words, or a text."""
    declared = typer.Option(
        option or f"--{name.replace('_', '-')}",
        help=help,
        metavar=metavar or METAVARS.get(type),
    )
    kind: Any = bool if type == FLAG else (Literal[*choices] if choices else str) | None
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if type == FLAG else None,
        annotation=Annotated[kind, declared],
    )


def with_options(options: Iterable[inspect.Parameter]) -> Callable[[F], F]:
    """Let typer read these options before those of a function, which takes them as ``**filters``."""
    added = list(options)

    def declare(function: F) -> F:
        own = inspect.signature(function)
        kept = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        vars(function)["__signature__"] = own.replace(parameters=[*added, *kept])
        function.__annotations__ = {one.name: one.annotation for one in (*added, *kept)}
        return function

    return declare
