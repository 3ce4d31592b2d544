"""Signatures and retries of webhooks; the package `standardwebhooks` is the independent witness.

Also tests `events/retries`.
"""

import base64
import time

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from clearlane.events.retries import ATTEMPTS_MAX, retry_seconds
from clearlane.events.signature import new_secret, signed_headers

BODY = b'{"type":"ping","data":{}}'


def headers(secrets, *, body=BODY, now=None):
    return signed_headers(secrets, message_id="E1", timestamp=int(now or time.time()), body=body)


def test_another_library_verifies_the_signature():
    secret = new_secret()
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    assert Webhook(secret).verify(BODY, headers([secret])) == {"type": "ping", "data": {}}


def test_while_a_secret_is_rotated_both_verify():
    old, new = new_secret(), new_secret()
    for secret in (old, new):
        assert Webhook(secret).verify(BODY, headers([new, old]))


@pytest.mark.parametrize("case", ["body", "secret", "time"])
def test_what_was_changed_or_is_old_is_refused(case):
    secret = new_secret()
    signed = headers([secret], now=time.time() - 3_600 if case == "time" else None)
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret() if case == "secret" else secret).verify(
            BODY + b" " if case == "body" else BODY, signed
        )


@pytest.mark.parametrize(
    ("attempts", "least", "most"),
    [
        (1, 5, 5.5), (2, 300, 330), (3, 1_800, 1_980), (4, 7_200, 7_920), (5, 28_800, 31_680),
        (6, 86_400, 95_040), (7, 172_800, 190_080),
    ],
)  # fmt: skip
def test_the_pauses_grow_with_some_chance(attempts, least, most):
    assert retry_seconds(attempts, 0) == least
    assert retry_seconds(attempts, 1) == pytest.approx(most)
    assert retry_seconds(ATTEMPTS_MAX, 0) is None
