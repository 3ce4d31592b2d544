"""Check claims of submitted documents and turn them into rows for the store.

For ``submit``. Pure: reads no clock, no directory and no database. Claims of several documents that arrive
together are processed together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple

from clearlane.accounts.model import Site
from clearlane.claims import decode, fields
from clearlane.claims.fields import Claim, ClaimKind
from clearlane.claims.forms import form_of
from clearlane.claims.rules import CheckedClaim, RuleInputs, repair_and_check
from clearlane.claims.write_837 import account_of
from clearlane.kernel import limits
from clearlane.kernel.clock import to_micros
from clearlane.kernel.ids import new_request_id
from clearlane.pipeline.claim_status import first_status_row
from clearlane.pipeline.intake.microbatch import MicroBatcher
from clearlane.pipeline.intake_priority import IntakePriority
from clearlane.pipeline.load_claim import encode_claim_content
from clearlane.store import claims as store
from clearlane.store.claim_lookup import account_reference
from clearlane.store.claims import NOT_ACCEPTED, RECEIVED, NewClaim
from clearlane.store.statuses import STATUS_COLUMN
from clearlane.store.vault import Vault

CENT = Decimal("0.01")


class PendingClaim(NamedTuple):
    """A claim that was read, and what the rules need to know to repair_and_check it."""

    vault: Vault
    site: Site
    kind: ClaimKind
    now: datetime
    at: str
    """Its place in the document, as findings name it."""
    claim: Claim
    facts: RuleInputs


@dataclass(frozen=True, slots=True)
class PreparedClaim:
    """A judged claim and the row it becomes."""

    at: str
    vendor_claim_id: str
    facts: RuleInputs
    judgement: CheckedClaim
    row: NewClaim


class IntakeBatcher:
    """The two stages of intake on one node, each processing claims of several documents at once."""

    def __init__(self, priority: IntakePriority | None = None) -> None:
        self.priority = priority or IntakePriority()
        self.reading = MicroBatcher(_read, items_max=limits.CLAIMS_AT_ONCE)
        self.preparing = MicroBatcher(_prepare, items_max=limits.CLAIMS_AT_ONCE)


def _read(places: Sequence[tuple[decode.SubmissionDocument, int]]) -> list[decode.DecodedClaim]:
    return [document.read(at, at + 1)[0] for document, at in places]


def _prepare(claims: Sequence[PendingClaim]) -> list[PreparedClaim]:
    """Judge claims and make their rows, one stage for all claims before the next stage."""
    judged = [repair_and_check(pending.claim, pending.facts, at=pending.at) for pending in claims]
    texts = [
        (fields.encode(pending.claim), _content(end))
        for pending, end in zip(claims, judged, strict=True)
    ]
    return [
        PreparedClaim(
            pending.at,
            pending.claim.Svc_VendorClaimId,
            pending.facts,
            end,
            _row(pending, end, *text),
        )
        for pending, end, text in zip(claims, judged, texts, strict=True)
    ]


def _row(
    pending: PendingClaim, judgement: CheckedClaim, as_sent: bytes, content: bytes
) -> NewClaim:
    """Return the row of a judged claim.

    The claim as sent is hashed, to recognise repetitions; the claim as repaired is sealed.
    """
    vault, site, kind, now, _, claim, known = pending
    accepted = judgement.accepted
    request_id = new_request_id(now)
    payer = known.payer.payer_id if known.payer else ""
    total = _cents(judgement.claim) if accepted else 0
    return NewClaim(
        request_id=request_id,
        kind=kind.value,
        state=RECEIVED if accepted else NOT_ACCEPTED,
        payer_id=payer,
        vendor_claim_hash=vault.fingerprint(site.scope, kind, claim.Svc_VendorClaimId).hex(),
        content_hash=vault.fingerprint(site.scope, "content", as_sent).hex(),
        reference=_reference(vault, judgement.claim, payer) if accepted else "",
        total_cents=total,
        created_at=to_micros(now),
        created_day=known.today.isoformat(),
        payload=vault.seal(site.scope, store.TABLE, request_id, content),
        status=_status(vault, claim, site, request_id, total, known.today) if accepted else None,
    )


def _reference(vault: Vault, claim: Claim, payer_id: str) -> str:
    """Return the keyed hash of the account number, where it can be CLM01."""
    account = account_of(claim)
    return account_reference(vault, payer_id, account) if account else ""


def _status(
    vault: Vault, claim: Claim, site: Site, request_id: str, total: int, today: date
) -> bytes:
    """Return the claim's first row of the status list, sealed."""
    row = first_status_row(
        vendor_id=site.vendor_id,
        vendor_site_id=site.vendor_site_id,
        request_id=request_id,
        vendor_claim_id=claim.Svc_VendorClaimId,
        total_cents=total,
        day=today,
    )
    return vault.seal(site.scope, STATUS_COLUMN, request_id, row)


def _cents(claim: Claim) -> int:
    return int(form_of(claim).charge(claim).quantize(CENT) * 100)


def _content(judgement: CheckedClaim) -> bytes:
    return encode_claim_content(
        fields.encode(judgement.claim), judgement.repairs, judgement.findings
    )
