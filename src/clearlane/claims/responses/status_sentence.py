"""Payers' rejections as one plain sentence, from the code lists: category, status and entity of an STC.

    status_sentence("A7:562:85")        # The payer says the billing provider's NPI is invalid.

The list of statuses holds names of things ("Entity's NPI") and clauses ("Entity was not found"). The category
says what is wrong with a thing; a clause says so itself. Knows codes; knows no field and no claim.
"""

import re
from collections.abc import Mapping

from clearlane.claims.responses import code_advice
from clearlane.kernel.formats import lower_first
from clearlane.x12 import codes

SENTENCES: Mapping[str, str] = {
    "A3": "The payer returned the claim because of {thing}.",
    "A6": "The payer says {thing} {be} missing.",
    "A7": "The payer says {thing} {be} invalid.",
    "A8": "The payer says {thing} {do} not agree with related values.",
    "E3": "The payer says {thing} {do} not agree with related values.",
}
"""What a rejection says about a thing that its status names, by category."""
ENTITY_WORDS: Mapping[str, str] = {"IL": "insured"}
"""Entities that people call by a shorter name than the list's."""
FRAGMENTS = frozenset(
    {
        "21", "54", "78", "81", "96", "108", "116", "123", "363", "487", "495", "499", "697", "718", "746",
    }
)  # fmt: skip
"""Statuses that name no thing and do not read as a clause after "the": they follow a colon."""
CLAUSES = frozenset(
    {
        "27", "28", "35", "95", "110", "111", "279", "401", "473", "481", "493", "512", "668", "669", "678", "681",
        "764", "765",
    }
)  # fmt: skip
"""Clauses about no field that is known here, and about no entity."""
NO_THINGS = frozenset({"182", "364", "365", "366", "384", "471"})
"""Questions and similar texts, which are left as the list has them."""
CODE_LISTS: Mapping[str, str] = {
    "CLP02": "claim_payment_statuses",
    "IK3": "segment_errors",
    "IK4": "element_errors",
    "IK5": "verdicts",
    "AK9": "verdicts",
    "TA105": "ta1_notes",
}
"""The list that says what the last part of a code means, by its first."""
PLURALS = frozenset({"196", "202"})
"""Things whose number cannot be seen at the end of their first words."""

_VERB = re.compile(r" (?:is|are|was|were|does|do|did|must|may|should) ")
_QUESTION = re.compile(r"(?:Are|Did|Does|Is|Was|Were) ")
_POSSESSIVE = re.compile(r"^Entity's ")
_ENTITY = re.compile(r"\b(?:[Tt]he |[Tt]his |^)?[Ee]ntity\b")
_END_OF_HEAD = re.compile(r" (?:of|to|for|unable|with|remaining|\()")
_SINGULAR_ENDS = ("ss", "is", "us")


def status_sentence(code: str) -> str:
    """Return what a payer says by ``category:status:entity``; empty if that is not a rejection or has no sentence."""
    category, _, rest = code.partition(":")
    status, _, entity = rest.partition(":")
    words = codes.load("statuses").get(status, "").removesuffix(" (older code)")
    if category not in SENTENCES or not words or _QUESTION.match(words):
        return ""
    said = _with_entity(words, _entity_words(entity))
    if status in FRAGMENTS:
        return f"The payer says: {lower_first(said)}."
    if _is_clause(status, words):
        return f"The payer says {_with_article(said)}."
    if not _is_thing(status, words):
        return ""  # the list's text says it better than a guess
    be, do = ("are", "do") if status in PLURALS or _is_plural(words) else ("is", "does")
    return SENTENCES[category].format(thing=_with_article(said), be=be, do=do)


def code_words(code: str) -> str:
    """Return what a code of a TA1, 999, 277 or 835 means, such as ``IK4:NM1:9:7`` or ``CO-45``; empty if no list says so."""
    first, *rest = code.split(":")
    if first in CODE_LISTS:
        return codes.load(CODE_LISTS[first]).get(rest[-1] if rest else "", "")
    if rest:
        category = codes.load("status_categories").get(first, "")
        status = codes.load("statuses").get(rest[0], "")
        return status_sentence(code) or ": ".join(filter(None, (category, status)))
    return codes.load("carc").get(first.partition("-")[2], "")


def _entity_words(entity: str) -> str:
    named = ENTITY_WORDS.get(entity) or codes.load("entities").get(entity, "")
    return lower_first(named)


def _with_entity(words: str, entity: str) -> str:
    """Return a status with its entity named; a thing of an unnamed entity is named alone."""
    if entity:
        return _ENTITY.sub(f"the {entity}", words)
    return _ENTITY.sub("the party concerned", _POSSESSIVE.sub("", words))


def _is_clause(status: str, words: str) -> bool:
    """Return whether a status says by itself what is wrong."""
    known = status in CLAUSES or status in code_advice.STATUS_PLACES or bool(_ENTITY.search(words))
    return known and _VERB.search(words) is not None


def _is_thing(status: str, words: str) -> bool:
    """Return whether a status names something that a claim holds."""
    holds = status in code_advice.STATUS_PLACES or _POSSESSIVE.match(words) is not None
    return holds and status not in NO_THINGS


def _is_plural(words: str) -> bool:
    head = _END_OF_HEAD.split(words)[0]
    last = head.split()[-1]
    several = " and " in head or ("," in head and " or " not in head)
    return several or (last[-1] == "s" and not last.endswith(_SINGULAR_ENDS))


def _with_article(words: str) -> str:
    return words if words.startswith("the ") else f"the {lower_first(words)}"
