"""The repairs of a claim in a few sentences: one for each kind, with the number of fields.

Knows the kinds of repair; knows no field and no value.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

SET_FOR_CORRECTION = "set as the payer needs it for a correction"
REMOVED_FROM_NEW = "removed: it is a new claim"
"""The kinds of repair of a correction, whose frequency and payer's number we set."""

# The sentence for one field, which names it, and for several.
SENTENCES: Mapping[str, tuple[str, str]] = {
    "names": (
        "Field names were read in another case than the interface's.",
        "Field names were read in another case than the interface's.",
    ),
    "repeated": (
        "{field} came under two spellings; the last was taken.",
        "{count} fields came under two spellings; the last was taken.",
    ),
    "text": ("{field} came as a number and was read as text.",
             "{count} fields came as numbers and were read as text."),
    "short text": ("{field} came as a number too short for it and was read as text.",
                   "{count} fields came as numbers too short for them and were read as text."),
    "number": ("{field} came as text and was read as a number.",
               "{count} fields came as text and were read as numbers."),
    "boolean": ("{field} was read as true or false.",
                "{count} fields were read as true or false."),
    "case": ("{field} was put in upper case.", "{count} fields were put in upper case."),
    "accents": ("{field} was written without accents.",
                "{count} fields were written without accents."),
    "characters": ("{field} lost characters that X12 cannot carry.",
                   "{count} fields lost characters that X12 cannot carry."),
    "punctuation": ("{field} was written without punctuation.",
                    "{count} fields were written without punctuation."),
    "form": ("{field} was written in the form of X12.",
             "{count} fields were written in the form of X12."),
    "code": ("{field} was replaced by its code.", "{count} fields were replaced by their codes."),
    "notation": ("{field} was converted to the universal notation.",
                 "{count} fields were converted to the universal notation."),
    "enrolled zip": ("{field} was taken from the billing provider's enrollment.",
                     "{count} ZIP codes were taken from the billing provider's enrollment."),
    "earlier zip": ("{field} was taken from an earlier claim of the billing provider.",
                    "{count} ZIP codes were taken from an earlier claim of the billing provider."),
    SET_FOR_CORRECTION: (
        "{field} was set as the payer needs it for a correction.",
        "{count} fields were set as the payer needs them for a correction.",
    ),
    REMOVED_FROM_NEW: (
        "{field} was removed: it is a new claim.",
        "{count} fields were removed: it is a new claim.",
    ),
    "completed": ("{field} was completed with 9998.", "{count} fields were completed with 9998."),
}  # fmt: skip
OTHER = ("{field} was repaired: {kind}.", "{count} fields were repaired: {kind}.")


def summarize_repairs(repairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return one sentence for each kind of repair, in the order in which the kinds first occur."""
    distinct = dict.fromkeys((field, kind) for field, kind in repairs)
    counts = Counter(kind for _, kind in distinct)
    first: dict[str, str] = {}
    for field, kind in distinct:
        first.setdefault(kind, field)
    return [
        SENTENCES.get(kind, OTHER)[count > 1].format(field=first[kind], count=count, kind=kind)
        for kind, count in counts.items()
    ]
