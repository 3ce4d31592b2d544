"""``clearlane eligibility list``: what was asked about patients' insurance, newest first, with the payers' verdicts.

A vendor asks the service; an operator reads the data directory. Both give the objects of v1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from clearlane.cli.command.client_command import (
    AsJson,
    CaFile,
    Key,
    ServiceOptions,
    Site,
    Url,
    client_session,
)
from clearlane.cli.command.list_options import InstallationData
from clearlane.cli.command.output import show_limited
from clearlane.cli.command.table import TableColumn

LIMIT_DEFAULT = 50
COLUMNS = (
    TableColumn("id", "id"),
    TableColumn("coverage", "verdict"),
    TableColumn("patient", "patient_name", wrap=True),
    TableColumn("member", "member_id", drop=2),
    TableColumn("payer", "payer_id"),
    TableColumn("state", "state", drop=1),
    TableColumn("asked", "asked_at", drop=3),
    TableColumn("site", "site", drop=4),
)
Limit = Annotated[int, typer.Option(min=1, help="Maximum number of questions.")]


def list_questions(
    limit: Limit = LIMIT_DEFAULT,
    *,
    as_json: AsJson = False,
    data: InstallationData = None,
    url: Url = "",
    key: Key = "",
    site: Site = "",
    ca_file: CaFile = "",
) -> None:
    """List what was asked about patients' insurance, newest first, with what the payers state.

    A vendor asks the service, with --url and --key or their variables; an operator reads the data directory. Audited.

    Example: clearlane eligibility list --limit 10
    """
    from clearlane.client import InsuranceQuestion

    if url and data is None:
        options = ServiceOptions(url=url, key=key, site=site, ca_file=ca_file, as_json=as_json)
        with client_session(options) as session:
            asked = session.client.eligibility.find(
                **({"site": session.site} if session.site else {})
            )
            found: Sequence[Mapping[str, object]] = [one.raw for one in islice(asked, limit + 1)]
    else:
        found = _stored(limit + 1, site, data)
    show_limited(
        COLUMNS,
        found,
        limit=limit,
        names=(one.name for one in fields(InsuranceQuestion) if one.name != "raw"),
        as_csv=False,
        as_json=as_json,
        noun="question",
        hint="Ask one with: clearlane eligibility check",
    )


def _stored(limit: int, site_id: str, data: Path | None) -> list[dict[str, object]]:
    from clearlane.accounts.model import vendor_scopes
    from clearlane.cli.command.chosen_site import chosen_sites
    from clearlane.cli.command.operator_command import run_in_installation
    from clearlane.cli.command.storage_command import operator
    from clearlane.pipeline.inquiry.eligibility_list import list_numbered, listed_object
    from clearlane.wiring import Installation

    async def work(installation: Installation) -> list[dict[str, object]]:
        sites = chosen_sites(installation, site_id)
        rows = [
            one
            for scope in vendor_scopes(sites)
            for one in await list_numbered(
                installation.work_context, scope, limit=limit, actor=operator()
            )
        ]
        rows.sort(key=lambda one: (one.asked_at, one.request_number), reverse=True)
        return [listed_object(one) for one in rows[:limit]]

    return run_in_installation(data, work)
