"""Finding the claims that a payer's answer may mean: by number and by keyed hash.

Answers speak of claims of many clients, so every statement here runs in a System scope. Only claims that went to
the payer are found. Knows no answer.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import bindparam, select

from clearlane.store.database import Tx
from clearlane.store.schema import claim_references, claims, line_references
from clearlane.store.sql import Statement, among, insertion
from clearlane.store.vault import Vault


class Went(NamedTuple):
    """A claim that went to the payer."""

    request_id: str
    vendor_id: int
    site_id: int
    account_as_number: int
    """Whether CLM01 is the patient's account number; else it is the request id."""


def account_reference(vault: Vault, payer_id: str, account: str) -> str:
    """The keyed hash of an account number sent to a payer as CLM01. It spans vendors: no owner."""
    return vault.fingerprint(0, "CLM01", payer_id, account).hex()


def line_reference(vault: Vault, payer_id: str, control: str) -> str:
    """The keyed hash of a line control number that a caller chose (REF*6R)."""
    return vault.fingerprint(0, "REF6R", payer_id, control).hex()


async def holders(tx: Tx, payer_id: str, references: Collection[str]) -> set[tuple[str, str]]:
    """Keyed hash and claim: who has these account numbers now."""
    if not references:
        return set()
    rows = await tx.rows(_HOLDERS, payer_id=payer_id, references=sorted(references))
    return {(str(reference), str(request_id)) for reference, request_id in rows}


async def others(tx: Tx, payer_id: str, references: Collection[str]) -> set[tuple[str, str]]:
    """Keyed hash and claim: whose lines have these numbers, and who had these account numbers before."""
    if not references:
        return set()
    rows = await tx.rows(_OTHERS, payer_id=payer_id, references=sorted(references))
    return {(str(reference), str(request_id)) for reference, request_id in rows}


async def lines_of(
    tx: Tx, payer_id: str, references: Collection[str], request_ids: Collection[str]
) -> set[tuple[str, str]]:
    """Keyed hash and claim: which of these claims have lines with these numbers."""
    if not references or not request_ids:
        return set()
    rows = await tx.rows(
        _LINES_OF,
        payer_id=payer_id,
        references=sorted(references),
        request_ids=sorted(request_ids),
    )
    return {(str(reference), str(request_id)) for reference, request_id in rows}


async def keep(
    tx: Tx, owners: Mapping[str, tuple[int, int]], rows: Iterable[tuple[str, str, str]]
) -> None:
    """Let claims be found by these: payer, keyed hash and claim, whose vendor and site are among the owners."""
    values = []
    for payer_id, reference, request_id in rows:
        vendor, site = owners[request_id]
        values.append(
            {
                "vendor_id": vendor,
                "site_id": site,
                "payer_id": payer_id,
                "reference": reference,
                "request_id": request_id,
            }
        )
    await tx.many(_KEEP, values)


async def went(tx: Tx, payer_id: str, request_ids: Collection[str]) -> dict[str, Went]:
    """Those of these claims that went to the payer."""
    if not request_ids:
        return {}
    rows = await tx.rows(_WENT, payer_id=payer_id, request_ids=sorted(request_ids))
    return {row[0]: Went(*row) for row in rows}


# By what a claim can be found although nobody holds it: its lines' numbers and former account numbers.
_KEEP = Statement(
    insertion(line_references, "payer_id", "reference", "request_id").on_conflict_do_nothing(),
    system=True,
)
_HOLDERS = Statement(
    select(claim_references.c.reference, claim_references.c.request_id).where(
        claim_references.c.payer_id == bindparam("payer_id"),
        among(claim_references.c.reference, "references"),
    )
)
_LINES_OF = Statement(
    select(line_references.c.reference, line_references.c.request_id).where(
        line_references.c.payer_id == bindparam("payer_id"),
        among(line_references.c.reference, "references"),
        among(line_references.c.request_id, "request_ids"),
    ),
    system=True,
)
_OTHERS = Statement(
    select(line_references.c.reference, line_references.c.request_id).where(
        line_references.c.payer_id == bindparam("payer_id"),
        among(line_references.c.reference, "references"),
    ),
    system=True,
)
_WENT = Statement(
    select(*(claims.c[name] for name in Went._fields)).where(
        among(claims.c.request_id, "request_ids"),
        claims.c.payer_id == bindparam("payer_id"),
        claims.c.sendings > 0,
    ),
    system=True,
)
