"""Whom the statements of a file are about: the payer whose route brought it, or the payers that a hop serves.

    payers = FilePayers(context, file)
    await payers.match_reports(tx, reports)             # for each status a claim, or why none
    payers.of_payment(start)                            # type and id of the payer of an 835

A file of a hop holds answers of many payers. A status is about the payer of the claim whose number (``REF*D9``) it
returns, else the payer that it names, else the one of the batch that it answers: a file to a hop has claims of one payer.
An 835 is of the payer that it names, by the hop's id, by any id of ours or by its name. Nothing is guessed: if two payers
fit, none is meant. Knows no state of a claim.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from clearlane.claims.responses.ack_messages import InterchangeReference
from clearlane.payers.hops import HOP, Hop, HopPayer
from clearlane.payments.match import ClaimReference, NoMatch
from clearlane.payments.read_835 import PaymentStart
from clearlane.pipeline.inbound.file_items import ReportedStatus
from clearlane.pipeline.inbound.match_claims import match_claims
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claim_lookup
from clearlane.store.claims.claim_lookup import CandidateClaim
from clearlane.store.database.database import Tx
from clearlane.store.delivery import batches
from clearlane.store.delivery.batches import Batch
from clearlane.store.delivery.inbox import InboxFile
from clearlane.x12.reader.envelope_time import parse_count

SET_DIGITS = 4
"""The last digits of our batch number (BHT03) count the sets of an interchange."""
NO_PAYER = NoMatch("It names no payer that the hop serves.")
UNKNOWN_PAYER = (
    "A payment names no payer of the hop's map, or several: its claims wait. Add the payer to the map (clearlane hop "
    "set), then replay the file."
)


class PaymentPayer(NamedTuple):
    """The payer of a payment; for one that a hop's map does not have, the hop."""

    type: str
    payer_id: str
    is_known: bool = True


class FilePayers:
    """The payers that one file may be about."""

    def __init__(self, context: WorkContext, file: InboxFile) -> None:
        self._context = context
        self._file = file
        connections = context.payer_access.connections()
        self.hop: Hop | None = connections.find_hop(file.payer_id) if self.is_of_hop else None
        """The hop that the file is from; None for a payer's own file."""

    @property
    def is_of_hop(self) -> bool:
        """Whether the file came over the route of a hop."""
        return self._file.type == HOP

    def answers(self, batch: Batch) -> bool:
        """Return whether the sender of the file was sent this batch."""
        return (batch.hop or batch.payer_id) == self._file.payer_id

    def has(self, payer_id: str) -> bool:
        """Return whether the file may be about a payer: its own, or one that the hop serves or served."""
        return self._serves(payer_id) if self.is_of_hop else payer_id == self._file.payer_id

    def id_there(self, type: str, payer_id: str) -> str:
        """Return the id that the hop has, or had, for a payer; empty for a payer's own file."""
        return self.hop.id_of(type, payer_id, even_removed=True) if self.hop else ""

    async def match_reports(
        self, tx: Tx, reports: Sequence[ReportedStatus]
    ) -> list[CandidateClaim | NoMatch]:
        """Return for each status the one claim it is about, or why there is none."""
        if not self.is_of_hop:
            references = [one.fact.claim for one in reports]
            return await match_claims(tx, self._context.vault, self._file.payer_id, references)
        sent = await claim_lookup.find_payers(tx, [one.fact.claim.claim_number for one in reports])
        answered = await self._answered_batches(tx, reports)
        wanted: list[tuple[str, ClaimReference]] = []
        for one in reports:
            payer_id, key = sent.get(one.fact.claim.claim_number, ""), one.fact.claim
            if not self._serves(payer_id):
                payer_id = self._named_payer(one) or _payer_of_batch(answered, one)
                # The hop may have put a number of its own in the place of ours.
                key = key if key.claim_number in sent else replace(key, claim_number="")
            wanted.append((payer_id, key))
        return await self._match(tx, wanted)

    async def match_numbers(self, tx: Tx, numbers: Sequence[str]) -> list[CandidateClaim]:
        """Return the claims that have these numbers of ours and were sent to a payer of the hop."""
        found: list[CandidateClaim] = []
        payers = await claim_lookup.find_payers(tx, numbers)
        for payer_id in sorted({one for one in payers.values() if self._serves(one)}):
            found += (await claim_lookup.find_sent(tx, payer_id, numbers)).values()
        return found

    def of_payment(self, start: PaymentStart) -> PaymentPayer:
        """Return the payer of a payment."""
        if not self.is_of_hop:
            return PaymentPayer(self._file.type, self._file.payer_id)
        name = start.heading.payer_name
        for id in (*start.payer_ids, ""):
            found = self._named(id, name)
            if len({one.payer_id for one in found}) == 1:
                return PaymentPayer(found[0].type, found[0].payer_id)
        return PaymentPayer(self._file.type, self._file.payer_id, is_known=False)

    def _serves(self, payer_id: str) -> bool:
        return self.hop is not None and self.hop.knows(payer_id)

    def _named(self, id: str, name: str) -> list[HopPayer]:
        return self.hop.named(id, name, self._context.payer_access.payers()) if self.hop else []

    def _named_payer(self, report: ReportedStatus) -> str:
        if report.fact.by_clearinghouse:
            return ""
        found = {one.payer_id for one in self._named(report.source_id, report.fact.payer)}
        return found.pop() if len(found) == 1 else ""

    async def _answered_batches(
        self, tx: Tx, reports: Sequence[ReportedStatus]
    ) -> dict[int, Batch]:
        """Return the batches that statuses name, of those that the sender of the file was sent, by control number."""
        named = {control for one in reports for control in _batch_controls(one)}
        found = await batches.find_by_controls(tx, named)
        return {control: batch for control, batch in found.items() if self.answers(batch)}

    async def _match(
        self, tx: Tx, wanted: Sequence[tuple[str, ClaimReference]]
    ) -> list[CandidateClaim | NoMatch]:
        found: list[CandidateClaim | NoMatch] = [NO_PAYER] * len(wanted)
        for payer_id in dict.fromkeys(payer_id for payer_id, _ in wanted if payer_id):
            places = [at for at, (other, _) in enumerate(wanted) if other == payer_id]
            references = [wanted[at][1] for at in places]
            matched = await match_claims(tx, self._context.vault, payer_id, references)
            for at, one in zip(places, matched, strict=True):
                found[at] = one
        return found


def _batch_controls(report: ReportedStatus) -> Iterator[int]:
    return control_numbers(InterchangeReference(level="batch", number=report.batch_number))


def _payer_of_batch(answered: Mapping[int, Batch], report: ReportedStatus) -> str:
    found = (answered[one].payer_id for one in _batch_controls(report) if one in answered)
    return next(found, "")


def control_numbers(reference: InterchangeReference) -> Iterator[int]:
    """Yield the control numbers to look for. A batch number is a control number and the number of the set."""
    if reference.level == "batch" and len(reference.number) > SET_DIGITS:
        yield parse_count(reference.number[:-SET_DIGITS])
    yield parse_count(reference.number)
