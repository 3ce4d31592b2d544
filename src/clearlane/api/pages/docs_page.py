"""Render the OpenAPI document as one HTML page without scripts or external resources.

Knows OpenAPI only; no endpoint and no version.
"""

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from typing import Any

Json = dict[str, Any]
VERBS = ("get", "post", "put", "patch", "delete")

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --mark: #1a7f5a; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem 1.5rem 4rem; }
h1 { margin-bottom: 0; } h2 { border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: 1rem; }
code { background: var(--soft); border-radius: 3px; font: 0.9em ui-monospace, monospace; padding: 0.1em 0.3em; }
nav ul { columns: 2; padding-left: 1.2rem; }
.verb { background: var(--mark); border-radius: 3px; color: #fff; font-size: 0.8em; padding: 0.1em 0.5em; }
.old { opacity: 0.7; text-decoration: line-through; }
table { border-collapse: collapse; margin: 0.5rem 0 1rem; width: 100%; }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
th { background: var(--soft); }
"""

# The policy allows nothing but the style above, which it names by its hash.
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
SECURITY_HEADERS = (
    (
        "Content-Security-Policy",
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
)


def render_page(document: Json) -> bytes:
    """Return the page as UTF-8 HTML."""
    return "\n".join(_lines(document)).encode()


def _lines(document: Json) -> Iterator[str]:
    info = document["info"]
    yield "<!doctype html>"
    yield f'<html lang="en"><head><meta charset="utf-8"><title>{escape(info["title"])}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{STYLE}</style></head><body>"
    yield f"<header><h1>{escape(info['title'])}</h1>"
    yield f"<p>Version {escape(info['version'])}. As a document for machines: "
    yield '<a href="/openapi.json">/openapi.json</a>.</p>'
    for part in info["description"].split("\n\n"):
        heading = part.removeprefix("## ")
        yield f"<p>{_prose(part)}</p>" if heading == part else f"<h2>{escape(heading)}</h2>"
    yield "</header>"
    operations = list(_operations(document))
    yield "<nav><ul>"
    for _, _, operation in operations:
        name = escape(operation["operationId"])
        yield f'<li><a href="#{name}">{name}</a></li>'
    yield "</ul></nav><main>"
    for path, verb, operation in operations:
        yield from _operation(path, verb, operation)
    yield "<h2>Shapes</h2>"
    for name, schema in document["components"]["schemas"].items():
        yield from _shape(name, schema)
    yield "</main></body></html>"


def _operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, item in document["paths"].items():
        for verb in VERBS:
            if verb in item:
                yield path, verb, item[verb]


def _operation(path: str, verb: str, operation: Json) -> Iterator[str]:
    old = ' class="old"' if operation.get("deprecated") else ""
    name = escape(operation["operationId"])
    yield f'<section id="{name}"><h2{old}>{name}</h2>'
    yield f'<p><span class="verb">{verb.upper()}</span> <code>{escape(path)}</code></p>'
    yield f"<p>{_prose(operation['summary'])}</p>"
    if parameters := operation.get("parameters"):
        yield "<h3>Query</h3><table><tr><th>Name</th><th>Needed</th><th>What it is</th></tr>"
        for parameter in parameters:
            needed = "yes" if parameter["required"] else "no"
            yield f"<tr><td><code>{escape(parameter['name'])}</code></td><td>{needed}</td>"
            yield f"<td>{_prose(parameter['description'])}</td></tr>"
        yield "</table>"
    if body := operation.get("requestBody"):
        schema = next(iter(body["content"].values()))["schema"]
        yield f"<h3>Body</h3><p>{_type(schema)}</p>"
    yield "<h3>Answers</h3><table><tr><th>Status</th><th>When</th><th>Body</th></tr>"
    for status, answer in operation["responses"].items():
        bodies = [
            f"{_type(content['schema'])} as <code>{escape(media_type)}</code>"
            for media_type, content in answer.get("content", {}).items()
        ]
        yield f"<tr><td>{escape(status)}</td><td>{_prose(answer['description'])}</td>"
        yield f"<td>{'<br>'.join(bodies)}</td></tr>"
    yield "</table></section>"


def _shape(name: str, schema: Json) -> Iterator[str]:
    yield f'<section id="shape-{escape(name)}"><h3>{escape(name)}</h3>'
    yield f"<p>{_prose(schema.get('description', ''))}</p>"
    yield "<table><tr><th>Field</th><th>Type</th><th>What it is</th></tr>"
    for field, kind in schema.get("properties", {}).items():
        yield f"<tr><td><code>{escape(field)}</code></td><td>{_type(kind)}</td>"
        yield f"<td>{_prose(kind.get('description', ''))}</td></tr>"
    yield "</table></section>"


def _type(schema: Json) -> str:
    """Return a schema in a few words, with links to named schemas."""
    if reference := schema.get("$ref"):
        name = escape(str(reference).rpartition("/")[2])
        return f'<a href="#shape-{name}">{name}</a>'
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(map(_type, choices))
    if "enum" in schema:
        return " or ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if isinstance(values := schema.get("additionalProperties"), dict):
        return f"map of text to {_type(values)}"
    return escape(str(schema.get("type", "any")))


def _prose(text: str) -> str:
    """Return escaped text with `code` marked up."""
    parts = escape(text, quote=False).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))
