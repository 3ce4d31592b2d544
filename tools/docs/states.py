"""Write the reference page about states of claims, enrollments and files, from the tables that move them.

The meaning of each state is written here: a state without one stops the build.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tools.docs.markdown import grid, part


def states_page() -> Iterator[str]:
    """Write the states and how they change."""
    from clearlane.api.v3.code_names import CURRENT_STATES
    from clearlane.claims import lifecycle
    from clearlane.enrollment import lifecycle as enrollment_lifecycle

    yield "# States"
    yield from part(
        "A claim",
        "v1, events and commands show the state as `state`, in these words. V3 shows it as `CurrentState`, in words of its "
        "own (second column). What people read is the [label](#labels-of-claims). A newer fact never loses to an older one that comes late, and a fact "
        "that comes twice counts once. A pair of state and event that is not here changes nothing.",
        "![The lifecycle of a claim](../pictures/claim-life.svg)",
    )
    yield "```mermaid"
    yield lifecycle.diagram().rstrip()
    yield "```"
    yield ""
    yield from grid(
        ["State", "V3", "Meaning"],
        [
            [f"`{state}`", f"`{CURRENT_STATES[state]}`", CLAIM_STATES[state.value]]
            for state in lifecycle.ClaimState
        ],
    )
    yield ""
    yield from _transitions(lifecycle.ClaimState, lifecycle.ClaimEvent, lifecycle.NEXT)
    yield from _claim_labels()
    yield from _payer_actions()
    yield from _payment_states()
    yield from part(
        "An enrollment with one payer",
        "With a payer for which no one has acted, an enrollment is submitted. "
        "[How to move it](../how-to/enrollment.md).",
        "![The lifecycle of an enrollment](../pictures/enrollment-life.svg)",
    )
    yield from _transitions(
        enrollment_lifecycle.EnrollmentState,
        enrollment_lifecycle.EnrollmentEvent,
        enrollment_lifecycle.NEXT,
    )
    yield from _files()


def _claim_labels() -> Iterator[str]:
    """Write the labels of claims in the order in which they are decided (``pipeline.claim_label``)."""
    from clearlane.claims.claim_filters import AWAITED_BY_TAB, CLAIM_TABS
    from clearlane.kernel.claim_label import CONCERNS, LABEL_WORDS, ClaimLabel

    if set(CLAIM_LABELS) != {label.value for label in ClaimLabel}:
        raise ValueError("CLAIM_LABELS must explain every label of a claim, and nothing else")
    yield from part(
        "Labels of claims",
        "One word for state and payment: `label` in v1, events, commands and CSV files, and what the console shows in "
        "words. The first row that applies decides. The filter `label` takes these words, and `tab` the words of the last "
        "column.",
    )
    yield from grid(
        ["Label", "In words", "When", "Who acts", "Tabs"],
        [
            [
                f"`{label}`",
                LABEL_WORDS[label],
                when,
                CONCERN_WORDS[CONCERNS[label].value],
                ", ".join(
                    f"`{tab}`"
                    for tab, labels in CLAIM_TABS.items()
                    if label in labels and tab not in AWAITED_BY_TAB
                ),
            ]
            for label, when in ((ClaimLabel(name), when) for name, when in CLAIM_LABELS.items())
        ],
    )


CONCERN_WORDS = {
    "act": "The biller must act",
    "late": "Late or unsure: look",
    "wait": "On its way",
    "good": "Money agreed",
    "done": "Closed",
}
CLAIM_LABELS = {
    "shadow": "It came in a shadow file, and our rules found no error. It is never sent.",
    "shadow_not_accepted": "It came in a shadow file, and our rules found errors. It is never sent.",
    "not_accepted": "Our rules found errors. It was never sent.",
    "replaced": "Another claim took its place, and it was not voided.",
    "no_answer": "It was sent, and its payer did not answer in time; a person looks at it.",
    "to_be_sent_again": "Its state is `rejected`: the payer refused the whole file (TA1). The operator acts.",
    "rejected": "Its state is `rejected`, for any other reason: 999, 277CA or 277.",
    "voided": "Its void was carried out; also of the void itself.",
    "paid_differs": "The payment in force is `paid`, and its sums do not agree.",
    "predetermined": "The payment in force is a predetermination (CLP02 25).",
    "taken_back": "The payment in force was taken back.",
    "forwarded": "The payer passed the claim on to the next payer.",
    "denied": "The payment in force denies the claim.",
    "partly_denied": "The payment in force pays, and denies at least one line.",
    "patient_owes": "The payment in force pays nothing; the patient owes the rest.",
    "nothing_due": "The payment in force pays nothing, and nothing is due from anyone.",
    "paid": "The payment in force pays, and denies no line.",
    "notice_accepted": "No payment, and its state is `complete`: it is a notice that the payer accepted.",
    "wants_records": "No payment, and the payer asks for records (a status category that begins with R).",
    "received": "No payment, and its state is `received`.",
    "held": "No payment, and its state is `held`.",
    "canceled": "No payment, and its state is `canceled`.",
    "sent": "No payment, and its state is `sent`.",
    "accepted": "No payment, and its state is `acknowledged`.",
    "in_process": "No payment, and its state is `pending`.",
}


def _payment_states() -> Iterator[str]:
    from clearlane.kernel.claim_label import ClaimLabel
    from clearlane.payments.payment import ClaimPaymentType, PaymentState

    yield from part(
        "A payment",
        "One check or transfer of an 835. [How to read it](../how-to/payments.md).",
    )
    yield from grid(
        ["State", "Meaning"], [[f"`{one}`", PAYMENT_STATES[one.value]] for one in PaymentState]
    )
    yield ""
    yield from grid(
        ["Type of a claim payment", "Meaning"],
        [[f"`{one}`", CLAIM_PAYMENT_TYPES[one.value]] for one in ClaimPaymentType],
    )
    yield ""
    yield from grid(
        ["Label", "Meaning"],
        [[f"`{one}`", LABELS[one.value]] for one in ClaimLabel if one.value in LABELS],
    )


PAYMENT_STATES = {
    "posted": "Its claims were recorded, and it needs no attention.",
    "needs_review": "It does not balance, a claim in it does not, claims in it match none of ours, or it resembles another.",
    "duplicate": "The same payment came before; this one does not count.",
}
CLAIM_PAYMENT_TYPES = {
    "original": "What the payer decided first about the claim.",
    "reversal": "It takes back an earlier one (CLP02 22); its amounts are negative.",
    "correction": "It follows a reversal, or replaces an earlier one that was not reversed.",
}
LABELS = {
    "predetermined": "CLP02 25: pricing only.",
    "taken_back": "CLP02 22, or an amount below zero.",
    "forwarded": "CLP02 23; or 19 to 21 with nothing paid and nothing denied.",
    "denied": "CLP02 4; or nothing paid and any reason other than PR-1, PR-2, PR-3, CO-45, CO-24 and OA-23.",
    "partly_denied": "Something paid, and a line with nothing paid and such a reason.",
    "patient_owes": "Nothing paid; PR-1, PR-2 or PR-3, and no reason that denies.",
    "nothing_due": "Nothing paid; at most CO-45, CO-24 and OA-23.",
    "voided": "For a void: nothing paid, whatever the reason, or the earlier claim taken back. The claim that it cancels has it too.",
    "replaced": "A claim without a payment in force whose replacement was decided.",
    "paid": "Something paid, and no line denied.",
}
CLAIM_STATES = {
    "received": "Stored, not sent; or it is not known whether it was sent.",
    "sent": "Delivered to the payer; no answer yet except that the file was taken.",
    "acknowledged": "The payer took it into its work.",
    "pending": "The payer is working on it or wants information; or a payment was taken back.",
    "rejected": "By TA1, 999, 277CA or 277. It counts for nothing and may be sent again.",
    "complete": "There is a remittance, which may be a denial; or its void or replacement was decided.",
    "held": "Kept back by the vendor or a person until it is released.",
    "canceled": "Taken back before it was sent; its claim id is free.",
}


BATCH_STATES = {
    "ready": "Its bytes, name and control numbers are stored; it waits to be sent.",
    "sending": "On its way, or its arrival is being looked up.",
    "in_doubt": "It is not known whether it arrived: "
    "[find out](../how-to/undelivered.md), then `resend` or `mark-delivered`.",
    "delivered": "The payer has it.",
}


def _transitions(states: Any, events: Any, table: Mapping[Any, Any]) -> Iterator[str]:
    yield from grid(
        ["Event", *(str(state) for state in states)],
        [[event, *(table.get((state, event), "") for state in states)] for event in events],
    )


def _payer_actions() -> Iterator[str]:
    from clearlane.api.v3.code_names import PAYMENT_ACTIONS, STATUS_ACTIONS

    yield from part(
        "PayerAction",
        "The status category before there is a remittance, the claim status of the remittance after.",
    )
    yield from grid(
        ["Code", "PayerAction", "From"],
        [[f"`{code}`", f"`{name}`", "277CA or 277"] for code, name in STATUS_ACTIONS.items()]
        + [[f"`{code}`", f"`{name}`", "835"] for code, name in PAYMENT_ACTIONS.items()],
    )


def _files() -> Iterator[str]:
    from clearlane.claims import batch_lifecycle
    from clearlane.store.delivery import inbox

    yield from part(
        "A batch: a file to a payer",
        "See `clearlane batch list`. A pair of state and event that is not here is refused.",
        "![The lifecycle of a batch](../pictures/batch-life.svg)",
    )
    yield from grid(
        ["State", "Meaning"],
        [[f"`{state}`", BATCH_STATES[state.value]] for state in batch_lifecycle.BatchState],
    )
    yield ""
    yield from _transitions(
        batch_lifecycle.BatchState, batch_lifecycle.BatchEvent, batch_lifecycle.NEXT
    )
    yield from part("A file from a payer", "See `clearlane inbox list`.")
    words = {
        inbox.STORED: "Kept as received; waits to be posted.",
        inbox.APPLIED: "Everything it states was recorded on its claims.",
        inbox.PARKED: "Applied, except for statements about claims that are not known here.",
        inbox.QUARANTINED: "It cannot be read; the reason is shown.",
        inbox.DISCARDED: "Put aside by a person.",
    }
    yield from grid(
        ["State", "Meaning"], [[f"`{state}`", meaning] for state, meaning in words.items()]
    )
