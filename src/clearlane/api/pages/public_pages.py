"""The public pages: the OpenAPI document, and the reference's viewer if it is built.

The document is made when it is asked for first: to describe every call takes as long as half of a node's start, and most
nodes are never asked.
"""

from dataclasses import replace
from pathlib import Path

from clearlane.api.frame.app import PublicPage
from clearlane.api.frame.endpoint import ApiVersion
from clearlane.api.http.http_responses import JSON
from clearlane.api.http.static_content import StaticContent
from clearlane.api.operations.operations import PROBES
from clearlane.api.pages import reference_viewer

OPENAPI = PublicPage(
    name="OpenApi",
    path="/openapi.json",
    summary="This document.",
    media_type=JSON,
    schema={"type": "object", "examples": [{"openapi": "3.1.0"}]},
)
REFERENCE = PublicPage(
    name="Reference",
    path="/reference",
    summary="This document as a page for people.",
    media_type="text/html; charset=utf-8",
    schema={"type": "string", "examples": ["<!doctype html>"]},
)


def build_pages(
    *versions: ApiVersion, viewer: Path = reference_viewer.BUILT
) -> tuple[PublicPage, ...]:
    """Return every public page with its content, documenting versions of the API.

    Without the viewer the reference is not among them: ``reference`` renders its pages when they are asked for.
    """

    def describe() -> bytes:
        from clearlane.api.frame import openapi  # of no use before

        document = openapi.build_document(versions, (OPENAPI, REFERENCE), PROBES)
        return openapi.encode_document(document)

    described = replace(OPENAPI, content=StaticContent(describe))
    script = reference_viewer.viewer_script(viewer)
    if script is None:
        return (described,)
    page = replace(
        REFERENCE,
        content=StaticContent(lambda: reference_viewer.render_page(versions[0].title, script)),
        headers=reference_viewer.SECURITY_HEADERS,
    )
    return described, page, script
