"""The console as one callable: find the page, resume the session, respond.

Mounted below a path segment of the API server, which does https, logging and request ids. A fault of a page
is shown as one sentence without details. Checks the session, the role and the CSRF token before a page is
called. Knows the table of pages, not their work.
"""

from contextlib import suppress
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from clearlane.console import SEGMENT
from clearlane.console.account.sign_in_page import FORM_KEPT, render_sign_in
from clearlane.console.frame import forms
from clearlane.console.frame.act_question import ask_first
from clearlane.console.frame.kept_form import KEPT_FIELD, open_form, seal_form
from clearlane.console.frame.page_request import (
    FormNotKept,
    NoSuchPage,
    NotSignedIn,
    PageRequest,
    SignInGuard,
)
from clearlane.console.frame.page_row import READ, PageRow
from clearlane.console.frame.rendering import PageRenderer
from clearlane.console.menu_counts import count_menu
from clearlane.console.page_table import PAGES
from clearlane.kernel import limits
from clearlane.kernel.log import get_logger
from clearlane.pipeline.access.failed_sign_ins import FailedSignIns
from clearlane.pipeline.access.sign_in import PasswordChecker, PasswordQueueFull, resume_session
from clearlane.pipeline.installation_context import InstallationContext
from clearlane.store.database.group_commit import DatabaseUnavailable, LockContention

log = get_logger()

LATER = "The service is busy. Nothing was done. Please try again in a moment."
NO_SUCH_PAGE = "There is no such page here."
NOT_FOR_ROLE = "Your role does not include this page."
TOO_OLD = "The form was too old, so nothing was done. Go back and try again."


class Console:
    """The console of an installation."""

    def __init__(
        self,
        context: InstallationContext,
        base_url: str,
        guard: SignInGuard,
    ) -> None:
        """``guard`` limits and slows failed sign-ins."""
        self._context = context
        self._guard = guard
        self._failures = FailedSignIns(context.database, context.vault, "console")
        self._pages = PageRenderer(f"{urlsplit(base_url).path.rstrip('/')}/{SEGMENT}")
        self._passwords = PasswordChecker()

    async def answer(self, request: Request, address: str, request_id: str) -> Response:
        """Return a page, also for every fault."""
        try:
            return await self._respond(request, address, request_id)
        except NotSignedIn as why:
            return self._pages.redirect(f"/login?say={why.notice}{_next_path(request)}")
        except forms.BadForm:
            return self._pages.message_page(
                400, "Not understood", "The form cannot be read.", request_id=request_id
            )
        except (
            PasswordQueueFull,
            DatabaseUnavailable,
            LockContention,
            TimeoutError,
            ConnectionError,
        ):
            later = {"Retry-After": str(limits.RETRY_SECONDS)}
            return self._pages.message_page(503, "Not now", LATER, later, request_id=request_id)
        except Exception:
            # The log configuration writes an exception's type and place, never its text.
            log.exception("fault in the console", request_id=request_id)
            sentence = f"Something went wrong. Tell the operator this number: {request_id}"
            return self._pages.message_page(500, "An error has occurred", sentence)

    async def _respond(self, request: Request, address: str, request_id: str) -> Response:
        path = request.scope["path"].removeprefix(f"/{SEGMENT}") or "/"
        found = [(page, parts) for page in PAGES if (parts := page.match(path)) is not None]
        if not found:
            page_request = await self._page_request(request, address, request_id)
            return await self._message(page_request, 404, "No such page", NO_SUCH_PAGE)
        chosen = next(((p, parts) for p, parts in found if request.method in p.methods), None)
        if chosen is None:
            allowed = ", ".join(sorted(set().union(*(page.methods for page, _ in found))))
            sentence = "This page cannot be used with this method."
            return self._pages.message_page(405, "Not possible", sentence, {"Allow": allowed})
        page, parts = chosen
        page_request = await self._page_request(request, address, request_id)
        page_request.parts, page_request.menu = parts, page.menu
        page_request.notices = page.notices
        if not page.roles:
            return await page.show(page_request)
        return await self._respond_signed_in(page, page_request)

    async def _respond_signed_in(self, page: PageRow, request: PageRequest) -> Response:
        """Check the session, the role and the form, in this order, and show the page."""
        if request.user is None and page.kept is not None:
            return await self._keep_form(request)
        if request.signed_in_user.role not in page.roles:
            return await self._message(request, 403, "Not for your role", NOT_FOR_ROLE)
        if not page.methods <= READ:
            request.form = await forms.read_form(
                request.http_request, bytes_max=page.form_bytes_max
            )
            if not forms.has_valid_csrf_token(
                self._context.vault, request.http_request, request.session, request.form
            ):
                return self._pages.message_page(
                    403, "Nothing was done", TOO_OLD, request_id=request.request_id
                )
            if page.kept is not None and request.form.get(KEPT_FIELD):
                kept = await open_form(
                    self._context.database,
                    self._context.vault,
                    request.form.get(KEPT_FIELD),
                    request.path,
                    request.now,
                )
                if kept is None:
                    return self._pages.message_page(
                        403, "Nothing was done", TOO_OLD, request_id=request.request_id
                    )
                request.form = kept.replaced(page.kept)
        try:
            request.menu_counts = await count_menu(request) if page.menu else {}
            asked = await ask_first(request, page.ask) if page.ask is not None else None
            return asked or await page.show(request)
        except NoSuchPage as why:
            return await self._message(request, 404, "Not found", str(why))

    async def _message(
        self, request: PageRequest, status: int, heading: str, sentence: str
    ) -> Response:
        """Return a page with one sentence, in the frame if a user is signed in and their site is known."""
        if request.user is not None:
            with suppress(NoSuchPage):
                request.menu_counts = await count_menu(request)
                return request.message(status, heading, sentence)
        return self._pages.message_page(status, heading, sentence, request_id=request.request_id)

    async def _keep_form(self, request: PageRequest) -> Response:
        """Show the sign-in page with the form that was sent after its session had ended."""
        vault = self._context.vault
        form = await forms.read_form(request.http_request)
        if not forms.has_valid_csrf_token(vault, request.http_request, request.session, form):
            raise FormNotKept
        kept = await seal_form(vault, form, request.path, request.now)
        if not kept:
            raise FormNotKept if len(form.pairs) > 1 else NotSignedIn
        return render_sign_in(request, FORM_KEPT, 403, next_path=request.path, kept=kept)

    async def _page_request(self, request: Request, address: str, request_id: str) -> PageRequest:
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
        )


def _next_path(request: Request) -> str:
    """Return the query that brings a user back to this page after signing in; none for Home and actions without a page."""
    path = request.scope["path"].removeprefix(f"/{SEGMENT}")
    query = request.scope["query_string"].decode("latin-1")
    is_page = any(page.methods <= READ and page.match(path) is not None for page in PAGES)
    if not is_page or (path in {"", "/"} and not query):
        return ""
    return f"&next={quote(path + (f'?{query}' if query else ''), safe='')}"
