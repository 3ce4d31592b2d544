"""Wire shapes of V3 that can be tested without a server.

Also tests `api/v3/wire_errors`.
"""

from clearlane.api.v3 import wire


def test_no_result_has_its_message_in_a_header_and_no_body():
    answer = wire.no_result("The claims could\nnot be imported.")
    assert (answer.status_code, answer.body) == (204, b"")
    assert answer.headers["X-Message"] == "The claims could?not be imported."


def test_a_long_value_is_quoted_in_part():
    assert len(wire.shortened("x" * 10_000)) < 100
