"""A site as programs see it, over the service and on its machine."""

from clearlane.accounts.model import Site
from clearlane.kernel.clock import moment_text


def site_object(site: Site) -> dict[str, object]:
    """Return a site."""
    since = site.daily_summary_since
    return {
        "id": site.vendor_site_id,
        "site": site.vendor_site_id,
        "client_id": site.client_id,
        "name": site.name,
        "time_zone": site.time_zone,
        "state": site.state.value,
        "baa_accepted": site.baa_accepted,
        "console_corrections": site.console_corrections,
        "shadow": site.shadow,
        "bills_next_payer": site.bills_next_payer,
        "daily_summary_since_at": moment_text(since) if since else None,
    }
