"""``clearlane claim list`` and ``claim find``: claims by any filter, or by one text, as a table, JSON or CSV.

A vendor asks the service for a list; an operator reads the data directory (``stored_claims``). Both give the objects of v1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import islice
from typing import Annotated, Any

import typer

from clearlane.claims.claim_filters import CLAIM_FILTERS
from clearlane.cli.command.client_command import (
    OVER_SERVICE,
    AsJson,
    CaFile,
    Key,
    ServiceOptions,
    Site,
    Url,
    client_session,
)
from clearlane.cli.command.filter_options import filter_options
from clearlane.cli.command.list_options import InstallationData, refuse_both
from clearlane.cli.command.output import show_limited
from clearlane.cli.command.table import TableColumn

LIMIT_DEFAULT = 100
DROPPED_FIRST = 8
COLUMNS = (
    TableColumn("claim number", "claim_number"),
    TableColumn("vendor claim id", "vendor_claim_id"),
    TableColumn("label", "label"),
    TableColumn("reason", "reason", drop=1, wrap=True),
    TableColumn("payer", "payer_id", drop=2),
    TableColumn("awaiting", "awaiting", drop=3),
    TableColumn("charge", "charge", right=True),
    TableColumn("paid", "paid", right=True, drop=3),
    TableColumn("patient owes", "patient", right=True, drop=4),
    TableColumn("kind", "kind", drop=5),
    TableColumn("bill", "bill_type", drop=4),
    TableColumn("site", "site", drop=4),
    TableColumn("received", "created_at", drop=6),
    TableColumn("changed", "changed_at", drop=7),
)
Limit = Annotated[int, typer.Option(min=1, help="Maximum number of claims.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="CSV for a spreadsheet, with every fact.")]


@filter_options(CLAIM_FILTERS, read=False)
def list_claims(
    where: Mapping[str, Any],
    *,
    limit: Limit = LIMIT_DEFAULT,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
    data: InstallationData = None,
    url: Url = "",
    key: Key = "",
    site: Site = "",
    ca_file: CaFile = "",
) -> None:
    """List claims, newest first.

    The page of states (docs/reference/states.md) explains every label. A word may be several, with commas between them.

    A vendor asks the service, with --url and --key or their variables; an operator reads the data directory. Audited.

    Examples: clearlane claim list --tab needs_you; clearlane claim list --payer TST01 --service-from 2026-01-01 --csv
    """
    given = {name: value for name, value in where.items() if value not in {None, False}}
    filters = {name: "true" if value is True else value for name, value in given.items()}
    refuse_both(as_csv=as_csv, as_json=as_json)
    if url and data is None:
        options = ServiceOptions(url=url, key=key, site=site, ca_file=ca_file, as_json=as_json)
        with client_session(options) as session:
            claims = session.client.claims.find(**filters, site=session.site)
            found: Sequence[Mapping[str, object]] = [
                claim.raw for claim in islice(claims, limit + 1)
            ]
    else:
        from clearlane.cli.claim.stored_claims import load_claims

        found = load_claims(filters, site, limit + 1, data)
    _show(found, limit, "Other filters may list some.", as_csv=as_csv, as_json=as_json)


def find_claims(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT",
            help="A number of the claim, of its vendor, account or payer; a member id; or a last name, or its first letters, "
            "alone or with the birth date.",
        ),
    ],
    *,
    limit: Limit = LIMIT_DEFAULT,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
    data: InstallationData = None,
    site: Annotated[str, typer.Option(help="Vendor site id (default: all sites).")] = "",
) -> None:
    """Find claims as the search box of the console does: by any number, member id or last name.

    A number finds claims of any age, a member id or a name those of the last two years. Needs the data directory. Audited.

    Examples: clearlane claim find SAMPLE-1; clearlane claim find Arden 1986-11-22; clearlane claim find XJ-4471 --json
    """
    refuse_both(as_csv=as_csv, as_json=as_json)
    from clearlane.cli.claim import stored_claims

    found = stored_claims.find_claims(" ".join(words).strip(), site, data)
    hint = (
        "Give a whole number, or at least three letters of the last name, with or without a birth date "
        "after it, such as 1986-11-22 or 11/22/1986."
    )
    _show(found, limit, hint, as_csv=as_csv, as_json=as_json)


def _show(
    found: Sequence[Mapping[str, object]], limit: int, hint: str, *, as_csv: bool, as_json: bool
) -> None:
    from clearlane.client import ClaimInfo

    show_limited(
        columns_for(found),
        found if as_json else [_flat(claim) for claim in found],
        limit=limit,
        names=(one.name for one in fields(ClaimInfo) if one.name != "raw"),
        as_csv=as_csv,
        as_json=as_json,
        noun="claim",
        hint=hint,
    )


def _flat(claim: Mapping[str, Any]) -> dict[str, object]:
    """Return a claim for a table: what it awaits, and by when it must be filed, are one text each."""
    flat = dict(claim)
    if isinstance(awaiting := claim.get("awaiting"), Mapping):
        words = [awaiting.get("what"), "overdue" if awaiting.get("overdue") else ""]
        flat["awaiting"] = " ".join(filter(None, words))
    if isinstance(limit := claim.get("filing_limit"), Mapping):
        flat["filing_limit"] = limit.get("by") or ""
    return flat


def columns_for(claims: Iterable[Mapping[str, object]]) -> list[TableColumn]:
    """Return the columns of a list: the site is the first to be left out if all claims are of one."""
    is_one_site = len({claim["site"] for claim in claims}) == 1
    return [
        replace(one, drop=DROPPED_FIRST) if is_one_site and one.name == "site" else one
        for one in COLUMNS
    ]


setattr(list_claims, OVER_SERVICE, True)
