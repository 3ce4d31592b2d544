"""Read forms within limits, and protect them from cross-site request forgery (CSRF).

A cookie holds a random secret: one for the sign-in form, the session's own after sign-in. Each form carries
a token, a keyed hash of that secret, which no other site can compute. Knows no page and no user.
"""

import asyncio
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from clearlane.kernel import limits
from clearlane.kernel.ids import NO_VENDOR, random_text
from clearlane.store.vault.vault import Vault

CONSOLE_FORM_BYTES_MAX = 256 * 1024
CONSOLE_FORM_FIELDS_MAX = 4_000
# A form that was kept while its session ended comes along, sealed.
SIGN_IN_FORM_BYTES_MAX = 56 * 1024
SIGN_IN_FORM_FIELDS_MAX = 10
CONSOLE_FORM_SECONDS_MAX = 20


# Browsers accept a cookie whose name begins with __Host- only if it is Secure, for this host and all paths.
SESSION_COOKIE = "__Host-clearlane-session"
CSRF_COOKIE = "__Host-clearlane-form"
# A link from another site never sends the session cookie. It does send the CSRF cookie: otherwise the
# response would set a new one, and a sign-in page that is open in another window would stop working.
SAME_SITE: dict[str, Literal["strict", "lax"]] = {SESSION_COOKIE: "strict", CSRF_COOKIE: "lax"}
CSRF_FIELD = "form"
MEDIA_TYPE = "application/x-www-form-urlencoded"


INPUT_PREFIX = "f."
"""Begins the name of an input for a field of a claim; the rest is its path."""


class BadForm(Exception):
    """A form that cannot be read."""


@dataclass(frozen=True, slots=True)
class FormFields:
    """The fields of a form, as they were sent."""

    pairs: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def get(self, name: str, default: str = "") -> str:
        """Return a field, of a repeated one the first; the default if it is missing."""
        return next((value for key, value in self.pairs if key == name), default)

    def get_all(self, name: str) -> list[str]:
        """Return every value of a repeated field, such as tick boxes."""
        return [value for key, value in self.pairs if key == name]

    def replaced(self, values: Mapping[str, str]) -> "FormFields":
        """Return the fields with these values in place of the ones of the same names."""
        rest = tuple(pair for pair in self.pairs if pair[0] not in values)
        return FormFields((*rest, *values.items()))

    def names(self) -> set[str]:
        """Return the names of all fields."""
        return {key for key, _ in self.pairs}

    def inputs(self) -> dict[str, str]:
        """Return what was given for fields of a claim, by their paths."""
        # Backwards, so that of a repeated field the first counts.
        return {
            name.removeprefix(INPUT_PREFIX): value
            for name, value in reversed(self.pairs)
            if name.startswith(INPUT_PREFIX)
        }


async def read_form(
    request: Request,
    *,
    bytes_max: int = CONSOLE_FORM_BYTES_MAX,
    fields_max: int = CONSOLE_FORM_FIELDS_MAX,
) -> FormFields:
    """Return the fields of a form."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != MEDIA_TYPE:
        raise BadForm
    try:
        async with asyncio.timeout(CONSOLE_FORM_SECONDS_MAX):
            text = (await _read(request, bytes_max)).decode()
        pairs = parse_qsl(
            text,
            keep_blank_values=True,
            max_num_fields=fields_max,
            errors="strict",
        )
    except (TimeoutError, ValueError, ClientDisconnect):
        raise BadForm from None
    return FormFields(tuple(pairs))


def has_valid_csrf_token(vault: Vault, request: Request, secret: str, form: FormFields) -> bool:
    """Return whether the form carries the token of the secret in the browser's cookie."""
    # Origin is useless here because of our Referrer-Policy; browsers send Sec-Fetch-Site, and pages cannot set it.
    origin_site = request.headers.get("sec-fetch-site", "same-origin")
    token = form.get(CSRF_FIELD).encode()
    matches = hmac.compare_digest(csrf_token(vault, secret).encode(), token)
    return matches and bool(secret) and origin_site in {"same-origin", "none"}


def csrf_token(vault: Vault, secret: str) -> str:
    """Return the CSRF token of a secret."""
    return vault.fingerprint(NO_VENDOR, "console form", secret).hex()


def read_cookie(request: Request, name: str) -> str:
    """Return a cookie's secret; empty if there is none, or if it is not of our form."""
    text = request.cookies.get(name, "")
    return text if _SECRET.fullmatch(text) else ""


def new_csrf_secret() -> str:
    """Return a secret for the CSRF cookie."""
    return random_text(limits.SECRET_CHARACTERS)


def set_cookie(response: Response, name: str, text: str) -> None:
    """Set a cookie until the browser is closed; an empty text deletes it."""
    response.set_cookie(
        name,
        text,
        max_age=None if text else 0,
        path="/",
        secure=True,
        httponly=True,
        samesite=SAME_SITE[name],
    )


_SECRET = re.compile(rf"[A-Za-z0-9]{{{limits.SECRET_CHARACTERS}}}", re.ASCII)


async def _read(request: Request, bytes_max: int) -> bytes:
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > bytes_max:
            raise ValueError("too long")
    return content
