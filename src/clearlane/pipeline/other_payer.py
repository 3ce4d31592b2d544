"""Find the other payer of a claim, whom the claim only names, in the directory."""

from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.claims.kinds import KINDS
from clearlane.claims.x12_claim import X12Claim
from clearlane.payers.directory import PayerDirectory


def find_other_payer_id(payers: PayerDirectory, claim: Claim) -> str | None:
    """Return the id of the claim's other payer; empty if the directory has none of its name, None if it names none.

    A claim of a file states the ids of its other payers, which are sent as they are.
    """
    if isinstance(claim, X12Claim):
        return None
    form = form_of(claim)
    name = form.other_payer_name(claim)
    if name is None:
        return None
    payer = payers.find_by_name(name, KINDS[form.kind].payer_type)
    return payer.payer_id if payer else ""
