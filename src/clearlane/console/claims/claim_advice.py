"""The act that a claim asks for, from what its payer said last or from its label, as the page's main button.

    advice = claim_advice(row, history)
    advice.act, advice.sentence            # AdviceAct.APPEAL, "Appeal with records that show the need ..."

Knows labels and explanations; knows no page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clearlane.claims.responses.advice_act import AdviceAct
from clearlane.claims.responses.provenance import Explanation
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.pipeline.intake.resend_rules import IDLE, explanations, is_fixable
from clearlane.pipeline.query.claim_list import ClaimRow
from clearlane.pipeline.query.history.claim_history import ClaimHistory

LABEL_ACTS: Mapping[ClaimLabel, AdviceAct] = {
    ClaimLabel.RECEIVED: AdviceAct.WAIT,
    ClaimLabel.SENT: AdviceAct.WAIT,
    ClaimLabel.ACCEPTED: AdviceAct.WAIT,
    ClaimLabel.IN_PROCESS: AdviceAct.WAIT,
    ClaimLabel.FORWARDED: AdviceAct.WAIT,
    ClaimLabel.NOT_ACCEPTED: AdviceAct.CORRECT,
    ClaimLabel.REJECTED: AdviceAct.CORRECT,
    ClaimLabel.WANTS_RECORDS: AdviceAct.SEND_RECORDS,
    ClaimLabel.DENIED: AdviceAct.ASK_PAYER,
    ClaimLabel.PARTLY_DENIED: AdviceAct.ASK_PAYER,
    ClaimLabel.TAKEN_BACK: AdviceAct.ASK_PAYER,
    ClaimLabel.PAID_DIFFERS: AdviceAct.ASK_PAYER,
}
"""The act of a claim whose payer gave no reason, by label; nothing for the other labels."""
OWING = frozenset({ClaimLabel.PATIENT_OWES, ClaimLabel.PAID})
"""Labels of claims on which something of group PR may be left to bill."""
SHARE_ACTS = frozenset({AdviceAct.BILL_PATIENT, AdviceAct.NEXT_PAYER, AdviceAct.ASK_PAYER})


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAdvice:
    """What a claim asks for: the act, its sentence, and what to enclose."""

    act: AdviceAct
    sentence: str = ""
    enclose: tuple[str, ...] = ()
    explanation: Explanation | None = None


def claim_advice(row: ClaimRow, history: ClaimHistory) -> ClaimAdvice:
    """Return the act that a claim asks for."""
    if history.successor:
        return ClaimAdvice(act=AdviceAct.NOTHING)
    if row.no_answer:
        return ClaimAdvice(act=AdviceAct.ASK_PAYER)
    said = explanations(history)
    asking = [one for one in said if is_fixable(one, row.label)]
    if not asking and row.label in OWING:
        asking = [one for one in said if one.code.startswith("PR-") and one.act in SHARE_ACTS]
        # One act for what the patient is said to owe: if parts of it differ, none of them is offered.
        asking = asking if len({one.act for one in asking}) == 1 else []
    return first_advice(asking) or ClaimAdvice(act=LABEL_ACTS.get(row.label, AdviceAct.NOTHING))


def first_advice(asking: Sequence[Explanation]) -> ClaimAdvice | None:
    """Return the advice of the first explanation that asks for something; None if there is none."""
    found = next((one for one in asking if one.act not in IDLE), asking[0] if asking else None)
    if found is None:
        return None
    return ClaimAdvice(act=found.act, sentence=found.todo, enclose=found.enclose, explanation=found)


def row_act(row: ClaimRow) -> AdviceAct:
    """Return the act that a listed claim asks for."""
    if row.is_replaced:
        return AdviceAct.NOTHING
    if row.no_answer:
        return AdviceAct.ASK_PAYER
    said = row.reason.explanation
    return said.act if said else LABEL_ACTS.get(row.label, AdviceAct.NOTHING)
