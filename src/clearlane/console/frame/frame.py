"""The frame of every page: the menu, the site switch, the search box, the sandbox band, the user.

Knows the menu's table; knows no page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from clearlane.accounts.model import Site
from clearlane.accounts.users import ConsoleRole, ConsoleUser
from clearlane.console.frame import page_text

EVERY_ROLE = frozenset(ConsoleRole)
OPERATOR = frozenset({ConsoleRole.OPERATOR})


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """An entry of the menu, and whose menu it is in."""

    path: str
    title: str
    roles: frozenset[ConsoleRole] = EVERY_ROLE
    sandbox_only: bool = False


MENU = (
    MenuEntry("/", "Home"),
    MenuEntry("/claims", "Claims"),
    MenuEntry("/payments", "Payments"),
    MenuEntry("/eligibility", "Eligibility"),
    MenuEntry("/enrollments", "Enrollments"),
    MenuEntry("/files", "Files", EVERY_ROLE - OPERATOR),
)
OPERATOR_MENU = (
    MenuEntry("/payers", "Connections", OPERATOR),
    MenuEntry("/files", "Files", OPERATOR),
    MenuEntry("/rules", "Rules", OPERATOR),
    MenuEntry("/accounts", "Accounts", OPERATOR),
    MenuEntry("/people", "People", OPERATOR),
    MenuEntry("/audit", "Audit", OPERATOR),
    MenuEntry("/retention", "Retention", OPERATOR),
    MenuEntry("/sandbox", "Sandbox", OPERATOR, sandbox_only=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The values that the layout shows around a page."""

    user: ConsoleUser
    current: str
    """The address of the menu entry that is marked."""
    counts: Mapping[str, str] = field(default_factory=dict)
    """What needs the user, by address of the menu entry."""
    sites: tuple[Site, ...]
    site: Site | None
    all_sites: bool
    sandbox: bool
    today: date
    machine_day: date
    """The day of the clock that people live by: sessions, drafts and the audit log have its times."""
    here: str
    """The path and query of this page, to come back to."""
    notice: str
    printed: str
    """When this page was made, for paper."""

    @property
    def menu(self) -> tuple[MenuEntry, ...]:
        """The entries for all users."""
        return self._visible(MENU)

    @property
    def operator_menu(self) -> tuple[MenuEntry, ...]:
        """The entries for operators; none for other roles."""
        return self._visible(OPERATOR_MENU)

    @property
    def sandbox_day(self) -> str:
        """The payers' day in a sandbox; empty in production."""
        return page_text.day(self.today) if self.sandbox else ""

    @property
    def other_day(self) -> str:
        """The machine's day in a sandbox whose payers live on another one; empty otherwise."""
        differs = self.sandbox and self.machine_day != self.today
        return page_text.day(self.machine_day) if differs else ""

    @property
    def may_advance(self) -> bool:
        """Whether the user may let the sandbox's days pass."""
        return self.user.role is not ConsoleRole.VIEWER

    def _visible(self, entries: tuple[MenuEntry, ...]) -> tuple[MenuEntry, ...]:
        role, sandbox = self.user.role, self.sandbox
        return tuple(e for e in entries if role in e.roles and (sandbox or not e.sandbox_only))
