"""Changes that no test notices, and why: the judgement on what `make mutation` prints as survived.

A change is named by its file below `src/clearlane`, the outermost function around it, and the code before and after,
as printed. Where a function has the same change several times, the last column says which of them.
"""

from typing import NamedTuple

from tests.mutation.mutants import Mutant

PRODUCT = "src/clearlane/"


class Change(NamedTuple):
    """A change of one place, as a mutant is printed."""

    file: str
    function: str
    before: str
    after: str
    which: int = 1


Reasons = dict[str, tuple[Change, ...]]

EQUIVALENT: Reasons = {
    # x12
    # store/vault
    # claims/lifecycle
    # claims/rules
    "Every field of plain text has a longest length.": (
        Change("claims/rules/__init__.py", "_plan", "0", "1"),
    ),
    "What is gone through together has one length: one is made from the other.": (
        Change("claims/rules/places.py", "place_is_valid_on_the_day", "True", "False"),
        Change("payments/pdf/claim_table.py", "Amounts.plus", "True", "False"),
        Change("payments/pdf/benefits_pdf.py", "_add_groups", "True", "False"),
    ),
    # payments
    "Python reads the name of an encoding without its punctuation.": (
        Change("payments/cut_remittance.py", "cut_remittance", "'latin-1'", "'latin-1~'"),
        Change("payments/cut_remittance.py", "cut_remittance", "'latin-1'", "'latin-1~'", 2),
    ),
    "The caller asks only whether there is anything.": (
        Change("payments/payment_csv.py", "_claim_rest", "return {}", "return None"),
    ),
    "The first page is begun before this is asked.": (
        Change("payments/pdf/pages.py", "Pages.__init__", "False", "True"),
    ),
}
"""The program means the same, for any input. Such a change is left out of the share."""

UNNOTICED: Reasons = {
    # x12
    # store/vault
    # claims/lifecycle
    # claims/rules
    # payments
    "A guard against rows of another length than their heads, which no caller makes.": (
        Change("payments/pdf/benefits_pdf.py", "_add_groups", "True", "False", 2),
    ),
}
"""The program is another one, but no reader would want a test of the difference. Such a change has survived."""


def change_of(mutant: Mutant) -> Change:
    """Return the name of a mutant in these tables."""
    file = str(mutant.file).removeprefix(PRODUCT)
    return Change(file, mutant.function, mutant.before, mutant.after, mutant.which)


def by_change(reasons: Reasons) -> dict[Change, str]:
    """Return the reason of each change."""
    return {change: reason for reason, changes in reasons.items() for change in changes}
