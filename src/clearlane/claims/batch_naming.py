"""File names and submitters of batches of claims. Knows no route and no database."""

from dataclasses import replace

from clearlane.claims.fields import ClaimKind
from clearlane.claims.forms import FORMS
from clearlane.claims.write_837 import TradingPartner

CONTROL_MAX = 999_999_999
"""ISA13 has nine digits."""

DEFAULT_SUBMITTER = TradingPartner(name="CLEARLANE", id="CLEARLANE", phone="8005550100")
"""The submitter, where the operator has set none."""


def file_name(kind: ClaimKind, sender: str, control: int) -> str:
    """Return a file name that no other batch has, in characters that every file system takes."""
    plain = "".join(char for char in sender.upper() if char.isascii() and char.isalnum())
    return f"{plain or DEFAULT_SUBMITTER.name}-{FORMS[kind].file_tag}-{control:09}.x12"


def with_submitter_id(submitter: TradingPartner, id: str) -> TradingPartner:
    """Return the submitter with the id under which a payer knows it."""
    return replace(submitter, id=id)
