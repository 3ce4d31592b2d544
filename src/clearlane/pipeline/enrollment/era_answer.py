"""Say why there is no ERA (835) about a claim, or of a payer: for pages, v1 and commands.

    answer = await explain_claim_era(database, vault, site, row, status, payer, now)      # EraAnswer; None if none is due
    answer.state, answer.sentence                                                         # "pending", "The provider's ..."

Light: `clearlane claim show` reads it without the tables of the 837.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from clearlane.accounts.model import Site
from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.lifecycle import ClaimState
from clearlane.enrollment.lifecycle import EnrollmentProgress
from clearlane.payers.enrolled_transactions import EnrolledTransaction
from clearlane.payers.model import Payer
from clearlane.pipeline.enrollment.provider_progress import (
    EnrolledState,
    enrollment_on,
    find_progress,
)
from clearlane.pipeline.load_claim import open_header
from clearlane.store.claims.claim_query import ClaimListRow
from clearlane.store.database.database import Database
from clearlane.store.vault.vault import Vault

WITH_PAYER = frozenset(
    {ClaimState.SENT, ClaimState.ACKNOWLEDGED, ClaimState.PENDING, ClaimState.COMPLETE}
)
"""States of claims about which an ERA may come."""


class EraState(StrEnum):
    """Whether an ERA is to be expected, or why not."""

    RECEIVED = "received"
    EXPECTED = "expected"
    NOT_AVAILABLE = "not_available"
    NOT_ENROLLED = "not_enrolled"
    PENDING = "pending"
    LATER = "later"
    REFUSED = "refused"
    ENDED = "ended"


SENTENCES: Mapping[EraState, str] = {
    EraState.RECEIVED: "An ERA (835) says what the payer decided.",
    EraState.EXPECTED: "The payer sends ERAs (835): one comes once it has decided.",
    EraState.NOT_AVAILABLE: "The payer sends no ERAs (835): its remittances come on paper or on its portal.",
    EraState.NOT_ENROLLED: "The payer sends ERAs (835) to enrolled providers only, and the billing provider is not enrolled "
    "for them: send an enrollment.",
    EraState.PENDING: "The payer sends ERAs (835) to enrolled providers only, and the billing provider's enrollment for them "
    "has been pending since {day}.",
    EraState.LATER: "The billing provider's enrollment for ERAs (835) counts from {day} on: what the payer pays before comes on "
    "paper or on its portal.",
    EraState.REFUSED: "The payer refused the billing provider's enrollment for ERAs (835) on {day}: ask the operator for the "
    "reason and to submit it again.",
    EraState.ENDED: "The payer ended the billing provider's enrollment for ERAs (835) on {day}: ask the operator for the reason "
    "and to submit it again.",
}


@dataclass(frozen=True, slots=True)
class EraAnswer:
    """Whether an ERA is to be expected, or why not."""

    state: EraState
    day: date | None = None
    """Since when; of a later enrollment, the day from which it counts."""

    @property
    def sentence(self) -> str:
        """The answer, for people."""
        return SENTENCES[self.state].format(day=self.day)

    def as_json(self) -> dict[str, object]:
        """Return it as v1 and `--json` show it."""
        return {"state": self.state.value, "reason": self.sentence}


async def explain_claim_era(
    database: Database,
    vault: Vault,
    site: Site,
    row: ClaimListRow,
    status: ClaimStatus | None,
    payer: Payer | None,
    now: datetime,
) -> EraAnswer | None:
    """Return whether an ERA about a claim came, is to come, or why not; None if the payer does not have the claim."""
    if status is None or payer is None or status.is_notice:
        return None
    if status.is_decided:
        return EraAnswer(EraState.RECEIVED)
    if status.state not in WITH_PAYER:
        return None
    progress = None
    if payer.era_availability == "RequiresEnrollment":
        async with database.read(site.scope) as tx:
            await vault.load_keys_of(tx, [row.header])
            header = open_header(vault, site.scope, row.claim_number, row.header)
            billing = header.billing_npi, header.billing_tax_id
            progress = await find_progress(
                tx, vault, site.scope, payer, EnrolledTransaction.ERA, billing
            )
    return explain_era(payer, progress, now, site.time_zone)


def explain_era(
    payer: Payer, progress: EnrollmentProgress | None, now: datetime, time_zone: str
) -> EraAnswer:
    """Return whether a payer sends a provider ERAs, by the provider's enrollment for them, or why not."""
    if payer.era_availability == "NotAvailable":
        return EraAnswer(EraState.NOT_AVAILABLE)
    if payer.era_availability == "Available":
        return EraAnswer(EraState.EXPECTED)
    enrollment, day = enrollment_on(progress, now, time_zone)
    if enrollment is EnrolledState.LIVE:
        return EraAnswer(EraState.EXPECTED)
    return EraAnswer(EraState(enrollment.value), day)
