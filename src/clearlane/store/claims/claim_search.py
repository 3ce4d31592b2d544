"""Make the keyed hashes by which claims are found. Knows no field of a claim."""

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from clearlane.claims.kinds import SUBMITTED_KINDS
from clearlane.kernel.compared_names import name_start, search_name
from clearlane.store.vault.vault import Vault

if TYPE_CHECKING:
    from clearlane.claims.search_terms import SearchTerms


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


def series_key(vault: Vault, vendor_id: int, *parts: str) -> int:
    """Return the keyed hash of what bills of one stay share: payer, patient, provider and admission day."""
    return vault.search_key(vendor_id, "series", *parts)


def search_keys(vault: Vault, vendor_id: int, terms: "SearchTerms") -> SearchKeys:
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
