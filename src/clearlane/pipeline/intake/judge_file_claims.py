"""Judge claims of a sender's 837 file, a page at a time, and make the rows that they become. Nothing is stored here.

    seen = SeenClaims()                                          # one for a file
    prepared = await judge_file_claims(context, site, page, now=now, seen=seen)

For the processing of files. The rules are those of every claim, over the view; what a payer and a site set applies. A
payer is found by the id in NM1*PR, in the directory or by an alias of the vendor. A claim that equals an open one of the same site is not accepted: the caller judges
the files of a site one after the other, each after the claims of the last one are stored.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from clearlane.accounts.model import Site
from clearlane.claims.forms import form_of
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.resubmission import ResubmissionTimes
from clearlane.claims.rules import ENROLLED_RULE, RuleInputs
from clearlane.claims.rules.file_claims import check_file_claim, equality_of
from clearlane.claims.rules.settings import with_payer
from clearlane.claims.search_terms import account_term
from clearlane.claims.view import ClaimView
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.clock import to_local, to_micros
from clearlane.kernel.finding import Finding, Severity
from clearlane.kernel.ids import new_number
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import Payer
from clearlane.payers.sender_payers import SenderPayers
from clearlane.pipeline.enrollment.enrollment_lookup import (
    KnownEnrollments,
    WantedEnrollments,
    find_enrollments,
)
from clearlane.pipeline.intake.judge import payer_inputs, resubmission_times
from clearlane.pipeline.intake.prepare_claims import (
    PendingClaim,
    PreparedClaim,
    content_hash,
    prepare_judged,
)
from clearlane.pipeline.payer_lookup import load_sender_payers
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.claim_search import account_key
from clearlane.store.claims.earlier_claims import find_equal
from clearlane.x12.codes.code_editions import CodeLists

EQUAL_CLAIM_DAYS = 30
# A sender may not know the payer's number of what it replaces or voids: the claim is linked by CLM01, payer and patient.
WARNS_ONLY = {"C901": Severity.WARNING}
NEAR_PAYERS_MAX = 3


class FileClaim(NamedTuple):
    """A claim of a file, and what the X12 engine found in it."""

    claim: X12Claim
    findings: tuple[Finding, ...] = ()


@dataclass(slots=True)
class SeenClaims:
    """The accepted claims of a file so far: claim numbers by what makes two claims equal."""

    numbers: dict[str, str] = field(default_factory=dict)


async def judge_file_claims(
    context: WorkContext,
    site: Site,
    page: Sequence[FileClaim],
    *,
    now: datetime,
    seen: SeenClaims,
    numbered_at: datetime | None = None,
    corrects: str = "",
    overruled: Collection[str] = (),
    is_shadow: bool = False,
) -> list[PreparedClaim]:
    """Judge some claims of a file and make their rows, in order.

    ``numbered_at`` is the time in their numbers, ``now`` unless it is given. The numbers sort as the page does, so that rows
    of a file whose pages are numbered one after the other are neighbors in every index of claim numbers.

    For a correction, ``corrects`` is the claim that it takes over from, and ``overruled`` are the rules that a person decided
    to send it in spite of: they warn only. A claim of a shadow file is compared with those of other shadow files alone.
    """
    await context.vault.ensure_key(site.scope)
    claims = [one.claim for one in page]
    # Views are remembered while they are held: what reads values of all claims of a page finds them made.
    views = await context.intake.call_in_background(
        partial(form_of(one).view, one) for one in claims
    )
    lists = await context.intake.codes.complete(
        context.database,
        context.code_lists(),
        claims,
        seconds_max=context.limits.write_seconds_max,
    )
    payers = await load_sender_payers(
        context.database,
        context.payer_access.payers(),
        site.scope,
        {_payer_id(claim) for claim in claims},
    )
    enrollments = await _find_enrollments(context, site, payers, claims)
    equal = await _find_equal(context, site, claims, now, is_shadow=is_shadow)
    # A correction made here names the number, which is known, or waits for it.
    lowered = {} if corrects else WARNS_ONLY
    warnings = {**lowered, **dict.fromkeys(overruled, Severity.WARNING)}
    known = _KnownPayers(context, payers, site, now, lists, warnings)

    def judge(one: FileClaim, view: ClaimView, number: str) -> PreparedClaim:
        claim, findings = one
        inputs, times = known.of(claim)
        form = form_of(claim)
        enrolled = enrollments.get(form.kind)
        if enrolled is not None:
            inputs = enrolled.add_to(inputs, claim, inputs.payer, site.time_zone)
        payer_id = inputs.payer.payer_id if inputs.payer else ""
        content = equality_of(claim, view, payer_id)
        key = content_hash(context.vault, site, content)
        earlier = seen.numbers.get(key) or equal.get(key)
        if earlier is not None and earlier != corrects:
            inputs = replace(inputs, equal_claim=earlier)
        pending = PendingClaim(
            context.vault, site, form, now, "", claim, inputs, times, claim_number=number
        )
        prepared = prepare_judged(pending, check_file_claim(claim, inputs, findings), content)
        if prepared.judgement.accepted:
            seen.numbers.setdefault(key, prepared.row.claim_number)
        return prepared

    numbers = sorted(new_number(numbered_at or now) for _ in page)
    return [
        *await context.intake.call_in_background(
            partial(judge, *each) for each in zip(page, views, numbers, strict=True)
        )
    ]


def _payer_id(claim: X12Claim) -> str:
    return form_of(claim).value(claim, "payer.id") or ""


class _KnownPayers:
    """What rules know of the payers of a page's claims, looked up once a payer."""

    def __init__(
        self,
        context: WorkContext,
        payers: SenderPayers,
        site: Site,
        now: datetime,
        code_lists: CodeLists,
        severities: Mapping[str, Severity],
    ) -> None:
        self._context = context
        self._payers = payers
        self._settings = context.rule_settings()
        self._site = site
        self._now = now
        self._code_lists = code_lists
        self._severities = severities
        self._found: dict[tuple[ClaimKind, str, str], tuple[RuleInputs, ResubmissionTimes]] = {}

    def of(self, claim: X12Claim) -> tuple[RuleInputs, ResubmissionTimes]:
        """Return what rules know of a claim's payer and site, and how old an earlier claim of the payer may be."""
        form = form_of(claim)
        payer = form.view(claim).payer
        key = form.kind, payer.id or "", payer.name or ""
        if key not in self._found:
            inputs = self._look_up(*key)
            times = resubmission_times(self._context, self._now, form.kind, inputs.payer)
            self._found[key] = inputs, times
        return self._found[key]

    def _look_up(self, kind: ClaimKind, payer_id: str, name: str) -> RuleInputs:
        today = to_local(self._now, self._site.time_zone).date()
        sandbox = self._context.sandbox
        known = payer_inputs(self._payers.find, kind, payer_id, today, sandbox=sandbox)
        if known.payer is None and not known.payer_of_other_type:
            near = near_payers(self._payers.directory, kind, payer_id, name)
            known = replace(known, near_payers=near)
        inputs = with_payer(known, known.payer, self._settings, self._site.vendor_site_id)
        return replace(
            inputs,
            code_lists=self._code_lists,
            severities={**inputs.severities, **self._severities},
            sent_unenrolled=ENROLLED_RULE in self._severities,
        )


def near_payers(
    payers: PayerDirectory, kind: ClaimKind, payer_id: str, name: str
) -> tuple[str, ...]:
    """Return the payers of a kind that the sender of an unknown id may mean, by its name and its id."""
    type = KINDS[kind].payer_type

    def takes_claims(payer: Payer) -> bool:
        return payer.type == type and payer.active and payer.accepts_claims

    matches = [
        match.payer
        for words in (name, payer_id)
        if words
        for match in payers.search(words, among=takes_claims, limit=NEAR_PAYERS_MAX)
    ]
    named = [f"{payer.name} ({payer.payer_id})" for payer in matches]
    return tuple(dict.fromkeys(named))[:NEAR_PAYERS_MAX]


async def _find_enrollments(
    context: WorkContext, site: Site, payers: SenderPayers, claims: Sequence[X12Claim]
) -> dict[ClaimKind, KnownEnrollments]:
    """Return the enrollments of the claims' billing providers, by kind; none for a kind whose payers want none."""
    wanted: dict[ClaimKind, WantedEnrollments] = {}
    for claim in claims:
        kind = form_of(claim).kind
        if kind not in wanted:
            wanted[kind] = WantedEnrollments(payers.find, KINDS[kind].payer_type)
        wanted[kind].add(claim)
    found = {}
    for kind, own in wanted.items():
        known = await find_enrollments(
            context.database,
            context.vault,
            own,
            scope=site.scope,
            seconds_max=context.limits.write_seconds_max,
        )
        if known is not None:
            found[kind] = known
    return found


async def _find_equal(
    context: WorkContext,
    site: Site,
    claims: Sequence[X12Claim],
    now: datetime,
    *,
    is_shadow: bool,
) -> dict[str, str]:
    """Return the open claims of the site with the account numbers of these, by what makes two claims equal."""
    accounts = {
        account_key(context.vault, site.vendor_id, account)
        for claim in claims
        if (account := account_term(claim))
    }
    since = to_micros(context.time_ago(now, timedelta(days=EQUAL_CLAIM_DAYS)))
    async with context.database.read(site.scope) as tx:
        return await find_equal(tx, accounts, since=since, is_shadow=is_shadow)
