"""Payments of ``/clearlane/v1``: list, one with its claims, the 835 as received, and CSV.

The names are those of ``payments.as_json``; a vendor gets the heading of a payment and its own claims alone.
"""

from collections.abc import AsyncIterator
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.http.http_responses import X12, json_response
from clearlane.api.http.stream import stream_text
from clearlane.api.v1 import parameters
from clearlane.api.v1.claim_json import ClaimPaymentJson
from clearlane.api.v1.cursors import cursor_number, encode_cursor
from clearlane.api.v1.problems import refuse
from clearlane.api.v1.resource import Page, Resource, ResourceRows, page_response
from clearlane.payments.as_json import adjustment_object, claim_payment_object, own_payment_object
from clearlane.payments.payment import ClaimPayment
from clearlane.payments.payment_csv import payment_csv_by_page
from clearlane.payments.payment_label import PaymentLabel
from clearlane.pipeline.query import payment_list
from clearlane.pipeline.query.payments import PaymentDetails
from clearlane.pipeline.query.vendor_payments import (
    list_vendor_claim_payments,
    load_vendor_payment,
    read_vendor_x12,
)
from clearlane.store.payments import payment_query
from clearlane.store.payments.payment_query import PaymentQuery

endpoints = ResourceRows(Resource.PAYMENTS)

CSV = "text/csv"
LIST, CLAIM_PAYMENTS = "payments", "claim_payments"
CLAIM_PAYMENT_DIGITS_MAX = 9
CLAIM_PAYMENTS_SHOWN = 100
CLAIM_PAYMENTS_AT_ONCE = 200


class PaymentJson(BaseModel):
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
    parameters.filter_parameter(one.type, one.name, one.help, one.choices)
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
