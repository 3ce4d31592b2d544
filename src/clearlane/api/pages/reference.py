"""The reference below ``/reference``: an overview, one page an operation, and one for each shape of a body.

Made from the OpenAPI document when it is asked for. A package with the viewer of ``make docs`` serves that instead.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from clearlane.api.frame.error_shape import ErrorShape
from clearlane.api.http.static_content import StaticContent
from clearlane.api.pages.markdown_site import meant
from clearlane.api.pages.page_frame import Entry, Group, no_page, render_page
from clearlane.api.pages.reference_calls import (
    ROOT,
    SHAPE_FIELDS_MAX,
    CallName,
    Json,
    call_names,
    read_call,
    shape_address,
    shape_fields,
    shape_title,
    shape_users,
    type_words,
)

NAME = "Reference"
_PATH = re.compile(r"/(?:(?P<call>\w+)|shapes/(?P<shape>\w+)(?:/(?P<number>[1-9]\d{0,2}))?)")


class Reference:
    """Answers requests below ``/reference``."""

    def __init__(
        self, document: StaticContent, errors: ErrorShape, *, sandbox: bool, base_url: str
    ) -> None:
        self._document = document
        self._errors = errors
        self._sandbox = sandbox
        self._base_url = base_url

    @cached_property
    def names(self) -> tuple[CallName, ...]:
        """All operations, without their bodies: the document itself is large, and read for each page."""
        return call_names(self._read())

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """What a search finds of the reference."""
        return tuple(
            Entry(each.name, each.address, f"{each.verb.upper()} {each.path}: {each.summary}")
            for each in self.names
        )

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The navigation."""
        found: dict[tuple[str, str], list[Entry]] = {}
        for each in self.names:
            found.setdefault((each.version, each.group), []).append(Entry(each.name, each.address))
        versions = [version for version, _ in found]
        return (
            Group("", (Entry("All calls", ROOT),)),
            *(
                Group(title, tuple(entries), version if version not in versions[:at] else "")
                for at, ((version, title), entries) in enumerate(found.items())
            ),
        )

    async def answer(self, request: Request, address: str, request_id: str) -> Response:
        """Return a page of the reference."""
        await self._document.read()
        if request.method not in {"GET", "HEAD"}:
            return self._errors.wrong_verb(request.method, "GET, HEAD")
        path = request.scope["path"].rstrip("/")
        path = path[len(ROOT) :]
        if not path:
            return self._overview(request.headers)
        found = _PATH.fullmatch(path)
        if found is None:
            return self._no_page(path, request.headers)
        if found["shape"]:
            return self._shape(found["shape"], int(found["number"] or 1), request.headers)
        return self._call(found["call"], request)

    def _no_page(self, path: str, asked: Mapping[str, str]) -> Response:
        return no_page(
            self._errors,
            part_of=NAME,
            groups=self.groups,
            asked=asked,
            find=lambda: meant(self.entries, path),
        )

    def _read(self) -> Json:
        document: Json = msgspec.json.decode(self._document.made())
        return document

    def _overview(self, asked: Mapping[str, str]) -> Response:
        info = self._read()["info"]
        paragraphs = _by_version(info["title"], info["description"])
        versions = [
            {
                "title": title,
                "anchor": re.sub(r"\W+", "-", title.lower()),
                "paragraphs": paragraphs.get(title, ()),
                "groups": _grouped([each for each in self.names if each.version == title]),
            }
            for title in dict.fromkeys(each.version for each in self.names)
        ]
        return self._page(
            "reference.html", NAME, ROOT, asked, versions=versions, version=info["version"]
        )

    def _call(self, wanted: str, request: Request) -> Response:
        name = next((each for each in self.names if each.name.lower() == wanted.lower()), None)
        if name is None:
            return self._no_page(wanted, request.headers)
        base_url = self._base_url or f"https://{request.headers.get('host', 'localhost')}"
        call = read_call(self._read(), name, base_url, sandbox=self._sandbox)
        return self._page("operation.html", name.name, name.address, request.headers, call=call)

    def _shape(self, name: str, number: int, asked: Mapping[str, str]) -> Response:
        document = self._read()
        schema = document["components"]["schemas"].get(name)
        if schema is None:
            return self._no_page(name, asked)
        rows = shape_fields(schema)
        starts = range(0, max(1, len(rows)), SHAPE_FIELDS_MAX)
        if number > len(starts):
            return self._no_page(name, asked)
        pages = [
            Entry(
                f"Fields {at + 1} to {min(at + SHAPE_FIELDS_MAX, len(rows))}",
                shape_address(name, page),
            )
            for page, at in enumerate(starts, 1)
        ]
        start = starts[number - 1]
        return self._page(
            "shape.html",
            shape_title(name),
            shape_address(name, number),
            asked,
            description=schema.get("description", ""),
            rows=rows[start : start + SHAPE_FIELDS_MAX],
            type=tuple(type_words(schema)),
            pages=pages,
            own=shape_address(name, number),
            users=[Entry(*each) for each in shape_users(document, name)],
        )

    def _page(
        self, template: str, title: str, address: str, asked: Mapping[str, str], **values: Any
    ) -> Response:
        return render_page(
            template,
            title=title,
            part_of=NAME,
            address=address,
            groups=self.groups,
            asked=asked,
            **values,
        )


def _by_version(first: str, description: str) -> dict[str, tuple[str, ...]]:
    """Return the paragraphs of a description below its headings; those before the first are of the first version."""
    found: dict[str, list[str]] = {first: []}
    title = first
    for text in description.split("\n\n"):
        if text.startswith("## "):
            title = text.removeprefix("## ")
            found[title] = []
        else:
            found[title].append(text)
    return {title: tuple(texts) for title, texts in found.items()}


def _grouped(names: list[CallName]) -> list[dict[str, object]]:
    groups = dict.fromkeys(each.group for each in names)
    return [
        {"title": group, "calls": [each for each in names if each.group == group]}
        for group in groups
    ]
