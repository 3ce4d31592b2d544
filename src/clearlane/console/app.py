"""The console as one callable: find the screen, find the session, answer.

Stands under a path segment of the front door, which has seen to https, the log and the request id.
No fault of a screen shows anything but a sentence. Knows no screen's work.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import structlog
from starlette.requests import Request
from starlette.responses import Response

from clearlane.console import forms, screens
from clearlane.console.rendering import Paper
from clearlane.console.screens import Desk, Visit
from clearlane.kernel import limits
from clearlane.pipeline.access.sign_in import Busy, Passwords, resume
from clearlane.store.group_commit import Contended, Unavailable

log = structlog.get_logger()

SEGMENT = "console"
READ = {"GET", "HEAD"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One row: a path, a verb, and who may see it."""

    path: str
    """Below the console; one that ends with ``*`` takes what follows."""
    methods: frozenset[str]
    show: Callable[[Visit], Awaitable[Response]]
    signed_in: bool = False


SCREENS = (
    Screen(path="/", methods=frozenset(READ), show=screens.show_home, signed_in=True),
    Screen(path="/login", methods=frozenset(READ), show=screens.show_login),
    Screen(path="/login", methods=frozenset({"POST"}), show=screens.take_login),
    # Not for HEAD: what only looks whether a link leads somewhere must not use it up.
    Screen(path="/enter/*", methods=frozenset({"GET"}), show=screens.enter),
    Screen(path="/logout", methods=frozenset({"POST"}), show=screens.take_logout, signed_in=True),
    Screen(path="/style.css", methods=frozenset(READ), show=screens.show_style),
)


class Console:
    """Answers every request below its path."""

    def __init__(
        self, desk: Desk, base_url: str, slow: Callable[[str, bytes | None], Awaitable[None]]
    ) -> None:
        """``slow`` makes whoever keeps failing to sign in wait."""
        self._desk = desk
        self._slow = slow
        self._paper = Paper(f"{urlsplit(base_url).path.rstrip('/')}/{SEGMENT}")
        self._passwords = Passwords()

    async def answer(self, request: Request, address: str, request_id: str) -> Response:
        """A page, whatever happens."""
        try:
            return await self._answer(request, address, request_id)
        except forms.BadForm:
            return self._paper.told(400, "Not understood", "The form cannot be read.")
        except (Busy, Unavailable, Contended, TimeoutError, ConnectionError):
            later = {"Retry-After": str(limits.RETRY_SECONDS)}
            return self._paper.told(503, "Not now", "Please try again in a moment.", later)
        except Exception:
            # The log writes an exception's type and place, and nothing that it says.
            log.exception("fault in the console", request_id=request_id)
            sentence = f"Something went wrong. Tell the operator this number: {request_id}"
            return self._paper.told(500, "An error has occurred", sentence)

    async def _answer(self, request: Request, address: str, request_id: str) -> Response:
        path = request.scope["path"].removeprefix(f"/{SEGMENT}") or "/"
        name, part = ("/enter/*", path[7:]) if path.startswith("/enter/") else (path, "")
        rows = [screen for screen in SCREENS if screen.path == name]
        if not rows:
            return self._paper.told(404, "No such page", "There is no such page here.")
        screen = next((row for row in rows if request.method in row.methods), None)
        if screen is None:
            allowed = ", ".join(sorted(set().union(*(row.methods for row in rows))))
            wrong = "This page cannot be used so."
            return self._paper.told(405, "Not possible", wrong, {"Allow": allowed})
        visit = await self._visit(request, address, request_id, part)
        if screen.signed_in and visit.user is None:
            return self._paper.to("/login?say=ended")
        return await screen.show(visit)

    async def _visit(self, request: Request, address: str, request_id: str, part: str) -> Visit:
        now, session = self._desk.wall.now(), forms.read_cookie(request, forms.SESSION)
        return Visit(
            desk=self._desk,
            paper=self._paper,
            passwords=self._passwords,
            slow=self._slow,
            request=request,
            address=address,
            request_id=request_id,
            now=now,
            session=session,
            word=forms.read_cookie(request, forms.WORD),
            user=await resume(self._desk, session, now=now) if session else None,
            part=part,
        )
