"""Compare sender and receiver of an inbox file with the route it came over, before anything of it is posted.

A file for another receiver was delivered by mistake. A file of a sender that the route does not know may be the payer's
under another id, or a stranger's: a person decides. Knows addresses; does not know what a file states.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from clearlane.claims.responses.identify import FileAddress
from clearlane.connect.connections import PayerRoute
from clearlane.payers.routes import GROUP_SENDER, SENDER_SEPARATOR, sender_text

WRONG_RECEIVER = (
    "The file is for another receiver, {found}; this route's own address is {own}. It was not applied. Tell the payer; "
    "if the route is wrong, correct it and replay the file."
)
UNKNOWN_SENDER = (
    "The file is from a sender that this route does not know, {found}. It was not applied. If it is the payer's: "
    "clearlane inbox accept {id} --remember"
)

_SHOWN = re.compile(r"[ -~]{1,24}", re.ASCII)


@dataclass(frozen=True, slots=True)
class AddressCheck:
    """What is wrong with the addresses of a file: foreign receivers, and senders that the route does not know."""

    receivers: frozenset[str] = frozenset()
    senders: frozenset[str] = frozenset()


def check_addresses(
    addresses: Iterable[FileAddress], route: PayerRoute, accepted: frozenset[str] = frozenset()
) -> AddressCheck:
    """Compare ISA05 to ISA08, GS02 and GS03 with a route, the payer's place and ours swapped.

    ``accepted`` are senders that count as known beside those of the route.
    """
    own = {sender_text(route.sender_qualifier, route.sender_id)}
    own_groups = {_plain(route.sender_id), _plain(route.group_sender)}
    known = {
        sender_text(route.receiver_qualifier, route.receiver_id),
        *filter(None, route.senders.split(SENDER_SEPARATOR)),
        *accepted,
    }
    known_groups = {_plain(route.group_receiver), *(each.partition(":")[2] for each in known)}
    receivers: set[str] = set()
    senders: set[str] = set()
    for each in addresses:
        if each.is_group:
            receivers |= {sender_text("GS03", each.receiver)} - {
                sender_text("GS03", group) for group in own_groups
            }
            if _plain(each.sender) not in known_groups:
                senders.add(sender_text(GROUP_SENDER, each.sender))
            continue
        receivers |= {sender_text(each.receiver_qualifier, each.receiver)} - own
        senders |= {sender_text(each.sender_qualifier, each.sender)} - known
    return AddressCheck(frozenset(receivers), frozenset(senders))


def refusal(check: AddressCheck, route: PayerRoute, file_id: int) -> str:
    """Return why a file is not posted; empty if nothing is wrong."""
    if check.receivers:
        own = sender_text(route.sender_qualifier, route.sender_id)
        return WRONG_RECEIVER.format(found=_shown(check.receivers), own=own)
    if check.senders:
        return UNKNOWN_SENDER.format(found=_shown(check.senders), id=file_id)
    return ""


def _plain(id: str) -> str:
    return id.strip().upper()


def _shown(found: Iterable[str]) -> str:
    """Return addresses as text; what does not look like one may be anything, and reasons are not encrypted."""
    return ", ".join(sorted(each if _SHOWN.fullmatch(each) else "unreadable" for each in found))
