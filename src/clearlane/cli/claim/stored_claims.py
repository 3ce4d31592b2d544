"""Claims of an installation by any filter, for ``clearlane claim list``. Needs the installation's database."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from clearlane.claims.claim_filters import CLAIM_FILTERS, ClaimFilter
from clearlane.cli.command.operator_command import run_in_installation
from clearlane.cli.command.storage_command import MISUSED, operator, refuse
from clearlane.kernel.filter_type import FilterType
from clearlane.kernel.formats import parse_iso_date, parse_money, to_cents
from clearlane.kernel.ids import VendorId, VendorScope
from clearlane.pipeline.query.claim_filters import CHOICES, list_order, missing_part, to_where
from clearlane.pipeline.query.list_claims import claim_object, find_claims_of_vendors
from clearlane.store.claims.claim_query import ClaimQuery
from clearlane.wiring import Installation


def load_claims(
    filters: Mapping[str, str], site_id: str, limit: int, data: Path | None
) -> list[dict[str, object]]:
    """Return claims of an installation, or of one site, as v1 shows them."""
    given = {
        one.name: _value(one, filters[one.name]) for one in CLAIM_FILTERS if one.name in filters
    }
    if missing := missing_part(given):
        option = missing.replace("_", "-")
        refuse(f"A patient is found by last name and birth date together: add --{option}.", MISUSED)

    async def work(installation: Installation) -> list[dict[str, object]]:
        vault = installation.vault
        sites = {
            site.id: site
            for site in installation.accounts.sites
            if site_id in {"", site.vendor_site_id}
        }
        if site_id and not sites:
            refuse(f"There is no site {site_id}. `clearlane site list` shows them.")
        scopes = [
            VendorScope(vendor, tuple(id for id, site in sites.items() if site.vendor_id == vendor))
            for vendor in dict.fromkeys(site.vendor_id for site in sites.values())
        ]

        def query_of(vendor: VendorId) -> ClaimQuery:
            where = to_where(given, vault, vendor)
            return ClaimQuery(where=where, order=list_order(where), limit=limit)

        found = await find_claims_of_vendors(
            installation.database, vault, query_of, scopes, actor=operator()
        )
        return [claim_object(claim, sites) for claim in found]

    return run_in_installation(data, work)


def _value(one: ClaimFilter, text: str) -> object:
    """Return the text of an option as the value that it means."""
    option = f"--{one.name.replace('_', '-')}"
    value: object
    match one.type:
        case FilterType.CHOICE:
            choices = CHOICES[one.name]
            value, expected = choices.get(text), f"one of {', '.join(choices)}"
        case FilterType.DAY:
            value, expected = parse_iso_date(text), "a day such as 2026-01-31"
        case FilterType.AMOUNT:
            value, expected = to_cents(parse_money(text)), "an amount such as 150.25"
        case FilterType.MOMENT:
            value, expected = _moment(text), "a time such as 2026-01-31T08:30:00Z"
        case FilterType.TEXT:
            value, expected = text.strip() or None, "a text"
    if value is None:
        refuse(f"{option} takes {expected}.", MISUSED)
    return value


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
