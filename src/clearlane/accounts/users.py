"""Console users: people who look at the claims of their sites.

Knows names, states and when a second factor is locked; no password's hash, no session, no database.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from clearlane.accounts.model import Site
from clearlane.kernel import limits
from clearlane.kernel.finding import Finding, Stage
from clearlane.kernel.ids import SiteId, VendorId


class UserState(StrEnum):
    """Whether a user may sign in."""

    ACTIVE = "active"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class User:
    """A person with a password and a second factor, and the sites whose claims are shown."""

    id: int
    name: str
    vendor_id: VendorId
    state: UserState = UserState.ACTIVE
    sites: frozenset[SiteId] | None = frozenset()
    """None for every site of the vendor, those of tomorrow too."""

    def may_see(self, site: Site) -> bool:
        """Whether a site's claims are this user's to see."""
        return site.vendor_id == self.vendor_id and (self.sites is None or site.id in self.sites)


@dataclass(frozen=True, slots=True)
class Tries:
    """Wrong codes given together with the right password, and when the last one came."""

    failures: int
    failed_at: datetime

    def locked(self, now: datetime) -> bool:
        """Whether no code is looked at for now.

        Only who knows the password gets here, so a stranger cannot lock a user out.
        """
        return self.failures >= limits.CONSOLE_CODE_FAILURES_MAX and not self._forgiven(now)

    def after_failure(self, now: datetime) -> "Tries":
        """One more wrong code."""
        return Tries(1 if self._forgiven(now) else self.failures + 1, now)

    def _forgiven(self, now: datetime) -> bool:
        return now - self.failed_at >= timedelta(seconds=limits.CONSOLE_CODE_LOCK_SECONDS)


def folded(name: str) -> str:
    """A user's name as it is kept and looked for."""
    return name.strip().lower()


def name_findings(name: str) -> list[Finding]:
    """What is wrong with a new user's name."""
    if len(name) <= limits.ACCOUNT_IDENTIFIER_CHARACTERS_MAX and _NAME.fullmatch(folded(name)):
        return []
    most = limits.ACCOUNT_IDENTIFIER_CHARACTERS_MAX
    wanted = f"1 to {most} letters, digits, '.', '_', '-', '+' or '@'"
    return [_finding("ACC006", "NAME", f"User name must be {wanted}.")]


def password_findings(password: str, name: str) -> list[Finding]:
    """What is wrong with a password that somebody chose: length counts, not the kinds of characters."""
    least, most = limits.CONSOLE_PASSWORD_CHARACTERS_MIN, limits.CONSOLE_PASSWORD_CHARACTERS_MAX
    if not least <= len(password) <= most:
        wanted = f"{least} to {most} characters"
        return [_finding("ACC007", "PASSWORD", f"The password must have {wanted}.")]
    if password.lower().strip() == folded(name) or len(set(password)) < least // 2:
        told = "The password must not be the user's name or repeat a few characters."
        return [_finding("ACC008", "PASSWORD", told)]
    return []


_NAME = re.compile(r"[a-z0-9][a-z0-9._+@-]*", re.ASCII)


def _finding(rule: str, location: str, message: str) -> Finding:
    return Finding(rule=rule, stage=Stage.SHAPE, location=location, message=message)
