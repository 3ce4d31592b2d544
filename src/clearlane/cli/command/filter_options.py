"""Options of a command that come from the table of a list's filters, so that a new filter is one row there.

Knows what typer reads of a function; knows no filter.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from clearlane.cli.command.client_command import usage_error
from clearlane.kernel.list_filter import FilterFault, FilterType, read_filter

if TYPE_CHECKING:
    from clearlane.claims.claim_filters import ClaimFilter
    from clearlane.store.payments.payment_query import PaymentFilter

METAVARS = {
    FilterType.CHOICE: "WORD",
    FilterType.TEXT: "TEXT",
    FilterType.DAY: "YYYY-MM-DD",
    FilterType.AMOUNT: "AMOUNT",
    FilterType.MOMENT: "TIME",
}
F = TypeVar("F", bound=Callable[..., Any])


def filter_options(
    filters: "Iterable[ClaimFilter | PaymentFilter]",
) -> Callable[[F], F]:
    """Let typer read an option for each filter before those of a function, which takes them as ``**filters``."""
    added = [_option(one) for one in filters]

    def declare(function: F) -> F:
        own = inspect.signature(function)
        kept = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        vars(function)["__signature__"] = own.replace(parameters=[*added, *kept])
        function.__annotations__ = {one.name: one.annotation for one in (*added, *kept)}
        return function

    return declare


def read_options(
    filters: "Iterable[ClaimFilter | PaymentFilter]", given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of the options that were given; refuse one that cannot be read."""
    found = {}
    for one in filters:
        value = given.get(one.name)
        try:
            found[one.name] = (
                read_filter(one.type, value, one.choices) if isinstance(value, str) else value
            )
        except FilterFault as fault:
            usage_error(f"{one.option or option_of(one.name)}: {fault}")
    return found


def option_of(name: str) -> str:
    """Return the option of a filter by its name."""
    return f"--{name.replace('_', '-')}"


def _option(one: "ClaimFilter | PaymentFilter") -> inspect.Parameter:
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
