"""The envelope of an answer: the parties of the file change sides."""

from datetime import datetime

from clearlane.sandbox.model import Parties
from clearlane.x12.writer import Envelope


def envelope(parties: Parties, control: int, moment: datetime) -> Envelope:
    """Back to who sent the file."""
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
