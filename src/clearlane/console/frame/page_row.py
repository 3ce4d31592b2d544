"""A row of the console's table of pages, how a module declares its rows, and the sets of roles that rows name.

    pages = PageRows(roles=BILLERS, menu="/claims")

    @pages.act("/claims/{number}/hold", UNDONE_BESIDE)
    async def hold(request: PageRequest) -> Response: ...

Knows no page.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.responses import Response

from clearlane.accounts.users import ConsoleRole
from clearlane.console.frame.act_question import AskFirst
from clearlane.console.frame.forms import CONSOLE_FORM_BYTES_MAX
from clearlane.console.frame.page_request import PageRequest

READ = frozenset({"GET", "HEAD"})
SEND = frozenset({"POST"})

EVERYBODY = frozenset(ConsoleRole)
"""Roles that read the claims of their sites."""
BILLERS = EVERYBODY - {ConsoleRole.VIEWER}
"""Roles that change claims of their sites."""
OPERATORS = frozenset({ConsoleRole.OPERATOR})
NOBODY_SIGNED_IN: frozenset[ConsoleRole] = frozenset()
"""For pages that need no session."""


PageHandler = Callable[[PageRequest], Awaitable[Response]]
H = TypeVar("H", bound=PageHandler)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """One page, fragment, action or download: its address, its methods, who may use it, and what does it."""

    path: str
    """Relative to the console. A part in braces matches one segment: ``/claims/{number}``."""
    methods: frozenset[str] = READ
    roles: frozenset[ConsoleRole]
    """Empty for a page without a session."""
    show: PageHandler
    menu: str = ""
    """The address of the menu entry that is marked while this page is shown."""
    kept: Mapping[str, str] | None = None
    """For an action whose form is kept when the session has ended: the fields with which it is shown again after
    signing in, so that nothing is done before the person presses its button again. None if it is not kept."""
    notices: Mapping[str, str] = field(default_factory=dict)
    """Sentences that ``?done=NAME`` shows above the page. Text from an address is never shown."""
    ask: AskFirst | None = None
    """For an action: what is asked before it is done."""
    form_bytes_max: int = CONSOLE_FORM_BYTES_MAX
    """For an action: how large its form may be."""
    unasked: str = ""
    """For an action that asks nothing first: the reason. An action has either this or a question."""

    def match(self, path: str) -> dict[str, str] | None:
        """Return the parts of an address in braces, by name; None for another address.

        A last part such as ``{code...}`` is the whole rest, which may be empty.
        """
        wanted, given = self.path.split("/"), path.split("/")
        if self.path.endswith("...}") and len(given) >= len(wanted):
            rest = "/".join(given[len(wanted) - 1 :])
            return {wanted[-1][1:-4]: rest} if given[: len(wanted) - 1] == wanted[:-1] else None
        if len(wanted) != len(given):
            return None
        parts: dict[str, str] = {}
        for name, text in zip(wanted, given, strict=True):
            if name.startswith("{") and text:
                parts[name[1:-1]] = text
            elif name != text:
                return None
        return parts


@dataclass(slots=True, kw_only=True)
class PageRows:
    """The rows of a module, each declared at its handler. Roles and menu are those of rows that name none.

    Roles that only read are left out of an action, unless its row names them.
    """

    roles: frozenset[ConsoleRole]
    menu: str = ""
    rows: list[PageRow] = field(default_factory=list)

    def page(self, path: str, **columns: Any) -> Callable[[H], H]:
        """Declare a page, fragment or download at its handler."""

        def declare(handler: H) -> H:
            defaults = {"roles": self.roles, "menu": self.menu}
            self.rows.append(PageRow(path=path, show=handler, **defaults | columns))
            return handler

        return declare

    def act(self, path: str, asked: AskFirst | str, **columns: Any) -> Callable[[H], H]:
        """Declare an action at its handler: the question before it, or the reason why there is none."""
        column = "unasked" if isinstance(asked, str) else "ask"
        act = {"methods": SEND, "roles": self.roles & BILLERS, column: asked}
        return self.page(path, **act | columns)
