"""What the console sends: pages from templates, the style, and the headers that hold them safe.

A page may load our own style and send forms to us, and nothing else: no script, no frame, no other
place. Knows no screen and no session.
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
    """What a page says above its form."""

    kind: str
    """``note`` or ``fault``."""
    words: str


class Paper:
    """Makes pages whose links stand under the console's own path."""

    def __init__(self, root: str) -> None:
        self.root = root

    def page(self, template: str, status: int = 200, **values: object) -> Response:
        """A template with its values."""
        text = _TEMPLATES.get_template(template).render(root=self.root, **values)
        return answer(text.encode(), status, "text/html; charset=utf-8")

    def told(
        self, status: int, heading: str, sentence: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        """A page that says one thing."""
        page = self.page("told.html", status, heading=heading, sentence=sentence)
        page.headers.update(headers or {})
        return page

    def to(self, place: str) -> Response:
        """Send the browser on; what it was sent with is not sent again."""
        moved = answer(b"", 303, "text/plain")
        moved.headers["Location"] = self.root + place
        return moved


def style() -> Response:
    """The one style. It holds nothing private and may be kept for a while."""
    sheet = answer(STYLE, 200, "text/css; charset=utf-8")
    sheet.headers["Cache-Control"] = "public, max-age=300"
    return sheet


def answer(content: bytes, status: int, media_type: str) -> Response:
    """An answer with the headers that every one of the console has."""
    return Response(content, status, {"Content-Type": media_type, **HEADERS})
