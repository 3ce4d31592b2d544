"""Console users: people who may see the claims of their sites.

Knows names, states and the lock of the second factor; no password hash, no session and no database.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from clearlane.accounts.model import Site
from clearlane.kernel import limits
from clearlane.kernel.finding import Finding, make_shape_finding
from clearlane.kernel.ids import SiteId, VendorId

# How short a password may be, and how many wrong one-time codes are allowed after a correct one.
CONSOLE_PASSWORD_CHARACTERS_MIN = 12
CONSOLE_CODE_FAILURES_MAX = 5
CONSOLE_CODE_LOCK_SECONDS = 15 * 60


class UserState(StrEnum):
    """Whether a user may sign in."""

    ACTIVE = "active"
    DISABLED = "disabled"


class ConsoleRole(StrEnum):
    """What a user may see and do: the table of console pages names the roles of each page."""

    VIEWER = "viewer"
    """Reads the claims of some sites."""
    BILLER = "biller"
    """Works on the claims of some sites."""
    SUPPORT = "support"
    """Works on the claims of all sites of one vendor."""
    OPERATOR = "operator"
    """Sees and does everything; belongs to no vendor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a user may see and do."""

    role: ConsoleRole
    vendor: VendorId
    """``NO_VENDOR`` for operators."""
    sites: frozenset[SiteId] | None
    """None for every site of the vendor, including later ones."""


@dataclass(frozen=True, slots=True)
class ConsoleUser:
    """A user of the console and the sites whose claims the user may see."""

    id: int
    name: str
    vendor_id: VendorId
    state: UserState = UserState.ACTIVE
    sites: frozenset[SiteId] | None = frozenset()
    """None for every site of the vendor, including later ones."""
    role: ConsoleRole = ConsoleRole.BILLER

    def may_see(self, site: Site) -> bool:
        """Return whether the user may see a site's claims."""
        if self.role is ConsoleRole.OPERATOR:
            return True
        return site.vendor_id == self.vendor_id and (self.sites is None or site.id in self.sites)


@dataclass(frozen=True, slots=True)
class CodeFailures:
    """Wrong codes given together with the right password, and when the last one came."""

    failures: int
    failed_at: datetime

    def is_locked(self, now: datetime) -> bool:
        """Return whether codes are refused for now.

        Only a person who knows the password gets this far, so a stranger cannot lock a user out.
        """
        return self.failures >= CONSOLE_CODE_FAILURES_MAX and not self._expired(now)

    def after_failure(self, now: datetime) -> "CodeFailures":
        """Return the count after one more wrong code."""
        return CodeFailures(1 if self._expired(now) else self.failures + 1, now)

    def _expired(self, now: datetime) -> bool:
        return now - self.failed_at >= timedelta(seconds=CONSOLE_CODE_LOCK_SECONDS)


def normalize_name(name: str) -> str:
    """Return a user's name as it is stored and looked up."""
    return name.strip().lower()


def name_findings(name: str) -> list[Finding]:
    """Return the findings about a new user's name."""
    if len(name) <= limits.ACCOUNT_IDENTIFIER_CHARACTERS_MAX and _NAME.fullmatch(
        normalize_name(name)
    ):
        return []
    most = limits.ACCOUNT_IDENTIFIER_CHARACTERS_MAX
    wanted = f"1 to {most} letters, digits, '.', '_', '-', '+' or '@'"
    return [make_shape_finding("ACC006", "NAME", f"User name must be {wanted}.")]


def password_findings(password: str, name: str) -> list[Finding]:
    """Return the findings about a chosen password: length counts, not the kinds of characters."""
    least, most = CONSOLE_PASSWORD_CHARACTERS_MIN, limits.CONSOLE_PASSWORD_CHARACTERS_MAX
    if not least <= len(password) <= most:
        wanted = f"{least} to {most} characters"
        return [make_shape_finding("ACC007", "PASSWORD", f"The password must have {wanted}.")]
    if password.lower().strip() == normalize_name(name) or len(set(password)) < least // 2:
        message = "The password must not be the user's name or repeat a few characters."
        return [make_shape_finding("ACC008", "PASSWORD", message)]
    return []


_NAME = re.compile(r"[a-z0-9][a-z0-9._+@-]*", re.ASCII)
