"""Options of a command that come from the table of a list's filters, so that a new filter is one row there.

Knows what typer reads of a function; knows no filter.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

import typer

from clearlane.cli.command.client_command import usage_error
from clearlane.kernel.list_filter import (
    COMBINATIONS_MAX,
    TOO_MANY_COMBINATIONS,
    FilterType,
    ListFilter,
    count_combinations,
    read_filters,
)

METAVARS = {
    FilterType.CHOICE: "WORD",
    FilterType.TEXT: "TEXT",
    FilterType.DAY: "YYYY-MM-DD",
    FilterType.AMOUNT: "AMOUNT",
    FilterType.MOMENT: "TIME",
    FilterType.BILL_TYPE: "TYPE",
}


def filter_options(
    filters: Iterable[ListFilter[Any]], *, read: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let typer read an option for each filter before those of a command, which gets their values as ``where``.

    With ``read=False`` it gets their texts, which the service may read.
    """
    added = [_option(one) for one in filters]

    def declare(function: Callable[..., None]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            texts = {one.name: given.pop(one.name) for one in added}
            function(where=read_options(filters, texts) if read else texts, **given)

        own = inspect.signature(function).parameters.values()
        kept = [one.replace(kind=one.KEYWORD_ONLY) for one in own if one.name != "where"]
        command.__signature__ = inspect.Signature([*added, *kept])  # type: ignore[attr-defined]  # what inspect reads first
        command.__name__, command.__doc__ = function.__name__, function.__doc__
        return command

    return declare


def read_options(
    filters: Iterable[ListFilter[Any]],
    given: Mapping[str, Any],
    check: Callable[[Mapping[str, Any]], Mapping[str, str]] = lambda values: {},
    *,
    several: bool = False,
) -> dict[str, Any]:
    """Return the values of the options; refuse those that cannot be read, and what ``check`` finds, all at once.

    With ``several`` words may have commas between them: the value is a tuple then.
    """
    values, faults = read_filters(filters, given, several=several)
    faults |= check(given)
    if faults:
        names = {one.name: one.option or option_of(one.name) for one in filters}
        usage_error("\n".join(f"{names[name]}: {fault}" for name, fault in faults.items()))
    if count_combinations(values) > COMBINATIONS_MAX:
        usage_error(TOO_MANY_COMBINATIONS)
    return values


def option_of(name: str) -> str:
    """Return the option of a filter by its name."""
    return f"--{name.replace('_', '-')}"


def _option(one: ListFilter[Any]) -> inspect.Parameter:
    is_flag = one.type is FilterType.FLAG
    choices = f" One of {', '.join(one.choices)}." if one.choices else ""
    declared = typer.Option(
        one.option or option_of(one.name),
        help=one.help + choices,
        metavar=METAVARS.get(one.type),
    )
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if is_flag else None,
        annotation=Annotated[bool if is_flag else str | None, declared],
    )
