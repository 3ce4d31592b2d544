"""What an installation provides to the faces: API, console, operations.

Knows what faces ask for; ``wiring`` provides it. Knows no face.
"""

from typing import Protocol

from clearlane.accounts.directory import AccountDirectory
from clearlane.claims.rule_settings import RuleSettings
from clearlane.kernel.clock import Clock
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.query.installation.measures import MeasureSource
from clearlane.pipeline.sandbox.sandbox_control import SandboxControl
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Database
from clearlane.store.vault.vault import Vault


class InstallationContext(Protocol):
    """What an installation provides to handlers and pages. Directories are snapshots: read them on each request.

    Claims use ``clock``, which a sandbox can advance; sessions, codes, certificates and credentials use ``wall``.
    """

    @property
    def accounts(self) -> AccountDirectory: ...
    @property
    def payers(self) -> PayerDirectory: ...
    @property
    def rule_settings(self) -> RuleSettings: ...
    @property
    def database(self) -> Database: ...
    @property
    def vault(self) -> Vault: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def wall(self) -> Clock: ...
    @property
    def sandbox_control(self) -> SandboxControl | None: ...
    @property
    def work_context(self) -> WorkContext: ...
    @property
    def measures(self) -> MeasureSource: ...

    async def refresh(self) -> None:
        """Load every snapshot again, so that a person sees at once what they changed."""
