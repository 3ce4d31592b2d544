"""Ask the code lists that are too large for memory for the codes of some claims: one statement for all of them.

For ``judge``. Without such a list nothing is read from a claim and the database is not asked. A node remembers what it
has asked: most claims use codes, pairs of codes and NPIs that came before.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from itertools import permutations
from typing import Any

from clearlane.claims.fields import Claim
from clearlane.claims.forms import AnyForm, form_of
from clearlane.claims.rules.imported_lists import (
    DEACTIVATED,
    DRUGS,
    LINE_NPI,
    NPIS,
    PAIRS,
    REGISTRY,
    UNITS,
    product_of,
)  # fmt: skip
from clearlane.store.database.database import Database
from clearlane.store.installation.code_lists import ask_large_lists
from clearlane.x12.codes.asked_codes import AskedCodes
from clearlane.x12.codes.code_editions import CodeLists, joined_days

CODES_REMEMBERED_MAX = 200_000


class CodeLookup:
    """What a node has asked its large lists, until a list changes or it has asked too much."""

    def __init__(self) -> None:
        self._lists = self._complete = CodeLists()
        self._known: Mapping[str, AskedCodes] = {}

    async def complete(
        self,
        database: Database,
        lists: CodeLists,
        claims: Iterable[Claim],
        *,
        seconds_max: float,
    ) -> CodeLists:
        """Return the lists with what the large ones say of the codes of these claims."""
        if not lists.large:
            return lists
        if lists is not self._lists or sum(map(len, self._known.values())) > CODES_REMEMBERED_MAX:
            self._forget(lists)
        # Another document may make the lookup forget while this one waits for the database.
        known, complete = self._known, self._complete
        wanted = wanted_codes(claims, known.keys())
        lacking = {name: known[name].unknown(codes) for name, codes in wanted.items()}
        if any(lacking.values()):
            async with asyncio.timeout(seconds_max):
                found = await ask_large_lists(database, lists, lacking)
            for name, codes in lacking.items():
                if codes:
                    known[name].add(codes, found[name])
        return complete

    def _forget(self, lists: CodeLists) -> None:
        self._known = {
            name: AskedCodes(joined_days((one.first_day, one.last_day) for one in editions))
            for name, editions in lists.large.items()
            if name in WANTED
        }
        self._lists, self._complete = lists, lists.with_asked(self._known)


def wanted_codes(claims: Iterable[Claim], lists: Iterable[str]) -> dict[str, set[str]]:
    """Return the codes of claims that rules ask these lists for."""
    wanted: dict[str, set[str]] = {name: set() for name in lists}
    for claim in claims:
        form = form_of(claim)
        for name, codes in wanted.items():
            codes.update(WANTED[name](form, claim))
    return wanted


def _npis(form: AnyForm, claim: Claim) -> Iterable[str]:
    found = [form.value(claim, path) for path in NPIS if form.has(path)]
    if form.has(LINE_NPI):
        found += _of_lines(form, claim, LINE_NPI)
    return filter(None, found)


def _procedures(form: AnyForm, claim: Claim) -> set[str]:
    # Rules read a claim after its repairs, which write codes in capital letters.
    return {code.strip().upper() for code in _of_lines(form, claim, "lines[].procedure") if code}


def _pairs(form: AnyForm, claim: Claim) -> Iterable[str]:
    return map("-".join, permutations(_procedures(form, claim), 2))


def _products(form: AnyForm, claim: Claim) -> Iterable[str]:
    if not form.has("lines[].drug.code"):
        return ()
    codes = filter(None, _of_lines(form, claim, "lines[].drug.code"))
    return filter(None, map(product_of, codes))


def _of_lines(form: AnyForm, claim: Claim, path: str) -> list[Any]:
    return [form.value(line, path) for line in form.lines(claim)]


WANTED: Mapping[str, Callable[[AnyForm, Claim], Iterable[str]]] = {
    DEACTIVATED: _npis,
    REGISTRY: _npis,
    PAIRS: _pairs,
    UNITS: _procedures,
    DRUGS: _products,
}
"""The lists that may be large, and the codes of a claim that rules ask each for."""
