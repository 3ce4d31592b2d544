"""How far a billing provider's enrollment with one payer for one transaction is. Light: it knows no rule and no form."""

import re

from clearlane.enrollment.lifecycle import EnrollmentProgress, replay
from clearlane.kernel.ids import Scope
from clearlane.payers.enrolled_transactions import EnrolledTransaction
from clearlane.payers.model import Payer
from clearlane.store import enrollments
from clearlane.store.database.database import Tx
from clearlane.store.vault.vault import Vault

_PUNCTUATION = re.compile(r"[-. ]")


def provider_hash(vault: Vault, scope: Scope, npi: str, tin: str) -> str:
    """Return the keyed hash of NPI and TIN by which a provider is found."""
    return vault.fingerprint(scope, "enrollment", npi, tin).hex()


Billing = tuple[str, str]
"""NPI and TIN of a billing provider."""


async def find_progress(
    tx: Tx,
    vault: Vault,
    scope: Scope,
    payer: Payer,
    transaction: EnrolledTransaction,
    billing: Billing,
) -> EnrollmentProgress | None:
    """Return how far a provider's enrollment with a payer is; None if the site never sent the provider."""
    hash = provider_hash(vault, scope, *map(without_punctuation, billing))
    submitted = await enrollments.list_submitted(tx, [hash])
    if hash not in submitted:
        return None
    events = await enrollments.list_provider_events(tx, payer.type, transaction, [hash])
    return replay(submitted[hash], events.get((payer.payer_id.casefold(), hash), ()))


def without_punctuation(number: str) -> str:
    """Return a number of a provider as it is compared, however it was written."""
    return number if number.isdigit() else _PUNCTUATION.sub("", number)
