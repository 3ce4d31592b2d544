"""The page at ``/``: what this service is, where its parts are, how far a sandbox is ahead, and a first call.

Anyone may read it, so it names no vendor, no password and no claim. One HTML page without scripts or other files.
"""

import base64
import hashlib
import shlex
from collections.abc import Iterator
from html import escape

from starlette.requests import Request
from starlette.responses import Response

from clearlane import __version__
from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.pages.documentation import TITLES, page_names
from clearlane.kernel.clock import Clock
from clearlane.pipeline.installation_context import InstallationContext
from clearlane.pipeline.operator.sandbox_control import SandboxClockState

SEGMENT = ""
"""The first segment of the path ``/``."""
DAY_SECONDS = 86_400

STYLE = """
:root { color-scheme: light dark; --ink: #17212b; --soft: #5a6875; --line: #d5dde3; --card: #fff; --back: #f4f7f8;
  --mark: #1a7f5a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf1; --soft: #9aabb8; --line: #31404c; --card: #17222b;
  --back: #0f171d; --mark: #4cc596; } }
* { box-sizing: border-box; }
body { background: var(--back); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; margin: 0; }
main { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2rem; letter-spacing: -0.02em; margin: 0; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 0.6rem; }
p { margin: 0.4rem 0; max-width: 46rem; }
.soft, footer { color: var(--soft); }
a { color: var(--mark); }
.cards { display: grid; gap: 0.9rem; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); margin-top: 1.75rem; }
.cards a { background: var(--card); border: 1px solid var(--line); border-radius: 10px; color: inherit; display: block;
  padding: 1rem 1.1rem; text-decoration: none; }
.cards a:hover, .cards a:focus-visible { border-color: var(--mark); }
.cards strong { color: var(--mark); display: block; }
.state { border-left: 4px solid var(--mark); padding: 0.2rem 0 0.2rem 0.9rem; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin: 0.5rem 0; overflow-x: auto;
  padding: 0.9rem 1.1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
code { font: 0.9em ui-monospace, monospace; }
footer { border-top: 1px solid var(--line); font-size: 0.9rem; margin-top: 3rem; padding-top: 0.9rem; }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": f"default-src 'none'; img-src 'self'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
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
    return "\n".join(_lines(base_url, clock, state, sandbox=sandbox)).encode()


def _lines(
    base_url: str, clock: Clock, state: SandboxClockState | None, *, sandbox: bool
) -> Iterator[str]:
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Clearlane</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<link rel="icon" type="image/svg+xml" href="/console/icon.svg">'
    yield f"<style>{STYLE}</style></head><body><main>"
    yield "<h1>Clearlane</h1>"
    yield (
        "<p>A clearinghouse: practice software sends claims, eligibility questions and enrollments; payers get X12 "
        "and answer; the answers come back in the sender's own field names.</p>"
    )
    yield '<nav class="cards">'
    for path, title, words in CARDS:
        yield f'<a href="{path}"><strong>{title}</strong>{words}</a>'
    yield "</nav>"
    if sandbox:
        yield "<h2>This is a sandbox</h2>"
        yield f'<p class="state">{escape(_sandbox_words(clock, state))}</p>'
    yield "<h2>A first call</h2>"
    yield f"<pre><code>{escape(first_call(base_url, sandbox=sandbox))}</code></pre>"
    yield f'<p class="soft">{_call_words(sandbox=sandbox)}</p>'
    if names := page_names():
        yield "<h2>Begin here</h2><p>"
        yield " · ".join(f'<a href="/docs/{name}">{escape(TITLES[name])}</a>' for name in names)
        yield "</p>"
    yield f"<footer>Clearlane {escape(__version__)}. Apache-2.0.</footer></main></body></html>"


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


def _call_words(*, sandbox: bool) -> str:
    if sandbox:
        return (
            "curl asks for the password: it is in <code>.data/sandbox.json</code>, in the directory that "
            "<code>make run</code> was started in. Then: <code>clearlane claim sample | clearlane claim submit -</code>"
        )
    return "curl asks for the password. Vendor key, password and site id come from the operator."
