"""Look up whether the billing providers of claims are enrolled with their payers.

Done once for a document of claims, and only where one of its payers requires enrollment.
"""

import asyncio
import re
from dataclasses import dataclass, field

from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.kernel.ids import Scope
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.store import enrollments as store
from clearlane.store.database import Database
from clearlane.store.vault import Vault

_PUNCTUATION = re.compile(r"[-. ]")


def provider_hash(vault: Vault, scope: Scope, npi: str, tin: str) -> str:
    """Return the keyed hash of NPI and TIN by which a provider is found."""
    return vault.fingerprint(scope, "enrollment", npi, tin).hex()


Billing = tuple[str, str]
"""NPI and TIN of a billing provider."""


@dataclass(frozen=True, slots=True)
class ApprovedEnrollments:
    """The approved enrollments that matter to a document of claims."""

    approved: frozenset[tuple[str, Billing]] = field(repr=False)
    """Payer in folded case, and billing provider."""

    def covers(self, claim: Claim, payer: Payer | None) -> bool:
        """Return whether the claim's billing provider is enrolled with this payer."""
        return payer is not None and (payer.payer_id.casefold(), _billing(claim)) in self.approved


class WantedEnrollments:
    """The billing providers of a document whose payers require enrollment, collected claim by claim."""

    def __init__(self, payers: PayerDirectory, type: str) -> None:
        self.type = type
        self.billing: set[Billing] = set()
        self.is_required = False
        self._payers = payers
        self._requiring: dict[str, bool] = {}

    def add(self, claim: Claim) -> None:
        """Add the billing provider of a claim, where its payer requires enrollment."""
        payer_id = claim.Svc_PayerId
        if payer_id not in self._requiring:
            payer = self._payers.find(payer_id, self.type)
            self._requiring[payer_id] = payer is not None and payer.claim_enrollment_required
        if self._requiring[payer_id]:
            self.is_required = True
            self.billing.add(_billing(claim))


async def find_approved_enrollments(
    database: Database,
    vault: Vault,
    wanted: WantedEnrollments,
    *,
    scope: Scope,
    seconds_max: float,
) -> ApprovedEnrollments | None:
    """Return the approved enrollments of the billing providers; None where no payer requires one."""
    if not wanted.is_required:
        return None
    billing = wanted.billing
    by_hash = {provider_hash(vault, scope, npi, tin): (npi, tin) for npi, tin in billing}
    async with asyncio.timeout(seconds_max), database.read(scope) as tx:
        approved = await store.list_approved(tx, wanted.type, by_hash.keys())
    return ApprovedEnrollments(frozenset((payer_id, by_hash[hash]) for payer_id, hash in approved))


def _billing(claim: Claim) -> Billing:
    """Return NPI and TIN without punctuation, empty where missing: no enrollment has them empty."""
    npi, tin = form_of(claim).billing_ids(claim)
    return without_punctuation(npi or ""), without_punctuation(tin or "")


def without_punctuation(number: str) -> str:
    """Return a number of a provider as it is compared, however it was written."""
    return number if number.isdigit() else _PUNCTUATION.sub("", number)
