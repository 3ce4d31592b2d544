"""``clearlane claim log``: everything recorded of a claim in one list: its history, its files, who read or changed it, by which call.

The history is what happened to the claim, deliveries of its files included; the audit trail is what people and programs did;
webhooks are what the vendor's endpoints were sent about it, and what they answered. In a sandbox the history has the days of the sandbox's clock, and the trail the machine's: what that clock showed when a row
was written puts it in its place.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from clearlane.cli.claim.claim_show import load_named_history
from clearlane.cli.command.operator_command import in_installation, show_json
from clearlane.cli.command.output import show_error, show_table
from clearlane.cli.command.table import TableColumn
from clearlane.kernel.clock import from_micros, moment_text
from clearlane.pipeline.load_claim import find_claim_scope
from clearlane.pipeline.operator.audit_trail import ServiceClock, load_service_clock
from clearlane.pipeline.query.history.claim_history import ClaimHistory
from clearlane.store.audit.audit_actions import audit_words
from clearlane.store.audit.audit_search import NEWEST, AuditRow, AuditSearch, search_trail
from clearlane.store.events import webhooks
from clearlane.store.events.webhooks import DeliveryRow
from clearlane.wiring import Installation

AUDIT_ROWS_MAX = 1_000
DELIVERIES_MAX = 1_000
COLUMNS = (
    TableColumn("at"),
    TableColumn("from", drop=2),
    TableColumn("what", wrap=True),
    TableColumn("by", drop=1),
    TableColumn("file or call", drop=3),
)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One thing that is recorded of a claim."""

    at: str
    source: str
    """``history``, ``audit`` or ``webhook``."""
    what: str
    by: str
    """Who did it; empty in the history, which says it in words."""
    id: str
    """The file or document that reported it, the id of the request, or that of the webhook's endpoint."""
    sentences: tuple[str, ...] = ()
    action: str = ""
    """The action of an audit row, or the type of the event that was delivered."""
    recorded_at: str = ""
    """When an audit row or delivery was written by the machine's clock; in a sandbox that may be days before ``at``."""


@in_installation()
async def print_log(installation: Installation, claim: str, *, as_json: bool) -> None:
    """Print the log of a claim, the oldest entry first."""
    history = await load_named_history(installation, claim)
    number = history.loaded.row.claim_number
    wanted = AuditSearch(id=number)
    page = await search_trail(installation.database, wanted, before=NEWEST, limit=AUDIT_ROWS_MAX)
    delivered = await _load_deliveries(installation, number)
    ahead = installation.clock.now() - installation.wall.now()
    clock = await load_service_clock(installation.database, ahead)
    entries = log_entries(history, page.rows, clock, delivered)
    if as_json:
        show_json([asdict(each) for each in entries])
        return
    rows = [(each.at, each.source, each.what, each.by, each.id) for each in entries]
    show_table(COLUMNS, rows, noun="entry")
    if any(each.recorded_at not in ("", each.at) for each in entries):
        show_error("Times are those of the sandbox's clock. --json has the machine's too.")


async def _load_deliveries(installation: Installation, claim_number: str) -> list[DeliveryRow]:
    """Return what the vendor's webhook endpoints were sent about a claim."""
    scope = await find_claim_scope(installation.database, claim_number)
    if scope is None:
        return []
    async with installation.database.read(scope) as tx:
        return await webhooks.list_claim_deliveries(tx, claim_number, limit=DELIVERIES_MAX)


def log_entries(
    history: ClaimHistory,
    trail: list[AuditRow],
    clock: ServiceClock | None = None,
    delivered: Sequence[DeliveryRow] = (),
) -> list[LogEntry]:
    """Return all of it as one list in the order of time; rows of one moment stay in their own order."""
    shown = clock or ServiceClock()
    found: list[tuple[datetime, LogEntry]] = [
        (
            each.at,
            LogEntry(
                moment_text(each.at),
                "history",
                each.headline,
                "",
                each.file or each.document_id,
                each.sentences,
            ),
        )
        for each in history.entries
    ]
    for row in reversed(trail):
        recorded = from_micros(row.at)
        at = shown.at(recorded)
        what = ": ".join(filter(None, (audit_words(row.action), row.detail)))
        found.append(
            (
                at,
                LogEntry(
                    moment_text(at),
                    "audit",
                    what,
                    row.actor,
                    row.request_id,
                    action=row.action,
                    recorded_at=moment_text(recorded),
                ),
            )
        )
    for delivery in delivered:
        if delivery.attempted_at is None:  # it waits for its first attempt
            continue
        recorded = from_micros(delivery.attempted_at)
        at = shown.at(recorded)
        found.append(
            (
                at,
                LogEntry(
                    moment_text(at),
                    "webhook",
                    delivery_words(delivery),
                    "",
                    delivery.endpoint_id,
                    action=delivery.type,
                    recorded_at=moment_text(recorded),
                ),
            )
        )
    return [entry for _, entry in sorted(found, key=lambda one: one[0])]


def delivery_words(row: DeliveryRow) -> str:
    """Return what became of a delivery, after its last attempt."""
    answered = f"answered {row.status}" if row.status else row.fault or "not answered"
    tried = f", tried {row.attempts} times" if row.attempts > 1 else ""
    return f"{row.type}: {row.state}, {answered}{tried}"
