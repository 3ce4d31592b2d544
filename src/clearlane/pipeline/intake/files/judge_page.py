"""Judge a page of claims of a file, and seal the rows that they become: here, or in a process that was handed the page.

    judged = await judge_page(context, site, page, seen=seen)             # here
    judged = decode_answer(await process.ask(encode_order(site, page)))   # there, by ``answer_page``

What is judged there is compared with the claims of its page and with stored ones; the process of the file compares it with
the pages before. Nothing is stored here.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.finding import ClaimFinding
from clearlane.kernel.log import get_logger
from clearlane.kernel.redacted_repr import shows
from clearlane.pipeline.intake.files.shadow_row import shadow_row
from clearlane.pipeline.intake.files.staged_row import seal_row
from clearlane.pipeline.intake.judge_file_claims import FileClaim, SeenClaims, judge_file_claims
from clearlane.pipeline.intake.prepare_claims import PreparedClaim
from clearlane.pipeline.work_context import WorkContext

log = get_logger()


@shows("now")
class UnjudgedPage(msgspec.Struct, frozen=True):
    """Claims of one set that are judged together."""

    claims: Sequence[FileClaim]
    now: datetime
    """When the processing of their file began."""
    read_at: datetime
    """When they were read: the time in their numbers."""
    is_shadow: bool = False


@shows("claim_number")
class JudgedClaim(msgspec.Struct, frozen=True):
    """What became of a claim of a file, and the row to be staged."""

    claim_number: str
    content_hash: str
    """What makes it equal to another claim of its site."""
    is_accepted: bool
    findings: tuple[ClaimFinding, ...]
    """Those of a claim that is not accepted: its 277CA says why."""
    payload: bytes
    """The row that it becomes, sealed as a staged claim."""


class PageOrder(msgspec.Struct, frozen=True):
    """A page that is handed over. The site is looked up in the process's own snapshot of accounts."""

    vendor_id: int
    site_id: int
    page: UnjudgedPage


async def judge_page(
    context: WorkContext, site: Site, page: UnjudgedPage, *, seen: SeenClaims
) -> Sequence[JudgedClaim]:
    """Judge claims in order, and seal their rows. ``seen`` are those that they are compared with, beside stored ones."""
    prepared = await judge_file_claims(
        context,
        site,
        page.claims,
        now=page.now,
        seen=seen,
        numbered_at=page.read_at,
        is_shadow=page.is_shadow,
    )
    return await context.intake.call_in_background(
        partial(_seal, context, site, one, is_shadow=page.is_shadow) for one in prepared
    )


def _seal(
    context: WorkContext, site: Site, prepared: PreparedClaim, *, is_shadow: bool
) -> JudgedClaim:
    row = shadow_row(context, site, prepared) if is_shadow else prepared.row
    accepted, findings = prepared.judgement.accepted, prepared.judgement.findings
    return JudgedClaim(
        row.claim_number,
        row.content_hash,
        accepted,
        () if accepted else findings,
        seal_row(context, site, row),
    )


def encode_order(site: Site, page: UnjudgedPage) -> bytes:
    """Return a page as it is handed over."""
    return _ENCODER.encode(PageOrder(site.vendor_id, site.id, page))


def decode_answer(content: bytes) -> Sequence[JudgedClaim] | None:
    """Return what became of the claims of a page; None if the process could not judge it."""
    judged: tuple[JudgedClaim, ...] | None = _ANSWER.decode(content)
    return judged


async def answer_page(context: WorkContext, content: bytes) -> bytes:
    """Judge a page that the process of a file handed over, and return the answer. Raises nothing."""
    try:
        order = _ORDER.decode(content)
        sites: dict[int, Site] = {one.id: one for one in context.accounts().sites}
        site = sites[order.site_id]
        judged = await judge_page(context, site, order.page, seen=SeenClaims())
    except Exception as fault:  # noqa: BLE001  (logged by type: its text may hold a value; the page is judged again)
        log.error("page not judged", fault=type(fault).__name__)  # noqa: TRY400
        return _ENCODER.encode(None)
    return _ENCODER.encode(judged)


_ENCODER = msgspec.msgpack.Encoder()
_ORDER = msgspec.msgpack.Decoder(PageOrder)
_ANSWER = msgspec.msgpack.Decoder(tuple[JudgedClaim, ...] | None)
