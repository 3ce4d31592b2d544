"""Match the lines of a claim payment to the service lines of the claim that was sent.

A line is known by its control number (``REF*6R``). If the payer returns none, or one that we never sent, the
procedure decides, without its modifiers, which payers change: first the procedure that was billed (SVC06), then the
one that was paid; if there are several such lines, the one with the same charge, else the first that is left. A payer may split
a line into several, so a line may be meant twice by its control number. Knows no form of a claim.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from clearlane.payments.payment import PaidLine


class SentLine(NamedTuple):
    """A service line of the claim as it was sent."""

    control: str
    procedure: str
    charge: int


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
        charged = [number for number in same if sent[number - 1].charge == line.charge]
        if same:
            return (charged or same)[0]
    return 0
