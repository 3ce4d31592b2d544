"""Turn the filters that somebody gave into the conditions of a ``ClaimQuery``.

    where = to_where({"payer": "TST01", "service_from": date(2026, 1, 31)}, vault, vendor_id)

Knows what choices there are, and what is found by keyed hash; knows no text of a caller.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from clearlane.claims.claim_filters import CLAIM_FILTERS
from clearlane.claims.fields import ClaimKind
from clearlane.claims.lifecycle import ClaimState
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import to_micros
from clearlane.store.claims import claim_search
from clearlane.store.claims.claim_query import ClaimOrder
from clearlane.store.claims.claims import NOT_ACCEPTED
from clearlane.store.vault.vault import Vault

PATIENT = ("patient_last_name", "patient_birth_date")
"""Given together: names alone are kept by their first letters only."""
CHOICES: Mapping[str, Mapping[str, str]] = {
    "label": {label.value: label.value for label in ClaimLabel},
    "state": {state: state for state in (*ClaimState, NOT_ACCEPTED)},
    "kind": {kind.value: kind.value for kind in ClaimKind},
}
"""The words that a choice takes, each with what is stored."""
_KEYS: Mapping[str, Callable[[Vault, int, str], object]] = {
    "vendor_claim_id": claim_search.vendor_claim_hashes,
    "account_number": claim_search.account_key,
    "payer_control_number": lambda vault, vendor, number: claim_search.payer_number_key(
        vault, number
    ),
}


def missing_part(given: Mapping[str, object]) -> str:
    """Return the filter that must be given too: a patient is found by last name and birth date together."""
    missing = [name for name in PATIENT if given.get(name) is None]
    return missing[0] if len(missing) == 1 else ""


def to_where(given: Mapping[str, Any], vault: Vault, vendor_id: int) -> dict[str, object]:
    """Return the conditions of filters by name; None is not given. What is hashed is a vendor's own."""
    found: dict[str, object] = {}
    for one in CLAIM_FILTERS:
        value = given.get(one.name)
        if value is None or one.name in PATIENT:
            continue
        make_key = _KEYS.get(one.name)
        found[one.condition] = make_key(vault, vendor_id, value) if make_key else _stored(value)
    name, born = (given.get(part) for part in PATIENT)
    if name is not None and born is not None:
        found |= claim_search.patient_filters(vault, vendor_id, name, born)
    return found


def list_order(where: Mapping[str, object]) -> ClaimOrder:
    """Return the order of a list: that of changes if these are followed, else the newest claims first."""
    return ClaimOrder.BY_CHANGE if "updated_at_after" in where else ClaimOrder.NEWEST_FIRST


def _stored(value: object) -> object:
    if isinstance(value, datetime):
        return to_micros(value)
    return value.isoformat() if isinstance(value, date) else value
