"""The documentation below ``/docs/``: the built site of this package, else the Markdown of the checkout.

``make docs`` builds the site into ``api/site``, which the wheel holds. Nothing outside of these directories can be
read, and every page's policy names its own scripts by their hashes.
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.http.static_content import static_response

SEGMENT = "docs"
SITE = Path(__file__).parent / "site"
CHECKOUT = Path(__file__).parents[4]
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
_SCRIPT = re.compile(rb"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self'{scripts}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PLAIN = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def page_names() -> list[str]:
    """Return the addresses below ``/docs/`` of the pages to begin with, if they can be read."""
    if (SITE / "index.html").is_file():
        return list(TITLES)
    return list(TITLES) if _markdown_files() else []


@dataclass(frozen=True, slots=True)
class Documentation:
    """Answers requests below ``/docs``."""

    errors: ErrorShape
    site: Path = SITE
    checkout: Path = CHECKOUT

    async def answer(self, request: Request, address: str, request_id: str) -> Response:
        """Return a file of the site, a Markdown page, or the list of them."""
        if request.method not in {"GET", "HEAD"}:
            return self.errors.wrong_verb(request.method, "GET, HEAD")
        path = request.scope["path"].removeprefix(f"/{SEGMENT}")
        if not path:
            return Response(status_code=308, headers={"Location": f"/{SEGMENT}/"})
        if (self.site / "index.html").is_file():
            return self._site_file(path, request)
        return self._markdown(path)

    def _site_file(self, path: str, request: Request) -> Response:
        for name in (path, f"{path.rstrip('/')}/index.html", f"{path.rstrip('/')}.html"):
            content = _read(self.site, name)
            if content is not None:
                suffix = Path(name).suffix.lower()
                if name != path and not path.endswith("/"):
                    # Links inside a page are relative to its directory.
                    return Response(status_code=308, headers={"Location": f"/{SEGMENT}{path}/"})
                headers = {"Content-Type": MEDIA_TYPES.get(suffix, "application/octet-stream")}
                if suffix == ".html":
                    headers["Content-Security-Policy"] = page_policy(content)
                return static_response(content, headers, request.headers)
        return self.errors.no_resource()

    def _markdown(self, path: str) -> Response:
        """Return the text of a Markdown page of the checkout, or a page that lists them."""
        files = _markdown_files(self.checkout)
        if path == "/":
            return Response(
                _list_page(files),
                200,
                {"Content-Type": MEDIA_TYPES[".html"], "Content-Security-Policy": _PLAIN},
            )
        name = path.strip("/")
        wanted = next((one for one in (name, f"{name}.md") if one in files), None)
        content = None if wanted is None else _read(self.checkout / "docs", wanted)
        if content is None:
            return self.errors.no_resource()
        return Response(
            content, 200, {"Content-Type": MEDIA_TYPES[".md"], "Content-Security-Policy": _PLAIN}
        )


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


def _markdown_files(checkout: Path = CHECKOUT) -> list[str]:
    """Return the Markdown pages of a checkout, by their paths below its ``docs``."""
    folder = checkout / "docs"
    if not (checkout / "pyproject.toml").is_file():
        return []
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.md"))


def _list_page(files: list[str]) -> bytes:
    links = "\n".join(
        f'<li><a href="/{SEGMENT}/{escape(name)}">{escape(name)}</a></li>' for name in files
    )
    words = (
        "The pages as they are in the checkout; <code>make docs</code> builds them as a site."
        if files
        else "This installation does not hold the documentation; <code>make docs</code> in a checkout builds it."
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Clearlane: documentation</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"></head><body>'
        f'<h1>Documentation</h1><p><a href="/">Clearlane</a>. {words}</p><ul>{links}</ul></body></html>'
    ).encode()
