"""Event ids go both ways and sort by their numbers; the envelope has the agreed fields."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearlane.events.event import (
    EVENT_NUMBER_MAX,
    Event,
    envelope,
    format_event_id,
    parse_event_id,
)

NUMBERS = st.integers(0, EVENT_NUMBER_MAX)


@given(NUMBERS, NUMBERS)
def test_ids_go_both_ways_and_sort_as_numbers(one, other):
    assert parse_event_id(format_event_id(one)) == one
    assert (one < other) == (format_event_id(one) < format_event_id(other))


@pytest.mark.parametrize("text", ["", "E", "1", "E13LQTH9RNT", "C13LQTH9RNTH", "E13LQTH9RNTI", "E13LQTH9RNTHH"])  # fmt: skip
def test_another_text_is_no_id(text):
    assert parse_event_id(text) is None


CLAIM = Event(1_700_000_000_000_000, "claim.sent", 1_700_000_000_123_456, 1, 2, "system", "C1", 2, {"state": "sent"})  # fmt: skip
PING = Event(1_700_000_000_000_001, "ping", 1_700_000_000_000_000, 1, None, "vendor", "", 0, {})
PAYMENT = PING._replace(type="payment.received", site_id=2, data={"payment_id": "P1"})


@pytest.mark.parametrize(
    ("event", "site", "vendor_claim_id", "expected"),
    [
        (CLAIM, "S1", "A-17", {
            "id": "E13LQTH9RNTH", "type": "claim.sent", "created": "2023-11-14T22:13:20.123456Z",
            "mode": "sandbox", "site": "S1", "actor": "system", "claim_number": "C1",
            "vendor_claim_id": "A-17",
            "data": {"sequence": 2, "state": "sent", "url": "/clearlane/v1/claims/C1"},
        }),
        (PING, None, None, {
            "id": "E13LQTH9RNTJ", "type": "ping", "created": "2023-11-14T22:13:20.000000Z",
            "mode": "sandbox", "site": None, "actor": "vendor", "claim_number": None,
            "vendor_claim_id": None, "data": {},
        }),
        (PAYMENT, "S1", None, {
            "id": "E13LQTH9RNTJ", "type": "payment.received", "created": "2023-11-14T22:13:20.000000Z",
            "mode": "sandbox", "site": "S1", "actor": "vendor", "claim_number": None,
            "vendor_claim_id": None,
            "data": {"payment_id": "P1", "url": "/clearlane/v1/payments/P1"},
        }),
    ],
)  # fmt: skip
def test_the_envelope(event, site, vendor_claim_id, expected):
    made = envelope(event, mode="sandbox", site=site, vendor_claim_id=vendor_claim_id)
    assert made == expected
    assert list(made) == list(expected)
