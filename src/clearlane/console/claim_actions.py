"""What can be done with a claim, and why what cannot be done cannot.

Knows states of claims; does nothing itself.
"""

from dataclasses import dataclass

from clearlane.console.page_request import PageRequest
from clearlane.console.page_text import short_day
from clearlane.kernel.clock import from_micros
from clearlane.pipeline.claim_label import CONCERNS, ClaimLabel, LabelConcern
from clearlane.pipeline.query.claim_history import ClaimHistory
from clearlane.pipeline.query.claim_list import ClaimRow

CORRECTABLE = frozenset(
    {
        ClaimLabel.REJECTED,
        ClaimLabel.DENIED,
        ClaimLabel.PARTLY_DENIED,
        ClaimLabel.TAKEN_BACK,
        # Not sent yet: the correction is sent in its place.
        ClaimLabel.RECEIVED,
        ClaimLabel.HELD,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAction:
    """An entry of the claim's menu: a link, a form, or a reason why it is not possible."""

    title: str
    href: str = ""
    action: str = ""
    """The path of a form that does it."""
    because: str = ""
    """Why it is not possible; empty where it is."""


def claim_actions(
    request: PageRequest, number: str, row: ClaimRow, history: ClaimHistory
) -> list[ClaimAction]:
    """Return the entries of a claim's menu."""
    sent = [one for one in history.sendings if one.delivered_at is not None]
    sent_day = short_day(from_micros(sent[-1].delivered_at or 0).date()) if sent else ""
    has_payment = bool(history.payments)
    path = f"/claims/{number}"
    return [
        ClaimAction(
            title="Explanation of benefits as PDF",
            href=request.url(f"{path}/pdf"),
            because="" if has_payment else "No payment has decided on it yet.",
        ),
        ClaimAction(
            title="Correct and resubmit",
            href=request.url(f"{path}/correct"),
            because=why_not_correct(row, history),
        ),
        ClaimAction(title="Hold", action=f"{path}/hold", because=_why_not_hold(row, sent_day)),
        ClaimAction(
            title="Release",
            action=f"{path}/release",
            because="" if row.label is ClaimLabel.HELD else "It is not held.",
        ),
        ClaimAction(
            title="Cancel before sending",
            action=f"{path}/cancel",
            because=_why_not_cancel(row, sent_day),
        ),
        ClaimAction(title="Cancel at the payer", because=_why_not_void(row, sent_day)),
        ClaimAction(title="Send again unchanged", because=_why_not_again(row, sent_day)),
    ]


def why_not_correct(row: ClaimRow, history: ClaimHistory) -> str:
    """Return why a claim cannot be corrected; empty where it can."""
    if history.successor:
        return f"It was replaced by {history.successor}: correct that one."
    if not row.site.console_corrections:
        return "Claims of this site are corrected in your practice software, not here."
    if row.label in CORRECTABLE:
        return ""
    if CONCERNS[row.label] is LabelConcern.WAIT:
        return "The payer has not answered yet. It can be corrected after the answer."
    return "Nothing in it was refused or denied."


def _why_not_hold(row: ClaimRow, sent_day: str) -> str:
    if sent_day:
        return f"Sent {sent_day}: it cannot be kept back any more."
    return (
        ""
        if row.label is ClaimLabel.RECEIVED
        else "Only a claim that waits to be sent can be held."
    )


def _why_not_cancel(row: ClaimRow, sent_day: str) -> str:
    if sent_day:
        return f"Sent {sent_day}; cancel it at the payer instead."
    waits = row.label in {ClaimLabel.RECEIVED, ClaimLabel.HELD}
    return "" if waits else "It is canceled already."


def _why_not_void(row: ClaimRow, sent_day: str) -> str:
    if not sent_day:
        return "It was not sent yet."
    if row.label is ClaimLabel.REJECTED:
        return "The payer never took it in: there is nothing to cancel."
    return "Send it from your practice software with frequency 8."


def _why_not_again(row: ClaimRow, sent_day: str) -> str:
    if not sent_day:
        return "It leaves with the next file."
    if row.label is ClaimLabel.REJECTED:
        return "It would be refused again: correct it."
    return "The payer has it: a second one would be a duplicate."
