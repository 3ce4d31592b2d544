"""What the engine knows of an X12 transaction that asks a payer: its payload and the reader of its answers.

A row of ``inquiry_transactions`` is one ``InquiryTransaction``. Everything else here (queue, lease, retry, waiting calls,
batch files, late answers) is the same for every transaction. Knows no store but the transaction of the database that an
result is recorded in.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from clearlane.claims.responses.facts import FilePosition
from clearlane.inquiry.inquiry_result import InquiryPayload, InquiryResult
from clearlane.inquiry.response_file import AnswerMatch, ResponseFile
from clearlane.kernel import limits
from clearlane.kernel.clock import from_micros
from clearlane.kernel.ids import Scope, VendorId
from clearlane.pipeline.answer_days import AnswerDays
from clearlane.store.database.database import Tx
from clearlane.store.inquiries import trace
from clearlane.store.vault.vault import Vault
from clearlane.x12.writer.writer import Envelope


class InquiryAnswer(Protocol):
    """What the engine reads of an answer, which is of the transaction's own type."""

    @property
    def content(self) -> bytes:
        """The part of the payer's file that it is from."""
        ...


P = TypeVar("P", bound=InquiryPayload)
A = TypeVar("A", bound=InquiryAnswer)
V = TypeVar("V")

LeafMaker: TypeAlias = Callable[[str, str, bytes], bytes]
"""Makes the leaf that an answer adds to the log of filings, of claim number, source and the claim's part."""

WAIT = timedelta(seconds=limits.INQUIRY_WAIT_SECONDS_MAX)
"""How long a call waits for the answers to its request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadFormat(Generic[P]):
    """How the content of an inquiry is addressed, stored and written."""

    payer: Callable[[P], tuple[str, str]]
    """Returns type and id of the payer to ask."""
    under_payer_id: Callable[[P, str], P]
    """Returns an inquiry under the id that a hop has for its payer."""
    patient_key: Callable[[Vault, VendorId, P], int | None]
    """Returns the keyed hash that finds the inquiries about one patient. Its label is the transaction's own."""
    encode: Callable[[P], bytes]
    decode: Callable[[bytes], P]
    write: Callable[[Iterable[tuple[P, str]], Envelope], Iterator[bytes]]
    """Yields an interchange with a set for each inquiry and its trace number, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReader(Generic[P, A, V]):
    """How a payer's reply is read, compared with the inquiry, and stored."""

    read: Callable[[bytes], ResponseFile[A]]
    trace_number: Callable[[A], str]
    """Returns our trace number in an answer; empty if it has none."""
    match: Callable[[A, P, str], AnswerMatch]
    """Compares an answer with the inquiry that was sent with a trace number."""
    may_be_resent: Callable[[A], bool]
    """Returns whether the payer could not answer now, and allows the same inquiry again."""
    build: Callable[[A, P, str, datetime], V]
    """Returns the answer to the inquiry with a trace number as it is stored."""
    decode: Callable[[bytes], InquiryResult[V]]
    where: Callable[[A], FilePosition | None] = lambda answer: None
    """Returns the place of an answer in its file, if answers are posted as statements about claims too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewResult:
    """A result of an inquiry that is about to be recorded."""

    result: InquiryResult[Any]
    now: datetime
    answer_days: AnswerDays
    """What is recorded on a claim is answered within the days of its payer."""
    inbox_id: int | None = None
    """The payer's file; None for a reply in real time."""
    make_leaf: LeafMaker


async def _nothing(tx: Tx, vault: Vault, pending: "PendingInquiry", new: NewResult) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class InquiryTransaction(Generic[P, A, V]):
    """One X12 transaction that asks a payer."""

    inquiry_set: str
    """ST01 of the inquiry: 270."""
    answer_set: str
    """ST01 of the answer: 271."""
    group: str
    """GS01 of inquiries, which a 999 repeats in AK101: HS."""
    subject: str
    """The first word of its audit actions: eligibility."""
    payload: PayloadFormat[P]
    reader: AnswerReader[P, A, V]
    record: Callable[[Tx, Vault, "PendingInquiry", "NewResult"], Awaitable[None]]
    """Records what follows from the first result of an inquiry, in the transaction that stores it."""
    record_later: Callable[[Tx, Vault, "PendingInquiry", "NewResult"], Awaitable[None]] = _nothing
    """Records what follows from a result that came after the first one. The same result may come any number of times."""
    follow_up: Callable[[P, InquiryResult[V]], P | None] = lambda inquiry, result: None
    """Returns what to ask after a result that settles nothing, in the same request; None if the result stands."""
    answers_are_statements: bool = False
    """Whether answers in files are posted as statements about claims too. One without an inquiry is then not parked here."""


AnyTransaction: TypeAlias = InquiryTransaction[Any, Any, Any]
AnyResult: TypeAlias = InquiryResult[Any]
"""A transaction as the engine sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingInquiry:
    """One inquiry of a request that is being sent or waits for its answer."""

    transaction: AnyTransaction
    scope: Scope
    inquiry_request_id: int
    request_number: int
    """V3's ``RequestId``, if it was submitted there."""
    number: int
    attempts: int
    created_at: int
    payer_type: str
    payer_id: str
    inquiry: InquiryPayload
    wait: timedelta = WAIT
    """How long the call that asked waits."""

    @property
    def key(self) -> tuple[int, int]:
        """Request id and number of the inquiry."""
        return self.inquiry_request_id, self.number

    @property
    def trace(self) -> str:
        """The trace number (TRN02), by which an answer is matched."""
        return trace(*self.key)

    def over(self, hop_payer_id: str) -> Any:
        """Return the inquiry as it goes over a hop, which has this id for the payer; as it is if there is none."""
        if not hop_payer_id:
            return self.inquiry
        return self.transaction.payload.under_payer_id(self.inquiry, hop_payer_id)

    @property
    def deadline(self) -> datetime:
        """Until when the call that asked waits; an answer after it is late."""
        return from_micros(self.created_at) + self.wait
