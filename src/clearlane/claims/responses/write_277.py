"""Write a claim status (277) for the sender of an 837: what a payer says of claims that it works on or has decided.

    response = StatusResponse277(source, sender, control=17, moment=now)
    response.add(claim, returned_statuses(facts))
    content = response.write()

Unlike an acknowledgement (``write_277ca``) it has the subscriber above the patient and no counts. Knows the guide and the
sender's set; knows no database and no clock.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from clearlane.claims.responses.ack_verdicts import AckStatus
from clearlane.claims.responses.acknowledged_claim import AcknowledgedClaim, Name
from clearlane.claims.responses.sender_set import (
    SenderSet,
    answer_envelope,
    submitter_name,
    write_answer,
)
from clearlane.claims.responses.write_277ca import AckSource, Row, source_name
from clearlane.x12 import guides
from clearlane.x12.writer.encode import format_period, format_segment

BETWEEN = ("",) * 5


class StatusResponse277:
    """The status of claims of one sender's set, while it is written."""

    def __init__(
        self, source: AckSource, sender: SenderSet, *, control: int, moment: datetime
    ) -> None:
        self._source = source
        self._sender = sender
        self._envelope = answer_envelope(sender, control, moment)
        self._today = moment.date()
        self._trace = f"{control:09}"
        self._claims: dict[Name, list[tuple[AcknowledgedClaim, Sequence[AckStatus], str]]] = {}

    @property
    def claims(self) -> int:
        """How many claims have a status."""
        return sum(map(len, self._claims.values()))

    def add(
        self, claim: AcknowledgedClaim, statuses: Sequence[AckStatus], payer_number: str
    ) -> None:
        """Add the statuses of a claim, in the order of the sender's file."""
        self._claims.setdefault(claim.provider, []).append((claim, statuses, payer_number))

    def write(self) -> bytes:
        """Return the interchange. Raises ValueError if it has no claim."""
        if not self._claims:
            raise ValueError("a status response needs at least one claim")
        texts = ("*".join(format_segment(*row)) for row in self._rows())
        return write_answer(self._sender, self._envelope, guides.by_kind("277"), texts)

    def _rows(self) -> Iterator[Row]:
        time = f"{self._envelope.moment:%H%M}"
        yield ("BHT", "0010", "08", self._trace, self._today, time, "DG")
        yield ("HL", "1", "", "20", "1")
        yield ("NM1", *source_name(self._source))
        yield ("HL", "2", "1", "21", "1")
        entity, last, first, middle, *_, qualifier, id = submitter_name(self._sender)
        yield ("NM1", "41", entity, last, first, middle, "", "", qualifier, id)
        level = 2
        for provider, claims in self._claims.items():
            level += 1
            parent = level
            yield ("HL", parent, "2", "19", "1")
            yield ("NM1", "1P", *provider)
            for claim, statuses, number in claims:
                level += 1
                yield ("HL", level, parent, "22", "1" if claim.is_dependent else "0")
                yield ("NM1", "IL", *claim.subscriber)
                if claim.is_dependent:
                    level += 1
                    yield ("HL", level, level - 1, "23")
                    yield ("NM1", "QC", "1", *claim.patient[1:6])
                yield from self._claim(claim, statuses, number)

    def _claim(
        self, claim: AcknowledgedClaim, statuses: Sequence[AckStatus], number: str
    ) -> Iterator[Row]:
        yield ("TRN", "2", claim.account)
        for status in statuses:
            first, second, third = (*status.codes, (), ())[:3]
            codes = (tuple(first), tuple(second), tuple(third))
            day = status.day or self._today
            yield ("STC", codes[0], day, "", claim.charge, *BETWEEN, *codes[1:])
        references = (
            ("1K", number),
            ("BLT", claim.bill_type),
            ("EJ", claim.account),
            ("D9", claim.clearinghouse_number),
        )
        for qualifier, value in references:
            if value:
                yield ("REF", qualifier, value)
        if claim.days:
            yield ("DTP", "472", *format_period(*claim.days))
