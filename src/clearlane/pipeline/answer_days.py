"""Within how many days a payer usually answers a claim, and by when what a claim awaits is to come.

    days = AnswerDays(connections, default=30)
    days.of("medical", "HARBOR")                                     # 14, or the setting claim_silence_days
    days.due(Awaited.DECISION, "medical", "HARBOR", now)             # the moment by which the payer is to decide

A claim without an answer for longer is overdue, and may be sent again. Knows routes; knows no claim.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from clearlane.claims.answer_times import NO_FIGURES, AnswerFigures
from clearlane.claims.awaiting import ANSWERS, PAYMENT_DAYS, Awaited, sending_due
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.connect.connections import Connections
from clearlane.kernel.business_days import add_business_days, first_business_day
from clearlane.kernel.clock import to_micros

SOON, ONE_DAY = timedelta(hours=1), timedelta(days=1)
DUE_AGAIN_DAYS = 7
"""Business days that a payer gets at least that said that it still decides on a claim."""


@dataclass(frozen=True, slots=True)
class AnswerDays:
    """The installation's number of days, and those of routes that have their own."""

    connections: Connections
    default: int

    def of(self, kind: str, payer_id: str) -> int:
        """Return the number of days of a payer: of its first route that has one, else the installation's."""
        type = KINDS[ClaimKind(kind)].payer_type
        routes = self.connections.mailbox_routes(type, payer_id)
        return next((route.answer_days for route in routes if route.answer_days), self.default)

    def due(
        self,
        awaited: Awaited | None,
        kind: str,
        payer_id: str,
        since: datetime,
        figures: AnswerFigures = NO_FIGURES,
        *,
        decided_day: date | None = None,
        notice_due: date | None = None,
    ) -> int | None:
        """Return by when what is awaited since a moment is to come, in microseconds; None if no time is known.

        A figure that was measured on the payer's own answers comes first, in business days. The remittance of a payer that
        decided on a day comes a few business days later. A notice is to be accepted by a day of its own.
        """
        if awaited is Awaited.SENDING:
            return sending_due(to_micros(since))
        if awaited is None or awaited not in ANSWERS:
            return None
        if notice_due is not None:
            # The day ends after every time zone of the country has left it.
            until = datetime.combine(notice_due + ONE_DAY, time(12), tzinfo=UTC)
            return to_micros(max(until, since + SOON))
        if awaited is Awaited.PAYMENT:
            day = add_business_days(decided_day or since.date(), PAYMENT_DAYS)
            # It may be over already. What is written is later than now, so that it is found.
            return to_micros(since + max(day - since.date(), SOON))
        measured = figures.get((kind, payer_id, awaited.value))
        if measured is not None:
            last = add_business_days(since.date(), max(measured, 1))
            return to_micros(since + (last - since.date()))
        due = since + timedelta(days=self.of(kind, payer_id))
        return to_micros(due + (first_business_day(due.date()) - due.date()))

    def due_again(self, due: int | None, now: datetime) -> int:
        """Return by when a decision is to come that was due at a moment, after the payer said that it works on it."""
        later = to_micros(now + (add_business_days(now.date(), DUE_AGAIN_DAYS) - now.date()))
        return max(due or 0, later)
