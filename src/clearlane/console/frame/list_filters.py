"""The filters of a list as an address has them: read, named if they cannot be, and shown as chips that remove them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clearlane.console.frame.filter_words import ChoiceWords, value_words
from clearlane.console.frame.page_request import PageRequest
from clearlane.kernel.list_filter import ListFilter, read_filters


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFilters:
    """The filters of an address that can be used, and a sentence for each other one."""

    filters: Mapping[str, ListFilter[Any]]
    """Those that the page offers, by name."""
    texts: Mapping[str, str]
    values: dict[str, Any] = field(repr=False)
    faults: list[str]
    words: ChoiceWords

    def chips(self, request: PageRequest, path: str, **query: str) -> list[tuple[str, str]]:
        """Return each filter in words, and the address of the list without it; ``query`` is kept."""
        return [
            (
                self._chip(self.filters[name], text),
                request.url(path, **query, **{**self.texts, name: ""}),
            )
            for name, text in self.texts.items()
        ]

    def _chip(self, one: ListFilter[Any], text: str) -> str:
        value = value_words(one, text, self.words)
        return f"{one.title}: {value}" if value else one.title


def given_filters(
    request: PageRequest, filters: Iterable[ListFilter[Any]], words: ChoiceWords | None = None
) -> GivenFilters:
    """Return the filters of an address; ``words`` are what their choices are called."""
    offered = {one.name: one for one in filters if one.title}
    texts = {name: request.query(name).strip() or None for name in offered}
    values, faults = read_filters(offered.values(), texts)
    return GivenFilters(
        filters=offered,
        texts={name: text for name, text in texts.items() if text and name not in faults},
        values=values,
        faults=[f"{offered[name].title}: {fault}" for name, fault in faults.items()],
        words=words or {},
    )
