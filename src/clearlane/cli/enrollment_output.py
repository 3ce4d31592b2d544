"""What `clearlane enrollment` tells of an enrollment: in a list, as a whole, and in a file."""

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TypedDict

import typer

from clearlane.cli.operator_command import show_facts, show_table
from clearlane.enrollment.fields import ROWS
from clearlane.enrollment.lifecycle import FIRST, State
from clearlane.enrollment.transfer import write_csv
from clearlane.kernel.clock import moment
from clearlane.pipeline.operator.enrollment_admin import Happened, Move, Opened
from clearlane.store.enrollments import StoredEnrollment
from clearlane.wiring import House

Facts = dict[str, object]


class Whole(TypedDict):
    """All that is known of an enrollment."""

    facts: Facts
    enrollment: Facts
    findings: list[Facts]
    payers: list[Facts]
    events: list[Facts]


class Format(StrEnum):
    """Formats of an export."""

    CSV = "csv"
    JSON = "json"


LABELS = {
    "Id": "id",
    "Submitted": "submitted_at",
    "Vendor": "vendor_key",
    "Site": "vendor_site_id",
    "NPI": "npi",
    "Provider": "provider",
    "State": "state",
    "Findings": "findings",
}
COLUMNS = ("id", "submitted_at", "vendor_key", "vendor_site_id", "client_id", "state", "findings")


class Telling:
    """Turns stored enrollments into facts, with the names that vendors, sites and payers have."""

    def __init__(self, house: House) -> None:
        self._payers = house.payers
        self._sites = {site.id: site for site in house.accounts.sites}
        self._keys = {vendor.id: vendor.key for vendor in house.accounts.vendors}

    def facts(self, opened: Opened) -> Facts:
        """What a list tells: no tax id and no contact."""
        row, enrollment = opened.row, opened.enrollment
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
            "findings": " ".join(note.message for note in opened.notes),
        }

    def with_fields(self, opened: Opened) -> Facts:
        """What a file tells: everything that was sent."""
        return self.facts(opened) | _fields(opened)

    def whole(self, opened: Opened, events: Sequence[Happened]) -> Whole:
        """All that is known."""
        return {
            "facts": self.facts(opened),
            "enrollment": _fields(opened),
            "findings": [
                {"rule": note.rule, "field": note.location, "message": note.message}
                for note in opened.notes
            ],
            "payers": self._standings(opened),
            "events": [
                {"at": _when(e.at), "event": e.event, "type": e.payer_type, "payer_id": e.payer_id}
                for e in events
            ],
        }

    def _standings(self, opened: Opened) -> list[Facts]:
        """The payers somebody acted for, and those that require enrollment and wait for it."""
        row = opened.row
        acted = {each.payer for each in row.standings}
        told = [
            self._standing(*each.payer, each.state, each.updated_at, reason)
            for each, reason in zip(row.standings, opened.reasons, strict=True)
        ]
        return told + [
            self._standing(*payer.key, FIRST, row.created_at, "")
            for payer in self._payers.all
            if payer.claim_enrollment_required and payer.key not in acted
        ]

    def _standing(self, type: str, id: str, state: str, since: int, reason: str) -> Facts:
        payer = self._payers.find(id, type)
        return {
            "payer_id": payer.payer_id if payer else id,
            "type": type,
            "name": payer.name if payer else "",
            "state": state,
            "since": _when(since),
            "reason": reason,
        }


def show_list(rows: Sequence[Facts]) -> None:
    """Enrollments for a person, a line each."""
    show_table(list(LABELS), [[_plain(row[key]) for key in LABELS.values()] for row in rows])


def show_whole(found: Whole) -> None:
    """One enrollment for a person: facts, the fields that are filled, payers, events."""
    show_facts([(name, _plain(value)) for name, value in found["facts"].items()])
    typer.echo()
    filled = [(name, value) for name, value in found["enrollment"].items() if value is not None]
    show_facts([(ROWS[name].label, _plain(value)) for name, value in filled])
    for rows in (found["payers"], found["events"]):
        if rows:
            typer.echo()
            show_table(list(rows[0]), [list(row.values()) for row in rows])


def told(move: Move) -> Facts:
    """Where an enrollment stood with a payer, and where it stands now."""
    return {
        "payer_id": move.payer.payer_id,
        "type": move.payer.type,
        "name": move.payer.name,
        "before": move.before,
        "now": move.now,
    }


def _as_csv(rows: Sequence[Facts]) -> str:
    names = (*COLUMNS, *ROWS)
    return write_csv(names, ({name: str(row[name] or "") for name in names} for row in rows))


def _as_json(rows: Sequence[Facts]) -> str:
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


WRITERS: Mapping[Format, Callable[[Sequence[Facts]], str]] = {
    Format.CSV: _as_csv,
    Format.JSON: _as_json,
}


def _fields(opened: Opened) -> Facts:
    return {name: getattr(opened.enrollment, name) for name in ROWS}


def _states(row: StoredEnrollment) -> str:
    """The states it has, with how many payers each; the first one where nobody has acted yet."""
    counts = {state: sum(each.state == state for each in row.standings) for state in State}
    return ", ".join(f"{state} {count}" for state, count in counts.items() if count) or FIRST


def _plain(value: object) -> str:
    """A text that a vendor sent, without what a terminal would obey."""
    return "".join(c if c.isprintable() else "?" for c in str(value))


def _when(at: int) -> str:
    return moment(at).isoformat(timespec="seconds")
