"""``clearlane shadow``: compare what Clearlane says of claims with what another clearinghouse said, before moving."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from clearlane.cli.command.chosen_site import chosen_sites
from clearlane.cli.command.list_options import AsCsv, refuse_both
from clearlane.cli.command.operator_command import AsJson, in_installation
from clearlane.cli.command.output import show_facts, show_limited
from clearlane.cli.command.storage_command import MISUSED, operator
from clearlane.cli.command.table import TableColumn
from clearlane.pipeline.query.shadow_report import COMPARISON_WORDS, ShadowLine, shadow_lines
from clearlane.wiring import Installation

app = typer.Typer(
    help="Shadow files: what Clearlane and another clearinghouse say of the same claims.",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)

COLUMNS = (
    TableColumn("your id", "vendor_claim_id"),
    TableColumn("claim", "claim_number", drop=4),
    TableColumn("compared", "comparison", wrap=True),
    TableColumn("ours", "ours", drop=3),
    TableColumn("theirs", "theirs", drop=3),
    TableColumn("why", "why", wrap=True, drop=1),
    TableColumn("X12", "x12_differences", wrap=True, drop=2),
)


@app.callback()
def callback() -> None:
    """Group the commands, also while there is one."""


@app.command()
@in_installation()
async def report(
    installation: Installation,
    site: Annotated[str, typer.Option(help="Only this site (vendorSiteId).")] = "",
    differences: Annotated[
        bool, typer.Option("--differences", help="Only claims with a difference.")
    ] = False,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Compare the claims of shadow files, one by one, with what was imported.

    A line has what we said (with rule and place), what they said (with code and words), and where the X12 that we would
    send differs from what came. It names claims by their ids alone.

    Examples: clearlane shadow report --differences; clearlane shadow report --site LARK-1 --csv
    """
    refuse_both(as_csv=as_csv, as_json=as_json)
    sites = chosen_sites(installation, site, code=MISUSED)
    lines = [
        line
        for one in sites
        async for line in shadow_lines(installation.work_context, one, actor=operator())
    ]
    shown = [_record(line) for line in lines if not differences or line.differs]
    if not (as_csv or as_json):
        shown = [
            one | {"comparison": COMPARISON_WORDS[one["comparison"]], "why": _why(one)}
            for one in shown
        ]
    show_limited(
        COLUMNS,
        shown,
        limit=None,
        names=ShadowLine.__struct_fields__,
        as_csv=as_csv,
        as_json=as_json,
        noun="difference" if differences and lines else "claim",
        hint="" if lines else "Send a file with: clearlane file send FILE --shadow.",
    )
    if not (as_csv or as_json):
        _show_counts(lines)


def _record(line: ShadowLine) -> dict[str, Any]:
    return {name: getattr(line, name) for name in ShadowLine.__struct_fields__}


def _why(one: Mapping[str, Any]) -> str:
    """Return the reasons of both in one text, for a table of 80 columns."""
    theirs = ": ".join(filter(None, (one["their_codes"], one["their_reason"])))
    said = (("We say", one["our_reason"]), ("They say", theirs))
    return ". ".join(f"{who}: {reason}" for who, reason in said if reason)


def _show_counts(lines: list[ShadowLine]) -> None:
    counts = Counter(line.comparison for line in lines)
    changed = sum(bool(line.x12_differences) for line in lines)
    typer.echo()
    show_facts(
        [
            *((words, str(counts[comparison])) for comparison, words in COMPARISON_WORDS.items()),
            ("X12 differs from what came", str(changed)),
        ]
    )
