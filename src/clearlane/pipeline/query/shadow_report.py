"""Compare what we said of claims of shadow files with what another clearinghouse and the payers said.

    async for line in shadow_lines(context, site, actor=actor): ...
    page = await load_shadow_page(context, site, after=position, limit=100, actor=actor)
    line.comparison                                    # ShadowComparison.PAID_NOT_ACCEPTED

A line for each claim, and one for each set that we rejected as a whole. Lines name claims by their ids, and give rules,
codes and places, never what a claim holds. Every load is audited.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.forms import form_of
from clearlane.claims.forms.x12_loops import TRANSACTIONS
from clearlane.claims.read.decode import restore_claim
from clearlane.claims.responses.facts import StatusVerdict
from clearlane.claims.responses.status_sentence import code_words
from clearlane.claims.rules import RULES
from clearlane.claims.write.passing_differences import passing_differences
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.claim_label import LABEL_WORDS, SHADOW_LABELS, ClaimLabel
from clearlane.kernel.finding import Severity
from clearlane.pipeline.load_claim import open_claim_content
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claims
from clearlane.store.claims.claim_query import (
    ClaimListRow,
    ClaimOrder,
    ClaimQuery,
    Listed,
    ListPosition,
    list_claims,
)
from clearlane.store.claims.claims import SHADOW
from clearlane.store.database.database import Actor, Tx
from clearlane.store.files import file_sets, shadow_claims
from clearlane.store.files.file_sets import FileSet
from clearlane.store.files.shadow_claims import ShadowStatement
from clearlane.x12.checker.finding_catalogue import FINDING_TYPES

CLAIMS_AT_ONCE = 250
ERRORS_SHOWN_MAX = 5
SET_TYPES = (*TRANSACTIONS, "other")
"""The sets of claims: those of another version have no guide."""
OF_SET = "set"
"""Stands for the day in the position of a set."""
ACCEPTED, NOT_ACCEPTED, NO_ANSWER = "accepted", "not accepted", "no answer"
REJECTED = StatusVerdict.REJECTED.value
DENIED = ClaimLabel.DENIED.value


class ShadowComparison(StrEnum):
    """How what we said of a claim compares with what the others said; the first ones matter most."""

    PAID_NOT_ACCEPTED = "paid_not_accepted"
    """A payer paid it, or left it to the patient, and we would not have sent it."""
    ONLY_THEY_ACCEPT = "only_they_accept"
    ONLY_WE_ACCEPT = "only_we_accept"
    """They rejected it, and we would have sent it."""
    DENIED = "denied"
    """We would have sent it as they did, and the payer denied it."""
    EQUAL = "equal"
    NO_ANSWER = "no_answer"
    """Nothing was imported about it."""


COMPARISON_WORDS: Mapping[str, str] = {
    ShadowComparison.PAID_NOT_ACCEPTED: "Paid by the payer, not accepted by us",
    ShadowComparison.ONLY_THEY_ACCEPT: "Accepted by them, not by us",
    ShadowComparison.ONLY_WE_ACCEPT: "Rejected by them, accepted by us",
    ShadowComparison.DENIED: "Denied by the payer, accepted by us",
    ShadowComparison.EQUAL: "Equal",
    ShadowComparison.NO_ANSWER: "Nothing imported yet",
}
SAME = frozenset({ShadowComparison.EQUAL, ShadowComparison.NO_ANSWER})


class ShadowLine(msgspec.Struct, frozen=True, kw_only=True):
    """What was said of one claim, or of one set that we rejected."""

    site: str
    file_id: str
    claim_number: str
    """The id of the set if it is about one."""
    vendor_claim_id: str
    comparison: str
    ours: str
    our_reason: str
    """Rules with their sentences and places."""
    theirs: str
    their_codes: str
    their_reason: str
    """The codes in words."""
    x12_differences: str
    """Where the X12 that we would send differs from what came, beyond what an intermediary changes."""

    @property
    def differs(self) -> bool:
        """Whether we and the others do not say the same, or would not send the same."""
        return self.comparison not in SAME or bool(self.x12_differences)


class ShadowPage(NamedTuple):
    """Some lines of the report."""

    lines: list[ShadowLine]
    last: ListPosition | None
    """The claim, or the set, after which the next page begins; None if there is none."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What the others said of a claim in the end."""

    word: str = NO_ANSWER
    codes: str = ""

    @property
    def is_decided(self) -> bool:
        """Whether a payer has decided on it."""
        return self.word not in {NO_ANSWER, ACCEPTED, REJECTED}


async def shadow_lines(
    context: WorkContext, site: Site, *, actor: Actor
) -> AsyncIterator[ShadowLine]:
    """Yield a line for each claim of the site's shadow files, oldest first, then one for each rejected set."""
    page = ShadowPage([], None)
    while True:
        page = await load_shadow_page(context, site, after=page.last, actor=actor)
        for line in page.lines:
            yield line
        if page.last is None:
            return


async def load_shadow_page(
    context: WorkContext,
    site: Site,
    *,
    after: ListPosition | None = None,
    limit: int = CLAIMS_AT_ONCE,
    actor: Actor,
) -> ShadowPage:
    """Load the lines of some claims, and after those of all claims the lines of rejected sets."""
    if after is not None and after.created_day == OF_SET:
        return await _set_page(context, site, after.claim_number, limit)
    query = ClaimQuery(
        where={"labels": [label.value for label in SHADOW_LABELS]},
        listed=Listed.LATEST,
        order=ClaimOrder.BY_CHANGE,
        after=after,
        limit=limit,
    )
    loaded = await _load_page(context, site, query, actor)
    lines = await asyncio.to_thread(lambda: [*loaded.lines(context, site)])
    if len(loaded.rows) == limit:
        return ShadowPage(lines, loaded.rows[-1].position)
    sets = await _set_page(context, site, "", limit - len(lines))
    return ShadowPage([*lines, *sets.lines], sets.last)


async def _set_page(context: WorkContext, site: Site, after: str, limit: int) -> ShadowPage:
    """Load the lines of some sets that were rejected as a whole: their claims have none of their own."""
    async with context.database.read(site.scope) as tx:
        sets = await shadow_claims.list_rejected_sets(tx, SET_TYPES, after=after, limit=limit)
        judged = await shadow_claims.find_with_claims(tx, [one.set_id for one in sets])
        whole = [one for one in sets if one.set_id not in judged]
        statements = await shadow_claims.list_statements(tx, [one.set_id for one in whole])
    lines = [_set_line(site, one, statements.get(one.set_id, [])) for one in whole]
    is_last = len(sets) < limit
    return ShadowPage(lines, None if is_last else ListPosition(0, OF_SET, sets[-1].set_id))


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of claims with what was said of them."""

    rows: Sequence[ClaimListRow]
    x12: Mapping[str, bytes]
    sets: Mapping[str, FileSet]
    statements: Mapping[str, Sequence[ShadowStatement]]

    def lines(self, context: WorkContext, site: Site) -> Iterator[ShadowLine]:
        vault, scope = context.vault, site.scope
        for row in self.rows:
            number = row.claim_number
            opened = vault.open(scope, claims.TABLE, number, row.payload)
            content = open_claim_content(opened)
            claim = restore_claim(row.form, bytes(content.claim))
            of_set = self.sets.get(number)
            said = [*self.statements.get(number, ())]
            said += self.statements.get(of_set.set_id, ()) if of_set else ()
            sealed = self.x12.get(number)
            written = vault.open(scope, shadow_claims.TABLE, number, sealed) if sealed else None
            yield ShadowLine(
                site=site.vendor_site_id,
                file_id=of_set.file_id if of_set else "",
                claim_number=number,
                vendor_claim_id=form_of(claim).value(claim, "vendor_claim_id"),
                x12_differences="; ".join(_x12_differences(claim, written)),
                **_compared(row.state == SHADOW, _rules(content.findings), _verdict(said)),
            )


async def _load_page(context: WorkContext, site: Site, query: ClaimQuery, actor: Actor) -> _Page:
    async def load(tx: Tx) -> _Page:
        rows = await list_claims(tx, query, ClaimListRow)
        numbers = [row.claim_number for row in rows]
        x12 = await shadow_claims.find_x12(tx, numbers)
        places = await file_sets.find_claims(tx, numbers)
        sets = await file_sets.find_sets(tx, sorted({one.set_id for one in places.values()}))
        statements = await shadow_claims.list_statements(tx, [*numbers, *sets])
        await context.vault.load_keys_of(tx, [*(row.payload for row in rows), *x12.values()])
        if numbers:
            tx.audit("claims.read", ids=numbers, detail="shadow report")
        of_claims = {
            number: sets[one.set_id] for number, one in places.items() if one.set_id in sets
        }
        return _Page(rows, x12, of_claims, statements)

    return await context.database.write(site.scope, load, actor=actor)


def _set_line(site: Site, one: FileSet, statements: Sequence[ShadowStatement]) -> ShadowLine:
    reason = f"{one.words} of {one.claims} claims: {one.reason}"
    return ShadowLine(
        site=site.vendor_site_id,
        file_id=one.file_id,
        claim_number=one.set_id,
        vendor_claim_id="",
        x12_differences="",
        **_compared(False, reason, _verdict(statements)),
    )


def _verdict(statements: Sequence[ShadowStatement]) -> _Verdict:
    """Return what the others said in the end: the last claim payment, else the last status, else the 999."""
    by_type = {
        types: [
            one for one in statements if one.type in types and one.verdict != StatusVerdict.NOTED
        ]
        for types in (("835",), ("277CA", "277"), ("999", "TA1"))
    }
    for types, said in by_type.items():
        if not said:
            continue
        # A rejection counts more than an acceptance of the same day.
        last = max(said, key=lambda one: (one.day, one.verdict == REJECTED, one.position))
        if "835" in types:
            return _Verdict(last.verdict, last.codes)
        return _Verdict(REJECTED if last.verdict == REJECTED else ACCEPTED, last.codes)
    return _Verdict()


def _compared(is_accepted: bool, our_reason: str, theirs: _Verdict) -> dict[str, str]:  # noqa: FBT001
    """Return what both said, and how it compares."""
    if theirs.word == NO_ANSWER:
        comparison = ShadowComparison.NO_ANSWER
    elif theirs.is_decided and theirs.word != DENIED and not is_accepted:
        comparison = ShadowComparison.PAID_NOT_ACCEPTED
    elif theirs.word == DENIED and is_accepted:
        comparison = ShadowComparison.DENIED
    elif is_accepted == (theirs.word != REJECTED):
        comparison = ShadowComparison.EQUAL
    elif is_accepted:
        comparison = ShadowComparison.ONLY_WE_ACCEPT
    else:
        comparison = ShadowComparison.ONLY_THEY_ACCEPT
    word = LABEL_WORDS[ClaimLabel(theirs.word)].lower() if theirs.is_decided else theirs.word
    return {
        "comparison": comparison.value,
        "ours": ACCEPTED if is_accepted else NOT_ACCEPTED,
        "our_reason": our_reason,
        "theirs": word,
        "their_codes": theirs.codes,
        "their_reason": "; ".join(filter(None, map(code_words, theirs.codes.split()))),
    }


def _rules(findings: Sequence[tuple[str, str, str, str]]) -> str:
    """Return the rules that stop a claim, each with its sentence and place. Messages are left out: they quote values."""
    stopping = [
        (rule, place) for rule, severity, place, _ in findings if severity == Severity.ERROR
    ]
    named = [
        f'breaks {rule}, "{_sentence(rule)}"' + (f", at {place}" if place else "")
        for rule, place in stopping
    ]
    more = len(named) - ERRORS_SHOWN_MAX
    return "; ".join([*named[:ERRORS_SHOWN_MAX], *([f"and {more} more"] if more > 0 else [])])


def _sentence(rule: str) -> str:
    found = RULES.get(rule) or FINDING_TYPES.get(rule)
    return found.sentence.rstrip(".") if found else "a check of the guide"


def _x12_differences(claim: object, written: bytes | None) -> list[str]:
    if written is None or not isinstance(claim, X12Claim):
        return []
    return [*passing_differences(claim, written)]
