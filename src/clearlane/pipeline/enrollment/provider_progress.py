"""How far a billing provider's enrollment with one payer for one transaction is. Light: it knows no rule and no form."""

import re
from datetime import date, datetime
from enum import StrEnum

from clearlane.enrollment.lifecycle import (
    PENDING_STATES,
    EnrollmentProgress,
    EnrollmentState,
    replay,
)
from clearlane.kernel.clock import from_micros, to_local
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


def number_hash(vault: Vault, scope: Scope, number: str) -> str:
    """Return the keyed hash of one number of a provider, by which inquiries name it."""
    return vault.fingerprint(scope, "enrollment-number", without_punctuation(number)).hex()


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


class EnrolledState(StrEnum):
    """Whether a provider is enrolled on a day, or why not."""

    LIVE = "live"
    NOT_ENROLLED = "not_enrolled"
    PENDING = "pending"
    LATER = "later"
    REFUSED = "refused"
    ENDED = "ended"


def enrollment_on(
    progress: EnrollmentProgress | None, now: datetime, time_zone: str
) -> tuple[EnrolledState, date | None]:
    """Return whether a provider is enrolled, and since when it is not; of a later enrollment, the day from which it counts."""
    if progress is None:
        return EnrolledState.NOT_ENROLLED, None
    if progress.is_live(to_local(now, time_zone).date()):
        return EnrolledState.LIVE, None
    if progress.state is EnrollmentState.APPROVED:
        return EnrolledState.LATER, progress.live_from
    since = to_local(from_micros(progress.since), time_zone).date()
    if progress.state in PENDING_STATES:
        return EnrolledState.PENDING, since
    return EnrolledState(progress.state.value), since


def without_punctuation(number: str) -> str:
    """Return a number of a provider as it is compared, however it was written."""
    return number if number.isdigit() else _PUNCTUATION.sub("", number)
