"""Claims under vendors' claim ids that others come under: what decides how a later claim goes out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, select

from clearlane.claims.claim_subject import SubjectComparison
from clearlane.claims.kinds import X12
from clearlane.claims.lifecycle import REFUSED_OR_CANCELED, ClaimState
from clearlane.claims.resubmission import EarlierClaim, ResubmissionDecision, decide_resubmission
from clearlane.kernel.clock import from_micros
from clearlane.store.claims import claim_ids
from clearlane.store.claims.claims import (
    IS_NOT_SUPERSEDED,
    NEVER_SENT,
    NOT_ACCEPTED,
    SHADOW,
    StoredClaim,
)
from clearlane.store.claims.new_claims import NewClaim
from clearlane.store.database.database import Tx, list_rows
from clearlane.store.database.schema import claims
from clearlane.store.database.sql import Statement, among, scoped_select


@dataclass(frozen=True, slots=True)
class StoredPredecessor(StoredClaim):
    """A claim under a vendor's claim id that another came under, sealed."""

    content_hash: str
    updated_at: int
    paid_cents: int
    patient_cents: int
    predecessor_id: str | None
    """The claim that it took over from."""
    former_holder: str | None
    """The claim that had the id before it and is live as well; None for nearly all."""
    payer_number_key: int | None
    event_sequence: int
    """The number of events about it that its vendor was given."""
    status: bytes = field(repr=False)

    def as_earlier(self) -> EarlierClaim:
        """Return what decides whether another may take its place."""
        return EarlierClaim(
            state=ClaimState(self.state),
            accepted_at=from_micros(self.created_at),
            last_word_at=from_micros(self.updated_at),
            paid_cents=self.paid_cents,
            patient_cents=self.patient_cents,
        )


async def find_live(tx: Tx, new: Sequence[NewClaim]) -> dict[str, list[StoredPredecessor]]:
    """Return the claims under the vendor's claim ids of these that no other superseded, by the claim numbers of these.

    The holder of the id comes first. Only an id with more than one costs a statement of its own.
    """
    under_ids = await claim_ids.list_under(tx, {claim.vendor_claim_hash for claim in new})
    found = await find_predecessors(tx, list(under_ids.holders.values()))
    by_number = {one.claim_number: one for one in found}
    live: dict[str, list[StoredPredecessor]] = {}
    for claim in new:
        if number := under_ids.holders.get(claim.vendor_claim_hash):
            holder = by_number[number]
            others = await find_others(tx, claim) if holder.former_holder else []
            live[claim.claim_number] = [holder, *others]
    return live


async def find_predecessors(tx: Tx, claim_numbers: Sequence[str]) -> list[StoredPredecessor]:
    """Return accepted claims of the scope with what decides how a correction of them goes out."""
    found = await find_superseded(tx, claim_numbers) if claim_numbers else []
    return [one for one in found if one.state not in NEVER_SENT]


async def find_superseded(tx: Tx, claim_numbers: Sequence[str]) -> list[StoredPredecessor]:
    """Return claims of the scope that others took the place of, accepted or not."""
    return await list_rows(tx, StoredPredecessor, _EARLIER, claim_numbers=list(claim_numbers))


async def find_others(tx: Tx, claim: NewClaim) -> list[StoredPredecessor]:
    """Return the live claims under a claim's id beside its holder, the latest first."""
    under_id = await claim_ids.list_under(tx, [claim.vendor_claim_hash])
    others = under_id.others.get(claim.vendor_claim_hash, [])
    return await list_rows(tx, StoredPredecessor, _LIVE, claim_numbers=others)


def decide(
    earlier: StoredPredecessor, claim: NewClaim, compared: SubjectComparison | None = None
) -> ResubmissionDecision:
    """Return what a claim is to an earlier one under its vendor's claim id."""
    return decide_resubmission(
        earlier.as_earlier(),
        same_content=claim.is_same_as(earlier.content_hash),
        frequency=claim.frequency,
        times=claim.times,
        is_correction=claim.corrects == earlier.claim_number,
        compared=compared,
    )


_THESE = select(*(claims.c[each.name] for each in fields(StoredPredecessor))).where(
    among(claims.c.claim_number, "claim_numbers")
)
_EARLIER = scoped_select(_THESE, claims)
_LIVE = scoped_select(
    _THESE.where(IS_NOT_SUPERSEDED, claims.c.state.not_in(NEVER_SENT)).order_by(
        claims.c.claim_number.desc()
    ),
    claims,
)


# --- claims of files ------------------------------------------------------------------------------------------------


class EqualClaim(NamedTuple):
    """An open claim of a file, and the keyed hash of what makes two claims of files equal."""

    content_hash: str
    claim_number: str


async def find_equal(
    tx: Tx, accounts: Collection[int], *, since: int, is_shadow: bool = False
) -> dict[str, str]:
    """Return the open claims of files that a site received since a moment: claim numbers by what makes claims equal.

    ``accounts`` are the keyed hashes of the account numbers to look for. The first of several is named.
    Claims of shadow files are compared with each other alone.
    """
    if not accounts:
        return {}
    statement = _EQUAL_SHADOW if is_shadow else _EQUAL
    rows = await tx.rows(statement, accounts=sorted(accounts), since=since)
    found = [EqualClaim(*row) for row in rows]
    return dict(sorted(found, key=attrgetter("claim_number"), reverse=True))


class NotAcceptedClaim(NamedTuple):
    """A claim of a file that was not accepted, and by what a later one for the same services is known."""

    claim_number: str
    account_key: int | None
    patient_key: int | None
    service_day: str | None
    total_cents: int

    def is_for(self, claim: NewClaim) -> bool:
        """Return whether it is for the same account, patient and day as another claim."""
        return (self.account_key, self.patient_key, self.service_day) == (
            claim.account_key,
            claim.patient_key,
            claim.service_day,
        )


async def find_not_accepted(tx: Tx, new: Sequence[NewClaim]) -> dict[str, str]:
    """Return the claims of files that were not accepted and that these are sent in the place of, with those.

    A claim is known by account number, patient and day of service; of several that fit only one of the same charge is meant.
    """
    accounts = {claim.account_key for claim in new if claim.account_key is not None}
    if not accounts:
        return {}
    rows = await list_rows(tx, NotAcceptedClaim, _NOT_ACCEPTED_OF_FILES, accounts=sorted(accounts))
    replaced: dict[str, str] = {}
    for claim in new if rows else ():
        fits = [row for row in rows if row.is_for(claim)]
        if len(fits) > 1:
            fits = [row for row in fits if row.total_cents == claim.total_cents]
        replaced |= {row.claim_number: claim.claim_number for row in fits}
    return replaced


async def find_corrected(tx: Tx, claim: NewClaim) -> str:
    """Return the claim that a replacement or void of a file is about; empty if there is none, or if several fit.

    It is the one with the payer's number that it names, else the one with its account number, payer and patient.
    """
    own = {name: getattr(claim, name) for name in ("payer_id", "claim_number", "created_at")}
    found: Sequence[Sequence[object]] = ()
    if claim.replaces_key is not None:
        found = await tx.rows(_BY_PAYER_NUMBER, replaces_key=claim.replaces_key, **own)
    if not found and claim.account_key is not None and claim.patient_key is not None:
        keys = {"account_key": claim.account_key, "patient_key": claim.patient_key}
        found = await tx.rows(_BY_ACCOUNT, **keys, **own)
    return str(found[0][0]) if len(found) == 1 else ""


_NEVER_IN_EFFECT = (*NEVER_SENT, *sorted(state.value for state in REFUSED_OR_CANCELED))


def _equal(is_open: ColumnElement[bool]) -> Statement:
    return scoped_select(
        select(claims.c.content_hash, claims.c.claim_number).where(
            among(claims.c.account_key, "accounts"),
            claims.c.form == X12,
            is_open,
            claims.c.created_at >= bindparam("since"),
        ),
        claims,
    )


_EQUAL = _equal(claims.c.state.not_in((*_NEVER_IN_EFFECT, ClaimState.COMPLETE.value)))
_EQUAL_SHADOW = _equal(claims.c.state == SHADOW)


_NOT_ACCEPTED_OF_FILES = scoped_select(
    select(*(claims.c[name] for name in NotAcceptedClaim._fields)).where(
        among(claims.c.account_key, "accounts"),
        claims.c.form == X12,
        claims.c.state == NOT_ACCEPTED,
        IS_NOT_SUPERSEDED,
    ),
    claims,
)


def _corrected(*where: ColumnElement[bool]) -> Statement:
    """Return the statement that finds the claims that a replacement or void may be about; two are enough to know that."""
    found = select(claims.c.claim_number).where(
        *where,
        claims.c.payer_id == bindparam("payer_id"),
        claims.c.claim_number != bindparam("claim_number"),
        claims.c.created_at <= bindparam("created_at"),
        claims.c.state.not_in(_NEVER_IN_EFFECT),
        IS_NOT_SUPERSEDED,
    )
    return scoped_select(found.limit(2), claims)


_BY_PAYER_NUMBER = _corrected(claims.c.payer_number_key == bindparam("replaces_key"))
_BY_ACCOUNT = _corrected(
    claims.c.account_key == bindparam("account_key"),
    claims.c.patient_key == bindparam("patient_key"),
)
