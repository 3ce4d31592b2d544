"""Read one claim's part of an 835 into views, which show all that the payer said of the claim.

Knows the views of an 835; knows no claim that was sent.
"""

from clearlane.x12.views import read_views
from clearlane.x12.views.remittance import RemittanceClaimView, RemittanceView


def read_claim_part(part: bytes) -> tuple[RemittanceView, RemittanceClaimView]:
    """Return the payment and the claim of a part of an 835. ValueError if it holds no claim payment."""
    sets = (one.view for interchange in read_views(part) for one in interchange.sets)
    found = next((view for view in sets if isinstance(view, RemittanceView)), None)
    paid = next(found.claims, None) if found else None
    if found is None or paid is None:
        raise ValueError("the part holds no claim payment")
    return found, paid
