"""The transactions for which a payer may require that a provider is enrolled. Knows no enrollment and no database."""

from collections.abc import Mapping
from enum import StrEnum

from clearlane.payers.model import Payer

ERA_FOR_ENROLLED = "RequiresEnrollment"
"""The ERA availability of a payer that sends 835s to enrolled providers only."""

ERA_SENTENCES: Mapping[str, str] = {
    "Available": "Sends ERAs (835) to every provider.",
    ERA_FOR_ENROLLED: "Sends ERAs (835) to providers that are enrolled for them.",
    "NotAvailable": "Sends no ERAs (835): its remittances come on paper or on its portal.",
}
"""Whether a payer sends ERAs, whoever the provider is, by its ERA availability."""


class EnrolledTransaction(StrEnum):
    """What a provider is enrolled for."""

    CLAIMS = "claims"
    ERA = "era"
    ELIGIBILITY = "eligibility"
    CLAIM_STATUS = "claim_status"


TRANSACTION_WORDS: Mapping[EnrolledTransaction, str] = {
    EnrolledTransaction.CLAIMS: "claims",
    EnrolledTransaction.ERA: "ERA",
    EnrolledTransaction.ELIGIBILITY: "eligibility",
    EnrolledTransaction.CLAIM_STATUS: "claim status",
}


def enrolled_transactions(payer: Payer) -> tuple[EnrolledTransaction, ...]:
    """Return the transactions for which a payer requires enrollment."""
    claims = (EnrolledTransaction.CLAIMS,) if payer.claim_enrollment_required else ()
    era = (EnrolledTransaction.ERA,) if payer.era_availability == ERA_FOR_ENROLLED else ()
    return (*claims, *era, *map(EnrolledTransaction, payer.inquiry_enrollments))
