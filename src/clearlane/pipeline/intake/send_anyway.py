"""Send a claim that our rules did not accept, because a person knows better: by role, with a reason, audited.

Only rules of ours can be overruled, never those of the X12 guide. The claim is judged again, and the rules that stop it warn
only. The reason is a sealed note of the new claim, and which rules were overruled is kept with it, so that what becomes of
such claims is counted for each rule. Knows no page.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from clearlane.accounts.model import Site
from clearlane.claims.finding import LEFT_OUT, ClaimFinding
from clearlane.claims.rules import RULES
from clearlane.kernel.clock import to_micros
from clearlane.kernel.finding import Severity
from clearlane.pipeline.intake.billed_change import keep_reason
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.hold_claims import IS_SHADOW
from clearlane.pipeline.intake.submit_correction import CorrectionResult, submit_correction
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claims, rule_overrides
from clearlane.store.claims.rule_overrides import RuleOverride
from clearlane.store.database.database import Actor, Job, JobExtension, Tx, unextended

ACCEPTED_NOW = "No rule stops the claim any more: send it again unchanged."
NOT_STOPPED = "No rule stopped the claim: it was accepted, so there is nothing to overrule."
TOO_MANY = "The claim has more errors than are listed. Correct it."


async def send_anyway(
    context: WorkContext,
    site: Site,
    claim_number: str,
    *,
    reason: str,
    actor: Actor,
    now: datetime,
    person: str = "",
    dry_run: bool = False,
    extend: JobExtension[CorrectionResult] = unextended,
) -> CorrectionResult | None:
    """Send a claim in spite of the rules that stop it; None if the site has no claim of this number.

    ``person`` is who decided it, if the actor is software that acts for one. ``extend`` adds to the transaction.
    Raises a :class:`CorrectionConflict` if a rule of the guide stops it, or if none does.
    """
    overruled = await _find_overruled(context, site, claim_number, actor, now)
    if overruled is None:
        return None
    decider = replace(actor, name=person) if person else actor

    def record(job: Job[CorrectionResult]) -> Job[CorrectionResult]:
        async def run(tx: Tx) -> CorrectionResult:
            result = await job(tx)
            text = f"Why it was sent anyway ({', '.join(overruled)}): {reason}"
            note = await keep_reason(tx, context, site, result.claim_number, text, decider)
            at = to_micros(now)
            await rule_overrides.add(
                tx,
                [RuleOverride(result.claim_number, rule, decider.name, at) for rule in overruled],
            )
            detail = f"{' '.join(overruled)} by {decider.name}; the reason is note {note}"
            tx.audit("claim.send_anyway", ids=[claim_number, result.claim_number], detail=detail)
            return result

        return extend(run)

    return await submit_correction(
        context,
        site,
        claim_number,
        {},
        actor=actor,
        now=now,
        unchanged=True,
        overruled=overruled,
        dry_run=dry_run,
        extend=record,
    )


async def _find_overruled(
    context: WorkContext, site: Site, claim_number: str, actor: Actor, now: datetime
) -> list[str] | None:
    """Return the rules that stop a claim and may be overruled; None if the site has no claim of this number."""
    async with context.database.read(site.scope) as tx:
        stored = await claims.find(tx, claim_number)
    if stored is None:
        return None
    if stored.state in claims.SHADOWS:
        raise CorrectionConflict(IS_SHADOW)
    if stored.state != claims.NOT_ACCEPTED:
        raise CorrectionConflict(NOT_STOPPED)
    judged = await submit_correction(
        context, site, claim_number, {}, actor=actor, now=now, unchanged=True, dry_run=True
    )
    if judged is None:
        return None
    if judged.accepted:
        raise CorrectionConflict(ACCEPTED_NOW)
    if why := why_not_overruled(judged.findings):
        raise CorrectionConflict(why)
    return sorted(stopping_rules(judged.findings))


def stopping_rules(findings: Sequence[ClaimFinding]) -> set[str]:
    """Return the rules whose findings stop a claim."""
    return {one.rule for one in findings if one.severity is Severity.ERROR}


def why_not_overruled(findings: Sequence[ClaimFinding]) -> str:
    """Return why no person can overrule the rules that stop a claim; empty if one can."""
    stopping = stopping_rules(findings)
    if LEFT_OUT in stopping:
        return TOO_MANY
    fixed = [
        f"{id} stops it: {RULES[id].fixed if id in RULES else 'it has not the shape of a claim.'}"
        for id in sorted(stopping)
        if id not in RULES or RULES[id].fixed
    ]
    return " ".join(fixed)
