"""Ask the payer about one claim (276), and load what it answered.

    result = await ask_payer(context, number, site=site, actor=actor, now=now)      # AskReceipt, or NotAsked and why
    asks = await list_asks(context, site.scope, number)                             # newest first

Whoever asks, a person or the service by itself, a claim has one open question at a time. Without a person the payer's minimum
age and interval are kept. The engine sends the question, repeats it and follows a failed search; no one need wait. Knows no HTTP.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from clearlane.accounts.model import Site
from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.forms import form_of
from clearlane.claims.inquiry.answer_result import AnswerResult
from clearlane.claims.inquiry.status_answer import (
    StatusAnswer,
    StatusResult,
    status_complaints,
)
from clearlane.claims.inquiry.status_inquiry import (
    QuestionKeys,
    SentNumbers,
    StatusInquiry,
    build_status_inquiry,
)
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.responses.facts import Fact, FactKind
from clearlane.claims.view import ClaimView
from clearlane.connect.connections import PayerRoute
from clearlane.inquiry.inquiry_result import InquiryResult
from clearlane.kernel.clock import from_micros, to_micros
from clearlane.kernel.ids import Scope
from clearlane.pipeline.claim_succession import open_status
from clearlane.pipeline.enrollment.inquiry_enrollment import why_not_asked
from clearlane.pipeline.enrollment.provider_progress import Billing
from clearlane.pipeline.inquiry.ask import ask, inquiry_runner
from clearlane.pipeline.inquiry.asked_claims import note_asked_claims
from clearlane.pipeline.inquiry.inquiry_transaction import WAIT
from clearlane.pipeline.inquiry.status_transaction import CLAIM_STATUS, claim_key, result_of
from clearlane.pipeline.load_claim import (
    LoadedClaim,
    load_claim_in_scope,
    open_header,
    sent_line_controls,
)
from clearlane.pipeline.route_connections import inquiry_routes
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import inquiries
from clearlane.store.claims import claim_history
from clearlane.store.database.database import Actor, Tx
from clearlane.store.inquiries import ANSWERED, BY_FILE, AskedInquiry, trace

if TYPE_CHECKING:
    from clearlane.claims.responses.provenance import Explanation

ASKS_SHOWN_MAX = 50
OPEN_DAYS_MAX = 7
"""How long a question in a file may stay open before another is asked."""

NO_CLAIM = "There is no claim of this number."
NOT_SENT = "The claim was not sent to its payer yet."
NO_ROUTE = "The payer takes no questions about claims (276): none of its routes has 276 among its inquiries."
NO_DAYS = "The claim states no day of service, without which a payer cannot be asked."
TOO_YOUNG = "The claim was sent less than {days} days ago; this payer is asked after that."
TOO_SOON = "The payer was asked less than {days} days ago."
IS_OPEN = "The payer was asked {day:%Y-%m-%d} and has not answered yet."


@dataclass(frozen=True, slots=True)
class NotAsked:
    """Why a payer is not asked."""

    code: str
    """no_claim, not_sent, no_route, not_enrolled, no_days, too_young, too_soon or open."""
    sentence: str


@dataclass(frozen=True, slots=True)
class AskReceipt:
    """A question that was stored and is on its way."""

    inquiry_request_id: int
    claim_number: str
    by_file: bool
    """Whether it goes out in a file, so that the answer comes later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAsk:
    """One question about a claim, and its answer. Failed searches of the same question are not counted."""

    inquiry_request_id: int
    asked_at: datetime
    keys: QuestionKeys
    """What the claim was last searched by."""
    by_file: bool
    answered_at: datetime | None = None
    """None while it is open."""
    outcome: StatusResult = field(default_factory=InquiryResult, repr=False)

    @property
    def is_open(self) -> bool:
        """Whether the payer has not answered yet."""
        return self.answered_at is None

    @property
    def result(self) -> AnswerResult | None:
        """What the answer says; None while there is none."""
        return None if self.is_open else result_of(self.outcome)

    @property
    def answer(self) -> StatusAnswer | None:
        """The payer's answer; None while it is open, and if it failed."""
        return self.outcome.answer

    @property
    def error(self) -> str:
        """Why there is no answer, in sentences; empty otherwise."""
        error = self.outcome.error
        return " ".join(one.message for one in error.errors) if error else ""


@dataclass(frozen=True, slots=True)
class _AskableClaim:
    """A claim with what decides whether, when and how its payer is asked."""

    loaded: LoadedClaim
    status: ClaimStatus | None
    delivered_at: datetime | None
    asks: Sequence[ClaimAsk]


class _AskedAtTheSameTime(Exception):
    """Another call stored a question about the claim after this one had looked."""


async def ask_payer(
    context: WorkContext,
    claim_number: str,
    *,
    site: Site,
    actor: Actor,
    now: datetime,
    by_person: bool = False,
    wait: timedelta | None = None,
) -> AskReceipt | NotAsked:
    """Ask the payer about a claim, unless a reason speaks against it.

    ``wait`` is how long the caller waits for an answer in real time, as :func:`ask_and_wait` does; with None no one does.
    """
    claim = await _load(context, site.scope, claim_number, actor)
    if claim is None:
        return NotAsked("no_claim", NO_CLAIM)
    kind = ClaimKind(claim.loaded.row.kind)
    payer = context.payer_access.payers().find(claim.loaded.row.payer_id, KINDS[kind].payer_type)
    connections = context.payer_access.connections()
    routes = (
        inquiry_routes(connections, payer.type, payer.payer_id, CLAIM_STATUS.inquiry_set)
        if payer
        else []
    )
    if payer is None or not routes:
        return NotAsked("no_route", NO_ROUTE)
    if refusal := _refusal(context, claim, routes[0], now, by_person=by_person):
        return refusal
    view = form_of(claim.loaded.claim).view(claim.loaded.claim)
    if sentence := await why_not_asked(context, site, payer, _billing(view), now):
        return NotAsked("not_enrolled", sentence)
    numbers = _sent_numbers(context, site.scope, claim)
    receiver = context.payer_access.submitter.name
    inquiry = build_status_inquiry(view, numbers, payer=payer, receiver_name=receiver)
    if inquiry.period is None:
        return NotAsked("no_days", NO_DAYS)
    by_file = not inquiry_runner(context).can_reach(
        payer.type, payer.payer_id, CLAIM_STATUS.inquiry_set
    )
    try:
        id = await _ask(context, inquiry, site, actor, now, None if by_file else wait)
    except _AskedAtTheSameTime:
        return NotAsked("open", IS_OPEN.format(day=now))
    return AskReceipt(id, claim_number, by_file)


async def ask_other_payer(
    context: WorkContext,
    claim_number: str,
    view: ClaimView,
    payer_id: str,
    *,
    site: Site,
    actor: Actor,
    now: datetime,
) -> AskReceipt | NotAsked:
    """Ask another payer than its own about a claim: the one that has it from the payer before.

    ``view`` is the claim as that payer knows it. Its answer is recorded on the claim, where no status overrules a payment.
    """
    payer = context.payer_access.payers().find(payer_id, KINDS[view.form.kind].payer_type)
    connections = context.payer_access.connections()
    routes = payer and inquiry_routes(
        connections, payer.type, payer.payer_id, CLAIM_STATUS.inquiry_set
    )
    if payer is None or not routes:
        return NotAsked("no_route", NO_ROUTE)
    if sentence := await why_not_asked(context, site, payer, _billing(view), now):
        return NotAsked("not_enrolled", sentence)
    account = view.account_number or claim_number
    numbers = SentNumbers(claim_number=claim_number, account_number=account)
    receiver = context.payer_access.submitter.name
    inquiry = build_status_inquiry(view, numbers, payer=payer, receiver_name=receiver)
    if inquiry.period is None:
        return NotAsked("no_days", NO_DAYS)
    id = await _ask(context, inquiry, site, actor, now, None)
    by_file = not inquiry_runner(context).can_reach(
        payer.type, payer.payer_id, CLAIM_STATUS.inquiry_set
    )
    return AskReceipt(id, claim_number, by_file)


async def ask_and_wait(
    context: WorkContext,
    claim_number: str,
    *,
    site: Site,
    actor: Actor,
    now: datetime,
    stopping: asyncio.Event,
    wait: timedelta = WAIT,
) -> ClaimAsk | NotAsked:
    """Ask for a person, and wait for the answer of a payer that answers in real time."""
    receipt = await ask_payer(
        context, claim_number, site=site, actor=actor, now=now, by_person=True, wait=wait
    )
    if isinstance(receipt, NotAsked):
        return receipt
    id = receipt.inquiry_request_id
    if not receipt.by_file:
        await inquiry_runner(context).pending_calls.wait(id, now + wait, stopping)
    asks = await list_asks(context, site.scope, claim_number)
    return next(one for one in asks if one.inquiry_request_id == id)


def explain_answer(loaded: LoadedClaim, answer: StatusAnswer) -> list["Explanation"]:
    """Return each status of an answer in words, with the fields of the claim that it concerns."""
    # Here, because it brings the tables of codes and places, which the sending of a question does not need.
    from clearlane.claims.responses import provenance

    fact = Fact(
        kind=FactKind.STATUS, at=answer.created_at, complaints=tuple(status_complaints(answer))
    )
    controls = sent_line_controls(loaded)
    return list(provenance.explain_complaints(fact, loaded.claim, controls))


async def list_asks(context: WorkContext, scope: Scope, claim_number: str) -> list[ClaimAsk]:
    """Return the questions about a claim of the scope, newest first. The caller audits the access."""
    vault = context.vault
    key = claim_key(vault, scope.vendor, claim_number)
    async with context.database.read(scope) as tx:
        rows = await inquiries.list_asked(tx, key, ASKS_SHOWN_MAX)
        sealed = [one.response for one in rows if one.response]
        await vault.load_keys_of(tx, [*(one.inquiry for one in rows), *sealed])
    last = {row.inquiry_request_id: row for row in reversed(rows)}
    return [_open_ask(context, scope, row) for _, row in sorted(last.items(), reverse=True)]


def _open_ask(context: WorkContext, scope: Scope, row: AskedInquiry) -> ClaimAsk:
    """Return a question by its last inquiry: the others were searches that failed."""
    key = trace(row.inquiry_request_id, row.number)
    content = context.vault.open(scope, inquiries.INQUIRIES, key, row.inquiry)
    outcome: StatusResult = InquiryResult()
    if row.response is not None:
        stored = context.vault.open(scope, inquiries.RESPONSES, key, row.response)
        outcome = CLAIM_STATUS.reader.decode(stored)
    is_answered = row.state == ANSWERED and row.answered_at is not None
    return ClaimAsk(
        inquiry_request_id=row.inquiry_request_id,
        asked_at=from_micros(row.created_at),
        keys=CLAIM_STATUS.payload.decode(content).keys,
        by_file=row.mode == BY_FILE,
        answered_at=from_micros(row.answered_at or 0) if is_answered else None,
        outcome=outcome,
    )


def _billing(view: ClaimView) -> Billing:
    return view.billing.npi or "", view.billing.ein or view.billing.ssn or ""


async def _load(
    context: WorkContext, scope: Scope, claim_number: str, actor: Actor
) -> _AskableClaim | None:
    database, vault = context.database, context.vault
    loaded = await load_claim_in_scope(database, vault, scope, claim_number, actor=actor)
    if loaded is None:
        return None
    async with database.read(scope) as tx:
        state = await claim_history.find_state(tx, claim_number)
        sendings = await claim_history.list_sendings(tx, claim_number)
        sealed = [state.status] if state and state.status else []
        await vault.load_keys_of(tx, [*sealed, loaded.row.header])
    status = open_status(vault, state) if state and state.status else None
    moments = [one.delivered_at for one in sendings if one.delivered_at is not None]
    asks = await list_asks(context, scope, claim_number)
    delivered_at = from_micros(max(moments)) if moments else None
    return _AskableClaim(loaded, status, delivered_at, asks)


def _refusal(
    context: WorkContext, claim: _AskableClaim, route: PayerRoute, now: datetime, *, by_person: bool
) -> NotAsked | None:
    """Return why the payer is not asked now; None if it may be."""
    if claim.delivered_at is None:
        return NotAsked("not_sent", NOT_SENT)

    def is_within(moment: datetime, days: int) -> bool:
        return moment > context.time_ago(now, timedelta(days=days))

    last = claim.asks[0] if claim.asks else None
    if last is not None and last.is_open and is_within(last.asked_at, OPEN_DAYS_MAX):
        return NotAsked("open", IS_OPEN.format(day=last.asked_at))
    if by_person:
        return None
    if is_within(claim.delivered_at, route.status_after_days):
        return NotAsked("too_young", TOO_YOUNG.format(days=route.status_after_days))
    if last is not None and is_within(last.asked_at, route.status_every_days):
        return NotAsked("too_soon", TOO_SOON.format(days=route.status_every_days))
    return None


def _sent_numbers(context: WorkContext, scope: Scope, claim: _AskableClaim) -> SentNumbers:
    """Return the numbers that the claim was sent with."""
    row = claim.loaded.row
    header = open_header(context.vault, scope, row.claim_number, row.header)
    account = header.account_number if row.account_as_number else ""
    return SentNumbers(
        claim_number=row.claim_number,
        account_number=account or row.claim_number,
        payer_control_number=claim.status.payer_control_number if claim.status else "",
    )


async def _ask(
    context: WorkContext,
    inquiry: StatusInquiry,
    site: Site,
    actor: Actor,
    now: datetime,
    wait: timedelta | None,
) -> int:
    """Store the question with its event and its line of the history, and start it."""
    key = claim_key(context.vault, site.scope.vendor, inquiry.claim_number)
    open_since = to_micros(context.time_ago(now, timedelta(days=OPEN_DAYS_MAX)))

    async def note(tx: Tx, inquiry_request_id: int) -> None:
        # It locks the claim, so that of several calls at once the later ones see the first one's question.
        await note_asked_claims(tx, site, [inquiry], to_micros(now))
        for one in await inquiries.list_asked(tx, key, ASKS_SHOWN_MAX):
            is_other = one.inquiry_request_id != inquiry_request_id
            if is_other and one.state != ANSWERED and one.created_at > open_since:
                raise _AskedAtTheSameTime

    return await ask(
        context,
        CLAIM_STATUS,
        [inquiry],
        site=site,
        actor=actor,
        now=now,
        note=f"claim {inquiry.claim_number}",
        wait=wait,
        also=note,
    )
