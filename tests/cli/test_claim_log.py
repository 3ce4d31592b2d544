"""The log of a claim is its history and its audit rows in the order of time."""

from datetime import UTC, datetime
from types import SimpleNamespace

from clearlane.cli.claim.claim_log import log_entries
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.query.history.claim_history import HistoryEntry
from clearlane.store.audit.audit_search import AuditRow
from clearlane.store.events.webhooks import DeliveryRow

DAY = [datetime(2031, 5, day, 12, tzinfo=UTC) for day in range(1, 5)]


def a_row(at: datetime, action: str, detail: str = "") -> AuditRow:
    return AuditRow(1, to_micros(at), 1, 1, "vendor:FERNHILL", action, "r1", ("C1",), None, detail)


def test_history_and_audit_are_one_list_in_order():
    history = SimpleNamespace(
        entries=[
            HistoryEntry(DAY[0], "Received"),
            HistoryEntry(DAY[2], "277CA: accepted", file="277.x12", sentences=("A2",)),
        ]
    )
    trail = [a_row(DAY[3], "claim.read"), a_row(DAY[1], "claim.hold", "by phone")]
    found = log_entries(history, trail)
    assert [(one.source, one.what) for one in found] == [
        ("history", "Received"),
        ("audit", "A claim was held: by phone"),
        ("history", "277CA: accepted"),
        ("audit", "A claim was looked at"),
    ]
    assert [one.id for one in found] == ["", "r1", "277.x12", "r1"]
    assert (found[1].by, found[2].sentences) == ("vendor:FERNHILL", ("A2",))


def test_what_webhooks_were_sent_is_in_its_place():
    history = SimpleNamespace(entries=[HistoryEntry(DAY[0], "Received")])
    sent = DeliveryRow(
        "E1", 7, "claim.paid", "C1", "delivered", 2, None, to_micros(DAY[2]), 200, "", None
    )
    failed = sent._replace(
        event_id=8, state="failed", attempts=1, status=None, fault="it does not answer",
        attempted_at=to_micros(DAY[3]),
    )  # fmt: skip
    waiting = sent._replace(event_id=9, state="waiting", attempts=0, attempted_at=None)
    trail = [a_row(DAY[1], "claim.read")]
    found = log_entries(history, trail, None, [sent, failed, waiting])
    assert [(one.source, one.what, one.id, one.action) for one in found[2:]] == [
        ("webhook", "claim.paid: delivered, answered 200, tried 2 times", "E1", "claim.paid"),
        ("webhook", "claim.paid: failed, it does not answer", "E1", "claim.paid"),
    ]
