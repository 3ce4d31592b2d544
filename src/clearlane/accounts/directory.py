"""The directory of vendors and sites in memory, which authenticates calls.

A snapshot, replaced as a whole when the accounts' revision changes. Knows no HTTP and no database.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from clearlane.accounts.api_keys import ApiKey, read_bearer
from clearlane.accounts.credentials import (
    NO_SECRET,
    SecretHash,
    hash_password,
    matches_secret,
    read_basic,
)
from clearlane.accounts.model import Site, Vendor, VendorState
from clearlane.kernel.ids import VendorId

K = TypeVar("K")
V = TypeVar("V")


_UNKNOWN_VENDOR: tuple[Vendor | None, Sequence[SecretHash]] = (None, NO_SECRET)


class AccountDirectory:
    """All vendors, the hashes of their passwords, their API keys and their sites."""

    __slots__ = (
        "_by_folded_key",
        "_by_key",
        "_by_vendor",
        "_keys",
        "_pepper",
        "_secrets",
        "_sites",
        "_sites_by_folded_id",
        "_vendors",
        "api_keys",
        "sites",
        "vendors",
    )

    def __init__(
        self,
        *,
        pepper: bytes,
        vendors: Iterable[Vendor],
        secrets: Mapping[VendorId, Sequence[SecretHash]],
        sites: Iterable[Site],
        api_keys: Iterable[ApiKey] = (),
    ) -> None:
        self._pepper = pepper
        self.vendors = tuple(sorted(vendors, key=lambda vendor: vendor.key))
        self.sites = tuple(sorted(sites, key=lambda site: site.vendor_site_id))
        self.api_keys = tuple(sorted(api_keys, key=lambda key: key.name.casefold()))
        self._keys = {key.id.encode(): key for key in self.api_keys}
        self._vendors = {vendor.id: vendor for vendor in self.vendors}
        self._secrets = secrets
        self._by_key: dict[bytes, tuple[Vendor | None, Sequence[SecretHash]]] = {
            vendor.key.encode(): (vendor, secrets.get(vendor.id) or NO_SECRET)
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
        matches = matches_secret(secrets, hash_password(self._pepper, pair[1]), now)
        if not matches or vendor is None or vendor.state is not VendorState.ACTIVE:
            return None
        return vendor

    def authenticate_key(
        self, authorization: str | None, now: datetime
    ) -> tuple[Vendor, ApiKey] | None:
        """Return the live API key that the header carries, with its active vendor, else None.

        An unknown key, a wrong one, an expired one and a disabled one take the same time.
        """
        pair = read_bearer(authorization)
        if pair is None:
            return None
        key = self._keys.get(pair[0])
        secrets = key.secrets if key else NO_SECRET
        matches = matches_secret(secrets, hash_password(self._pepper, pair[1]), now)
        vendor = self._vendors.get(key.vendor_id) if key else None
        if not matches or key is None or vendor is None:
            return None
        is_live = key.is_live(now) and vendor.state is VendorState.ACTIVE
        return (vendor, key) if is_live else None

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

    def live_passwords(self, vendor: Vendor, now: datetime) -> list[SecretHash]:
        """Return the vendor's passwords that are valid now."""
        return [one for one in self._secrets.get(vendor.id, ()) if one.is_live(now)]

    def keys_of(self, vendor: Vendor) -> tuple[ApiKey, ...]:
        """Return the API keys of a vendor, by name."""
        return tuple(key for key in self.api_keys if key.vendor_id == vendor.id)

    def api_key(self, id: str) -> ApiKey | None:
        """Return the API key with this id, of any vendor: for operators."""
        return self._keys.get(id.encode(errors="replace"))


def _unique(pairs: Iterable[tuple[K, V]]) -> dict[K, V]:
    """Return the values whose key no other value has."""
    found: dict[K, V] = {}
    shared: set[K] = set()
    for key, value in pairs:
        if key in found:
            shared.add(key)
        found[key] = value
    return {key: value for key, value in found.items() if key not in shared}
