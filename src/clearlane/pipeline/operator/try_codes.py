"""Try an edition of a code list over stored claims: which use codes that end, and which refusals would go.

    trial = await start_trial(context, new, rows, since=day, actor=actor)
    await work_on_trials(context)                 # a tick of every node; nothing is changed but the trial's row

A claim that was accepted is *ending* if a code that the edition ends makes it fail by the edition, whatever its day of service: it
stands for the claims to come. A code ends that is valid until the edition begins, or by the list in force on the days of the
edition, and is not valid by the edition. A claim that was not accepted is *passing* if the edition takes an error from it on its
own day of service. Claims are read in the order of their numbers, a few hundred at a time, while few claims
are submitted. Most state no code that changes, which the text of a claim shows at once; only the others are judged.
"""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from datetime import time as day_time
from typing import NamedTuple

from clearlane.claims.fields import Claim
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.read.decode import restore_claim
from clearlane.claims.rules import RuleInputs, check
from clearlane.claims.rules.file_claims import check_file_claim
from clearlane.claims.rules.settings import with_payer
from clearlane.claims.x12_claim import X12Claim
from clearlane.code_files.columns import CodeRow
from clearlane.engine.workflows import WorkSteps
from clearlane.kernel.finding import Severity
from clearlane.kernel.ids import Scope, SiteId, VendorId, first_number, random_text
from clearlane.pipeline.load_claim import open_claim_content
from clearlane.pipeline.operator.import_codes import NewEdition, loaded_edition
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_pages, claims
from clearlane.store.claims.claim_pages import PageClaim
from clearlane.store.claims.claims import NOT_ACCEPTED
from clearlane.store.database.database import Actor, OperationRefused
from clearlane.store.installation import code_lists, code_trials
from clearlane.store.installation.code_lists import CODES_IN_MEMORY_MAX
from clearlane.store.installation.code_trials import (
    DONE,
    ENDING,
    PASSING,
    CodeTrial,
    NewTrial,
    TrialProgress,
)
from clearlane.x12.codes.code_editions import CodeEdition, CodeLists, Days, EditionCode, combine
from clearlane.x12.codes.dated_codes import DatedCodes

NAME, EVERY_SECONDS = "code-trials", 5
CLAIMS_AT_ONCE = 200
SAVE_SECONDS = 1.0
CALM_SECONDS = 0.5
CLAIMS_KEPT_MAX = 10_000
"""How many claim numbers of each change a trial keeps; it counts all."""
CODES_KEPT_MAX = 1_000
HOLDER_CHARACTERS = 8
# Before the first day of service of any claim: in the list for claims that are ending, the edition holds on all days.
EARLIEST_DAY = date(1990, 1, 1)
TRIED_LISTS = frozenset(
    {"carc", "cdt", "cpt", "hcpcs", "hipps", "icd-10-cm", "icd-10-pcs", "taxonomy"}
)
"""Lists whose codes are in a claim as they are in the list, so that a text tells which claims to judge."""

_WORDS = re.compile(rb"[0-9A-Z_]+")


async def start_trial(
    context: WorkContext,
    new: NewEdition,
    rows: Iterable[CodeRow],
    *,
    since: date,
    actor: Actor,
    force: bool = False,
    show: Callable[[], None] = lambda: None,
) -> CodeTrial:
    """Load an edition from a publisher's file and begin its trial over the claims that came since a day."""
    if new.list not in TRIED_LISTS:
        raise OperationRefused(
            f"{new.list} cannot be tried: claims do not state its codes. Lists that can: {', '.join(sorted(TRIED_LISTS))}."
        )
    first = first_number(datetime.combine(since, day_time(), UTC))
    last = first_number(context.clock.now())
    async with context.database.read(code_trials.SCOPE) as tx:
        total = await claim_pages.count_between(tx, after=first, before=last)
    async with loaded_edition(
        context.database, new, rows, actor=actor, force=force, show=show
    ) as loaded:
        if await code_lists.count_codes(context.database, loaded.id) > CODES_IN_MEMORY_MAX:
            raise OperationRefused(
                f"{new.source} has more than {CODES_IN_MEMORY_MAX:,} codes, too many to be tried."
            )
        return await code_trials.begin_trial(
            context.database, NewTrial(loaded.id, first, last, total, since), actor=actor
        )


async def trial_tick(context: WorkContext, steps: WorkSteps) -> None:
    """Work on an open trial that no other run has."""
    await work_on_trials(context)


async def work_on_trials(context: WorkContext) -> int:
    """Work on open trials until no one is free; return how many were ended."""
    ended = 0
    while True:
        holder = f"{context.node}-{random_text(HOLDER_CHARACTERS)}"
        trial = await code_trials.lease_trial(context.database, holder, actor=context.actor)
        if trial is None:
            return ended
        if await _work_on(context, trial):
            await code_trials.end_trial(context.database, trial.id, DONE, actor=context.actor)
            ended += 1


async def _work_on(context: WorkContext, trial: CodeTrial) -> bool:
    """Read the rest of the claims of a trial; return whether all are read and the trial is still this run's."""
    loaded = await code_lists.load_codes(context.database, trial.edition)
    if loaded is None:
        return True
    # A command has the lists of the package only; a trial compares with what is in force.
    now = await code_lists.load_code_lists(context.database, only=trial.list)
    lists = await asyncio.to_thread(trial_lists, now, *loaded)
    state = _TrialState.resume(trial)
    saved_at = time.monotonic()
    while True:
        page = await _read_page(context, state.through, trial.last_number)
        _judge_page(context, lists, page, state)
        is_last = len(page) < CLAIMS_AT_ONCE
        if is_last or time.monotonic() - saved_at >= SAVE_SECONDS:
            if not await code_trials.save_progress(
                context.database, trial, state.take_progress(), actor=context.actor
            ):
                return False
            saved_at = time.monotonic()
        if is_last:
            return True
        # Callers and their claims go first.
        await asyncio.sleep(0 if context.intake.priority.is_calm else CALM_SECONDS)


async def _read_page(context: WorkContext, after: str, before: str) -> list[PageClaim]:
    async with context.database.read(code_trials.SCOPE) as tx:
        page = await claim_pages.list_page(tx, after=after, before=before, limit=CLAIMS_AT_ONCE)
        await context.vault.load_keys_of(tx, [one.payload for one in page])
    return page


@dataclass(slots=True)
class _TrialState:
    """What a run has counted, and the claims that it has not saved yet."""

    through: str
    counts: Counter[str]
    codes: Counter[str]
    found: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def resume(cls, trial: CodeTrial) -> "_TrialState":
        """Return the state from which a trial goes on."""
        counts = Counter({"read": trial.read, ENDING: trial.ending, PASSING: trial.passing})
        return cls(trial.through, counts, Counter(json.loads(trial.codes)))

    def add(self, change: str, claim_number: str) -> None:
        """Count a claim, and keep its number if there are not too many."""
        self.counts[change] += 1
        if self.counts[change] <= CLAIMS_KEPT_MAX:
            self.found.append((change, claim_number))

    def take_progress(self) -> TrialProgress:
        """Return what is to be saved, and forget the claims found."""
        found, self.found = self.found, []
        codes = json.dumps(dict(self.codes.most_common(CODES_KEPT_MAX)))
        counts = self.counts
        return TrialProgress(
            self.through, counts["read"], counts[ENDING], counts[PASSING], codes, found
        )


class TrialLists(NamedTuple):
    """The lists that claims are judged by, and the codes for which it matters."""

    now: CodeLists
    ending: CodeLists
    """With the edition on all days, as it is on its first: for claims to come."""
    passing: CodeLists
    """With the edition on its own days."""
    ended: frozenset[str] | None
    """The codes that end; None if no list is in force yet, and every claim is judged."""
    begun: frozenset[str]
    """The codes that are valid on a day on which the list in force says that they are not."""


def trial_lists(now: CodeLists, edition: CodeEdition, rows: Sequence[EditionCode]) -> TrialLists:
    """Return the lists of a trial: those in force, and the same with the edition."""
    first, last = edition.first_day, edition.last_day
    known = now.find(edition.list)
    tried = combine(known, [(edition, rows)])
    # For claims to come: what is valid on the first day of the edition is so on all days, what comes later on its own.
    coming = [row for row in rows if (row.last_day or last) >= first]
    at_first = {row.code for row in coming if (row.first_day or first) <= first}
    always = [
        row._replace(first_day=None, last_day=None) if row.code in at_first else row
        for row in coming
    ]
    ended: frozenset[str] | None = None
    begun: frozenset[str] = frozenset()
    if known is not None:
        eve = known.nearest_day(first - timedelta(days=1))
        before = {code for code, period in known if period.overlaps(eve, eve)}
        # On other days the list in force refuses nothing.
        days = [
            (max(first, begin), min(last, end))
            for begin, end in known.days
            if begin <= last and first <= end
        ]
        ended = frozenset(before - at_first | _lost(known, tried, days))
        begun = frozenset(_lost(tried, known, days))
    return TrialLists(
        now,
        now.with_asked(
            {edition.list: combine(known, [(edition._replace(first_day=EARLIEST_DAY), always)])}
        ),
        now.with_asked({edition.list: tried}),
        ended,
        begun,
    )


def _lost(from_list: DatedCodes, to_list: DatedCodes, days: Sequence[Days]) -> set[str]:
    """Return the codes of a list that are not valid by another on all days, of these, on which they are by the first."""
    return {
        code
        for code, period in from_list
        for begin, end in days
        if period.overlaps(begin, end)
        and not to_list.is_valid_throughout(
            code, max(begin, period.first_day), min(end, period.last_day)
        )
    }


def _judge_page(
    context: WorkContext, lists: TrialLists, page: Sequence[PageClaim], state: _TrialState
) -> None:
    """Compare the findings of the claims that state a code which changes."""
    payers, settings = context.payer_access.payers(), context.rule_settings()
    sites = {site.id: site.vendor_site_id for site in context.accounts().sites}
    known = RuleInputs(today=context.clock.now().date(), sandbox=context.sandbox)
    for row in page:
        scope = Scope(VendorId(row.vendor_id), SiteId(row.site_id))
        opened = context.vault.open(scope, claims.TABLE, row.claim_number, row.payload)
        content = bytes(open_claim_content(opened).claim)
        was_accepted = row.state != NOT_ACCEPTED
        wanted = lists.ended if was_accepted else lists.begun
        stated = stated_codes(content, wanted) if wanted is not None else frozenset[str]()
        if stated or wanted is None:
            payer = payers.find(row.payer_id, KINDS[ClaimKind(row.kind)].payer_type)
            inputs = with_payer(known, payer, settings, sites.get(SiteId(row.site_id), ""))
            claim = restore_claim(row.form, content)
            before = _errors(claim, inputs, lists.now)
            after = _errors(claim, inputs, lists.passing)
            if was_accepted and (_errors(claim, inputs, lists.ending) | after) - before:
                state.add(ENDING, row.claim_number)
                state.codes.update(stated)
            elif not was_accepted and before - after:
                state.add(PASSING, row.claim_number)
        state.through = row.claim_number
    state.counts["read"] += len(page)


def stated_codes(content: bytes, wanted: frozenset[str]) -> frozenset[str]:
    """Return which of some codes the text of a claim holds, with or without dots."""
    words = _WORDS.findall(content.upper().replace(b".", b""))
    return wanted.intersection(word.decode() for word in set(words))


def _errors(claim: Claim, inputs: RuleInputs, lists: CodeLists) -> set[tuple[str, str]]:
    known = replace(inputs, code_lists=lists)
    if isinstance(claim, X12Claim):
        findings = [*check_file_claim(claim, known).findings]
    else:
        findings, _ = check(claim, known)
    return {(one.rule, one.location) for one in findings if one.severity is Severity.ERROR}
