"""Render a part of a Markdown page as HTML: anchors, tables that scroll on their own, and links led by the caller.

Markup in a page's own text is shown as text. Knows Markdown; no file, no address and no frame.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from clearlane.api.pages.page_cutting import HEADING_LEVEL_MAX, Heading, plain_text

Lead = Callable[[str], str]
"""Leads a link of a page to the address it has here; empty if it leads nowhere here."""


def _open_table(*_: Any) -> str:
    return '<div class="panel scroll" tabindex="0"><table>\n'


def _close_table(*_: Any) -> str:
    return "</table></div>\n"


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("table_open", _open_table)
    reader.add_render_rule("table_close", _close_table)
    return reader


_READER = _reader()


def render_markdown(text: str, headings: Iterable[Heading], lead: Lead) -> str:
    """Return the HTML of a text whose headings have these anchors."""
    tokens = _READER.parse(text)
    _set_anchors(tokens, headings)
    for token in tokens:
        for child in token.children or ():
            _lead_link(child, lead)
    return str(_READER.renderer.render(tokens, _READER.options, {}))


def _set_anchors(tokens: Sequence[Token], headings: Iterable[Heading]) -> None:
    left = list(headings)
    for at, token in enumerate(tokens):
        if token.type != "heading_open" or int(token.tag[1]) > HEADING_LEVEL_MAX:
            continue
        text = plain_text(tokens[at + 1].content)
        if left and left[0].text == text:
            token.attrSet("id", left.pop(0).anchor)


def _lead_link(token: Token, lead: Lead) -> None:
    name = {"link_open": "href", "image": "src"}.get(token.type)
    if name is None:
        return
    led = lead(str(token.attrGet(name) or ""))
    if led:
        token.attrSet(name, led)
    elif name == "href":
        del token.attrs[name]
