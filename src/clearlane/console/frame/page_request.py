"""What every page of the console is given: the installation, the request, the user, the site, and the frame.

    async def show_files(request: PageRequest) -> Response:
        files = await request.read(site, job)           # audited if patient data is read
        return request.render("files.html", "Files", files=files)

Knows no page.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from typing import Protocol, TypeVar
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from clearlane.accounts.model import Site
from clearlane.accounts.users import ConsoleRole, ConsoleUser
from clearlane.console.frame import page_text
from clearlane.console.frame.forms import FormFields, csrf_token
from clearlane.console.frame.frame import Frame
from clearlane.console.frame.rendering import PageRenderer
from clearlane.kernel.clock import from_micros, to_local
from clearlane.pipeline.access import sign_in
from clearlane.pipeline.access.failed_sign_ins import FailedSignIns
from clearlane.pipeline.installation_context import InstallationContext
from clearlane.store.database.database import Actor, Tx

T = TypeVar("T")
ALL_SITES_KEY = "all"
ROLES_OF_ALL_SITES = frozenset({ConsoleRole.SUPPORT, ConsoleRole.OPERATOR})

SITES_AT_ONCE_MAX = 50
"""How many sites a page about several of them counts and lists; it says so if there are more."""


class NotSignedIn(Exception):
    """A page that needs a session was requested without one."""

    notice = "ended"
    """What the sign-in page says."""


class FormNotKept(NotSignedIn):
    """A form came after its user had signed out: nothing distinguishes it from a foreign page's, so it is not kept."""

    notice = "unsent"


class NoSuchPage(Exception):
    """There is nothing at this address for this user. The text is shown."""


class SignInGuard(Protocol):
    """Limits and slows the tries to sign in, by name and address."""

    def take(self, address: str, name: bytes) -> int:
        """Take one try; return 0, or the seconds to wait if there is none left."""

    def give_back(self, address: str, name: bytes) -> None:
        """Give back the try of a sign-in that succeeded."""

    async def delay_failure(self, address: str, key: bytes | None) -> None:
        """Sleep before a failure is answered."""


@dataclass(kw_only=True)
class PageRequest:
    """One request for a page, with the session it belongs to."""

    context: InstallationContext
    pages: PageRenderer
    passwords: sign_in.PasswordChecker
    guard: SignInGuard
    failures: FailedSignIns
    http_request: Request
    address: str
    request_id: str
    now: datetime
    session: str = field(repr=False)
    """The secret of the session cookie; the CSRF tokens of a signed-in user are derived from it."""
    csrf_secret: str = field(repr=False)
    """The secret of the sign-in form's cookie, for a browser without a session."""
    user: ConsoleUser | None = None
    parts: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The parts of the address in braces, by name."""
    form: FormFields = field(default_factory=FormFields, repr=False)
    """The fields of an action's form; its CSRF token was checked."""
    menu: str = ""
    notices: Mapping[str, str] = field(default_factory=dict)
    """The payments of this month, as this process counted them last."""
    menu_counts: Mapping[str, str] = field(default_factory=dict)
    """What needs the user, by address of the menu entry."""

    # ---- who asks, and for which site ----

    @property
    def signed_in_user(self) -> ConsoleUser:
        """The signed-in user; raises :class:`NotSignedIn` if there is none."""
        if self.user is None:
            raise NotSignedIn
        return self.user

    @property
    def actor(self) -> Actor:
        """The user, as the audit names a person of the console."""
        return Actor("console", self.signed_in_user.name, self.request_id, self.address)

    @property
    def is_operator(self) -> bool:
        """Whether the user is an operator."""
        return self.signed_in_user.role is ConsoleRole.OPERATOR

    @property
    def may_work(self) -> bool:
        """Whether the user may do more than read."""
        return self.signed_in_user.role is not ConsoleRole.VIEWER

    @property
    def path(self) -> str:
        """The path of the address inside the console."""
        return str(self.http_request.scope["path"]).removeprefix("/console") or "/"

    def query(self, name: str) -> str:
        """Return a parameter of the address; empty if it is missing."""
        return str(self.http_request.query_params.get(name, ""))

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """The sites that the user may see, by name."""
        seen = (site for site in self.context.accounts.sites if self.signed_in_user.may_see(site))
        return tuple(sorted(seen, key=lambda site: (site.name.casefold(), site.vendor_site_id)))

    @cached_property
    def site(self) -> Site | None:
        """The chosen site; None for "All sites", or for a user without any. Another's site is not a page.

        Who never chose one and may see all begins with all of them; others begin with their first.
        """
        wanted = self.query("site") or self.form.get("site")
        if wanted in {"", ALL_SITES_KEY} and self.may_see_all_sites:
            return None
        found = [each for each in self.sites if wanted in {each.vendor_site_id, str(each.id)}]
        if wanted and not found:
            raise NoSuchPage("There is no such site among yours.")
        return found[0] if found else next(iter(self.sites), None)

    @property
    def may_see_all_sites(self) -> bool:
        """Whether the site switch offers "All sites"."""
        return self.signed_in_user.role in ROLES_OF_ALL_SITES and len(self.sites) > 1

    @cached_property
    def chosen_sites(self) -> tuple[Site, ...]:
        """The sites whose data the page may show: the chosen one, or all; only with a BAA."""
        chosen = (self.site,) if self.site else self.sites
        return tuple(site for site in chosen if site.baa_accepted)

    @property
    def counted_sites(self) -> tuple[Site, ...]:
        """Those of the chosen sites that a page about several of them counts and lists, one after the other."""
        return self.chosen_sites[:SITES_AT_ONCE_MAX]

    def named_site(self, field: str) -> Site | None:
        """Return the chosen site that a field of the form names by its id, or the only one that there is."""
        sites, named = self.chosen_sites, self.form.get(field)
        if not named and len(sites) == 1:
            return sites[0]
        return next((one for one in sites if named and str(one.id) == named), None)

    def site_of(self, vendor: int, site: int) -> Site | None:
        """Return a site by its owner columns, if the user may see it."""
        return next((s for s in self.sites if (s.vendor_id, s.id) == (vendor, site)), None)

    @property
    def zone(self) -> str:
        """The time zone in which the page writes times."""
        return self.site.time_zone if self.site else "UTC"

    @property
    def today(self) -> date:
        """The day of claims in the site's zone; in a sandbox the payers' day."""
        return to_local(self.context.clock.now(), self.zone).date()

    def moment(self, value: datetime) -> str:
        """Return a moment in the zone of the page, with the zone said."""
        return page_text.moment(value, self.zone)

    def stored_moment(self, micros: int) -> str:
        """Return a moment as the store keeps it, in the zone of the page, with the zone said."""
        return self.moment(from_micros(micros))

    def payer_name(self, payer_id: str, type: str) -> str:
        """Return a payer's name; its id if the directory does not know it."""
        payer = self.context.payers.find(payer_id, type)
        return payer.name if payer else payer_id

    # ---- reading and writing ----

    async def read(self, site: Site, job: Callable[[Tx], Awaitable[T]]) -> T:
        """Run a job that reads patient data of one site; it must write its audit row with ``tx.audit``."""
        return await self.context.database.write(site.scope, job, actor=self.actor)

    # ---- answering ----

    def at(self, path: str) -> "PageRequest":
        """Return this request as one for another address of the console, whose page answers a form that was not taken."""
        name, _, query = path.partition("?")
        scope = dict(self.http_request.scope)
        root = scope["path"].removesuffix(self.path)
        scope |= {"path": root + name, "query_string": query.encode()}
        return replace(self, http_request=Request(scope))

    def url(self, path: str, **query: object) -> str:
        """Return the address of a page of the console, which keeps the chosen site."""
        kept = {"site": self.query("site")} | query
        pairs = {name: str(value) for name, value in kept.items() if value not in {"", None}}
        return f"{self.pages.root}{path}" + (f"?{urlencode(pairs)}" if pairs else "")

    def render(self, template: str, title: str, status: int = 200, **values: object) -> Response:
        """Return a page in the frame: menu, site switch, search, sandbox band."""
        return self.pages.render(
            template,
            status,
            title=title,
            frame=self._frame(),
            csrf=csrf_token(self.context.vault, self.session),
            url=self.url,
            zone=self.zone,
            at=self.moment,
            counted_sites=len(self.counted_sites),
            chosen_sites=len(self.chosen_sites),
            **values,
        )

    def _frame(self) -> Frame:
        url = self.http_request.url
        return Frame(
            user=self.signed_in_user,
            current=self.menu,
            counts=self.menu_counts,
            sites=self.sites,
            site=self.site,
            all_sites=self.may_see_all_sites,
            sandbox=self.context.sandbox_control is not None,
            today=self.today,
            machine_day=to_local(self.now, self.zone).date(),
            here=url.path.removeprefix("/console") + (f"?{url.query}" if url.query else ""),
            notice=self.notices.get(self.query("done"), ""),
            printed=self.moment(self.now),
        )

    def message(self, status: int, heading: str, sentence: str) -> Response:
        """Return a page in the frame with a heading and one sentence."""
        return self.render(
            "sentence.html", heading, status, sentence=sentence, request_id=self.request_id
        )

    def redirect(self, path: str, **query: object) -> Response:
        """Return a redirect to a page of the console, which keeps the chosen site."""
        kept = {"site": self.query("site") or self.form.get("site")} | query
        pairs = {name: str(value) for name, value in kept.items() if value not in {"", None}}
        return self.pages.redirect(path + (f"?{urlencode(pairs)}" if pairs else ""))
