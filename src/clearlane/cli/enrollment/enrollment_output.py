"""Output of `clearlane enrollment`: lists, details and export files."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

import typer

from clearlane.cli.command.export_file import ExportFormat
from clearlane.cli.command.operator_command import show_facts, show_list, show_table
from clearlane.cli.command.table import TableColumn
from clearlane.enrollment.csv_export import write_csv
from clearlane.enrollment.fields import FIELDS
from clearlane.enrollment.lifecycle import INITIAL_STATE, EnrollmentState
from clearlane.kernel.clock import from_micros
from clearlane.pipeline.enrollment.list_enrollments import required_keys
from clearlane.pipeline.operator.enrollment_admin import (
    EnrollmentChange,
    EnrollmentDetails,
    EnrollmentEventRecord,
)
from clearlane.store.enrollments import EnrollmentPayerState, StoredEnrollment
from clearlane.wiring import Installation

Facts = dict[str, object]


class EnrollmentDetail(TypedDict):
    """All facts of an enrollment."""

    facts: Facts
    enrollment: Facts
    findings: list[Facts]
    payers: list[Facts]
    events: list[Facts]


LISTED = (
    TableColumn("id", "id"),
    TableColumn("state", "state", state=True),
    TableColumn("npi", "npi"),
    TableColumn("provider", "provider", wrap=True),
    TableColumn("vendor", "vendor_key", drop=2),
    TableColumn("site", "vendor_site_id", drop=1),
    TableColumn("submitted", "submitted_at", drop=3),
    TableColumn("findings", "findings", wrap=True),
)
DROPPED = {"since": 3, "live_from": 2, "type": 1}
"""Columns of a payer's state that a narrow terminal leaves out, the first one first."""
COLUMNS = ("id", "submitted_at", "vendor_key", "vendor_site_id", "client_id", "state", "findings")


class EnrollmentFacts:
    """Converts stored enrollments to printable facts, with names of vendors, sites and payers."""

    def __init__(self, installation: Installation) -> None:
        self._payers = installation.payers
        self._sites = {site.id: site for site in installation.accounts.sites}
        self._keys = {vendor.id: vendor.key for vendor in installation.accounts.vendors}

    def facts(self, details: EnrollmentDetails) -> Facts:
        """Return the facts for a list: no tax id and no contact."""
        row, enrollment = details.row, details.enrollment
        site = self._sites.get(row.scope.site)
        names = (enrollment.ProviderLastName, enrollment.ProviderFirstName)
        return {
            "id": row.id,
            "submitted_at": _when(row.created_at),
            "vendor_key": self._keys.get(row.scope.vendor, ""),
            "vendor_site_id": site.vendor_site_id if site else "",
            "client_id": site.client_id if site else "",
            "npi": enrollment.Npi,
            "provider": enrollment.PracticeName or ", ".join(name for name in names if name),
            "state": _states(row),
            "findings": " ".join(note.message for note in details.notes),
        }

    def with_fields(self, details: EnrollmentDetails) -> Facts:
        """Return the facts for an export: every field."""
        return self.facts(details) | _fields(details)

    def detail(
        self, details: EnrollmentDetails, events: Sequence[EnrollmentEventRecord]
    ) -> EnrollmentDetail:
        """Return all facts, with payers and events."""
        return {
            "facts": self.facts(details),
            "enrollment": _fields(details),
            "findings": [
                {"rule": note.rule, "field": note.location, "message": note.message}
                for note in details.notes
            ],
            "payers": self._payer_states(details),
            "events": [
                {
                    "at": _when(e.at),
                    "event": e.event,
                    "type": e.payer_type,
                    "payer_id": e.payer_id,
                    "for": e.transaction,
                }
                for e in events
            ],
        }

    def _payer_states(self, details: EnrollmentDetails) -> list[Facts]:
        """Return the states with payers that an operator has set, and of payers that require enrollment."""
        row = details.row
        acted = {each.key for each in row.payer_states}
        rows = [
            self._payer_state(each, reason)
            for each, reason in zip(row.payer_states, details.reasons, strict=True)
        ]
        return rows + [
            self._payer_state(EnrollmentPayerState(*key, INITIAL_STATE, row.created_at), "")
            for key in required_keys(self._payers)
            if key not in acted
        ]

    def _payer_state(self, stored: EnrollmentPayerState, reason: str) -> Facts:
        type, id, transaction = stored.key
        payer = self._payers.find(id, type)
        return {
            "payer_id": payer.payer_id if payer else id,
            "type": type,
            "for": transaction,
            "name": payer.name if payer else "",
            "state": stored.state,
            "live_from": stored.live_from or "",
            "since": _when(stored.updated_at),
            "reason": reason,
        }


def show_enrollments(rows: Sequence[Facts]) -> None:
    """Print enrollments, one per line."""
    plain = ({name: _plain(value) for name, value in row.items()} for row in rows)
    hint = "Vendors submit them: clearlane enrollment submit FILE."
    show_list(LISTED, plain, noun="enrollment", hint=hint)


def show_detail(found: EnrollmentDetail) -> None:
    """Print one enrollment: facts, filled fields, payers, events."""
    show_facts([(name, _plain(value)) for name, value in found["facts"].items()])
    typer.echo()
    filled = [(name, value) for name, value in found["enrollment"].items() if value is not None]
    show_facts([(FIELDS[name].label, _plain(value)) for name, value in filled])
    for rows in (found["payers"], found["events"]):
        if rows:
            typer.echo()
            show_table([_column(name) for name in rows[0]], [list(row.values()) for row in rows])


def _column(name: str) -> TableColumn:
    """Return the column of a fact of a payer or an event: texts are wrapped, times may be left out."""
    label = name.replace("_", " ")
    return TableColumn(label, wrap=name in {"name", "reason"}, drop=DROPPED.get(name, 0))


def move_facts(move: EnrollmentChange) -> Facts:
    """Return the states of an enrollment with a payer before and after a move."""
    return {
        "payer_id": move.of.payer.payer_id,
        "type": move.of.payer.type,
        "for": move.of.transaction.value,
        "name": move.of.payer.name,
        "before": move.before,
        "now": move.after,
        "live_from": move.live_from.isoformat() if move.live_from else "",
    }


def _as_csv(rows: Sequence[Facts]) -> str:
    names = (*COLUMNS, *FIELDS)
    return write_csv(names, ({name: str(row[name] or "") for name in names} for row in rows))


def _as_json(rows: Sequence[Facts]) -> str:
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


WRITERS: Mapping[ExportFormat, Callable[[Sequence[Facts]], str]] = {
    ExportFormat.CSV: _as_csv,
    ExportFormat.JSON: _as_json,
}


def _fields(details: EnrollmentDetails) -> Facts:
    return {name: getattr(details.enrollment, name) for name in FIELDS}


def _states(row: StoredEnrollment) -> str:
    """Return how many payers' transactions are in each of its states; the first state if none was set yet."""
    counts = {
        state: sum(each.state == state for each in row.payer_states) for state in EnrollmentState
    }
    return (
        ", ".join(f"{count} {state}" for state, count in counts.items() if count) or INITIAL_STATE
    )


def _plain(value: object) -> str:
    """Return a vendor's text without control characters, which a terminal would execute."""
    return "".join(c if c.isprintable() else "?" for c in str(value))


def _when(at: int) -> str:
    return from_micros(at).isoformat(timespec="seconds")
