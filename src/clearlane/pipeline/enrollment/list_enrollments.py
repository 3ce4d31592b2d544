"""List how far a site's providers are enrolled with payers: one row per provider, payer and transaction.

    rows = await list_provider_enrollments(context, site, actor=actor)        # pending, live, refused or ended

A payer that requires enrollment for a transaction and has not answered is pending since the vendor sent the provider.
The audit names every enrollment that was read. Knows no HTTP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from clearlane.accounts.model import Site
from clearlane.enrollment.decode import restore
from clearlane.enrollment.lifecycle import (
    PENDING_STATES,
    EnrollmentProgress,
    EnrollmentState,
    RecordedEvent,
    replay,
)
from clearlane.kernel.clock import from_micros, moment_text, to_local
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.enrolled_transactions import EnrolledTransaction, enrolled_transactions
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import enrollments
from clearlane.store.database.database import Actor, write_audit
from clearlane.store.enrollments import EnrollmentKey, StoredEnrollment


class ProviderState(StrEnum):
    """How far a provider is with a payer for a transaction."""

    PENDING = "pending"
    """The payer has not answered, or approved it from a coming day on."""
    LIVE = "live"
    REFUSED = "refused"
    ENDED = "ended"
    """The payer ended an enrollment that was live."""


@dataclass(frozen=True, slots=True)
class ProviderEnrollment:
    """The enrollment of one provider with one payer for one transaction."""

    enrollment_id: str
    site: str
    npi: str = field(repr=False)
    payer_type: str
    payer_id: str
    transaction: EnrolledTransaction
    state: ProviderState
    since: datetime
    live_from: date | None = None
    """The first day on which it counts, once the payer approved it."""

    @property
    def id(self) -> str:
        """Enrollment, type, payer and transaction, by which a list continues."""
        type = self.payer_type.lower()
        return f"{self.enrollment_id}/{type}/{self.payer_id}/{self.transaction}"

    def as_json(self) -> dict[str, object]:
        """Return it as v1 shows it."""
        return {
            "id": self.id,
            "enrollment_id": self.enrollment_id,
            "site": self.site,
            "npi": self.npi,
            "payer_id": self.payer_id,
            "type": self.payer_type.lower(),
            "transaction": self.transaction.value,
            "state": self.state.value,
            "since_at": moment_text(self.since),
            "live_from": self.live_from.isoformat() if self.live_from else None,
        }


async def list_provider_enrollments(
    context: WorkContext, site: Site, *, actor: Actor
) -> list[ProviderEnrollment]:
    """Return the enrollments of a site's providers with each payer, by enrollment, payer and transaction."""
    vault = context.vault
    async with context.database.read(site.scope) as tx:
        rows = await enrollments.list_own(tx, site.scope)
        events = await enrollments.list_own_events(tx)
        await vault.load_keys_of(tx, [row.payload for row in rows])
    await write_audit(
        context.database, site.scope, "enrollment.list", ids=[row.id for row in rows], actor=actor
    )
    payers = context.payer_access.payers()
    required = required_keys(payers)
    today = to_local(context.clock.now(), site.time_zone).date()
    found = []
    for row in rows:
        provider = restore(vault.open(site.scope, enrollments.TABLE, row.id, row.payload))
        for key, progress in progress_by_key(row, required, events.get(row.id, {})).items():
            type, payer_id, transaction = key
            payer = payers.find(payer_id, type)
            found.append(
                ProviderEnrollment(
                    row.id,
                    site.vendor_site_id,
                    provider.Npi,
                    type,
                    payer.payer_id if payer else payer_id,
                    EnrolledTransaction(transaction),
                    provider_state(progress, today),
                    from_micros(progress.since),
                    progress.live_from,
                )
            )
    return sorted(found, key=lambda one: one.id)


def required_keys(payers: PayerDirectory) -> list[EnrollmentKey]:
    """Return every active payer that requires enrollment, once for each transaction."""
    return [
        (*payer.key, transaction.value)
        for payer in payers.all
        if payer.active
        for transaction in enrolled_transactions(payer)
    ]


def progress_by_key(
    row: StoredEnrollment,
    required: Sequence[EnrollmentKey],
    events: Mapping[EnrollmentKey, Sequence[RecordedEvent]],
) -> dict[EnrollmentKey, EnrollmentProgress]:
    """Return how far an enrollment is with each payer that requires it, or that someone acted for."""
    acted = [key for key in events if key != enrollments.ANY_PAYER]
    return {key: replay(row.created_at, events.get(key, ())) for key in sorted({*required, *acted})}


def provider_state(progress: EnrollmentProgress, today: date) -> ProviderState:
    """Return how far it is on a day of the site."""
    if progress.state is EnrollmentState.APPROVED:
        return ProviderState.LIVE if progress.is_live(today) else ProviderState.PENDING
    if progress.state in PENDING_STATES:
        return ProviderState.PENDING
    return ProviderState(progress.state.value)
