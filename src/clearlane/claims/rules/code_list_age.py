"""C513: code lists that end before the service. No claim is refused by such a list; it is sent with a warning."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from clearlane.claims.rules.dates import Span, span
from clearlane.claims.rules.diagnoses import ICD_10_CM, dotted, icd_version
from clearlane.claims.rules.imported_lists import FORMS_OF_LISTS
from clearlane.claims.rules.registry import WARNING, FieldFinding, RuleInputs, listed, quoted, rule
from clearlane.claims.view import ClaimView

UNKNOWN_NAMED_MAX = 4


class ListedCodes(NamedTuple):
    """A list, and the codes of a claim that are judged by it."""

    list: str
    title: str
    codes: Callable[[ClaimView], Iterable[tuple[str, str]]]
    """Returns paths and codes."""


def _diagnoses(view: ClaimView) -> Iterable[tuple[str, str]]:
    if icd_version(view) != "10":
        return ()
    return [(f"diagnoses[{at}]", code) for at, code in enumerate(view.diagnoses) if code]


def _procedures(list: str) -> Callable[[ClaimView], Iterable[tuple[str, str]]]:
    """Return a function that returns the procedures that a list would have, by their form."""
    fits = FORMS_OF_LISTS[list].fullmatch

    def codes(view: ClaimView) -> Iterable[tuple[str, str]]:
        given = ((at, line.procedure) for at, line in enumerate(view.lines))
        return [(f"lines[{at}].procedure", code) for at, code in given if code and fits(code)]

    return codes


LISTS = (
    ListedCodes(ICD_10_CM, "ICD-10-CM", _diagnoses),
    *(ListedCodes(name, name.upper(), _procedures(name)) for name in FORMS_OF_LISTS),
)


@rule(
    "C513",
    paths=("diagnoses", "lines[].procedure"),
    x12="2300/HI/01-02",
    severity=WARNING,
    reading=span,
)
def code_lists_cover_the_service(
    view: ClaimView, inputs: RuleInputs, days: Span
) -> Iterator[FieldFinding]:
    """A service later than a code list is not judged by it; the claim is sent with a warning."""
    if days.last <= inputs.code_lists.complete_until:
        return
    for name, title, codes in LISTS:
        known = inputs.code_lists.find(name)
        if known is None or known.covers(days.last) or days.last < known.first_day:
            continue
        given, end = codes(view), known.nearest_day(days.last)
        unknown = [(path, code) for path, code in given if not known.is_valid(code, end, end)]
        for path, _ in [*unknown, *given][:1]:
            written = dotted if name == ICD_10_CM else str
            which = [*dict.fromkeys(quoted(written(code)) for _, code in unknown)][
                :UNKNOWN_NAMED_MAX
            ]
            lacks = f" and has no {listed(which)} then" if which else ""
            yield (
                path,
                f"The list of {title} codes ends on {end}, before the service on {days.last}{lacks}; the codes are sent as "
                "given. Check that they are valid on the day of service.",
            )
