"""A console user without a browser: pages, forms and cookies."""

import base64
import json
import re
import time
from dataclasses import dataclass
from html import unescape
from urllib.parse import parse_qs, urlsplit

from clearlane.accounts import totp
from clearlane.accounts.totp import TOTP_STEPS_BESIDE

ALERT = re.compile(r'<p class="(?:fault|note)" id="notice"[^>]*>([^<]*)</p>')
CSRF_FIELD = re.compile(r'name="form" value="([0-9a-f]+)"')


@dataclass
class Person:
    """A console user and both factors."""

    name: str
    password: str
    secret: bytes
    last_step: int = 0

    def code(self) -> str:
        """A code that was not used yet: waits for the next half minute only where it must."""
        # Not the step before, though it would do: it may end before the form arrives.
        step = max(self.last_step + 1, totp.step_at(time.time()))
        while step > totp.step_at(time.time()) + TOTP_STEPS_BESIDE:
            time.sleep(0.5)
        self.last_step = step
        return totp.code_at(self.secret, step)

    def credentials(self, **other: str) -> dict[str, str]:
        return {"name": self.name, "password": self.password} | other


def add_person(server, name: str, *arguments: str) -> Person:
    """Add a console user by command, and keep what is shown once."""
    made = json.loads(server.command("user", "add", name, *arguments, "--json"))
    return Person(made["name"], made["password"], secret_of(made["totp"]))


def secret_of(uri: str) -> bytes:
    """The secret in an authenticator's address."""
    text = parse_qs(urlsplit(uri).query)["secret"][0]
    return base64.b32decode(text + "=" * (-len(text) % 8))


def notice(page) -> str:
    """What a login page says above its form."""
    found = ALERT.search(page.text)
    return unescape(found[1]) if found else ""


def csrf_token(page) -> str:
    found = CSRF_FIELD.search(page.text)
    assert found, "the page has no form"
    return found[1]


def sign_in(client, **typed: str):
    """Open the login page and send its form."""
    word = csrf_token(client.get("/console/login"))
    return client.post("/console/login", data={"form": word, **typed})
