"""The OpenAPI document of all versions, made once for the tests that read it."""

from functools import cache

from clearlane.api.pages.public_pages import build_pages
from clearlane.api.versions import VERSIONS


@cache
def openapi_content() -> bytes:
    """Return the document as it is served."""
    return build_pages(*VERSIONS)[0].content.made()
