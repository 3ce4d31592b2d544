"""The page at ``/``: what this service is, where its parts are, how far a sandbox is ahead, and a first call.

Anyone may read it, so it names no vendor, no password and no claim. One HTML page without scripts, in the console's look.
"""

import shlex

from starlette.requests import Request
from starlette.responses import Response

from clearlane import __version__
from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.pages.documentation import TITLES, page_names
from clearlane.api.pages.page_frame import HTML, SECURITY_HEADERS, render_template
from clearlane.kernel.clock import Clock
from clearlane.pipeline.installation_context import InstallationContext
from clearlane.pipeline.sandbox.sandbox_control import SandboxClockState

DAY_SECONDS = 86_400

HEADERS = {"Content-Type": HTML, **dict(SECURITY_HEADERS)}
CARDS = (
    ("/console/", "Console", "Claims, payments and files, for people who sign in."),
    ("/reference", "Reference", "Every call with its fields, answers and errors."),
    ("/docs/", "Documentation", "Tutorial, how-tos, glossary, and how it works."),
    ("/openapi.json", "OpenAPI", "The interface as a document for programs."),
)


class RootPage:
    """Answers requests for ``/``."""

    def __init__(
        self, context: InstallationContext, errors: ErrorShape, *, sandbox: bool, base_url: str
    ) -> None:
        self._context = context
        self._errors = errors
        self._sandbox = sandbox
        self._base_url = base_url

    async def answer(self, request: Request, address: str, request_id: str) -> Response:
        """Return the page; any other path that begins with an empty segment does not exist."""
        if request.scope["raw_path"] != b"/":
            return self._errors.no_resource()
        if request.method not in {"GET", "HEAD"}:
            return self._errors.wrong_verb(request.method, "GET, HEAD")
        control = self._context.sandbox_control
        state = control.simulator.clock.state if control else None
        base_url = self._base_url or f"https://{request.headers.get('host', 'localhost')}"
        content = render_root_page(base_url, self._context.clock, state, sandbox=self._sandbox)
        return Response(content, 200, HEADERS)


def render_root_page(
    base_url: str, clock: Clock, state: SandboxClockState | None, *, sandbox: bool
) -> bytes:
    """Return the page as UTF-8 HTML."""
    return render_template(
        "root.html",
        cards=CARDS,
        sandbox_words=_sandbox_words(clock, state) if sandbox else "",
        command=first_call(base_url, sandbox=sandbox),
        sandbox=sandbox,
        beginnings=[(f"/docs/{name}", TITLES[name]) for name in page_names()],
        version=__version__,
    )


def _sandbox_words(clock: Clock, state: SandboxClockState | None) -> str:
    words = [f"Nothing leaves it: its payers are simulated. Its day is {clock.now():%Y-%m-%d}"]
    if state is not None:
        seconds = int(state.advanced.total_seconds())
        days, hours = seconds // DAY_SECONDS, seconds % DAY_SECONDS // 3_600
        ahead = f"{days} {'day' if days == 1 else 'days'} {hours} h ahead of real time"
        words.append(f", {ahead}." if seconds else ", as in real time.")
        pace = "are frozen" if state.frozen else f"last {state.day_seconds:g} seconds"
        words.append(f" The payers' days {pace}.")
    return "".join(words)


def first_call(base_url: str, *, sandbox: bool) -> str:
    """Return a command that lists payers; curl asks for the password."""
    key, site = ("SANDBOX", "SANDBOX-1") if sandbox else ("VENDOR_KEY", "SITE_ID")
    command = [
        "curl",
        *(("--cacert", ".data/tls/ca.pem") if sandbox else ()),
        *("-u", key, "-X", "POST", "-H", "Content-Length: 0"),
        f"{base_url}/api/v3/payers/{'get_list_of_test' if sandbox else 'get_list'}?vendorSiteId={site}&type=medical",
    ]
    return shlex.join(command)
