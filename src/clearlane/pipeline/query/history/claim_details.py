"""One claim as programs see it, over the service and on its machine."""

from clearlane.claims.finding import ClaimFinding, path_in_claim
from clearlane.kernel.clock import from_micros, micros_text, moment_text
from clearlane.payments.as_json import claim_payment_object, series_object
from clearlane.pipeline.query.history.claim_history import ClaimHistory, HistoryEntry, IdRelation
from clearlane.pipeline.query.payments import matched_claim_payments
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.database.database import Database
from clearlane.store.vault.vault import Vault


async def details_object(
    database: Database, vault: Vault, history: ClaimHistory
) -> dict[str, object]:
    """Return what one claim shows beside what lists show of it."""
    paid = await matched_claim_payments(database, vault, history.payments)
    return {
        "also_billed_as": [
            one.claim_number for one in history.related if one.relation is IdRelation.ALSO_BILLED_TO
        ],
        "series": series_object(history.series),
        "findings": [finding_object(one) for one in (*history.loaded.findings, *history.findings)],
        "history": [history_object(one) for one in history.entries],
        "batches": [
            {
                "id": one.batch_id,
                "batch_id": one.batch_id,
                "file": one.name,
                "state": one.state,
                "created_at": micros_text(one.created_at),
                "delivered_at": micros_text(one.delivered_at),
            }
            for one in history.sendings
        ],
        "documents": [document_object(one) for one in history.documents],
        "payments": [
            claim_payment_object(one) | {"payment_id": row.claim_payment.payment_id}
            for row, one in zip(history.payments, paid, strict=True)
        ],
    }


def finding_object(finding: ClaimFinding) -> dict[str, object]:
    """Return a finding; its field is that of the claim, wherever the claim was in its document."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "field": path_in_claim(finding.location),
        "message": finding.message,
        "act": finding.act or None,
    }


def history_object(entry: HistoryEntry) -> dict[str, object]:
    """Return one entry of a claim's history."""
    return {
        "happened_at": moment_text(entry.at),
        "event": entry.headline,
        "file": entry.file or None,
        "document_id": entry.document_id or None,
        "sentences": list(entry.sentences),
        "findings": [finding_object(one) for one in entry.findings],
    }


def document_object(document: StoredDocument) -> dict[str, object]:
    """Return a payer's answer about a claim, as lists show it."""
    return {
        "id": document.document_id,
        "document_id": document.document_id,
        "type": document.kind,
        "claim_number": document.claim_number,
        "created_at": moment_text(from_micros(document.created_at)),
    }
