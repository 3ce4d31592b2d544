"""What ``repr`` shows of values that hold patient data or secrets: logs, tests and exceptions may print them."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")


def shows(*names: str) -> Callable[[type[T]], type[T]]:
    """Return a class decorator that lets ``repr`` show these attributes of a value, and nothing else."""
    getters = [attrgetter(name) for name in names]

    def show(value: object) -> str:
        return f"{type(value).__name__}({' '.join(str(get(value)) for get in getters)})"

    def decorate(cls: type[T]) -> type[T]:
        cls.__repr__ = show  # type: ignore[method-assign]
        return cls

    return decorate


def show_filled(value: Any) -> str:
    """Return the ``repr`` of a struct: the names of the fields that hold something, without what they hold."""
    filled = [name for name in value.__struct_fields__ if getattr(value, name)]
    return f"{type(value).__name__}({', '.join(filled)})"
