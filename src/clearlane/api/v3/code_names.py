"""V3's names of X12 codes in answers. The rest of the code has the codes themselves.

A code that a table does not have is shown as it is, so that nothing a payer stated is lost.
"""

from collections.abc import Mapping

from clearlane.claims.lifecycle import ClaimState, PayerDocumentKind

CURRENT_STATES: Mapping[ClaimState, str] = {
    ClaimState.RECEIVED: "Received",
    ClaimState.SENT: "Sent",
    ClaimState.ACKNOWLEDGED: "Acknowledged",
    ClaimState.PENDING: "Pending",
    ClaimState.REJECTED: "Rejected",
    ClaimState.COMPLETE: "Complete",
    # V3 knows no claims that are held or canceled.
    ClaimState.HELD: "Received",
    ClaimState.CANCELED: "Rejected",
}

DOCUMENT_TYPES: Mapping[PayerDocumentKind | None, str] = {
    PayerDocumentKind.PAYMENT: "RemittanceAdvice",
    PayerDocumentKind.STATUS: "ClaimStatus",
    None: "",
}

STATUS_ACTIONS: Mapping[str, str] = {
    "A0": "AcknowledgementForwarded",
    "A1": "AcknowledgementReceipt",
    "A2": "AcknowledgementAcceptanceIntoAdjudicationSystem",
    "A3": "AcknowledgementReturnedAsUnprocessableClaim",
    "A4": "AcknowledgementNotFound",
    "A5": "AcknowledgementSplitClaim",
    "A6": "AcknowledgementRejectedForMissingInformation",
    "A7": "AcknowledgementRejectedForInvalidInformation",
    "A8": "AcknowledgementRejectedForRelationalFieldInError",
    "D0": "DataSearchUnsuccessful",
    "E0": "ResponseNotPossibleErrorOnSubmittedRequestData",
    "E1": "ResponseNotPossibleSystemStatus",
    "E2": "InformationHolderIsNotResponding",
    "E3": "CorrectionRequiredRelationalFieldsInError",
    "E4": "TradingPartnerAgreementSpecificRequirementNotMet",
    "F0": "Finalized",
    "F1": "FinalizedPayment",
    "F2": "FinalizedDenial",
    "F3": "FinalizedRevised",
    "F3F": "FinalizedForwarded",
    "F3N": "FinalizedNotForwarded",
    "F4": "FinalizedAdjudicationCompleteNoPaymentForthcoming",
    "F5": "FinalizedCannotProcess",
    "P0": "PendingAdjudicationDetails",
    "P1": "PendingInProcess",
    "P2": "PendingPayerReview",
    "P3": "PendingProviderRequestedInformation",
    "P4": "PendingPatientRequestedInformation",
    "P5": "PendingPayerAdministrativeSystemHold",
    "R0": "RequestsForAdditionalInformationGeneral",
    "R1": "RequestsForAdditionalInformationEntity",
    "R3": "RequestsForAdditionalInformationClaimLine",
    "R4": "RequestsForAdditionalInformationDocumentation",
    "R5": "RequestsForAdditionalInformationMoreSpecificDetail",
}
"""``PayerAction`` of each status category (STC01-1)."""

PAYMENT_ACTIONS: Mapping[str, str] = {
    "1": "ProcessedAsPrimary",
    "2": "ProcessedAsSecondary",
    "3": "ProcessedAsTertiary",
    "4": "Denied",
    "19": "ProcessedAsPrimaryForwardedToAdditionalPayer",
    "20": "ProcessedAsSecondaryForwardedToAdditionalPayer",
    "21": "ProcessedAsTertiaryForwardedToAdditionalPayer",
    "22": "ReversalOfPreviousPayment",
    "23": "NotOurClaimForwardedToAdditionalPayer",
    "25": "PredeterminationPricingOnlyNoPayment",
}
"""``PayerAction`` of each claim payment status (CLP02)."""

PAYMENT_METHODS: Mapping[str, str] = {
    "ACH": "Ach",
    "BOP": "FinancialInstitutionOption",
    "CHK": "Check",
    "FWT": "WireTransfer",
    "NON": "NonPayment",
}
"""``PaymentMethod`` of each BPR04."""


def payer_action(status_category: str, payment_status: str = "") -> str:
    """Return ``PayerAction``: that of a claim payment, else that of a status, else empty."""
    if payment_status:
        return PAYMENT_ACTIONS.get(payment_status, payment_status)
    return STATUS_ACTIONS.get(status_category, status_category)


def payment_method(code: str) -> str | None:
    """Return ``PaymentMethod``; None if there is no payment."""
    return PAYMENT_METHODS.get(code, code) or None
