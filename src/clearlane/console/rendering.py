"""Render pages from templates, with the style sheet and security headers of the console.

The policy lets a page load our style sheet and send forms to us, and nothing else: no scripts, no frames, no
other origins. Knows no page and no session.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

PAGES = Path(__file__).parent / "pages"
STYLE = (PAGES / "style.css").read_bytes()

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_TEMPLATES = Environment(
    loader=FileSystemLoader(PAGES),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice above a form."""

    kind: str
    """``note`` or ``fault``."""
    text: str


class PageRenderer:
    """Renders pages whose links are relative to the console's path."""

    def __init__(self, root: str) -> None:
        self.root = root

    def render(self, template: str, status: int = 200, **values: object) -> Response:
        """Return a page from a template and its values."""
        text = _TEMPLATES.get_template(template).render(root=self.root, **values)
        return make_response(text.encode(), status, "text/html; charset=utf-8")

    def message_page(
        self, status: int, heading: str, sentence: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Return a page with a heading and one sentence."""
        page = self.render("message.html", status, heading=heading, sentence=sentence)
        page.headers.update(headers or {})
        return page

    def redirect(self, path: str) -> Response:
        """Return a redirect to a path of the console; the browser follows it with GET."""
        response = make_response(b"", 303, "text/plain")
        response.headers["Location"] = self.root + path
        return response


def style_response() -> Response:
    """Return the style sheet. It is public and may be cached."""
    response = make_response(STYLE, 200, "text/css; charset=utf-8")
    response.headers["Cache-Control"] = "public, max-age=300"
    return response


def make_response(content: bytes, status: int, media_type: str) -> Response:
    """Return a response with the console's security headers."""
    return Response(content, status, {"Content-Type": media_type, **HEADERS})
