"""Render pages from templates, with the security headers of the console.

The policy lets a page load our style sheet, script and icon and send forms to us, and nothing else: no inline script
or style, no frames, no other origins. Knows no page and no session.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response, StreamingResponse

from clearlane.console.frame import page_text
from clearlane.console.frame.filter_words import choice_words
from clearlane.payments import wording

PAGES = Path(__file__).parents[1] / "pages"
OCTETS = "application/octet-stream"

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
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
_TEMPLATES.filters.update(
    money=page_text.money,
    day=page_text.day,
    short_day=page_text.short_day,
    spell_days=wording.spell_days,
    age=page_text.age,
)
_TEMPLATES.globals["counted"] = page_text.count
_TEMPLATES.globals["choice_words"] = choice_words


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice above a form or page."""

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
        self,
        status: int,
        heading: str,
        sentence: str,
        headers: Mapping[str, str] | None = None,
        *,
        request_id: str = "",
    ) -> Response:
        """Return a page with a heading and one sentence, without the frame."""
        values = {"heading": heading, "sentence": sentence, "request_id": request_id}
        page = self.render("message.html", status, **values)
        page.headers.update(headers or {})
        return page

    def redirect(self, path: str) -> Response:
        """Return a redirect to a path of the console; the browser follows it with GET."""
        response = make_response(b"", 303, "text/plain")
        response.headers["Location"] = self.root + path
        return response


def make_response(content: bytes, status: int, media_type: str) -> Response:
    """Return a response with the console's security headers."""
    return Response(content, status, {"Content-Type": media_type, **HEADERS})


def download(content: bytes, name: str, media_type: str) -> Response:
    """Return a file to be saved under this name."""
    response = make_response(content, 200, media_type)
    response.headers.update(_saved_as(name))
    return response


def stream_download(pieces: AsyncIterator[bytes], name: str, size: int) -> Response:
    """Return a file to be saved under this name, of which one piece at a time is in memory."""
    headers = {"Content-Type": OCTETS, "Content-Length": str(size), **HEADERS, **_saved_as(name)}
    return StreamingResponse(pieces, headers=headers)


def _saved_as(name: str) -> dict[str, str]:
    """Return the header that lets a browser save a response under a name."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    return {"Content-Disposition": f'attachment; filename="{safe}"'}
