"""Match the lines of a claim payment to the service lines of the claim that was sent.

A line is known by its control number (``REF*6R``). If the payer returns none, or one that we never sent, the
procedure decides, without its modifiers, which payers change: first the procedure that was billed (SVC06), then the
one that was paid, then the revenue code of a bill of a facility. Of several such lines it is the one with the same revenue code,
day and charge, as far as there is one, else the first that is left. A payer may split a line into several, so a line may be
meant twice by its control number. Knows no form of a claim.
"""

from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from msgspec.structs import replace

from clearlane.payments.payment import PaidLine


class SentLine(NamedTuple):
    """A service line of the claim as it was sent."""

    control: str
    procedure: str
    charge: int
    revenue_code: str = ""
    day: date | None = None


def number_lines(lines: Sequence[PaidLine], sent: Sequence[SentLine]) -> tuple[PaidLine, ...]:
    """Return the lines with their numbers in the claim, from 1; 0 for one that matches none."""
    by_control = {one.control: number for number, one in enumerate(sent, 1) if one.control}
    numbers = [by_control.get(line.line_control_number, 0) for line in lines]
    free = [number for number in range(1, len(sent) + 1) if number not in numbers]
    for at, line in enumerate(lines):
        if not numbers[at]:
            numbers[at] = _by_procedure(line, sent, free)
            if numbers[at]:
                free.remove(numbers[at])
    return tuple(
        replace(line, line_number=number) for line, number in zip(lines, numbers, strict=True)
    )


def _by_procedure(line: PaidLine, sent: Sequence[SentLine], free: Sequence[int]) -> int:
    for procedure in (line.submitted_procedure, line.procedure):
        same = [number for number in free if procedure and sent[number - 1].procedure == procedure]
        if same:
            return _closest(line, sent, same)
    same = [number for number in free if _has_revenue_code_alone(line, sent[number - 1])]
    return _closest(line, sent, same) if same else 0


def _has_revenue_code_alone(line: PaidLine, one: SentLine) -> bool:
    """Return whether a line was sent with the revenue code that was paid, and both have no procedure."""
    has_none = line.procedure in ("", line.revenue_code) and not one.procedure
    return has_none and line.revenue_code == one.revenue_code != ""


_LIKENESS: tuple[Callable[[PaidLine, SentLine], bool], ...] = (
    lambda line, one: line.revenue_code == one.revenue_code,
    lambda line, one: line.service_date == one.day,
    lambda line, one: line.charge == one.charge,
)
"""What tells lines with one procedure apart, the most telling first."""


def _closest(line: PaidLine, sent: Sequence[SentLine], numbers: Sequence[int]) -> int:
    """Return the first of some lines that are most like the paid one."""
    for is_like in _LIKENESS:
        like = [number for number in numbers if is_like(line, sent[number - 1])]
        numbers = like or numbers
    return numbers[0]
