"""Query parameters of ``/clearlane/v1``: how their texts are read, with a sentence that says what would pass."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from clearlane.api.frame.endpoint import SEVERAL, Call, Endpoint, Parameter
from clearlane.api.frame.errors import ParameterFault, RequestRefusal
from clearlane.api.v1.cursors import CURSOR_CHARACTERS_MAX, decode_cursor
from clearlane.kernel.list_filter import (
    AMOUNT_PATTERN,
    BILL_TYPE_PATTERN,
    COMBINATIONS_MAX,
    SEVERAL_TYPES,
    TEXT_CHARACTERS_MAX,
    TOO_MANY_COMBINATIONS,
    WITH_COMMAS,
    FilterFault,
    FilterType,
    count_combinations,
    read_filter,
    read_several,
)

LIST_ROWS_DEFAULT, LIST_ROWS_MAX = 100, 500

T = TypeVar("T")


def optional(
    name: str, help: str, read: Callable[[str], T], schema: Mapping[str, object] | None = None
) -> Parameter:
    """Return a parameter that may be left out: None then, else what ``read`` makes of its text."""

    def read_text(text: str | None, endpoint: Endpoint) -> T | None:
        try:
            return None if text is None else read(text)
        except FilterFault as fault:
            raise ParameterFault(str(fault)) from None

    return Parameter(
        name=name, help=help, read=read_text, schema=schema or TEXT_SCHEMA, required=False
    )


def filter_parameter(
    type: FilterType, name: str, help: str, choices: Sequence[str] = ()
) -> Parameter:
    """Return the parameter of a filter that takes one value, by its type; ``choices`` are the words of a choice."""
    schema = {"type": "string", "enum": list(choices)} if choices else SCHEMAS[type]
    return optional(name, help, lambda text: read_filter(type, text, choices), schema)


def list_filter_parameter(
    type: FilterType, name: str, help: str, choices: Sequence[str] = ()
) -> Parameter:
    """Return the parameter of a list's filter. Words and texts may be several: given again, words also with commas.

    Its value is a tuple then, and a row passes that has one of them.
    """
    if type not in SEVERAL_TYPES:
        return filter_parameter(type, name, help, choices)

    def read(text: str) -> object:
        return read_several(type, name, text.split(SEVERAL), choices)

    one = {"type": "string", "enum": list(choices)} if choices else SCHEMAS[type]
    how = " It may have commas: several are given again." if name in WITH_COMMAS else ""
    found = optional(name, help + how, read, {"anyOf": [one, {"type": "array", "items": one}]})
    return replace(found, takes_several=True)


def require_few(call: Call) -> None:
    """Refuse filters whose values have too many combinations."""
    if count_combinations(call.parameters) <= COMBINATIONS_MAX:
        return
    names = [name for name, value in call.parameters.items() if isinstance(value, tuple)]
    raise RequestRefusal(
        call.errors.invalid_fields({name: [TOO_MANY_COMBINATIONS] for name in names})
    )


def words_parameter(name: str, help: str, choices: Sequence[T]) -> Parameter:
    """Return a parameter of several words, with commas between them or given again: a set of the choices."""
    by_word = {str(one): one for one in choices}

    def read(text: str) -> frozenset[T]:
        words = [word.strip().lower() for word in text.split(",")]
        if not all(word in by_word for word in words):
            raise ParameterFault(
                f"One or more of {', '.join(by_word)} is expected, with commas between them."
            )
        return frozenset(by_word[word] for word in words)

    schema = {"type": "string", "examples": [",".join(by_word)]}
    return optional(name, help, read, schema)


def _read_limit(text: str | None, endpoint: Endpoint) -> int:
    if text is None:
        return LIST_ROWS_DEFAULT
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= LIST_ROWS_MAX):
        raise ParameterFault(f"A whole number from 1 to {LIST_ROWS_MAX} is expected.")
    return int(text[:9])


def page(
    of_list: str, *filters: Parameter, parts: int = 1, position: Callable[..., object] = str
) -> Sequence[Parameter]:
    """Return the parameters of a list: its filters, ``limit``, and ``after``, read from a cursor with this number of parts."""

    def read_after(text: str | None, endpoint: Endpoint) -> object:
        return None if text is None else position(*decode_cursor(of_list, text, parts=parts))

    after = Parameter(
        name="after",
        help="The `next` of the page before; leave it out for the first page.",
        read=read_after,
        schema={"type": "string", "maxLength": CURSOR_CHARACTERS_MAX},
        required=False,
    )
    return (*filters, LIMIT, after)


TEXT_SCHEMA = {"type": "string", "minLength": 1, "maxLength": TEXT_CHARACTERS_MAX}
SCHEMAS: Mapping[FilterType, Mapping[str, object]] = {
    FilterType.TEXT: TEXT_SCHEMA,
    FilterType.DAY: {"type": "string", "format": "date"},
    FilterType.MOMENT: {"type": "string", "format": "date-time"},
    FilterType.AMOUNT: {
        "type": "string",
        "pattern": f"^{AMOUNT_PATTERN}$",
        "examples": ["150.25"],
    },
    FilterType.FLAG: {"type": "string", "enum": ["true", "false"]},
    FilterType.BILL_TYPE: {
        "type": "string",
        "pattern": f"^{BILL_TYPE_PATTERN}$",
        "examples": ["111"],
    },
}

DRY_RUN = filter_parameter(
    FilterType.FLAG, "dry_run", "`true` shows what would be sent, and stores nothing."
)
"""Of calls that send a claim."""
LIMIT = Parameter(
    name="limit",
    help=f"How many rows a page has at most, 1 to {LIST_ROWS_MAX}; {LIST_ROWS_DEFAULT} when left out.",
    read=_read_limit,
    schema={
        "type": "integer",
        "minimum": 1,
        "maximum": LIST_ROWS_MAX,
        "default": LIST_ROWS_DEFAULT,
    },
    required=False,
)
