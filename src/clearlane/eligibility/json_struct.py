"""The base of the JSON objects of Vendor API V3, whose names are also those of the eligibility request.

Each is a frozen msgspec struct whose attributes are the names in the JSON. It prints which fields are
filled, never their content, and provides its JSON schema for the OpenAPI document.

Knows no field by name.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_type_hints

import msgspec
from pydantic_core import core_schema

from clearlane.kernel.redacted_repr import show_filled

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler


class EligibilityType(StrEnum):
    """The JSON type of a request field."""

    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    BIRTH_DATE = "birth date"
    TEXTS = "texts"
    OBJECT = "object"
    OBJECTS = "objects"


@dataclass(frozen=True, slots=True)
class EligibilityField:
    """The catalogue entry of a request field, in its annotation."""

    label: str
    type: EligibilityType = EligibilityType.TEXT
    max_length: int | None = None
    """The number of characters that X12 can carry."""
    required: bool = False
    required_when: str = ""
    """The condition under which an optional field is required."""


class JsonStruct(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON object of Vendor API V3."""

    SCHEMA_PREFIX: ClassVar[str] = "Eligibility"
    """The prefix of its name in the OpenAPI document, since other packages have payers too."""

    __repr__ = show_filled

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: "GetCoreSchemaHandler"
    ) -> core_schema.CoreSchema:
        """Return the schema from which pydantic generates the OpenAPI document."""
        hints = get_type_hints(cls, include_extras=True)
        fields = {
            name: _schema_field(hints[name], handler)
            for name in cls.__struct_fields__
            if hints[name] is not msgspec.UnsetType
        }
        name = cls.SCHEMA_PREFIX + _AFFIX.sub("", cls.__name__.removeprefix(cls.SCHEMA_PREFIX))
        ref = f"{cls.__module__}.{name}:{id(cls)}"
        updates: dict[str, Any] = {
            "pydantic_js_updates": {"title": name, "description": cls.__doc__}
        }
        return core_schema.typed_dict_schema(fields, cls=cls, ref=ref, metadata=updates)


def eligibility_fields(struct: type[JsonStruct]) -> dict[str, EligibilityField]:
    """Return the catalogue entries of a struct by field name."""
    hints = get_type_hints(struct, include_extras=True)
    return {name: spec for name in struct.__struct_fields__ if (spec := _find_field(hints[name]))}


def nested_struct(struct: type[JsonStruct], name: str) -> type[JsonStruct]:
    """Return the struct type that a field holds, once or as an array."""
    found = _find_struct(get_type_hints(struct)[name])
    assert found is not None, f"{name} holds a struct"
    return found


# Parts of class names that the OpenAPI document does without: ``RequestPayer``, ``PayerJson``.
_AFFIX = re.compile(r"^Request(?=[A-Z])|Json$")


def _schema_field(hint: Any, handler: "GetCoreSchemaHandler") -> core_schema.TypedDictField:
    spec = _find_field(hint)
    may_be_absent = msgspec.UnsetType in get_args(hint)
    if may_be_absent:
        hint = next(kind for kind in get_args(hint) if kind is not msgspec.UnsetType)
    if spec is None:
        return core_schema.typed_dict_field(
            handler.generate_schema(hint), required=not may_be_absent
        )
    schema = _SCHEMAS[spec.type] if spec.type in _SCHEMAS else handler.generate_schema(hint)
    if not spec.required and type(None) not in get_args(get_args(hint)[0]):
        schema = core_schema.nullable_schema(schema)
    sentences = [
        f"{spec.label}.",
        _DESCRIPTIONS.get(spec.type, ""),
        f"At most {spec.max_length} characters." if spec.max_length else "",
        f"Required when {spec.required_when}." if spec.required_when else "",
    ]
    updates: dict[str, Any] = {"description": " ".join(filter(None, sentences))}
    if spec.required:
        updates |= _NOT_EMPTY[spec.type]
    metadata: dict[str, Any] = {"pydantic_js_updates": updates}
    return core_schema.typed_dict_field(schema, required=spec.required, metadata=metadata)


# What the JSON schema adds to the Python type.
_DESCRIPTIONS = {EligibilityType.BIRTH_DATE: "Written yyyy-mm-dd or yyyy/mm/dd."}
_SCHEMAS = {EligibilityType.BIRTH_DATE: core_schema.nullable_schema(core_schema.str_schema())}
_NOT_EMPTY: dict[EligibilityType, dict[str, int]] = {
    EligibilityType.TEXT: {"minLength": 1},
    EligibilityType.OBJECTS: {"minItems": 1},
}


def _find_field(hint: Any) -> EligibilityField | None:
    return next(
        (found for found in get_args(hint)[1:] if isinstance(found, EligibilityField)), None
    )


def _find_struct(hint: Any) -> type[JsonStruct] | None:
    if isinstance(hint, type) and issubclass(hint, JsonStruct):
        return hint
    return next(filter(None, map(_find_struct, get_args(hint))), None)
