"""What every verb of the pipeline is handed: the database, the clock, and access to payers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from clearlane.claims.batch_naming import US
from clearlane.claims.write_837 import Party
from clearlane.connect.routes import Lines
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.payers.directory import Payers
from clearlane.pipeline.intake_priority import Rush
from clearlane.store.database import Database
from clearlane.store.vault import Vault

if TYPE_CHECKING:
    from clearlane.pipeline.eligibility.inquiry_runner import Asking


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What verbs that deal with payers use as well. The directories are snapshots: ask each time."""

    vault: Vault
    payers: Callable[[], Payers]
    lines: Callable[[], Lines]
    sandbox: bool
    submitter: Party = US
    """Who we are to payers, whom they may call."""
    asking: "Asking | None" = None
    """Questions to payers; None where nobody is asked."""
    eligibility_days: int = limits.ELIGIBILITY_KEPT_DAYS
    rush: Rush = field(default_factory=Rush)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every verb may use."""

    database: Database
    clock: Clock
    data: Path
    node: str
    beyond: Outside | None = None

    @property
    def outside(self) -> Outside:
        """The way to payers, on a node that has one."""
        assert self.beyond is not None, "this desk has no way to payers"
        return self.beyond
