"""Ask the code lists that are too large for memory for the codes of some claims: one statement for all of them.

For ``judge``. Without such a list nothing is read from a claim and the database is not asked. A node remembers what it
has asked: most claims use codes, pairs of codes and NPIs that came before.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from itertools import permutations
from typing import Any

from clearlane.claims.claim_form import reader_at
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
    providers_of,
)  # fmt: skip
from clearlane.claims.view import ClaimView
from clearlane.claims.x12_claim import X12Claim
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
        return await self._ask(
            database, lists, lambda names: wanted_codes(claims, names), seconds_max
        )

    async def complete_view(
        self, database: Database, lists: CodeLists, view: ClaimView, *, seconds_max: float
    ) -> CodeLists:
        """Return the lists with what the large ones say of the codes of a claim, by its view."""
        return await self._ask(database, lists, lambda names: view_codes(view, names), seconds_max)

    async def _ask(
        self,
        database: Database,
        lists: CodeLists,
        find_wanted: Callable[[Collection[str]], dict[str, set[str]]],
        seconds_max: float,
    ) -> CodeLists:
        if not lists.large:
            return lists
        if lists is not self._lists or sum(map(len, self._known.values())) > CODES_REMEMBERED_MAX:
            self._forget(lists)
        # Another document may make the lookup forget while this one waits for the database.
        known, complete = self._known, self._complete
        wanted = find_wanted(known.keys())
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
            if name in LARGE
        }
        self._lists, self._complete = lists, lists.with_asked(self._known)


def wanted_codes(claims: Iterable[Claim], lists: Collection[str]) -> dict[str, set[str]]:
    """Return the codes of claims that rules ask these lists for."""
    npis, procedures, products = set[str](), set[str](), set[str]()
    pairs: set[str] = set()
    for claim in claims:
        own, lines = _values(claim)
        npis.update(own)
        codes = set()
        for code, npi, drug in lines:
            if code:
                # Rules read a claim after its repairs, which write codes in capital letters.
                codes.add(code.strip().upper())
            if npi:
                npis.add(npi)
            if drug:
                products.add(product_of(drug))
        procedures |= codes
        if len(codes) > 1 and PAIRS in lists:
            pairs.update(map("-".join, permutations(codes, 2)))
    return _by_list(lists, npis, procedures, products, pairs)


def view_codes(view: ClaimView, lists: Collection[str]) -> dict[str, set[str]]:
    """Return the codes of a claim that rules ask these lists for, by its view."""
    npis = {provider.npi for _, provider in providers_of(view) if provider.npi}
    procedures = {line.procedure for line in view.lines if line.procedure}
    products = {product_of(line.drug.code) for line in view.lines if line.drug.code}
    pairs = set(map("-".join, permutations(procedures, 2)))
    return _by_list(lists, npis, procedures, products, pairs)


def _by_list(
    lists: Collection[str],
    npis: set[str],
    procedures: set[str],
    products: set[str],
    pairs: set[str],
) -> dict[str, set[str]]:
    wanted = {
        DEACTIVATED: npis,
        REGISTRY: npis,
        PAIRS: pairs,
        UNITS: procedures,
        DRUGS: products - {""},
    }
    return {name: wanted[name] for name in lists}


def _values(claim: Claim) -> tuple[list[str], list[list[str | None]]]:
    """Return the NPIs of a claim, and the procedure, the NPI and the drug of each line."""
    if isinstance(claim, X12Claim):
        view = form_of(claim).view(claim)
        npis = [provider.npi for _, provider in providers_of(view) if provider.npi]
        return npis, [[line.procedure, None, line.drug.code] for line in view.lines]
    form = form_of(claim)
    own, of_lines = _readers(form)
    given = claim.__dict__
    lines = [[read(line.__dict__) for read in of_lines] for line in form.lines(claim)]
    return [npi for read in own if (npi := read(given))], lines


LARGE = frozenset({DEACTIVATED, REGISTRY, PAIRS, UNITS, DRUGS})
"""The lists of more codes than are kept in memory, if they are imported."""

Reader = Callable[[Mapping[str, Any]], Any]


@cache
def _readers(form: AnyForm) -> tuple[list[Reader], list[Reader]]:
    """Return what reads the NPIs of a claim, and the procedure, the NPI and the drug of a line."""
    own = [reader_at(form, path) for path in NPIS if form.has(path)]
    of_lines = ("lines[].procedure", LINE_NPI, "lines[].drug.code")
    return own, [reader_at(form, path) for path in of_lines]
