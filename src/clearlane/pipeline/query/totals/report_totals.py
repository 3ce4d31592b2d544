"""Reports of a vendor: claims, denials, the age of open claims, and payments, added up from the daily sums.

    rows = await load_report(context, call_scope, sites, ReportRequest(Report.DENIALS, by=("payer_id", "reason"), ...))

Knows no HTTP. The sums are kept by ``daily_sums``; a report reads no claim.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import NamedTuple

from clearlane.accounts.model import Site
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.payments.claim_payment_groups import DENIED_LABELS
from clearlane.pipeline.query.totals.daily_sums import ensure_counted
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.payments import report_sums
from clearlane.store.payments.report_sums import ReportSum, SumAmounts, SumKey, SumKind

REPORT_ROWS_MAX = 10_000
FIRST_DAY = "0000"
AGES = ((30, "0-30"), (60, "31-60"), (90, "61-90"), (120, "91-120"))
OLDEST = "over-120"
"""Ages of open claims, in days since they were received."""
AGE_WORDS = (*(word for _, word in AGES), OLDEST)


class Report(StrEnum):
    """What is reported."""

    CLAIMS = "claims"
    DENIALS = "denials"
    AGING = "aging"
    PAYMENTS = "payments"


class ReportWord(StrEnum):
    """What rows of a report are of."""

    DAY = "day"
    MONTH = "month"
    PAYER = "payer"
    PROVIDER = "provider"
    LABEL = "label"
    REASON = "reason"


COLUMNS: Mapping[ReportWord, str] = {
    ReportWord.DAY: "day",
    ReportWord.MONTH: "day",
    ReportWord.PAYER: "payer_id",
    ReportWord.PROVIDER: "provider",
    ReportWord.LABEL: "label",
    ReportWord.REASON: "reason",
}
"""The column of the daily sums for each word."""


class ReportShape(NamedTuple):
    """What a report adds up."""

    kind: SumKind
    words: tuple[ReportWord, ...]
    """What its rows can be of."""
    default: tuple[ReportWord, ...]


_TIME = (ReportWord.DAY, ReportWord.MONTH)
_WHOSE = (ReportWord.PAYER, ReportWord.PROVIDER)
SHAPES: Mapping[Report, ReportShape] = {
    Report.CLAIMS: ReportShape(
        SumKind.RECEIVED, (*_TIME, *_WHOSE, ReportWord.LABEL), (ReportWord.MONTH,)
    ),
    Report.DENIALS: ReportShape(
        SumKind.DECIDED, (*_TIME, *_WHOSE, ReportWord.REASON), (ReportWord.REASON,)
    ),
    Report.AGING: ReportShape(SumKind.OPEN, (*_WHOSE, ReportWord.LABEL), ()),
    Report.PAYMENTS: ReportShape(
        SumKind.DECIDED, (*_TIME, *_WHOSE, ReportWord.REASON), (ReportWord.MONTH,)
    ),
}


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """What is asked for."""

    report: Report
    by: Sequence[ReportWord]
    first: date | None
    last: date
    """The last day; of open claims, the day on which they have their age."""
    given: Mapping[ReportWord, Sequence[str]] = field(default_factory=dict)
    """Values that a word is limited to."""


class ReportRow(NamedTuple):
    """A row of a report."""

    age: str
    """Of open claims, one of ``AGE_WORDS``."""
    key: SumKey
    sums: SumAmounts


class TooManyRows(ValueError):
    """A report has more rows than one answer."""


async def load_report(
    context: WorkContext,
    scope: Scope | VendorScope,
    sites: Collection[Site],
    request: ReportRequest,
) -> tuple[list[ReportRow], int]:
    """Return the rows of a report, and the moment when the sums of all sites had been renewed."""
    counted_at = await ensure_counted(context, scope, sites)
    shape, is_aging = SHAPES[request.report], request.report is Report.AGING
    keys = {COLUMNS[word] for word in request.by}
    is_denials = request.report is Report.DENIALS
    has_reasons = bool({ReportWord.REASON} & {*request.by, *request.given})
    given = {COLUMNS[word]: values for word, values in request.given.items()}
    if is_denials:
        given["label"] = sorted(DENIED_LABELS)
    async with context.database.read(scope) as tx:
        rows = await report_sums.add_up(
            tx,
            SumKind.ADJUSTED if has_reasons else shape.kind,
            keys={*keys, "day"} if is_aging else keys,
            months=ReportWord.MONTH in request.by,
            first=request.first.isoformat() if request.first else FIRST_DAY,
            last=request.last.isoformat(),
            given=given,
            denied=is_denials and has_reasons,
            limit=REPORT_ROWS_MAX + 1,
        )
    if len(rows) > REPORT_ROWS_MAX:
        raise TooManyRows(f"The report has more than {REPORT_ROWS_MAX} rows.")
    found = by_age(rows, request.last) if is_aging else [ReportRow("", *row) for row in rows]
    return found, counted_at


def by_age(rows: Sequence[ReportSum], today: date) -> list[ReportRow]:
    """Return the sums of days added up by their age on a day."""
    found: dict[tuple[str, SumKey], SumAmounts] = {}
    for key, sums in rows:
        days = (today - date.fromisoformat(key.day)).days
        age = next((word for most, word in AGES if days <= most), OLDEST)
        place = (age, key._replace(day=""))
        found[place] = sums.plus(found.get(place, SumAmounts()))
    return [
        ReportRow(age, key, found[age, key])
        for age, key in sorted(found, key=lambda one: (AGE_WORDS.index(one[0]), one[1]))
    ]
