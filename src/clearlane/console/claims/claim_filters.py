"""The tabs and filters of the claim list: read from the address, written back into it, shown as chips.

Knows no claim and no database.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation

from clearlane.claims.claim_filters import CLAIM_FILTERS, ClaimFilter
from clearlane.console.frame.page_text import day as day_words
from clearlane.kernel.claim_label import CONCERNS, ClaimLabel, LabelConcern
from clearlane.kernel.clock import to_micros
from clearlane.kernel.filter_type import FilterType
from clearlane.kernel.formats import parse_iso_date
from clearlane.pipeline.query.claim_filters import CHOICES, missing_part, to_where
from clearlane.pipeline.query.claim_list import OPEN_LABELS
from clearlane.store.vault.vault import Vault

TEXT_CHARACTERS_MAX = 80
AMOUNT_DOLLARS_MAX = Decimal(10_000_000)
CENTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTab:
    """A tab of the claim list."""

    key: str
    title: str
    labels: tuple[ClaimLabel, ...]
    is_worklist: bool = False
    """Ordered by money and age, and worked off."""
    days: int = 0
    """How far back its last change may lie by default; 0 for any time."""
    with_silent: bool = False
    """Whether claims without an answer belong to it."""
    nothing: str = ""
    """What an empty list says."""


ACT_LABELS = tuple(label for label in ClaimLabel if CONCERNS[label] is LabelConcern.ACT)
TABS = (
    ClaimTab(key="all", title="All", labels=tuple(ClaimLabel), days=30, nothing="No claims yet."),
    ClaimTab(
        key="needs-you",
        title="Needs you",
        labels=ACT_LABELS,
        is_worklist=True,
        with_silent=True,
        nothing="Nothing needs you.",
    ),
    ClaimTab(
        key="rejected",
        title="Rejected",
        labels=(ClaimLabel.REJECTED,),
        is_worklist=True,
        nothing="No rejected claims.",
    ),
    ClaimTab(
        key="denied",
        title="Denied",
        labels=(ClaimLabel.DENIED, ClaimLabel.PARTLY_DENIED),
        is_worklist=True,
        nothing="No denied claims.",
    ),
    ClaimTab(
        key="on-the-way",
        title="On the way",
        labels=(ClaimLabel.RECEIVED, *OPEN_LABELS, ClaimLabel.TO_RESEND, ClaimLabel.FORWARDED),
        nothing="No claims are on their way.",
    ),
    ClaimTab(
        key="paid",
        title="Paid",
        labels=(ClaimLabel.PAID, ClaimLabel.PATIENT_OWES, ClaimLabel.PAID_DIFFERS),
        days=30,
        nothing="No paid claims yet. Payments usually follow claims by 14 to 30 days.",
    ),
)
BY_KEY = {tab.key: tab for tab in TABS}
CHANGED_CHOICES = {
    "30": "Changed in the last 30 days",
    "90": "Changed in the last 90 days",
    "any": "Changed at any time",
}
KINDS = {"medical": "Medical", "dental": "Dental"}
FILTERS = {one.name: one for one in CLAIM_FILTERS if one.type is not FilterType.MOMENT}
"""The filters of claims by name. When a claim changed is chosen by ``changed``."""
SILENT = "no-answer"
ONLY_CHOICES = {label.value.replace(" ", "-").replace(",", ""): label for label in ACT_LABELS}
"""Labels that a worklist can be narrowed to, as the address writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFilterForm:
    """The list and its filters as the address has them; empty for none."""

    tab: str = "all"
    given: Mapping[str, str] = field(default_factory=dict)
    """The texts of :data:`FILTERS` that are given, by name."""
    changed: str = ""
    only: str = ""
    """One label of a worklist, or ``no-answer``."""
    cause: str = ""
    """One reason, from "Group by reason"."""
    mine: str = ""

    @property
    def chosen_tab(self) -> ClaimTab:
        """The tab of the list."""
        return BY_KEY[self.tab]

    @property
    def changed_choice(self) -> str:
        """How far back the last change may lie."""
        days = self.chosen_tab.days
        return self.changed or (str(days) if days else "any")

    def as_query(self, **changes: str) -> dict[str, str]:
        """Return what the address says, with these changes."""
        own = {name: str(getattr(self, name)) for name in OWN_NAMES}
        found = {**own, **self.given, **changes}
        return {name: value for name, value in found.items() if value}

    def to_where(self, now: datetime, vault: Vault, vendor_id: int) -> dict[str, object]:
        """Return the filters as the store takes them."""
        values = {name: _value(FILTERS[name], text) for name, text in self.given.items()}
        found = to_where(values, vault, vendor_id)
        if self.changed_choice != "any":
            since = now - timedelta(days=int(self.changed_choice))
            found["updated_at_from"] = to_micros(since)
        return found

    def chips(self, *, payer: str = "") -> list[tuple[str, dict[str, str]]]:
        """Return the filters that narrow the list, in words, each with the query that removes it; ``payer`` is its name."""
        words = {name: _words(FILTERS[name], text) for name, text in self.given.items()}
        if payer:
            words["payer"] = f"payer {payer}"
        own = {
            "changed": CHANGED_CHOICES.get(self.changed, ""),
            "only": "no answer" if self.only == SILENT else _label_words(self.only),
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
    faults = [sentence for name, sentence in _faults(texts) if texts.update({name: ""}) is None]
    texts["tab"] = texts["tab"] or "all"
    given = {name: texts.pop(name) for name in FILTERS}
    form = ClaimFilterForm(given={name: text for name, text in given.items() if text}, **texts)
    return form, faults


def _faults(given: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the filters that cannot be used, each with a sentence that says what would pass."""
    checks = {
        "tab": (given["tab"] in BY_KEY, f"A list is one of {', '.join(BY_KEY)}."),
        **{name: _check(one, given[name]) for name, one in FILTERS.items()},
        "changed": (given["changed"] in CHANGED_CHOICES, "A time is 30, 90 or any."),
        "only": (
            given["only"] in {*ONLY_CHOICES, SILENT},
            f"A state is one of {', '.join([*ONLY_CHOICES, SILENT])}.",
        ),
        "cause": (len(given["cause"]) <= TEXT_CHARACTERS_MAX, "There is no such reason."),
        "mine": (given["mine"] == "1", "Claims assigned to you: 1."),
    }
    found = [(name, text) for name, (fits, text) in checks.items() if given[name] and not fits]
    if missing := missing_part({name: text or None for name, text in given.items()}):
        both = ("patient_last_name", "patient_birth_date")
        (other,) = set(both) - {missing}
        found.append((other, "A patient is found by last name and birth date together."))
    return found


def _check(one: ClaimFilter, text: str) -> tuple[bool, str]:
    """Return whether a filter can be used as it was given, and what would pass."""
    match one.type:
        case FilterType.CHOICE:
            choices = CHOICES[one.name]
            words = " or ".join(choices) if len(choices) == 2 else f"one of {', '.join(choices)}"
            article = "An" if one.title[0] in "AEIOU" else "A"
            return text in choices, f"{article} {one.title.lower()} is {words}."
        case FilterType.DAY:
            return parse_iso_date(text) is not None, "A day is written like 2026-03-05."
        case FilterType.AMOUNT:
            return _is_amount(text), "An amount is written like 120.50."
    sentence = f"{one.title}: at most {TEXT_CHARACTERS_MAX} characters."
    return len(text) <= TEXT_CHARACTERS_MAX, sentence


def _value(one: ClaimFilter, text: str) -> object:
    """Return the text of a filter as the value that it means."""
    match one.type:
        case FilterType.CHOICE:
            return CHOICES[one.name][text]
        case FilterType.DAY:
            return parse_iso_date(text)
        case FilterType.AMOUNT:
            return int(_decimal(text) * CENTS)
    return text


def _words(one: ClaimFilter, text: str) -> str:
    """Return a filter in words."""
    if one.name == "kind":
        return KINDS.get(text, text)
    return f"{one.title.lower()} {day_words(text) if one.type is FilterType.DAY else text}"


def _is_amount(text: str) -> bool:
    try:
        return _decimal(text) <= AMOUNT_DOLLARS_MAX and _decimal(text) >= 0
    except InvalidOperation:
        return False


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", "").removeprefix("$"))


def _label_words(only: str) -> str:
    return ONLY_CHOICES[only].value if only in ONLY_CHOICES else ""
