"""Make the keyed hashes by which claims are found, and find claims by the vendor's claim id.

What a person or payer wrote is found by keyed hashes. Knows no field of a claim.
"""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from sqlalchemy import literal, select

from clearlane.claims.kinds import SUBMITTED_KINDS
from clearlane.claims.search_terms import SearchTerms, name_start, search_name
from clearlane.store.claims.claims import HOLDS_ID
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import among, scoped_select
from clearlane.store.vault.vault import Vault


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
    return [vendor_claim_hash(vault, vendor_id, kind, vendor_claim_id) for kind in SUBMITTED_KINDS]


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
    """Return the keyed hash of the payer's number of a claim; None if it has none.

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


def patient_filters(vault: Vault, vendor_id: int, name: str, birth_day: date) -> dict[str, object]:
    """Return the filters of a patient, by last name and birth date. The index begins with the start of the name."""
    return {
        "name_key": name_key(vault, vendor_id, name_start(name)),
        "patient_key": patient_key(vault, vendor_id, search_name(name), birth_day.isoformat()),
    }


async def find_by_vendor_claim(tx: Tx, hashes: Sequence[str]) -> list[str]:
    """Return the numbers of every claim of the scope under a vendor's claim id, current or not."""
    rows = [*await tx.rows(_CURRENT, hashes=hashes), *await tx.rows(_FORMER, hashes=hashes)]
    return [str(claim_number) for (claim_number,) in rows]


async def find_holders(tx: Tx, hashes: Sequence[str]) -> list[str]:
    """Return the numbers of the claims of the scope that a vendor's claim id means now, one a kind."""
    return [str(claim_number) for (claim_number,) in await tx.rows(_CURRENT, hashes=hashes)]


# Two statements, each with an index of its own: nearly every claim is current, and writing costs one index then.
_OF_VENDOR_CLAIM = select(claims.c.claim_number).where(
    among(claims.c.vendor_claim_hash, "hashes"),
    claims.c.kind.in_([str(kind) for kind in SUBMITTED_KINDS]),
)
_CURRENT = scoped_select(_OF_VENDOR_CLAIM.where(HOLDS_ID), claims)
_FORMER = scoped_select(
    _OF_VENDOR_CLAIM.where(claims.c.is_current == literal(0, literal_execute=True)), claims
)
