"""Reports of ``/clearlane/v1``: claims, denials, the age of open claims and payments, added up by what is asked for."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import date, timedelta
from typing import Annotated, Literal

from pydantic import Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.claim_json import Money
from clearlane.api.v1.resource import Resource, ResourceRows
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import micros_text
from clearlane.kernel.list_filter import FilterType
from clearlane.payments.as_json import money_text
from clearlane.pipeline.query.totals.report_totals import (
    SHAPES,
    Report,
    ReportRequest,
    ReportRow,
    ReportWord,
    TooManyRows,
    load_report,
)

endpoints = ResourceRows(Resource.REPORTS)

MONTHS_DEFAULT = 12
DAY = timedelta(days=1)
"""A site farther east may be in tomorrow already."""
ONE_TIME = "Either day or month is expected, not both."
DAYS_ORDER = "It is after `to`."

Label = Annotated[str, Field(json_schema_extra={"enum": list(ClaimLabel)})]
Payer = Annotated[str | None, Field(description="Null unless rows are of payers.")]
Provider = Annotated[
    str | None,
    Field(
        description="NPI of the billing provider, empty if claims state none; null unless rows are of providers."
    ),
]
Reason = Annotated[
    str | None,
    Field(
        description="Group and code of the adjustment, such as `CO-45`; null unless rows are of reasons."
    ),
]


class ReportRowJson(JsonModel):
    """What every row of a report over time has."""

    day: Annotated[date | None, Field(description="Null unless rows are of days.")]
    month: Annotated[
        str | None, Field(description="Such as 2026-01; null unless rows are of months.")
    ]
    payer_id: Payer
    provider_npi: Provider


class ClaimsRowJson(ReportRowJson):
    """Claims that were received."""

    label: Annotated[Label | None, Field(description="Null unless rows are of labels.")]
    claims: int
    charge: Money
    paid: Annotated[Money, Field(description="What payers paid on these claims, whenever.")]
    patient: Annotated[Money, Field(description="What the patients owe.")]


class DenialsRowJson(ReportRowJson):
    """Claims that a payer denied, or some lines of."""

    reason: Reason
    claims: Annotated[int, Field(description="A claim with two reasons is in the rows of both.")]
    charge: Annotated[
        Money | None, Field(description="Of the whole claims; null if rows are of reasons.")
    ]
    denied: Annotated[Money, Field(description="What was adjusted by reasons that deny.")]


class AgingRowJson(JsonModel):
    """Claims that await something, by the days since they were received."""

    age: Literal["0-30", "31-60", "61-90", "91-120", "over-120"]
    payer_id: Payer
    provider_npi: Provider
    label: Annotated[Label | None, Field(description="Null unless rows are of labels.")]
    claims: int
    charge: Money
    paid: Annotated[Money, Field(description="What payers have paid on them so far.")]


class PaymentsRowJson(ReportRowJson):
    """What payers decided."""

    reason: Reason
    claims: Annotated[int, Field(description="Decisions on claims that count.")]
    charge: Annotated[Money | None, Field(description="Null if rows are of reasons.")]
    paid: Annotated[Money | None, Field(description="Null if rows are of reasons.")]
    patient: Annotated[Money | None, Field(description="Null if rows are of reasons.")]
    adjusted: Annotated[
        Money,
        Field(
            description="Adjustments other than what the patient owes; of a reason, those with this reason."
        ),
    ]


class ReportJson(JsonModel):
    """A report."""

    counted_at: Annotated[
        str,
        Field(
            description="When the sums were last renewed: within about a minute after a claim changed."
        ),
    ]


class ClaimsReportJson(ReportJson):
    """Claims that were received."""

    data: list[ClaimsRowJson]


class DenialsReportJson(ReportJson):
    """What payers denied."""

    data: list[DenialsRowJson]


class AgingReportJson(ReportJson):
    """Open claims by age."""

    data: list[AgingRowJson]


class PaymentsReportJson(ReportJson):
    """What payers decided and paid on claims."""

    data: list[PaymentsRowJson]


TIMES = {
    Report.CLAIMS: "the day of receipt",
    Report.DENIALS: "the day of the payment",
    Report.PAYMENTS: "the day of the payment",
}
FILTERS = {
    ReportWord.PAYER: parameters.list_filter_parameter(
        FilterType.TEXT, "payer", "Only claims to this payer."
    ),
    ReportWord.PROVIDER: parameters.list_filter_parameter(
        FilterType.TEXT, "provider", "Only claims of the billing provider with this NPI."
    ),
    ReportWord.LABEL: parameters.list_filter_parameter(
        FilterType.CHOICE, "label", "Only claims with this label.", tuple(ClaimLabel)
    ),
    ReportWord.REASON: parameters.list_filter_parameter(
        FilterType.TEXT, "reason", "Only adjustments with this group and code, such as `CO-45`."
    ),
}
ROWS_OF = "Of what the rows are, with commas between the words; in one row everything is added up if the word is `all`."
ALL = "all"


def _declare(
    report: Report, name: str, summary: str, rows: str, response_type: type[ReportJson]
) -> Callable[[Call], Awaitable[Response]]:
    """Declare the endpoint of a report."""
    shape = SHAPES[report]
    default = ",".join(shape.default) or ALL
    by = parameters.words_parameter("by", f"{ROWS_OF} By default `{default}`.", (*shape.words, ALL))
    days = [
        parameters.filter_parameter(FilterType.DAY, one, f"{word}: {TIMES[report]}. {default}")
        for one, word, default in (
            (
                "from",
                "The first day",
                f"By default {MONTHS_DEFAULT} months ago, the first of that month.",
            ),
            ("to", "The last day", "By default today."),
        )
        if report in TIMES
    ]
    filters = [FILTERS[word] for word in FILTERS if word in shape.words]

    async def answer(call: Call) -> Response:
        request = _request(call, report)
        try:
            found, at = await load_report(
                call.context.work_context, call.scope, call.sites, request
            )
        except TooManyRows as fault:
            text = f"{fault} Ask for fewer words, fewer days, or one payer."
            raise RequestRefusal(call.errors.invalid_fields({"by": [text]})) from None
        data = [_row(report, row, request.by) for row in found]
        return json_response(200, {"data": data, "counted_at": micros_text(at)})

    return endpoints.read(
        name,
        f"reports/{report}",
        summary,
        response_type,
        description=rows,
        parameters=(by, *days, *filters),
    )(answer)


def _request(call: Call, report: Report) -> ReportRequest:
    """Return what a call asks for; refuse it with every fault at once."""
    shape, given = SHAPES[report], call.parameters
    words = given["by"] or frozenset(shape.default)
    by = tuple(word for word in shape.words if word in words)
    last = given.get("to") or call.now.date() + DAY
    first = None
    faults: dict[str, list[str]] = {}
    if report in TIMES:
        first = given["from"] or _months_before(last)
        if first > last:
            faults["from"] = [DAYS_ORDER]
    if {ReportWord.DAY, ReportWord.MONTH} <= set(by):
        faults["by"] = [ONE_TIME]
    if faults:
        raise RequestRefusal(call.errors.invalid_fields(faults))
    values = {word: given[FILTERS[word].name] for word in FILTERS if word in shape.words}
    if report is Report.AGING:
        last = call.now.date()
    return ReportRequest(
        report, by, first, last, {word: _several(one) for word, one in values.items() if one}
    )


def _several(value: object) -> Sequence[str]:
    return [str(one) for one in (value if isinstance(value, tuple) else (value,))]


def _months_before(day: date) -> date:
    months = day.year * 12 + day.month - 1 - MONTHS_DEFAULT
    return date(months // 12, months % 12 + 1, 1)


def _row(report: Report, row: ReportRow, by: Sequence[ReportWord]) -> dict[str, object]:
    """Return a row as JSON: what rows are not of is null."""
    key = row.key
    keys = {
        ReportWord.DAY: ("day", key.day),
        ReportWord.MONTH: ("month", key.day),
        ReportWord.PAYER: ("payer_id", key.payer_id),
        ReportWord.PROVIDER: ("provider_npi", key.provider),
        ReportWord.LABEL: ("label", key.label),
        ReportWord.REASON: ("reason", key.reason),
    }
    shown = {
        name: value if word in by else None
        for word, (name, value) in keys.items()
        if word in SHAPES[report].words
    }
    if report is Report.AGING:
        shown = {"age": row.age, **shown}
    return {**shown, "claims": row.sums.claims, **_amounts(report, row, by)}


def _amounts(report: Report, row: ReportRow, by: Sequence[ReportWord]) -> dict[str, object]:
    money = {
        name: money_text(getattr(row.sums, f"{name}_cents"))
        for name in ("charge", "paid", "patient", "adjusted", "denied")
    }
    # A claim with two reasons would count its charge and payment twice.
    of_claim = dict.fromkeys(("charge", "paid", "patient")) if ReportWord.REASON in by else {}
    return {name: (money | of_claim)[name] for name in AMOUNTS[report]}


AMOUNTS = {
    Report.CLAIMS: ("charge", "paid", "patient"),
    Report.DENIALS: ("charge", "denied"),
    Report.AGING: ("charge", "paid"),
    Report.PAYMENTS: ("charge", "paid", "patient", "adjusted"),
}

get_claims_report = _declare(
    Report.CLAIMS,
    "GetClaimsReport",
    "Claims by month, payer, provider or label.",
    "Claims by the day of receipt, with what was paid on them. Of claims that took over from each other the last counts, "
    "as in lists.",
    ClaimsReportJson,
)
get_denials_report = _declare(
    Report.DENIALS,
    "GetDenialsReport",
    "What payers denied, by reason, month, payer or provider.",
    "Claims that were denied, or some lines of them, by the day of the payment. A denial that was taken back, or replaced "
    "by a later decision, does not count.",
    DenialsReportJson,
)
get_aging_report = _declare(
    Report.AGING,
    "GetAgingReport",
    "Open claims by age, payer, provider or label.",
    "Claims that await something, by the days since they were received: 30, 60, 90, 120, and more.",
    AgingReportJson,
)
get_payments_report = _declare(
    Report.PAYMENTS,
    "GetPaymentsReport",
    "What payers paid and adjusted, by month, payer, provider or reason.",
    "Decisions of payers by the day of the payment. A payment that was taken back, or replaced by a later one, does not "
    "count.",
    PaymentsReportJson,
)
