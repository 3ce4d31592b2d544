"""Whatever a service sends, the client returns an answer or raises an error of its own.

Also tests `client/models`.
"""

from decimal import Decimal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearlane.client import (
    Account,
    BaaMissing,
    ClearlaneError,
    Client,
    EligibilityAnswer,
    PayerDocuments,
    Response,
    Retry,
    models,
)
from tests.cases import by_profile, every_case, full_or_quick
from tests.client.sample_calls import CASES

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
ACCOUNT = Account(base_url="https://x", key="k", password="p", site="s")


class Always:
    """A transport with one answer."""

    def __init__(self, response):
        self.response = response

    def send(self, request):
        return self.response

    def close(self):
        """Nothing is open."""


def call(case, response):
    client = Client(ACCOUNT, transport=Always(response), retry=Retry(attempts_max=1))
    try:
        answer = getattr(client, case.method)(*case.arguments)
    except ClearlaneError as fault:
        return str(fault)
    if isinstance(answer, EligibilityAnswer):
        list(answer.patients())
    if isinstance(answer, PayerDocuments):
        list(answer)
    return repr(answer)


def mutated(value):
    """Answers as documented with one field replaced by anything."""
    if not isinstance(value, dict) or not value:
        return JSON
    return st.tuples(st.sampled_from(sorted(value)), JSON).map(lambda p: {**value, p[0]: p[1]})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.method)
@settings(max_examples=by_profile(thorough=40, usual=20, quick=5))
@given(data=st.data())
def test_any_answer_is_read_or_refused(case, data):
    listed = isinstance(case.answer, list)
    inner = case.answer[0] if listed and case.answer else case.answer
    body = data.draw(JSON | mutated(inner).map(lambda one: [one] if listed else one))
    assert call(case, Response(200, {}, msgspec.json.encode(body)))


@settings(max_examples=full_or_quick(150, 15))
@given(
    status=st.integers(100, 599),
    body=st.binary(max_size=60) | JSON.map(msgspec.json.encode),
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "date", "x-message", "x-request-id", "x-ignored-fields"]),
        st.text(max_size=20),
    ),
)
def test_any_status_and_body_is_an_answer_or_an_error(status, body, headers):
    for case in (CASES[0], CASES[3]):
        assert call(case, Response(status, headers, body))


UNUSABLE = {
    "deep": b"[" * 100_000,
    "deep and closed": b'[{"a":' * 50_000 + b"1" + b"}]" * 50_000,
    "no JSON": b"<html>Sign in</html>",
    "empty": b"",
    "of another alphabet": "[]".encode("utf-16"),
}


@every_case("body", UNUSABLE.values(), ids=UNUSABLE)
@every_case("status", [200, 400, 401, 503])
def test_an_unreadable_body_is_an_error(status, body):
    client = Client(
        ACCOUNT, transport=Always(Response(status, {}, body)), retry=Retry(attempts_max=1)
    )
    with pytest.raises(ClearlaneError):
        client.payers()


@pytest.mark.parametrize("number", ["1e99999999", "-1e99999999", '"NaN"', '"Infinity"'])
def test_a_number_that_nobody_can_mean_is_left_in_the_raw_answer(number):
    body = f'[{{"VendorId": {number}, "TotalClaimAmount": {number}}}]'.encode()
    (row,) = models.read_list(models.ClaimStatus)(models.parse(body))
    assert (row.VendorId, row.TotalClaimAmount) == (0, 0)
    assert row.raw["VendorId"] is not None


def test_a_mark_of_the_byte_order_is_passed_over():
    def of(status, body):
        response = Response(status, {}, b"\xef\xbb\xbf" + body)
        return Client(ACCOUNT, transport=Always(response), retry=Retry(attempts_max=1))

    assert of(200, b'[{"Name": "Meadow Mutual"}]').payers()[0].Name == "Meadow Mutual"
    with pytest.raises(BaaMissing):
        of(401, b"201: Not accepted.").payers()


@pytest.mark.parametrize("body", [b"{}", b'{"EnrollmentResults": null}'])
def test_an_answer_without_results_submits_nobody(body):
    assert not models.read(models.EnrollmentAnswer, models.parse(body)).submitted


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=2, min_value=-(10**9), max_value=10**9
    )
)
def test_amounts_are_exact(amount):
    body = b'[{"TotalClaimAmount": %s}]' % str(amount).encode()
    (row,) = models.read_list(models.ClaimStatus)(models.parse(body))
    assert row.TotalClaimAmount == amount
    assert isinstance(row.TotalClaimAmount, Decimal)
