"""Read a file of a payer in one pass: identify it, and read its acknowledgements.

    file = read_inbound(content)
    file.identified                              # its transactions, or why it cannot be used
    file.messages                                # every message, if it holds no other answers than TA1 and 999

A file may be posted only when its end has shown that nothing is missing. A file of TA1 and 999 is small, so its messages
are held until then. Any other file may be large: only its envelopes are looked at here, and its statements are read in a
second pass, page by page.

Knows envelopes and acknowledgements; knows no claim that was sent.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from clearlane.claims.responses import acks
from clearlane.claims.responses.ack_messages import AckMessage
from clearlane.claims.responses.identify import POSTED, EnvelopeScan, IdentifiedFile
from clearlane.x12.reader import reader

PAGED = POSTED - {"TA1", "999"}
"""Transactions whose files may be large, so that they are posted page by page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundFile:
    """What a file of a payer is, and its messages if these were read already."""

    identified: IdentifiedFile
    messages: tuple[AckMessage, ...] | None = field(default=None, repr=False)
    """The messages of a usable file without other answers than TA1 and 999; None for any other."""


def read_inbound(source: reader.Source) -> InboundFile:
    """Identify a file and read its messages, if of what can be posted it holds TA1 and 999 alone."""
    scan = EnvelopeScan()
    tokens = scan.watch(source)
    events = _AcknowledgementEvents(reader.read_tokens(tokens, check=False))
    messages = tuple(acks.read_events(events))
    for _ in tokens:  # the envelopes of what follows another set
        pass
    identified = scan.verdict()
    complete = identified.usable and not events.stopped
    return InboundFile(identified=identified, messages=messages if complete else None)


class _AcknowledgementEvents:
    """The events of a file up to the first set that is posted page by page."""

    def __init__(self, events: Iterable[reader.Event]) -> None:
        self._events = events
        self.stopped = False

    def __iter__(self) -> Iterator[reader.Event]:
        for event in self._events:
            if isinstance(event, reader.SetOpened):
                guide = event.set.guide
                if guide is not None and guide.kind in PAGED:
                    self.stopped = True
                    return
            yield event
