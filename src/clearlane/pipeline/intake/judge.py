"""Judge the claims of a document that was read, and make the rows that they become. Nothing is stored here.

For ``submit``, which stores them, and for ``validate``, which does not. What is done with one claim is in
``prepare_claims``.
"""

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import date, datetime, timedelta

from clearlane.accounts.model import Site
from clearlane.claims.finding import LEFT_OUT, ClaimFinding, count_findings
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.resubmission import REPEATED_REQUEST_HOURS, ResubmissionTimes
from clearlane.claims.rules import ENROLLED_RULE, RULES, RuleInputs
from clearlane.claims.rules.settings import with_payer
from clearlane.kernel.clock import to_local
from clearlane.kernel.finding import Severity
from clearlane.payers.model import Payer
from clearlane.payers.sender_payers import FindPayer
from clearlane.pipeline.intake.correct_claims import correct_replacements
from clearlane.pipeline.intake.prepare_claims import (
    PendingClaim,
    PreparedClaim,
    empty,
)
from clearlane.pipeline.intake.read import ReadDocument
from clearlane.pipeline.other_payer import find_other_payer_id
from clearlane.pipeline.work_context import WorkContext
from clearlane.x12.codes.code_editions import CodeLists

ERRORS_PER_DOCUMENT_MAX = 10_000
WARNINGS_NOTED_MAX = 5


async def judge_document(
    context: WorkContext,
    document: ReadDocument,
    *,
    site: Site,
    now: datetime,
    shorten: Callable[[PreparedClaim], PreparedClaim],
    overruled: Collection[str] = (),
) -> deque[PreparedClaim]:
    """Judge the claims of a document and make their rows. ``shorten`` limits the findings that are kept of each.

    ``overruled`` are the rules that a person decided to send a claim in spite of: they warn only.
    """
    form, reading, enrollments = document.form, document.reading, document.enrollments
    # One snapshot each for the whole document.
    code_lists = context.code_lists()
    payers = _PayersOfDocument(context, document, site, now, overruled)
    facts: dict[str, RuleInputs] = {}
    times: dict[str, ResubmissionTimes] = {}
    found: deque[PreparedClaim] = deque()
    async for claims in reading.claims(context.intake):
        pending: list[PendingClaim] = []
        known_lists = await context.intake.codes.complete(
            context.database,
            code_lists,
            [claim for claim, _ in claims],
            seconds_max=context.limits.write_seconds_max,
        )
        for claim, tolerated in claims:
            payer_id = form.value(claim, "payer.id")
            if payer_id not in facts:
                facts[payer_id] = payers.find(payer_id, known_lists)
                times[payer_id] = resubmission_times(context, now, form.kind, facts[payer_id].payer)
            known = facts[payer_id]
            if known.code_lists is not known_lists:  # of an earlier page
                known = facts[payer_id] = replace(known, code_lists=known_lists)
            if enrollments is not None:
                known = enrollments.add_to(known, claim, known.payer, site.time_zone)
            if find_other_payer_id(document.payers, claim) == "":
                known = replace(known, other_payer_unknown=True)
            at = f"Claims[{len(found) + len(pending)}]"
            pending.append(
                PendingClaim(
                    context.vault,
                    site,
                    form,
                    now,
                    at,
                    claim,
                    known,
                    times[payer_id],
                    tolerated,
                    document.zips,
                )
            )
        prepared = await context.intake.preparing.run(
            pending, is_background=not reading.keeps_claims
        )
        for one in await correct_replacements(context.database, context.vault, site, prepared):
            listed = shorten(one)
            found.append(listed if reading.keeps_claims else empty(listed))
    return found


class _PayersOfDocument:
    """What the rules know of the payers of a document's claims.

    Of a payer of the directory it is remembered for the next documents: most callers have a few payers.
    """

    def __init__(
        self,
        context: WorkContext,
        document: ReadDocument,
        site: Site,
        now: datetime,
        overruled: Collection[str],
    ) -> None:
        self._context = context
        self._document = document
        self._site = site
        self._today = to_local(now, site.time_zone).date()
        self._overruled = overruled
        self._settings = context.rule_settings()

    def find(self, payer_id: str, code_lists: CodeLists) -> RuleInputs:
        """Return what the rules know of a payer, by its id in a claim."""
        if self._overruled:
            return self._look_up(payer_id, code_lists)
        known = self._context.intake.payers.made_of(
            self._document.payers, self._settings, code_lists
        )
        key = self._document.form.kind, payer_id, self._site.vendor_site_id, self._today
        found = known.get(key)
        if found is None:
            found = self._look_up(payer_id, code_lists)
            if found.payer is not None:
                known[key] = found
        return found

    def _look_up(self, payer_id: str, code_lists: CodeLists) -> RuleInputs:
        kind, sandbox = self._document.form.kind, self._context.sandbox
        find = self._document.payers.find
        known = payer_inputs(find, kind, payer_id, self._today, sandbox=sandbox)
        known = with_payer(known, known.payer, self._settings, self._site.vendor_site_id)
        return replace(
            known,
            code_lists=code_lists,
            severities={**known.severities, **dict.fromkeys(self._overruled, Severity.WARNING)}
            if self._overruled
            else known.severities,
            sent_unenrolled=ENROLLED_RULE in self._overruled,
        )


def resubmission_times(
    context: WorkContext, now: datetime, kind: ClaimKind, payer: Payer | None
) -> ResubmissionTimes:
    """Return the moments that decide how old an earlier claim of the same payer is."""
    days = context.answer_days.of(kind, payer.payer_id if payer else "")
    return ResubmissionTimes(
        repeated_since=context.time_ago(now, timedelta(hours=REPEATED_REQUEST_HOURS)),
        silent_since=context.time_ago(now, timedelta(days=days)),
    )


def payer_inputs(
    find: FindPayer, kind: ClaimKind, payer_id: str, today: date, *, sandbox: bool
) -> RuleInputs:
    """Return what the rules need to know of a payer, looked up once per document and payer."""
    own_type = KINDS[kind].payer_type
    payer = find(payer_id, own_type)
    others = {row.payer_type for row in KINDS.values()} - {own_type}
    return RuleInputs(
        today=today,
        sandbox=sandbox,
        payer=payer,
        payer_of_other_type=payer is None
        and any(find(payer_id, type) is not None for type in others),
    )


class FindingListing:
    """Limits the findings that the answer to a document lists; the claims are stored with their own."""

    def __init__(self, *severities: Severity) -> None:
        """``severities`` are those that the answer lists with each claim; by default errors alone."""
        self._listed = frozenset(severities or (Severity.ERROR,))
        self._left = ERRORS_PER_DOCUMENT_MAX
        self._warnings: list[ClaimFinding] = []
        self._warnings_count = 0

    def warnings(self) -> tuple[str, ...]:
        """Return the first warnings, in the words of the rules, which quote no value; and how many more there are."""
        noted = [f"{one.location} (warning): {RULES[one.rule].sentence}" for one in self._warnings]
        if more := self._warnings_count - len(noted):
            count = "1 more warning is" if more == 1 else f"{more} more warnings are"
            noted.append(f"{count} in the findings of the claims.")
        return tuple(noted)

    def limit(self, prepared: PreparedClaim) -> PreparedClaim:
        """Return a claim with the errors that are listed, and one that says how many more there are."""
        judgement = prepared.judgement
        if not judgement.findings:
            return prepared
        if judgement.accepted:
            warnings = [f for f in judgement.findings if f.severity is Severity.WARNING]
            self._warnings_count += count_findings(warnings)
            shown = [f for f in warnings if f.rule != LEFT_OUT]
            self._warnings += shown[: WARNINGS_NOTED_MAX - len(self._warnings)]
        errors = tuple(f for f in judgement.findings if f.severity in self._listed)
        listed = errors[: self._left]
        self._left -= len(listed)
        if len(listed) < len(errors):
            more = count_findings(errors[len(listed) :])
            listed = (*listed, _not_listed(prepared.at, more, is_all=not listed))
        return prepared._replace(judgement=judgement._replace(findings=listed))


def _not_listed(at: str, count: int, *, is_all: bool) -> ClaimFinding:
    errors = "1 error" if count == 1 else f"{count} errors"
    begin = f"This claim has {errors}." if is_all else f"And {errors} more in this claim."
    return ClaimFinding(
        rule=LEFT_OUT,
        location=at,
        message=f"{begin} An answer lists {ERRORS_PER_DOCUMENT_MAX} errors at most: send the claim in a smaller "
        "document to see its errors.",
        count=count,
    )
