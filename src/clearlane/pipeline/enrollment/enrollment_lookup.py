"""Look up how far the enrollments of claims' billing providers are with their payers.

Done once for a document of claims, and only if one of its payers requires enrollment.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.claims.rules import EnrollmentGap, RuleInputs
from clearlane.enrollment.lifecycle import (
    PENDING_STATES,
    EnrollmentProgress,
    EnrollmentState,
    RecordedEvent,
    replay,
)
from clearlane.kernel.clock import from_micros, to_local
from clearlane.kernel.ids import Scope
from clearlane.payers.enrolled_transactions import EnrolledTransaction
from clearlane.payers.model import Payer
from clearlane.payers.sender_payers import FindPayer
from clearlane.pipeline.enrollment.provider_progress import (
    Billing,
    provider_hash,
    without_punctuation,
)
from clearlane.store import enrollments
from clearlane.store.database.database import Database
from clearlane.store.vault.vault import Vault

CLAIMS = EnrolledTransaction.CLAIMS


@dataclass(frozen=True, slots=True)
class KnownEnrollments:
    """The enrollments of the billing providers in a document of claims."""

    approved: Mapping[tuple[str, Billing], date | None] = field(repr=False)
    """From which day on it counts, by payer in folded case and billing provider."""
    submitted: Mapping[Billing, int] = field(default_factory=dict, repr=False)
    """When a provider was submitted that not every payer has approved."""
    answers: Mapping[tuple[str, Billing], Sequence[RecordedEvent]] = field(
        default_factory=dict, repr=False
    )
    """The recorded events of these providers, by payer and provider."""

    def add_to(
        self, inputs: RuleInputs, claim: Claim, payer: Payer | None, time_zone: str
    ) -> RuleInputs:
        """Return what the rules know, with the enrollment of the claim's billing provider with this payer."""
        if payer is None:
            return inputs
        billing = _billing(claim)
        key = (payer.payer_id.casefold(), billing)
        if key in self.approved:
            live_from = self.approved[key]
            if live_from is None or live_from <= inputs.today:
                return replace(inputs, enrolled=True)
            return replace(inputs, enrollment=EnrollmentGap.LATER, enrollment_since=live_from)
        if billing not in self.submitted:
            return inputs
        progress = replay(self.submitted[billing], self.answers.get(key, ()))
        return replace(
            inputs,
            enrollment=_gap_of(progress),
            enrollment_since=to_local(from_micros(progress.since), time_zone).date(),
        )


class WantedEnrollments:
    """The billing providers of a document whose payers require enrollment, collected claim by claim."""

    def __init__(self, find: FindPayer, type: str) -> None:
        self.type = type
        self.is_required = False
        self._find = find
        self._requiring: dict[str, str] = {}
        self._payers_of: dict[Billing, set[str]] = defaultdict(set)

    @property
    def billing(self) -> Collection[Billing]:
        """The billing providers."""
        return self._payers_of.keys()

    def payers_of(self, billing: Billing) -> Collection[str]:
        """Return the payers that require an enrollment of this provider, in folded case."""
        return self._payers_of[billing]

    def add(self, claim: Claim) -> None:
        """Add the billing provider of a claim, if its payer requires enrollment."""
        payer_id = form_of(claim).value(claim, "payer.id") or ""
        if payer_id not in self._requiring:
            payer = self._find(payer_id, self.type)
            required = payer is not None and payer.claim_enrollment_required
            self._requiring[payer_id] = payer.payer_id.casefold() if payer and required else ""
        if key := self._requiring[payer_id]:
            self.is_required = True
            self._payers_of[_billing(claim)].add(key)


async def find_enrollments(
    database: Database,
    vault: Vault,
    wanted: WantedEnrollments,
    *,
    scope: Scope,
    seconds_max: float,
) -> KnownEnrollments | None:
    """Return the enrollments of the billing providers; None if no payer requires one."""
    if not wanted.is_required:
        return None
    by_hash = {provider_hash(vault, scope, npi, tin): (npi, tin) for npi, tin in wanted.billing}
    async with asyncio.timeout(seconds_max), database.read(scope) as tx:
        approved = await enrollments.list_approved(tx, wanted.type, CLAIMS, by_hash.keys())
        known = {(payer_id, by_hash[hash]): day for (payer_id, hash), day in approved.items()}
        open_hashes = [
            hash
            for hash, billing in by_hash.items()
            if any((payer, billing) not in known for payer in wanted.payers_of(billing))
        ]
        if not open_hashes:
            return KnownEnrollments(known)
        submitted = await enrollments.list_submitted(tx, open_hashes)
        answers = await enrollments.list_provider_events(tx, wanted.type, CLAIMS, open_hashes)
    return KnownEnrollments(
        known,
        {by_hash[hash]: at for hash, at in submitted.items()},
        {(payer_id, by_hash[hash]): events for (payer_id, hash), events in answers.items()},
    )


def _gap_of(progress: EnrollmentProgress) -> EnrollmentGap:
    if progress.state in PENDING_STATES:
        return EnrollmentGap.PENDING
    is_ended = progress.state is EnrollmentState.ENDED
    return EnrollmentGap.ENDED if is_ended else EnrollmentGap.REFUSED


def _billing(claim: Claim) -> Billing:
    """Return NPI and TIN without punctuation, empty if missing: no enrollment has them empty."""
    npi, ein, ssn = form_of(claim).values(claim, "billing.npi", "billing.ein", "billing.ssn")
    return without_punctuation(npi or ""), without_punctuation(ein or ssn or "")
