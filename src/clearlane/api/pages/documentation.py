"""The documentation below ``/docs/``: the site that ``make docs`` built, else the Markdown pages, rendered when asked for.

The wheel has the pages, and the built site if there is one. Nothing outside of these directories can be read, and a
built page's policy names its own scripts by their hashes.
"""

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.http.http_responses import JSON
from clearlane.api.http.static_content import static_response
from clearlane.api.pages import SEGMENTS
from clearlane.api.pages.markdown_site import FILE_SUFFIXES, MarkdownSite, PlacedPart, meant, search
from clearlane.api.pages.page_frame import Entry, asset_response, no_page, render_page
from clearlane.api.pages.page_list import SECTIONS, documents_root
from clearlane.api.pages.reference import Reference

NAME = "Documentation"
SEGMENT = SEGMENTS[NAME]
SITE = Path(__file__).parent / "site"
DOCUMENTATION_FILE_BYTES_MAX = 32 * 1024 * 1024
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".xml": "application/xml",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".ico": "image/x-icon",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
}
TITLES = {
    "tutorial/1-a-paid-claim": "1. A paid claim",
    "tutorial/2-a-denial": "2. A denial, explained",
    "tutorial/3-a-refusal": "3. Three kinds of refusal",
    "tutorial/4-a-late-answer": "4. Benefits at once and late, and events",
    "tutorial/5-an-enrollment": "5. An enrollment",
    "glossary": "Glossary",
}
"""Pages that the page at `/` leads to."""
WORDS_CHARACTERS_MAX = 80
ROOT = "/docs/"
NO_PAGES = (
    "This installation does not have the documentation: its package was made without the pages. "
    "They are in the folder docs of the source code."
)
_SCRIPT = re.compile(rb"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self'{scripts}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page_names() -> list[str]:
    """Return the addresses below ``/docs/`` of the pages to begin with, if they can be read."""
    there = (SITE / "index.html").is_file() or documents_root() is not None
    return list(TITLES) if there else []


class Documentation:
    """Answers requests below ``/docs``."""

    def __init__(
        self,
        errors: ErrorShape,
        reference: Reference | None = None,
        *,
        site: Path = SITE,
        root: Path | None = None,
    ) -> None:
        """``reference`` is searched too; ``root`` has the Markdown pages, None without any."""
        self._errors = errors
        self._reference = reference
        self._site = site
        self._root = root

    @cached_property
    def _pages(self) -> MarkdownSite | None:
        return MarkdownSite(self._root) if self._root else None

    async def answer(self, request: Request, address: str, request_id: str) -> Response:
        """Return a page, a picture, a file of the frame, or what a search finds."""
        if request.method not in {"GET", "HEAD"}:
            return self._errors.wrong_verb(request.method, "GET, HEAD")
        path = request.scope["path"].removeprefix(f"/{SEGMENT}")
        if not path:
            return _moved(ROOT)
        asset = asset_response(path, request.headers)
        if asset is not None:
            return asset
        if path in {"/search", "/search.json"}:
            return self._search(path, request)
        if (self._site / "index.html").is_file():
            return self._site_file(path, request)
        if self._pages is None:
            return self._page("missing.html", "Documentation", request, sentence=NO_PAGES)
        return self._markdown(self._pages, path, request)

    def _site_file(self, path: str, request: Request) -> Response:
        for name in (path, f"{path.rstrip('/')}/index.html", f"{path.rstrip('/')}.html"):
            content = _read(self._site, name)
            if content is not None:
                suffix = Path(name).suffix.lower()
                if name != path and not path.endswith("/"):
                    # Links inside a page are relative to its directory.
                    return _moved(f"/{SEGMENT}{path}/")
                headers = {"Content-Type": MEDIA_TYPES.get(suffix, "application/octet-stream")}
                if suffix == ".html":
                    headers["Content-Security-Policy"] = page_policy(content)
                return static_response(content, headers, request.headers)
        return self._no_page(path, request)

    def _markdown(self, pages: MarkdownSite, path: str, request: Request) -> Response:
        """Return a part of a Markdown page, or a picture."""
        place = pages.place(f"/{SEGMENT}{path}")
        if place is not None:
            return self._place(pages, place, request)
        name = path.strip("/").removesuffix(".md")
        if pages.place(f"{ROOT}{name}/") is not None:
            return _moved(f"{ROOT}{name}/")
        suffix = Path(path).suffix
        picture = _read(pages.root / "docs", path) if suffix in FILE_SUFFIXES else None
        if picture is None:
            return self._no_page(path, request)
        media_type = MEDIA_TYPES[suffix]
        return static_response(picture, {"Content-Type": media_type}, request.headers)

    def _place(self, pages: MarkdownSite, place: PlacedPart, request: Request) -> Response:
        return self._page(
            "document.html",
            place.part.title or place.page.title,
            request,
            section=SECTIONS.get(place.page.section, ""),
            part=place.part,
            page_title=place.page.title,
            first_address=f"{ROOT}{place.page.address}",
            html=pages.html(place),
            contents=place.contents,
            before=place.before,
            after=place.after,
            places=[each for each in place.part.headings if each.level > 1],
        )

    def _no_page(self, path: str, request: Request) -> Response:
        return no_page(
            self._errors,
            part_of=NAME,
            groups=self._pages.groups if self._pages else (),
            asked=request.headers,
            find=lambda: meant(tuple(self._entries()), path),
        )

    def _search(self, path: str, request: Request) -> Response:
        words = request.query_params.get("q", "")[:WORDS_CHARACTERS_MAX]
        found = search(tuple(self._entries()), words)
        if path.endswith(".json"):
            rows = [{"title": e.title, "address": e.address, "note": e.note} for e in found]
            return Response(msgspec.json.encode(rows), 200, {"Content-Type": JSON})
        return self._page("search.html", "Search", request, found=found, words=words)

    def _entries(self) -> Iterable[Entry]:
        if self._pages is not None and not (self._site / "index.html").is_file():
            yield from self._pages.entries
        if self._reference is not None:
            yield from self._reference.entries

    def _page(self, template: str, title: str, request: Request, **values: Any) -> Response:
        return render_page(
            template,
            title=title,
            part_of=NAME,
            address=request.scope["path"],
            groups=self._pages.groups if self._pages else (),
            asked=request.headers,
            **values,
        )


def _moved(address: str) -> Response:
    return Response(status_code=308, headers={"Location": address})


def page_policy(content: bytes) -> str:
    """Return the policy of a page: its own inline scripts by their hashes, and nothing from other hosts."""
    hashes = {
        base64.b64encode(hashlib.sha256(one).digest()).decode() for one in _SCRIPT.findall(content)
    }
    return _POLICY.format(scripts="".join(f" 'sha256-{one}'" for one in sorted(hashes)))


def _read(folder: Path, path: str) -> bytes | None:
    """Return a file of a directory; None if there is none, or the path leads out of it."""
    try:
        root = folder.resolve()
        found = (root / path.lstrip("/")).resolve()
        if not found.is_relative_to(root) or not found.is_file():
            return None
        if found.stat().st_size > DOCUMENTATION_FILE_BYTES_MAX:
            return None
        return found.read_bytes()
    except (OSError, ValueError):  # a name that no file system takes
        return None
