"""Say why a payer that answers enrolled providers only cannot be asked by a provider (270, 276).

    sentence = await why_not_asked(context, site, payer, (npi, tax_id), now)      # about a claim; empty if it can be asked
    known = await load_inquiry_enrollments(context, site, EnrolledTransaction.ELIGIBILITY, asked, now)
    sentence = known.why_not_asked(payer, [npi])

Without the enrollment a payer refuses the question, so nothing is sent: neither by a person, nor from a file, nor by the
service itself. A claim knows both numbers of its provider. A request or a file names one: every enrollment with it counts.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.enrollment.lifecycle import EnrollmentProgress, replay
from clearlane.payers.enrolled_transactions import EnrolledTransaction, enrolled_transactions
from clearlane.payers.model import Payer
from clearlane.pipeline.enrollment.provider_progress import (
    Billing,
    EnrolledState,
    enrollment_on,
    find_progress,
    number_hash,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import enrollments

QUESTIONS: Mapping[EnrolledTransaction, str] = {
    EnrolledTransaction.ELIGIBILITY: "eligibility inquiries (270)",
    EnrolledTransaction.CLAIM_STATUS: "questions about claims (276)",
}
PROVIDERS: Mapping[EnrolledTransaction, str] = {
    EnrolledTransaction.ELIGIBILITY: "provider",
    EnrolledTransaction.CLAIM_STATUS: "billing provider",
}
_ONLY = "The payer answers {questions} of enrolled providers only, and"
SENTENCES: Mapping[EnrolledState, str] = {
    EnrolledState.LIVE: "",
    EnrolledState.LATER: f"{_ONLY} the {{provider}}'s enrollment for them counts from {{day}} on.",
    EnrolledState.PENDING: f"{_ONLY} the {{provider}}'s enrollment for them has been pending since {{day}}.",
    EnrolledState.REFUSED: f"{_ONLY} it refused the {{provider}}'s enrollment for them on {{day}}.",
    EnrolledState.ENDED: f"{_ONLY} it ended the {{provider}}'s enrollment for them on {{day}}.",
    EnrolledState.NOT_ENROLLED: f"{_ONLY} the {{provider}} is not enrolled for them: send an enrollment.",
}
"""Why no question is sent. Of several enrollments with one number, the first in this order counts."""
ORDER = tuple(SENTENCES)


@dataclass(frozen=True, slots=True)
class InquiryEnrollments:
    """How far providers are with the payers that answer inquiries of enrolled providers only."""

    transaction: EnrolledTransaction
    now: datetime
    time_zone: str
    progress: Mapping[tuple[tuple[str, str], str], Sequence[EnrollmentProgress]] = field(
        default_factory=dict, repr=False
    )
    """By type and id of the payer and number of the provider."""

    def why_not_asked(self, payer: Payer, numbers: Iterable[str]) -> str:
        """Return why the payer answers no inquiries of the provider with these numbers; empty if it does."""
        if self.transaction not in enrolled_transactions(payer):
            return ""
        found = [one for number in numbers for one in self.progress.get((payer.key, number), ())]
        return _sentence(self.transaction, found, self.now, self.time_zone)


async def load_inquiry_enrollments(
    context: WorkContext,
    site: Site,
    transaction: EnrolledTransaction,
    asked: Iterable[tuple[Payer, Collection[str]]],
    now: datetime,
) -> InquiryEnrollments:
    """Return how far providers are with payers, by the numbers that inquiries name. No statement if no payer requires it."""
    wanted: dict[tuple[str, str], set[str]] = defaultdict(set)
    for payer, own in asked:
        if transaction in enrolled_transactions(payer):
            wanted[payer.key].update(own)
    known = InquiryEnrollments(transaction, now, site.time_zone)
    hashes = {
        number_hash(context.vault, site.scope, one): one for own in wanted.values() for one in own
    }
    if not hashes:
        return known
    progress: dict[tuple[tuple[str, str], str], list[EnrollmentProgress]] = defaultdict(list)
    async with context.database.read(site.scope) as tx:
        providers = await enrollments.list_by_numbers(tx, hashes)
        events = {
            type: await enrollments.list_provider_events(
                tx, type, transaction, [one.provider for one in providers]
            )
            for type in sorted({type for type, _ in wanted})
        }
    for one in providers:
        for number in {hashes[hash] for hash in (one.npi, one.tin) if hash in hashes}:
            for key in (key for key, numbers in wanted.items() if number in numbers):
                type, payer_id = key
                answers = events[type].get((payer_id, one.provider), ())
                progress[key, number].append(replay(one.created_at, answers))
    return InquiryEnrollments(transaction, now, site.time_zone, progress)


async def why_not_asked(
    context: WorkContext, site: Site, payer: Payer, billing: Billing, now: datetime
) -> str:
    """Return why the payer answers no questions about this provider's claims; empty if it does."""
    transaction = EnrolledTransaction.CLAIM_STATUS
    if transaction not in enrolled_transactions(payer):
        return ""
    async with context.database.read(site.scope) as tx:
        progress = await find_progress(tx, context.vault, site.scope, payer, transaction, billing)
    return _sentence(transaction, [progress] if progress else [], now, site.time_zone)


def _sentence(
    transaction: EnrolledTransaction,
    found: Iterable[EnrollmentProgress],
    now: datetime,
    time_zone: str,
) -> str:
    states = [enrollment_on(one, now, time_zone) for one in found]
    nothing = enrollment_on(None, now, time_zone)
    state, day = min(states, key=lambda one: ORDER.index(one[0]), default=nothing)
    return SENTENCES[state].format(
        questions=QUESTIONS[transaction], provider=PROVIDERS[transaction], day=day
    )
