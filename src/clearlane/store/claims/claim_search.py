"""Find the claims of one site, or of all sites of a vendor, by any of many filters, page by page.

What a person or payer wrote is found by keyed hashes. A statement is made for each set of filters that is used, and
pages continue from the last row. Knows no field of a claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, literal, or_, select, tuple_

from clearlane.claims.fields import ClaimKind
from clearlane.claims.search_terms import SearchTerms, name_start, search_name
from clearlane.store.claims.claims import HOLDS_ID, IS_NOT_SUPERSEDED, NOT_ACCEPTED
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement, among, scoped_select
from clearlane.store.vault.vault import Vault

STATEMENTS_KEPT_MAX = 512
MEMBER_CLAIMS_MAX = 100_000
"""Among how many newest claims of a site a member id is looked for."""


class SearchKeys(NamedTuple):
    """The keyed hashes of a claim's search terms, cut to 64 bits."""

    account: int | None
    patient: int | None
    name: int | None
    member: int | None


def vendor_claim_hash(vault: Vault, vendor_id: int, kind: str, vendor_claim_id: str) -> str:
    """Return the keyed hash of a vendor's claim id."""
    return vault.fingerprint(vendor_id, kind, vendor_claim_id.strip()).hex()


def vendor_claim_hashes(vault: Vault, vendor_id: int, vendor_claim_id: str) -> list[str]:
    """Return the keyed hashes of a vendor's claim id, one for each kind of claim."""
    return [vendor_claim_hash(vault, vendor_id, kind, vendor_claim_id) for kind in ClaimKind]


def account_key(vault: Vault, vendor_id: int, account: str) -> int:
    """Return the keyed hash of a patient's account number."""
    return vault.search_key(vendor_id, "account", account)


def patient_key(vault: Vault, vendor_id: int, name: str, birth_day: str) -> int:
    """Return the keyed hash of a patient's last name, as names are compared, and birth date."""
    return vault.search_key(vendor_id, "patient", name, birth_day)


def name_key(vault: Vault, vendor_id: int, name_start: str) -> int:
    """Return the keyed hash of the first letters of a patient's last name."""
    return vault.search_key(vendor_id, "name start", name_start)


def member_key(vault: Vault, vendor_id: int, member: str) -> int:
    """Return the keyed hash of a member id, as member ids are compared."""
    return vault.search_key(vendor_id, "member", member)


def payer_number_key(vault: Vault, number: str) -> int | None:
    """Return the keyed hash of the payer's number of a claim; None where it has none.

    It spans vendors, because a payer may answer with that number alone.
    """
    return vault.search_key(0, "payer number", number.strip()) if number else None


def search_keys(vault: Vault, vendor_id: int, terms: SearchTerms) -> SearchKeys:
    """Return the keyed hashes of a claim's search terms."""
    return SearchKeys(
        account_key(vault, vendor_id, terms.account) if terms.account else None,
        patient_key(vault, vendor_id, *terms.patient) if terms.patient else None,
        name_key(vault, vendor_id, terms.name_start) if terms.name_start else None,
        member_key(vault, vendor_id, terms.member) if terms.member else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFilters:
    """What claims must have to be listed; None filters nothing. Days are both included."""

    state: str | None = None
    """Claims that were not accepted are listed if this says so, and under their vendor's claim id."""
    outcome: str | None = None
    payer_id: str | None = None
    kind: str | None = None
    created_from: str | None = None
    created_to: str | None = None
    amount_from: int | None = None
    amount_to: int | None = None
    changed_after: int | None = None
    """Microseconds. The list is then in the order of changes, oldest first."""
    vendor_claim_hashes: Sequence[str] | None = None
    """Of a vendor's claim id: every claim under it, also those that are no longer current."""
    account_key: int | None = None
    payer_number_key: int | None = None
    name_key: int | None = None
    patient_key: int | None = None
    """Given together with ``name_key``: one index holds both, in this order."""
    member_key: int | None = None
    """Given together with ``created_from``, for one site: the entries of its days are looked through."""
    with_not_accepted: bool | None = None
    """True lists every claim that people look for: of those that were not accepted, what none took the place of."""

    def given(self) -> dict[str, object]:
        """Return the filters that are set."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in found.items() if value is not None}


def patient_filters(vault: Vault, vendor_id: int, name: str, birth_day: date) -> ClaimFilters:
    """Return the filters of a patient, by last name and birth date. The index begins with the start of the name."""
    return ClaimFilters(
        name_key=name_key(vault, vendor_id, name_start(name)),
        patient_key=patient_key(vault, vendor_id, search_name(name), birth_day.isoformat()),
    )


class FoundClaim(NamedTuple):
    """A claim in a list. ``status`` is sealed, and None where the claim was not accepted."""

    claim_number: str
    site_id: int
    kind: str
    state: str
    label: str
    payer_id: str
    total_cents: int
    created_at: int
    created_day: str
    updated_at: int
    outcome: str | None
    predecessor_id: str | None
    successor_id: str | None
    prior_payer_claim: str | None
    status: bytes | None

    def __repr__(self) -> str:
        """Leave out sealed values."""
        return f"FoundClaim({self.claim_number})"


class ListPosition(NamedTuple):
    """The claim that the page before ended with."""

    updated_at: int
    created_day: str
    claim_number: str


async def find_page(
    tx: Tx, filters: ClaimFilters, *, after: ListPosition | None, limit: int
) -> list[FoundClaim]:
    """Return the next claims of the scope: newest first, or in the order of changes where these are asked for."""
    given = filters.given()
    if filters.vendor_claim_hashes is not None:
        del given["vendor_claim_hashes"]
        given["claim_numbers"] = await find_by_vendor_claim(tx, filters.vendor_claim_hashes)
    statement = _page(frozenset(given), is_first=after is None)
    given.pop(WITH_NOT_ACCEPTED, None)  # a condition without a value
    values = {**given, "limit": limit}
    if after is not None:
        values["last_id"] = after.claim_number
        if filters.changed_after is None:
            values["last_day"] = after.created_day
        else:
            values["last_change"] = after.updated_at
    return [FoundClaim(*row) for row in await tx.rows(statement, **values)]


async def find_by_vendor_claim(tx: Tx, hashes: Sequence[str]) -> list[str]:
    """Return the numbers of every claim of the scope under a vendor's claim id, current or not."""
    rows = [*await tx.rows(_CURRENT, hashes=hashes), *await tx.rows(_FORMER, hashes=hashes)]
    return [str(claim_number) for (claim_number,) in rows]


async def find_holders(tx: Tx, hashes: Sequence[str]) -> list[str]:
    """Return the numbers of the claims of the scope that a vendor's claim id means now, one a kind."""
    return [str(claim_number) for (claim_number,) in await tx.rows(_CURRENT, hashes=hashes)]


async def first_member_day(tx: Tx, since: str) -> str:
    """Return the day from which on a site's claims are looked through for a member id.

    That is the given one, or the day of the last of :data:`MEMBER_CLAIMS_MAX` newest claims.
    """
    row = await tx.row(_NTH_DAY, since=since, skipped=MEMBER_CLAIMS_MAX - 1)
    return since if row is None else str(row[0])


async def find_one(tx: Tx, claim_number: str) -> FoundClaim | None:
    """Return one claim of the scope."""
    row = await tx.row(_ONE, claim_number=claim_number)
    return None if row is None else FoundClaim(*row)


async def find_some(tx: Tx, claim_numbers: list[str]) -> list[FoundClaim]:
    """Return those of these claims that belong to the scope."""
    return [FoundClaim(*row) for row in await tx.rows(_SOME, claim_numbers=claim_numbers)]


WITH_NOT_ACCEPTED = "with_not_accepted"
_EQUAL = (
    "state", "outcome", "payer_id", "kind", "account_key", "payer_number_key", "patient_key",
    "name_key", "member_key",
)  # fmt: skip
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    "claim_numbers": among(claims.c.claim_number, "claim_numbers"),
    **{name: claims.c[name] == bindparam(name) for name in _EQUAL},
    "created_from": claims.c.created_day >= bindparam("created_from"),
    "created_to": claims.c.created_day <= bindparam("created_to"),
    "amount_from": claims.c.total_cents >= bindparam("amount_from"),
    "amount_to": claims.c.total_cents <= bindparam("amount_to"),
    "changed_after": claims.c.updated_at > bindparam("changed_after"),
    WITH_NOT_ACCEPTED: or_(claims.c.state != NOT_ACCEPTED, IS_NOT_SUPERSEDED),
}
_SHOWS_NOT_ACCEPTED = {"state", "claim_numbers", WITH_NOT_ACCEPTED}
_COLUMNS = select(*(claims.c[name] for name in FoundClaim._fields))
_ONE = scoped_select(_COLUMNS.where(claims.c.claim_number == bindparam("claim_number")), claims)
_SOME = scoped_select(_COLUMNS.where(among(claims.c.claim_number, "claim_numbers")), claims)


# Two statements, each with an index of its own: nearly every claim is current, and writing costs one index then.
_OF_VENDOR_CLAIM = select(claims.c.claim_number).where(
    among(claims.c.vendor_claim_hash, "hashes"),
    claims.c.kind.in_([str(kind) for kind in ClaimKind]),
)
_CURRENT = scoped_select(_OF_VENDOR_CLAIM.where(HOLDS_ID), claims)
_FORMER = scoped_select(
    _OF_VENDOR_CLAIM.where(claims.c.is_current == literal(0, literal_execute=True)), claims
)


class _ListOrder(NamedTuple):
    columns: tuple[ColumnElement[Any], ...]
    after: ColumnElement[bool]
    """What comes after the last row of the page before."""


def _newest_first(day: ColumnElement[Any], number: ColumnElement[Any]) -> _ListOrder:
    last = tuple_(bindparam("last_day"), bindparam("last_id"))
    return _ListOrder((day.desc(), number.desc()), tuple_(day, number) < last)


# By day first: one index that begins with the site, and one with the vendor, are in this order. Request ids are in the
# order of time.
_NEWEST_FIRST = _newest_first(claims.c.created_day, claims.c.claim_number)
# Few claims have a key, so these are sorted. As expressions, or SQLite would rather walk all claims in their order.
_FEW_NEWEST_FIRST = _newest_first(
    func.coalesce(claims.c.created_day, ""), func.coalesce(claims.c.claim_number, "")
)
_BY_CHANGE = _ListOrder(
    (claims.c.updated_at, claims.c.claim_number),
    tuple_(claims.c.updated_at, claims.c.claim_number)
    > tuple_(bindparam("last_change"), bindparam("last_id")),
)
_DAYS_OF_FEW: dict[str, ColumnElement[bool]] = {
    "created_from": func.coalesce(claims.c.created_day, "") >= bindparam("created_from"),
    "created_to": func.coalesce(claims.c.created_day, "") <= bindparam("created_to"),
}
# Not the member id, whose key is in the index of days.
_KEYS = frozenset({"claim_numbers", *(name for name in _EQUAL if name.endswith("_key"))}) - {
    "member_key"
}
_NTH_DAY = scoped_select(
    select(claims.c.created_day)
    .where(claims.c.created_day >= bindparam("since"))
    .order_by(*_NEWEST_FIRST.columns)
    .limit(1)
    .offset(bindparam("skipped")),
    claims,
)


@lru_cache(maxsize=STATEMENTS_KEPT_MAX)
def _page(names: frozenset[str], *, is_first: bool) -> Statement:
    """Return the statement of a list with these filters."""
    conditions = _CONDITIONS | (_DAYS_OF_FEW if names & _KEYS else {})
    core = _COLUMNS.where(*(conditions[name] for name in sorted(names)))
    if names.isdisjoint(_SHOWS_NOT_ACCEPTED):
        core = core.where(claims.c.state != NOT_ACCEPTED)
    few = _FEW_NEWEST_FIRST if names & _KEYS else _NEWEST_FIRST
    order = _BY_CHANGE if "changed_after" in names else few
    core = core.order_by(*order.columns)
    if not is_first:
        core = core.where(order.after)
    return scoped_select(core.limit(bindparam("limit")), claims)
