"""What a payer says about a claim, as people read it: in one line for lists, and for the claim's page in a plain sentence
with the code list's text beneath. Both have the same sentence.

Knows explanations; knows no page.
"""

from clearlane.claims.responses.provenance import FILE_CHECK, PAYER_TEXT, Explanation
from clearlane.claims.responses.status_sentence import status_sentence
from clearlane.x12 import codes

FIELDS_NAMED = " It concerns "
STATUS_SOURCES = frozenset({"277", "277CA"})


def payers_words(one: Explanation) -> str:
    """Return what the payer says in a plain sentence, or as its code list has it, with the text that it wrote."""
    _, written, text = one.happened.partition(PAYER_TEXT)
    said = _plain(one) or (_listed(one) if one.fields else "")
    return f"{said}{written}{text}" if said else one.happened


def list_words(one: Explanation) -> str:
    """Return the code list's text if a plain sentence is shown above it; empty if it is itself the sentence."""
    return _listed(one) if _plain(one) else ""


def _plain(one: Explanation) -> str:
    return status_sentence(one.code) if one.source in STATUS_SOURCES else ""


def _listed(one: Explanation) -> str:
    """Return the list's text without the names of fields, which are shown beside it, and without the payer's own."""
    listed = one.happened.partition(PAYER_TEXT)[0]
    if listed.startswith(FILE_CHECK):
        words = _syntax_words(one)
        return f"{FILE_CHECK}this value: {words}." if words else ""
    return listed.partition(FIELDS_NAMED)[0].removeprefix("The claim: ")


def short_reason(one: Explanation) -> str:
    """Return what is wrong in one line: ``The payer says the billing provider's NPI is invalid (box 33a)``."""
    place = one.fields[0] if one.fields else None
    plain = _plain(one).rstrip(".")
    words = plain or _SHORTENERS.get(one.source, _first_sentence)(one)
    if place is None or not place.box:
        return words
    # A box of the whole claim, such as the diagnoses, has no line of its own.
    line = f"line {one.line}" if one.line else ""
    at_line = f" of {line}" if line and "[" in place.path else ""
    if plain or one.source == "835":
        box = f"box {place.box}{at_line}"
        return f"{words} ({box if at_line or not line else f'{line}, {box}'})"
    return f"Box {place.box}{at_line}, {place.label}: {words}"


def _first_sentence(explanation: Explanation) -> str:
    return explanation.happened.partition(". ")[0].rstrip(".")


def _status_words(explanation: Explanation) -> str:
    category, _, _ = explanation.code.partition(":")
    words = codes.load("status_categories").get(category, "")
    if explanation.fields and words:
        return words.partition(": ")[2] or words
    # Without a field the status itself says what is meant: its sentence follows the category's.
    sentences = explanation.happened.split(". ")
    return (sentences[1] if len(sentences) > 1 else sentences[0]).rstrip(".")


def _adjustment_words(explanation: Explanation) -> str:
    _, _, words = _first_sentence(explanation).partition("was not paid: ")
    return f"{explanation.code}: {words}" if words else _first_sentence(explanation)


def _syntax_words(explanation: Explanation) -> str:
    words = _first_sentence(explanation)
    return words.rpartition("): ")[2] if explanation.fields else words


_SHORTENERS = {
    "277CA": _status_words,
    "277": _status_words,
    "835": _adjustment_words,
    "999": _syntax_words,
}
