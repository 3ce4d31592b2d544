"""Until which day a payer takes a claim: the limits of the directory and of a site's contract, by kind of filing.

    limit = filing_limit(payer, FilingKind.ORIGINAL, contract, served=date(2026, 3, 2))
    limit.day, limit.words              # 2026-05-31, "90 days after the last day of service"; None if that is not known

A claim is filed when the payer has received it. A site's contract comes before the directory, and that before the law
(Medicare's calendar year). A limit that no one stated is not known, and never guessed. Pure; knows no claim.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from clearlane.payers.model import MEDICARE, Payer


class FilingKind(StrEnum):
    """What is filed: payers have a limit for each."""

    ORIGINAL = "original"
    CORRECTED = "corrected"
    """A replacement or void."""
    SECONDARY = "secondary"
    """A claim that carries the decision of an earlier payer."""
    APPEAL = "appeal"
    """A request to decide again on a claim that was denied."""


PAYER_COLUMNS: Mapping[FilingKind, str] = {
    FilingKind.ORIGINAL: "filing_days",
    FilingKind.CORRECTED: "corrected_filing_days",
    FilingKind.SECONDARY: "secondary_filing_days",
    FilingKind.APPEAL: "appeal_filing_days",
}
"""The attribute of a payer that has the limit of each kind."""
LIMIT_WORDS: Mapping[FilingKind, str] = {
    FilingKind.ORIGINAL: "{days} days after the last day of service",
    FilingKind.CORRECTED: "{days} days after the last day of service for a corrected claim",
    FilingKind.SECONDARY: "{days} days after the earlier payer's decision",
    FilingKind.APPEAL: "{days} days after the payer's decision for an appeal",
}
FROM_SERVICE = (FilingKind.ORIGINAL, FilingKind.CORRECTED)
"""Kinds that are counted from the last day of service; the others from a payer's decision."""
MEDICARE_DAYS = 366
MEDICARE_WORDS = "one calendar year after the last day of service"

SiteContract: TypeAlias = Mapping[tuple[str, str, str], int]
"""Days that a site agreed on, by type and id (in folded case) of the payer, and kind of filing."""
NO_CONTRACT: SiteContract = {}


class FilingLimit(NamedTuple):
    """Until when something is to be filed with a payer."""

    kind: FilingKind
    day: date | None = None
    """The last day on which the payer is to receive it; None if it is not known."""
    words: str = ""


def filing_days(payer: Payer, kind: FilingKind, contract: SiteContract = NO_CONTRACT) -> int:
    """Return the days that a payer gives for a kind of filing; 0 if that is not known."""
    agreed = contract.get((*payer.key, kind.value), 0)
    return agreed or int(getattr(payer, PAYER_COLUMNS[kind]))


def filing_limit(
    payer: Payer,
    kind: FilingKind,
    contract: SiteContract = NO_CONTRACT,
    *,
    served: date | None = None,
    decided: date | None = None,
) -> FilingLimit:
    """Return the limit of a kind of filing, from the last day of service or the day of a decision."""
    start = served if kind in FROM_SERVICE else decided
    if days := filing_days(payer, kind, contract):
        day = None if start is None else start + timedelta(days=days)
        return FilingLimit(kind, day, LIMIT_WORDS[kind].format(days=days))
    if payer.program == MEDICARE and served is not None and kind is not FilingKind.APPEAL:
        # 42 CFR 424.44: one calendar year after the last day of service.
        leap_day = (served.month, served.day) == (2, 29)
        until = served.replace(year=served.year + 1, day=28 if leap_day else served.day)
        return FilingLimit(kind, until, MEDICARE_WORDS)
    return FilingLimit(kind)


def longest_days(payer: Payer) -> int:
    """Return the longest limit of a payer; 0 if none is known."""
    by_law = MEDICARE_DAYS if payer.program == MEDICARE else 0
    return max(by_law, *(filing_days(payer, kind) for kind in FilingKind))
