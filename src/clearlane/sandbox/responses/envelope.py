"""The envelope of a response: sender and receiver are swapped, and what is sent again may get a new one."""

from datetime import datetime

from clearlane.sandbox.model import Parties
from clearlane.x12.writer.writer import Envelope


def reply_envelope(parties: Parties, control: int, moment: datetime) -> Envelope:
    """Return the envelope of a response to the sender of a file."""
    return Envelope(
        sender=parties.receiver,
        sender_qualifier=parties.receiver_qualifier,
        receiver=parties.sender,
        receiver_qualifier=parties.sender_qualifier,
        application_sender=parties.application_receiver,
        application_receiver=parties.application_sender,
        control=control,
        moment=moment,
        usage=parties.usage,
    )


# ISA13 is at a fixed place, because the segment has a fixed width.
_ISA_CONTROL = slice(90, 99)


def with_control_number(content: bytes, control: int) -> bytes:
    """Return an interchange that we wrote, under another control number; its sets stay as they are."""
    number = f"{control:09}"
    segments = content.decode("ascii").split("~")
    head, tail = segments[0], segments[-2]
    segments[0] = head[: _ISA_CONTROL.start] + number + head[_ISA_CONTROL.stop :]
    segments[-2] = f"{tail.rpartition('*')[0]}*{number}"
    return "~".join(segments).encode("ascii")
