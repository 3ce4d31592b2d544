"""Seal the row of a judged claim as it is staged, and open it when it is released."""

import msgspec

from clearlane.accounts.model import Site
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.new_claims import NewClaim
from clearlane.store.files import staged_claims


def seal_row(context: WorkContext, site: Site, row: NewClaim) -> bytes:
    """Return the payload of a claim that is staged."""
    content = _ENCODER.encode(row)
    return context.vault.seal(site.scope, staged_claims.TABLE, row.claim_number, content)


def open_row(context: WorkContext, site: Site, claim_number: str, payload: bytes) -> NewClaim:
    """Return the row that a staged claim becomes."""
    opened = context.vault.open(site.scope, staged_claims.TABLE, claim_number, payload)
    return _DECODER.decode(opened)


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(NewClaim)
