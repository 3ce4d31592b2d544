"""Forms: read without being hurt by them, and proved to come from a page of ours.

The browser holds a random word for the login form, and the session's secret after a sign-in. A form
carries a keyed hash of one of them, which no other site can know. Knows no screen and no user.
"""

import asyncio
import hmac
import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from clearlane.kernel import limits
from clearlane.kernel.ids import random_text
from clearlane.pipeline.access.proxy_login import ANYBODY
from clearlane.store.vault import Vault

# The names' beginning makes browsers insist: Secure, from this host alone, for all its paths.
SESSION = "__Host-clearlane-session"
WORD = "__Host-clearlane-form"
# Another site's link never brings a session along; the word it may bring, or a login page that is open
# in another window would lose its own.
SAME_SITE: dict[str, Literal["strict", "lax"]] = {SESSION: "strict", WORD: "lax"}
FIELD = "form"
MEDIA_TYPE = "application/x-www-form-urlencoded"


class BadForm(Exception):
    """The form cannot be read."""


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form; of one given twice the first counts."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != MEDIA_TYPE:
        raise BadForm
    try:
        async with asyncio.timeout(limits.CONSOLE_FORM_SECONDS_MAX):
            text = (await _read(request)).decode()
        pairs = parse_qsl(
            text,
            keep_blank_values=True,
            max_num_fields=limits.CONSOLE_FORM_FIELDS_MAX,
            errors="strict",
        )
    except (TimeoutError, ValueError, ClientDisconnect):
        raise BadForm from None
    return dict(reversed(pairs))


def is_ours(vault: Vault, request: Request, held: str, form: Mapping[str, str]) -> bool:
    """Whether the form was sent by a page that we gave to the browser that holds this."""
    # Without a referrer browsers send no useful Origin; this header they send, and pages cannot set it.
    from_where = request.headers.get("sec-fetch-site", "same-origin")
    given = form.get(FIELD, "").encode()
    right = hmac.compare_digest(form_word(vault, held).encode(), given)
    return right and bool(held) and from_where in {"same-origin", "none"}


def form_word(vault: Vault, held: str) -> str:
    """What a form carries to prove that it is ours."""
    return vault.fingerprint(ANYBODY, "console form", held).hex()


def read_cookie(request: Request, name: str) -> str:
    """What the browser holds for us; empty for nothing, or for what we never gave it."""
    text = request.cookies.get(name, "")
    return text if _GIVEN.fullmatch(text) else ""


def new_word() -> str:
    """A word for a browser that has none."""
    return random_text(limits.SECRET_CHARACTERS)


def set_cookie(answer: Response, name: str, text: str) -> None:
    """Let the browser hold a text until it is closed; an empty one is taken away."""
    answer.set_cookie(
        name,
        text,
        max_age=None if text else 0,
        path="/",
        secure=True,
        httponly=True,
        samesite=SAME_SITE[name],
    )


_GIVEN = re.compile(rf"[A-Za-z0-9]{{{limits.SECRET_CHARACTERS}}}", re.ASCII)


async def _read(request: Request) -> bytes:
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > limits.CONSOLE_FORM_BYTES_MAX:
            raise ValueError("too long")
    return content
