"""A connection that has signed in: whose it is, what it may do, and when it was last used."""

from collections.abc import Callable
from datetime import datetime

from clearlane.accounts.model import Site, SiteState, VendorState
from clearlane.accounts.sftp_account import SftpAccount
from clearlane.kernel.clock import Clock
from clearlane.kernel.log import get_logger
from clearlane.pipeline.work_context import WorkContext
from clearlane.sftp_server.folders import FolderNames
from clearlane.store.database.database import Actor

log = get_logger()


class AccountSession:
    """The account behind a connection."""

    def __init__(
        self,
        context: WorkContext,
        account: SftpAccount,
        *,
        address: str,
        request_id: str,
        wall: Clock,
        monotonic: Callable[[], float],
    ) -> None:
        self.context = context
        self.account = account
        self.folders = FolderNames(account.names)
        self.actor = Actor("vendor", f"sftp:{account.name}", request_id, address)
        self._wall = wall
        self._monotonic = monotonic
        self.began = wall.now()
        self.used_at = monotonic()
        self.channels = 0
        self._quotas_logged: set[str] = set()

    def log_quota(self, reason: str) -> None:
        """Tell the operator once in a session why a file is refused: a client may show nothing but "Failure"."""
        if reason not in self._quotas_logged:
            self._quotas_logged.add(reason)
            log.warning("sftp file refused", account=self.account.name, reason=reason)

    def touch(self) -> None:
        """Record that the connection is in use."""
        self.used_at = self._monotonic()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last request."""
        return self._monotonic() - self.used_at

    def now(self) -> datetime:
        """Return the real time, by which quotas are counted."""
        return self._wall.now()

    @property
    def site(self) -> Site | None:
        """The site, while the account may act for it."""
        return find_site(self.context, self.account)

    @property
    def may_submit(self) -> bool:
        """Whether files may be sent; a suspended site may only fetch."""
        site = self.site
        return site is not None and site.state is SiteState.ACTIVE


def find_site(context: WorkContext, account: SftpAccount) -> Site | None:
    """Return the site of an account; None if its vendor is disabled or the agreement is not accepted."""
    directory = context.accounts()
    active = {each.id for each in directory.vendors if each.state is VendorState.ACTIVE}
    for site in directory.sites:
        if site.id == account.site_id and site.vendor_id in active and site.baa_accepted:
            return site
    return None
