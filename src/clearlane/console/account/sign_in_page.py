"""The sign-in page: show it, open it from a login URL, sign in, sign out."""

from starlette.responses import Response

from clearlane.accounts.users import normalize_name
from clearlane.console.frame import forms
from clearlane.console.frame.act_question import OWN_SESSION
from clearlane.console.frame.kept_form import KEPT_FIELD
from clearlane.console.frame.local_path import local_path
from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import EVERYBODY, NOBODY_SIGNED_IN, SEND, PageRows
from clearlane.console.frame.rendering import Notice
from clearlane.pipeline.access import proxy_login, sign_in, sign_in_link
from clearlane.store.database.database import Actor

pages = PageRows(roles=NOBODY_SIGNED_IN)

LINK_OPENED = Notice("note", "Your practice software has opened this page. Sign in to continue.")
LINK_REFUSED = Notice(
    "fault",
    "This link has been used already, has expired, or was never valid. You can still sign in here.",
)
SIGNED_OUT = Notice("note", "You are signed out.")
SESSION_ENDED = Notice("note", "Sign in to continue. A session ends after a while without use.")
FORM_NOT_KEPT = Notice(
    "note",
    "Nothing was sent. What you typed is not kept after signing out, or if it is very long.",
)
WRONG_CREDENTIALS = Notice(
    "fault", "User name, password or code is wrong, or the code was used before."
)
FORM_KEPT = Notice(
    "note",
    "Your session had ended. What you typed is kept: sign in, and you find the form as it was.",
)
STALE_FORM = Notice("fault", "The form was too old to be used. Please sign in again.")
# The notices that a query may select by name. Text from an address is never shown.
NOTICES = {"out": SIGNED_OUT, "ended": SESSION_ENDED, "unsent": FORM_NOT_KEPT}


@pages.page("/login")
async def show_sign_in(request: PageRequest) -> Response:
    """Show the sign-in page, or go to the home page if signed in already."""
    if request.user is not None:
        return request.pages.redirect("/")
    notice = NOTICES.get(request.query("say"))
    return render_sign_in(request, notice, next_path=request.query("next"))


# Not for HEAD: link previews and scanners must not use up a one-time address.
@pages.page("/enter/{code...}", methods=frozenset({"GET"}))
async def open_login_url(request: PageRequest) -> Response:
    """Use up a one-time login URL and show the sign-in page, with a notice if the URL was not valid."""
    is_valid = await proxy_login.use_login_url(
        request.context.database,
        request.context.vault,
        request.context.accounts,
        request.parts["code"],
        now=request.now,
        actor=Actor("console", "login page", request.request_id, request.address),
    )
    return render_sign_in(request, LINK_OPENED if is_valid else LINK_REFUSED)


@pages.page("/open/{code}", methods=frozenset({"GET"}))
async def open_sign_in_address(request: PageRequest) -> Response:
    """Use up a one-time address and sign its user in; an address that is not valid shows the sign-in page."""
    session = await sign_in_link.open_sign_in_link(
        request.context.work_context,
        request.parts["code"],
        now=request.now,
        actor=Actor("console", "one-time address", request.request_id, request.address),
    )
    if session is None:
        return render_sign_in(request, LINK_REFUSED, 403)
    # Not a redirect: browsers withhold a strict cookie from a redirect that began at another site.
    page = request.pages.render("signed_in.html", next_path=local_path(request.query("next")))
    forms.set_cookie(page, forms.SESSION_COOKIE, session)
    return page


@pages.page("/login", methods=SEND)
async def submit_sign_in(request: PageRequest) -> Response:
    """Sign a user in; a failure shows the page again, after a delay that grows with each one.

    Beyond the limit of tries for the name and the address the password is not looked at.
    """
    form = await forms.read_form(
        request.http_request,
        bytes_max=forms.SIGN_IN_FORM_BYTES_MAX,
        fields_max=forms.SIGN_IN_FORM_FIELDS_MAX,
    )
    if not forms.has_valid_csrf_token(
        request.context.vault, request.http_request, request.csrf_secret, form
    ):
        return render_sign_in(
            request, STALE_FORM, 403, next_path=form.get("next"), kept=form.get(KEPT_FIELD)
        )
    credentials = sign_in.SignInForm(*(form.get(name) for name in ("name", "password", "code")))
    name = normalize_name(credentials.name).encode(errors="replace")
    seconds = request.guard.take(request.address, name)
    if seconds:
        request.failures.record(name, request.address, request.request_id)
        return request.pages.message_page(
            429,
            "Too many attempts",
            f"Please try again in {seconds} seconds.",
            {"Retry-After": str(seconds), "Connection": "close"},
        )
    try:
        session = await sign_in.sign_in(
            request.context.work_context,
            request.passwords,
            credentials,
            address=request.address,
            now=request.now,
            request_id=request.request_id,
        )
    except Exception:  # a database that is down does not use up a try
        request.guard.give_back(request.address, name)
        raise
    if session is None:
        request.failures.record(name, request.address, request.request_id)
        await request.guard.delay_failure(request.address, name)
        return render_sign_in(
            request, WRONG_CREDENTIALS, 403, next_path=form.get("next"), kept=form.get(KEPT_FIELD)
        )
    request.guard.give_back(request.address, name)
    response = _after_sign_in(request, form, session)
    forms.set_cookie(response, forms.SESSION_COOKIE, session)
    return response


def _after_sign_in(request: PageRequest, form: forms.FormFields, session: str) -> Response:
    """Return to the page that was wanted; to a form that was kept by a form of its own."""
    path, kept = local_path(form.get("next")), form.get(KEPT_FIELD)
    if not kept:
        return request.pages.redirect(path)
    return request.pages.render(
        "kept_form.html",
        path=path,
        kept=kept,
        csrf_token=forms.csrf_token(request.context.vault, session),
    )


@pages.act("/logout", OWN_SESSION, roles=EVERYBODY)
async def submit_sign_out(request: PageRequest) -> Response:
    """End the session."""
    await sign_in.sign_out(
        request.context.work_context,
        request.session,
        request.signed_in_user,
        request_id=request.request_id,
        address=request.address,
    )
    response = request.pages.redirect("/login?say=out")
    forms.set_cookie(response, forms.SESSION_COOKIE, "")
    return response


def render_sign_in(
    request: PageRequest,
    notice: Notice | None,
    status: int = 200,
    *,
    next_path: str = "",
    kept: str = "",
) -> Response:
    """Return the sign-in page; set the CSRF cookie if the browser has none."""
    secret = request.csrf_secret or forms.new_csrf_secret()
    token = forms.csrf_token(request.context.vault, secret)
    page = request.pages.render(
        "sign_in.html",
        status,
        csrf_token=token,
        notice=notice,
        next_path=local_path(next_path) if next_path else "",
        kept=kept,
    )
    if secret != request.csrf_secret:
        forms.set_cookie(page, forms.CSRF_COOKIE, secret)
    return page
