"""Explain the label of a claim in one line: the first thing to fix, or the sentence for it.

The console, v1, the CLI and exports show the same reasons. Knows facts and payers' documents; knows no page.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.lifecycle import ClaimState
from clearlane.claims.responses import provenance
from clearlane.claims.responses.explain_findings import (
    OWN_SOURCE,
    explain_findings,
    finding_reason,
    rule_reason,
)
from clearlane.claims.responses.facts import Fact, FactKind, StatusVerdict
from clearlane.claims.responses.payer_words import short_reason
from clearlane.claims.responses.provenance import Explanation
from clearlane.kernel.claim_label import STOPPED_LABELS, ClaimLabel
from clearlane.payments.claim_payment_label import is_denial, is_forwarded
from clearlane.payments.model import ClaimPaymentFact
from clearlane.payments.read_claim_part import read_claim_part
from clearlane.pipeline.load_claim import LoadedClaim, sent_line_controls
from clearlane.pipeline.stored_facts import AnyFact, open_document_source
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.vault.vault import Vault

REFUSALS = frozenset({FactKind.CLAIM_REFUSED, FactKind.SET_REFUSED, FactKind.TA1_REFUSED})
NEXT_PAYER = "the next payer"
CENTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimReason:
    """Why a claim is where it is: the first thing to fix, or the sentence for it."""

    text: str = field(repr=False)
    """What claims of one cause have in common."""
    detail: str = field(default="", repr=False)
    """What is so with this claim alone; empty if the text says it."""
    cause: str = ""
    """What claims of one cause have in common: source, code and field; empty if there is nothing to fix."""
    explanation: Explanation | None = field(default=None, repr=False)

    @property
    def of_claim(self) -> str:
        """The reason as the row of this claim shows it."""
        return self.detail or self.text


def explain_label(
    vault: Vault,
    label: ClaimLabel,
    load: Callable[[], LoadedClaim],
    status: ClaimStatus | None,
    known: Sequence[AnyFact],
    kept: Mapping[str, StoredDocument],
    *,
    is_replaced: bool = False,
    forwarded_to: str = "",
) -> ClaimReason:
    """Return the reason of a claim's label in one line; the claim is opened only for a label that needs it."""
    if label in STOPPED_LABELS:
        return _own_reason(load())
    if label is ClaimLabel.SHADOW:
        return ClaimReason(text="Of a shadow file: judged, and never sent")
    if label in {ClaimLabel.REJECTED, ClaimLabel.WANTS_RECORDS}:
        return _refusal_reason(load(), known)
    if label in {ClaimLabel.DENIED, ClaimLabel.PARTLY_DENIED}:
        return _denial_reason(vault, load(), known, kept)
    text = _plain_reason(label, status, is_replaced=is_replaced)
    if forwarded_to:
        text = f"{text}, forwarded to {forwarded_to}" if text else f"Forwarded to {forwarded_to}"
    return ClaimReason(text=text)


ENROLLMENT_REASON = ClaimReason(text="Kept back until the payer has enrolled the provider")
"""Of a held claim that awaits an enrollment."""


def silence_reason(state: str, since: datetime) -> ClaimReason:
    """Return the reason of a claim whose payer is silent."""
    words = {ClaimState.SENT: "Sent", ClaimState.ACKNOWLEDGED: "Accepted"}
    words_of_state = words.get(ClaimState(state), "In process")
    text = f"{words_of_state} {since:%b} {since.day}, nothing since"
    return ClaimReason(text=text, cause="no answer")


def find_refusal(known: Sequence[AnyFact]) -> Fact | None:
    """Return the last statement by which a payer refused a claim, or asked for something."""
    refusals = [
        fact
        for fact in known
        if isinstance(fact, Fact)
        and (
            fact.kind in REFUSALS
            or (
                fact.kind is FactKind.STATUS
                and (fact.verdict is StatusVerdict.REJECTED or _wants_records(fact))
            )
        )
    ]
    return max(refusals, key=lambda fact: (fact.at, fact.serial), default=None)


def _wants_records(fact: Fact) -> bool:
    return any(code.category.startswith("R") for code in fact.codes)


def _refusal_reason(loaded: LoadedClaim, known: Sequence[AnyFact]) -> ClaimReason:
    refusal = find_refusal(known)
    if refusal is None:
        return ClaimReason(text="The payer rejected it.")
    controls = sent_line_controls(loaded)
    found = list(provenance.explain_complaints(refusal, loaded.claim, controls))
    # What names a field can be fixed here, so it comes first.
    found.sort(key=lambda one: not one.fields)
    return to_reason(found[0]) if found else ClaimReason(text="The payer rejected it.")


def _own_reason(loaded: LoadedClaim) -> ClaimReason:
    """Return the first error of our own check; those of fields come first, because they can be fixed."""
    found = explain_findings(loaded.claim, loaded.findings)
    found.sort(key=lambda one: not one.fields)
    return to_reason(found[0]) if found else ClaimReason(text="Clearlane did not accept it.")


def payment_in_force(known: Sequence[AnyFact]) -> ClaimPaymentFact | None:
    """Return the latest claim payment that takes nothing back."""
    paid = [fact for fact in known if isinstance(fact, ClaimPaymentFact) and not fact.is_reversal]
    return max(paid, key=lambda fact: (fact.at, fact.serial, fact.order), default=None)


def find_next_payer(
    vault: Vault, known: Sequence[AnyFact], kept: Mapping[str, StoredDocument]
) -> str:
    """Return to whom the payer forwarded a claim, by name or in words; empty if it did not. Opens only what says so."""
    payment = payment_in_force(known)
    if payment is None or not is_forwarded(payment.status_code):
        return ""
    document = kept.get(payment.document_id)
    if document is None:
        return NEXT_PAYER
    _, paid = read_claim_part(open_document_source(vault, document).part)
    return (paid.forwarded_to.name if paid.forwarded_to else "") or NEXT_PAYER


def explain_payment(
    vault: Vault, loaded: LoadedClaim, payment: ClaimPaymentFact, kept: Mapping[str, StoredDocument]
) -> list[Explanation]:
    """Return the adjustments of a claim payment in words, denials first."""
    document = kept.get(payment.document_id)
    if document is None:
        return []
    _, paid = read_claim_part(open_document_source(vault, document).part)
    found = provenance.explain_adjustments(paid, loaded.claim, sent_line_controls(loaded))
    return sorted(found, key=lambda one: not is_denied(one))


def is_denied(explanation: Explanation) -> bool:
    """Return whether an adjustment denies payment."""
    group, _, reason = explanation.code.partition("-")
    return is_denial(group, reason, int((explanation.amount or 0) * CENTS))


def _denial_reason(
    vault: Vault,
    loaded: LoadedClaim,
    known: Sequence[AnyFact],
    kept: Mapping[str, StoredDocument],
) -> ClaimReason:
    payment = payment_in_force(known)
    found = explain_payment(vault, loaded, payment, kept) if payment else []
    return to_reason(found[0]) if found else ClaimReason(text="The payer gave no reason.")


def to_reason(explanation: Explanation) -> ClaimReason:
    """Return an explanation as the reason in one line: the box and its name, then what is wrong."""
    place = explanation.fields[0] if explanation.fields else None
    field_name = place.path.rpartition(".")[2] if place else ""
    field_name = field_name.partition(" (")[
        0
    ]  # an element of a file, without the number of its segment
    is_own = explanation.source == OWN_SOURCE
    if is_own:
        field_name = field_name.partition("[")[0]  # one rule about any of the values
    return ClaimReason(
        text=rule_reason(explanation) if is_own else short_reason(explanation),
        detail=finding_reason(explanation) if is_own else "",
        cause=" ".join(filter(None, (explanation.source, explanation.code, field_name))),
        explanation=explanation,
    )


def _plain_reason(label: ClaimLabel, status: ClaimStatus | None, *, is_replaced: bool) -> str:
    """Return the sentence of a claim with nothing to fix."""
    if status is None:
        return ""
    day = status.decided_day or status.state_changed_day
    on_day = f"{day:%b} {day.day}"
    sentences = {
        ClaimLabel.RECEIVED: "Leaves with the next file",
        ClaimLabel.HELD: "Kept back until it is released",
        ClaimLabel.CANCELED: f"Taken back {on_day}, never sent",
        ClaimLabel.SENT: f"Sent {on_day}",
        ClaimLabel.TO_RESEND: f"The payer refused the whole file {on_day}: the operator sees to it, nothing to do",
        ClaimLabel.ACCEPTED: f"Accepted {on_day}",
        ClaimLabel.IN_PROCESS: f"In process since {on_day}",
        ClaimLabel.TAKEN_BACK: f"The payment was taken back {on_day}"
        + ("" if is_replaced else "; no correction yet"),
        ClaimLabel.PREDETERMINED: "An estimate: nothing was billed",
        ClaimLabel.NOTICE_ACCEPTED: f"The payer accepted the notice {on_day}",
        ClaimLabel.NOTHING_DUE: "Nothing is due from anyone",
        ClaimLabel.VOIDED: "The payer canceled the earlier claim, as asked"
        if status.is_void
        else "The payer canceled it, as asked",
        ClaimLabel.REPLACED: "The payer decided on the claim that replaces it",
        ClaimLabel.PAID_DIFFERS: "The payer's figures do not add up",
        ClaimLabel.PATIENT_OWES: f"Patient owes {_money(status.patient_cents)}: not a denial",
    }
    if label is ClaimLabel.PAID:
        if status.payer_cents == status.total_cents:
            return "Paid in full"
        less = (
            f" less write-off {_money(status.adjustment_cents)}" if status.adjustment_cents else ""
        )
        return f"Paid{less}"
    return sentences.get(label, "")


def _money(cents: int) -> str:
    return f"{cents // CENTS:,}.{cents % CENTS:02}"
