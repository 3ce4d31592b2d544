"""The console of an installation in this process, asked as a signed-in person of any role."""

from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from clearlane.accounts.totp import TOTP_SECRET_BYTES
from clearlane.accounts.users import ConsoleRole
from clearlane.api.frame.auth import SignInThrottle
from clearlane.console.app import Console
from clearlane.console.frame.forms import CSRF_FIELD, MEDIA_TYPE, SESSION_COOKIE, csrf_token
from clearlane.kernel.ids import NO_VENDOR, VendorId
from clearlane.pipeline.access.sign_in import seal_totp_secret, session_hash
from clearlane.store.accounts import console_users
from clearlane.store.database.database import Actor
from clearlane.wiring import Installation

BY = Actor("operator", "a test")


@dataclass
class ConsolePerson:
    """A person with a live session."""

    installation: Installation
    console: Console
    session: str

    async def ask(
        self, path: str, *, form: dict[str, str | list[str]] | None = None, token: str | None = None
    ) -> Response:
        """GET a page, or POST a form with its CSRF token."""
        path, _, query = path.partition("?")
        word = csrf_token(self.installation.vault, self.session) if token is None else token
        body = urlencode({CSRF_FIELD: word, **(form or {})}, doseq=True).encode()
        cookie = f"{SESSION_COOKIE}={self.session}".encode()
        scope = {
            "type": "http",
            "method": "GET" if form is None else "POST",
            "path": f"/console{path}",
            "query_string": query.encode(),
            "headers": [(b"cookie", cookie), (b"content-type", MEDIA_TYPE.encode())],
            "server": ("127.0.0.1", 443),
            "scheme": "https",
        }

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        return await self.console.answer(Request(scope, receive), "192.0.2.1", "REQUEST-1")

    async def confirm(self, path: str, form: dict[str, str | list[str]]) -> Response:
        """POST a form whose act is asked about, then press the button of the question."""
        asked = await self.ask(path, form=form)
        page = bytes(asked.body).decode()
        assert (asked.status_code, 'name="confirmed" value="yes"' in page) == (200, True), page
        return await self.ask(path, form={**form, "confirmed": "yes"})

    async def text(self, path: str) -> str:
        """GET a page that must be there."""
        answer = await self.ask(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.body[:2_000])
        return bytes(answer.body).decode()


async def sign_in_as(
    installation: Installation, role: ConsoleRole, *, vendor: VendorId = NO_VENDOR, sites=None
) -> ConsolePerson:
    """Add a person of a role, and begin a session without the sign-in form, which has tests of its own."""
    name = f"{role}-{vendor}-{len(await console_users.all_users(installation.database))}"
    await installation.vault.ensure_key(vendor)
    sealed = seal_totp_secret(installation.vault, vendor, name, bytes(TOTP_SECRET_BYTES))
    new = console_users.NewUser(
        name=name, vendor=vendor, sites=sites, role=role, password_hash="", totp_secret=sealed
    )
    now = installation.wall.now()
    await console_users.add_user(installation.database, new, now=now, actor=BY)
    session = f"{len(name):02}{name}".replace("-", "0").ljust(32, "x")[:32]
    hashed = session_hash(installation.vault, session)

    async def job(tx):
        found = await console_users.find_user(tx, name)
        assert found is not None
        ends = now + timedelta(hours=8)
        await console_users.begin_linked_session(tx, found.user, hashed, now=now, ends=ends)

    await installation.database.write(console_users.SCOPE, job, actor=BY)
    return ConsolePerson(installation, Console(installation, "", SignInThrottle()), session)
