"""What the structures of the request and the response have in common.

A structure is a frozen msgspec struct whose attributes are the names on the wire. It prints which fields are
filled and never what they hold, and it can tell its JSON schema, so that the OpenAPI document is made from it.

Knows no field by name.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_type_hints

import msgspec
from pydantic import WithJsonSchema
from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler


class Kind(StrEnum):
    """How the JSON of a field is read."""

    TEXT = "text"
    FLAG = "boolean"
    DAY = "date"
    BIRTH = "birth date"
    TEXTS = "texts"
    PART = "object"
    PARTS = "objects"


@dataclass(frozen=True, slots=True)
class Line:
    """What a line of a catalogue says beside name and type."""

    label: str
    kind: Kind = Kind.TEXT
    max: int | None = None
    """How many characters X12 can carry."""
    required: bool = False
    when: str = ""
    """For a field that is required only sometimes: when."""


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON object of the interface."""

    SCHEMA: ClassVar[str] = "Eligibility"
    """What its name in the OpenAPI document begins with, since other rooms have payers too."""

    def __repr__(self) -> str:
        names = self.__struct_fields__
        filled = (
            name for name in names if getattr(self, name) not in (None, (), [], msgspec.UNSET)
        )
        return f"{type(self).__name__}({', '.join(filled)})"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: "GetCoreSchemaHandler"
    ) -> core_schema.CoreSchema:
        """The structure as pydantic, which draws the OpenAPI document, understands it."""
        hints = get_type_hints(cls, include_extras=True)
        fields = {name: _field(hints[name], handler) for name in cls.__struct_fields__}
        name = cls.SCHEMA + cls.__name__.removeprefix(cls.SCHEMA)
        ref = f"{cls.__module__}.{name}:{id(cls)}"
        told: dict[str, Any] = {"pydantic_js_updates": {"title": name, "description": cls.__doc__}}
        return core_schema.typed_dict_schema(fields, cls=cls, ref=ref, metadata=told)


def lines(shape: type[Shape]) -> dict[str, Line]:
    """The catalogue's lines of a structure, by field."""
    hints = get_type_hints(shape, include_extras=True)
    return {name: line for name in shape.__struct_fields__ if (line := _line(hints[name]))}


def inner(shape: type[Shape], name: str) -> type[Shape]:
    """The structure that a field holds, once or several times."""
    found = _inner(get_type_hints(shape)[name])
    assert found is not None, f"{name} holds a structure"
    return found


Number = Annotated[Decimal, WithJsonSchema({"type": "number"})]
"""An amount, written as a JSON number with its digits as they came."""
Stamp = Annotated[str, WithJsonSchema({"type": "string", "examples": ["2024-05-01T00:00:00"]})]
"""A day as the response writes it."""


def stamp(day: date) -> str:
    """A day in the response's form."""
    return f"{day.isoformat()}T00:00:00"


def _field(hint: Any, handler: "GetCoreSchemaHandler") -> core_schema.TypedDictField:
    line = _line(hint)
    absent = msgspec.UnsetType in get_args(hint)
    if absent:
        hint = next(kind for kind in get_args(hint) if kind is not msgspec.UnsetType)
    if line is None:
        return core_schema.typed_dict_field(handler.generate_schema(hint), required=not absent)
    schema = _TOLD[line.kind] if line.kind in _TOLD else handler.generate_schema(hint)
    if not line.required and type(None) not in get_args(get_args(hint)[0]):
        schema = core_schema.nullable_schema(schema)
    words = [
        f"{line.label}.",
        _WORDS.get(line.kind, ""),
        f"At most {line.max} characters." if line.max else "",
        f"Required when {line.when}." if line.when else "",
    ]
    told: dict[str, Any] = {"description": " ".join(filter(None, words))}
    if line.required:
        told |= _AT_LEAST_ONE[line.kind]
    metadata: dict[str, Any] = {"pydantic_js_updates": told}
    return core_schema.typed_dict_field(schema, required=line.required, metadata=metadata)


# What the JSON schema says of a kind beyond what its type says.
_WORDS = {Kind.BIRTH: "Written yyyy-mm-dd or yyyy/mm/dd."}
_TOLD = {Kind.BIRTH: core_schema.nullable_schema(core_schema.str_schema())}
_AT_LEAST_ONE: dict[Kind, dict[str, int]] = {
    Kind.TEXT: {"minLength": 1},
    Kind.PARTS: {"minItems": 1},
}


def _line(hint: Any) -> Line | None:
    return next((found for found in get_args(hint)[1:] if isinstance(found, Line)), None)


def _inner(hint: Any) -> type[Shape] | None:
    if isinstance(hint, type) and issubclass(hint, Shape):
        return hint
    return next(filter(None, map(_inner, get_args(hint))), None)
