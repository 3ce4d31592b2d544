"""What payers want of a claim beyond the guide: the edits that the directory may name, and how values of them are read.

    edits_of(payer)                                  # {"clia", "filing_limit"}
    member_id_pattern("W#{9}|@@@#{6,9}").fullmatch("W123456789")

An edit is the name of one thing that a payer asks for; a claim rule with that name is applied to its claims. A program
stands for the edits that its payers have in common. Knows no claim and no file.
"""

import re
from functools import lru_cache

from clearlane.payers.model import MEDICAID, MEDICAL, MEDICARE, Payer

CUMULATIVE_SERIES, PROFESSIONAL_ONLY = "cumulative_series", "professional_only"
PAYER_EDITS = {
    "nine_digit_zip": "The billing address has a ZIP code of nine digits.",
    "taxonomy": "The billing provider has a taxonomy code.",
    "clia": "Laboratory tests come with a CLIA number.",
    "ndc": "Injected drugs (J codes) come with a national drug code.",
    PROFESSIONAL_ONLY: "It takes professional claims alone, no institutional ones (837I).",
    "drg": "Hospital stays (837I) have a diagnosis related group.",
    CUMULATIVE_SERIES: "Interim bills of a stay (837I) are each from the admission on and replace the last one.",
    "attending_taxonomy": "The attending provider of institutional claims (837I) has a taxonomy code.",
    "chiropractic": "Chiropractic treatment has its first day and a subluxation as principal diagnosis.",
}
"""The edits that the column ``Edits`` of a payer file may name."""
PROGRAM_EDITS = {
    MEDICARE: frozenset({"clia", "chiropractic", "filing_limit"}),
    MEDICAID: frozenset({"clia", "ndc"}),
}
TRANSMISSIONS = ("AA", "BM", "EL", "EM", "FT", "FX")
"""How an attachment is sent (PWK02)."""
NO_ATTACHMENTS = "none"
FILING_DAYS_MAX = 3_650
PATTERN_CHARACTERS_MAX = 200
PATTERN_WANTED = (
    "# for a digit, @ for a letter, ? for either, other letters, digits and hyphens for themselves, {n} or {n,m} "
    "behind one of these for a number of them (a range once in each pattern), and | between patterns, "
    f"{PATTERN_CHARACTERS_MAX} characters in all, such as W#{{9}}|@@@#{{6,9}}"
)

_CLASSES = {"#": "[0-9]", "@": "[A-Z]", "?": "[A-Z0-9]"}
_ITEM = re.compile(r"([#@?A-Z0-9-])(?:\{(\d{1,2})(?:,(\d{1,2}))?\})?", re.ASCII)


@lru_cache(maxsize=1_024)
def member_id_pattern(text: str) -> re.Pattern[str]:
    """Compile an operator's pattern of member ids, in capitals; raise ValueError if it is none.

    It is no regular expression: with one range in each alternative, no id can make it slow.
    """
    parts = text.upper().split("|")
    if len(text) > PATTERN_CHARACTERS_MAX:
        raise ValueError(PATTERN_WANTED)
    return re.compile("|".join(map(_alternative, parts)))


def _alternative(text: str) -> str:
    found, at, ranges = "", 0, 0
    while at < len(text):
        match = _ITEM.match(text, at)
        if match is None:
            raise ValueError(PATTERN_WANTED)
        item, least, most = match.groups()
        if most is not None:
            ranges += 1
            if ranges > 1 or int(most) < int(least):
                raise ValueError(PATTERN_WANTED)
        found += _CLASSES.get(item, item)
        found += "" if least is None else f"{{{least}}}" if most is None else f"{{{least},{most}}}"
        at = match.end()
    if not found:
        raise ValueError(PATTERN_WANTED)
    return found


def takes_institutional(payer: Payer) -> bool:
    """Return whether a payer takes institutional claims (837I): one for medical claims that is not for professional ones alone."""
    takes_any = payer.type == MEDICAL and payer.accepts_claims
    return takes_any and PROFESSIONAL_ONLY not in payer.edits


def edits_of(payer: Payer | None) -> frozenset[str]:
    """Return the names of what a payer wants: what the directory names, and what follows from its other fields."""
    if payer is None:
        return frozenset()
    named = PROGRAM_EDITS.get(payer.program, frozenset()).union(payer.edits)
    limits = payer.filing_days or payer.corrected_filing_days or payer.secondary_filing_days
    derived = {
        "filing_limit": limits,
        "member_id": payer.member_id_pattern,
        "attachments": payer.attachments,
    }
    return named.union(name for name, given in derived.items() if given)
