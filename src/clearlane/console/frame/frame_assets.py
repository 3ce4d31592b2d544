"""The style sheets, the script and the icon of the pages. They are public and may be cached."""

from functools import partial

from starlette.responses import Response

from clearlane.console.frame.page_request import PageRequest
from clearlane.console.frame.page_row import NOBODY_SIGNED_IN, PageRows
from clearlane.console.frame.rendering import PAGES, make_response
from clearlane.x12.show.page import read_contents_style

pages = PageRows(roles=NOBODY_SIGNED_IN)

CACHE_SECONDS = 300
# The style of an explained file is added to that of every page; pages can be read without the script.
ASSETS = {
    "style.css": ((PAGES / "console.css").read_bytes(), "text/css; charset=utf-8"),
    "x12.css": (read_contents_style().encode(), "text/css; charset=utf-8"),
    "console.js": ((PAGES / "console.js").read_bytes(), "text/javascript; charset=utf-8"),
    "icon.svg": ((PAGES / "icon.svg").read_bytes(), "image/svg+xml"),
}


async def show_asset(request: PageRequest, *, name: str) -> Response:
    """Return one of the files."""
    content, media_type = ASSETS[name]
    response = make_response(content, 200, media_type)
    response.headers["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
    return response


for _name in ASSETS:
    pages.page(f"/{_name}")(partial(show_asset, name=_name))
