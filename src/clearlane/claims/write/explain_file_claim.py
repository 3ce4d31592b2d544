"""Explain a claim of a sender's file segment by segment: where he wrote it, what is sent of it, and findings.

    for row in explain_file_claim(outgoing, findings): row.field, row.label, row.given, row.sent, row.findings

For ``explain``. A segment goes out as it came, but for the levels, which are numbered again, and our trace number.
"""

import re
from collections.abc import Iterator, Sequence

from clearlane.claims.forms.x12_segments import ClaimSegment, segments_of
from clearlane.claims.write.claim_context import OutgoingClaim
from clearlane.claims.write.field_explanation import REFUSED, FieldExplanation, SentValue
from clearlane.claims.write.write_x12 import plain_text, sent_claim
from clearlane.claims.x12_claim import X12Claim, is_claim_trace
from clearlane.kernel.finding import Finding, Severity
from clearlane.x12.writer.encode import readable_signs

LEVEL = "HL"
NUMBERED_AGAIN = "The levels of a file are numbered again when it is written."
OURS = "The trace number is the clearinghouse's; the sender's comes back to him."
MAPPED = "It is the payer's id in the directory."
AT_HOP = "It is the payer's id at the upstream clearinghouse that passes the claim on."
AS_PLAIN_LETTERS = "Letters that X12 cannot carry go out as plain ones."
_NUMBER = re.compile(r"\(segment (\d+)\)$")


def explain_file_claim(
    out: OutgoingClaim, findings: Sequence[Finding] = ()
) -> Iterator[FieldExplanation]:
    """Yield a row for each segment of a claim and of the levels around it, and for each finding without one."""
    claim = out.claim
    assert isinstance(claim, X12Claim), "only claims of files have segments"
    refused = any(finding.severity is Severity.ERROR for finding in findings)
    by_number: dict[int, list[Finding]] = {}
    for finding in findings:
        found = _NUMBER.search(finding.location)
        by_number.setdefault(int(found[1]) if found else -1, []).append(finding)
    sent = (
        {} if refused else {one.number: one for one in segments_of(sent_claim(out)) if one.number}
    )
    mapped = AT_HOP if out.hop_payer_id else MAPPED
    for one in segments_of(claim):
        own = by_number.pop(one.number, ())
        yield _row(one, sent.get(one.number), own, mapped, refused=refused)
    for rest in by_number.values():
        for finding in rest:
            yield FieldExplanation(
                field=finding.location,
                box="",
                label="",
                given="",
                repaired="",
                sent=(),
                not_sent="",
                findings=(finding,),
            )


def _row(
    one: ClaimSegment,
    sent: ClaimSegment | None,
    findings: Sequence[Finding],
    mapped: str,
    *,
    refused: bool,
) -> FieldExplanation:
    given = "*".join(one.segment)
    is_level = one.segment[0] == LEVEL
    text = "" if sent is None or is_level else plain_text("*".join(sent.segment))
    reason = NUMBERED_AGAIN if is_level else REFUSED
    return FieldExplanation(
        field=one.location(),
        box="",
        label=one.name,
        given=readable_signs(given),
        repaired="",
        sent=(SentValue(f"{one.loop}/{one.segment[0]}", text),) if text else (),
        not_sent="" if text else reason if refused or is_level else NUMBERED_AGAIN,
        findings=tuple(findings),
        derived=_change_of(one, mapped) if text and text != given else "",
    )


def _change_of(one: ClaimSegment, mapped: str) -> str:
    """Return why a segment goes out otherwise than it came."""
    if is_claim_trace(one.segment):
        return OURS
    if one.segment[:2] == ["NM1", "PR"]:
        return mapped
    return AS_PLAIN_LETTERS
