"""What ``repr`` shows of values that hold patient data or secrets: logs, tests and exceptions may print them."""

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")


def redact_repr(cls: type[T]) -> type[T]:
    """Make the ``repr`` of a dataclass name its filled fields and never their values."""

    def redacted(self: T) -> str:
        filled = (f.name for f in fields(self) if getattr(self, f.name) is not None)  # type: ignore[arg-type]  # the decorator is for dataclasses
        return f"{cls.__name__}({', '.join(filled)})"

    cls.__repr__ = redacted  # type: ignore[method-assign, assignment]  # what it is for
    return cls


def shows(*names: str) -> Callable[[type[T]], type[T]]:
    """Return a class decorator that lets ``repr`` show these attributes of a value, and nothing else."""
    getters = [attrgetter(name) for name in names]

    def show(value: object) -> str:
        return f"{type(value).__name__}({' '.join(str(get(value)) for get in getters)})"

    def decorate(cls: type[T]) -> type[T]:
        cls.__repr__ = show  # type: ignore[method-assign]  # what it is for
        return cls

    return decorate


def show_filled(value: Any) -> str:
    """Return the ``repr`` of a struct: the names of the fields that hold something, without what they hold."""
    filled = [name for name in value.__struct_fields__ if getattr(value, name)]
    return f"{type(value).__name__}({', '.join(filled)})"
