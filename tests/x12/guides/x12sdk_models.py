"""The models of x12sdk as rows that can be compared with a guide: loops, segments in them, codes of elements."""

import types
import typing
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

MODELS = {
    "270": "x12_270_005010X279A1",
    "271": "x12_271_005010X279A1",
    "276": "x12_276_005010X212",
    "277": "x12_277_005010X212",
    "835": "x12_835_005010X221A1",
    "837P": "x12_837_005010X222A2",
    "837I": "x12_837_005010X223A3",
}
WRAPPERS = {"header", "footer"}


def transaction_model(kind: str) -> type[BaseModel]:
    """Return the model of a whole transaction."""
    module = import_module(f"x12sdk.v5010.{MODELS[kind]}.transaction_set")
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, BaseModel)
        and "header" in value.model_fields
    ]
    (model,) = found
    return model


def walk(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, str, FieldInfo]]:
    """Yield loops and segments below a model: path of the loop around, name, and the field that holds them."""
    for name, field in model.model_fields.items():
        if name in WRAPPERS:
            yield from walk(_models(field.annotation)[0], path)
        elif name.startswith("loop_"):
            id = name.removeprefix("loop_").upper()
            yield path, id, field
            yield from walk(_models(field.annotation)[0], f"{path}{id}/")
        elif name.endswith("_segment"):
            yield path, name.removesuffix("_segment").split("_")[0].upper(), field


def elements(field: FieldInfo) -> dict[int, tuple[set[str], bool]]:
    """Return the codes of each element of a segment field, and whether each is required, over all its models."""
    found: dict[int, tuple[set[str], bool]] = {}
    known: dict[int, int] = {}
    models = _models(field.annotation)
    for model in models:
        fields = [
            f for n, f in model.model_fields.items() if n not in {"delimiters", "segment_name"}
        ]
        for number, element in enumerate(fields, 1):
            codes = _codes(element.annotation)
            before, required = found.get(number, (set(), True))
            found[number] = (before | codes, required and element.is_required())
            known[number] = known.get(number, 0) + bool(codes)
    # A model that leaves an element open leaves it open for all.
    return {
        number: (codes if known[number] == len(models) else set(), required)
        for number, (codes, required) in found.items()
    }


def is_required(field: FieldInfo) -> bool:
    """Return whether a loop or segment must occur."""
    return field.is_required()


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Return the models in an annotation: List[Union[A, B]], Optional[A], A."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in typing.get_args(annotation) for model in _models(part)]


def _codes(annotation: Any) -> set[str]:
    """Return the codes that an annotation allows; empty if it allows any text."""
    if typing.get_origin(annotation) is typing.Literal:
        return set(typing.get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {member.value for member in annotation}
    if typing.get_origin(annotation) in {typing.Union, types.UnionType}:
        parts = [part for part in typing.get_args(annotation) if part is not type(None)]
        codes = [_codes(part) for part in parts]
        return set().union(*codes) if all(codes) else set()
    return set()
