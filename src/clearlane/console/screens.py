"""The screens: decode, one verb, a page. What they have in common stands in ``app``."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Protocol
from urllib.parse import urlencode

import structlog
from starlette.requests import Request
from starlette.responses import Response

from clearlane.accounts.model import Site
from clearlane.accounts.users import User, folded
from clearlane.console import forms
from clearlane.console.rendering import Notice, Paper, style
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock, local
from clearlane.payers.directory import Payers
from clearlane.pipeline.access import proxy_login, sign_in
from clearlane.pipeline.query.health import health
from clearlane.store.console_users import Days, ListedClaim, list_claims
from clearlane.store.database import Actor

log = structlog.get_logger()

DAYS_SHOWN = 30

ENTERED = Notice("note", "Your practice software has opened this page. Sign in to go on.")
NOT_ENTERED = Notice(
    "fault",
    "This link has been used already, has expired, or was never valid. You can still sign in here.",
)
SIGNED_OUT = Notice("note", "You are signed out.")
NOT_SIGNED_IN = Notice("note", "Sign in to go on. A session ends after a while without use.")
WRONG = Notice("fault", "User name, password or code is wrong, or the code was used before.")
STALE_FORM = Notice("fault", "The form was too old to be used. Please sign in again.")
# What the login page may be asked to say. Nothing in an address is ever shown as it is.
NOTICES = {"out": SIGNED_OUT, "ended": NOT_SIGNED_IN}


class Desk(sign_in.Desk, Protocol):
    """What the house gives the console. The directories are snapshots: ask for them each time.

    Claims live by ``clock``, which a sandbox can advance; sessions and codes by ``wall``.
    """

    @property
    def payers(self) -> Payers: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def wall(self) -> Clock: ...


@dataclass(slots=True, kw_only=True)
class Visit:
    """One request, and what is known of who sent it."""

    desk: Desk
    paper: Paper
    passwords: sign_in.Passwords
    slow: Callable[[str, bytes | None], Awaitable[None]]
    request: Request
    address: str
    request_id: str
    now: datetime
    session: str = field(repr=False)
    word: str = field(repr=False)
    """What the browser holds: for forms of somebody who is signed in, and for the login form."""
    user: User | None = None
    part: str = field(default="", repr=False)
    """What follows the path of the screen."""

    @property
    def person(self) -> User:
        """Who is signed in, on a screen that wants somebody to be."""
        assert self.user is not None, "the screen's row says that it needs a session"
        return self.user


async def show_style(visit: Visit) -> Response:
    return style()


async def show_login(visit: Visit) -> Response:
    if visit.user is not None:
        return visit.paper.to("/")
    return login_page(visit, NOTICES.get(visit.request.query_params.get("say", "")))


async def enter(visit: Visit) -> Response:
    """What a login URL opens: the same page each time, and once without complaint."""
    entered = await proxy_login.enter(
        visit.desk.database,
        visit.desk.vault,
        visit.desk.accounts,
        visit.part,
        now=visit.now,
        actor=Actor("console", "login page", visit.request_id),
    )
    return login_page(visit, ENTERED if entered else NOT_ENTERED)


async def take_login(visit: Visit) -> Response:
    form = await forms.read_form(visit.request)
    if not forms.is_ours(visit.desk.vault, visit.request, visit.word, form):
        return login_page(visit, STALE_FORM, 403)
    typed = sign_in.Typed(*(form.get(name, "") for name in ("name", "password", "code")))
    session = await sign_in.sign_in(
        visit.desk,
        visit.passwords,
        typed,
        address=visit.address,
        now=visit.now,
        request_id=visit.request_id,
    )
    if session is None:
        log.warning("sign-in failed", request_id=visit.request_id)
        await visit.slow(visit.address, folded(typed.name).encode(errors="replace"))
        return login_page(visit, WRONG, 403)
    answer = visit.paper.to("/")
    forms.set_cookie(answer, forms.SESSION, session)
    return answer


async def take_logout(visit: Visit) -> Response:
    form = await forms.read_form(visit.request)
    if not forms.is_ours(visit.desk.vault, visit.request, visit.session, form):
        return visit.paper.told(403, "Not signed out", "The form was too old. Please try again.")
    await sign_in.sign_out(visit.desk, visit.session, visit.person, request_id=visit.request_id)
    answer = visit.paper.to("/login?say=out")
    forms.set_cookie(answer, forms.SESSION, "")
    return answer


async def show_home(visit: Visit) -> Response:
    asked = visit.request.query_params
    sites = [site for site in visit.desk.accounts.sites if visit.person.may_see(site)]
    wanted = asked.get("site") or (sites[0].vendor_site_id if sites else "")
    site = next((each for each in sites if each.vendor_site_id == wanted), None)
    if site is None and wanted:
        return visit.paper.told(404, "No such site", "There is no such site among yours.")
    days, fault = read_days(visit, site)
    claims = await _claims(visit, site, days)
    return visit.paper.page(
        "home.html",
        user=visit.person.name,
        form=forms.form_word(visit.desk.vault, visit.session),
        site=site,
        sites=sites,
        first=days.first,
        last=days.last,
        fault=fault,
        claims=[_shown(visit, site, one) for one in claims[: limits.CONSOLE_CLAIMS_PAGE_ROWS]],
        older=_older(site, days, claims),
        health=await health(visit.desk.database),
    )


def login_page(visit: Visit, notice: Notice | None, status: int = 200) -> Response:
    """The login page, for a browser that holds a word of ours from now on."""
    word = visit.word or forms.new_word()
    form = forms.form_word(visit.desk.vault, word)
    page = visit.paper.page("login.html", status, form=form, notice=notice)
    if word != visit.word:
        forms.set_cookie(page, forms.WORD, word)
    return page


def read_days(visit: Visit, site: Site | None) -> tuple[Days, str]:
    """The days asked for, and what is wrong with them; the last month where nothing can be used."""
    asked = visit.request.query_params
    today = local(visit.desk.clock.now(), _zone_of(site)).date()
    month = Days(first=str(today - timedelta(days=DAYS_SHOWN)), last=str(today))
    first, last = asked.get("from") or month.first, asked.get("to") or month.last
    if not (_is_day(first) and _is_day(last)):
        return month, "A day is written like 2024-03-05."
    if first > last:
        return month, "The first day comes after the last."
    day, _, request_id = asked.get("before", "").partition("/")
    is_id = request_id.isascii() and request_id.isalnum()
    before = (day, request_id) if _is_day(day) and is_id else None
    return Days(first=first, last=last, before=before), ""


async def _claims(visit: Visit, site: Site | None, days: Days) -> list[ListedClaim]:
    if site is None or not site.baa_accepted:
        return []
    actor = Actor("console", visit.person.name, visit.request_id)
    # A look at claims is audited, so it is a write, in the scope of that one site.
    return await visit.desk.database.write(
        site.scope, lambda tx: list_claims(tx, days), actor=actor
    )


def _zone_of(site: Site | None) -> str:
    return site.time_zone if site else "UTC"


def _shown(visit: Visit, site: Site | None, claim: ListedClaim) -> dict[str, str]:
    payer = visit.desk.payers.find(claim.payer_id, claim.kind.title())
    return {
        "request_id": claim.request_id,
        "created": f"{local(claim.created_at, _zone_of(site)):%Y-%m-%d %H:%M}",
        "kind": claim.kind,
        "payer": f"{payer.name} ({claim.payer_id})" if payer else claim.payer_id,
        "state": claim.state,
        "total": f"{Decimal(claim.total_cents).scaleb(-2):,.2f}",
    }


def _older(site: Site | None, days: Days, claims: list[ListedClaim]) -> str:
    """The query of the next page; empty where this is the last."""
    if site is None or len(claims) <= limits.CONSOLE_CLAIMS_PAGE_ROWS:
        return ""
    last = claims[limits.CONSOLE_CLAIMS_PAGE_ROWS - 1]
    before = f"{last.created_day}/{last.request_id}"
    asked = {"site": site.vendor_site_id, "from": days.first, "to": days.last, "before": before}
    return urlencode(asked)


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
