"""Recall: a stored claim as it was judged, for a person who may see it. The look is audited.

Knows how the submit verb seals a claim; knows no face.
"""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from clearlane.claims.decode import restore
from clearlane.claims.fields import Claim, ClaimKind
from clearlane.claims.finding import ClaimFinding
from clearlane.kernel.finding import Severity
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.store import claims as store
from clearlane.store.claims import StoredClaim
from clearlane.store.database import Actor, Database, System, Tx
from clearlane.store.vault import Vault

ANY_CLIENT = System("an operator names a claim by its request id")


@dataclass(frozen=True, slots=True)
class Recalled:
    """A stored claim, opened."""

    row: StoredClaim
    claim: Claim = field(repr=False)
    repairs: tuple[tuple[str, str], ...]
    findings: tuple[ClaimFinding, ...] = field(repr=False)


class _Named(msgspec.Struct):
    """What the caller calls a claim by."""

    Svc_VendorClaimId: str = ""


class Sealed(msgspec.Struct):
    """What the vault holds of a claim."""

    claim: msgspec.Raw
    repairs: list[tuple[str, str]]
    findings: list[tuple[str, str, str, str]]


async def recall(
    database: Database, vault: Vault, request_id: str, *, actor: Actor
) -> Recalled | None:
    """Open one claim of any client; None where there is no such claim."""
    scope = await scope_of(database, request_id)
    return (
        None if scope is None else await recall_in(database, vault, scope, request_id, actor=actor)
    )


async def recall_in(
    database: Database, vault: Vault, scope: Scope, request_id: str, *, actor: Actor
) -> Recalled | None:
    """Open one claim of a client whose it is known to be."""

    async def look(tx: Tx) -> StoredClaim | None:
        found = await store.find(tx, request_id)
        if found is not None:
            await vault.fetch(tx, [found.payload])
            tx.audit("claim.read", ids=[request_id])
        return found

    row = await database.write(scope, look, actor=actor)
    return None if row is None else opened(vault, scope, row)


async def scope_of(database: Database, request_id: str) -> Scope | None:
    """Whose claim it is; None where there is no such claim."""
    async with database.read(ANY_CLIENT) as tx:
        owner = await store.owner(tx, request_id)
    return None if owner is None else Scope(VendorId(owner[0]), SiteId(owner[1]))


def vendor_claim_id(content: bytes) -> str:
    """The caller's id of a claim, from what the vault holds of it."""
    sealed = msgspec.json.decode(content, type=Sealed)
    return msgspec.json.decode(sealed.claim, type=_Named).Svc_VendorClaimId


def opened(vault: Vault, scope: Scope, row: StoredClaim) -> Recalled:
    """A stored claim whose data key is loaded, for a caller who has audited the look."""
    content = vault.open(scope, store.TABLE, row.request_id, row.payload)
    sealed = msgspec.json.decode(content, type=Sealed)
    return Recalled(
        row,
        restore(ClaimKind(row.kind), bytes(sealed.claim)),
        tuple(sealed.repairs),
        tuple(_finding(*told) for told in sealed.findings),
    )


def _finding(rule: str, severity: str, location: str, message: str) -> ClaimFinding:
    return ClaimFinding(rule=rule, severity=Severity(severity), location=location, message=message)


def seal(claim: bytes, repairs: Any, findings: Any) -> bytes:
    """What the vault is given of a judged claim."""
    return msgspec.json.encode(
        Sealed(
            msgspec.Raw(claim),
            [(path, kind) for path, kind in repairs],
            [(f.rule, str(f.severity), f.location, f.message) for f in findings],
        )
    )
