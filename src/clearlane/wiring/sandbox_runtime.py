"""The parts that only a sandbox has: its own clock and simulated payers."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from clearlane.kernel.clock import Clock
from clearlane.payers.directory import PayerDirectory
from clearlane.payers.model import DENTAL
from clearlane.store.database.database import Actor, Database
from clearlane.store.vault.vault import Vault

if TYPE_CHECKING:
    from clearlane.connect.connections import Connections
    from clearlane.connect.loopback import SimulatedRealtimePayer
    from clearlane.payers.hops import Hop
    from clearlane.payers.model import Payer
    from clearlane.pipeline.sandbox.sandbox_control import SandboxControl
    from clearlane.pipeline.work_context import SimulatedEnrollments, WorkContext
    from clearlane.sandbox.payer import SandboxPayer


def claim_scenarios() -> dict[str, str]:
    """Return the insured ids that select a test payer's response, with their titles."""
    from clearlane.sandbox.scenarios import SCENARIOS

    return {id: scenario.title for id, scenario in SCENARIOS.items()}


class SandboxRuntime:
    """The parts that only a sandbox has: its own clock and simulated payers."""

    def __init__(
        self,
        wall: Clock,
        database: Database,
        vault: Vault,
        payers: Callable[[], PayerDirectory],
        *,
        node: str,
        window_seconds: int,
    ) -> None:
        from clearlane.sandbox.simulator import Simulator
        from clearlane.store.installation.sandbox import NODE, PayerLocks, StoredClock, StoredLedger

        self._payers = payers
        self._window_seconds = window_seconds
        self._node_actor = NODE
        self._payer_locks = PayerLocks(database, node)
        self.ledger = StoredLedger(database, vault)
        self.stored_clock = StoredClock(database)
        self.simulator = Simulator(wall, self.ledger, self.stored_clock)
        self.control: SandboxControl | None = None

    async def load(self) -> None:
        """Load the clock that all nodes share, and the payers that they have sent something."""
        await self.simulator.load(self._node_actor)
        await self.ledger.load()

    @cached_property
    def connections(self) -> "Connections":
        """Loopback connections to every payer of the directory."""
        from clearlane.connect.loopback_connections import LoopbackConnections

        return LoopbackConnections(
            self._payers,
            file_payer=self._file_payer,
            hop=self._hop,
            realtime_payer=self._realtime_payer,
            ledger=self.ledger,
            ledgers_in_use=lambda: self.ledger.payers,
            clock=self.simulator.clock,
            lock=self._payer_locks.exclusive,
            window_seconds=self._window_seconds,
        )

    @cached_property
    def enrollments(self) -> "SimulatedEnrollments":
        """How the simulated payers answer enrollments, by their calendar."""
        from clearlane.pipeline.work_context import SimulatedEnrollments
        from clearlane.sandbox.clock import CALENDAR_DAY
        from clearlane.sandbox.enrollment_scenarios import ENROLLMENT_ANSWER_DAYS, answer_of
        from clearlane.store.installation.sandbox import StoredEnrollmentAgenda

        wait = ENROLLMENT_ANSWER_DAYS * CALENDAR_DAY
        agenda = StoredEnrollmentAgenda(self.simulator.clock.calendar, wait)
        return SimulatedEnrollments(agenda, answer_of)

    def _realtime_payer(self, payer: "Payer") -> "SimulatedRealtimePayer":
        from clearlane.connect.loopback_connections import ledger_name

        return self.simulator.realtime_payer(
            ledger_name(payer.type, payer.payer_id),
            id=payer.payer_id,
            name=payer.name,
            dental=payer.type == DENTAL,
        )

    def _hop(self, hop: "Hop", ledger: str) -> "SandboxPayer":
        payers = self._payers()
        served = {
            one.hop_payer_id: payer.name if (payer := payers.find(one.payer_id, one.type)) else ""
            for one in hop.served
        }
        return self.simulator.hop(ledger, id=hop.id, name=hop.name, served=served)

    def _file_payer(self, payer: "Payer", ledger: str) -> "SandboxPayer":
        return self.simulator.payer(ledger, id=payer.payer_id, name=payer.name, ids=payer.ids)

    async def reset(self, actor: Actor) -> dict[str, int]:
        """Empty the sandbox, set its clock to real time, and wait until running nodes have loaded that."""
        counts = await self.simulator.reset(actor)
        await self.stored_clock.wait_until_loaded()
        # Once more: a node may have stored what it was receiving in between.
        await self.simulator.reset(actor)
        await self.stored_clock.wait_until_loaded()
        return counts

    def start_control(self, context: "WorkContext") -> None:
        """Let callers of this node change time and payers."""
        from clearlane.pipeline.sandbox.sandbox_control import SandboxControl

        self.control = SandboxControl(context, self.simulator, self.stored_clock)
