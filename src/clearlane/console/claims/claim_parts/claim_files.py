"""The X12 of one claim, segment by segment, every element with its name, meaning and field: what went out, and what came back.

Knows X12 by its descriptions; knows no page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from clearlane.claims.fields import Claim
from clearlane.claims.responses.element_fields import ElementFields
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.ids import Scope
from clearlane.pipeline.intake.claim_x12 import claim_837
from clearlane.pipeline.load_claim import LoadedClaim
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims.claims import WITH_ERRORS
from clearlane.x12.show.describe import ElementDescription, describe_segment, iter_segments

SEGMENTS_SHOWN_MAX = 500
TERMINATOR_AT = 105
"""Where the ISA, the one segment of fixed width, says how segments end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedSegment:
    """A segment as it is in its file, and its elements in words; without a repr of values."""

    raw: str = field(repr=False)
    name: str
    loop: str
    parts: tuple[ElementDescription, ...] = field(default=(), repr=False)
    fields: Mapping[str, str] = field(default_factory=dict)
    """The claim fields that elements came from, by the element's place; for an 837 only."""


def explain_segments(content: bytes, claim: Claim | None = None) -> list[ExplainedSegment]:
    """Return the segments of a file in words, up to a limit; none if it is not X12.

    With the claim that the file was written from, elements have the names of its fields.
    """
    terminator = content[TERMINATOR_AT : TERMINATOR_AT + 1]
    if not content.startswith(b"ISA") or not terminator:
        return []
    lines = [line.strip() for line in content.decode("latin-1").split(terminator.decode("latin-1"))]
    follower = None if claim is None or isinstance(claim, X12Claim) else ElementFields(claim)
    explained = []
    read = zip(iter_segments(iter([content])), filter(None, lines), strict=False)
    for number, ((loop, segment, interchange), raw) in enumerate(
        islice(read, SEGMENTS_SHOWN_MAX), 1
    ):
        one = describe_segment(segment, loop, interchange, number)
        fields = follower.follow(loop, segment) if follower else {}
        explained.append(
            ExplainedSegment(
                raw=raw, name=one.name, loop=one.loop_name, parts=one.parts, fields=fields
            )
        )
    return explained


async def sent_x12(context: WorkContext, scope: Scope, loaded: LoadedClaim) -> bytes:
    """Return the claim as the 837 that its payer gets; empty for one that was not accepted."""
    if loaded.row.state in WITH_ERRORS:
        return b""
    return await claim_837(context, scope, loaded, now=context.clock.now())
