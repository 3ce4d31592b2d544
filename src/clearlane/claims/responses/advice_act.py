"""What a payer's answer asks for: the act, as a value that pages and programs choose by, with its sentence.

Knows no code and no page.
"""

from enum import StrEnum
from typing import NamedTuple


class AdviceAct(StrEnum):
    """What to do about a complaint or an adjustment."""

    CORRECT = "correct"
    """Correct the fields named, and send the claim again or as a replacement."""
    NEW_CLAIM = "new_claim"
    """Correct the fields named, and send a new claim: the payer could not process this one."""
    SEND_AGAIN = "send_again"
    """Send the claim again as it is."""
    FIND_FIRST = "find_first_claim"
    """The payer has the claim already: find the first one and its answer."""
    CHECK_PAYER_ORDER = "check_payer_order"
    """Another payer may come first."""
    OTHER_PAYER = "bill_other_payer"
    """Another payer is responsible."""
    NEXT_PAYER = "bill_next_payer"
    """Send the claim with this decision to the payer that comes next."""
    BILL_PATIENT = "bill_patient"
    SEND_RECORDS = "send_records"
    ENROLL = "enroll"
    APPEAL = "appeal"
    WRITE_OFF = "write_off"
    ASK_PAYER = "ask_payer"
    ASK_PATIENT = "ask_patient"
    ASK_OPERATOR = "ask_operator"
    WAIT = "wait"
    NOTHING = "nothing"


CORRECTED = frozenset({AdviceAct.CORRECT, AdviceAct.NEW_CLAIM})
"""Acts that a correction of the claim carries out."""
NOT_SENT_AGAIN = frozenset({AdviceAct.FIND_FIRST, AdviceAct.WAIT, AdviceAct.NOTHING})
"""Acts beside which the claim must not go to the payer once more, corrected or not."""


class Advice(NamedTuple):
    """An act, and the sentence that explains it."""

    act: AdviceAct
    sentence: str
    enclose: tuple[str, ...] = ()
    """What to enclose, of an appeal or of records that go to the payer."""
    patient_bears: bool = False
    """Whether an adjustment of group PR with this reason is the patient's, and the advice is for the other groups."""
