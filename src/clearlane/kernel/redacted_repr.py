"""Keep what a value holds out of logs and tracebacks."""

from dataclasses import fields
from typing import TypeVar

T = TypeVar("T")


def discreet(cls: type[T]) -> type[T]:
    """Let a dataclass print which fields are filled, never what they hold."""

    def show(self: T) -> str:
        filled = (f.name for f in fields(self) if getattr(self, f.name) is not None)  # type: ignore[arg-type]
        return f"{cls.__name__}({', '.join(filled)})"

    cls.__repr__ = show  # type: ignore[method-assign, assignment]
    return cls
