"""The context that every verb of the pipeline is given.

``clearlane.wiring`` builds it once for an installation; a verb reads from it what it needs. Knows neither
settings nor the callers of verbs.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import sub
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from clearlane.accounts.directory import AccountDirectory
from clearlane.claims.rule_settings import NO_SETTINGS, RuleSettings
from clearlane.claims.write.batch_naming import DEFAULT_SUBMITTER
from clearlane.claims.write.write_837 import TradingPartner
from clearlane.connect.connections import Connections
from clearlane.kernel import limits
from clearlane.kernel.clock import Clock
from clearlane.kernel.retention_kinds import RETENTION, RetentionKind
from clearlane.kernel.traces import TraceSink
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.answer_days import AnswerDays
from clearlane.pipeline.inbound.reading_process import ReadingProcesses
from clearlane.pipeline.intake.files.file_process import FileProcesses
from clearlane.pipeline.intake.files.page_process import PageProcesses
from clearlane.pipeline.intake.prepare_claims import IntakeBatcher
from clearlane.pipeline.intake.submission_process import SubmissionProcesses
from clearlane.pipeline.provider_looks import ProviderLooks
from clearlane.pipeline.recent_claims import RecentClaims
from clearlane.store.database.database import Actor, Database, Job, SystemScope, Tx
from clearlane.store.events.event_watch import EventWatch
from clearlane.store.vault.vault import Vault
from clearlane.x12.codes.code_editions import EMBEDDED, CodeLists

if TYPE_CHECKING:
    from clearlane.pipeline.inquiry.inquiry_runner import InquiryRunner


FILE_BYTES_MAX = 100 * 1024 * 1024
PAUSES_PER_STEP = 4
"""Long work that no one waits for pauses this many times as long as a step took: it has a fifth of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerAccess:
    """The payer directory and the connections to payers. Both are snapshots: call for them on each use."""

    payers: Callable[[], PayerDirectory]
    connections: Callable[[], Connections]
    submitter: TradingPartner = DEFAULT_SUBMITTER
    """The submitter in files to payers (1000A), with the number they may call."""
    inquiry_runner: "InquiryRunner | None" = None
    """Asks payers in real time; None outside of a node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkLimits:
    """The limits of verbs that an operator or a test may change."""

    claims_max: int = limits.CLAIMS_PER_DOCUMENT_MAX
    """Claims in one document."""
    enrollments_max: int = limits.ENROLLMENTS_PER_REQUEST_MAX
    """Enrollments in one request."""
    write_seconds_max: float = limits.WRITE_SECONDS_MAX
    """Seconds that a call waits for its durable write."""
    eligibility_days: int = limits.ELIGIBILITY_KEPT_DAYS
    """Days that eligibility requests are kept."""
    claim_silence_days: int = limits.CLAIM_SILENCE_DAYS_MAX
    """Days without a word from the payer after which a claim may be sent again under its id."""
    crossover_days: int = limits.CROSSOVER_DAYS_MAX
    """Days without an answer of the payer that a claim was forwarded to, after which it is asked."""
    settle_seconds: int = limits.SETTLE_SECONDS
    """Seconds for which a payer's file must be unchanged before it counts as whole; a route may have its own."""
    event_days: int = limits.EVENTS_KEPT_DAYS
    """Days that events are kept."""
    not_accepted_days: int = limits.NOT_ACCEPTED_KEPT_DAYS
    """Days that claims which were not accepted are kept."""
    file_bytes_max: int = FILE_BYTES_MAX
    """Bytes of a file that a site sends."""
    file_days: int = limits.FILES_KEPT_DAYS
    """Days that files of sites are kept."""

    @property
    def kept_days(self) -> dict[RetentionKind, int]:
        """Days that each kind of data is kept if no one has set a period."""
        return {kind: rule.days for kind, rule in RETENTION.items()} | {
            RetentionKind.ELIGIBILITY: self.eligibility_days,
            RetentionKind.EVENTS: self.event_days,
            RetentionKind.FILES: self.file_days,
            RetentionKind.NOT_ACCEPTED: self.not_accepted_days,
        }


class EnrollmentAgenda(Protocol):
    """When a sandbox's payers answer which enrollments."""

    async def plan(self, tx: Tx, ids: Sequence[str]) -> None:
        """Plan an answer to enrollments; one that is planned already keeps its day."""
        ...

    async def due(self, tx: Tx, most: int) -> list[str]:
        """Return the ids of enrollments that are to be answered now, the earliest first."""
        ...

    async def finish(self, tx: Tx, id: str) -> None:
        """Remove an enrollment that was answered."""
        ...


class SimulatedAnswer(Protocol):
    """What a sandbox's payers answer to an enrollment."""

    @property
    def approves(self) -> bool: ...
    @property
    def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class SimulatedEnrollments:
    """How a sandbox's payers answer enrollments."""

    agenda: EnrollmentAgenda
    answer_of: Callable[[str], SimulatedAnswer | None]
    """Returns the answer to a provider with this tax id; None if there is never one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkContext:
    """What the verbs of one installation share."""

    database: Database
    vault: Vault
    clock: Clock
    """The clock of claims. A sandbox may advance it; sessions and credentials use the wall clock."""
    node: str
    """The id of this node; ``command`` outside of one."""
    data: Path
    """The data directory."""
    sandbox: bool
    accounts: Callable[[], AccountDirectory]
    """The vendors and sites, a snapshot: call for it on each use."""
    payer_access: PayerAccess
    code_lists: Callable[[], CodeLists] = lambda: EMBEDDED
    """The code lists in force, a snapshot: call for it on each use."""
    rule_settings: Callable[[], RuleSettings] = lambda: NO_SETTINGS
    """What operators set rules to, a snapshot: call for it on each use."""
    intake: IntakeBatcher = field(default_factory=IntakeBatcher)
    recent_claims: RecentClaims = field(default_factory=RecentClaims)
    """Claims that this node has just accepted, for the batches that take them."""
    provider_looks: ProviderLooks = field(default_factory=ProviderLooks)
    """The billing providers that forms offered last."""
    limits: WorkLimits = field(default_factory=WorkLimits)
    time_ago: Callable[[datetime, timedelta], datetime] = sub
    """Returns the moment that lies a length of the payers' time before another. A sandbox's payers have their own days."""
    simulated_enrollments: SimulatedEnrollments | None = None
    """How payers answer enrollments in a sandbox; None in production, where only people decide."""
    eligibility_x12: bool = False
    """Whether eligibility responses contain the raw 271."""
    timestamp_url: str = ""
    """Where checkpoints of filings are stamped (RFC 3161); empty if they are not."""
    events_name_claims: bool = True
    """Whether events have the vendor's claim id, which is an identifier of a patient's under HIPAA."""
    event_watch: EventWatch | None = None
    """Wakes those who wait for events; None outside of a node."""
    wake_webhooks: Callable[[], None] = lambda: None
    """Lets this node look at the webhook endpoints, because one was added or changed."""
    wake_files: Callable[[], None] = lambda: None
    """Lets this node look for files that wait, because one was received here; others find it by their tick."""
    traces: TraceSink | None = None
    """Where spans go (OpenTelemetry); None if nothing is traced."""
    file_processes: FileProcesses | None = None
    """Processes large files of sites in processes of their own; None outside of a node."""
    page_processes: PageProcesses | None = None
    """Judges pages of a large file beside its process; None outside of that."""
    reading_processes: ReadingProcesses | None = None
    """Reads large files of payers beside the service; None outside of a node, and if it is switched off."""
    submission_processes: SubmissionProcesses | None = None
    """Takes documents of claims when many come; None outside of a node, and if it is switched off."""

    @property
    def answer_days(self) -> AnswerDays:
        """Within how many days payers usually answer, by the connections of now."""
        return AnswerDays(self.payer_access.connections(), self.limits.claim_silence_days)

    @property
    def actor(self) -> Actor:
        """The actor of work that no caller asked for."""
        return Actor("node", self.node)

    async def purge(self, scope: SystemScope, job: Job[int]) -> int:
        """Repeat a job that removes a few rows and counts them, until it removes none; return how many it removed."""
        removed, began = 0, perf_counter()
        while count := await self.database.write(scope, job, actor=self.actor):
            removed += count
            began = await pause_after(began)
        return removed


async def pause_after(began: float) -> float:
    """Pause long work after a step that began at a reading of the performance counter; return a new reading.

    So such work takes a share of the database and of this node that leaves the rest to those who wait.
    """
    await asyncio.sleep((perf_counter() - began) * PAUSES_PER_STEP)
    return perf_counter()
