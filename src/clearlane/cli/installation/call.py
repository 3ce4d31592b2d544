"""`clearlane call`: find a call again by its `X-Request-Id`, from the audit trail.

Shows ids, times and states; never a value of a claim or a patient.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from clearlane.cli.command.client_command import AsJson
from clearlane.cli.command.output import show_json, show_text
from clearlane.cli.command.storage_command import Data, Store, refuse, with_store
from clearlane.kernel.clock import from_micros, moment_text
from clearlane.store.audit.audit_actions import audit_words

CALL_CLAIMS_SHOWN_MAX = 20

app = typer.Typer(
    no_args_is_help=True, help="Find a call again by its X-Request-Id.", add_completion=False
)

CLAIMS_SUBMIT = "claims.submit"


@dataclass(frozen=True, slots=True)
class AuditedCall:
    """What one call changed or read."""

    at: str
    actor: str
    vendor_id: int | None
    site_id: int | None
    action: str
    what: str
    answer: str
    ids: list[str]
    """Ids of claims, documents or requests, the first ones of many."""
    count: int
    detail: str
    states: dict[str, str]
    """The state of each claim of a submission."""


@app.callback()
def call() -> None:
    """Find a call again by its X-Request-Id."""


@app.command()
def show(
    request_id: Annotated[str, typer.Argument(help="The `X-Request-Id` of an answer.")],
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """Show what a call changed or read: what, when, which answer, which claims. Patient data is not shown.

    Example: clearlane call show 8c1f0a77b3d94e210000000000000001
    """

    async def work(store: Store) -> list[AuditedCall]:
        from clearlane.store.audit import audit

        rows = await audit.find_by_request(store.database, request_id.strip())
        return [await _audited(store, row) for row in rows]

    calls = with_store(data, work)
    if not calls:
        refuse(
            f"No call with the request id {request_id} changed or read data. Refused calls and payer lists are "
            "in the log only."
        )
    if as_json:
        show_json([asdict(each) for each in calls])
        return
    for each in calls:
        _print(each)


async def _audited(store: Store, row: Mapping[str, Any]) -> AuditedCall:
    action, ids = str(row["action"]), json.loads(row["ids"])
    states = await _states(store, row, ids) if action == CLAIMS_SUBMIT else {}
    is_submission = action == CLAIMS_SUBMIT and row["detail"]
    return AuditedCall(
        at=moment_text(from_micros(row["at"])),
        actor=str(row["actor"]),
        vendor_id=row["vendor_id"],
        site_id=row["site_id"],
        action=action,
        what=f"{audit_words(action)}.",
        answer=f"200: {row['detail']}" if is_submission else "200",
        ids=ids,
        count=len(ids) if row["count"] is None else row["count"],
        detail="" if is_submission else str(row["detail"]),
        states=states,
    )


async def _states(store: Store, row: Mapping[str, Any], ids: list[str]) -> dict[str, str]:
    from clearlane.kernel.ids import Scope, SiteId, VendorId
    from clearlane.store.claims import claims

    scope = Scope(VendorId(row["vendor_id"]), SiteId(row["site_id"]))
    async with store.database.read(scope) as tx:
        return {each.claim_number: each.state for each in await claims.find_many(tx, ids)}


def _print(call: AuditedCall) -> None:
    typer.echo(f"{call.at}  {call.what}")
    typer.echo(f"  by {call.actor}, vendor {call.vendor_id}, site {call.site_id}")
    typer.echo(f"  answered {call.answer}")
    if call.detail:
        show_text(call.detail, "  ")
    for id in call.ids[:CALL_CLAIMS_SHOWN_MAX]:
        state = f"  {call.states[id]}" if id in call.states else ""
        typer.echo(f"  {id}{state}")
    if call.count > CALL_CLAIMS_SHOWN_MAX:
        totals = Counter(call.states.values())
        sums = ", ".join(f"{count} {state}" for state, count in totals.items())
        typer.echo(f"  {call.count} in all{': ' if sums else ''}{sums}")
