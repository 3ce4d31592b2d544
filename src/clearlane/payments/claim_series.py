"""The bills of one stay as a series: which of them count, and what they come to.

    series = series_of(members)             # None for the only bill of a stay
    series.type, series.paid_cents

By the payer's setting each bill is for days of its own and all of them add up (additive), or each is from the admission on
and takes the place of the last one (cumulative). Late charges add in both. A bill that was replaced, voided, rejected or
canceled does not count, and neither does a void. Knows amounts and frequencies; no claim, no file and no database.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from clearlane.kernel.claim_label import ClaimLabel

INTERIM = frozenset({"2", "3", "4"})
LATE_CHARGES, VOID = "5", "8"
WITHOUT_EFFECT = frozenset(
    {
        ClaimLabel.NOT_ACCEPTED.value,
        ClaimLabel.REJECTED.value,
        ClaimLabel.CANCELED.value,
        ClaimLabel.VOIDED.value,
        ClaimLabel.REPLACED.value,
    }
)
"""Labels of bills that come to nothing."""


class SeriesType(StrEnum):
    """How the bills of a series come to one amount."""

    ADDITIVE = "additive"
    CUMULATIVE = "cumulative"


class SeriesMember(NamedTuple):
    """A bill of a series: a claim with its own state and money."""

    claim_number: str
    frequency: str
    service_day: str | None
    last_day: str | None
    label: str
    is_superseded: int
    is_cumulative: int
    """Whether the payer's bills replace each other, as its row of the directory said when it came."""
    total_cents: int
    paid_cents: int
    patient_cents: int

    @property
    def has_effect(self) -> bool:
        """Whether it may count: it is no void, and was neither stopped nor replaced."""
        is_live = not self.is_superseded and self.label not in WITHOUT_EFFECT
        return is_live and self.frequency != VOID


@dataclass(frozen=True, slots=True)
class ClaimSeries:
    """The bills of one stay, by their days."""

    type: SeriesType
    members: tuple[SeriesMember, ...]
    counted: frozenset[str]
    """The numbers of the claims that count."""

    @property
    def total_cents(self) -> int:
        """What is charged for the stay."""
        return sum(one.total_cents for one in self.members if one.claim_number in self.counted)

    @property
    def paid_cents(self) -> int:
        """What the payer paid for the stay."""
        return sum(one.paid_cents for one in self.members if one.claim_number in self.counted)

    @property
    def patient_cents(self) -> int:
        """What the payer left to the patient."""
        return sum(one.patient_cents for one in self.members if one.claim_number in self.counted)


def series_of(members: Sequence[SeriesMember]) -> ClaimSeries | None:
    """Return the series of some bills of one stay; None if there is one bill, and it is no interim bill."""
    if not members or (len(members) == 1 and members[0].frequency not in INTERIM):
        return None
    ordered = sorted(
        members, key=lambda one: (one.last_day or "", one.service_day or "", one.claim_number)
    )
    # What the payer wants now is what its newest bill was sent by.
    newest = max(members, key=lambda one: one.claim_number)
    type = SeriesType.CUMULATIVE if newest.is_cumulative else SeriesType.ADDITIVE
    counted = [one for one in ordered if one.has_effect]
    if type is SeriesType.CUMULATIVE:
        last = [one for one in counted if one.frequency != LATE_CHARGES][-1:]
        counted = [one for one in counted if one in last or one.frequency == LATE_CHARGES]
    return ClaimSeries(type, tuple(ordered), frozenset(one.claim_number for one in counted))
