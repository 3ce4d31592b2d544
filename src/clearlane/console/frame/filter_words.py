"""What the values of filters are called, in menus and chips.

    choice_words(one, "not_accepted", {})      # Not accepted
    value_words(one, "2026-01-31", {})         # Jan 31, 2026

Knows no page and no list.
"""

from collections.abc import Mapping
from typing import Any

from clearlane.console.frame import page_text
from clearlane.kernel.formats import upper_first
from clearlane.kernel.list_filter import FilterType, ListFilter

ChoiceWords = Mapping[str, Mapping[str, str]]
"""The words of choices on a page, by the filter's name; a choice without words is called by itself."""


def choice_words(one: ListFilter[Any], choice: str, words: ChoiceWords) -> str:
    """Return what people call a choice of a filter."""
    named = words.get(one.name, {}).get(choice) or choice.replace("_", " ")
    return upper_first(named)


def value_words(one: ListFilter[Any], text: str, words: ChoiceWords) -> str:
    """Return what people call a value of a filter, which it can read; empty for a yes, which its title says."""
    if one.type is FilterType.FLAG:
        return "" if one.read(text) else "no"
    if one.type is FilterType.DAY:
        return page_text.day(text)
    # A choice may be written in any case.
    return choice_words(one, one.read(text), words) if one.choices else text
