"""What a payer's answer says of the coverage as a whole: active or not, group, days, and who is the primary care provider.

    coverage = read_coverage(benefits, references, dates, is_refused=False)
    coverage.verdict                    # Verdict.ACTIVE

Absence of active coverage does not mean inactive coverage: what no payer stated is *Not stated*. Knows no API.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from clearlane.eligibility.services import DEFAULT_SERVICES
from clearlane.kernel.formats import last_first
from clearlane.x12.views.benefits import BenefitView
from clearlane.x12.views.shared_types import DateView, ReferenceView


class Verdict(StrEnum):
    """Whether a patient is covered, as the payer states it."""

    ACTIVE = "Active"
    INACTIVE = "Inactive"
    REFUSED = "Refused"
    NOT_STATED = "Not stated"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Coverage:
    """One patient's coverage as a whole."""

    verdict: Verdict = Verdict.NOT_STATED
    group: str = ""
    begins: date | None = None
    ends: date | None = None
    primary_care: str = ""


ACTIVE_CODES = frozenset({"1", "2", "3", "4", "5"})
INACTIVE_CODES = frozenset({"6", "7", "8"})
"""EB01."""
PLAN_SERVICES = frozenset({"", *DEFAULT_SERVICES.values()})
"""Service types that stand for the plan as a whole."""
PRIMARY_CARE = "L"
PRIMARY_CARE_ROLE = "P3"
GROUP_NUMBERS = ("6P", "1L")
"""REF01 of a group number, and of a group or policy number."""
# DTP01, the best first: the plan, then eligibility; a period as a whole, or its first and its last day.
PERIODS = (("291", "346", "347"), ("307", "356", "357"))


def read_coverage(
    benefits: Sequence[BenefitView],
    references: Iterable[ReferenceView],
    dates: Sequence[DateView],
    *,
    is_refused: bool,
) -> Coverage:
    """Return the coverage that benefits, references and days of a patient state; the benefits' own come second."""
    of_benefits = [one for one in benefits if one.benefit in ACTIVE_CODES | INACTIVE_CODES]
    numbers = [*references, *(each for one in of_benefits for each in one.references)]
    days = [*dates, *(each for one in of_benefits for each in one.dates)]
    begins, ends = _read_period(days)
    return Coverage(
        verdict=_read_verdict(of_benefits, is_refused=is_refused),
        group=next(
            (one.value for wanted in GROUP_NUMBERS for one in numbers if one.qualifier == wanted),
            "",
        ),
        begins=begins,
        ends=ends,
        primary_care=_read_primary_care(benefits),
    )


def _read_verdict(stated: Sequence[BenefitView], *, is_refused: bool) -> Verdict:
    """Return what the benefits of the plan as a whole state; if there is none, those of single services."""
    of_plan = [one for one in stated if PLAN_SERVICES & set(one.service_types or ("",))]
    if not stated:
        return Verdict.REFUSED if is_refused else Verdict.NOT_STATED
    # A plan that ended may be listed beside the one that is active.
    is_active = any(one.benefit in ACTIVE_CODES for one in of_plan or stated)
    return Verdict.ACTIVE if is_active else Verdict.INACTIVE


def _read_period(days: Sequence[DateView]) -> tuple[date | None, date | None]:
    for whole, first, last in PERIODS:
        period = next((one for one in days if one.qualifier == whole and one.start), None)
        if period is not None:
            return period.start, period.end
        begins = next((one.start for one in days if one.qualifier == first and one.start), None)
        ends = next((one.start for one in days if one.qualifier == last and one.start), None)
        if begins or ends:
            return begins, ends
    return None, None


def _read_primary_care(benefits: Iterable[BenefitView]) -> str:
    parties = (
        party
        for one in benefits
        for party in one.parties
        if one.benefit == PRIMARY_CARE or party.role == PRIMARY_CARE_ROLE
    )
    return next((last_first(one.name, one.first) for one in parties if one.name), "")
