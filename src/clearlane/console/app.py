"""The console as one callable: find the page, resume the session, respond.

Mounted below a path segment of the API server, which does https, logging and request ids. A fault of a page
is shown as one sentence without details. Knows the table of pages, not their work.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import structlog
from starlette.requests import Request
from starlette.responses import Response

from clearlane.console import forms, home_page, sign_in_page
from clearlane.console.page_request import ConsoleContext, NotSignedIn, PageRequest, SignInGuard
from clearlane.console.rendering import PageRenderer, style_response
from clearlane.kernel import limits
from clearlane.pipeline.access.failed_sign_ins import FailedSignIns
from clearlane.pipeline.access.sign_in import PasswordChecker, PasswordQueueFull, resume_session
from clearlane.store.group_commit import DatabaseUnavailable, LockContention

log = structlog.get_logger()

SEGMENT = "console"
READ = {"GET", "HEAD"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolePage:
    """One row of the table of pages: a path, its verbs, and whether it needs a session."""

    path: str
    """Relative to the console; one that ends with ``*`` matches every path below it."""
    methods: frozenset[str]
    show: Callable[[PageRequest], Awaitable[Response]]
    needs_session: bool = False


async def show_style(request: PageRequest) -> Response:
    """Return the style sheet."""
    return style_response()


PAGES = (
    ConsolePage(path="/", methods=frozenset(READ), show=home_page.show_home, needs_session=True),
    ConsolePage(path="/login", methods=frozenset(READ), show=sign_in_page.show_sign_in),
    ConsolePage(path="/login", methods=frozenset({"POST"}), show=sign_in_page.submit_sign_in),
    # Not for HEAD: link previews and scanners must not use up a one-time URL.
    ConsolePage(path="/enter/*", methods=frozenset({"GET"}), show=sign_in_page.open_login_url),
    ConsolePage(
        path="/logout",
        methods=frozenset({"POST"}),
        show=sign_in_page.submit_sign_out,
        needs_session=True,
    ),
    ConsolePage(path="/style.css", methods=frozenset(READ), show=show_style),
)


class Console:
    """The console of an installation."""

    def __init__(
        self,
        context: ConsoleContext,
        base_url: str,
        guard: SignInGuard,
    ) -> None:
        """``guard`` limits and slows failed sign-ins."""
        self._context = context
        self._guard = guard
        self._failures = FailedSignIns(context, "console")
        self._pages = PageRenderer(f"{urlsplit(base_url).path.rstrip('/')}/{SEGMENT}")
        self._passwords = PasswordChecker()

    async def answer(self, request: Request, address: str, request_id: str) -> Response:
        """Return a page, also for every fault."""
        try:
            return await self._respond(request, address, request_id)
        except NotSignedIn:
            return self._pages.redirect("/login?say=ended")
        except forms.BadForm:
            return self._pages.message_page(400, "Not understood", "The form cannot be read.")
        except (
            PasswordQueueFull,
            DatabaseUnavailable,
            LockContention,
            TimeoutError,
            ConnectionError,
        ):
            later = {"Retry-After": str(limits.RETRY_SECONDS)}
            return self._pages.message_page(503, "Not now", "Please try again in a moment.", later)
        except Exception:
            # The log configuration writes an exception's type and place, never its text.
            log.exception("fault in the console", request_id=request_id)
            sentence = f"Something went wrong. Tell the operator this number: {request_id}"
            return self._pages.message_page(500, "An error has occurred", sentence)

    async def _respond(self, request: Request, address: str, request_id: str) -> Response:
        path = request.scope["path"].removeprefix(f"/{SEGMENT}") or "/"
        name, part = ("/enter/*", path[7:]) if path.startswith("/enter/") else (path, "")
        pages = [page for page in PAGES if page.path == name]
        if not pages:
            return self._pages.message_page(404, "No such page", "There is no such page here.")
        page = next((each for each in pages if request.method in each.methods), None)
        if page is None:
            allowed = ", ".join(sorted(set().union(*(each.methods for each in pages))))
            sentence = "This page cannot be used with this method."
            return self._pages.message_page(405, "Not possible", sentence, {"Allow": allowed})
        page_request = await self._page_request(request, address, request_id, part)
        if page.needs_session and page_request.user is None:
            raise NotSignedIn
        return await page.show(page_request)

    async def _page_request(
        self, request: Request, address: str, request_id: str, part: str
    ) -> PageRequest:
        now, session = self._context.wall.now(), forms.read_cookie(request, forms.SESSION_COOKIE)
        return PageRequest(
            context=self._context,
            pages=self._pages,
            passwords=self._passwords,
            guard=self._guard,
            failures=self._failures,
            http_request=request,
            address=address,
            request_id=request_id,
            now=now,
            session=session,
            csrf_secret=forms.read_cookie(request, forms.CSRF_COOKIE),
            user=await resume_session(self._context.work_context, session, now=now)
            if session
            else None,
            path_rest=part,
        )
