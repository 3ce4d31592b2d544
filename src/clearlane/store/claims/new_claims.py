"""Claims to be stored, and the result for each. The claims table is the outbox: an accepted row waits to be sent."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import attrgetter

import msgspec

from clearlane.claims.awaiting import Awaited, AwaitedState, first_awaited
from clearlane.claims.resubmission import REFUSALS, ResubmissionDecision, ResubmissionTimes
from clearlane.kernel.redacted_repr import shows
from clearlane.store.claims.claim_ids import ClaimId
from clearlane.store.claims.claims import RECEIVED
from clearlane.store.database.database import Tx
from clearlane.store.database.schema import SHADOW_STATES, claims, series_members
from clearlane.store.database.sql import scoped_insert

NO_LINKS: dict[str, str | None] = {"predecessor_id": None, "former_holder": None}


@shows("claim_number", "state")
class NewClaim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A claim to be stored. ``payload``, ``header`` and ``status`` are already sealed."""

    claim_number: str
    kind: str
    form: str
    state: str
    payer_id: str
    vendor_claim_hash: str
    """Keyed hash of the vendor's claim id."""
    content_hash: str
    """Keyed hash of everything in the claim."""
    frequency: str
    """The claim frequency code (CLM05-3): 1 original, 7 replacement, 8 void."""
    reference: str
    """Keyed hash of the account number to be sent as CLM01; empty if it cannot be."""
    times: ResubmissionTimes
    """How old an earlier claim under its id must be for it to take over the id."""
    total_cents: int
    created_at: int
    created_day: str
    service_day: str | None = None
    """The first day of service."""
    bill_type: str | None = None
    """Of an institutional claim: the type of bill with its frequency."""
    awaits_enrollment: bool = False
    """Whether nothing but an enrollment that is on its way keeps it from its payer."""
    label: str = "received"
    """What people call it (``pipeline.claim_label``)."""
    payload: bytes
    header: bytes
    status: bytes | None = None
    """Its row of the status list; None if it is not listed."""
    account_key: int | None = None
    """Keyed hashes that it is found by, cut to 64 bits: of the account number, the patient's last
    name with birth date, the start of that name, and the member id; None if it has none."""
    patient_key: int | None = None
    name_key: int | None = None
    member_key: int | None = None
    depends_on_predecessor: bool = False
    """Whether its content is still to be decided by the claim that it takes over from, if there is one."""
    corrects: str = ""
    """The claim that a person or a v1 call named to be corrected; empty for a claim that was just sent."""
    replaces_key: int | None = None
    """Keyed hash of the payer's number of the claim that it replaces or voids, cut to 64 bits."""
    prior_payer_claim: str | None = None
    """The claim to an earlier payer whose decision it carries to the next one."""
    series_key: int | None = None
    """Of a bill of a stay: keyed hash of payer, patient, provider and admission day, cut to 64 bits."""
    last_day: str | None = None
    """The last day of its statement."""
    is_cumulative: bool = False
    """Whether the payer's bills of a stay replace each other."""
    is_changed: bool = False
    """Whether a person changed something that ``content_hash`` may not show: that of a claim of a file is of its services."""
    shadow_x12: bytes | None = None
    """Of an accepted claim of a shadow file: what would have been sent, sealed."""

    @property
    def is_shadow(self) -> bool:
        """Whether it came in a shadow file, and is never sent."""
        return self.state in SHADOW_STATES

    def is_same_as(self, content_hash: str) -> bool:
        """Return whether it says the same as a claim of this content."""
        return self.content_hash == content_hash and not self.is_changed

    @property
    def id(self) -> ClaimId:
        """The claim under its vendor's claim id."""
        return ClaimId(self.vendor_claim_hash, self.claim_number)


@dataclass(frozen=True, slots=True)
class ClaimInsertResult:
    """The result of storing one claim of a submission."""

    claim_number: str
    """Id of the stored claim: the new one, or the one that existed."""
    decision: ResubmissionDecision | None = None
    """What the claim is to the one that had its vendor's claim id; None if none had it."""
    earlier_id: str = ""
    """Id of the claim that had the vendor's claim id."""
    earlier_state: str = ""
    not_accepted_before: tuple[str, ...] = ()
    """Ids of claims under its vendor's claim id that were not accepted, and whose place it takes."""


def is_accepted(claim: NewClaim, result: ClaimInsertResult) -> bool:
    """Return whether a claim is answered as accepted: it has no errors, and its id is free or its own."""
    return claim.state == RECEIVED and result.decision not in REFUSALS


async def insert(
    tx: Tx,
    new: Sequence[NewClaim],
    with_account: Collection[str] = (),
    links: dict[str, str | None] = NO_LINKS,
) -> None:
    """Insert the rows of claims. ``with_account`` names those that carry the account number as CLM01."""
    rows = []
    for claim in new:
        row = dict(zip(_COLUMNS, _values(claim), strict=True)) | links
        row |= first_awaited(claim.label, claim.created_at)
        if claim.awaits_enrollment:
            row |= {"awaiting": Awaited.ENROLLMENT.value, "awaited_by": None}
        row["updated_at"] = claim.created_at
        row["account_as_number"] = int(claim.claim_number in with_account)
        row["queued"] = int(claim.state == RECEIVED)
        row["is_shadow"] = int(claim.is_shadow)
        rows.append(row)
    if rows:
        await tx.many(_ADD, rows)
    members = [_member(one) for one in new if one.series_key is not None and one.state == RECEIVED]
    if members:
        await tx.many(_ADD_MEMBER, members)


def _member(claim: NewClaim) -> dict[str, object]:
    return {
        "claim_number": claim.claim_number,
        "series_key": claim.series_key,
        # The type of bill ends with the frequency that the claim is sent by; the other one is the caller's.
        "frequency": claim.bill_type[-1] if claim.bill_type else claim.frequency,
        "last_day": claim.last_day,
        "is_cumulative": int(claim.is_cumulative),
    }


_ADD_MEMBER = scoped_insert(
    series_members, "claim_number", "series_key", "frequency", "last_day", "is_cumulative"
)


_COLUMNS = (
    "claim_number", "kind", "form", "state", "payer_id", "vendor_claim_hash", "content_hash", "total_cents",
    "created_at", "created_day", "payload", "header", "status", "account_key", "patient_key", "name_key",
    "member_key", "service_day", "bill_type", "prior_payer_claim", "label",
)  # fmt: skip
_values = attrgetter(*_COLUMNS)
_ADD = scoped_insert(
    claims,
    *_COLUMNS,
    "updated_at",
    "account_as_number",
    "queued",
    "is_shadow",
    *AwaitedState._fields,
    *NO_LINKS,
)
