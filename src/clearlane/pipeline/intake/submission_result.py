"""The result of a document that was submitted."""

from dataclasses import dataclass

from clearlane.pipeline.intake.read import MalformedDocument, TooManyClaims
from clearlane.pipeline.intake.store import ClaimResult


@dataclass(frozen=True, slots=True)
class SubmissionReceipt:
    """The results of a stored document, in the order of its claims."""

    results: tuple[ClaimResult, ...]
    ignored: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What accepted claims are warned of, each with its field: the first few, and how many more there are."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the results, each with its claim, and the warnings."""
        notes = (f"Claims[{at}]: {one.note}" for at, one in enumerate(self.results) if one.note)
        return (*notes, *self.warnings)


@dataclass(frozen=True, slots=True)
class SubmissionNotStored:
    """A write that was rolled back or timed out: nothing was stored, sending again is safe."""


SubmissionResult = MalformedDocument | TooManyClaims | SubmissionReceipt | SubmissionNotStored
