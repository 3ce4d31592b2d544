"""The style sheets, the script and the icon of the pages. They are public and may be cached."""

from starlette.responses import Response

from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import NOBODY_SIGNED_IN, PageRows
from clearlane.console.frame.rendering import PAGES, make_response
from clearlane.x12.show.page import read_contents_style

pages = PageRows(roles=NOBODY_SIGNED_IN)

CACHE_SECONDS = 300
STYLE = (PAGES / "console.css").read_bytes()
SCRIPT = (PAGES / "console.js").read_bytes()
ICON = (PAGES / "icon.svg").read_bytes()


@pages.page("/style.css")
async def show_style(request: PageRequest) -> Response:
    """Return the style sheet."""
    return _asset(STYLE, "text/css; charset=utf-8")


@pages.page("/x12.css")
async def show_x12_style(request: PageRequest) -> Response:
    """Return the style sheet of an explained file, which is added to that of every page."""
    return _asset(read_contents_style().encode(), "text/css; charset=utf-8")


@pages.page("/console.js")
async def show_script(request: PageRequest) -> Response:
    """Return the script; pages can be read without it."""
    return _asset(SCRIPT, "text/javascript; charset=utf-8")


@pages.page("/icon.svg")
async def show_icon(request: PageRequest) -> Response:
    """Return the icon."""
    return _asset(ICON, "image/svg+xml")


def _asset(content: bytes, media_type: str) -> Response:
    response = make_response(content, 200, media_type)
    response.headers["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
    return response
