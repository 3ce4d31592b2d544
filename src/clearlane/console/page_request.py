"""What every page of the console is given: the installation, the request and the signed-in user.

Knows no page.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from starlette.requests import Request

from clearlane.accounts.directory import AccountDirectory
from clearlane.accounts.users import ConsoleUser
from clearlane.console.rendering import PageRenderer
from clearlane.kernel.clock import Clock
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.access import sign_in
from clearlane.pipeline.access.failed_sign_ins import FailedSignIns
from clearlane.pipeline.query.measures import MeasureSource
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database import Database
from clearlane.store.vault import Vault


class NotSignedIn(Exception):
    """A page that needs a session was requested without one."""


class ConsoleContext(Protocol):
    """What an installation provides to pages. Directories are snapshots: read them on each request.

    Claims use ``clock``, which a sandbox can advance; sessions and codes use ``wall``.
    """

    @property
    def accounts(self) -> AccountDirectory: ...
    @property
    def payers(self) -> PayerDirectory: ...
    @property
    def database(self) -> Database: ...
    @property
    def vault(self) -> Vault: ...
    @property
    def work_context(self) -> WorkContext: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def wall(self) -> Clock: ...
    @property
    def measures(self) -> MeasureSource: ...


class SignInGuard(Protocol):
    """Limits and slows the tries to sign in, by name and address."""

    def take(self, address: str, name: bytes) -> int:
        """Take one try; return 0, or the seconds to wait where there is none left."""

    def give_back(self, address: str, name: bytes) -> None:
        """Give back the try of a sign-in that succeeded."""

    async def delay_failure(self, address: str, key: bytes | None) -> None:
        """Sleep before a failure is answered."""


@dataclass(slots=True, kw_only=True)
class PageRequest:
    """One request for a page, with the session it belongs to."""

    context: ConsoleContext
    pages: PageRenderer
    passwords: sign_in.PasswordChecker
    guard: SignInGuard
    failures: FailedSignIns
    http_request: Request
    address: str
    request_id: str
    now: datetime
    session: str = field(repr=False)
    """The secret of the session cookie; the CSRF tokens of a signed-in user are derived from it."""
    csrf_secret: str = field(repr=False)
    """The secret of the sign-in form's cookie, for a browser without a session."""
    user: ConsoleUser | None = None
    path_rest: str = field(default="", repr=False)
    """The rest of the path after that of the page."""

    @property
    def signed_in_user(self) -> ConsoleUser:
        """The signed-in user; raises :class:`NotSignedIn` if there is none."""
        if self.user is None:
            raise NotSignedIn
        return self.user
