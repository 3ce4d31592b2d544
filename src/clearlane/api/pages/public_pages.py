"""The public pages: the OpenAPI document, and the reference's viewer if it is built; made once at start."""

from dataclasses import replace
from pathlib import Path

from clearlane.api.frame import openapi
from clearlane.api.frame.app import PublicPage
from clearlane.api.frame.endpoint import ApiVersion
from clearlane.api.http.http_responses import JSON
from clearlane.api.operations.operations import PROBES
from clearlane.api.pages import page_frame, reference_viewer

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
    headers=page_frame.SECURITY_HEADERS,
)


def build_pages(
    *versions: ApiVersion, viewer: Path = reference_viewer.BUILT
) -> tuple[PublicPage, ...]:
    """Return every public page with its content, documenting versions of the API.

    Without the viewer the reference is not among them: ``reference`` renders its pages when they are asked for.
    """
    document = openapi.build_document(versions, (OPENAPI, REFERENCE), PROBES)
    described = replace(OPENAPI, content=openapi.encode_document(document))
    script = reference_viewer.viewer_script(viewer)
    if script is None:
        return (described,)
    page = replace(
        REFERENCE,
        content=reference_viewer.render_page(document, script),
        headers=reference_viewer.SECURITY_HEADERS,
    )
    return described, page, script
