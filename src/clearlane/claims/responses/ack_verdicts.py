"""What a claim acknowledgement (277CA) says of a claim: received, forwarded, or not accepted and why.

    not_accepted(findings, claim)         # A6, A7, A8 or A3 by the rule, with status code, entity and the sentence

A finding about a service line is reported at the line, any other at the claim. We never say A2: it states that the payer's
adjudication has the claim, and practice systems file it as proof.

Knows findings and rules; knows no file that is written.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from clearlane.claims.finding import LEFT_OUT
from clearlane.claims.responses.acknowledged_claim import AcknowledgedClaim
from clearlane.claims.responses.rule_status import (
    GUIDE_STATUSES,
    INVALID,
    PLACE_STATUSES,
    RuleStatus,
    status_of,
)
from clearlane.claims.rules import RULES
from clearlane.kernel.finding import Finding, Severity
from clearlane.x12 import codes, grammar, guides

ACCEPTS, REFUSES = "WQ", "U"
CLEARINGHOUSE, PAYER = "AY", "PR"
ANY_PLACE = "*"
VAGUE, FORMAT, LINES = "21", "481", "247"
"""Information is missing or invalid; the format is invalid, which says what; line information."""
LEVEL_ENTITIES = {"2000A": "85", "2000B": "IL", "2000C": "QC", "2300": "QC", "2320": "GB"}
"""Whom a loop without a name of its own is about."""
PROVIDER = "85"
PROVIDER_LOOPS = ("2310", "2420")

_STATUSES = {**GUIDE_STATUSES, **PLACE_STATUSES}
_LOCATION = re.compile(
    r"(?:(?P<loop>\d{4}[A-Z]{0,2})/(?P<id>[A-Z][A-Z0-9]{1,2})(?P<element>\d\d)?(?:-\d+)?|line \d+)"
    r" \(segment (?P<number>\d+)\)",
    re.ASCII,
)


class AckStatus(NamedTuple):
    """One STC: up to three codes that belong together."""

    codes: tuple[RuleStatus, ...]
    text: str = ""
    """What a person reads (STC12)."""
    day: date | None = None
    """The day of the status; None for that of the acknowledgement."""
    action: str = ""
    """WQ or U; empty for what the category says."""

    @property
    def accepts(self) -> bool:
        """Whether it accepts the claim."""
        if self.action:
            return self.action == ACCEPTS
        return codes.load_column("status_categories", 2).get(self.codes[0].category) != "rejected"


class ClaimVerdict(NamedTuple):
    """What an acknowledgement says of a claim."""

    statuses: tuple[AckStatus, ...]
    lines: Mapping[int, tuple[AckStatus, ...]] = MappingProxyType({})
    """What it says of lines, by their index."""
    payer_number: str = ""
    """The payer's number of the claim."""

    @property
    def accepts(self) -> bool:
        """Whether it accepts the claim."""
        return all(status.accepts for status in self.statuses)


RECEIPT = ClaimVerdict((AckStatus((RuleStatus("A1", "19", CLEARINGHOUSE),)),))
"""We have the claim."""
FORWARDED = ClaimVerdict((AckStatus((RuleStatus("A0", "16", PAYER),)),))
"""The payer, or the next clearinghouse, has the claim."""


def not_accepted(findings: Iterable[Finding], claim: AcknowledgedClaim) -> ClaimVerdict:
    """Return the verdict on a claim with errors. Warnings and notes are not reported."""
    own: list[AckStatus] = []
    lines: dict[int, tuple[AckStatus, ...]] = {}
    for finding in findings:
        if finding.severity is not Severity.ERROR or finding.rule == LEFT_OUT:
            continue
        place = _Place.of(finding, claim)
        status = _status(finding, place, claim)
        line = claim.line_at(place.segment)
        if line is None:
            own.append(status)
        else:
            lines[line] = (*lines.get(line, ()), status)
    if not own:
        # The claim has a status of its own, which says that its lines have the reasons.
        first = next(iter(lines.values()))[0].codes[0] if lines else RuleStatus(INVALID, FORMAT)
        own = [AckStatus((RuleStatus(first.category, LINES if lines else first.status),))]
    return ClaimVerdict(tuple(dict.fromkeys(own)), lines)


class _Place(NamedTuple):
    """The place of a finding in the sender's set; zeros and empty texts if it is not known."""

    loop: str = ""
    id: str = ""
    element: int = 0
    segment: int = 0

    @classmethod
    def of(cls, finding: Finding, claim: AcknowledgedClaim) -> "_Place":
        at = finding.position
        if at is not None:
            return cls(at.loop, at.segment_id, at.element, at.segment)
        found = _LOCATION.fullmatch(finding.location)
        if found is None:
            return cls()
        number = int(found["number"]) - claim.first_segment + 1
        return cls(found["loop"] or "", found["id"] or "", int(found["element"] or 0), number)


def _status(finding: Finding, place: _Place, claim: AcknowledgedClaim) -> AckStatus:
    rule = RULES.get(finding.rule)
    status = status_of(rule) if rule is not None and rule.x12 != ANY_PLACE else None
    if status is None:  # about any value: what matters is whose and which
        general = rule and status_of(rule)
        category = general.category if general else INVALID
        found = place_status(category, claim.transaction, place.loop, place.id, place.element)
    else:
        found = _complete(status, claim.transaction, place.loop, rule.x12 if rule else "")
    where = f" ({finding.location})" if finding.location else ""
    return AckStatus(found, finding.message + where)


def place_status(
    category: str, transaction: str, loop: str = "", segment: str = "", element: int = 0
) -> tuple[RuleStatus, ...]:
    """Return the codes of a place in an 837: the status of its element, and whom it is about."""
    path = f"{segment}/{element:02}"
    known = next(
        (_STATUSES[place] for place in (f"{loop}/{path}", path) if place in _STATUSES), VAGUE
    )
    code, _, entity = known.partition(" ")
    if entity and loop.startswith(PROVIDER_LOOPS):  # numbered by each guide in its own way
        entity = entity_of(transaction, loop)
    return _complete(RuleStatus(category, code, entity), transaction, loop)


def _complete(
    status: RuleStatus, transaction: str, loop: str, place: str = ""
) -> tuple[RuleStatus, ...]:
    """Return a status with the entity that it needs, and with a second one if it says too little by itself."""
    status = _with_entity(status, transaction, loop)
    vague = codes.load_column("statuses", 3)
    if status.status not in vague:
        return (status,)
    code, _, entity = PLACE_STATUSES.get(place, FORMAT).partition(" ")
    if code in vague:
        code, entity = FORMAT, ""
    return status, _with_entity(RuleStatus(status.category, code, entity), transaction, loop)


def _with_entity(status: RuleStatus, transaction: str, loop: str) -> RuleStatus:
    if status.entity or status.status not in codes.load_column("statuses", 2):
        return status
    return status._replace(entity=entity_of(transaction, loop))


def entity_of(transaction: str, loop: str) -> str:
    """Return the entity code of whom a loop of an 837 is about, as the STC of a claim may name it."""
    return _entities(transaction).get(loop, PROVIDER)


@cache
def _entities(transaction: str) -> dict[str, str]:
    allowed = allowed_entities()
    found = dict(LEVEL_ENTITIES)
    for node in _loops(guides.by_kind(transaction).root):
        head = node.head
        named = head.elements[0].codes if head.id == "NM1" else ()
        code = next((code for code in named if code in allowed), "")
        if code:
            found[node.id] = code
    return found


@cache
def allowed_entities() -> frozenset[str]:
    """Return the entities that the 277CA guide lets a claim's status name."""
    [claim] = [node for node in _loops(guides.by_kind("277CA").root) if node.id == "2200D"]
    [stc] = [child for child in claim.children if child.id == "STC"]
    assert isinstance(stc, grammar.SegmentSpec), "STC is a segment"
    return frozenset(stc.elements[0].components[2].codes)


def _loops(loop: grammar.LoopSpec) -> Sequence[grammar.LoopSpec]:
    inner = [child for child in loop.children if isinstance(child, grammar.LoopSpec)]
    return [loop, *(one for child in inner for one in _loops(child))]
