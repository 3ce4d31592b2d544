"""The levels of each patient in a 271, and one patient's part of it as a complete file.

A patient's part includes the levels above it, so that of a dependent includes the subscriber. It leaves other
patients out, because a file is shown to one patient's vendor only.

Knows the levels of a 271; knows no request and no response.
"""

from collections.abc import Iterator
from typing import NamedTuple

from clearlane.x12 import tree
from clearlane.x12.reader.extract import ExtractSpec, extract_loops
from clearlane.x12.views import benefits

LEVELS = ("2000A", "2000B", "2000C", "2000D")
PATIENT_PART = ExtractSpec(repeated=frozenset(LEVELS))


class PatientLevels(NamedTuple):
    """The levels of one patient. A level that refuses the inquiry has none below it."""

    at: tuple[int, ...]
    """The index of each level's loop in its parent, outermost first."""
    source: benefits.InformationSourceView | None = None
    receiver: benefits.InformationReceiverView | None = None
    subscriber: benefits.MemberView | None = None
    dependent: benefits.MemberView | None = None


def patient_levels(view: benefits.EligibilityView) -> Iterator[PatientLevels]:
    """Yield the levels of every patient in a 271; a source or receiver without patients is yielded alone."""
    if not view.sources:
        yield PatientLevels(())
    for a, source in enumerate(view.sources):
        if not source.receivers:
            yield PatientLevels((a,), source)
        for b, receiver in enumerate(source.receivers):
            if not receiver.subscribers:
                yield PatientLevels((a, b), source, receiver)
            for c, subscriber in enumerate(receiver.subscribers):
                yield from _subscriber_patients(
                    PatientLevels((a, b, c), source, receiver, subscriber), subscriber
                )


def _subscriber_patients(
    levels: PatientLevels, subscriber: benefits.MemberView
) -> Iterator[PatientLevels]:
    """Yield the patients of a subscriber's level.

    Benefits of the subscriber beside one dependent stay with that dependent; beside several they are yielded alone.
    """
    dependents = subscriber.dependents
    has_own = subscriber.benefits or subscriber.refusals
    if not dependents or (has_own and len(dependents) > 1):
        yield levels
    for at, dependent in enumerate(dependents):
        yield levels._replace(at=(*levels.at, at), dependent=dependent)


def count_transaction_refusals(set: tree.TransactionSet, at: tuple[int, ...]) -> int:
    """Return how many AAA segments are in loop 2000A itself, before those in 2100A."""
    sources = list(set.root.loops(LEVELS[0]))
    if not at or at[0] >= len(sources):
        return 0
    return sum(1 for _ in sources[at[0]].segments("AAA"))


def extract_patient(set: tree.TransactionSet, at: tuple[int, ...]) -> bytes:
    """Return a file with the one patient at ``at``, its HL segments renumbered."""
    around = [set.root]
    for nth in at:
        around.append(list(around[-1].loops(*LEVELS))[nth])
    return extract_loops(set, around, (), PATIENT_PART)
