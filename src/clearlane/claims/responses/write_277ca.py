"""Write a claim acknowledgement (277CA) for the sender of an 837: in his numbers, claim by claim.

    acknowledgement = Acknowledgement277CA(source, sender, received=day, control=17, moment=now)
    acknowledgement.add(acknowledged_claim(loop, parents), RECEIPT)
    content = acknowledgement.write()

Levels are the source (us, or the payer whose verdicts come back), the sender with his batch number, his billing providers
and their patients. Counts and charges of each level are those of the claims below. What is kept of a claim is its text
of a few hundred bytes, so that a set of 25,000 claims needs a few megabytes.

Knows the guide and the sender's set; knows no database and no clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple

from clearlane.claims.responses.ack_verdicts import (
    ACCEPTS,
    CLEARINGHOUSE,
    REFUSES,
    AckStatus,
    ClaimVerdict,
)
from clearlane.claims.responses.acknowledged_claim import AcknowledgedClaim, Name
from clearlane.claims.responses.sender_set import (
    NAME_CHARACTERS_MAX,
    NOT_KNOWN,
    SenderSet,
    answer_envelope,
    submitter_name,
    write_answer,
)
from clearlane.x12 import guides
from clearlane.x12.writer.encode import clean, format_period, format_segment

TEXT_CHARACTERS_MAX = 264
"""STC12 holds no more."""
BETWEEN = ("",) * 5
"""STC05 to STC09, which an acknowledgement does not use."""

Row = tuple[object, ...]


class AckSource(NamedTuple):
    """Who acknowledges: we, or a payer."""

    name: str
    id: str
    role: str = CLEARINGHOUSE
    id_qualifier: str = "46"


def clearinghouse_source(name: str, sender: SenderSet) -> AckSource:
    """Return us as a source, under the id that the sender gives us (NM1*40, else ISA08)."""
    id = (*sender.receiver, *[""] * 10)[9].strip() or sender.isa[8].strip()
    return AckSource(name, id)


def source_name(source: AckSource) -> tuple[str, ...]:
    """Return NM101 to NM109 of a source."""
    name = clean(source.name)[0][:NAME_CHARACTERS_MAX].rstrip() or NOT_KNOWN
    id = clean(source.id)[0]
    return (source.role, "2", name, "", "", "", "", source.id_qualifier, id)


@dataclass(slots=True)
class _Total:
    """How many claims, and their charges."""

    claims: int = 0
    charges: Decimal = Decimal(0)

    def add(self, charge: Decimal) -> None:
        self.claims += 1
        self.charges += charge


@dataclass(slots=True)
class _Totals:
    """The claims of a level that are accepted, and the others."""

    accepted: _Total = field(default_factory=_Total)
    not_accepted: _Total = field(default_factory=_Total)
    patients: list[str] = field(default_factory=list, repr=False)
    """The segments of each patient, without the HL."""

    def add(self, charge: Decimal, *, accepts: bool) -> None:
        (self.accepted if accepts else self.not_accepted).add(charge)


class Acknowledgement277CA:
    """The acknowledgement of claims of one sender's set, while it is written."""

    def __init__(
        self,
        source: AckSource,
        sender: SenderSet,
        *,
        received: date,
        control: int,
        moment: datetime,
    ) -> None:
        """``control`` is our control number of the interchange; the claims were received on the day ``received``."""
        self._source = source
        self._sender = sender
        self._received = received
        self._envelope = answer_envelope(sender, control, moment)
        self._today = moment.date()
        self._trace = f"{control:09}"
        self._totals = _Totals()
        self._providers: dict[Name, _Totals] = {}
        self._payees: set[str] = set()

    @property
    def claims(self) -> int:
        """How many claims have a verdict."""
        return self.accepted + self.not_accepted

    @property
    def accepted(self) -> int:
        """How many claims are accepted."""
        return self._totals.accepted.claims

    @property
    def not_accepted(self) -> int:
        """How many claims are not accepted."""
        return self._totals.not_accepted.claims

    @property
    def payees(self) -> frozenset[str]:
        """The NPIs and tax ids of the billing providers of accepted claims, to whom payers will pay."""
        return frozenset(self._payees)

    def add(self, claim: AcknowledgedClaim, verdict: ClaimVerdict) -> None:
        """Add the verdict on a claim, in the order of the sender's file."""
        provider = self._providers.setdefault(claim.provider, _Totals())
        for totals in (self._totals, provider):
            totals.add(claim.amount, accepts=verdict.accepts)
        if verdict.accepts:
            self._payees.update(claim.payees)
        rows = self._patient(claim, verdict)
        provider.patients.append("~".join("*".join(format_segment(*row)) for row in rows))

    def write(self) -> bytes:
        """Return the interchange. Raises ValueError if it has no claim."""
        if not self._providers:
            raise ValueError("an acknowledgement needs at least one claim")
        guide = guides.by_kind("277CA")
        return write_answer(self._sender, self._envelope, guide, self._texts())

    def _texts(self) -> Iterator[str]:
        for row in self._heading():
            yield "*".join(format_segment(*row))
        level = 2
        for name, totals in self._providers.items():
            level += 1
            provider = level
            for row in self._provider(name, totals, provider):
                yield "*".join(format_segment(*row))
            for patient in totals.patients:
                level += 1
                yield f"HL*{level}*{provider}*PT~{patient}"

    def _heading(self) -> Iterator[Row]:
        moment = self._envelope.moment
        yield ("BHT", "0085", "08", self._trace, self._today, f"{moment:%H%M}", "TH")
        yield ("HL", "1", "", "20", "1")
        yield ("NM1", *source_name(self._source))
        yield ("TRN", "1", self._trace)
        yield ("DTP", "050", "D8", self._received)
        yield ("DTP", "009", "D8", self._today)
        yield ("HL", "2", "1", "21", "1")
        yield ("NM1", "41", *submitter_name(self._sender))
        yield ("TRN", "2", self._sender.batch_number or "0")
        yield from self._sums(self._totals, "90", "AA", self._today)

    def _provider(self, name: Name, totals: _Totals, level: int) -> Iterator[Row]:
        yield ("HL", str(level), "2", "19", "1")
        yield ("NM1", "85", *name)
        yield ("TRN", "1", f"{self._trace}-{level}")
        # STC02 does not exist at the provider level.
        yield from self._sums(totals, "QA", "QC", "")

    def _sums(
        self, totals: _Totals, accepted: str, not_accepted: str, day: date | str
    ) -> Iterator[Row]:
        """Yield the receipt of a level, and how many of its claims are accepted and not."""
        whole = totals.accepted.charges + totals.not_accepted.charges
        yield ("STC", ("A1", "19", self._source.role), day, ACCEPTS, whole)
        parts = ((accepted, "YU", totals.accepted), (not_accepted, "YY", totals.not_accepted))
        filled = [part for part in parts if part[2].claims]
        for quantity, _, total in filled:
            yield ("QTY", quantity, total.claims)
        for _, amount, total in filled:
            yield ("AMT", amount, total.charges)

    def _patient(self, claim: AcknowledgedClaim, verdict: ClaimVerdict) -> Iterator[Row]:
        yield ("NM1", "QC", "1", *claim.patient[1:])
        yield ("TRN", "2", claim.account)
        for status in verdict.statuses:
            yield self._status(status, claim.charge)
        references = (
            ("1K", verdict.payer_number),
            ("D9", claim.clearinghouse_number),
            ("BLT", claim.bill_type),
        )
        for qualifier, number in references:
            if number:
                yield ("REF", qualifier, number)
        # A predetermination has no service date, and the guide requires one: the day it was received.
        yield ("DTP", "472", *format_period(*(claim.days or (self._received, self._received))))
        for at, statuses in sorted(verdict.lines.items()):
            line = claim.lines[at]
            yield ("SVC", *line.service)
            for status in statuses:
                yield self._status(status, "")
            if line.control:
                yield ("REF", "FJ", line.control)
            if line.period:
                yield ("DTP", "472", *line.period)

    def _status(self, status: AckStatus, charge: str) -> Row:
        first, second, third = (*status.codes, (), ())[:3]
        action = ACCEPTS if status.accepts else REFUSES
        # A colon separates components: a dash keeps what follows it apart.
        text = clean(status.text.replace(": ", " - "))[0][:TEXT_CHARACTERS_MAX].rstrip()
        day = status.day or self._today
        return (
            "STC",
            tuple(first),
            day,
            action,
            charge,
            *BETWEEN,
            tuple(second),
            tuple(third),
            text,
        )
