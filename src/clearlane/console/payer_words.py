"""What a payer says about a claim, as the claim's page writes it: a plain sentence, and the code list's text beneath.

Knows explanations; knows no page.
"""

from clearlane.claims.provenance import PAYER_TEXT, Explanation
from clearlane.claims.status_sentence import status_sentence

FIELDS_NAMED = " It concerns "
STATUS_SOURCES = frozenset({"277", "277CA"})


def payers_words(one: Explanation) -> str:
    """Return what the payer says in a plain sentence, or as its code list has it, with the text that it wrote."""
    _, written, text = one.happened.partition(PAYER_TEXT)
    said = _plain(one) or (_listed(one) if one.fields else "")
    return f"{said}{written}{text}" if said else one.happened


def list_words(one: Explanation) -> str:
    """Return the code list's text where a plain sentence stands above it; empty where it is itself the sentence."""
    return _listed(one) if _plain(one) else ""


def _plain(one: Explanation) -> str:
    return status_sentence(one.code) if one.source in STATUS_SOURCES else ""


def _listed(one: Explanation) -> str:
    """Return the list's text without the names of fields, which stand beside it, and without the payer's own."""
    listed = one.happened.partition(PAYER_TEXT)[0]
    return listed.partition(FIELDS_NAMED)[0].removeprefix("The claim: ")
