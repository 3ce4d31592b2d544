"""The OpenAPI 3.1 document, made from the tables that the routes are made from.

Knows the tables' columns, no call by name: a new row is a new path here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import msgspec
from pydantic import TypeAdapter

from clearlane import __version__
from clearlane.api.app import Page
from clearlane.api.endpoint import BAD_CREDENTIALS_STATUS, Content, Row
from clearlane.api.operations import Probe
from clearlane.api.v3 import wire
from clearlane.kernel import limits

Json = dict[str, Any]
REFERENCE = "#/components/schemas/{model}"
TEXT_SCHEMA = {"type": "string"}

ABOUT = """\
Payer lists, claims, eligibility, enrollment and proxy login, over https with Basic credentials.

Path segments and query keys are read without regard to case; JSON field names are case-sensitive. \
Checks run in this order: https, route, verb, credentials, presence of `vendorSiteId`, its validity \
and ownership, Business Associate Agreement, other parameters, body. Unknown fields are ignored and \
named in `X-Ignored-Fields`. Every answer carries `X-Request-Id`; send one of your own to find a call \
again."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A status that every call can answer with."""

    when: str
    body: Any
    """A type, or None for plain text."""
    headers: tuple[str, ...] = ()


# One row per status that the shared checks give.
COMMON: dict[int, Refused] = {
    400: Refused(
        "The `vendorSiteId` is unknown, or a parameter or the body cannot be read.",
        wire.Message | wire.MessageDetail | wire.ModelState,
    ),
    401: Refused(
        "Invalid credentials (`101:`), or the client has not accepted the BAA (`201:`).",
        None,
        ("WWW-Authenticate",),
    ),
    403: Refused("The way to the service was not encrypted.", wire.Message),
    404: Refused("No such path, or no `vendorSiteId`.", wire.Message | wire.MessageDetail),
    405: Refused("Another verb than POST.", wire.Message, ("Allow",)),
    408: Refused("The request was not received in time.", wire.Message),
    413: Refused("The body is too large.", wire.Message),
    415: Refused("The body is not said to be JSON.", wire.Message),
    429: Refused("The vendor's limit of calls is exceeded.", wire.Message, ("Retry-After",)),
    431: Refused("The request line and headers are too large.", wire.Message),
    500: Refused("A fault of the service; quote the request id.", wire.Message),
    503: Refused("A part of the service does not answer.", wire.Message, ("Retry-After",)),
}

# Statuses that only some calls have: a row names them, and the type of the body if there is one.
OWN: dict[int, Refused] = {
    204: Refused("The claims could not be imported; nothing was stored.", None, ("X-Message",)),
}

HEADERS: dict[str, Json] = {
    "X-Request-Id": {"description": "Identity of this call.", "schema": TEXT_SCHEMA},
    "X-Ignored-Fields": {
        "description": f"Paths of unknown fields, the first {limits.IGNORED_FIELDS_SHOWN_MAX}.",
        "schema": TEXT_SCHEMA,
    },
    "WWW-Authenticate": {"description": "The Basic challenge.", "schema": TEXT_SCHEMA},
    "X-Message": {"description": "Why there is no result.", "schema": TEXT_SCHEMA},
    "Allow": {"description": "The verbs that pass.", "schema": TEXT_SCHEMA},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}},
}

VENDOR_SITE_ID: Json = {
    "name": "vendorSiteId",
    "in": "query",
    "required": True,
    "description": "The assigned Vendor Site ID.",
    "schema": {"type": "string", "minLength": 1},
}


class Schemas:
    """The schemas of all types that the tables name, made in one go so that names are shared."""

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
        """The schema of one type; plain text for None."""
        return TEXT_SCHEMA if type is None else self._made[self._at[repr(type)], "serialization"]


def document(rows: Sequence[Row], pages: Sequence[Page], probes: Sequence[Probe]) -> Json:
    """The whole document."""
    schemas = Schemas(_types(rows))
    paths = {row.path: {"post": _call(row, schemas)} for row in rows}
    paths |= {page.path: {"get": _page(page)} for page in pages}
    paths |= {probe.path: _probe(probe) for probe in probes}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Clearlane Vendor API V3",
            "version": __version__,
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "jsonSchemaDialect": "https://spec.openapis.org/oas/3.1/dialect/base",
        "servers": [{"url": "/", "description": "This service."}],
        "tags": [{"name": family} for family in dict.fromkeys(row.family for row in rows)]
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


def encoded(document: Json) -> bytes:
    """The document as it is served."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1)


def _types(rows: Sequence[Row]) -> Iterable[Any]:
    yield from (refused.body for refused in COMMON.values() if refused.body is not None)
    for row in rows:
        yield row.answer
        yield from (body for body in row.refusals.values() if body is not None)
        if row.request is not None:
            yield row.request


def _call(row: Row, schemas: Schemas) -> Json:
    refusals = {status: _refusal(refused, schemas) for status, refused in COMMON.items()}
    refusals |= {status: _own(row, status, schemas) for status in row.refusals}
    if BAD_CREDENTIALS_STATUS[row.family] != 401:
        refusals[404]["content"] |= {wire.TEXT: {"schema": TEXT_SCHEMA}}
        del refusals[401]
    answers = {
        200: {
            "description": row.summary,
            "headers": _headers("X-Request-Id", "X-Ignored-Fields"),
            "content": {wire.JSON: {"schema": schemas.of(row.answer)}},
        },
        **refusals,
    }
    call: Json = {
        "operationId": row.name,
        "tags": [row.family],
        "summary": row.summary,
        "security": [{"vendor": []}],
        "parameters": [VENDOR_SITE_ID, *(_parameter(row, at) for at in range(len(row.parameters)))],
        "responses": {str(status): answer for status, answer in sorted(answers.items())},
    }
    if row.content is Content.JSON:
        schema = schemas.of(row.request)
        call["requestBody"] = {"required": True, "content": {wire.JSON: {"schema": schema}}}
    if row.deprecated:
        call["deprecated"] = True
    return call


def _parameter(row: Row, at: int) -> Json:
    parameter = row.parameters[at]
    return {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.help,
        "schema": dict(parameter.schema),
    }


def _refusal(refused: Refused, schemas: Schemas) -> Json:
    media_type = wire.TEXT if refused.body is None else wire.JSON
    return {
        "description": refused.when,
        "headers": _headers("X-Request-Id", *refused.headers),
        "content": {media_type: {"schema": schemas.of(refused.body)}},
    }


def _own(row: Row, status: int, schemas: Schemas) -> Json:
    """A refusal that the row names: with its own body beside the shared ones."""
    body = row.refusals[status]
    if status in OWN:
        answer = _refusal(OWN[status], schemas)
        del answer["content"]
        return answer
    shared = COMMON[status]
    if body in (shared.body, *get_args(shared.body)):
        return _refusal(shared, schemas)
    answer = _refusal(shared, schemas)
    choices = [schemas.of(shared.body), schemas.of(body)]
    answer["content"] = {wire.JSON: {"schema": {"anyOf": choices}}}
    return answer


def _headers(*names: str) -> Mapping[str, Json]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _page(page: Page) -> Json:
    return {
        "operationId": page.name,
        "tags": ["Documents"],
        "summary": page.summary,
        "security": [],
        "responses": {
            "200": {
                "description": page.summary,
                "headers": _headers("X-Request-Id"),
                "content": {page.media_type: {"schema": page.schema}},
            }
        },
    }


def _probe(probe: Probe) -> Json:
    answer = {"content": {probe.media_type: {"schema": probe.schema}}}
    responses = {
        str(status): {"description": when, **answer} for status, when in probe.statuses.items()
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
