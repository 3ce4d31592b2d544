"""The site that an option names, of an open installation; an id that no site has is refused in one sentence."""

from clearlane.accounts.model import Site
from clearlane.cli.command.storage_command import REFUSED, refuse
from clearlane.wiring import Installation


def find_site(installation: Installation, site_id: str, *, code: int = REFUSED) -> Site:
    """Return the site with this id; end the command with ``code`` if there is none."""
    found = installation.accounts.any_site(site_id)
    if found is None:
        refuse(f"There is no site {site_id}. `clearlane site list` shows them.", code)
    return found


def chosen_sites(installation: Installation, site_id: str, *, code: int = REFUSED) -> list[Site]:
    """Return the site with this id, or all sites if none is named."""
    if site_id:
        return [find_site(installation, site_id, code=code)]
    return [*installation.accounts.sites]
