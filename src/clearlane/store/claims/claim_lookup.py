"""Find the claims that a payer's answer may concern, by number and by keyed hash.

Answers concern claims of many clients, so every statement here runs in a :class:`SystemScope`, but for
:func:`find_named_by_sender`. Only claims that were sent to the payer are found. Knows no answer.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, TypeVar

from sqlalchemy import bindparam, select

from clearlane.claims.kinds import X12
from clearlane.kernel.redacted_repr import shows
from clearlane.store.claims.claims import IS_NOT_SUPERSEDED
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import claim_references, claims, line_references
from clearlane.store.database.sql import (
    AnyColumn,
    Statement,
    among,
    insert_into,
    scoped_select,
    select_as,
)
from clearlane.store.vault.vault import Vault

ACCOUNT_CHARACTERS_KEPT = 17
"""Some payers keep only this many characters of an account number."""


R = TypeVar("R", str, int)


class CandidateClaim(NamedTuple):
    """A claim that was sent to the payer."""

    claim_number: str
    vendor_id: int
    site_id: int
    account_as_number: int
    """Whether CLM01 is the patient's account number; else it is the claim number."""
    form: str
    by_payer_number: bool = False
    """Whether only the payer's own number of the claim led to it."""

    @property
    def is_of_file(self) -> bool:
        """Whether the claim came in a sender's file, where others may have its account number."""
        return self.form == X12


@shows("claim_number")
class CandidateHeader(NamedTuple):
    """What is compared of a claim that came in a file. ``header`` is sealed."""

    claim_number: str
    state: str
    payer_number_key: int | None
    header: bytes


class ClaimArrival(NamedTuple):
    """When a claim came, and whose it is: the claims of one call have the moment in common."""

    claim_number: str
    vendor_id: int
    site_id: int
    created_at: int


class SentClaimRow(NamedTuple):
    """A claim of a site that was sent, with what its sender may name it by."""

    claim_number: str
    payer_id: str
    account_key: int | None
    payer_number_key: int | None
    service_day: str | None
    total_cents: int


def account_reference(vault: Vault, payer_id: str, account: str) -> str:
    """Return the keyed hash of an account number sent to a payer as CLM01. It spans vendors: no owner."""
    return vault.fingerprint(0, "CLM01", payer_id, account).hex()


def cut_account_reference(vault: Vault, payer_id: str, account: str) -> str:
    """Return the keyed hash of an account number as a payer cuts it. It finds candidates for a person only."""
    cut = account[:ACCOUNT_CHARACTERS_KEPT]
    return vault.fingerprint(0, "CLM01 cut", payer_id, cut).hex()


def line_reference(vault: Vault, payer_id: str, control: str) -> str:
    """Return the keyed hash of a line control number that a caller chose (REF*6R)."""
    return vault.fingerprint(0, "REF6R", payer_id, control).hex()


def payer_number_reference(vault: Vault, payer_id: str, number: str) -> str:
    """Return the keyed hash of a number that a payer gave a claim (CLP07, REF*1K) before it gave another."""
    return vault.fingerprint(0, "CLP07", payer_id, number).hex()


async def list_arrivals(tx: Tx, numbers: Collection[str]) -> list[ClaimArrival]:
    """Return when claims came, in the order of their numbers."""
    return await list_rows(tx, ClaimArrival, _ARRIVALS, numbers=sorted(numbers))


async def find_by_account(
    tx: Tx, payer_id: str, references: Collection[str]
) -> set[tuple[str, str]]:
    """Return keyed hash and claim of the live claims that carry these account numbers."""
    return await _find(tx, _BY_ACCOUNT, payer_id, references)


async def find_by_other_reference(
    tx: Tx, payer_id: str, references: Collection[str]
) -> set[tuple[str, str]]:
    """Return keyed hash and claim by line control number, or by an account number it had before."""
    return await _find(tx, _BY_OTHER_REFERENCE, payer_id, references)


async def find_by_payer_number(
    tx: Tx, payer_id: str, keys: Collection[int]
) -> set[tuple[int, str]]:
    """Return keyed hash and claim of the claims to which the payer has given these numbers."""
    return await _find(tx, _BY_PAYER_NUMBER, payer_id, keys)


async def find_by_line(
    tx: Tx, payer_id: str, references: Collection[str], claim_numbers: Collection[str]
) -> set[tuple[str, str]]:
    """Return keyed hash and claim for those of these claims that have lines with these numbers."""
    if not references or not claim_numbers:
        return set()
    rows = await tx.rows(
        _BY_LINE,
        payer_id=payer_id,
        references=sorted(references),
        claim_numbers=sorted(claim_numbers),
    )
    return {(str(reference), str(claim_number)) for reference, claim_number in rows}


async def _find(
    tx: Tx, statement: Statement, payer_id: str, references: Collection[R]
) -> set[tuple[R, str]]:
    """Return keyed hash and claim, for the claims to a payer that have these."""
    if not references:
        return set()
    rows = await tx.rows(statement, payer_id=payer_id, references=sorted(references))
    return {(reference, claim_number) for reference, claim_number in rows}


async def add_references(
    tx: Tx, owners: Mapping[str, tuple[int, int]], rows: Iterable[tuple[str, str, str]]
) -> None:
    """Let claims be found by these: payer, keyed hash and claim. ``owners`` holds vendor and site of each claim."""
    values = []
    for payer_id, reference, claim_number in rows:
        vendor, site = owners[claim_number]
        values.append(
            {
                "vendor_id": vendor,
                "site_id": site,
                "payer_id": payer_id,
                "reference": reference,
                "claim_number": claim_number,
            }
        )
    await tx.many(_ADD, values)


async def find_sent(
    tx: Tx, payer_id: str, claim_numbers: Collection[str]
) -> dict[str, CandidateClaim]:
    """Return those of these claims that were sent to the payer."""
    if not claim_numbers:
        return {}
    rows = await tx.rows(_SENT, payer_id=payer_id, claim_numbers=sorted(claim_numbers))
    return {row[0]: CandidateClaim(*row) for row in rows}


async def find_payers(tx: Tx, claim_numbers: Iterable[str]) -> dict[str, str]:
    """Return the payers to which claims of these numbers were sent."""
    wanted = sorted({number for number in claim_numbers if number})
    return dict(await tx.rows(_PAYERS, claim_numbers=wanted)) if wanted else {}


async def find_headers(tx: Tx, claim_numbers: Collection[str]) -> list[CandidateHeader]:
    """Return what is compared of claims of any client."""
    if not claim_numbers:
        return []
    return await list_rows(tx, CandidateHeader, _HEADERS, claim_numbers=sorted(claim_numbers))


async def find_by_cut_number(
    tx: Tx, payer_id: str, account: str, *, limit: int
) -> dict[str, CandidateClaim]:
    """Return sent claims whose own number, which is their CLM01, a payer cut to this. For a person only."""
    if len(account) != ACCOUNT_CHARACTERS_KEPT or not account.isalnum():
        return {}
    rows = await tx.rows(
        _BY_CUT_NUMBER, payer_id=payer_id, first=account, last=f"{account}ZZZ", limit=limit
    )
    return {row[0]: CandidateClaim(*row) for row in rows}


async def find_named_by_sender(
    tx: Tx,
    *,
    claim_numbers: Collection[str],
    account_keys: Collection[int],
    payer_number_keys: Collection[int],
) -> list[SentClaimRow]:
    """Return the claims of the scope that were sent, under any of these numbers."""
    wanted = (
        (_SENT_BY_NUMBER, claim_numbers),
        (_SENT_BY_ACCOUNT, account_keys),
        (_SENT_BY_PAYER_NUMBER, payer_number_keys),
    )
    found: dict[str, SentClaimRow] = {}
    for statement, keys in wanted:
        if keys:
            rows = await list_rows(tx, SentClaimRow, statement, keys=sorted(keys))
            found |= {row.claim_number: row for row in rows}
    return list(found.values())


# References other than the current account number: line control numbers, former and cut account numbers,
# former numbers of the payer.
_ADD = Statement(
    insert_into(line_references, "payer_id", "reference", "claim_number").on_conflict_do_nothing(),
    system=True,
)
_BY_ACCOUNT = Statement(
    select(claim_references.c.reference, claim_references.c.claim_number).where(
        claim_references.c.payer_id == bindparam("payer_id"),
        among(claim_references.c.reference, "references"),
    )
)
_BY_PAYER_NUMBER = Statement(
    select(claims.c.payer_number_key, claims.c.claim_number).where(
        among(claims.c.payer_number_key, "references"), claims.c.payer_id == bindparam("payer_id")
    ),
    system=True,
)
_BY_LINE = Statement(
    select(line_references.c.reference, line_references.c.claim_number).where(
        line_references.c.payer_id == bindparam("payer_id"),
        among(line_references.c.reference, "references"),
        among(line_references.c.claim_number, "claim_numbers"),
    ),
    system=True,
)
_BY_OTHER_REFERENCE = Statement(
    select(line_references.c.reference, line_references.c.claim_number).where(
        line_references.c.payer_id == bindparam("payer_id"),
        among(line_references.c.reference, "references"),
    ),
    system=True,
)
_SENT = Statement(
    select(*(claims.c[name] for name in CandidateClaim._fields[:-1])).where(
        among(claims.c.claim_number, "claim_numbers"),
        claims.c.payer_id == bindparam("payer_id"),
        claims.c.sendings > 0,
    ),
    system=True,
)
_PAYERS = Statement(
    select(claims.c.claim_number, claims.c.payer_id).where(
        among(claims.c.claim_number, "claim_numbers"), claims.c.sendings > 0
    ),
    system=True,
)
_HEADERS = Statement(
    select_as(claims, CandidateHeader).where(among(claims.c.claim_number, "claim_numbers")),
    system=True,
)
_BY_CUT_NUMBER = Statement(
    select(*(claims.c[name] for name in CandidateClaim._fields[:-1]))
    .where(
        claims.c.claim_number > bindparam("first"),
        claims.c.claim_number < bindparam("last"),
        claims.c.payer_id == bindparam("payer_id"),
        claims.c.sendings > 0,
    )
    .limit(bindparam("limit")),
    system=True,
)


def _sent_under(column: AnyColumn) -> Statement:
    """Return the statement that finds sent claims of the scope that have one of some keys."""
    found = select_as(claims, SentClaimRow).where(
        among(column, "keys"), claims.c.sendings > 0, IS_NOT_SUPERSEDED
    )
    return scoped_select(found, claims)


_SENT_BY_NUMBER = _sent_under(claims.c.claim_number)
_SENT_BY_ACCOUNT = _sent_under(claims.c.account_key)
_SENT_BY_PAYER_NUMBER = _sent_under(claims.c.payer_number_key)
_ARRIVALS = Statement(
    select_as(claims, ClaimArrival)
    .where(among(claims.c.claim_number, "numbers"))
    .order_by(claims.c.claim_number),
    system=True,
)
