"""Load what is known of the claim for the next payer: the claim, the payer's decision, the draft, and what is still open.

    found = await load_next_claim(context, site, claim_number, actor=actor, now=now)
    found.state, found.questions, found.insurance           # None: the site has no claim of this number
    build_claim(found)                                      # the claim for the next payer, once nothing is open

Loading is for all that show, make or send a draft; deciding is pure. Stores nothing but the audit row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from dataclasses import replace as dataclass_replace
from datetime import datetime
from decimal import Decimal

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.forms import form_of
from clearlane.claims.forms.x12_loops import claim_of_unit
from clearlane.claims.kinds import KINDS
from clearlane.claims.view import ClaimView
from clearlane.claims.write.next_payer import (
    NextInsurance,
    OpenQuestion,
    insurance_of,
    next_payer_at,
    next_payers_claim,
    open_questions,
)
from clearlane.claims.write.write_x12 import sent_claim
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.clock import to_local
from clearlane.payments.payment import ClaimPayment, Payment
from clearlane.pipeline.intake.claim_x12 import outgoing_claim, write_claim_837
from clearlane.pipeline.load_claim import LoadedClaim, load_claim_in_scope
from clearlane.pipeline.other_payer import find_other_payer_id
from clearlane.pipeline.query.payments import load_claim_payments
from clearlane.pipeline.secondary.payer_decision import (
    CLAIM_PAYMENT,
    decision_of,
    forwarded_to,
    is_of_later_payer,
    obstacles,
)
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, Tx, require_row
from clearlane.store.payments import secondary_drafts
from clearlane.store.payments.secondary_drafts import CrossoverStep, DraftRow, DraftState
from clearlane.x12.reader.reader import UnitClosed, read

NOT_DECIDED = OpenQuestion(
    CLAIM_PAYMENT, "The payer has not decided the claim, so the next payer cannot be billed."
)
REPLACED = (
    "The claim was replaced by {number}: the next payer is billed with what is decided of that one."
)
UNKNOWN_PAYER = "The payer list has no payer {id}. Give the id of a payer that takes {kind} claims."


class DraftContent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The sealed content of a draft."""

    answers: NextInsurance = NextInsurance()
    """What a person added or changed."""
    insurance: NextInsurance = NextInsurance()
    questions: tuple[OpenQuestion, ...] = ()


encode_draft = msgspec.json.Encoder().encode
_DRAFT = msgspec.json.Decoder(DraftContent)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondaryDraft:
    """What is known of the claim for the next payer."""

    loaded: LoadedClaim = field(repr=False)
    sent: X12Claim = field(repr=False)
    """The claim before, as its payer got it."""
    row: DraftRow | None
    replaced: DraftRow | None
    """The draft after the claim that this one replaces, if it was sent: what was sent is to be corrected; else None."""
    secondary_claim: str
    """The claim that was sent to the next payer, or the correction of it that is in force; empty if none was sent."""
    answers: NextInsurance = field(repr=False)
    insurance: NextInsurance = field(repr=False)
    questions: tuple[OpenQuestion, ...] = field(repr=False)
    state: DraftState
    forwarded_to: str = field(repr=False)
    payment: Payment | None = field(repr=False)
    paid: ClaimPayment | None = field(repr=False)
    """The claim payment in force; None if there is none."""
    is_only_decision: bool
    """Whether no other claim payment came for the claim, such as a reversal."""
    crossover: CrossoverStep
    today: datetime

    @property
    def claim_number(self) -> str:
        """The number of the claim before."""
        return self.loaded.row.claim_number

    @property
    def view(self) -> ClaimView:
        """The claim before."""
        return form_of(self.sent).view(self.sent)

    @property
    def version(self) -> int:
        """The version of the draft; 0 if there is none."""
        return self.row.version if self.row else 0

    @property
    def is_worth_billing(self) -> bool:
        """Whether the payer left anything to the patient, or denied a part."""
        return self.paid is not None and bool(self.paid.patient or self.paid.denied)


async def load_next_claim(
    context: WorkContext,
    site: Site,
    claim_number: str,
    *,
    actor: Actor,
    now: datetime,
    answers: NextInsurance | None = None,
    crossover: CrossoverStep | None = None,
) -> SecondaryDraft | None:
    """Return what is known of the claim after a claim of the site; None if there is no such claim. Audited.

    ``answers`` is what a person adds to what the claim and the draft say of the next insurance; ``crossover`` what is done
    now about a next payer that does not answer.
    """
    database, vault = context.database, context.vault
    loaded = await load_claim_in_scope(database, vault, site.scope, claim_number, actor=actor)
    if loaded is None:
        return None
    paid = await load_claim_payments(database, vault, claim_number, actor=actor) or []
    async with database.read(site.scope) as tx:
        row = await secondary_drafts.find_draft(tx, claim_number)
        replaced = None
        if row is None or not row.secondary_claim:
            replaced = await secondary_drafts.find_replaced_draft(tx, claim_number)
        drafts = [one for one in (row, replaced) if one is not None]
        await vault.load_keys_of(tx, [one.payload for one in drafts if one.payload is not None])
        sent_after = replaced.claim_number if replaced else claim_number
        sent = await secondary_drafts.find_link_after(tx, sent_after)
        is_decided = any(one.in_force for _, one in paid)
        replacement = "" if is_decided else await _replacement(tx, claim_number)
    given = next((_answers(context, site, one) for one in drafts if one.payload), NextInsurance())
    given = given.with_answers(answers) if answers else given
    local = to_local(now, site.time_zone)
    found = _decide(context, loaded, row, replaced, given, paid, local, crossover, replacement)
    return dataclass_replace(found, secondary_claim=sent.claim_number) if sent else found


async def _replacement(tx: Tx, claim_number: str) -> str:
    """Return the number of the claim that is in force in place of this one; empty if it is itself."""
    link = await secondary_drafts.find_link(tx, claim_number)
    number = (
        claim_number
        if link is None
        else (await secondary_drafts.find_in_force(tx, link)).claim_number
    )
    return "" if number == claim_number else number


def _answers(context: WorkContext, site: Site, draft: DraftRow) -> NextInsurance:
    """Return what people added to a draft."""
    number, payload = draft.claim_number, require_row(draft.payload, "the content of a draft")
    opened = context.vault.open(site.scope, secondary_drafts.TABLE, number, payload)
    return _DRAFT.decode(opened).answers


def _decide(
    context: WorkContext,
    loaded: LoadedClaim,
    row: DraftRow | None,
    replaced: DraftRow | None,
    answers: NextInsurance,
    paid: Sequence[tuple[Payment, ClaimPayment]],
    now: datetime,
    step: CrossoverStep | None,
    replacement: str,
) -> SecondaryDraft:
    sent = _as_sent(context, loaded, now)
    view = form_of(sent).view(sent)
    insurance, questions = _insurance(context, loaded, answers)
    payment, in_force = next(
        ((payment, one) for payment, one in reversed(paid) if one.in_force), (None, None)
    )
    undecided = (
        OpenQuestion(CLAIM_PAYMENT, REPLACED.format(number=replacement))
        if replacement
        else NOT_DECIDED
    )
    in_the_way = (undecided,) if in_force is None else obstacles(in_force, view)
    forwarded = forwarded_to(in_force) if in_force else ""
    is_same = row is not None and in_force is not None and _tells_of(row, in_force)
    kept = CrossoverStep(row.crossover) if row is not None and is_same else CrossoverStep.NONE
    crossover = kept if step is None else step
    return SecondaryDraft(
        loaded=loaded,
        sent=sent,
        row=row,
        replaced=replaced,
        secondary_claim=next((one for one in map(_secondary, (row, replaced)) if one), ""),
        answers=answers,
        insurance=insurance,
        questions=(*in_the_way, *questions),
        state=DraftState.TO_CORRECT
        if replaced is not None and in_force is not None
        else _state(
            row,
            in_force,
            is_forwarded=bool(forwarded) and crossover is not CrossoverStep.UNANSWERED,
            is_open=bool(in_the_way or questions),
        ),
        forwarded_to=forwarded,
        payment=payment,
        paid=in_force,
        is_only_decision=len(paid) == 1,
        crossover=crossover,
        today=now,
    )


def _secondary(row: DraftRow | None) -> str:
    return (row and row.secondary_claim) or ""


def _tells_of(row: DraftRow, paid: ClaimPayment | None) -> bool:
    """Return whether a draft was made from this claim payment, or without one."""
    return row.claim_payment_id == (paid.claim_payment_id if paid else "")


WAITED = frozenset({DraftState.FORWARDED, DraftState.ANSWERED})


def _state(
    row: DraftRow | None, paid: ClaimPayment | None, *, is_forwarded: bool, is_open: bool
) -> DraftState:
    """Return what becomes of a draft. What was sent stays sent until the payer before changes its decision."""
    if row is not None and row.secondary_claim:
        return DraftState.SENT if _tells_of(row, paid) else DraftState.TO_CORRECT
    if paid is None:
        return DraftState.WITHDRAWN if row is not None and row.claim_payment_id else DraftState.OPEN
    is_crossover = row is not None and (row.state in WAITED or row.crossover)
    if is_crossover and is_of_later_payer(paid):
        return DraftState.ANSWERED
    if is_forwarded:
        return DraftState.FORWARDED
    return DraftState.OPEN if is_open else DraftState.READY


def _insurance(
    context: WorkContext, loaded: LoadedClaim, answers: NextInsurance
) -> tuple[NextInsurance, tuple[OpenQuestion, ...]]:
    """Return what is known of the next insurance, and what is not. The claim may name its payer without an id."""
    payers, claim = context.payer_access.payers(), loaded.claim
    kind = form_of(claim).kind
    view = form_of(claim).view(claim)
    known = insurance_of(view)
    # One that has decided already is not the next: only another insurance has its payer looked up by name.
    found = None if next_payer_at(view) is None else find_other_payer_id(payers, claim)
    if found:
        known = msgspec.structs.replace(known, payer_id=found)
    if answers.payer_id and answers.payer_id != known.payer_id:
        # Another payer than the claim names: nothing that the claim says of that one holds.
        known = NextInsurance()
    known = known.with_answers(answers)
    payer = payers.find(known.payer_id, KINDS[kind].payer_type) if known.payer_id else None
    if payer is not None:
        known = msgspec.structs.replace(known, payer_name=known.payer_name or payer.name)
        return known, open_questions(known, kind)
    questions = open_questions(known, kind)
    if known.payer_id:
        sentence = UNKNOWN_PAYER.format(id=known.payer_id, kind=kind)
        questions = (OpenQuestion("payer_id", sentence), *questions)
    return known, questions


def _as_sent(context: WorkContext, loaded: LoadedClaim, now: datetime) -> X12Claim:
    """Return a claim as its payer got it, as segments."""
    row, claim = loaded.row, loaded.claim
    if isinstance(claim, X12Claim):
        return sent_claim(
            outgoing_claim(
                context,
                claim,
                number=row.claim_number,
                payer_id=row.payer_id,
                account_as_number=False,
            )
        )
    content = write_claim_837(
        context,
        claim,
        number=row.claim_number,
        payer_id=row.payer_id,
        account_as_number=row.account_as_number,
        now=now,
    )
    unit = next(one for one in read(content, check=False) if isinstance(one, UnitClosed))
    return claim_of_unit(unit)


def build_claim(found: SecondaryDraft) -> X12Claim:
    """Return the claim for the next payer. Nothing may be open.

    The insurance takes the place of the one that the claim names next, also if a person named another payer: the field is
    corrected. The day of the decision is never ahead of today: an 835 may be dated on the day of its payment, and payers
    refuse a decision (DTP*573) that has not been made yet.
    """
    paid = require_row(found.paid, "the claim payment")
    payment = require_row(found.payment, "the payment of a claim payment")
    day = payment.production_date or payment.effective_date or found.today.date()
    view = found.view
    return next_payers_claim(
        found.sent,
        found.insurance,
        decision_of(paid, min(day, found.today.date())),
        replaces=next_payer_at(view),
        number=found.claim_number,
        vendor_claim_id=found.loaded.vendor_claim_id,
        patient_paid=view.patient_paid or Decimal(0),
    )
