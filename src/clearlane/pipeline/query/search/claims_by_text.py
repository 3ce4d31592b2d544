"""Find claims by one text: a number of any kind, a member id, or a patient's last name with or without a birth date.

    search = ClaimTextSearch(context, sites, actor=actor, action="console.search")
    rows = await search.by_number(text) or await search.by_person(text, today, months=SEARCH_MONTHS)

Names are found by keyed hashes: a whole last name with a birth date, or its first three letters. The search box of the console
and ``clearlane claim find`` find the same. Knows no page and no command.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from clearlane.accounts.model import Site, vendor_scopes
from clearlane.kernel.compared_names import NAME_START_LETTERS, name_start, search_name
from clearlane.kernel.formats import read_typed_day
from clearlane.kernel.ids import Scope, VendorScope
from clearlane.pipeline.query.claim_list import ClaimRow, load_claim_rows
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_search
from clearlane.store.claims.claim_query import (
    ClaimListRow,
    ClaimQuery,
    Listed,
    first_member_day,
    list_claims,
)
from clearlane.store.claims.claims import find_owner
from clearlane.store.database.database import Actor, SystemScope

SEARCH_CHARACTERS_MAX = 80
READ_CLAIMS_MAX = 200
SEARCH_MONTHS = 12
SEARCH_MONTHS_MAX = 24
"""How far back the claims of a person are searched at first, and on demand. A number finds a claim of any age."""
ANY_CLIENT = SystemScope("a claim is found by its number before its site is known")
_NAME_AND_DAY = re.compile(
    r"(?P<name>[^\d,]+?)[,\s]+(?P<day>(?:[A-Za-z]{3,9} )?[\d/-]{1,10}(?:,? \d{4})?)"
)


class FoundClaim(NamedTuple):
    """A claim that was found, and its site."""

    site_id: int
    number: str


@dataclass(frozen=True, slots=True)
class ClaimTextSearch:
    """A search in the claims of some sites, for one person. What it opens is audited."""

    context: WorkContext
    sites: Sequence[Site]
    actor: Actor
    action: str

    async def by_claim_number(self, text: str) -> FoundClaim | None:
        """Return the claim that the text names by our number; None if there is none."""
        number = text.upper()
        if not (number.isascii() and number.isalnum()):
            return None
        async with self.context.database.read(ANY_CLIENT) as tx:
            owner = await find_owner(tx, number)
        owners = (site for site in self.sites if (site.vendor_id, site.id) == owner)
        return next((FoundClaim(site.id, number) for site in owners), None)

    async def by_number(self, text: str) -> list[ClaimRow]:
        """Return the claims that the text names: by the vendor's id, the account, or the payer's number."""
        vault = self.context.vault
        found: list[FoundClaim] = []
        for scope in vendor_scopes(self.sites):
            for one in dict.fromkeys((text, text.upper())):
                hashes = claim_search.vendor_claim_hashes(vault, scope.vendor, one)
                account = claim_search.account_key(vault, scope.vendor, one)
                payers = claim_search.payer_number_key(vault, one)
                found += await self._numbers(scope, {"vendor_claim_hashes": hashes})
                found += await self._numbers(scope, {"account_key": account})
                found += await self._numbers(scope, {"payer_number_key": payers})
        return await self.load(found)

    async def by_person(
        self, text: str, today: date, *, months: int = SEARCH_MONTHS_MAX
    ) -> list[ClaimRow]:
        """Return the claims of some months whose member id this is, or whose patient has this name."""
        since = _months_before(today, months)
        found: list[FoundClaim] = []
        if member := _read_member(text):
            for site in self.sites:
                found += await self._by_member(site, member, since)
        return await self.load(found) if found else await self._by_name(text, since)

    async def load(self, found: Sequence[FoundClaim]) -> list[ClaimRow]:
        """Load claims by their sites and numbers; the look is audited in each site."""
        rows: list[ClaimRow] = []
        for site in self.sites:
            numbers = list(dict.fromkeys(one.number for one in found if one.site_id == site.id))
            rows += await load_claim_rows(
                self.context, site, numbers, actor=self.actor, action=self.action
            )
        return rows

    async def _by_member(self, site: Site, member: str, since: str) -> list[FoundClaim]:
        key = claim_search.member_key(self.context.vault, site.vendor_id, member)
        async with self.context.database.read(site.scope) as tx:
            day = await first_member_day(tx, since)
        return await self._numbers(site.scope, {"member_key": key, "created_day_from": day})

    async def _by_name(self, text: str, since: str) -> list[ClaimRow]:
        name, born = read_name(text)
        start = name_start(name)
        if not start or (born is None and len(start) < NAME_START_LETTERS):
            return []
        found: list[FoundClaim] = []
        vault, wanted = self.context.vault, search_name(name)
        for scope in vendor_scopes(self.sites):
            where: dict[str, object] = {
                "name_key": claim_search.name_key(vault, scope.vendor, start)
            }
            if born:
                where = claim_search.patient_filters(vault, scope.vendor, name, born)
            found += await self._numbers(scope, {**where, "created_day_from": since})
        rows = await self.load(found)
        return [
            row for row in rows if search_name(row.patient.partition(",")[0]).startswith(wanted)
        ]

    async def _numbers(
        self, scope: Scope | VendorScope, where: Mapping[str, object]
    ) -> list[FoundClaim]:
        query = ClaimQuery(where=where, listed=Listed.FINDABLE, limit=READ_CLAIMS_MAX)
        async with self.context.database.read(scope) as tx:
            page = await list_claims(tx, query, ClaimListRow)
        return [FoundClaim(one.site_id, one.claim_number) for one in page]


def read_name(text: str) -> tuple[str, date | None]:
    """Return the last name in a text, and the birth date behind it, if there is one."""
    found = _NAME_AND_DAY.fullmatch(text)
    if found is None:
        return text.partition(",")[0], None
    born = read_typed_day(found["day"])
    return (found["name"], born) if born else (text.partition(",")[0], None)


def _read_member(text: str) -> str:
    """Return a text as member ids are compared; empty if it has no digit, as every member id has."""
    return search_name(text) if any(map(str.isdigit, text)) else ""


def _months_before(today: date, months: int) -> str:
    """Return the first day of the month that many months before a day."""
    index = today.year * 12 + today.month - 1 - months
    return date(index // 12, index % 12 + 1, 1).isoformat()
