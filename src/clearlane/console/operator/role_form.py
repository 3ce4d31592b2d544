"""Fields of a form that say what a person may see and do: role, vendor, sites.

For the invitation of a person and for a change of role. Knows no page.
"""

from dataclasses import dataclass

from clearlane.accounts.model import Site
from clearlane.accounts.users import Access, ConsoleRole, ConsoleUser
from clearlane.console.frame.page_request import PageRequest
from clearlane.kernel.ids import NO_VENDOR

ROLE_WORDS = {
    ConsoleRole.VIEWER: "reads, some sites",
    ConsoleRole.BILLER: "works, some sites",
    ConsoleRole.SUPPORT: "works, all sites of a vendor",
    ConsoleRole.OPERATOR: "everything",
}
NO_ROLE = "Choose a role."
NO_VENDOR_CHOSEN = "Choose the vendor whose sites the person supports."
NO_SITES_CHOSEN = "Choose one or more sites of one vendor."


@dataclass(frozen=True, slots=True)
class VendorSites:
    """The sites of one vendor that a form offers."""

    name: str
    sites: tuple[Site, ...]


def read_access(request: PageRequest) -> Access | str:
    """Return what the form grants, or the sentence that says what is missing."""
    role = {one.value: one for one in ConsoleRole}.get(request.form.get("role"))
    if role is None:
        return NO_ROLE
    if role is ConsoleRole.OPERATOR:
        return Access(role=role, vendor=NO_VENDOR, sites=None)
    if role is ConsoleRole.SUPPORT:
        vendor = request.context.accounts.vendor(request.form.get("vendor"))
        return Access(role=role, vendor=vendor.id, sites=None) if vendor else NO_VENDOR_CHOSEN
    wanted = set(request.form.get_all("sites"))
    chosen = [site for site in request.sites if site.vendor_site_id in wanted]
    vendors = {site.vendor_id for site in chosen}
    if len(vendors) != 1:
        return NO_SITES_CHOSEN
    return Access(role=role, vendor=vendors.pop(), sites=frozenset(site.id for site in chosen))


def offered_sites(request: PageRequest) -> list[VendorSites]:
    """Return the sites of every vendor that has one."""
    groups = (
        VendorSites(vendor.name, tuple(s for s in request.sites if s.vendor_id == vendor.id))
        for vendor in request.context.accounts.vendors
    )
    return [group for group in groups if group.sites]


def sees_words(request: PageRequest, user: ConsoleUser) -> str:
    """Return what a person sees, in words."""
    if user.role is ConsoleRole.OPERATOR:
        return "everything"
    vendors = {vendor.id: vendor.name for vendor in request.context.accounts.vendors}
    if user.sites is None:
        return f"all sites of {vendors.get(user.vendor_id, 'a vendor')}"
    names = [site.name for site in request.sites if site.id in user.sites]
    return ", ".join(sorted(names)) or "no site"
