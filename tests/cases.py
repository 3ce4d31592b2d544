"""Many cases in one test.

A test of many small cases costs more in pytest's bookkeeping than in the cases. `every_case` is written
like ``pytest.mark.parametrize`` and runs all cases in one test: each that fails is named, the others run.
A case must leave nothing behind for the next one; where it uses a fixture with a state, parametrize.
"""

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")

SHOWN_CASES_MAX = 10
"""How many failed cases are shown in full; all are counted."""

PROFILE = os.environ.get("CLEARLANE_TEST_PROFILE", "")
IS_QUICK, IS_THOROUGH = PROFILE == "quick", PROFILE == "thorough"


def full_or_quick(full: int, quick: int) -> int:
    """Return how much is tried: by every run of the whole suite, or by `make quick`."""
    return quick if IS_QUICK else full


def by_profile(*, thorough: int, usual: int, quick: int) -> int:
    """Return how much is tried where all of it takes long: all by `make thorough`, a share by every run of the suite."""
    return thorough if IS_THOROUGH else full_or_quick(usual, quick)


def fewer_in_quick(cases: Iterable[Case], one_in: int) -> list[Case]:
    """Return the cases that are tried: every one, or by `make quick` one in so many."""
    return [*cases][:: full_or_quick(1, one_in)]


def every_case(
    names: str | Sequence[str],
    values: Iterable[object],
    ids: Callable[[object], object] | Iterable[object] | None = None,
) -> Callable[[Callable[..., object]], Callable[..., None]]:
    """Run a test for every value, as ``pytest.mark.parametrize`` would, and report all that fail."""
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    cases = [*_labelled(wanted, [*values], ids)]

    def decorate(test: Callable[..., object]) -> Callable[..., None]:
        signature = inspect.signature(test)
        rest = [one for name, one in signature.parameters.items() if name not in wanted]

        @wraps(test)
        def run(**fixtures: object) -> None:
            failed: list[Exception] = []
            skipped: list[str] = []
            for label, case, marks in cases:
                try:
                    for mark in marks:
                        pytest.skip(str(mark.kwargs.get("reason", "")))
                    test(**dict(zip(wanted, case, strict=True)), **fixtures)
                except pytest.skip.Exception as reason:
                    skipped.append(str(reason))
                except Exception as fault:
                    fault.add_note(f"Case: {label}")
                    failed.append(fault)
            if failed:
                counted = f"{len(failed)} of {len(cases)} cases failed"
                raise ExceptionGroup(counted, failed[:SHOWN_CASES_MAX])
            if len(skipped) == len(cases):
                pytest.skip(skipped[0] if skipped else "no cases")

        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]  # pytest reads it
        del run.__wrapped__
        return run

    return decorate


def _labelled(
    names: list[str],
    values: list[Any],
    ids: Callable[[object], object] | Iterable[object] | None,
) -> Iterator[tuple[str, tuple[object, ...], tuple[pytest.Mark, ...]]]:
    """Yield the label, the arguments and the skip marks of each case."""
    given = None if ids is None or callable(ids) else [*ids]
    for at, value in enumerate(values):
        marks: tuple[pytest.Mark, ...] = ()
        label = None
        if hasattr(value, "marks"):
            marks = tuple(one.mark if hasattr(one, "mark") else one for one in value.marks)
            label, case = value.id, tuple(value.values)
        else:
            case = (value,) if len(names) == 1 else tuple(value)
        if label is None and given is not None:
            label = given[at]
        if label is None and callable(ids):
            label = "-".join(str(ids(one)) for one in case)
        yield (str(label) if label is not None else repr(case)[:200]), case, marks
