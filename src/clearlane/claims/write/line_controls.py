"""The control numbers of a claim's service lines (``REF*6R``), by which answers of payers find them.

Knows the form of a claim; knows no place in a file.
"""

from clearlane.claims.claim_form import field_at
from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.claims.x12_claim import X12Claim
from clearlane.x12.tree import get_element

__all__ = ["given_controls", "line_controls"]

LINE, CONTROL = "LX", ["REF", "6R"]
"""How a line of an 837 begins, and the segment of its control number."""


def given_controls(claim: Claim) -> list[str]:
    """Return the line control numbers that the caller chose, each once."""
    return list(dict.fromkeys(control for control in _given(claim) if control))


def line_controls(claim: Claim, number: str) -> list[str]:
    """Return the control number of each line: the caller's if given, else the claim number and the line's number.

    Lines of a file go out as they came: one without a number has none.
    """
    given = _given(claim)
    if isinstance(claim, X12Claim):
        return [control or "" for control in given]
    if not any(given):
        return [f"{number}-{at}" for at in range(1, len(given) + 1)]
    taken = {control for control in given if control}
    return [control or _control(number, at, taken) for at, control in enumerate(given, 1)]


def _given(claim: Claim) -> list[str | None]:
    if isinstance(claim, X12Claim):
        return _given_in_segments(claim)
    form = form_of(claim)
    field = field_at(form, "lines[].control_number")
    return [line.__dict__.get(field) for line in form.lines(claim)]


def _given_in_segments(claim: X12Claim) -> list[str | None]:
    """Read the numbers as the view has them. All claims of a batch are asked, and their views would cost more than its file."""
    given: list[str | None] = []
    for segment in claim.parts[-1].segments:
        if segment[0] == LINE:
            given.append(None)
        elif segment[:2] == CONTROL and given and not given[-1]:
            given[-1] = get_element(segment, 2) or None
    return given


def _control(number: str, line: int, taken: set[str]) -> str:
    control = f"{number}-{line}"
    while control in taken:
        control += "X"
    return control
