"""Which of our claims a response means.

A response names a claim by CLM01 as it was sent (CLP01, TRN02), perhaps by our own number (``REF*D9``), and
its lines by their control numbers (``REF*6R``), which hold our number unless the caller gave them. The
candidates are looked up elsewhere, for the payer that answers:

    for number in numbers(response): ...          # our claim numbers that it may mean
    found = choose(response, candidates)          # one of the candidates, or why none

A wrong match would show one client's money to another, so everything a response says must agree, and two
candidates that fit are none. Knows keys; knows no database.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import msgspec


class Named(Protocol):
    """What a response calls a claim by."""

    @property
    def account(self) -> str: ...
    @property
    def trace(self) -> str: ...
    @property
    def controls(self) -> tuple[str, ...]: ...


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that was sent to the payer."""

    number: str
    """Our claim number."""
    account: str
    """CLM01 as it was sent."""
    controls: frozenset[str] = frozenset()
    """``REF*6R`` of its lines as they were sent."""

    def __repr__(self) -> str:
        return f"Candidate({self.number})"


class Nobody(msgspec.Struct, frozen=True):
    """No claim, and why not."""

    reason: str


UNKNOWN = Nobody("No claim with these numbers was sent to this payer.")
CONTRADICTORY = Nobody(
    "The claim number and the line numbers of the response name different claims."
)
AMBIGUOUS = Nobody("Several claims fit the numbers of the response.")


def numbers(named: Named) -> list[str]:
    """The numbers under which one of our claims may be found, the surest first."""
    found = dict.fromkeys(filter(None, (named.trace, named.account)))
    for control in named.controls:
        if number := number_in(control):
            found.setdefault(number)
    return list(found)


def number_in(control: str) -> str:
    """The claim number in a line control number of our own making; empty where it is another's."""
    number, dash, line = control.rpartition("-")
    return number if dash and line.rstrip("X").isdigit() else ""


def choose(named: Named, candidates: Iterable[Candidate]) -> Candidate | Nobody:
    """The one candidate that the response means."""
    known = list({candidate.number: candidate for candidate in candidates}.values())
    fitting = [one for one in known if any(_witnesses(named, one))]
    if not fitting:
        return UNKNOWN
    # The more witnesses speak for a claim and none against it, the surer it is.
    sound = [one for one in fitting if all(_witnesses(named, one))]
    if not sound:
        return CONTRADICTORY
    best = max(_weight(named, one) for one in sound)
    surest = [one for one in sound if _weight(named, one) == best]
    return surest[0] if len(surest) == 1 else AMBIGUOUS


def lines(named: Named, controls: Sequence[str]) -> list[int]:
    """For each line control number of the response the line of the claim, from 1; 0 for an unknown one."""
    at = {control: number for number, control in enumerate(controls, 1)}
    return [at.get(control, 0) for control in named.controls]


def _witnesses(named: Named, one: Candidate) -> Iterator[bool]:
    """What each thing that the response says thinks of a candidate."""
    if named.trace:
        yield named.trace == one.number
    if named.account:
        yield named.account in {one.account, one.number}
    # A payer may bundle lines into one of its own, so a single line of ours is enough.
    if named.controls and one.controls:
        yield not one.controls.isdisjoint(named.controls)


def _weight(named: Named, one: Candidate) -> int:
    return sum(_witnesses(named, one))
