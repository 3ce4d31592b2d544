"""The tabs and filters of the claim list: read from the address, written back into it, shown as chips.

Knows no claim and no database.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from clearlane.claims.awaiting import AWAITED_WORDS
from clearlane.claims.claim_filters import (
    CLAIM_FILTERS,
    CLAIM_TABS,
    FILING_DAYS,
    NEXT_PAYER_TAB,
    SHADOW_TAB,
    WORKLIST_TABS,
    ClaimFilter,
)
from clearlane.claims.kinds import KINDS, SUBMITTED_KINDS
from clearlane.console.frame.filter_words import ChoiceWords, value_words
from clearlane.kernel import list_filter
from clearlane.kernel.claim_label import LABEL_WORDS, ClaimLabel
from clearlane.kernel.formats import lower_first
from clearlane.kernel.list_filter import TEXT_CHARACTERS_MAX, FilterType
from clearlane.pipeline.query.claim_filters import PATIENT, PATIENT_TOGETHER, missing_part


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTab:
    """A tab of the claim list; its labels are in :data:`CLAIM_TABS`."""

    key: str
    title: str
    nothing: str = ""
    """What an empty list says."""

    @property
    def is_worklist(self) -> bool:
        """Whether it is ordered by money and age, and worked off."""
        return self.key in WORKLIST_TABS

    @property
    def is_grouped(self) -> bool:
        """Whether its claims are shown by what the payer said."""
        return self.is_worklist and self.key != NEXT_PAYER_TAB

    @property
    def labels(self) -> tuple[ClaimLabel, ...]:
        """The labels of its claims."""
        return CLAIM_TABS[self.key]


TABS = (
    ClaimTab(key="all", title="All", nothing="No claims yet."),
    ClaimTab(key="needs_you", title="Needs you", nothing="Nothing needs you."),
    ClaimTab(key="rejected", title="Rejected", nothing="No rejected claims."),
    ClaimTab(key="denied", title="Denied", nothing="No denied claims."),
    ClaimTab(key="on_the_way", title="On the way", nothing="No claims are on their way."),
    ClaimTab(
        key="paid",
        title="Paid",
        nothing="No paid claims yet. Payments usually follow claims by 14 to 30 days.",
    ),
    ClaimTab(key=NEXT_PAYER_TAB, title="Next payer", nothing="No next payer is to be billed."),
    ClaimTab(key=SHADOW_TAB, title="Shadow", nothing="No claims of shadow files."),
)
BY_KEY = {tab.key: tab for tab in TABS}
SAYS_ENOUGH = {"kind", "label"}
"""Filters whose value says what it is."""
CHANGED_CHOICES = {
    "": "Changed at any time",
    "30": "Changed in the last 30 days",
    "90": "Changed in the last 90 days",
}
KIND_CHOICES = {kind.value: KINDS[kind].label for kind in SUBMITTED_KINDS}
CHOICE_WORDS: ChoiceWords = {
    "awaiting": {one.value: words for one, words in AWAITED_WORDS.items()},
    "filing_limit": {days: f"within {days} days" for days in FILING_DAYS},
    "kind": KIND_CHOICES,
    "label": {one.value: words for one, words in LABEL_WORDS.items()},
}
FILTERS = {
    one.name: one
    for one in CLAIM_FILTERS
    if one.type is not FilterType.MOMENT and one.name != "tab"
}
"""The filters of claims by name, beside the tabs. When a claim changed is chosen by ``changed``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFilterForm:
    """The list and its filters as the address has them; empty for none."""

    tab: str = "all"
    given: Mapping[str, str] = field(default_factory=dict)
    """The texts of :data:`FILTERS` that are given, by name."""
    changed: str = ""
    cause: str = ""
    """One reason, from "Group by reason"."""
    mine: str = ""

    @property
    def chosen_tab(self) -> ClaimTab:
        """The tab of the list."""
        return BY_KEY[self.tab]

    def as_query(self, **changes: str) -> dict[str, str]:
        """Return what the address says, with these changes."""
        own = {name: str(getattr(self, name)) for name in OWN_NAMES}
        found = {**own, **self.given, **changes}
        return {name: value for name, value in found.items() if value}

    def values(self, now: datetime) -> dict[str, Any]:
        """Return what the filters mean, by name."""
        found = {name: FILTERS[name].read(text) for name, text in self.given.items()}
        if self.changed:
            found["changed_after"] = now - timedelta(days=int(self.changed))
        return {"tab": self.tab, **found}

    def chips(self, *, payer: str = "") -> list[tuple[str, dict[str, str]]]:
        """Return the filters that narrow the list, in words, each with the query that removes it; ``payer`` is its name."""
        words = {name: _words(FILTERS[name], text) for name, text in self.given.items()}
        if payer:
            words["payer"] = f"payer {payer}"
        own = {
            "changed": CHANGED_CHOICES[self.changed].lower(),
            "cause": f"reason {self.cause}",
            "mine": "assigned to me",
        }
        words |= {name: text for name, text in own.items() if getattr(self, name)}
        return [(text, self.as_query(**{name: ""})) for name, text in words.items()]


OWN_NAMES = tuple(each.name for each in fields(ClaimFilterForm) if each.name != "given")


def read_filters(query: Mapping[str, str], tab: str = "") -> tuple[ClaimFilterForm, list[str]]:
    """Return the filters of an address, and a sentence for each one that cannot be used."""
    texts = {name: query.get(name, "").strip() for name in (*OWN_NAMES, *FILTERS)}
    texts["tab"] = texts["tab"] or tab or "all"
    if texts["changed"] == "any":
        texts["changed"] = ""
    faults = [sentence for name, sentence in _faults(texts) if texts.update({name: ""}) is None]
    texts["tab"] = texts["tab"] or "all"
    given = {name: texts.pop(name) for name in FILTERS}
    form = ClaimFilterForm(given={name: text for name, text in given.items() if text}, **texts)
    return form, faults


def _faults(given: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the filters that cannot be used, each with a sentence that says what would pass."""
    checks = {
        "tab": (given["tab"] in BY_KEY, f"A list is one of {', '.join(BY_KEY)}."),
        "changed": (given["changed"] in CHANGED_CHOICES, "A time is 30, 90 or any."),
        "cause": (len(given["cause"]) <= TEXT_CHARACTERS_MAX, "There is no such reason."),
        "mine": (given["mine"] == "1", "Claims assigned to you: 1."),
    }
    found = [(name, text) for name, (fits, text) in checks.items() if given[name] and not fits]
    _, faults = list_filter.read_filters(
        FILTERS.values(), {name: text or None for name, text in given.items()}
    )
    found += [(name, f"{FILTERS[name].title}: {fault}") for name, fault in faults.items()]
    if missing := missing_part({name: text or None for name, text in given.items()}):
        (other,) = set(PATIENT) - {missing}
        found.append((other, PATIENT_TOGETHER))
    return found


def _words(one: ClaimFilter, text: str) -> str:
    """Return a filter in words, as part of a sentence."""
    title, value = one.title.lower(), value_words(one, text, CHOICE_WORDS)
    if one.choices:
        value = lower_first(value)
    return value if one.name in SAYS_ENOUGH else f"{title} {value}".rstrip()
