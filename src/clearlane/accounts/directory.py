"""The directory of vendors and sites in memory, which authenticates calls.

A snapshot, replaced as a whole when the accounts' revision changes. Knows no HTTP and no database.
"""

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from clearlane.accounts.credentials import HASH_BYTES, hash_password, read_basic
from clearlane.accounts.model import Site, Vendor, VendorState
from clearlane.kernel.ids import VendorId


@dataclass(frozen=True, slots=True)
class VendorPassword:
    """The hash of a vendor's password. Two are live while a rotation overlaps."""

    hash: bytes = field(repr=False)
    expires_at: datetime | None = None


# Compared with the password of an unknown key, so that it takes as long as for a known one. Nobody can find a
# password with this hash.
_NO_PASSWORD = (VendorPassword(bytes(HASH_BYTES)),)
_UNKNOWN_VENDOR: tuple[Vendor | None, Sequence[VendorPassword]] = (None, _NO_PASSWORD)


class AccountDirectory:
    """All vendors, their passwords' hashes and their sites."""

    __slots__ = ("_by_key", "_pepper", "_secrets", "_sites", "sites", "vendors")

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
        self._sites = {site.vendor_site_id: site for site in self.sites}

    def authenticate(self, authorization: str | None, now: datetime) -> Vendor | None:
        """Return the active vendor whose live password the header carries, else None.

        An unknown key, a wrong password and a disabled vendor take the same time.
        """
        pair = read_basic(authorization)
        if pair is None:
            return None
        vendor, secrets = self._by_key.get(pair[0], _UNKNOWN_VENDOR)
        digest = hash_password(self._pepper, pair[1])
        matches = False
        for secret in secrets:
            live = secret.expires_at is None or now < secret.expires_at
            matches |= hmac.compare_digest(secret.hash, digest) and live
        if not matches or vendor is None or vendor.state is not VendorState.ACTIVE:
            return None
        return vendor

    def site(self, vendor: Vendor, vendor_site_id: str) -> Site | None:
        """Return the vendor's site with this id; None for unknown ids and those of other vendors alike."""
        site = self._sites.get(vendor_site_id)
        return site if site is not None and site.vendor_id == vendor.id else None

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
