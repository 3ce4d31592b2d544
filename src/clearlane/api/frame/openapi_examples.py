"""Give every request and answer of an OpenAPI document an example.

Examples come from three places, the first that has one wins: calls recorded from a sandbox (``examples.json``
of a version), the version's own error shape, and the schema. Knows OpenAPI; no endpoint and no version.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from starlette.responses import Response

from clearlane.api.frame.endpoint import Endpoint
from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.http.protocol import HEAD_TOO_LARGE
from clearlane.kernel import limits

Json = dict[str, Any]
RATE_SHOWN = 600
RETRY_SECONDS_SHOWN = 30
DEPTH_MAX = 12
"""How deep an example is made from a schema that may contain itself."""
SCHEMAS = "#/components/schemas/"

ErrorExample = Callable[[ErrorShape], Response]

# One row per way in which the shared checks refuse a call, by the status of V3 and of every later version.
SHARED_ERRORS: Mapping[str, ErrorExample] = {
    "unknown-site": lambda errors: errors.bad_site(["SANDBOX-1"]),
    "repeated-parameter": lambda errors: errors.repeated_parameter("vendorSiteId"),
    "bad-credentials": lambda errors: errors.bad_credentials(401),
    "baa-missing": lambda errors: errors.baa_missing(),
    "not-encrypted": lambda errors: errors.https_required(),
    "no-such-path": lambda errors: errors.no_resource(),
    "wrong-verb": lambda errors: errors.wrong_verb("PATCH", "POST"),
    "too-slow": lambda errors: errors.too_slow(),
    "too-large": lambda errors: errors.too_large(limits.BODY_BYTES_MAX),
    "wrong-media-type": lambda errors: errors.wrong_media_type(),
    "too-many-calls": lambda errors: errors.too_many_calls(RATE_SHOWN, RETRY_SECONDS_SHOWN),
    "too-many-failures": lambda errors: errors.too_many_failures(RETRY_SECONDS_SHOWN),
    "head-too-large": lambda errors: errors.message(*HEAD_TOO_LARGE),
    "fault": lambda errors: errors.internal_error(),
    "unavailable": lambda errors: errors.unavailable(),
}

# Those of calls that take API keys.
KEY_ERRORS: Mapping[str, ErrorExample] = {
    "scope-missing": lambda errors: errors.scope_missing("correct", ["files", "read"]),
    "site-not-allowed": lambda errors: errors.site_not_allowed(["SANDBOX-1"]),
}


def load_examples(folder: Path) -> Mapping[str, Any]:
    """Return the recorded calls of an API version by endpoint name."""
    found: Mapping[str, Any] = msgspec.json.decode((folder / "examples.json").read_bytes())
    return found


def add_examples(
    document: Json, endpoints: Iterable[Endpoint], recorded: Mapping[str, Any]
) -> None:
    """Complete a document in place: every parameter, request and answer that has none gets an example."""
    components = document["components"]["schemas"]
    by_name = {endpoint.name: endpoint for endpoint in endpoints}
    for operation in _operations(document):
        name = operation["operationId"]
        calls = recorded.get(name, {})
        for parameter in operation.get("parameters", ()):
            given = calls.get("parameters", {}).get(parameter["name"])
            shown = from_schema(parameter["schema"], components) if given is None else given
            parameter.setdefault("example", shown)
        body = operation.get("requestBody", {})
        for content in body.get("content", {}).values():
            _set_examples(content, calls.get("request", {}), components)
        for status, answer in operation["responses"].items():
            own = calls.get("responses", {}).get(status, {})
            for media_type, content in answer.get("content", {}).items():
                found = dict(own) if _holds(content, own) else {}
                if endpoint := by_name.get(name):
                    found |= _error_examples(endpoint, int(status), media_type)
                _set_examples(content, found, components)


def from_schema(schema: Mapping[str, Any], components: Mapping[str, Any], depth: int = 0) -> Any:
    """Return a value that a schema describes: its own example, its first choice, or one made from its type."""
    if depth > DEPTH_MAX:
        return None
    if "$ref" in schema:
        return from_schema(components[schema["$ref"].removeprefix(SCHEMAS)], components, depth)
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    for key in ("example", "const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    for key in ("anyOf", "oneOf", "allOf"):
        if choices := [each for each in schema.get(key, ()) if each.get("type") != "null"]:
            return from_schema(choices[0], components, depth + 1)
    return _from_type(schema, components, depth)


def _from_type(schema: Mapping[str, Any], components: Mapping[str, Any], depth: int) -> Any:
    match schema.get("type"):
        case "object":
            return {
                name: from_schema(each, components, depth + 1)
                for name, each in schema.get("properties", {}).items()
            }
        case "array":
            return [from_schema(schema.get("items", {}), components, depth + 1)]
        case "string":
            text = FORMATS.get(schema.get("format", ""), "text")
            return text.ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength")]
        case "integer":
            return schema.get("minimum", 1)
        case "number":
            return schema.get("minimum", 1.0)
        case "boolean":
            return True
        case _:
            return None


FORMATS = {
    "date": "2026-01-15",
    "date-time": "2026-01-15T09:30:00Z",
    "uri": "https://clearlane.example/",
    "uuid": "5d4f8a52-7f0e-4c44-9b5e-6a1f0f6f8f11",
    "email": "billing@example.com",
}


def _operations(document: Json) -> Iterator[Json]:
    for item in document["paths"].values():
        for part in item.values():
            if isinstance(part, dict) and "operationId" in part:
                yield part


def _holds(content: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    """Tell texts from JSON: the same status may answer with either."""
    is_text = content["schema"].get("type") == "string"
    return all(isinstance(value, str) == is_text for value in own.values())


def _error_examples(endpoint: Endpoint, status: int, media_type: str) -> Json:
    errors = dict(SHARED_ERRORS)
    if endpoint.scope is not None:
        errors |= KEY_ERRORS
    if endpoint.bad_credentials_status != 401:
        errors["bad-credentials"] = lambda shape: shape.bad_credentials(
            endpoint.bad_credentials_status
        )
    made = {name: make(endpoint.errors) for name, make in errors.items()}
    return {
        name: _value(response)
        for name, response in made.items()
        if response.status_code == status and _media_type(response) == media_type
    }


def _media_type(response: Response) -> str:
    return response.headers["content-type"].partition(";")[0]


def _value(response: Response) -> Any:
    body = bytes(response.body)
    return msgspec.json.decode(body) if "json" in _media_type(response) else body.decode()


def _set_examples(content: Json, named: Mapping[str, Any], components: Mapping[str, Any]) -> None:
    if "examples" in content:
        return
    named = named or {"example": from_schema(content["schema"], components)}
    content["examples"] = {
        name: {"summary": name.replace("-", " ").capitalize(), "value": value}
        for name, value in named.items()
    }
