"""A ``repr`` without field values, so that logs and tracebacks show no patient data."""

from dataclasses import fields
from typing import TypeVar

T = TypeVar("T")


def redact_repr(cls: type[T]) -> type[T]:
    """Make the ``repr`` of a dataclass name its filled fields and never their values."""

    def redacted(self: T) -> str:
        filled = (f.name for f in fields(self) if getattr(self, f.name) is not None)  # type: ignore[arg-type]
        return f"{cls.__name__}({', '.join(filled)})"

    cls.__repr__ = redacted  # type: ignore[method-assign, assignment]
    return cls
