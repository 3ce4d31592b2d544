"""The ways to payers' mailboxes, whatever they are made of: what dispatch and collect ask for.

Knows no kind of connection and no table: routes and the sandbox each have an end of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from clearlane.connect.port import Mailbox
from clearlane.kernel import limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One way to one payer for one type of claims, with how it wants to be used."""

    route_id: int
    """0 is the loopback of a sandbox."""
    payer_id: str
    type: str
    kind: str
    """In a word, for people: sftp, folder, core, loopback."""
    sender_id: str
    """Who we are to this payer (ISA06)."""
    receiver_id: str
    """Who the payer is (ISA08)."""
    sender_qualifier: str = "ZZ"
    receiver_qualifier: str = "ZZ"
    group_sender: str = ""
    """GS02, where it is not the sender."""
    group_receiver: str = ""
    usage: str = "P"
    window_seconds: int = limits.ROUTE_WINDOW_SECONDS
    claims_max: int = limits.CLAIMS_PER_SET_MAX
    poll_seconds: int = limits.ROUTE_POLL_SECONDS
    takeover_seconds: int = limits.ROUTE_TAKEOVER_SECONDS


class Lines(Protocol):
    """Every line there is."""

    def ways(self, type: str, payer_id: str) -> Sequence[Line]:
        """The lines to a payer, the first choice first; empty where there is none."""
        ...

    def all(self) -> Sequence[Line]:
        """The lines to look into for what came."""
        ...

    def open(self, line: Line) -> Mailbox:
        """The mailbox at the end of a line. Nothing is connected before it is used; close it after."""
        ...
