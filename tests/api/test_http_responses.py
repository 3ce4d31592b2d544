"""Header values are safe whatever callers send.

Also tests `api/http/stream`.
"""

from hypothesis import given
from hypothesis import strategies as st

from clearlane.api.http.http_responses import (
    NOTES_SHOWN_MAX,
    ignored_fields_header,
    notes_header,
    with_security_headers,
)


@given(st.lists(st.text(max_size=300), max_size=40))
def test_ignored_fields_never_break_their_header(paths):
    value = ignored_fields_header(paths)
    assert all(" " <= character <= "~" for character in value)
    assert len(value.split(", ")) <= 20


def test_ignored_fields_are_named_once_and_in_order():
    assert ignored_fields_header(["Claims[0].x", "b c", "Claims[0].x", "é"]) == (
        "Claims[0].x, b%20c, %C3%A9"
    )


def test_notes_are_sentences_on_one_line_and_the_first_of_many():
    assert notes_header(["One.", "Two\r\nX: y.", "One."]) == "One. | Two??X: y."
    many = [f"Note {at}." for at in range(NOTES_SHOWN_MAX + 5)]
    assert notes_header(many) == " | ".join([*many[:NOTES_SHOWN_MAX], "5 more"])


def test_a_response_keeps_the_security_headers_that_it_sets_itself():
    own = [(b"Cache-Control", b"public, max-age=300"), (b"content-type", b"text/css")]
    assert with_security_headers(own) == [
        *own,
        (b"strict-transport-security", b"max-age=31536000"),
        (b"x-content-type-options", b"nosniff"),
    ]
