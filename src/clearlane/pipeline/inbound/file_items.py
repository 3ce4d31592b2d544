"""What posting needs of a payer's file, item by item: read where it is posted, or in a process beside the service.

    for item in PAYMENTS.read(content): ...              # the payments of its 835s, claim by claim
    for item in STATEMENTS.read(content): ...            # its acknowledgements and statuses

A claim payment and a status have the claim's part of the file with them, so that nothing else of the file is needed.
Knows the readers of files; knows no claim that was sent, and imports no database.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from clearlane.claims.responses import acks
from clearlane.claims.responses.ack_messages import (
    ClaimStatusReport,
    GroupAck,
    InterchangeAck,
    LevelRejection,
)
from clearlane.claims.responses.claim_parts import ClaimExtractor
from clearlane.claims.responses.facts import Fact
from clearlane.kernel.redacted_repr import shows
from clearlane.payments import read_835
from clearlane.payments.model import ClaimPaymentContent, ClaimPaymentFact
from clearlane.payments.payment import PaymentSummary
from clearlane.payments.read_835 import PaymentStart

ITEMS_AT_ONCE = 500
"""A page: what is recorded in one transaction."""

T = TypeVar("T")


class PaymentHeadItem(msgspec.Struct, frozen=True, tag="head", array_like=True):
    """The heading of a payment, before its first claim."""

    start: PaymentStart


class PlacedClaim(msgspec.Struct, frozen=True, tag="claim", array_like=True, gc=False):
    """A claim payment with the claim's part, and its number in the payment."""

    content: ClaimPaymentContent
    number: int
    has_interest: bool

    @property
    def claim_payment(self) -> ClaimPaymentFact:
        return self.content.claim_payment


class PaymentTotalsItem(msgspec.Struct, frozen=True, tag="totals", array_like=True):
    """The totals of a payment, after its last claim."""

    summary: PaymentSummary


PaymentItem: TypeAlias = PaymentHeadItem | PlacedClaim | PaymentTotalsItem


@shows("fact.kind")
class ReportedStatus(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A 277CA or 277 status of one claim with the claim's part, not yet matched."""

    fact: Fact
    part: bytes
    source_id: str
    """The id of who reports it: the payer, or a clearinghouse on the way."""
    batch_number: str
    """The number of the batch that it answers (BHT03), as the report returns it."""


Statement: TypeAlias = ReportedStatus | InterchangeAck | GroupAck | LevelRejection


@dataclass(frozen=True, slots=True)
class ItemReading(Generic[T]):
    """One way to read a payer's file into items."""

    name: str
    read: Callable[[bytes], Iterator[T]]
    crossing: tuple[type, ...]
    """The types of items that are whole values; any other refers to the tree of the file."""
    decoder: msgspec.msgpack.Decoder[Any]  # Any: msgspec has no name for the type of a union

    def encode(self, page: list[T]) -> bytes | None:
        """Encode a page for another process; None if something of it refers to the tree."""
        return _PACK.encode(page) if all(isinstance(one, self.crossing) for one in page) else None

    def decode(self, encoded: bytes) -> list[T]:
        """Decode what :meth:`encode` returned."""
        page: list[T] = self.decoder.decode(encoded)
        return page


def _read_payments(content: bytes) -> Iterator[PaymentItem]:
    number, extractor = 0, ClaimExtractor()
    for part in read_835.read(content):
        if isinstance(part, read_835.ClaimPaymentLoop):
            number += 1
            interest = part.unit.loop.segment("AMT", "I")
            yield PlacedClaim(
                ClaimPaymentContent(part.claim_payment, extractor.extract(part.unit)),
                number,
                interest is not None,
            )
        else:
            number = 0
            yield (
                PaymentHeadItem(part) if isinstance(part, PaymentStart) else PaymentTotalsItem(part)
            )


def _read_statements(content: bytes) -> Iterator[Statement]:
    extractor = ClaimExtractor()
    for message in acks.read(content):
        if isinstance(message, ClaimStatusReport):
            fact = message.fact
            part = extractor.extract(message.unit, fact.where.position)
            yield ReportedStatus(fact, part, message.source_id, message.batch_number)
        else:
            yield message


_PACK = msgspec.msgpack.Encoder()
PAYMENTS: ItemReading[PaymentItem] = ItemReading(
    "payments",
    _read_payments,
    (PaymentHeadItem, PlacedClaim, PaymentTotalsItem),
    msgspec.msgpack.Decoder(list[PaymentHeadItem | PlacedClaim | PaymentTotalsItem]),
)
STATEMENTS: ItemReading[Statement] = ItemReading(
    "statements",
    _read_statements,
    (ReportedStatus,),
    msgspec.msgpack.Decoder(list[ReportedStatus]),
)
READINGS: dict[str, ItemReading[Any]] = {one.name: one for one in (PAYMENTS, STATEMENTS)}
