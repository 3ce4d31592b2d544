"""Load stored claims, opened, for people who may see them. Every load is audited.

The only module that knows how the content of a claim is encoded before it is sealed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from clearlane.claims.finding import ClaimFinding
from clearlane.claims.header import ClaimHeader, decode_header, encode_header
from clearlane.kernel.finding import Severity
from clearlane.kernel.ids import Scope, SiteId, VendorId
from clearlane.store.claims import claims
from clearlane.store.claims.claims import StoredClaim
from clearlane.store.database.database import Actor, Database, SystemScope, Tx
from clearlane.store.vault.vault import Owner, Vault

if TYPE_CHECKING:
    from clearlane.claims.fields import Claim

ANY_CLIENT = SystemScope("an operator names a claim by its number")


@dataclass(frozen=True)
class LoadedClaim:
    """A stored claim with its opened content."""

    row: StoredClaim
    stored: bytes = field(repr=False)
    """The claim as ``fields.encode`` made it text."""
    repairs: tuple[tuple[str, str], ...]
    findings: tuple[ClaimFinding, ...] = field(repr=False)
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The values of repaired fields as they were given, by path."""

    # The fields of claims are loaded when a claim is decoded: its history needs none of them before a payer has answered.
    @cached_property
    def claim(self) -> "Claim":
        """The claim, decoded at its first use."""
        from clearlane.claims.read.decode import restore_claim

        return restore_claim(self.row.form, self.stored)

    @property
    def vendor_claim_id(self) -> str:
        """The vendor's id of the claim."""
        from clearlane.claims.forms import form_of

        found: str = form_of(self.claim).value(self.claim, "vendor_claim_id")
        return found


class ClaimContent(msgspec.Struct):
    """The sealed content of a claim: as repaired, with what was repaired and found."""

    claim: msgspec.Raw
    repairs: list[tuple[str, str]]
    findings: list[tuple[str, str, str, str]]
    given: dict[str, str] = {}
    """The values of repaired fields as they were given, by path."""


async def load_claim(
    database: Database, vault: Vault, claim_number: str, *, actor: Actor
) -> LoadedClaim | None:
    """Load a claim of any client; return None if there is none."""
    scope = await find_claim_scope(database, claim_number)
    return (
        None
        if scope is None
        else await load_claim_in_scope(database, vault, scope, claim_number, actor=actor)
    )


async def load_claim_in_scope(
    database: Database, vault: Vault, scope: Scope, claim_number: str, *, actor: Actor
) -> LoadedClaim | None:
    """Load a claim of a known client; return None if it has none of this id."""

    async def find(tx: Tx) -> StoredClaim | None:
        found = await claims.find(tx, claim_number)
        if found is not None:
            await vault.load_keys_of(tx, [found.payload])
            tx.audit("claim.read", ids=[claim_number])
        return found

    row = await database.write(scope, find, actor=actor)
    return None if row is None else open_claim(vault, scope, row)


async def find_claim_scope(database: Database, claim_number: str) -> Scope | None:
    """Return the client of a claim; None if there is no such claim."""
    async with database.read(ANY_CLIENT) as tx:
        owner = await claims.find_owner(tx, claim_number)
    return None if owner is None else Scope(VendorId(owner[0]), SiteId(owner[1]))


def open_claim(vault: Vault, scope: Scope, row: StoredClaim) -> LoadedClaim:
    """Open a stored claim. The caller has loaded its data key and audited the access."""
    opened = vault.open(scope, claims.TABLE, row.claim_number, row.payload)
    content = open_claim_content(opened)
    return LoadedClaim(
        row,
        bytes(content.claim),
        tuple(content.repairs),
        tuple(_finding(*values) for values in content.findings),
        content.given,
    )


def seal_header(vault: Vault, scope: Scope, claim_number: str, header: ClaimHeader) -> bytes:
    """Return the header of a claim, sealed."""
    return vault.seal(scope, claims.HEADER_COLUMN, claim_number, encode_header(header))


def open_header(vault: Vault, owner: Owner, claim_number: str, sealed: bytes) -> ClaimHeader:
    """Return the header of a claim. The caller has loaded its data key."""
    return decode_header(vault.open(owner, claims.HEADER_COLUMN, claim_number, sealed))


def sent_line_controls(loaded: LoadedClaim) -> tuple[str, ...]:
    """Return the line control numbers (``REF*6R``) that the claim was sent with."""
    from clearlane.claims.write.line_controls import line_controls

    return tuple(line_controls(loaded.claim, loaded.row.claim_number))


def _finding(rule: str, severity: str, location: str, message: str) -> ClaimFinding:
    return ClaimFinding(rule=rule, severity=Severity(severity), location=location, message=message)


def open_claim_content(opened: bytes) -> ClaimContent:
    """Decode the content of a claim that was sealed."""
    return msgspec.json.decode(opened, type=ClaimContent)


def encode_claim_content(
    claim: bytes, repairs: Any, findings: Any, given: Mapping[str, str]
) -> bytes:
    """Encode the content of a claim, to be sealed."""
    return msgspec.json.encode(
        ClaimContent(
            msgspec.Raw(claim),
            [(path, kind) for path, kind in repairs],
            _finding_values(findings),
            dict(given),
        )
    )


def add_findings(opened: bytes, findings: Iterable[ClaimFinding]) -> bytes:
    """Return the content of a claim with more findings, to be sealed again."""
    content = open_claim_content(opened)
    content.findings += _finding_values(findings)
    return msgspec.json.encode(content)


def _finding_values(findings: Iterable[ClaimFinding]) -> list[tuple[str, str, str, str]]:
    return [(one.rule, str(one.severity), one.location, one.message) for one in findings]
