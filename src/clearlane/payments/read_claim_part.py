"""Read one claim's part of an 835 into views, which show all that the payer said of the claim.

Knows the views of an 835; knows no claim that was sent.
"""

from clearlane.x12 import tree
from clearlane.x12.reader import reader
from clearlane.x12.reader.received_guides import CLAIM_LOOP, choose_guide
from clearlane.x12.views.original import SeparatorRestorer
from clearlane.x12.views.remittance import (
    CLAIM,
    RemittanceClaimView,
    RemittanceView,
    view_remittance,
)


def read_claim_part(part: bytes) -> tuple[RemittanceView, RemittanceClaimView]:
    """Return the payment and the claim of a part of an 835. ValueError if it holds no claim payment."""
    for set in reader.parse(part, check=False, choose_guide=choose_guide).sets():
        if set.guide is not None and set.guide.kind == "835":
            found = view_remittance(set)
            paid = next(found.claims, None) or _claim_without_group(set)
            if paid is not None:
                return found, paid
    raise ValueError("the part holds no claim payment")


def _claim_without_group(set: tree.TransactionSet) -> RemittanceClaimView | None:
    loop = set.root.loop(CLAIM_LOOP)
    if loop is None:
        return None
    claim: RemittanceClaimView = CLAIM(loop)
    return SeparatorRestorer(set.group.interchange.delimiters).restore(claim)
