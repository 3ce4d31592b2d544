"""Vendors and sites as values, and the checks of their names.

Knows no header, no hash and no database.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from clearlane.kernel import limits
from clearlane.kernel.clock import time_zones
from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.kernel.ids import Scope, SiteId, VendorId, VendorScope

RATE_PER_MINUTE_MAX = 1_000_000


class VendorState(StrEnum):
    """Whether a vendor's credentials are accepted."""

    ACTIVE = "active"
    DISABLED = "disabled"


class SiteState(StrEnum):
    """Whether a site may submit."""

    ACTIVE = "active"
    SUSPENDED = "suspended"


@dataclass(frozen=True, slots=True)
class Vendor:
    """A software vendor, which calls the interface."""

    id: VendorId
    key: str
    name: str
    state: VendorState = VendorState.ACTIVE
    proxy_login: bool = True
    rate_per_minute: int | None = None
    """The limit of calls per minute; None for no limit."""


@dataclass(frozen=True, slots=True)
class Site:
    """A client of a vendor, on whose behalf the vendor calls."""

    id: SiteId
    vendor_id: VendorId
    vendor_site_id: str
    client_id: str
    name: str
    time_zone: str = "UTC"
    state: SiteState = SiteState.ACTIVE
    baa_accepted: bool = False
    console_corrections: bool = True
    """Whether people may correct its claims in the console, or its software alone."""
    shadow: bool = False
    """Whether every file that it sends is a shadow file: its claims are judged and never sent."""
    daily_summary_since: datetime | None = None
    """Since when a summary of each day is written for it to fetch; None if none is."""
    bills_next_payer: bool = False
    """Whether claims for the next payer are sent by themselves once nothing is open."""
    scope: Scope = field(init=False, repr=False, compare=False)
    """The rows that a call for this site may access."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scope", Scope(vendor=self.vendor_id, site=self.id))


def vendor_findings(*, key: str, name: str) -> list[Finding]:
    """Return every finding about a new vendor's key and name."""
    return [*_identifier("Vendor key", "KEY", key), *name_findings("Vendor name", "NAME", name)]


def site_findings(
    *, vendor_site_id: str, client_id: str, name: str, time_zone: str
) -> list[Finding]:
    """Return every finding about a new site."""
    return [
        *_identifier("vendorSiteId", "VENDOR_SITE_ID", vendor_site_id),
        *_identifier("Client id", "CLIENT_ID", client_id),
        *name_findings("Site name", "NAME", name),
        *_time_zone(time_zone),
    ]


def rate_findings(rate_per_minute: int | None) -> list[Finding]:
    """Return the findings about a vendor's limit of calls per minute."""
    if rate_per_minute is None or 1 <= rate_per_minute <= RATE_PER_MINUTE_MAX:
        return []
    wanted = f"a whole number from 1 to {RATE_PER_MINUTE_MAX}, or off"
    return [make_shape_finding("ACC004", "LIMIT", f"The limit of calls a minute must be {wanted}.")]


# Clients send the key before the first colon of a Basic header and the vendorSiteId unencoded in a
# query, and both as ASCII, UTF-8 or Latin-1. These characters are the same in all of them.
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)


def _identifier(label: str, location: str, text: str) -> Iterator[Finding]:
    if len(text) > limits.ACCOUNT_IDENTIFIER_CHARACTERS_MAX or not _IDENTIFIER.fullmatch(text):
        yield make_shape_finding(
            "ACC001",
            location,
            f"{label} must be 1 to {limits.ACCOUNT_IDENTIFIER_CHARACTERS_MAX} letters, digits, "
            "'-', '_' or '.', and start with a letter or a digit.",
        )


def name_findings(label: str, location: str, text: str) -> Iterator[Finding]:
    """Yield the finding about a name that people read."""
    if text.strip() and text.isprintable() and len(text) <= limits.ACCOUNT_NAME_CHARACTERS_MAX:
        return
    yield make_shape_finding(
        "ACC002",
        location,
        f"{label} must be 1 to {limits.ACCOUNT_NAME_CHARACTERS_MAX} printable characters.",
    )


def _time_zone(name: str) -> Iterator[Finding]:
    if name in time_zones():
        return
    alike = [zone for zone in sorted(time_zones()) if zone.casefold() == name.casefold()]
    hint = f" Did you mean {alike[0]}?" if alike else ""
    yield make_shape_finding(
        "ACC003",
        "TIME_ZONE",
        f"Time zone must be an IANA name such as America/Chicago or UTC.{hint}",
    )


def vendor_scopes(sites: Sequence[Site]) -> list[VendorScope]:
    """Return the scopes of sites, one for each of their vendors."""
    return [
        VendorScope(vendor, tuple(site.id for site in sites if site.vendor_id == vendor))
        for vendor in dict.fromkeys(site.vendor_id for site in sites)
    ]
