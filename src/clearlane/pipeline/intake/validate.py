"""Say what would become of a document of claims, with every finding, and store nothing. Knows no HTTP."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import AnyForm
from clearlane.pipeline.intake.correct_claims import choose_earlier
from clearlane.pipeline.intake.judge import judge_document
from clearlane.pipeline.intake.prepare_claims import PreparedClaim
from clearlane.pipeline.intake.read import (
    MalformedDocument,
    ReadDocument,
    TooManyClaims,
    read_document,
)
from clearlane.pipeline.intake.store import used_id_findings
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.earlier_claims import StoredPredecessor, find_live
from clearlane.store.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class ValidatedClaim:
    """What would become of one claim."""

    vendor_claim_id: str
    accepted: bool
    findings: tuple[ClaimFinding, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class ValidatedDocument:
    """What would become of the claims of a document, in their order."""

    claims: tuple[ValidatedClaim, ...]
    ignored: tuple[str, ...] = ()


async def validate(
    context: WorkContext, document: bytes, form: AnyForm, *, site: Site, now: datetime
) -> ValidatedDocument | MalformedDocument | TooManyClaims:
    """Read and judge a document as ``submit`` does, with errors, warnings and notes of each claim."""
    read = await read_document(context, document, form, site=site)
    if isinstance(read, MalformedDocument):
        return await _validate_readable(context, document, form, read, site=site, now=now)
    if not isinstance(read, ReadDocument):
        return read
    await context.vault.ensure_key(site.scope)
    prepared = await judge_document(context, read, site=site, now=now, shorten=lambda one: one)
    async with context.database.read(site.scope) as tx:
        accepted = [one.row for one in prepared if one.judgement.accepted]
        earlier = await find_live(tx, accepted) if accepted else {}
        await context.vault.load_keys_of(
            tx, [one.header for under_id in earlier.values() for one in under_id]
        )
    found_claims = tuple(
        _validated(context.vault, site, one, earlier.get(one.row.claim_number, ()))
        for one in prepared
    )
    return ValidatedDocument(found_claims, read.ignored)


async def _validate_readable(
    context: WorkContext,
    document: bytes,
    form: AnyForm,
    malformed: MalformedDocument,
    *,
    site: Site,
    now: datetime,
) -> ValidatedDocument | MalformedDocument | TooManyClaims:
    """Judge the claims of a document that can be read, beside the faults of those that cannot."""
    by_claim: dict[int, list[ClaimFinding]] = {}
    for finding in malformed.findings:
        place = _PLACE.match(finding.location)
        if place is None:
            return malformed  # the document itself
        by_claim.setdefault(int(place[1]), []).append(finding)
    top = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    *_, named = (name for name in top if name.lower() == "claims")  # of two the last one counts
    found_claims = msgspec.json.decode(top[named], type=list[msgspec.Raw])
    readable = [one for at, one in enumerate(found_claims) if at not in by_claim]
    kept = {name: one for name, one in top.items() if name.lower() != "claims"}
    rest_of_document = msgspec.json.encode({**kept, "Claims": readable})
    judged = await validate(context, rest_of_document, form, site=site, now=now)
    if not isinstance(judged, ValidatedDocument) or len(judged.claims) != len(readable):
        return malformed
    rest = iter(judged.claims)
    return ValidatedDocument(
        tuple(
            ValidatedClaim(_vendor_claim_id(one), accepted=False, findings=tuple(by_claim[at]))
            if at in by_claim
            else next(rest)
            for at, one in enumerate(found_claims)
        ),
        malformed.ignored,
    )


def _vendor_claim_id(claim: msgspec.Raw) -> str:
    """Return the vendor's id of a claim that cannot be read; empty if it has none."""
    content = msgspec.json.decode(claim)
    fields = content.items() if isinstance(content, dict) else ()
    found = [value for name, value in fields if name.lower() == "svc_vendorclaimid"]
    return found[-1] if found and isinstance(found[-1], str) else ""


_PLACE = re.compile(r"Claims\[(\d+)\]")


def _validated(
    vault: Vault, site: Site, one: PreparedClaim, earlier: Sequence[StoredPredecessor]
) -> ValidatedClaim:
    findings = one.judgement.findings
    if not earlier:
        return ValidatedClaim(one.vendor_claim_id, one.judgement.accepted, findings)
    before, decision = choose_earlier(vault, site, one, earlier)
    taken = used_id_findings(one, decision, before.claim_number, before.state)
    return ValidatedClaim(one.vendor_claim_id, accepted=not taken, findings=(*taken, *findings))
