"""Wire shapes of V3 that can be tested without a server.

Also tests `api/v3/error_responses`.
"""

from clearlane.api.v3 import responses


def test_no_result_has_its_message_in_a_header_and_no_body():
    answer = responses.no_result("The claims could\nnot be imported.")
    assert (answer.status_code, answer.body) == (204, b"")
    assert answer.headers["X-Message"] == "The claims could?not be imported."


def test_a_long_value_is_quoted_in_part():
    assert len(responses.shortened("x" * 10_000)) < 100
