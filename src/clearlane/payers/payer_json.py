"""A payer as programs see it, over the service and on its machine."""

from clearlane.payers.edits import takes_institutional
from clearlane.payers.enrolled_transactions import ERA_SENTENCES, enrolled_transactions
from clearlane.payers.model import Payer

ERAS = {
    "Available": "available",
    "RequiresEnrollment": "requires_enrollment",
    "NotAvailable": "not_available",
}


def payer_object(payer: Payer) -> dict[str, object]:
    """Return a payer."""
    return {
        "id": payer.payer_id,
        "payer_id": payer.payer_id,
        "svc_payer_id": payer.svc_payer_id,
        "national_payer_id": payer.national_payer_id or None,
        "institutional_payer_id": payer.institutional_payer_id or None,
        "type": payer.type.lower(),
        "name": payer.name,
        "aliases": list(payer.aliases),
        "accepts_claims": payer.accepts_claims and payer.has_route,
        "accepts_institutional_claims": takes_institutional(payer) and payer.has_route,
        "claim_enrollment_required": payer.claim_enrollment_required,
        "enrollments": [one.value for one in enrolled_transactions(payer)],
        "era": ERAS[payer.era_availability],
        "era_reason": ERA_SENTENCES[payer.era_availability],
        "eligibility": payer.offers_eligibility,
        "replacements": payer.replacements == "accepted",
        "test": payer.is_test,
    }
