"""The envelope of a response: sender and receiver are swapped."""

from datetime import datetime

from clearlane.sandbox.model import Parties
from clearlane.x12.writer import Envelope


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
