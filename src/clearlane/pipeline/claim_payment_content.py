"""What is kept of a claim payment that matches no claim: all that its document will need once it does.

Sealed for its row, by the installation's key, since it belongs to no client yet. Knows no file.
"""

import msgspec

from clearlane.payments.model import ClaimPaymentContent
from clearlane.store.payments import claim_payments, payments
from clearlane.store.payments.claim_payments import UnmatchedRow
from clearlane.store.vault.vault import Vault


def seal_unmatched(
    vault: Vault, payment_id: str, number: int, content: ClaimPaymentContent
) -> bytes:
    """Seal what is kept of an unmatched claim payment."""
    place = claim_payments.unmatched_key(payment_id, number)
    packed = msgspec.msgpack.encode(content)
    return vault.seal(payments.OWNER, claim_payments.UNMATCHED_TABLE, place, packed)


def open_unmatched(vault: Vault, row: UnmatchedRow) -> ClaimPaymentContent:
    """Open what is kept of an unmatched claim payment."""
    place = claim_payments.unmatched_key(row.payment_id, row.number)
    opened = vault.open(payments.OWNER, claim_payments.UNMATCHED_TABLE, place, row.payload)
    return _CONTENT.decode(opened)


_CONTENT = msgspec.msgpack.Decoder(ClaimPaymentContent)
