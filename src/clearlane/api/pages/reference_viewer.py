"""The reference as a program in the browser: search, examples, and calls to try against this service.

The program is Scalar's API reference, which ``make docs`` puts beside this module and the wheel carries;
a clone without it serves the pages of ``reference``. The page loads its script from this service,
and its policy lets it reach no other host. Knows OpenAPI only; no endpoint and no version.
"""

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from pathlib import Path

import msgspec

from clearlane.api.frame.app import PublicPage
from clearlane.api.http.static_content import StaticContent

BUILT = Path(__file__).parent / "viewer" / "viewer.js.gz"
"""Written by ``make docs``; not in the repository."""
SCRIPT_TYPE = "text/javascript; charset=utf-8"
SECONDS_KEPT = 31_536_000

# What is switched off would call, or lead to, the maker's own services.
CONFIGURATION: Mapping[str, object] = {
    "url": "/openapi.json",
    "withDefaultFonts": False,
    "telemetry": False,
    "agent": {"disabled": True},
    "mcp": {"disabled": True},
    "hideClientButton": True,
    "showDeveloperTools": "never",
    "persistAuth": False,
    "documentDownloadType": "none",
    "defaultHttpClient": {"targetKey": "shell", "clientKey": "curl"},
    "operationTitleSource": "summary",
    "authentication": {"preferredSecurityScheme": "vendor"},
}
# The viewer joins a server's address and a path as they are, so "/" of the document would give two slashes.
START = (
    "Scalar.createApiReference('#reference', {servers: [{url: location.origin}], "
    f"...{msgspec.json.encode(CONFIGURATION).decode()}}});"
)
_START_HASH = base64.b64encode(hashlib.sha256(START.encode()).digest()).decode()
# The viewer writes its own <style> elements while it runs, so styles cannot be named by their hashes.
SECURITY_HEADERS = (
    (
        "Content-Security-Policy",
        f"default-src 'none'; script-src 'self' 'sha256-{_START_HASH}'; style-src 'self' 'unsafe-inline'; "
        "connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
)


def viewer_script(built: Path = BUILT) -> PublicPage | None:
    """Return the viewer's program as a page whose address changes with its content; None if it is not built."""
    if not built.is_file():
        return None
    content = built.read_bytes()
    return PublicPage(
        name="ReferenceViewer",
        path=f"/reference/viewer-{hashlib.sha256(content).hexdigest()[:16]}.js",
        summary="The program of the reference page.",
        media_type=SCRIPT_TYPE,
        schema={"type": "string"},
        content=StaticContent(lambda: content),
        headers=(
            # Every browser that runs the program reads gzip, so it is kept in memory once and in short.
            ("Content-Encoding", "gzip"),
            ("Cache-Control", f"public, max-age={SECONDS_KEPT}, immutable"),
        ),
    )


def render_page(title: str, script: PublicPage) -> bytes:
    """Return the page that starts the viewer, as UTF-8 HTML."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" type="image/svg+xml" href="/console/icon.svg">
</head><body>
<noscript><p>This page needs JavaScript. The same as a document for machines: <a href="/openapi.json">/openapi.json</a>.</p></noscript>
<div id="reference"></div>
<script src="{script.path}"></script>
<script>{START}</script>
</body></html>
""".encode()
