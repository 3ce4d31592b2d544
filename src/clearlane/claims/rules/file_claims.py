"""Check a claim of a sender's file by itself: the claim rules over its view, beside what the X12 engine found in it.

    judged = check_file_claim(claim, inputs, findings)

The claim goes out as it came, so nothing is repaired. A finding tells where the sender's file has the value. Pure.
"""

from collections.abc import Iterable

import msgspec

from clearlane.claims.finding import LimitedFindings
from clearlane.claims.forms import form_of
from clearlane.claims.header import header_of
from clearlane.claims.rules import CheckedClaim
from clearlane.claims.rules.file_findings import CoveredFindings, find_in_claim
from clearlane.claims.rules.registry import RuleInputs
from clearlane.claims.view import ClaimView
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.finding import Finding, SegmentPosition


def check_file_claim(
    claim: X12Claim, inputs: RuleInputs, findings: Iterable[Finding] = ()
) -> CheckedClaim:
    """Apply every rule to a claim of a file. ``findings`` are those of the X12 engine about it."""
    form = form_of(claim)
    view, places = form.view(claim), form.places(claim)
    kept, covered = LimitedFindings(""), CoveredFindings()
    for found in find_in_claim(form, view, inputs):
        covered.add(found, places)
        kept.add(found.rule.id, found.severity, places.locate(found.path), found.message)
    for other in covered.others(findings, inputs.severities):
        where = location_of(other.position) if other.position else ""
        kept.add(other.rule, other.severity, where, other.message)
    return CheckedClaim(claim, header_of(view), (), tuple(kept.all()))


def location_of(position: SegmentPosition) -> str:
    """Return a place in the sender's file as findings about claims name it: ``2010AA/NM109 (segment 14)``."""
    element = f"{position.element:02}" if position.element else ""
    component = f"-{position.component}" if position.component else ""
    place = f"{position.loop}/{position.segment_id}{element}{component}"
    return f"{place} (segment {position.file_segment})"


def equality_of(claim: X12Claim, view: ClaimView, payer_id: str) -> bytes:
    """Return what makes two claims of files equal: payer, number, charge, and the days and services of the lines.

    A replacement is not equal to what it replaces, nor a test to a claim.
    """
    lines = [
        (line.first_day, line.last_day, line.procedure, line.modifiers, line.units, line.charge)
        for line in view.lines
    ]
    whole = (payer_id, view.vendor_claim_id, view.total_charge, view.frequency, claim.usage, lines)
    return msgspec.json.encode(whole)
