"""Read the codes of an institutional claim: the HI segments of an 837I, by code list.

    for path, place, code in codes_of(loop): ...

An element of an HI is a list, a code, and what belongs to the code: a day or a span of days, an amount, or whether a
diagnosis was present on admission. ``x12_view`` says which list is which value of the view. Checks nothing.
"""

from collections.abc import Iterator, Mapping

from clearlane.claims.forms.x12_places import Place, first_day, last_day
from clearlane.claims.institutional_view import CodeView
from clearlane.x12.tree import Loop
from clearlane.x12.views.binding import parse_number

CODE, PERIOD, AMOUNT, PRESENT = 1, 3, 4, 8
"""The positions of components from 0: the code, its days, its amount, present on admission."""
_COMPONENTS = 9


def codes_of(loop: Loop, lists: Mapping[str, str]) -> Iterator[tuple[str, Place, CodeView]]:
    """Yield the codes of a claim in order: the path of their list, their place, and the code.

    ``lists`` are the paths by the code of a list (HI01-1). A code that is left out has none.
    """
    for segment in loop.segments("HI"):
        for element, text in enumerate(segment[1:], 1):
            words = text.split(":")
            path = lists.get(words[0])
            if path is None or len(words) <= CODE or not words[CODE]:
                continue
            words += [""] * (_COMPONENTS - len(words))
            code = CodeView(
                # X837-ICD-DOT reports a dot.
                code=words[CODE].replace(".", ""),
                first_day=first_day(words[PERIOD]),
                last_day=last_day(words[PERIOD]),
                amount=parse_number(words[AMOUNT]),
                present_on_admission=words[PRESENT] or None,
            )
            yield path, Place(loop, segment, element, CODE + 1), code
