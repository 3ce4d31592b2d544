"""The CORE envelope as bytes: whatever comes in, a value or a refusal comes out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearlane.connect.caqh_core_envelope import (
    REALTIME,
    SUBMIT,
    CoreEnvelope,
    CoreLogin,
    EnvelopeForm,
    UnreadableEnvelope,
    checksum,
    read,
    write,
)
from tests.cases import full_or_quick
from tests.connect.core_server import understood

PAYLOAD = b"ISA*00*REQUEST OF ROSA ARDEN~"


def envelope(payload=PAYLOAD, **changes):
    fields = {
        "payload_type": "X12_270_Request_005010X279A1", "payload_id": "1", "sender_id": "A & <B>",
        "receiver_id": "C", "time_stamp": "2024-03-05T12:00:00Z", "payload": payload,
    }  # fmt: skip
    return CoreEnvelope(**(fields | changes))


def outcome(content_type, body):
    """What was refused, in words; anything but a refusal or an envelope fails the test."""
    try:
        read(content_type, body)
    except UnreadableEnvelope as refused:
        return str(refused)
    return "An envelope."


TYPES = [
    "application/soap+xml", "text/xml", "multipart/form-data; boundary=XbCY", "text/html", "",
    'multipart/related; boundary="edge"; start="<root@payer>"', "multipart/form-data", ";;=;",
]  # fmt: skip


@given(st.sampled_from(TYPES), st.binary(max_size=2_000))
def test_any_bytes_are_an_envelope_or_a_refusal(content_type, body):
    assert outcome(content_type, body).endswith(".")


@settings(max_examples=full_or_quick(200, 20))
@given(st.integers(0, 3), st.data())
def test_an_answer_cut_or_changed_anywhere_is_an_envelope_or_a_refusal(which, data):
    content_type, body = ANSWERS[which]
    at = data.draw(st.integers(0, len(body)))
    damaged = (
        body[:at] + data.draw(st.binary(max_size=3)) + body[at + data.draw(st.integers(0, 5)) :]
    )
    assert "ARDEN" not in outcome(content_type, damaged)


ANSWERS = [
    write(form, operation, envelope(), CoreLogin("u", "p"), inline=inline)
    for form, operation, inline in (
        (EnvelopeForm.SOAP, SUBMIT, False), (EnvelopeForm.SOAP, SUBMIT, True), (EnvelopeForm.MIME, SUBMIT, False),
        (EnvelopeForm.MIME, REALTIME, False),
    )
]  # fmt: skip


@given(st.binary(min_size=1, max_size=500), st.sampled_from(EnvelopeForm), st.booleans())
def test_any_payload_of_a_batch_is_carried_whole_and_understood_by_a_stranger(
    payload, form, inline
):
    content_type, body = write(
        form, SUBMIT, envelope(payload), CoreLogin("u&", "<p>"), inline=inline
    )
    seen = understood(content_type, body)
    assert (seen.payload, seen.login) == (payload, ("u&", "<p>"))
    assert (seen.fields["SenderID"], seen.fields["CheckSum"]) == ("A & <B>", checksum(payload))
    assert read(content_type, body).payload == payload


@given(
    st.text(st.characters(min_codepoint=32, max_codepoint=255), min_size=1) | st.just("~\r\n]]>\n")
)
def test_any_text_of_a_question_is_carried_whole(text):
    payload = text.encode("latin-1")
    content_type, body = write(EnvelopeForm.SOAP, REALTIME, envelope(payload), None)
    assert understood(content_type, body).payload == payload
    assert read(content_type, body).payload == payload


def test_a_payload_that_holds_the_boundary_gets_another():
    content_type, body = write(
        EnvelopeForm.MIME, SUBMIT, envelope(b"--clearlane-7f3b1c5e9a2d4860--\r\n"), None
    )
    assert understood(content_type, body).payload == b"--clearlane-7f3b1c5e9a2d4860--\r\n"
    assert "clearlane-7f3b1c5e9a2d4860" not in content_type


def test_the_checksum_is_sha_1_in_hexadecimal():
    assert checksum(b"abc") == "a9993e364706816aba3e25717850c26c9cd0d89d"


@pytest.mark.parametrize("length", ["9" * 5_000, "٣", "-1", "x"])
def test_an_odd_length_is_no_reason_to_fail(length):
    content_type, body = write(EnvelopeForm.MIME, SUBMIT, envelope(), None)
    odd = body.replace(str(len(PAYLOAD)).encode() + b"\r\n", length.encode() + b"\r\n")
    assert read(content_type, odd).payload == PAYLOAD


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "x\n" * 300_000, "<![CDATA[" + "~" * 1_000_000 + "]]>"]
)
def test_a_long_text_in_a_small_envelope_is_read_whole(text):
    """Only tags and comments are limited, whatever the parser is fed at once."""
    body = f"<x><PayloadType>X12</PayloadType><Payload>{text}</Payload></x>".encode()
    payload = read("text/xml", body).payload
    assert payload == text.removeprefix("<![CDATA[").removesuffix("]]>").encode()
    assert "more than 65536 bytes" in outcome("text/xml", b"<x><!--" + b"x" * 100_000 + b"--></x>")
