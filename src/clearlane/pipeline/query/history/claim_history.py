"""The history of a claim, from its receipt to its payment. Knows values alone."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.finding import ClaimFinding
from clearlane.kernel.finding import Severity
from clearlane.payments.claim_series import ClaimSeries
from clearlane.pipeline.load_claim import LoadedClaim
from clearlane.store.claims.claim_history import ClaimSending
from clearlane.store.claims.documents import StoredDocument
from clearlane.store.payments.claim_payments import ClaimPaymentDocument

if TYPE_CHECKING:
    from clearlane.claims.responses.provenance import Explanation


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One event in the history of a claim."""

    at: datetime
    headline: str
    file: str = ""
    """The payer's file that reported it, or ours that the claim was sent in."""
    document_id: str = ""
    sentences: tuple[str, ...] = ()
    explanations: "tuple[Explanation, ...]" = field(default=(), repr=False)
    operator_sentences: tuple[str, ...] = field(default=(), repr=False)
    """What a payer's machine said of a failed connection: for operators only."""
    severity: Severity = Severity.WARNING
    """That of its findings: what rejected the claim is an error."""

    @property
    def findings(self) -> tuple[ClaimFinding, ...]:
        """What the payer reported about fields of the claim, as findings beside our own."""
        from clearlane.claims.responses.provenance import by_field

        return tuple(
            ClaimFinding(
                rule=f"{explanation.source} {explanation.code}".strip(),
                severity=self.severity,
                location=path,
                message=f"{explanation.happened} {explanation.todo}".strip(),
                act=explanation.act,
            )
            for path, explanation in by_field(self.explanations)
        )


class IdRelation(StrEnum):
    """What another live claim under the same vendor's claim id is to a claim."""

    SECONDARY_OF = "Secondary of"
    """The claim carries the decision of the other one's payer."""
    ALSO_BILLED_TO = "Also billed to"
    """The other one bills the same services to another payer."""
    SAME_ID = "Same claim id"
    """The other one is about another visit or patient."""


class IneffectiveSuccessor(NamedTuple):
    """A claim that was sent, or was to be sent, in the place of another, and never took effect."""

    claim_number: str
    is_void: bool
    state: str
    """Rejected or Canceled."""

    @property
    def sentence(self) -> str:
        """What became of it, and of the claim before it."""
        which = "void" if self.is_void else "correction"
        return f"Its {which} {self.claim_number} was {self.state.lower()}; the claim stands."


class RelatedClaim(NamedTuple):
    """Another live claim under the same vendor's claim id."""

    relation: IdRelation
    claim_number: str
    payer_id: str


class ClaimFile(NamedTuple):
    """The file of a site that a claim came in, and its place there."""

    file_id: str
    name: str
    """Empty if the file is no longer kept."""
    set_words: str
    position: int
    """Its place in the set, counted from 1."""

    @property
    def sentence(self) -> str:
        """Where the claim came in."""
        which = f"{self.name} (file {self.file_id})" if self.name else f"file {self.file_id}"
        return f"{which}, {self.set_words}, claim {self.position}"


@dataclass(frozen=True, slots=True)
class ClaimHistory:
    """A claim and its history, in the order in which events were learned."""

    loaded: LoadedClaim
    status: ClaimStatus | None
    """None for a claim that was not accepted."""
    entries: tuple[HistoryEntry, ...]
    predecessor: str = ""
    """Number of the claim that it took over from under the same vendor's claim id."""
    successor: str = ""
    """Number of the claim that took its place; empty if that one never took effect."""
    ineffective_successor: IneffectiveSuccessor | None = None
    """The claim that was to take its place; None if there is none, or if it took effect or may still."""
    prior_payer_claim: str = ""
    """Number of the claim to an earlier payer whose decision it carries."""
    related: tuple[RelatedClaim, ...] = ()
    """The other live claims under its vendor's claim id."""
    sendings: tuple[ClaimSending, ...] = ()
    documents: tuple[StoredDocument, ...] = ()
    payments: tuple[ClaimPaymentDocument, ...] = ()
    came_in: ClaimFile | None = None
    """None for a claim that came in no file."""
    series: ClaimSeries | None = None
    """The bills of the stay that it bills; None if it is the only one."""

    @property
    def findings(self) -> tuple[ClaimFinding, ...]:
        """What payers reported about fields of the claim, as findings beside our own."""
        return tuple(finding for entry in self.entries for finding in entry.findings)
