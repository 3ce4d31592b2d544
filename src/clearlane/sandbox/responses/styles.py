"""How the test payers differ in writing a 271 of the same meaning."""

from dataclasses import dataclass

from clearlane.x12.delimiters import CANONICAL, Delimiters


@dataclass(frozen=True, slots=True, kw_only=True)
class Style271:
    """How a payer writes a 271."""

    description: str
    delimiters: Delimiters = CANONICAL
    repeats: bool = True
    """Whether service types with equal benefits share an EB; else each has its own."""
    terse: bool = False
    """Whether simple benefits come without dates, numbers, contacts and shares."""
    parties: bool = False
    """Whether each response names the primary care provider and another payer."""


PLAIN = Style271(description="The usual separators; service types that are alike share an EB.")
STYLES: dict[str, Style271] = {
    "TST1E": Style271(
        description="Separators `|`, `>` and `}`, a new line after each segment; an EB for each service type.",
        delimiters=Delimiters("|", ">", "}", "~", "\n"),
        repeats=False,
    ),
    "TST2E": Style271(
        description="Terse: coverage and deductibles only, no dates, numbers or contacts; a new line ends a segment.",
        delimiters=Delimiters("+", ":", "^", "\n"),
        terse=True,
    ),
    "TST3E": Style271(
        description="A primary care provider and a second payer (loop 2120) with every answer.",
        delimiters=Delimiters("*", "<", "!", "~", "\r\n"),
        parties=True,
    ),
}


def style_of(payer: str) -> Style271:
    """Return the style of a payer."""
    return STYLES.get(payer, PLAIN)
