"""File names and submitters of batches of claims. Knows no route and no database."""

from clearlane.claims.write.write_837 import TradingPartner
from clearlane.payers.name_patterns import outgoing_name
from clearlane.x12.writer.writer import Envelope

DEFAULT_SUBMITTER = TradingPartner(name="CLEARLANE", id="CLEARLANE", phone="8005550100")
"""The submitter, if the operator has set none."""


def batch_file_name(pattern: str, envelope: Envelope, type: str) -> str:
    """Return the name of a file, by a route's pattern, in characters that every file system takes.

    ``type`` is what is in it: 837P, 270. No other file has the name, since every pattern holds the control number.
    """
    return outgoing_name(
        pattern,
        {
            "sender": _plain(envelope.sender) or DEFAULT_SUBMITTER.name,
            "receiver": _plain(envelope.receiver),
            "type": type,
            "control": f"{envelope.control:09}",
            "date": f"{envelope.moment:%Y%m%d}",
            "time": f"{envelope.moment:%H%M%S}",
        },
    )


def _plain(id: str) -> str:
    return "".join(char for char in id.upper() if char.isascii() and char.isalnum())
