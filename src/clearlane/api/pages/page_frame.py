"""The frame of the documentation and of the reference: the console's look, navigation, search, and strict headers.

The style sheet and the icon are the console's, by address. A page loads them, one more sheet and one script, all of
this service, and nothing else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.http.static_content import static_response

TEMPLATES = Path(__file__).parent / "templates"
HTML = "text/html; charset=utf-8"
SECURITY_HEADERS = (
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
)
CACHE_SECONDS = 300
ASSETS: Mapping[str, tuple[bytes, str]] = {
    "/pages.css": ((TEMPLATES / "pages.css").read_bytes(), "text/css; charset=utf-8"),
    "/pages.js": ((TEMPLATES / "pages.js").read_bytes(), "text/javascript; charset=utf-8"),
}
"""Below ``/docs``."""
_TEMPLATES = Environment(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the navigation, of a list, or of a search's result."""

    title: str
    address: str
    note: str = ""
    """What it belongs to, or its HTTP verb."""


@dataclass(frozen=True, slots=True)
class Group:
    """Links below one heading of the navigation."""

    title: str
    entries: tuple[Entry, ...]
    above: str = ""
    """What the group is the first of."""

    def holds(self, address: str) -> bool:
        """Return whether a page is one of the group."""
        return any(each.address == address for each in self.entries)


def render_page(
    template: str,
    *,
    title: str,
    part_of: str,
    address: str,
    groups: Sequence[Group],
    asked: Mapping[str, str],
    **values: object,
) -> Response:
    """Return a page in the frame; ``asked`` are the headers of the request."""
    content = render_template(
        template, title=title, part_of=part_of, address=address, groups=groups, **values
    )
    return static_response(content, {"Content-Type": HTML, **dict(SECURITY_HEADERS)}, asked)


def no_page(
    errors: ErrorShape,
    *,
    part_of: str,
    groups: Sequence[Group],
    asked: Mapping[str, str],
    find: Callable[[], Sequence[Entry]],
) -> Response:
    """Return 404: to a browser, which asks for pages, one with what ``find`` returns, and to others what programs read."""
    if "text/html" not in asked.get("accept", ""):
        return errors.no_resource()
    content = render_template(
        "no_page.html",
        title="No such page",
        part_of=part_of,
        address="",
        groups=groups,
        found=find(),
    )
    kept = {"Cache-Control": "no-store", "Vary": "Accept"}
    return Response(content, 404, {"Content-Type": HTML, **dict(SECURITY_HEADERS), **kept})


def render_template(template: str, **values: object) -> bytes:
    """Return a template with its values as UTF-8 HTML."""
    return _TEMPLATES.get_template(template).render(values).encode()


def asset_response(path: str, asked: Mapping[str, str]) -> Response | None:
    """Return the sheet or the script of the frame; None for any other path."""
    found = ASSETS.get(path)
    if found is None:
        return None
    content, media_type = found
    kept = {"Content-Type": media_type, "Cache-Control": f"public, max-age={CACHE_SECONDS}"}
    return static_response(content, kept, asked)
