"""Claims of senders' files, for the tests of what becomes of them."""

from typing import Any

from clearlane.claims.forms.x12_loops import TRANSACTIONS, claim_of_unit
from clearlane.claims.write.claim_context import OutgoingClaim
from clearlane.claims.write.write_x12 import payer_id_of
from clearlane.claims.x12_claim import X12Claim
from clearlane.x12.reader.reader import Reader, UnitClosed
from tests.corpus import OWN

VISITS = OWN / "837P" / "visit_and_second_payer.x12"
CROWN = OWN / "837D" / "fillings_and_crown.x12"


def units_in(data: bytes) -> list[UnitClosed]:
    """Return the claims of a file as the reader closes them when a site sends it."""
    reader = Reader(decode=True)
    return [
        event
        for event in (*reader.feed(data), *reader.finish())
        if isinstance(event, UnitClosed)
        and event.set.guide
        and event.set.guide.kind in TRANSACTIONS
    ]


def claims_in(data: bytes) -> list[X12Claim]:
    """Return the claims of a file as they are stored."""
    return [claim_of_unit(unit) for unit in units_in(data)]


def sent(claims: list[X12Claim], **more: Any) -> list[OutgoingClaim]:
    """Return claims on their way to the payers that they name."""
    return [
        OutgoingClaim(claim=claim, number=f"C{at:018}", **{"payer_id": payer_id_of(claim), **more})
        for at, claim in enumerate(claims, 1)
    ]
