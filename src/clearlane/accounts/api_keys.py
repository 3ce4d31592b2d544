"""API keys: what a vendor's program calls ``/clearlane/v1`` with, each for some scopes and some sites.

A key is ``clearlane_ID_SECRET``. The prefix lets secret scanners find one that leaked, and the id says which key it
is; only a keyed hash of the whole is stored. Knows no HTTP and no database.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from clearlane.accounts.credentials import AUTHORIZATION_CHARACTERS_MAX, SecretHash
from clearlane.accounts.model import Site, name_findings
from clearlane.kernel import limits
from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.kernel.ids import SiteId, VendorId, random_text

API_KEY_PREFIX = "clearlane_"
KEY_ID_CHARACTERS = 10


class KeyScope(StrEnum):
    """What a key may be used for. Every endpoint of ``/clearlane/v1`` names the one it needs."""

    READ = "read"
    SUBMIT = "submit"
    CORRECT = "correct"
    FILES = "files"
    WEBHOOKS = "webhooks"


SCOPE_MEANINGS = {
    KeyScope.READ: "Read claims, payments, eligibility, documents, events, payers, sites and the log of calls.",
    KeyScope.SUBMIT: "Submit claims, check them before, and ask payers about patients' insurance.",
    KeyScope.CORRECT: "Hold, release, cancel and correct claims, close payments, and sign console users in.",
    KeyScope.FILES: "Send X12 and fetch what comes back.",
    KeyScope.WEBHOOKS: "See, add, change and remove webhook endpoints.",
}
OF_ALL_SITES = frozenset({KeyScope.WEBHOOKS})
"""Scopes of what belongs to the vendor and not to a site: a key for some sites only cannot have them."""


class KeyState(StrEnum):
    """Whether a key is accepted, if it has not expired."""

    ACTIVE = "active"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key, without its secrets."""

    id: str
    vendor_id: VendorId
    name: str
    scopes: frozenset[KeyScope]
    sites: frozenset[SiteId] | None
    """None for all sites of the vendor, also those that are added later."""
    state: KeyState
    created_at: datetime
    expires_at: datetime | None
    secrets: tuple[SecretHash, ...]
    """Two or more are live while a rotation overlaps."""

    def is_live(self, now: datetime) -> bool:
        """Return whether the key is accepted."""
        return self.state is KeyState.ACTIVE and (self.expires_at is None or now < self.expires_at)

    def may_use(self, site: Site) -> bool:
        """Return whether the key is good for a site of its vendor."""
        return self.sites is None or site.id in self.sites


def new_key_id() -> str:
    """Return the id of a new key."""
    return random_text(KEY_ID_CHARACTERS)


def new_api_key(id: str) -> str:
    """Return a new key to send, of 190 random bits."""
    return f"{API_KEY_PREFIX}{id}_{random_text(limits.SECRET_CHARACTERS)}"


def read_bearer(authorization: str | None) -> tuple[bytes, bytes] | None:
    """Read id and whole key from a Bearer header; None if it carries no API key (RFC 6750)."""
    if authorization is None or len(authorization) > AUTHORIZATION_CHARACTERS_MAX:
        return None
    scheme, _, token = authorization.strip().partition(" ")
    found = _API_KEY.fullmatch(token.strip()) if scheme.lower() == "bearer" else None
    return (found[1].encode(), found[0].encode()) if found else None


def api_key_findings(
    *,
    name: str,
    scopes: Sequence[str],
    sites: Sequence[str],
    known_sites: Sequence[str],
    expires_at: datetime | None,
    now: datetime,
) -> list[Finding]:
    """Return every finding about a new key. No sites are all sites."""
    return [
        *name_findings("Name", "NAME", name),
        *_scope_findings(scopes, of_some_sites=bool(sites)),
        *_site_findings(sites, known_sites),
        *_expiry_findings(expires_at, now),
    ]


def _scope_findings(scopes: Sequence[str], *, of_some_sites: bool) -> Iterator[Finding]:
    known = ", ".join(KeyScope)
    unknown = [one for one in scopes if one not in _SCOPES]
    if not scopes or unknown:
        wrong = (
            f"{', '.join(repr(one[:40]) for one in unknown)} is not a scope. " if unknown else ""
        )
        yield make_shape_finding("ACC010", "SCOPE", f"{wrong}Give one or more of {known}.")
    refused = [one for one in OF_ALL_SITES if one in scopes]
    if of_some_sites and refused:
        text = f"The scope {refused[0]} is for all sites of the vendor: leave it out, or name no sites."
        yield make_shape_finding("ACC010", "SCOPE", text)


def _site_findings(sites: Sequence[str], known: Sequence[str]) -> Iterator[Finding]:
    unknown = [one for one in sites if one not in known]
    if unknown:
        shown = ", ".join(repr(one[:40]) for one in unknown)
        text = f"{shown} is not a site of this vendor. `clearlane site list` shows them."
        yield make_shape_finding("ACC011", "SITE", text)


def _expiry_findings(expires_at: datetime | None, now: datetime) -> Iterator[Finding]:
    if expires_at is not None and expires_at <= now:
        yield make_shape_finding("ACC012", "EXPIRES", "The key would have expired already.")


_SCOPES = frozenset(KeyScope)
_API_KEY = re.compile(rf"{API_KEY_PREFIX}([A-Za-z0-9]{{1,64}})_[A-Za-z0-9]{{1,128}}", re.ASCII)
