"""The connections to payers: which mailbox carries a payer's files, which connection answers in real time.

For the pipeline. Knows no kind of connection and no table: stored routes and the sandbox each
implement ``Connections``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from clearlane.connect.port import Mailbox, Realtime
from clearlane.kernel import limits
from clearlane.payers.hops import Hop
from clearlane.payers.name_patterns import OUTGOING_DEFAULT
from clearlane.payers.routes import AS_SENT, ELIGIBILITY_INQUIRY
from clearlane.payers.send_windows import is_open, next_opening, read_send_windows


@dataclass(frozen=True, slots=True, kw_only=True)
class PayerRoute:
    """A route to one payer for one type of claims, or to a hop: X12 addresses and pace."""

    route_id: int
    """0 is the loopback of a sandbox."""
    payer_id: str
    type: str
    kind: str
    """For people: sftp, folder, core, loopback."""
    sender_id: str
    """ISA06: the id of the sender, as the payer knows it."""
    receiver_id: str
    """ISA08: the id of the payer."""
    sender_qualifier: str = "ZZ"
    receiver_qualifier: str = "ZZ"
    group_sender: str = ""
    """GS02, if it differs from ISA06."""
    group_receiver: str = ""
    """GS03, if it differs from ISA08."""
    senders: str = ""
    """Other addresses that the payer sends from, such as ``ZZ:MEADOW|GS:MEADOW1``."""
    usage: str = "P"
    window_seconds: int = limits.ROUTE_WINDOW_SECONDS
    claims_max: int = limits.CLAIMS_PER_SET_MAX
    poll_seconds: int = limits.ROUTE_POLL_SECONDS
    settle_seconds: int | None = None
    """How long a file from the payer must be unchanged; None if the route has no number of its own."""
    takeover_seconds: int = limits.ROUTE_TAKEOVER_SECONDS
    send_windows: str = ""
    """When files are sent; empty for any time."""
    time_zone: str = ""
    """The time zone of the send windows."""
    answer_days: int = 0
    """Within how many days the payer usually answers a claim; 0 if it has no number of its own."""
    letters: str = AS_SENT
    """Whether small letters of claims from files go out as capital ones."""
    file_name: str = OUTGOING_DEFAULT
    """The pattern of the names of files that are sent."""
    receiver_name: str = ""
    """The name of the receiver, if it is not the payer's."""
    inquiries: str = ELIGIBILITY_INQUIRY
    """The inquiries that the payer answers on this route, by their transaction sets."""
    status_after_days: int = limits.STATUS_AFTER_DAYS
    """Days after its sending before the payer is asked about a claim without a person."""
    status_every_days: int = limits.STATUS_EVERY_DAYS
    """Days between two such questions."""
    hop: str = ""
    """The id of the hop that the route goes over; empty if it goes to the payer itself."""
    hop_payer_id: str = ""
    """The payer's id as the hop has it."""

    def takes(self, inquiry_set: str) -> bool:
        """Return whether the payer answers inquiries of a transaction set on this route."""
        return inquiry_set in self.inquiries.split(",")

    def sends_at(self, moment: datetime) -> bool:
        """Return whether files may be sent at a moment."""
        return is_open(read_send_windows(self.send_windows), moment, self.time_zone)

    def next_sending(self, moment: datetime) -> datetime:
        """Return when files may be sent next: the moment itself in a send window."""
        return next_opening(read_send_windows(self.send_windows), moment, self.time_zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class RealtimeConnection:
    """A real-time connection to one payer."""

    route: PayerRoute
    timeout_seconds: float
    realtime: Realtime


class Connections(Protocol):
    """Directory of all connections to payers."""

    def mailbox_routes(self, type: str, payer_id: str) -> Sequence[PayerRoute]:
        """Return the routes for a payer's files, first choice first; empty if there is none."""
        ...

    def all_mailbox_routes(self) -> Sequence[PayerRoute]:
        """Return the routes to poll for incoming files."""
        ...

    def open_mailbox(self, route: PayerRoute) -> Mailbox:
        """Return the mailbox of a route. It connects when first used; close it after use."""
        ...

    def hops(self) -> Sequence[Hop]:
        """Return the hops that are in use, with the payers that they serve."""
        ...

    def find_hop(self, id: str) -> Hop | None:
        """Return a hop for what comes back from it, also if it is no longer in use."""
        ...

    def realtime_connections(self, type: str, payer_id: str) -> Sequence[RealtimeConnection]:
        """Return the real-time connections to a payer, first choice first; empty if it takes files only."""
        ...

    async def close(self) -> None:
        """Close the real-time connections; none is used any more."""
        ...
