"""What a batch of claims is called, and who sends it. Knows no payer's cable and no database."""

from dataclasses import replace

from clearlane.claims.fields import ClaimKind
from clearlane.claims.write_837 import Party

SETS = {ClaimKind.MEDICAL: "837P", ClaimKind.DENTAL: "837D"}
CONTROL_MAX = 999_999_999
"""ISA13 has nine digits."""

US = Party(name="CLEARLANE", id="CLEARLANE", phone="8005550100")
"""Who sends, where the operator has not said who that is."""


def file_name(kind: ClaimKind, sender: str, control: int) -> str:
    """A name that no other batch has: letters, digits and signs that every system bears."""
    plain = "".join(sign for sign in sender.upper() if sign.isascii() and sign.isalnum())
    return f"{plain or US.name}-{SETS[kind]}-{control:09}.x12"


def submitter(us: Party, id: str) -> Party:
    """Who sends, by the id under which this payer knows us."""
    return replace(us, id=id)
