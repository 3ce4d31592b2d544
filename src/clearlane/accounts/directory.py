"""The directory of vendors and sites in memory, which authenticates calls.

A snapshot, replaced as a whole when the accounts' revision changes. Knows no HTTP and no database.
"""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from clearlane.accounts.credentials import HASH_BYTES, hash_password, read_basic
from clearlane.accounts.model import Site, Vendor, VendorState
from clearlane.kernel.ids import VendorId

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class VendorPassword:
    """The hash of a vendor's password. Two are live while a rotation overlaps."""

    hash: bytes = field(repr=False)
    expires_at: datetime | None = None


# Compared with the password of an unknown key, so that it takes as long as for a known one. No
# password has this hash.
_NO_PASSWORD = (VendorPassword(bytes(HASH_BYTES)),)
_UNKNOWN_VENDOR: tuple[Vendor | None, Sequence[VendorPassword]] = (None, _NO_PASSWORD)


class AccountDirectory:
    """All vendors, their passwords' hashes and their sites."""

    __slots__ = (
        "_by_folded_key",
        "_by_key",
        "_by_vendor",
        "_pepper",
        "_secrets",
        "_sites",
        "_sites_by_folded_id",
        "sites",
        "vendors",
    )

    def __init__(
        self,
        *,
        pepper: bytes,
        vendors: Iterable[Vendor],
        secrets: Mapping[VendorId, Sequence[VendorPassword]],
        sites: Iterable[Site],
    ) -> None:
        self._pepper = pepper
        self.vendors = tuple(sorted(vendors, key=lambda vendor: vendor.key))
        self.sites = tuple(sorted(sites, key=lambda site: site.vendor_site_id))
        self._secrets = secrets
        self._by_key: dict[bytes, tuple[Vendor | None, Sequence[VendorPassword]]] = {
            vendor.key.encode(): (vendor, secrets.get(vendor.id) or _NO_PASSWORD)
            for vendor in self.vendors
        }
        self._by_folded_key = _unique((key.lower(), entry) for key, entry in self._by_key.items())
        by_vendor: dict[VendorId, list[Site]] = {}
        for site in self.sites:
            by_vendor.setdefault(site.vendor_id, []).append(site)
        self._by_vendor = {id: tuple(own) for id, own in by_vendor.items()}
        self._sites = {site.vendor_site_id: site for site in self.sites}
        self._sites_by_folded_id = _unique(
            ((site.vendor_id, site.vendor_site_id.lower()), site) for site in self.sites
        )

    def authenticate(self, authorization: str | None, now: datetime) -> Vendor | None:
        """Return the active vendor whose live password the header carries, else None.

        A key in another case counts if it is one vendor's only.
        An unknown key, a wrong password and a disabled vendor take the same time.
        """
        pair = read_basic(authorization)
        if pair is None:
            return None
        vendor, secrets = self._by_key.get(pair[0]) or self._by_folded_key.get(
            pair[0].lower(), _UNKNOWN_VENDOR
        )
        digest = hash_password(self._pepper, pair[1])
        matches = False
        for secret in secrets:
            live = secret.expires_at is None or now < secret.expires_at
            matches |= hmac.compare_digest(secret.hash, digest) and live
        if not matches or vendor is None or vendor.state is not VendorState.ACTIVE:
            return None
        return vendor

    def site(self, vendor: Vendor, vendor_site_id: str) -> Site | None:
        """Return the vendor's site with this id; None for unknown ids and those of other vendors alike.

        An id in another case counts if it is that of one of the vendor's sites only.
        """
        site = self._sites.get(vendor_site_id)
        if site is not None and site.vendor_id == vendor.id:
            return site
        folded = vendor_site_id.lower() if vendor_site_id.isascii() else vendor_site_id
        return self._sites_by_folded_id.get((vendor.id, folded))

    def sites_of(self, vendor: Vendor) -> tuple[Site, ...]:
        """Return the sites of a vendor."""
        return self._by_vendor.get(vendor.id, ())

    def vendor(self, key: str) -> Vendor | None:
        """Return the vendor with this key, whatever its state."""
        return self._by_key.get(key.encode(errors="replace"), _UNKNOWN_VENDOR)[0]

    def any_site(self, vendor_site_id: str) -> Site | None:
        """Return the site with this id, of any vendor: for operators, never for calls."""
        return self._sites.get(vendor_site_id)

    def live_passwords(self, vendor: Vendor, now: datetime) -> list[VendorPassword]:
        """Return the vendor's passwords that are valid now."""
        return [
            secret
            for secret in self._secrets.get(vendor.id, ())
            if secret.expires_at is None or now < secret.expires_at
        ]


def _unique(pairs: Iterable[tuple[K, V]]) -> dict[K, V]:
    """Return the values whose key no other value has."""
    found: dict[K, V] = {}
    shared: set[K] = set()
    for key, value in pairs:
        if key in found:
            shared.add(key)
        found[key] = value
    return {key: value for key, value in found.items() if key not in shared}
