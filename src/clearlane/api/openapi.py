"""Build the OpenAPI 3.1 document of an API version from the table that its paths are served from.

Knows the columns of the table, no endpoint by name and no version: a new row is a new path.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import msgspec
from pydantic import TypeAdapter

from clearlane import __version__
from clearlane.api.app import PublicPage
from clearlane.api.endpoint import ApiVersion, BodyUse, Endpoint, Parameter
from clearlane.api.error_shape import DocumentedError
from clearlane.api.http_responses import JSON, NOTES_SHOWN_MAX, TEXT
from clearlane.api.operations import Probe
from clearlane.kernel import limits

Json = dict[str, Any]
REFERENCE = "#/components/schemas/{model}"
TEXT_SCHEMA = {"type": "string"}

HEADERS: dict[str, Json] = {
    "X-Request-Id": {"description": "Identity of this call.", "schema": TEXT_SCHEMA},
    "X-Service-Time": {
        "description": "The service's time, UTC. A sandbox may be ahead of real time: take the day of a status query "
        "from here. A caller may ignore it.",
        "schema": {"type": "string", "format": "date-time"},
    },
    "X-Ignored-Fields": {
        "description": f"Paths of unknown fields, the first {limits.IGNORED_FIELDS_SHOWN_MAX}.",
        "schema": TEXT_SCHEMA,
    },
    "X-Notes": {
        "description": "What was done with the document that the answer's form has no place for: how a correction goes "
        f"out and why, fields that came twice. Sentences separated by ` | `, the first {NOTES_SHOWN_MAX}.",
        "schema": TEXT_SCHEMA,
    },
    "WWW-Authenticate": {"description": "The Basic challenge.", "schema": TEXT_SCHEMA},
    "X-Message": {"description": "Why there is no result.", "schema": TEXT_SCHEMA},
    "Allow": {"description": "The verbs that pass.", "schema": TEXT_SCHEMA},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
}

EVERY_ANSWER = ("X-Request-Id", "X-Service-Time")

VENDOR_SITE_ID: Json = {
    "name": "vendorSiteId",
    "in": "query",
    "required": True,
    "description": "The assigned Vendor Site ID.",
    "schema": {"type": "string", "minLength": 1},
}


class Schemas:
    """The schemas of all types that a table names, built together so that components are shared."""

    def __init__(self, types: Iterable[Any]) -> None:
        self._at: dict[str, int] = {}
        adapters: list[TypeAdapter[Any]] = []
        for type in types:
            if repr(type) not in self._at:
                self._at[repr(type)] = len(adapters)
                adapters.append(TypeAdapter(type))
        self._made, shared = TypeAdapter.json_schemas(
            [(at, "serialization", adapter) for at, adapter in enumerate(adapters)],
            ref_template=REFERENCE,
        )
        self.components: Json = shared.get("$defs", {})

    def of(self, type: Any) -> Json:
        """Return the schema of one type; a string for None."""
        return TEXT_SCHEMA if type is None else self._made[self._at[repr(type)], "serialization"]


def build_document(
    version: ApiVersion, pages: Sequence[PublicPage], probes: Sequence[Probe]
) -> Json:
    """Return the OpenAPI document of a version, the public pages and the operations probes."""
    endpoints = version.endpoints
    schemas = Schemas(_types(version))
    paths = {each.path: {"post": _operation(each, schemas)} for each in endpoints}
    paths |= {page.path: {"get": _page(page)} for page in pages}
    paths |= {probe.path: _probe(probe) for probe in probes}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": version.title,
            "version": __version__,
            "description": version.description,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "jsonSchemaDialect": "https://spec.openapis.org/oas/3.1/dialect/base",
        "servers": [{"url": "/", "description": "This service."}],
        "tags": [{"name": family} for family in dict.fromkeys(each.family for each in endpoints)]
        + [{"name": "Documents"}, {"name": "Operations"}],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "headers": HEADERS,
            "securitySchemes": {
                "vendor": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "Vendor key and vendor password.",
                }
            },
        },
    }


def encode_document(document: Json) -> bytes:
    """Return the document as it is served."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1)


def _types(version: ApiVersion) -> Iterable[Any]:
    common = version.errors.common_errors.values()
    yield from (error.body for error in common if error.body is not None)
    for endpoint in version.endpoints:
        yield endpoint.response_type
        yield from (body for body in endpoint.error_types.values() if body is not None)
        if endpoint.request_type is not None:
            yield endpoint.request_type


def _operation(endpoint: Endpoint, schemas: Schemas) -> Json:
    common = endpoint.errors.common_errors
    errors = {status: _error(error, schemas) for status, error in common.items()}
    errors |= {
        status: _endpoint_error(endpoint, status, schemas) for status in endpoint.error_types
    }
    if endpoint.bad_credentials_status != 401:
        errors[endpoint.bad_credentials_status]["content"] |= {TEXT: {"schema": TEXT_SCHEMA}}
        del errors[401]
    responses = {
        200: {
            "description": endpoint.summary,
            "headers": _headers(*EVERY_ANSWER, "X-Ignored-Fields", "X-Notes"),
            "content": {JSON: {"schema": schemas.of(endpoint.response_type)}},
        },
        **errors,
    }
    operation: Json = {
        "operationId": endpoint.name,
        "tags": [endpoint.family],
        "summary": endpoint.summary,
        "security": [{"vendor": []}],
        "parameters": [VENDOR_SITE_ID, *map(_parameter, endpoint.parameters)],
        "responses": {str(status): response for status, response in sorted(responses.items())},
    }
    if endpoint.body_use is BodyUse.JSON:
        schema = schemas.of(endpoint.request_type)
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    if endpoint.deprecated:
        operation["deprecated"] = True
    return operation


def _parameter(parameter: Parameter) -> Json:
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.help,
        "schema": dict(parameter.schema),
    }


def _error(error: DocumentedError, schemas: Schemas) -> Json:
    media_type = TEXT if error.body is None else JSON
    return {
        "description": error.when,
        "headers": _headers(*EVERY_ANSWER, *error.headers),
        "content": {media_type: {"schema": schemas.of(error.body)}},
    }


def _endpoint_error(endpoint: Endpoint, status: int, schemas: Schemas) -> Json:
    """Return an error that the endpoint names: without a body, or with its own body besides the common ones."""
    body, shape = endpoint.error_types[status], endpoint.errors
    if status in shape.endpoint_errors:
        response = _error(shape.endpoint_errors[status], schemas)
        del response["content"]
        return response
    common = shape.common_errors[status]
    response = _error(common, schemas)
    if body not in (common.body, *get_args(common.body)):
        choices = [schemas.of(common.body), schemas.of(body)]
        response["content"] = {JSON: {"schema": {"anyOf": choices}}}
    return response


def _headers(*names: str) -> Mapping[str, Json]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _page(page: PublicPage) -> Json:
    return {
        "operationId": page.name,
        "tags": ["Documents"],
        "summary": page.summary,
        "security": [],
        "responses": {
            "200": {
                "description": page.summary,
                "headers": _headers(*EVERY_ANSWER),
                "content": {page.media_type: {"schema": page.schema}},
            }
        },
    }


def _probe(probe: Probe) -> Json:
    content = {"content": {probe.media_type: {"schema": probe.schema}}}
    responses = {
        str(status): {"description": when, **content} for status, when in probe.statuses.items()
    }
    return {
        "servers": [
            {
                "url": "http://127.0.0.1:{port}",
                "description": "The operations address, for operators only.",
                "variables": {"port": {"default": "8444"}},
            }
        ],
        "get": {
            "operationId": probe.name,
            "tags": ["Operations"],
            "summary": probe.summary,
            "security": [],
            "responses": responses,
        },
    }
