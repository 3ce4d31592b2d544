"""Claims of an installation, for ``clearlane claim list`` and ``claim find``. Needs the installation's database."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearlane.accounts.model import vendor_scopes
from clearlane.claims.claim_filters import CLAIM_FILTERS
from clearlane.cli.command.chosen_site import chosen_sites
from clearlane.cli.command.filter_options import read_options
from clearlane.cli.command.operator_command import run_in_installation
from clearlane.cli.command.storage_command import operator
from clearlane.pipeline.query.claim_filters import PATIENT_TOGETHER, ClaimListRequest, missing_part
from clearlane.pipeline.query.claim_list import ClaimRow, claim_object, list_claim_rows
from clearlane.pipeline.query.search.claims_by_text import ClaimTextSearch
from clearlane.wiring import Installation


def _missing(given: Mapping[str, Any]) -> dict[str, str]:
    missing = missing_part(given)
    return {missing: PATIENT_TOGETHER} if missing else {}


def load_claims(
    filters: Mapping[str, str], site_id: str, limit: int, data: Path | None
) -> list[dict[str, object]]:
    """Return claims of an installation, or of one site, as v1 shows them."""
    given = read_options(CLAIM_FILTERS, filters, _missing, several=True)

    async def work(installation: Installation) -> list[dict[str, object]]:
        scopes = vendor_scopes(chosen_sites(installation, site_id))
        request = ClaimListRequest(given=given, limit=limit)
        found = await list_claim_rows(installation.work_context, scopes, request, actor=operator())
        return [claim_object(row) for row in found]

    return run_in_installation(data, work)


def find_claims(text: str, site_id: str, data: Path | None) -> list[dict[str, object]]:
    """Return what the console's search box would list for a text, the newest first, as v1 shows claims."""

    async def work(installation: Installation) -> list[dict[str, object]]:
        sites = chosen_sites(installation, site_id)
        search = ClaimTextSearch(installation.work_context, sites, operator(), "claims.search")
        if own := await search.by_claim_number(text):
            found = await search.load([own])
        else:
            today = installation.clock.now().date()
            found = await search.by_number(text) or await search.by_person(text, today)
        return [claim_object(row) for row in sorted(found, key=_age)]

    return run_in_installation(data, work)


def _age(row: ClaimRow) -> tuple[int, str]:
    return (-row.stored.created_at, row.number)
