"""An open installation: its parts, and the snapshots of the database among them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from operator import sub
from typing import TYPE_CHECKING, Literal, TypeVar

from clearlane.accounts.directory import AccountDirectory
from clearlane.claims.rule_settings import NO_SETTINGS, RuleSettings
from clearlane.kernel.clock import Clock
from clearlane.payers.directory import PayerDirectory
from clearlane.settings import Settings, to_json
from clearlane.store.accounts.accounts import load_accounts
from clearlane.store.database.database import Database
from clearlane.store.delivery.payers import load_payers
from clearlane.store.delivery.routes import load_routes
from clearlane.store.installation.code_lists import load_code_lists
from clearlane.store.installation.log_level import REVISION as LOG_LEVEL_REVISION
from clearlane.store.installation.rule_settings import load_rule_settings
from clearlane.store.installation.sandbox import REVISION as SANDBOX_REVISION
from clearlane.store.vault.vault import Vault
from clearlane.x12.codes.code_editions import EMBEDDED, CodeLists

if TYPE_CHECKING:
    from clearlane.api.operations.process_log_level import ProcessLogLevel
    from clearlane.api.operations.trace_export import TraceExport
    from clearlane.claims.write.write_837 import TradingPartner
    from clearlane.connect.connections import Connections
    from clearlane.engine.dbos_engine import Engine
    from clearlane.pipeline.inbound.reading_process import ReadingProcesses
    from clearlane.pipeline.inquiry.inquiry_runner import InquiryRunner
    from clearlane.pipeline.intake.files.file_process import FileProcesses
    from clearlane.pipeline.intake.submission_process import SubmissionProcesses
    from clearlane.pipeline.notify.webhook_runner import WebhookRunner
    from clearlane.pipeline.query.installation.measures import MeasureSource
    from clearlane.pipeline.sandbox.sandbox_control import SandboxControl
    from clearlane.pipeline.work_context import WorkContext
    from clearlane.store.audit.set_back import SetBack
    from clearlane.store.events.event_watch import EventWatch
    from clearlane.wiring.sandbox_runtime import SandboxRuntime

Role = Literal["serve", "worker", "command", "helper"]
NODES = ("serve", "worker")
T = TypeVar("T")


class InstallationNotOpen(Exception):
    """A part that ``open_installation`` makes, or makes for a node alone, is not there."""


@dataclass(slots=True)
class NodeParts:
    """What only a node has; each is None until it is made."""

    set_back: "SetBack | None" = None
    traces: "TraceExport | None" = None
    event_watch: "EventWatch | None" = None
    inquiry_runner: "InquiryRunner | None" = None
    engine: "Engine | None" = None
    webhooks: "WebhookRunner | None" = None


class Installation:
    """An open installation. Directories are snapshots: read them on each use."""

    def __init__(
        self,
        settings: Settings,
        wall: Clock,
        database: Database,
        vault: Vault,
        *,
        node: str = "",
        role: Role = "command",
    ) -> None:
        self.settings = settings
        self.wall = wall
        """The real time, for certificates, credentials, sessions and heartbeats."""
        self.database = database
        self.vault = vault
        self.node = node
        """The id of the node; of a helper that for which it works, and empty in a command."""
        self._role = role
        self.node_parts = NodeParts()
        self._sandbox = self._make_sandbox() if settings.sandbox else None
        self.clock: Clock = self._sandbox.simulator.clock if self._sandbox else wall
        """The time of claims and of dates in files. A sandbox can advance it."""
        self._accounts: AccountDirectory | None = None
        self._payers: PayerDirectory | None = None
        self._code_lists = EMBEDDED
        self._rule_settings = NO_SETTINGS
        self._connections: Connections | None = None
        self._log_level: ProcessLogLevel | None = None

    def _make_sandbox(self) -> "SandboxRuntime":
        from clearlane.wiring.sandbox_runtime import SandboxRuntime

        return SandboxRuntime(
            self.wall,
            self.database,
            self.vault,
            lambda: self.payers,
            node=self.node,
            window_seconds=self.settings.sandbox_window_seconds,
        )

    @cached_property
    def work_context(self) -> "WorkContext":
        """What the verbs of the pipeline are given. Made on first use, when the inquiry runner is known."""
        from clearlane.pipeline.work_context import PayerAccess, WorkContext, WorkLimits

        settings = self.settings
        return WorkContext(
            database=self.database,
            vault=self.vault,
            clock=self.clock,
            node=self.node or "command",
            data=settings.data,
            sandbox=settings.sandbox,
            accounts=lambda: self.accounts,
            code_lists=lambda: self.code_lists,
            rule_settings=lambda: self.rule_settings,
            payer_access=PayerAccess(
                payers=lambda: self.payers,
                connections=lambda: self.connections,
                submitter=self.submitter,
                inquiry_runner=self.node_parts.inquiry_runner,
            ),
            limits=WorkLimits(
                claims_max=settings.claims_per_document_max,
                write_seconds_max=settings.write_seconds_max,
                eligibility_days=settings.eligibility_days,
                claim_silence_days=settings.claim_silence_days,
                crossover_days=settings.crossover_days,
                settle_seconds=settings.settle_seconds,
                event_days=settings.event_days,
                not_accepted_days=settings.not_accepted_days,
                file_days=settings.file_days,
            ),
            time_ago=self._sandbox.simulator.clock.time_ago if self._sandbox else sub,
            simulated_enrollments=self._sandbox.enrollments if self._sandbox else None,
            eligibility_x12=settings.eligibility_x12 == "on",
            timestamp_url=settings.timestamp_url,
            events_name_claims=settings.event_vendor_claim_id == "on",
            event_watch=self.node_parts.event_watch,
            wake_webhooks=self._wake_webhooks,
            wake_files=self._wake_files,
            traces=self.node_parts.traces,
            file_processes=self._make_file_processes(),
            reading_processes=self.reading_processes,
            submission_processes=self.submission_processes,
        )

    @cached_property
    def measures(self) -> "MeasureSource":
        """Measures the installation for its operator."""
        from clearlane.pipeline.query.installation.measures import MeasureSource

        return MeasureSource(
            database=self.database,
            clock=self.clock,
            wall=self.wall,
            connections=lambda: self.connections,
            sandbox=self.settings.sandbox,
            set_back=self.set_back,
            backlog=None if self.node_parts.engine is None else self.node_parts.engine.backlog,
        )

    @property
    def accounts(self) -> AccountDirectory:
        """The vendors and sites, as of the last revision that was loaded."""
        return _require_opened(self._accounts)

    @property
    def payers(self) -> PayerDirectory:
        """The payer directory, as of the last revision that was loaded."""
        return _require_opened(self._payers)

    @property
    def code_lists(self) -> CodeLists:
        """The code lists in force, as of the last revision that was loaded; those of the package in a command."""
        return self._code_lists

    @property
    def rule_settings(self) -> RuleSettings:
        """What operators set rules to, as of the last revision that was loaded."""
        return self._rule_settings

    @property
    def connections(self) -> "Connections":
        """The connections to payers, as of the last revision that was loaded."""
        return _require_opened(self._connections)

    @property
    def sandbox_control(self) -> "SandboxControl | None":
        """Changes a sandbox's time and payers for callers; None in production."""
        return None if self._sandbox is None else self._sandbox.control

    @property
    def sandbox_runtime(self) -> "SandboxRuntime | None":
        """Clock and payers of a sandbox; None in production."""
        return self._sandbox

    @property
    def set_back(self) -> "SetBack | None":
        """What was put in doubt when this node started; None if its database was not set back."""
        return self.node_parts.set_back

    @property
    def engine(self) -> "Engine":
        """The durable engine of a node."""
        return _require_opened(self.node_parts.engine)

    @property
    def webhooks(self) -> "WebhookRunner":
        """What delivers the webhooks of a node."""
        return _require_opened(self.node_parts.webhooks)

    @property
    def submitter(self) -> "TradingPartner":
        """The submitter in files to payers (1000A)."""
        from clearlane.claims.write.write_837 import TradingPartner

        settings = self.settings
        name = settings.submitter_name
        return TradingPartner(name=name, id=name, phone=settings.submitter_phone)

    @property
    def pepper(self) -> bytes:
        """The key that hashes vendors' passwords."""
        return self.vault.pepper

    def _make_file_processes(self) -> "FileProcesses | None":
        if self._role not in NODES:
            return None
        from clearlane.pipeline.intake.files.file_process import FileProcesses

        settings = self.settings
        return FileProcesses(to_json(settings), self.node, bytes_min=settings.large_file_bytes)

    @cached_property
    def submission_processes(self) -> "SubmissionProcesses | None":
        """What takes documents of claims when many come; None outside of a node, and if it is switched off."""
        if self._role not in NODES or self.settings.submission_process == "off":
            return None
        from clearlane.pipeline.intake.submission_process import SubmissionProcesses

        return SubmissionProcesses(to_json(self.settings), self.node)

    @cached_property
    def reading_processes(self) -> "ReadingProcesses | None":
        """What reads large files of payers; None outside of a node, and if it is switched off."""
        if self._role not in NODES or self.settings.reading_process == "off":
            return None
        from clearlane.pipeline.inbound.reading_process import ReadingProcesses

        return ReadingProcesses()

    def _wake_files(self) -> None:
        if self.node_parts.engine is not None:
            from clearlane.pipeline.intake.files.file_work import TICK

            self.node_parts.engine.wake(TICK)

    def _wake_webhooks(self) -> None:
        if self.node_parts.webhooks is not None:
            self.node_parts.webhooks.wake()

    async def refresh(self) -> None:
        """Load every snapshot again."""
        for load in self.snapshots().values():
            await load()

    async def _load_connections(self) -> None:
        if self._sandbox is not None:
            # A sandbox sends nothing to real payers, whatever routes are stored.
            self._connections = self._sandbox.connections
            return
        from clearlane.pipeline.route_connections import RouteConnections

        before = self._connections
        self._connections = RouteConnections(
            await load_routes(self.database, self.vault), self.clock
        )
        if before is not None and self.node_parts.inquiry_runner is not None:
            self.node_parts.inquiry_runner.retire(before)

    async def _load_accounts(self) -> None:
        self._accounts = await load_accounts(self.database, self.pepper)

    async def _load_payers(self) -> None:
        payers = await load_payers(self.database, self.settings.sandbox)
        if self._role in NODES:  # before the first call asks for the compressed list
            await asyncio.to_thread(payers.compress)
        self._payers = payers

    async def _load_code_lists(self) -> None:
        if (
            self._role != "command"
        ):  # commands judge no claims, and need not wait for a hundred thousand codes
            self._code_lists = await load_code_lists(self.database)

    async def _load_rule_settings(self) -> None:
        self._rule_settings = await load_rule_settings(self.database)

    async def _load_log_level(self) -> None:
        if self._role == "command":  # it writes no log
            return
        if self._log_level is None:
            from clearlane.api.operations.process_log_level import ProcessLogLevel

            self._log_level = ProcessLogLevel(self.database, self.settings.log_level)
        await self._log_level.load()

    def close(self) -> None:
        """End what would happen later by itself."""
        if self._log_level is not None:
            self._log_level.close()

    def snapshots(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Return what follows the database: for each name of a revision the function that loads it."""
        return {name: self._retiring(load) for name, load in self._loads().items()}

    def _retiring(self, load: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        """Return a function that loads a snapshot, and ends the process that has an earlier one."""

        async def load_and_retire() -> None:
            await load()
            if self.submission_processes is not None:
                self.submission_processes.retire()

        return load_and_retire

    def _loads(self) -> dict[str, Callable[[], Awaitable[None]]]:
        return {
            "keys": self.vault.load,
            "accounts": self._load_accounts,
            "payers": self._load_payers,
            "code_lists": self._load_code_lists,
            "rule_settings": self._load_rule_settings,
            "routes": self._load_connections,
            LOG_LEVEL_REVISION: self._load_log_level,
            **({SANDBOX_REVISION: self._sandbox.load} if self._sandbox else {}),
        }


def _require_opened(part: T | None) -> T:
    if part is None:
        raise InstallationNotOpen
    return part
