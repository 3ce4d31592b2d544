"""The documents anyone may read, ready to send: made once, from the tables."""

from dataclasses import replace

from clearlane.api import docs_page, openapi
from clearlane.api.app import Page
from clearlane.api.operations import PROBES
from clearlane.api.v3.routes import TABLE
from clearlane.api.v3.wire import JSON

OPENAPI = Page(
    name="OpenApi",
    path="/openapi.json",
    summary="This document.",
    media_type=JSON,
    schema={"type": "object"},
)
REFERENCE = Page(
    name="Reference",
    path="/reference",
    summary="This document as a page for people.",
    media_type="text/html; charset=utf-8",
    schema={"type": "string"},
    headers=docs_page.SECURITY_HEADERS,
)


def pages() -> tuple[Page, ...]:
    """Every page with its content."""
    document = openapi.document(TABLE, (OPENAPI, REFERENCE), PROBES)
    return (
        replace(OPENAPI, content=openapi.encoded(document)),
        replace(REFERENCE, content=docs_page.page(document)),
    )
