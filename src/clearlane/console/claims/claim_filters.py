"""The tabs and filters of the claim list: read from the address, written back into it, shown as chips.

Knows no claim and no database.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation

from clearlane.console.frame.page_text import day as day_words
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.claim_label import CONCERNS, ClaimLabel, LabelConcern
from clearlane.pipeline.query.claim_list import OPEN_LABELS

PAYER_CHARACTERS_MAX = 80
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
SILENT = "no-answer"
ONLY_CHOICES = {label.value.replace(" ", "-").replace(",", ""): label for label in ACT_LABELS}
"""Labels that a worklist can be narrowed to, as the address writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFilterForm:
    """The filters as the address has them; empty for none."""

    tab: str = "all"
    payer: str = ""
    changed: str = ""
    kind: str = ""
    service_from: str = ""
    service_to: str = ""
    amount_from: str = ""
    amount_to: str = ""
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
        changed = replace(self, **changes)
        found = {each.name: str(getattr(changed, each.name)) for each in fields(changed)}
        return {name: value for name, value in found.items() if value}

    def to_where(self, now: datetime) -> dict[str, object]:
        """Return the filters as the store takes them."""
        choice = self.changed_choice
        found = {
            "payer_id": self.payer or None,
            "kind": self.kind or None,
            "service_day_from": self.service_from or None,
            "service_day_to": self.service_to or None,
            "total_cents_from": _cents(self.amount_from),
            "total_cents_to": _cents(self.amount_to),
            "updated_at_from": None
            if choice == "any"
            else to_micros(now - timedelta(days=int(choice))),
        }
        return {name: value for name, value in found.items() if value is not None}

    def chips(self, *, payer: str = "") -> list[tuple[str, dict[str, str]]]:
        """Return the filters that narrow the list, in words, each with the query that removes it; ``payer`` is its name."""
        words = {
            "payer": f"payer {payer or self.payer}",
            "kind": KINDS.get(self.kind, ""),
            "service_from": f"service from {_day(self.service_from)}",
            "service_to": f"service to {_day(self.service_to)}",
            "amount_from": f"charge from {self.amount_from}",
            "amount_to": f"charge to {self.amount_to}",
            "changed": CHANGED_CHOICES.get(self.changed, ""),
            "only": "no answer" if self.only == SILENT else _label_words(self.only),
            "cause": f"reason {self.cause}",
            "mine": "assigned to me",
        }
        return [
            (text, self.as_query(**{name: ""}))
            for name, text in words.items()
            if getattr(self, name)
        ]


def read_filters(query: Mapping[str, str], tab: str = "") -> tuple[ClaimFilterForm, list[str]]:
    """Return the filters of an address, and a sentence for each one that cannot be used."""
    given = {each.name: query.get(each.name, "").strip() for each in fields(ClaimFilterForm)}
    given["tab"] = given["tab"] or tab or "all"
    faults = [sentence for name, sentence in _faults(given) if given.update({name: ""}) is None]
    given["tab"] = given["tab"] or "all"
    return ClaimFilterForm(**given), faults


def _faults(given: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the filters that cannot be used, each with a sentence that says what would pass."""
    checks = {
        "tab": (given["tab"] in BY_KEY, f"A list is one of {', '.join(BY_KEY)}."),
        "payer": (len(given["payer"]) <= PAYER_CHARACTERS_MAX, "A payer is named by its id."),
        "kind": (given["kind"] in KINDS, "A kind of claim is medical or dental."),
        "changed": (given["changed"] in CHANGED_CHOICES, "A time is 30, 90 or any."),
        "service_from": (_is_day(given["service_from"]), "A day is written like 2026-03-05."),
        "service_to": (_is_day(given["service_to"]), "A day is written like 2026-03-05."),
        "amount_from": (_is_amount(given["amount_from"]), "An amount is written like 120.50."),
        "amount_to": (_is_amount(given["amount_to"]), "An amount is written like 120.50."),
        "only": (
            given["only"] in {*ONLY_CHOICES, SILENT},
            f"A state is one of {', '.join([*ONLY_CHOICES, SILENT])}.",
        ),
        "cause": (len(given["cause"]) <= PAYER_CHARACTERS_MAX, "There is no such reason."),
        "mine": (given["mine"] == "1", "Claims assigned to you: 1."),
    }
    return [(name, text) for name, (fits, text) in checks.items() if given[name] and not fits]


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_amount(text: str) -> bool:
    try:
        return _decimal(text) <= AMOUNT_DOLLARS_MAX and _decimal(text) >= 0
    except InvalidOperation:
        return False


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", "").removeprefix("$"))


def _cents(text: str) -> int | None:
    return int(_decimal(text) * CENTS) if text else None


def _day(text: str) -> str:
    return day_words(text) if text else ""


def _label_words(only: str) -> str:
    return ONLY_CHOICES[only].value if only in ONLY_CHOICES else ""
