"""The history of a claim on its page: each entry with its color, its words and the reasons that it gave."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from clearlane.claims.forms import form_of
from clearlane.claims.responses.explain_findings import OWN_SOURCE
from clearlane.claims.responses.field_lookup import field_words
from clearlane.claims.responses.provenance import Explanation
from clearlane.kernel.claim_label import STOPPED_LABELS, ClaimLabel
from clearlane.kernel.formats import upper_first
from clearlane.payments import wording
from clearlane.pipeline.intake.resend_rules import NEVER_DENIED
from clearlane.pipeline.load_claim import LoadedClaim
from clearlane.pipeline.query.claim_reason import is_denied
from clearlane.pipeline.query.history.claim_history import ClaimHistory, HistoryEntry
from clearlane.pipeline.query.history.history_entries import CHECKED, check_sentences

STATUS_HEADLINE = re.compile(
    r"(?P<source>277(?:CA)?): (?P<verdict>[\w ]+?)(?: as of [\d-]+)?(?: \((?P<reason>.*)\))?"
)
"""The headline of a payer's status in a claim's history."""


def timeline(
    history: ClaimHistory,
    label: ClaimLabel,
    reasons: Sequence[Explanation],
    *,
    is_operator: bool,
) -> dict[str, Any]:
    """Return what a claim's page shows of its history, the last entry first. ``reasons`` are those at the top of the page."""
    return {
        "entries": [*reversed(history.entries)],
        "own_source": OWN_SOURCE,
        "entry_kind": lambda entry: _entry_kind(entry, label),
        "entry_words": _entry_words,
        "entry_sentences": lambda entry: _entry_sentences(
            history.loaded, reasons, entry, is_operator=is_operator
        ),
        "entry_reasons": lambda entry: _entry_reasons(reasons, entry),
    }


def _entry_words(entry: HistoryEntry) -> tuple[str, str]:
    """Return an entry's headline as people say it, ``Rejected (277CA)``, and the payer's code in words."""
    found = STATUS_HEADLINE.fullmatch(entry.headline)
    if found is None:
        return entry.headline, ""
    return f"{found['verdict'].capitalize()} ({found['source']})", found["reason"] or ""


def _entry_sentences(
    loaded: LoadedClaim, reasons: Sequence[Explanation], entry: HistoryEntry, *, is_operator: bool
) -> Iterable[str]:
    """Return an entry's sentences: fields by their boxes, days as pages write them; payers' faults for operators.

    What is wrong is said at the top of the page, if it says why; what the headline says is not said again.
    """
    sentences = iter(entry.sentences)
    if is_operator:
        sentences = iter((*entry.sentences, *entry.operator_sentences))
    if entry.headline == CHECKED:
        said = {one.happened for one in reasons if one.source == OWN_SOURCE}
        name_field = partial(field_words, form_of(loaded.claim))
        sentences = check_sentences(loaded, name_field, without=said)
    said_above = f"{entry.headline.rpartition(': ')[2]}: "
    own = (upper_first(one.removeprefix(said_above)) for one in sentences)
    return map(wording.spell_days, own)


def _entry_reasons(reasons: Sequence[Explanation], entry: HistoryEntry) -> tuple[int, ...]:
    """Return the numbers of the reasons at the top of the page that an entry of the history gave; none for any other."""
    if entry.headline == CHECKED:
        given = [one.source == OWN_SOURCE for one in reasons]
    else:
        given = [one in entry.explanations for one in reasons]
    return tuple(number for number, is_given in enumerate(given, 1) if is_given)


def _entry_kind(entry: HistoryEntry, label: ClaimLabel) -> str:
    """Return the color of an entry of the timeline; none for what asks for nothing and pays nothing."""
    words = entry.headline.lower()
    if entry.headline == CHECKED and label in STOPPED_LABELS:
        return "act"
    if any(word in words for word in ("refused", "rejected", "denied")):
        return "act"
    if not words.startswith("remittance") or "reversal" in words:
        return ""
    if any(is_denied(one) for one in entry.explanations):
        return "" if label in NEVER_DENIED else "act"
    return "good"
