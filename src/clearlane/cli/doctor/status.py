"""``clearlane status``: what flows, what waits and what needs a person, on one screen of 80 columns."""

import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Any

import typer

from clearlane.cli.command.operator_command import AsJson, run_in_installation
from clearlane.cli.command.output import printable, show_json
from clearlane.cli.command.storage_command import Data
from clearlane.kernel.clock import to_micros
from clearlane.kernel.durations import Durations
from clearlane.kernel.formats import lower_first
from clearlane.pipeline.query.installation.condition_checks import counted, duration
from clearlane.pipeline.query.installation.conditions import (
    ConditionSeverity,
    RaisedCondition,
    raised_conditions,
)
from clearlane.pipeline.query.installation.measures import Measures, UndeliveredClaims
from clearlane.wiring import Installation

app = typer.Typer(add_completion=False)

COLUMNS = 80
PAYERS_SHOWN_MAX = 5
CONDITIONS_SHOWN_MAX = 6
CONDITION_LINES_MAX = 3
FAULT_RAISED = 1


@app.command()
def status(as_json: AsJson = False, data: Data = None) -> None:
    """Show what flows, what waits and what needs a person.

    Exit status: 0, or 1 if a fault is raised. `clearlane doctor` shows every condition with what to do.

    Example: clearlane status --data .data
    """
    from clearlane.cli.doctor.installation_measures import measure_installation
    from clearlane.cli.doctor.sftp_summary import sftp_summary

    async def measure(installation: Installation) -> tuple[Measures, str]:
        return await measure_installation(installation), (await sftp_summary(installation))[0]

    measures, sftp = run_in_installation(data, measure)
    raised = raised_conditions(measures)
    if as_json:
        show_json(as_facts(measures, raised) | ({"sftp": sftp} if sftp else {}))
    else:
        for line in screen(measures, raised, sftp):
            typer.echo(printable(line).rstrip())
    is_fault = any(each.condition.severity is ConditionSeverity.FAULT for each in raised)
    raise typer.Exit(FAULT_RAISED if is_fault else 0)


def screen(measures: Measures, raised: list[RaisedCondition], sftp: str = "") -> Iterator[str]:
    """Yield the lines of the screen."""
    roles = Counter(node.role for node in measures.nodes)
    nodes = ", ".join(f"{count} {role}" for role, count in sorted(roles.items()))
    mode = "sandbox" if measures.sandbox else "production"
    yield f"Clearlane {mode} ({measures.node.database}), {measures.at:%Y-%m-%d %H:%M} UTC. Nodes: {nodes or 'none'}."
    if sftp:
        yield f"SFTP: {lower_first(sftp)}"
    yield ""
    age = measures.seconds_since(measures.claims_counted_at or to_micros(measures.at))
    counted_ago = f"claims counted {duration(age)} ago" if age >= 1 else "claims counted now"
    yield f"WHAT FLOWS (last 24 hours, {counted_ago})"
    yield from _columns(_flows(measures))
    yield ""
    yield f"WHAT WAITS (by state: {counted_ago})"
    yield from _columns(_waits(measures))
    yield from _payers(measures)
    yield ""
    yield "WHAT NEEDS A PERSON" if raised else "Nothing needs a person."
    for each in raised[:CONDITIONS_SHOWN_MAX]:
        yield from _condition(each)
    if len(raised) > CONDITIONS_SHOWN_MAX:
        yield f"  and {len(raised) - CONDITIONS_SHOWN_MAX} more: clearlane doctor"


def as_facts(measures: Measures, raised: list[RaisedCondition]) -> dict[str, object]:
    """Return everything that is measured, and the conditions that are raised, for programs."""
    return {
        "conditions": [
            {
                "name": each.condition.name,
                "severity": each.condition.severity.value,
                "part": each.condition.part.value,
                "says": each.sentence,
                "do": each.condition.do,
                "cases": [{"says": case.sentence, **dict(case.labels)} for case in each.cases],
            }
            for each in raised
        ],
        "measures": _plain(asdict(measures)),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Durations):
        return {"counted": value.counted, "seconds": round(value.total_seconds, 3)}
    if isinstance(value, datetime):
        return value.isoformat()
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _flows(measures: Measures) -> list[tuple[str, str]]:
    files = sum(of.files_last_day for of in measures.delivered)
    claims = sum(of.claims_last_day for of in measures.delivered)
    asked = sum(of.asked for of in measures.inquiries)
    return [
        ("claims accepted", f"{measures.claims_last_day:,}"),
        ("files delivered", f"{files:,} ({counted(claims, 'claim')})"),
        ("files of payers", f"{sum(of.files_last_day for of in measures.inbox):,}"),
        ("payments (835)", f"{measures.payments.last_day:,}"),
        ("inquiries (15 min)", f"{asked:,}"),
    ]


def _waits(measures: Measures) -> list[tuple[str, str]]:
    states: Counter[str] = Counter()
    for of in measures.open_claims:
        states[of.state] += of.claims
    inbox = {of.state: of.files for of in measures.inbox}
    backlog = measures.node.backlog
    return [
        *(
            (f"claims {state.lower().replace('_', ' ')}", f"{count:,}")
            for state, count in sorted(states.items())
        ),
        ("files to post", f"{inbox.get('stored', 0):,}"),
        ("inquiries open", f"{sum(of.inquiries for of in measures.open_inquiries):,}"),
        *([("engine backlog", f"{backlog.total:,}")] if backlog is not None else []),
    ]


def _columns(facts: list[tuple[str, str]]) -> Iterator[str]:
    half = COLUMNS // 2 - 2
    cells = [f"{label:<19} {value}"[:half] for label, value in facts]
    for at in range(0, len(cells), 2):
        left, right = cells[at], cells[at + 1] if at + 1 < len(cells) else ""
        yield f"  {left:<{half}} {right}"


def _payers(measures: Measures) -> Iterator[str]:
    waiting = [of for of in measures.undelivered if of.claims or of.in_doubt]
    if not waiting:
        return
    waiting.sort(key=lambda of: of.oldest_at or 0)
    yield f"  {'TO PAYER':<22} {'CLAIMS':>7} {'FILES':>5} {'DOUBT':>5}  {'OLDEST':<11} WHY"
    for of in waiting[:PAYERS_SHOWN_MAX]:
        age = duration(measures.seconds_since(of.oldest_at)) if of.oldest_at else ""
        line = (
            f"  {f'{of.payer_id} {of.type}'[:22]:<22} {of.claims:>7,} {of.files:>5,} "
            f"{of.in_doubt:>5,}  {age:<11} {_why(of)}"
        )
        yield line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"
    if len(waiting) > PAYERS_SHOWN_MAX:
        yield f"  and {len(waiting) - PAYERS_SHOWN_MAX} more payers: clearlane batch list"


def _why(of: UndeliveredClaims) -> str:
    if of.fault:
        return f"route {of.route_id}: {of.fault}"
    return "" if of.has_route else "no route"


def _condition(raised: RaisedCondition) -> Iterator[str]:
    condition = raised.condition
    head = f"  {condition.severity.value.upper():<8}{condition.name}: "
    lines = textwrap.wrap(
        head + raised.sentence,
        COLUMNS,
        subsequent_indent="    ",
        max_lines=CONDITION_LINES_MAX,
        placeholder=" …",
        drop_whitespace=True,
    )
    yield from lines
    yield from textwrap.wrap(
        condition.do, COLUMNS, initial_indent="    > ", subsequent_indent="      ",
        max_lines=2, placeholder=" …",
    )  # fmt: skip
