"""By when a claim is to be with its payer, as faces show it and the watch over filing limits takes it.

    filing_of(header, label, status, payer, contract)       # ClaimFiling(limit, is_met), or None for a closed claim

A claim that the payer has received is filed. One that it denied may be appealed. What is not known is said to be
unknown. Light: `clearlane claim show` reads it without the tables of the 837.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from clearlane.claims.awaiting import BY_LABEL
from clearlane.claims.codes import NOTICES, REOPENING, REPLACEMENT, VOID
from clearlane.claims.header import ClaimHeader
from clearlane.claims.lifecycle import ClaimState, LifecycleStatus
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.payers.filing_limits import (
    NO_CONTRACT,
    FilingKind,
    FilingLimit,
    SiteContract,
    filing_limit,
)
from clearlane.payers.model import Payer

APPEALED = (ClaimLabel.DENIED, ClaimLabel.PARTLY_DENIED)
UNFILED = (
    ClaimLabel.RECEIVED,
    ClaimLabel.HELD,
    ClaimLabel.NOT_ACCEPTED,
    ClaimLabel.SENT,
    ClaimLabel.NO_ANSWER,
    ClaimLabel.TO_RESEND,
    ClaimLabel.REJECTED,
)
"""Labels of claims that the payer may not have received, or did not take. A 999 is about a file, and no receipt of a claim."""
WATCHED = (*UNFILED, *APPEALED)
KIND_WORDS: Mapping[FilingKind, str] = {
    FilingKind.ORIGINAL: "File by",
    FilingKind.CORRECTED: "File the correction by",
    FilingKind.SECONDARY: "File by",
    FilingKind.APPEAL: "Appeal by",
}


@dataclass(frozen=True, slots=True)
class ClaimFiling:
    """By when an open claim is to be with its payer, and whether it is."""

    limit: FilingLimit
    is_met: bool

    @property
    def day(self) -> date | None:
        """The last day; None if it is not known."""
        return self.limit.day

    def as_json(self) -> dict[str, object]:
        """Return it as v1 and `--json` show it."""
        day = self.limit.day
        by = day.isoformat() if day else None
        return {"kind": self.limit.kind.value, "by": by, "met": self.is_met}

    @property
    def title(self) -> str:
        """What is to be done by then."""
        return "Filing limit" if self.is_met else KIND_WORDS[self.limit.kind]

    @property
    def words(self) -> str:
        """The last day, and why it is."""
        day = f"{self.limit.day} ({self.limit.words})" if self.limit.day else ""
        if self.is_met:
            return f"The payer has it; {day or 'the limit is unknown'}"
        return day or "unknown"

    def sentence(self) -> str:
        """Return it in words."""
        return self.words if self.is_met else f"{self.title}: {self.words}"


def filing_of(
    header: ClaimHeader,
    label: ClaimLabel,
    status: LifecycleStatus | None,
    payer: Payer | None,
    contract: SiteContract = NO_CONTRACT,
) -> ClaimFiling | None:
    """Return by when an open claim is to be filed; None if it is closed, or never filed for payment.

    A notice of admission is not: by when the payer is to accept it is what it awaits.
    """
    is_unpaid = header.is_predetermination or header.frequency in NOTICES
    if BY_LABEL[label] is None or is_unpaid:
        return None
    kind, decided = FilingKind.ORIGINAL, header.earlier_decision
    if label in APPEALED:
        kind, decided = FilingKind.APPEAL, status.decided_day if status else None
    elif header.frequency in {REPLACEMENT, VOID, REOPENING}:
        kind = FilingKind.CORRECTED
    elif header.is_secondary:
        kind = FilingKind.SECONDARY
    served = max([last for _, last in header.days], default=None)
    limit = FilingLimit(kind)
    # A reopening is for claims whose limit is over: how long payers take it is not known.
    if payer is not None and header.frequency != REOPENING:
        limit = filing_limit(payer, kind, contract, served=served, decided=decided)
    return ClaimFiling(limit, is_met=label not in WATCHED or _was_received(label, status))


def _was_received(label: ClaimLabel, status: LifecycleStatus | None) -> bool:
    """Return whether a payer that answers no more had accepted the claim: its 277CA proves the receipt for good."""
    return (
        label is ClaimLabel.NO_ANSWER
        and status is not None
        and status.state in {ClaimState.ACKNOWLEDGED, ClaimState.PENDING}
    )
