"""What lists of claims show of a claim's content on request: its patient, days of service, lines.

    rows = await list_claim_rows(context, scopes, request, actor=actor)
    parts = await open_included_parts(context, rows, {IncludedPart.PATIENT}, actor=actor)     # by claim number

Opened from the sealed header, lines from the sealed content. One audit row a site names the claims. Knows no HTTP.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum

from clearlane.claims.forms import form_of
from clearlane.claims.header import ClaimHeader
from clearlane.claims.view import LineView
from clearlane.payments.as_json import Json, day_text
from clearlane.pipeline.load_claim import open_claim, open_header
from clearlane.pipeline.query.claim_list import ClaimRow, stored_claim
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor, write_audit
from clearlane.store.vault.vault import Vault

CLAIMS_AT_ONCE = 20
"""Claims opened before other calls have their turn."""


class IncludedPart(StrEnum):
    """A part of a claim's content that a list can show."""

    PATIENT = "patient"
    SERVICE_DAYS = "service_days"
    LINES = "lines"


async def open_included_parts(
    context: WorkContext,
    rows: Sequence[ClaimRow],
    wanted: Collection[IncludedPart],
    *,
    actor: Actor,
) -> dict[str, Json]:
    """Return the wanted parts of claims that were just listed, by claim number; audited in each site."""
    if not wanted:
        return {}
    for site in {row.site.id: row.site for row in rows}.values():
        numbers = [row.number for row in rows if row.site.id == site.id]
        detail = " ".join(sorted(wanted))
        await write_audit(
            context.database, site.scope, "claims.read", ids=numbers, count=len(numbers),
            detail=detail, actor=actor,
        )  # fmt: skip
    found: dict[str, Json] = {}
    for at, row in enumerate(rows, 1):
        found[row.number] = {name: _PARTS[name](context.vault, row) for name in wanted}
        if not at % CLAIMS_AT_ONCE:
            await asyncio.sleep(0)
    return found


def _header(vault: Vault, row: ClaimRow) -> ClaimHeader:
    return open_header(vault, row.site.scope, row.number, row.stored.header)


def _patient(vault: Vault, row: ClaimRow) -> Json:
    header = _header(vault, row)
    return {
        "last_name": header.last_name or None,
        "first_name": header.first_name or None,
        "birth_date": day_text(header.birth),
        "member_id": header.member_id or None,
        "account_number": header.account_number or None,
    }


def _service_days(vault: Vault, row: ClaimRow) -> Json:
    days = _header(vault, row).days
    return {
        "service_from": day_text(min((first for first, _ in days), default=None)),
        "service_to": day_text(max((last for _, last in days), default=None)),
    }


def _lines(vault: Vault, row: ClaimRow) -> list[Json]:
    claim = open_claim(vault, row.site.scope, stored_claim(row.stored)).claim
    return [_line(number, one) for number, one in enumerate(form_of(claim).view(claim).lines, 1)]


def _line(number: int, line: LineView) -> Json:
    return {
        "line_number": number,
        "line_control_number": line.control_number or None,
        "service_from": day_text(line.first_day),
        "service_to": day_text(line.last_day or line.first_day),
        "revenue_code": line.revenue_code or None,
        "procedure": line.procedure or None,
        "modifiers": list(line.modifiers),
        "units": None if line.units is None else f"{line.units:f}",
        "charge": None if line.charge is None else f"{line.charge:.2f}",
    }


_PARTS: Mapping[IncludedPart, Callable[[Vault, ClaimRow], object]] = {
    IncludedPart.PATIENT: _patient,
    IncludedPart.SERVICE_DAYS: _service_days,
    IncludedPart.LINES: _lines,
}
