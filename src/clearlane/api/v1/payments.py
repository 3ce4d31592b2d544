"""Payments of ``/clearlane/v1``: list, one with its claims, the 835 as received, and CSV.

The names are those of ``payments.as_json``; a vendor gets the heading of a payment and its own claims alone.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any

from pydantic import ConfigDict, Field
from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import X12, json_response
from clearlane.api.http.stream import stream_text
from clearlane.api.v1 import parameters
from clearlane.api.v1.claim_json import ClaimPaymentJson
from clearlane.api.v1.cursors import cursor_number, encode_cursor
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Page, Resource, ResourceRows, page_response, read_body
from clearlane.kernel.ids import Scope
from clearlane.kernel.list_filter import FilterFault, FilterType, read_filter
from clearlane.payments.as_json import adjustment_object, claim_payment_object, own_payment_object
from clearlane.payments.deposit import (
    BECAUSE_CHARACTERS_MAX,
    REFERENCE_CHARACTERS_MAX,
    DepositState,
)
from clearlane.payments.payment import ClaimPayment
from clearlane.payments.payment_csv import payment_csv_by_page
from clearlane.payments.payment_label import PaymentLabel
from clearlane.pipeline.operator import payment_deposit
from clearlane.pipeline.operator.payment_deposit import NewDeposit, PaymentClosing, day_fault
from clearlane.pipeline.query import payment_list
from clearlane.pipeline.query.payments import PaymentDetails
from clearlane.pipeline.query.vendor_payments import (
    list_vendor_claim_payments,
    load_vendor_payment,
    read_vendor_x12,
)
from clearlane.store.database.database import OperationRefused
from clearlane.store.payments import payment_query
from clearlane.store.payments.payment_query import PaymentQuery

endpoints = ResourceRows(Resource.PAYMENTS, changes=KeyScope.CORRECT)

CSV = "text/csv"
LIST, CLAIM_PAYMENTS = "payments", "claim_payments"
CLAIM_PAYMENT_DIGITS_MAX = 9
CLAIM_PAYMENTS_SHOWN = 100
CLAIM_PAYMENTS_AT_ONCE = 200
DAY = timedelta(days=1)
"""Sites may be a day ahead of UTC."""


class DepositJson(JsonModel):
    """What was done with a part of a payment."""

    state: Annotated[str, Field(json_schema_extra={"enum": list(DepositState)})]
    day: date | None
    amount: str | None
    difference: Annotated[
        str | None, Field(description="What was deposited less what the payer stated.")
    ]


@dataclass(frozen=True, slots=True)
class DepositRequest:
    """A deposit of the vendor's part of a payment."""

    day: Annotated[date, Field(description="The day of the deposit, not in the future.")]
    amount: Annotated[
        str | None, Field(description="Such as 699.10; what the payer stated if it is left out.")
    ] = None
    reference: Annotated[
        str,
        Field(
            description="Of the deposit, as the bank has it.", max_length=REFERENCE_CHARACTERS_MAX
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class SettlementRequest:
    """Why nothing is left to do with the vendor's part of a payment."""

    because: Annotated[
        str,
        Field(description="Kept sealed.", min_length=1, max_length=BECAUSE_CHARACTERS_MAX),
    ]


class PaymentJson(JsonModel):
    """A check or transfer, with the part of it that is the vendor's."""

    model_config = ConfigDict(extra="allow")

    id: str
    payment_id: str
    state: str
    label: Annotated[
        str,
        Field(
            description="What a person has to do about it, as the console shows it.",
            json_schema_extra={"enum": list(PaymentLabel)},
        ),
    ]
    payer_id: str
    payer_name: str
    trace_number: str
    method: str
    amount: Annotated[str | None, Field(description="Of the whole payment.")]
    your_amount: Annotated[
        str | None, Field(description="The part of the vendor's own claims and adjustments.")
    ]
    effective_date: date | None
    received_at: datetime | None
    fetched_at: Annotated[
        datetime | None, Field(description="When the vendor's software first read it.")
    ]
    balanced: bool | None
    deposit: Annotated[
        DepositJson, Field(description="What the vendor's sites did with their part of the money.")
    ]
    duplicate_of: str | None


class PaymentDetailsJson(PaymentJson):
    """One payment with the vendor's own claims and adjustments."""

    adjustments: Annotated[list[dict[str, Any]], Field(description="Provider adjustments (PLB).")]
    claim_payments: Annotated[
        list[ClaimPaymentJson], Field(description="The first claims of the vendor in it.")
    ]
    claim_payments_next: Annotated[
        str | None,
        Field(
            description="Pass it as `after` to `payments/{payment_id}/claim_payments`; null if these are all."
        ),
    ]


FILTERS = tuple(
    parameters.list_filter_parameter(one.type, one.name, one.help, one.choices)
    for one in payment_query.FILTERS.values()
)


@endpoints.read(
    "GetPayments",
    "payments",
    "Payments, newest first.",
    Page[PaymentJson],
    parameters=parameters.page(LIST, *FILTERS),
)
async def list_payments(call: Call) -> Response:
    """Return a page of payments."""
    parameters.require_few(call)
    given, limit = call.parameters, call.parameters["limit"]
    query = PaymentQuery(
        where={name: given[name] for name in payment_query.FILTERS},
        before=given["after"],
        limit=limit + 1,
        scope=call.scope,
    )
    return page_response(
        await payment_list.list_payments(call.context.database, call.context.vault, query),
        limit=limit,
        of_list=LIST,
        position=lambda one: (one.payment.payment_id,),
        as_json=lambda one: own_payment_object(one.payment),
    )


@endpoints.read(
    "GetPayment",
    "payments/{payment_id}",
    "One payment with the vendor's claims and adjustments.",
    PaymentDetailsJson,
)
async def get_payment(call: Call) -> Response:
    """Return one payment with the vendor's claims in it."""
    details = await _load(call)
    rows = await _claim_payments(call, after=0, limit=CLAIM_PAYMENTS_SHOWN + 1)
    more = len(rows) > CLAIM_PAYMENTS_SHOWN
    shown = rows[:CLAIM_PAYMENTS_SHOWN]
    found = own_payment_object(details.payment)
    found["adjustments"] = [adjustment_object(one) for one in details.adjustments]
    found["claim_payments"] = [claim_payment_object(one) for one in shown]
    found["claim_payments_next"] = (
        encode_cursor(CLAIM_PAYMENTS, _number(shown[-1])) if more else None
    )
    return json_response(200, found)


def _position(number: str) -> int:
    return cursor_number(number, CLAIM_PAYMENT_DIGITS_MAX)


@endpoints.read(
    "GetClaimPayments",
    "payments/{payment_id}/claim_payments",
    "The vendor's claims in a payment, in its order.",
    Page[ClaimPaymentJson],
    parameters=parameters.page(CLAIM_PAYMENTS, position=_position),
)
async def list_claim_payments(call: Call) -> Response:
    """Return a page of the vendor's claims in a payment."""
    await _load(call)
    limit, after = call.parameters["limit"], call.parameters["after"] or 0
    return page_response(
        await _claim_payments(call, after=after, limit=limit + 1),
        limit=limit,
        of_list=CLAIM_PAYMENTS,
        position=lambda one: (_number(one),),
        as_json=claim_payment_object,
    )


@endpoints.read(
    "GetPaymentX12",
    "payments/{payment_id}/x12",
    "The 835 of a payment.",
    None,
    media_type=X12,
    description="As received. If the payment pays claims of others too: an interchange for each claim of the "
    "vendor, with envelope and heading as received.",
)
async def payment_x12(call: Call) -> Response:
    """Return the 835 of a payment as received; if it has claims of others, the vendor's parts."""
    content = await read_vendor_x12(
        call.context.database,
        call.context.vault,
        call.path["payment_id"],
        scope=call.scope,
        actor=call.actor,
    )
    if content is None:
        raise no_payment()
    return Response(content, 200, {"Content-Type": X12})


@endpoints.read(
    "GetPaymentCsv",
    "payments/{payment_id}/csv",
    "The vendor's claims and lines in a payment as CSV.",
    None,
    media_type=CSV,
)
async def payment_as_csv(call: Call) -> Response:
    """Return a payment's claims and lines as CSV."""
    details = await _load(call)
    pieces = payment_csv_by_page(details.payment, details.adjustments, _claim_payment_pages(call))
    content = (piece.encode() async for piece in pieces)
    return await stream_text(content, f"{CSV}; charset=utf-8")


@endpoints.change(
    "DepositPayment",
    "payments/{payment_id}/deposit",
    "Record that the vendor's part of a payment was deposited.",
    PaymentJson,
    request_type=DepositRequest,
    description="A record of the site about its own part; the payment stays as it is. If several sites have a "
    "part, name the `site`, or give what they are together.",
)
async def deposit_payment(call: Call) -> Response:
    """Record a deposit."""
    body = await read_body(call, DepositRequest)
    faults = {"day": [fault]} if (fault := day_fault(body.day, call.now.date() + DAY)) else {}
    amount: int | None = None
    try:
        amount = None if body.amount is None else read_filter(FilterType.AMOUNT, body.amount)
    except FilterFault as fault:
        faults["amount"] = [str(fault)]
    if faults:
        raise RequestRefusal(call.errors.invalid_fields(faults))
    new = NewDeposit(day=body.day, amount=amount, reference=body.reference)
    return await _change(call, payment_deposit.deposit_payment, new)


@endpoints.change(
    "SettlePayment",
    "payments/{payment_id}/settle",
    "Record why nothing is left to do with the vendor's part of a payment.",
    PaymentJson,
    request_type=SettlementRequest,
    description="For what does not balance, was deposited with another amount, or has claims that match none.",
)
async def settle_payment(call: Call) -> Response:
    """Record a settlement."""
    body = await read_body(call, SettlementRequest)
    return await _change(call, payment_deposit.settle_payment, body.because)


@endpoints.change(
    "UndoDeposit",
    "payments/{payment_id}/deposit",
    "Undo a deposit.",
    PaymentJson,
    verb="DELETE",
)
async def undo_deposit(call: Call) -> Response:
    """Undo a deposit."""
    return await _change(call, payment_deposit.reopen_payment, PaymentClosing.DEPOSIT)


@endpoints.change(
    "UndoSettlement",
    "payments/{payment_id}/settle",
    "Undo a settlement.",
    PaymentJson,
    verb="DELETE",
)
async def undo_settlement(call: Call) -> Response:
    """Undo a settlement."""
    return await _change(call, payment_deposit.reopen_payment, PaymentClosing.SETTLEMENT)


async def _change(call: Call, change: Callable[..., Awaitable[None]], what: object) -> Response:
    """Change what the vendor's sites recorded about a payment, and return the payment as it is then."""
    await _load(call)
    scope = call.scope
    scopes = (
        [scope] if isinstance(scope, Scope) else [Scope(scope.vendor, site) for site in scope.sites]
    )
    try:
        await change(
            call.context.work_context,
            call.path["payment_id"],
            what,
            actor=call.actor,
            scopes=scopes,
        )
    except OperationRefused as why:
        raise refuse(409, str(why)) from None
    return json_response(200, own_payment_object((await _load(call)).payment))


async def _claim_payment_pages(call: Call) -> AsyncIterator[list[ClaimPayment]]:
    after = 0
    while rows := await _claim_payments(call, after=after, limit=CLAIM_PAYMENTS_AT_ONCE):
        after = int(_number(rows[-1]))
        yield rows


async def _load(call: Call) -> PaymentDetails:
    details = await load_vendor_payment(
        call.context.database,
        call.context.vault,
        call.path["payment_id"],
        scope=call.scope,
        actor=call.actor,
        at=call.now,
    )
    if details is None:
        raise no_payment()
    return details


async def _claim_payments(call: Call, *, after: int, limit: int) -> list[ClaimPayment]:
    context = call.context
    return await list_vendor_claim_payments(
        context.database,
        context.vault,
        call.path["payment_id"],
        scope=call.scope,
        after=after,
        limit=limit,
    )


def _number(claim_payment: ClaimPayment) -> str:
    """Return the number of a claim payment in its payment, which its id ends with."""
    return str(claim_payment.claim_payment_id).rpartition("-")[2]


def no_payment() -> RequestRefusal:
    """Return the refusal of an id that is unknown or has no claim of the vendor."""
    return refuse(404, "The vendor has no part in a payment of this id.")
