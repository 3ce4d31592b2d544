"""Two claims that were sent, C1 and C2, and what their payer states of them."""

from clearlane.claims.responses import acks
from clearlane.claims.write import sent_layout
from clearlane.payments import read_835
from tests.claims.answers import outgoing, paid, patient, payment, sent, status

FILE = sent(outgoing("C1"), outgoing("C2"))
FIRST = paid(
    "C1", "1", "100", "80", "SVC*HC:99213:25*100*80**1", "DTM*472*20261001", "CAS*CO*45*15", "CAS*PR*3*5",
    "REF*6R*C1-1", "LQ*HE*N130", share="5",
)  # fmt: skip
SECOND = paid("C2", "4", "100", "0", "CAS*CO*29*100", payer_number="P2")
REMITTANCE = payment(FIRST, SECOND, amount="60", plb=["PLB*1234567893*20261231*WO:C9*20"])
BOTH = status(
    patient("C1", "A2:20:PR*20261102*WQ*100"),
    patient("C2", "A7:562:85*20261102*U*100", name="LUND*IVO"),
)


def facts_in(content):
    """What an acknowledgement or status file states of the two."""
    for one in acks.read(content):
        layout = (
            sent_layout.read_layout(FILE, positions=one.reference.positions)
            if one.reference
            else None
        )
        yield from acks.derive_facts(one, layout)


def remits(content):
    """The claim payments of an 835."""
    return [one for one in read_835.read(content) if isinstance(one, read_835.ClaimPaymentLoop)]
