"""Who calls and for whom, answered from memory.

A snapshot of all vendors and sites, replaced as a whole when the accounts' revision moves. Knows
no HTTP and no database.
"""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from clearlane.accounts.credentials import HASH_BYTES, hash_password, read_basic
from clearlane.accounts.model import Site, Vendor, VendorState
from clearlane.kernel.ids import VendorId


@dataclass(frozen=True, slots=True)
class Secret:
    """One password of a vendor as it is kept. Two are live during a rotation's overlap."""

    hash: bytes = field(repr=False)
    expires_at: datetime | None = None


# What an unknown key is compared with, so that it costs what a known key costs. No password has
# this hash that anyone could find.
_NO_SECRET = (Secret(bytes(HASH_BYTES)),)
_NOBODY: tuple[Vendor | None, Sequence[Secret]] = (None, _NO_SECRET)


class Accounts:
    """All vendors, their passwords' hashes and their sites."""

    __slots__ = ("_by_key", "_pepper", "_secrets", "_sites", "sites", "vendors")

    def __init__(
        self,
        *,
        pepper: bytes,
        vendors: Iterable[Vendor],
        secrets: Mapping[VendorId, Sequence[Secret]],
        sites: Iterable[Site],
    ) -> None:
        self._pepper = pepper
        self.vendors = tuple(sorted(vendors, key=lambda vendor: vendor.key))
        self.sites = tuple(sorted(sites, key=lambda site: site.vendor_site_id))
        self._secrets = secrets
        self._by_key: dict[bytes, tuple[Vendor | None, Sequence[Secret]]] = {
            vendor.key.encode(): (vendor, secrets.get(vendor.id) or _NO_SECRET)
            for vendor in self.vendors
        }
        self._sites = {site.vendor_site_id: site for site in self.sites}

    def authenticate(self, authorization: str | None, now: datetime) -> Vendor | None:
        """The vendor whose live password the header carries; None for every other header.

        An unknown key, a wrong password and a disabled vendor take the same time.
        """
        pair = read_basic(authorization)
        if pair is None:
            return None
        vendor, secrets = self._by_key.get(pair[0], _NOBODY)
        digest = hash_password(self._pepper, pair[1])
        right = False
        for secret in secrets:
            live = secret.expires_at is None or now < secret.expires_at
            right |= hmac.compare_digest(secret.hash, digest) and live
        if not right or vendor is None or vendor.state is not VendorState.ACTIVE:
            return None
        return vendor

    def site(self, vendor: Vendor, vendor_site_id: str) -> Site | None:
        """The vendor's site of that id; None for unknown and foreign ids alike."""
        site = self._sites.get(vendor_site_id)
        return site if site is not None and site.vendor_id == vendor.id else None

    def vendor(self, key: str) -> Vendor | None:
        """The vendor of that key, whatever its state."""
        return self._by_key.get(key.encode(errors="replace"), _NOBODY)[0]

    def any_site(self, vendor_site_id: str) -> Site | None:
        """The site of that id, whosoever it is: for operators, never for calls."""
        return self._sites.get(vendor_site_id)

    def live_secrets(self, vendor: Vendor, now: datetime) -> list[Secret]:
        """The vendor's passwords that open the door now."""
        return [
            secret
            for secret in self._secrets.get(vendor.id, ())
            if secret.expires_at is None or now < secret.expires_at
        ]
