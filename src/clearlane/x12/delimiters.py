"""The four separators of an interchange, and how to read them from its ISA.

Inside the engine every text uses the canonical separators ``* : ^ ~``. An interchange that uses others is
translated on the way in and back on the way out. The translation is a permutation of characters, so nothing is
lost: a ``*`` inside the data of a file that separates with ``|`` is read as ``|`` and written as ``*`` again.

Knows the ISA and nothing after it.
"""

from dataclasses import dataclass

# The ISA is the one fixed-width segment, so a reader can find the separators before knowing them:
# 105 characters, then the terminator (X12 control standard, ISA).
ISA_CHARACTERS = 106
ISA_ELEMENTS = 16
ISA_WIDTHS = (2, 10, 2, 10, 2, 15, 2, 15, 6, 4, 1, 5, 9, 1, 1, 1)
# Positions of the element separator in an ISA of full width.
ISA_SEPARATORS = tuple(3 + sum(ISA_WIDTHS[:n]) + n for n in range(ISA_ELEMENTS))
# An ISA whose elements are not padded is still read if it ends within this many characters.
ISA_CHARACTERS_MAX = 200
REPETITION_ELEMENT, COMPONENT_ELEMENT = 11, 16
# ISA12 from which on ISA11 is the repetition separator; before, it named a standard ("U").
REPETITION_SINCE = "00402"


_CANONICAL_SEPARATORS = ("*", ":", "^", "~")
# The circumflex is in none of X12's character sets.
_ALLOWED_IN_DATA = "*:~"
_PLAIN_SIGN = "#"


@dataclass(frozen=True, slots=True)
class Delimiters:
    """The characters that separate elements, components and repetitions, and the one that ends a segment."""

    element: str = "*"
    component: str = ":"
    repetition: str = "^"
    """Empty if the interchange has none: a version before 00402, or an ISA11 that cannot be one."""
    terminator: str = "~"
    line_ending: str = ""
    """What a writer puts after each terminator: nothing or a newline."""

    def to_canonical(self) -> dict[int, int]:
        """Return the ``str.translate`` table to the canonical separators; empty if these are used already."""
        used_here = (self.element, self.component, self.repetition, self.terminator)
        if used_here == _CANONICAL_SEPARATORS:
            return {}
        pairs = {
            used: canonical
            for used, canonical in zip(used_here, _CANONICAL_SEPARATORS, strict=True)
            if used
        }
        # Complete the mapping to a permutation: a canonical separator that the file uses as data is mapped to
        # one of the file's own separators, which no longer occurs in canonical text.
        displaced = [c for c in pairs.values() if c not in pairs]
        free = [c for c in pairs if c not in pairs.values()]
        pairs |= dict(zip(displaced, free, strict=False))
        return {ord(a): ord(b) for a, b in pairs.items() if a != b}

    def held_separators(self) -> dict[int, str]:
        """Return the ``str.translate`` table that makes a plain sign of what is in canonical text in place of a canonical
        separator in the data. X12 allows these there, whatever replaces them: perhaps the line end that ends segments."""
        return {
            replacement: _PLAIN_SIGN
            for held, replacement in self.to_canonical().items()
            if chr(held) in _ALLOWED_IN_DATA and chr(replacement) not in _CANONICAL_SEPARATORS
        }

    def from_canonical(self) -> dict[int, int]:
        """Return the ``str.translate`` table from the canonical separators back to these."""
        return {b: a for a, b in self.to_canonical().items()}

    def blank_foreign(self) -> dict[int, str]:
        """Return the ``str.translate`` table that blanks these separators in canonical text whose own are the usual ones."""
        return {code: " " for code in self.to_canonical() if chr(code) not in _CANONICAL_SEPARATORS}


CANONICAL = Delimiters()


def read_delimiters(text: str) -> tuple[Delimiters, int] | None:
    """Return the separators of the ISA that ``text`` starts with, and its length including the terminator.

    Return None if there is no readable ISA. Only the first ``ISA_CHARACTERS_MAX`` characters matter.
    """
    separator = text[3:4]
    if text[:3] != "ISA" or not separator or separator.isalnum() or separator in " \t\r\n":
        return None
    parts = text[:ISA_CHARACTERS_MAX].split(separator, ISA_ELEMENTS)
    if len(parts) <= ISA_ELEMENTS:
        return None
    # Some programs put blanks before every terminator, that of the ISA too.
    component, after = parts[-1][:1], parts[-1][1:].lstrip(" ")
    terminator = after[:1]
    if not terminator or not _can_separate(separator, component, terminator):
        return None
    repetition = parts[REPETITION_ELEMENT]
    if (
        len(repetition) != 1
        or repetition.isalnum()
        or repetition in {component, terminator, " "}
        or parts[12] < REPETITION_SINCE
    ):
        repetition = ""
    blanks = len(parts[-1]) - 1 - len(after)
    length = sum(map(len, parts[:-1])) + ISA_ELEMENTS + 2 + blanks
    return Delimiters(separator, component, repetition, terminator), length


def _can_separate(separator: str, component: str, terminator: str) -> bool:
    """Return whether the characters are three different ones, and neither of the last two a letter or digit."""
    return (
        len({separator, component, terminator}) == 3
        and not component.isalnum()
        and not terminator.isalnum()
    )
