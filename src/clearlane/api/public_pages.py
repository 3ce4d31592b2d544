"""The public pages: the OpenAPI document and its HTML reference, built once at start."""

from dataclasses import replace

from clearlane.api import docs_page, openapi
from clearlane.api.app import PublicPage
from clearlane.api.endpoint import ApiVersion
from clearlane.api.http_responses import JSON
from clearlane.api.operations import PROBES

OPENAPI = PublicPage(
    name="OpenApi",
    path="/openapi.json",
    summary="This document.",
    media_type=JSON,
    schema={"type": "object"},
)
REFERENCE = PublicPage(
    name="Reference",
    path="/reference",
    summary="This document as a page for people.",
    media_type="text/html; charset=utf-8",
    schema={"type": "string"},
    headers=docs_page.SECURITY_HEADERS,
)


def build_pages(*versions: ApiVersion) -> tuple[PublicPage, ...]:
    """Return every public page with its content, documenting versions of the API."""
    document = openapi.build_document(versions, (OPENAPI, REFERENCE), PROBES)
    return (
        replace(OPENAPI, content=openapi.encode_document(document)),
        replace(REFERENCE, content=docs_page.render_page(document)),
    )
