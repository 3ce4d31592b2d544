"""Work contexts for tests: with the parts that a test gives, and empty ones for the rest."""

from dataclasses import dataclass
from pathlib import Path

from clearlane.kernel.clock import SystemClock
from clearlane.payers.directory import PayerDirectory
from clearlane.pipeline.work_context import PayerAccess, WorkContext, WorkLimits


def work_context(
    database,
    vault,
    clock=None,
    *,
    payers=None,
    connections=None,
    inquiry_runner=None,
    accounts=None,
    node="test",
    data=Path(),
    sandbox=False,
    **limits,
):
    """A context of a node that reaches the payers of a test; without connections it reaches none."""
    payers = payers or PayerDirectory([], sandbox=sandbox)
    return WorkContext(
        database=database,
        vault=vault,
        clock=clock or SystemClock(),
        node=node,
        data=data,
        sandbox=sandbox,
        accounts=lambda: accounts,
        payer_access=PayerAccess(
            payers=lambda: payers,
            connections=lambda: connections,
            inquiry_runner=inquiry_runner,
        ),
        limits=WorkLimits(**limits),
    )


@dataclass(frozen=True)
class EngineContext:
    """What the engine itself needs of a context, for work that knows no domain."""

    database: object
    clock: object
    data: Path
    node: str
