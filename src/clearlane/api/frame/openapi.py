"""Build the OpenAPI 3.1 document of the API's versions from the tables that their paths are served from.

Knows the columns of the table, no endpoint by name and no version: a new row is a new path.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import msgspec
from pydantic import TypeAdapter

from clearlane import __version__
from clearlane.accounts.api_keys import API_KEY_PREFIX
from clearlane.api.frame.app import PublicPage
from clearlane.api.frame.endpoint import ApiVersion, BodyUse, Endpoint, Parameter
from clearlane.api.frame.error_shape import DocumentedError
from clearlane.api.frame.idempotency import IDEMPOTENCY_KEY_CHARACTERS_MAX
from clearlane.api.frame.openapi_examples import add_examples
from clearlane.api.frame.path_table import PATH_VALUE_CHARACTERS_MAX
from clearlane.api.http.http_responses import JSON, NOTES_SHOWN_MAX, TEXT, X12
from clearlane.api.operations.operations import Probe
from clearlane.kernel import limits
from clearlane.store.installation.idempotent_answers import ANSWERS_KEPT_HOURS

Json = dict[str, Any]
REFERENCE = "#/components/schemas/{model}"
TEXT_SCHEMA = {"type": "string"}
ANY_TYPE, BYTES = "*/*", {"type": "string", "format": "binary"}

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
        f"out and why, what accepted claims are warned of, fields that came twice. Sentences separated by ` | `, the first {NOTES_SHOWN_MAX}.",
        "schema": TEXT_SCHEMA,
    },
    "WWW-Authenticate": {
        "description": "The challenge: Basic, and Bearer if the call takes API keys.",
        "schema": TEXT_SCHEMA,
    },
    "X-Message": {"description": "Why there is no result.", "schema": TEXT_SCHEMA},
    "Allow": {"description": "The verbs that pass.", "schema": TEXT_SCHEMA},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
    "RateLimit": {
        "description": "Calls left (`r`) and seconds until all are there again (`t`), if the vendor has a limit.",
        "schema": TEXT_SCHEMA,
    },
    "RateLimit-Policy": {
        "description": "The vendor's limit, if it has one: calls (`q`) per window of seconds (`w`).",
        "schema": TEXT_SCHEMA,
    },
    "Idempotency-Replayed": {
        "description": "`true` if the stored answer to an earlier call with this `Idempotency-Key` is given again.",
        "schema": TEXT_SCHEMA,
    },
}

EVERY_ANSWER = ("X-Request-Id", "X-Service-Time")

IDEMPOTENCY_KEY: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": f"Repeat a call safely: for {ANSWERS_KEPT_HOURS} hours the same key gives the same answer again, and "
    "nothing happens twice. Another call or body under the same key is 422.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": IDEMPOTENCY_KEY_CHARACTERS_MAX,
        "pattern": "^[!-~]+$",
    },
}
RATE_HEADERS = ("RateLimit", "RateLimit-Policy")


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
    versions: Sequence[ApiVersion], pages: Sequence[PublicPage], probes: Sequence[Probe]
) -> Json:
    """Return the OpenAPI document of these versions, the public pages and the operations probes."""
    endpoints = [each for version in versions for each in version.endpoints]
    schemas = Schemas(each for version in versions for each in _types(version))
    paths: dict[str, Json] = {}
    for each in endpoints:
        operations = paths.setdefault(each.path, {})
        operations |= {verb.lower(): _operation(each, schemas) for verb in each.verbs}
    paths |= {page.path: {"get": _page(page)} for page in pages}
    paths |= {probe.path: _probe(probe) for probe in probes}
    groups = _tag_groups(versions)
    document: Json = {
        "openapi": "3.1.0",
        "info": {
            "title": versions[0].title,
            "version": __version__,
            "description": "\n\n".join(
                [
                    versions[0].description,
                    *(f"## {each.title}\n\n{each.description}" for each in versions[1:]),
                ]
            ),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "jsonSchemaDialect": "https://spec.openapis.org/oas/3.1/dialect/base",
        "servers": [{"url": "/", "description": "This service."}],
        "tags": [_tag(name) for _, names in groups for name in names],
        "x-tagGroups": [{"name": title, "tags": names} for title, names in groups],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "headers": HEADERS,
            "securitySchemes": {
                "vendor": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "Vendor key and vendor password.",
                },
                "api_key": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": f"{API_KEY_PREFIX}ID_SECRET",
                    "description": "An API key. Each is for some scopes; a call names the one it needs.",
                },
            },
        },
    }
    recorded = {name: each for version in versions for name, each in version.examples.items()}
    add_examples(document, endpoints, recorded)
    return document


def encode_document(document: Json) -> bytes:
    """Return the document as it is served."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1)


def _tag_groups(versions: Sequence[ApiVersion]) -> list[tuple[str, list[str]]]:
    """Return the tags of each version below its title, then those of what has no version."""
    groups = [
        (each.title, list(dict.fromkeys(str(row.family) for row in each.endpoints)))
        for each in versions
    ]
    return [*groups, ("This service", ["Documents", "Operations"])]


def _tag(name: str) -> Json:
    """Return a tag; a reference shows it without its version, which is the group's, and as words."""
    words = _TAG_WORD.findall(_TAG_VERSION.sub("", name))
    return {"name": name, "x-displayName": " ".join(words).lower().capitalize()}


def _types(version: ApiVersion) -> Iterable[Any]:
    common = version.errors.common_errors.values()
    yield from (error.body for error in common if error.body is not None)
    for endpoint in version.endpoints:
        if endpoint.response_type is not None:
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
    rate = RATE_HEADERS if endpoint.conventions.rate_headers else ()
    replayed = ("Idempotency-Replayed",) if endpoint.takes_idempotency_key else ()
    success: Json = {
        "description": endpoint.summary,
        "headers": _headers(*EVERY_ANSWER, "X-Ignored-Fields", "X-Notes", *rate, *replayed),
    }
    if endpoint.success_status != 204:
        success["content"] = {endpoint.media_type: {"schema": schemas.of(endpoint.response_type)}}
    for error in errors.values():
        error["headers"] |= _headers(*rate)
    responses = {endpoint.success_status: success, **errors}
    operation: Json = {
        "operationId": endpoint.name,
        "tags": [endpoint.family],
        "summary": endpoint.summary,
        "security": _security(endpoint),
        "parameters": _parameters(endpoint),
        "responses": {str(status): response for status, response in sorted(responses.items())},
    }
    if endpoint.description:
        operation["description"] = endpoint.description
    if endpoint.body_use is BodyUse.JSON:
        schema = schemas.of(endpoint.request_type)
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    elif endpoint.body_use is BodyUse.STREAM:
        operation["requestBody"] = {"required": True, "content": {ANY_TYPE: {"schema": BYTES}}}
    elif endpoint.body_use is BodyUse.X12:
        content = {X12: {"schema": TEXT_SCHEMA}}
        operation["requestBody"] = {
            "required": True,
            "description": "X12, of any Content-Type.",
            "content": content,
        }
    if endpoint.deprecated:
        operation["deprecated"] = True
    return operation


def _security(endpoint: Endpoint) -> list[Json]:
    """Return the credentials that a call takes. For a key they name its scope, as OpenAPI 3.1 names roles."""
    key = [] if endpoint.scope is None else [{"api_key": [endpoint.scope.value]}]
    return [{"vendor": []}, *key]


def _parameters(endpoint: Endpoint) -> list[Json]:
    """Return the parameters of a call: of its path, its site, its own, and its header."""
    conventions = endpoint.conventions
    of_path: list[Json] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": "As the API gave it.",
            "schema": {"type": "string", "minLength": 1, "maxLength": PATH_VALUE_CHARACTERS_MAX},
        }
        for name in _PATH_VALUE.findall(endpoint.path)
    ]
    site: Json = {
        "name": conventions.site_parameter,
        "in": "query",
        "required": conventions.site_required,
        "description": conventions.site_help,
        "schema": {"type": "string", "minLength": 1},
    }
    key = [IDEMPOTENCY_KEY] if endpoint.takes_idempotency_key else []
    return [*of_path, site, *map(_parameter, endpoint.parameters), *key]


_TAG_VERSION = re.compile(r"^v\d+ ")
_TAG_WORD = re.compile(r"[A-Z]?[a-z0-9]+")
_PATH_VALUE = re.compile(r"{(\w+)}")


def _parameter(parameter: Parameter) -> Json:
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.help,
        "schema": dict(parameter.schema),
    }


def _error(error: DocumentedError, schemas: Schemas) -> Json:
    media_type = error.media_type or (TEXT if error.body is None else JSON)
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
        response["content"] = {common.media_type or JSON: {"schema": {"anyOf": choices}}}
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
    responses = {
        str(status): {
            "description": when,
            "content": {probe.media_type: {"schema": _probe_schema(probe, status)}},
        }
        for status, when in probe.statuses.items()
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


def _probe_schema(probe: Probe, status: int) -> Json:
    shown = {"examples": [probe.examples[status]]} if status in probe.examples else {}
    return {**probe.schema, **shown}
