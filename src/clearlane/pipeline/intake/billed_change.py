"""Why a correction changed what was billed, and on whose authority: kept with the correction, in its transaction.

    extend = record_billed_change(context, site, BilledChange(...), actor=actor)
    await submit_correction(..., extend=extend)

Both texts are a sealed note of the new claim, since people write about patients in them; the audit trail has the names
of the fields and the note's id. Knows no page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from clearlane.accounts.model import Site
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import new_number
from clearlane.pipeline.intake.submit_correction import CorrectionResult
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import work_items
from clearlane.store.claims.work_items import ClaimNote
from clearlane.store.database.database import Actor, Job, JobExtension, Tx

WHY = "Say why you are changing what was billed."
WHOSE = "Say on whose authority you are changing what was billed."


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledChange:
    """A person's change of what was billed; without a repr of what they wrote."""

    names: Sequence[str]
    """The names of the fields that changed."""
    reason: str = field(repr=False)
    authority: str = field(repr=False)
    """Who answers for it, such as the provider who treated the patient."""

    @property
    def fault(self) -> str:
        """What is missing before it can be kept; empty for nothing."""
        if not self.names:
            return ""
        return "" if self.reason and self.authority else WHOSE if self.reason else WHY

    @property
    def note(self) -> str:
        """What is kept with the correction."""
        return f"Why what was billed changed: {self.reason}\nOn whose authority: {self.authority}"


def record_billed_change(
    context: WorkContext, site: Site, change: BilledChange, *, actor: Actor
) -> JobExtension[CorrectionResult]:
    """Return what adds the note and its audit row to the transaction that stores a correction; nothing without names."""

    def extend(job: Job[CorrectionResult]) -> Job[CorrectionResult]:
        async def run(tx: Tx) -> CorrectionResult:
            result = await job(tx)
            if change.names and result.claim_number:
                await _keep(tx, context, site, result.claim_number, change, actor)
            return result

        return run

    return extend


async def _keep(
    tx: Tx, context: WorkContext, site: Site, number: str, change: BilledChange, actor: Actor
) -> None:
    id = await keep_reason(tx, context, site, number, change.note, actor)
    detail = f"{' '.join(change.names)}; reason and authority are note {id}"
    tx.audit("claim.billed_change", ids=[number], detail=detail)


async def keep_reason(
    tx: Tx, context: WorkContext, site: Site, number: str, text: str, actor: Actor
) -> str:
    """Keep a reason as a sealed note of a claim; return the note's id, for the audit trail."""
    now = context.clock.now()
    id = new_number(now, letter="N")
    payload = context.vault.seal(site.scope, work_items.NOTES, id, text.encode())
    await work_items.add_note(tx, ClaimNote(id, number, actor.name, to_micros(now), payload))
    return id
