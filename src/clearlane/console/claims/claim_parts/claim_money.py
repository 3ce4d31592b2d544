"""The money of a claim's lines in columns, and of the claims to all its payers in rows.

What the patient owes by kind, what was written off, and what was denied. Knows adjustments; knows no page.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from clearlane.claims.responses.provenance import Explanation
from clearlane.console.frame.page_text import CENTS, money
from clearlane.console.payments.payment_words import method_noun
from clearlane.kernel.claim_label import LABEL_WORDS, ClaimLabel
from clearlane.payments.payment import ClaimPayment, LineAdjustment, PaidLine, Payment
from clearlane.pipeline.secondary.payer_chain import PayerChain, place_of
from clearlane.store.payments.secondary_drafts import DraftState

PATIENT_COLUMNS = {"1": "deductible", "2": "coinsurance", "3": "copay"}
"""The column of what the patient owes (group PR), by reason."""
EARLIER_PAYERS = "23"
"""The reason of what payers before paid and adjusted (OA-23): no one writes it off."""
COLUMN_TITLES = {
    "deductible": "Deductible",
    "coinsurance": "Coinsurance",
    "copay": "Copay",
    "other": "Patient owes else",
    "write_off": "Write-off",
    "denied": "Denied",
}


ADJUSTMENTS_NAMED_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentInForce:
    """The claim payment in force on a claim, for one sentence about it."""

    payment_id: str
    number: str
    """The check or transfer, as the bank calls it."""
    day: date | None
    paid: int
    owes: str
    """What the patient owes, by kind; empty for nothing."""
    forwarded_to: str = ""
    """The next payer, if this one passed the claim on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMoney:
    """One line's amounts in cents, each adjustment in one column."""

    line: PaidLine = field(repr=False)
    deductible: int = 0
    coinsurance: int = 0
    copay: int = 0
    write_off: int = 0
    denied: int = 0
    other: int = 0
    """What the patient owes for another reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyTable:
    """The lines of a claim payment, and the sums of the columns."""

    lines: Sequence[LineMoney]
    total: dict[str, int]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The columns beside charge, allowed and paid in which some line has an amount: name and title."""
        return [(name, title) for name, title in COLUMN_TITLES.items() if self.total[name]]


def money_table(claim_payment: ClaimPayment) -> MoneyTable:
    """Return the lines of a claim payment with their amounts in columns."""
    lines = [
        LineMoney(line=one, **_columns(one.adjustments, denied=one.paid == 0))
        for one in claim_payment.lines
    ]
    return MoneyTable(
        lines=lines,
        total={name: sum(getattr(one, name) for one in lines) for name in COLUMN_TITLES},
    )


def _columns(adjustments: Iterable[LineAdjustment], *, denied: bool) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in adjustments:
        column = "write_off"
        if one.denial and denied:
            column = "denied"
        elif one.group == "PR":
            column = PATIENT_COLUMNS.get(one.reason, "other")
        found[column] = found.get(column, 0) + one.amount
    return found


def claim_payment_in_force(
    claim_payments: Sequence[tuple[Payment, ClaimPayment]],
) -> PaymentInForce | None:
    """Return the last claim payment in force; None if no payment has decided, or what it paid was taken back."""
    in_force = [(payment, one) for payment, one in claim_payments if one.in_force]
    if not in_force:
        return None
    payment, claim_payment = in_force[-1]
    return PaymentInForce(
        payment_id=payment.payment_id,
        number=f"{method_noun(payment)} {payment.trace_number}".strip(),
        day=payment.effective_date or payment.production_date,
        paid=claim_payment.paid,
        owes=_owed(claim_payment),
        forwarded_to=claim_payment.forwarded_to,
    )


def _owed(claim_payment: ClaimPayment) -> str:
    """Return what the patient owes: ``25.00 copay``, or the sum and its kinds."""
    total = money_table(claim_payment).total
    kinds = [f"{money(total[name])} {name}" for name in PATIENT_COLUMNS.values() if total[name] > 0]
    if not claim_payment.patient:
        return ""
    if len(kinds) == 1 and not total["other"]:
        return kinds[0]
    whole = money(claim_payment.patient)
    return f"{whole}: {', '.join(kinds)}" if kinds else whole


# ---- the claims to all payers of one service ----------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRow:
    """A payer of a service, and the claim to it; amounts are cents."""

    place: str
    """Primary, secondary, and so on."""
    payer: str
    number: str = ""
    """The claim; empty while it is a draft."""
    label: str = ""
    charge: int = 0
    paid: int = 0
    patient: int = 0
    is_decided: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainTable:
    """The claims to all payers of one service, and what is left to the patient."""

    rows: Sequence[ChainRow]
    patient_paid: int
    balance: int | None
    """What the patient owes after the last payer that decided; None before any did."""

    @property
    def is_shown(self) -> bool:
        """Whether there is more than one payer."""
        return len(self.rows) > 1


DRAFT_WORDS: Mapping[str, str] = {
    DraftState.NEW: "Is being drafted",
    DraftState.FAILED: "Could not be drafted",
    DraftState.OPEN: "To be billed: something is asked",
    DraftState.READY: "To be billed",
    DraftState.FORWARDED: "Forwarded by the payer before",
    DraftState.ANSWERED: "Answered by itself",
}
"""Where the claim that comes next stands, while it is a draft. One that is withdrawn is no part of the chain."""


def chain_table(chain: PayerChain, payer_name: Callable[[str], str]) -> ChainTable:
    """Return the claims to all payers as rows, the draft of the next one last."""
    decided = {one.claim_number for one in chain.decided}
    rows = [
        ChainRow(
            place=place_of(at),
            payer=payer_name(one.payer_id),
            number=one.claim_number,
            label=LABEL_WORDS[ClaimLabel(one.label)],
            charge=one.total_cents,
            paid=one.paid_cents,
            patient=one.patient_cents,
            is_decided=one.claim_number in decided,
        )
        for at, one in enumerate(chain.links)
    ]
    draft = chain.draft
    if draft is not None and draft.state in DRAFT_WORDS:
        payer = payer_name(draft.payer_id) if draft.payer_id else ""
        words = DRAFT_WORDS[draft.state]
        rows.append(ChainRow(place=place_of(len(rows)), payer=payer, label=words))
    return ChainTable(rows=rows, patient_paid=chain.patient_paid, balance=chain.patient_balance)


def adjustment_words(explained: Sequence[Explanation]) -> str:
    """Return adjustments with nothing to do, summed: ``CO-45 write-off 20.00``; empty if some are not adjustments, or many."""
    sums: dict[str, int] = {}
    for one in explained:
        sums[one.code] = sums.get(one.code, 0) + int((one.amount or 0) * CENTS)
    if len(sums) > ADJUSTMENTS_NAMED_MAX or any(one.source != "835" for one in explained):
        return ""
    return ", ".join(f"{code} {_adjustment_noun(code)} {money(of)}" for code, of in sums.items())


def _adjustment_noun(code: str) -> str:
    group, _, reason = code.partition("-")
    if group == "PR":
        return PATIENT_COLUMNS.get(reason, "patient owes")
    return "settled by earlier payers" if reason == EARLIER_PAYERS else "write-off"
