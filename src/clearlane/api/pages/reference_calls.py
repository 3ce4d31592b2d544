"""Read an OpenAPI document into what the pages of the reference show: calls, bodies with their fields, shapes, examples.

Knows OpenAPI only; no endpoint, no version and no HTML.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import msgspec

Json = Mapping[str, Any]
ROOT = "/reference"
VERBS = ("get", "post", "put", "patch", "delete")
FIELDS_SHOWN_MAX = 30
"""Fields of a body that a call's page shows; the page of the shape has all."""
SHAPE_FIELDS_MAX = 60
"""Fields on one page of a shape."""
EXAMPLE_CHARACTERS_MAX = 20_000
VALUES_SHOWN_MAX = 12
_LIMITS = {
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxItems": "at most {} of them",
    "format": "{}",
}
"""Limits that a reader needs. That a text has a character is none of them."""


@dataclass(frozen=True, slots=True)
class TypeWord:
    """A piece of a type in words: text, a value, or a link to a shape."""

    text: str
    address: str = ""
    code: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a body, or a parameter."""

    name: str
    type: tuple[TypeWord, ...]
    description: str
    required: bool
    limits: str = ""
    example: str = ""
    place: str = ""
    """Where a parameter is: path, query or header."""


@dataclass(frozen=True, slots=True)
class Example:
    """An example of a body, as text."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class More:
    """Where the rest of a shape is."""

    note: str
    title: str
    address: str


@dataclass(frozen=True, slots=True)
class BodyShape:
    """The body of a call or of an answer in one media type."""

    media_type: str
    type: tuple[TypeWord, ...]
    rows: tuple[Field, ...]
    more: More | None
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a call."""

    status: str
    description: str
    bodies: tuple[BodyShape, ...]

    @property
    def tone(self) -> str:
        """How it is colored."""
        return "good" if self.status.startswith("2") else "act"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPage:
    """One operation, as its page shows it."""

    name: str
    verb: str
    path: str
    summary: str
    paragraphs: tuple[str, ...]
    version: str
    group: str
    deprecated: bool
    credentials: str
    parameters: tuple[Field, ...]
    body: BodyShape | None
    answers: tuple[Answer, ...]
    headers: tuple[tuple[str, str], ...]
    command: str


@dataclass(frozen=True, slots=True)
class CallName:
    """An operation in lists."""

    name: str
    verb: str
    path: str
    summary: str
    version: str
    group: str

    @property
    def address(self) -> str:
        """The address of its page."""
        return f"{ROOT}/{self.name}"


def call_names(document: Json) -> tuple[CallName, ...]:
    """Return every operation, in the order of the groups."""
    shown = {tag["name"]: tag["x-displayName"] for tag in document["tags"]}
    versions = {tag: group["name"] for group in document["x-tagGroups"] for tag in group["tags"]}
    order = list(versions)
    found = [
        (
            order.index(each["tags"][0]),
            CallName(
                each["operationId"],
                verb,
                path,
                each["summary"],
                versions[each["tags"][0]],
                shown[each["tags"][0]],
            ),
        )
        for path, verb, each in _operations(document)
    ]
    return tuple(each for _, each in sorted(found, key=lambda one: one[0]))


def read_call(document: Json, name: CallName, base_url: str, *, sandbox: bool) -> CallPage:
    """Return an operation with its parameters, bodies, answers and a command that makes it."""
    operation = document["paths"][name.path][name.verb]
    content = operation.get("requestBody", {}).get("content", {})
    bodies = [_body(document, kind, each) for kind, each in content.items()]
    return CallPage(
        name=name.name,
        verb=name.verb,
        path=name.path,
        summary=name.summary,
        paragraphs=tuple(filter(None, operation.get("description", "").split("\n\n"))),
        version=name.version,
        group=name.group,
        deprecated=operation.get("deprecated", False),
        credentials=_credentials(operation),
        parameters=tuple(map(_parameter, operation.get("parameters", ()))),
        body=bodies[0] if bodies else None,
        answers=tuple(
            Answer(
                status,
                each["description"],
                tuple(
                    _body(document, kind, one, rows=status.startswith("2"))
                    for kind, one in each.get("content", {}).items()
                ),
            )
            for status, each in operation["responses"].items()
        ),
        headers=tuple(_headers(document, operation)),
        command=_command(operation, name, base_url, sandbox=sandbox),
    )


def shape_fields(schema: Json) -> tuple[Field, ...]:
    """Return the fields of a shape."""
    required = schema.get("required", ())
    return tuple(
        Field(
            name=name,
            type=tuple(type_words(each)),
            description=each.get("description", ""),
            required=name in required,
            limits=_limits(each),
            example=_short_example(each),
        )
        for name, each in schema.get("properties", {}).items()
    )


def shape_users(document: Json, name: str) -> Iterator[tuple[str, str]]:
    """Return the title and the address of each call and shape that names a shape."""
    wanted = f'"#/components/schemas/{name}"'.encode()
    for each in call_names(document):
        if wanted in msgspec.json.encode(document["paths"][each.path][each.verb]):
            yield each.name, each.address
    for other, schema in document["components"]["schemas"].items():
        if other != name and wanted in msgspec.json.encode(schema):
            yield shape_title(other), shape_address(other)


def shape_title(name: str) -> str:
    """Return a shape's name as people read it: a page of a list has the name of what it lists."""
    return f"Page of {name[5:-1]}" if name.startswith("Page_") and name.endswith("_") else name


def shape_address(name: str, number: int = 1) -> str:
    """Return the address of a shape's page."""
    return f"{ROOT}/shapes/{name}" + (f"/{number}" if number > 1 else "")


def type_words(schema: Json) -> Iterator[TypeWord]:
    """Return a schema in a few words, with links to named shapes."""
    if reference := schema.get("$ref"):
        name = str(reference).rpartition("/")[2]
        yield TypeWord(shape_title(name), shape_address(name))
    elif choices := schema.get("anyOf") or schema.get("oneOf"):
        one, *others = choices
        if others == [{"type": "array", "items": one}]:
            # What may be one or a list of it is named once: an enumeration is long.
            yield from type_words(one)
            yield TypeWord(", or several")
            return
        yield from _joined([tuple(type_words(each)) for each in choices])
    elif "enum" in schema:
        values = schema["enum"]
        shown = map(str, values[:VALUES_SHOWN_MAX])
        yield from _joined([(TypeWord(each, code=True),) for each in shown])
        if len(values) > VALUES_SHOWN_MAX:
            yield TypeWord(f" and {len(values) - VALUES_SHOWN_MAX} others")
    elif schema.get("type") == "array":
        yield TypeWord("list of ")
        yield from type_words(schema.get("items", {}))
    elif isinstance(mapped := schema.get("additionalProperties"), dict):
        yield TypeWord("map of text to ")
        yield from type_words(mapped)
    else:
        yield TypeWord(str(schema.get("type", "any")))


def _joined(choices: Sequence[tuple[TypeWord, ...]]) -> Iterator[TypeWord]:
    for at, choice in enumerate(choices):
        if at:
            yield TypeWord(" or ")
        yield from choice


def _operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, item in document["paths"].items():
        for verb in VERBS:
            if verb in item:
                yield path, verb, item[verb]


def _parameter(parameter: Json) -> Field:
    schema = parameter["schema"]
    return Field(
        name=parameter["name"],
        type=tuple(type_words(schema)),
        description=parameter["description"],
        required=parameter["required"],
        limits=_limits(schema),
        example=str(parameter.get("example", "")),
        place=parameter["in"],
    )


def _body(document: Json, media_type: str, content: Json, *, rows: bool = True) -> BodyShape:
    """Return a body; without ``rows`` its shape is named and not shown, as with errors, which share theirs."""
    schema = content["schema"]
    name = _shape_name(schema) if rows else ""
    fields = shape_fields(document["components"]["schemas"][name]) if name else ()
    more = None
    if len(fields) > FIELDS_SHOWN_MAX:
        rest = f"The first {FIELDS_SHOWN_MAX} of {len(fields)} fields."
        more = More(rest, f"All fields of {shape_title(name)}", shape_address(name))
    examples = content.get("examples", {})
    if "example" in content:
        examples = {"example": {"summary": "Example", "value": content["example"]}, **examples}
    return BodyShape(
        media_type=media_type,
        type=tuple(type_words(schema)),
        rows=fields[:FIELDS_SHOWN_MAX],
        more=more,
        examples=tuple(
            Example(each.get("summary") or name, _example_text(each["value"]))
            for name, each in examples.items()
        ),
    )


def _shape_name(schema: Json) -> str:
    """Return the one shape that a schema is, or is a list of; empty for others."""
    if reference := schema.get("$ref"):
        return str(reference).rpartition("/")[2]
    if schema.get("type") == "array":
        return _shape_name(schema.get("items", {}))
    return ""


def _example_text(value: object) -> str:
    """Return an example as people read it, cut if it is very long."""
    if isinstance(value, str):
        text = value
    else:
        text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if len(text) <= EXAMPLE_CHARACTERS_MAX:
        return text
    return text[:EXAMPLE_CHARACTERS_MAX].rpartition("\n")[0] + "\n... (the rest is left out here)"


def _short_example(schema: Json) -> str:
    examples = schema.get("examples") or ()
    return str(examples[0]) if examples and not isinstance(examples[0], dict | list) else ""


def _limits(schema: Json) -> str:
    return ", ".join(
        words.format(schema[name]) for name, words in _LIMITS.items() if name in schema
    )


def _credentials(operation: Json) -> str:
    """Return who may make a call; empty for everyone."""
    ways = []
    for each in operation.get("security", ()):
        if "vendor" in each:
            ways.append("vendor key and password (Basic)")
        ways += [f"an API key with the scope {scope} (Bearer)" for scope in each.get("api_key", ())]
    return ", or ".join(ways)


def _headers(document: Json, operation: Json) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for answer in operation["responses"].values():
        for name in answer.get("headers", {}):
            if name not in seen:
                seen.add(name)
                yield name, document["components"]["headers"][name]["description"]


def _command(operation: Json, name: CallName, base_url: str, *, sandbox: bool) -> str:
    """Return a curl command with the required parameters and the first example of a body."""
    path = name.path
    query: dict[str, str] = {}
    for each in operation.get("parameters", ()):
        example = str(each.get("example", each["name"].upper()))
        if each["in"] == "path":
            path = path.replace(f"{{{each['name']}}}", example)
        elif each["in"] == "query" and each["required"]:
            query[each["name"]] = example
    content = operation.get("requestBody", {}).get("content", {})
    options: list[tuple[str, ...]] = []
    if sandbox:
        options.append(("--cacert", ".data/tls/ca.pem"))
    if operation.get("security"):
        options.append(("-u", "SANDBOX" if sandbox else "VENDOR_KEY"))
    if name.verb != "get":
        options.append(("-X", name.verb.upper()))
    for media_type in list(content)[:1]:
        options.append(("-H", f"Content-Type: {media_type}"))
        options.append(("--data-binary", f"@body.{'json' if 'json' in media_type else 'x12'}"))
    if not content and name.verb == "post":
        options.append(("-H", "Content-Length: 0"))
    address = f"{base_url}{path}" + (f"?{urlencode(query)}" if query else "")
    return " \\\n  ".join([f"curl {shlex.quote(address)}", *map(shlex.join, options)])
