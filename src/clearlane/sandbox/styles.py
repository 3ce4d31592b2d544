"""How payers differ in what they write, though they mean the same: a row for each of the test payers."""

from dataclasses import dataclass

from clearlane.x12.delimiters import CANONICAL, Delimiters


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """A payer's manner of writing a 271."""

    words: str
    delimiters: Delimiters = CANONICAL
    repeats: bool = True
    """Whether service types that are alike share an EB; else each has its own."""
    terse: bool = False
    """Whether simple benefits are told without dates, numbers, contacts and shares."""
    parties: bool = False
    """Whether the primary care provider and another payer are told each time."""


PLAIN = Style(words="The usual separators; service types that are alike share an EB.")
STYLES: dict[str, Style] = {
    "TST1E": Style(
        words="Separators `|`, `>` and `}`, a new line after each segment; an EB for each service type.",
        delimiters=Delimiters("|", ">", "}", "~", "\n"),
        repeats=False,
    ),
    "TST2E": Style(
        words="Terse: coverage and deductibles only, no dates, numbers or contacts; a new line ends a segment.",
        delimiters=Delimiters("+", ":", "^", "\n"),
        terse=True,
    ),
    "TST3E": Style(
        words="A primary care provider and a second payer (loop 2120) with every answer.",
        delimiters=Delimiters("*", "<", "!", "~", "\r\n"),
        parties=True,
    ),
}


def style_of(payer: str) -> Style:
    """The manner of a payer."""
    return STYLES.get(payer, PLAIN)
