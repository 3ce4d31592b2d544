"""Prepare the correction of a claim of a sender's file: patch the elements that are named, and judge it again.

For ``submit_correction``, which stores it. An element is named as findings name it, ``2400/SV101-2 (segment 31)``, or
without the segment if the claim has one such element. The claim as it came is never altered: its correction is another
claim.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.finding import ClaimFinding, shape_finding
from clearlane.claims.forms import form_of
from clearlane.claims.forms.x12_changes import (
    PatchedElement,
    element_at,
    full_locations,
    parse_location,
)
from clearlane.claims.forms.x12_loops import check_claim
from clearlane.claims.resubmission import ORIGINAL
from clearlane.claims.x12_claim import X12Claim
from clearlane.pipeline.intake.judge_file_claims import FileClaim, SeenClaims, judge_file_claims
from clearlane.pipeline.intake.prepare_claims import PreparedClaim
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.claims import RECEIVED

SEPARATORS = "*~"
PLACES_NAMED_MAX = 5
KEPT = {"HL": "Levels are numbered when the claim is written.", "LX": "Lines keep their numbers."}


def patch_faults(claim: X12Claim, fields: Mapping[str, object]) -> Iterator[ClaimFinding]:
    """Yield why a claim cannot be corrected so: elements that it does not have, or that stay as they came."""
    kept = {number: segment for number, _, segment in claim.numbered_segments()}
    for location, value in fields.items():
        places = full_locations(claim, location)
        at = parse_location(places[0]) if len(places) == 1 else None
        if len(places) > 1:
            named = ", ".join(places[:PLACES_NAMED_MAX])
            yield shape_finding(
                location, f"The claim has {len(places)} of them. Name one: {named}."
            )
        elif at is None or element_at(claim, at) is None:
            yield shape_finding(
                location,
                "Name an element of the sender's file as findings do, such as 2400/SV101-2 (segment 31).",
            )
        elif reason := _kept_reason(kept[at.number], at):
            yield shape_finding(location, reason)
        elif value is not None and not _is_text(value, at):
            yield shape_finding(location, "Give a text without separators of X12, or null.")


def _kept_reason(segment: list[str], at: PatchedElement) -> str:
    if segment[0] == "CLM" and at.element == 1:
        return "A correction keeps the claim's number (CLM01); leave it out."
    return KEPT.get(segment[0], "")


def _is_text(value: object, at: PatchedElement) -> bool:
    separators = SEPARATORS + (":" if at.component else "")
    return isinstance(value, str) and value.isprintable() and not set(separators) & set(value)


async def prepare_file_correction(
    context: WorkContext,
    site: Site,
    claim: X12Claim,
    fields: Mapping[str, object],
    *,
    content: X12Claim | None = None,
    numbers: Mapping[str, str | None],
    corrects: str,
    now: datetime,
    overruled: Collection[str],
) -> PreparedClaim:
    """Return a claim with other elements, judged.

    ``content`` takes the place of the whole claim. ``numbers`` are frequency and original reference, if these change.
    """
    form = form_of(claim)
    texts = {
        full_locations(claim, at)[0]: None if value is None else str(value)
        for at, value in fields.items()
    }
    changed = form.with_changes(form.with_changes(content or claim, texts), numbers)
    (prepared,) = await judge_file_claims(
        context,
        site,
        [FileClaim(changed, check_claim(changed))],
        now=now,
        seen=SeenClaims(),
        corrects=corrects,
        overruled=overruled,
    )
    # How it goes out is decided by the claim that it takes over from.
    row = prepared.row
    depends = row.state == RECEIVED and row.frequency == ORIGINAL
    row = msgspec.structs.replace(
        row, depends_on_predecessor=depends, is_changed=changed.parts != claim.parts
    )
    return prepared._replace(row=row)
