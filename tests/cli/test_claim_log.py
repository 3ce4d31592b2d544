"""The log of a claim is its history and its audit rows in the order of time."""

from datetime import UTC, datetime
from types import SimpleNamespace

from clearlane.cli.claim.claim_log import log_entries
from clearlane.kernel.clock import to_micros
from clearlane.pipeline.query.claim_history import HistoryEntry
from clearlane.store.audit.audit_search import AuditRow

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
