"""Find the claims that statements of a payer refer to, a page of statements at a time.

    found = await match_claims(tx, vault, "TST01", [fact.claim, ...])    # for each a claim, or why none

Account numbers and the line control numbers that vendors chose are stored as keyed hashes, so a reference is compared
with what was sent without opening a claim. Only claims that were sent to this payer are candidates. A reference that
names none of them may still have the number that the payer gave one of them earlier: that number decides alone if
there is no other, and together with an account number only if the payer has cut it. Knows no file.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clearlane.payments import match
from clearlane.payments.match import AMBIGUOUS, UNKNOWN, ClaimCandidate, ClaimReference, NoMatch
from clearlane.pipeline.inbound.match_file_claims import FileClaimMatcher
from clearlane.store.claims import claim_lookup
from clearlane.store.claims.claim_lookup import (
    ACCOUNT_CHARACTERS_KEPT,
    CandidateClaim,
    account_reference,
    cut_account_reference,
    line_reference,
    payer_number_reference,
)
from clearlane.store.claims.claim_search import payer_number_key
from clearlane.store.database.database import Tx
from clearlane.store.vault.vault import Vault

OTHER_NUMBER = "\0"
"""Stands for a number of a candidate that differs from the payer's. No file can contain it."""


async def match_claims(
    tx: Tx, vault: Vault, payer_id: str, references: Sequence[ClaimReference]
) -> list[CandidateClaim | NoMatch]:
    """Return for each reference the one claim it means, or why there is none."""
    wanted = [_wanted_claim(vault, payer_id, one) for one in references]
    accounts = {one.account for one in wanted if one.account}
    lines = {line for one in wanted for line in one.lines.values()}
    holders = await claim_lookup.find_by_account(tx, payer_id, accounts)
    alone = {line for one in wanted if one.by_lines_alone for line in one.lines.values()}
    known = _Candidates(
        holders, await claim_lookup.find_by_other_reference(tx, payer_id, accounts | alone)
    )
    for one in wanted:
        known.find(one)
    sent_claims = await claim_lookup.find_sent(tx, payer_id, known.claim_numbers)
    known.pairs |= await claim_lookup.find_by_line(tx, payer_id, lines - alone, sent_claims)
    found = [_choose(one, known, sent_claims) for one in wanted]
    found = await _with_payer_numbers(tx, vault, payer_id, references, found)
    matcher = await FileClaimMatcher.load(tx, vault, sent_claims.values())
    return [
        matcher.choose(one.reference, one.candidates(sent_claims), claim)
        for one, claim in zip(wanted, found, strict=True)
    ]


async def _with_payer_numbers(
    tx: Tx,
    vault: Vault,
    payer_id: str,
    references: Sequence[ClaimReference],
    found: list[CandidateClaim | NoMatch],
) -> list[CandidateClaim | NoMatch]:
    """Return what was found, with the claims that only the payer's own number identifies."""
    hashes = {
        at: _PayerNumber(vault, payer_id, reference)
        for at, (reference, one) in enumerate(zip(references, found, strict=True))
        if one is UNKNOWN and _is_named_by_payer_number(reference)
    }
    wanted = {number.reference for number in hashes.values()}
    cut = {number.cut_account for number in hashes.values() if number.cut_account}
    former = await claim_lookup.find_by_other_reference(tx, payer_id, wanted | cut)
    keys = {number.key for number in hashes.values() if number.key is not None}
    pairs: set[tuple[str | int | None, str]] = {
        *former,
        *await claim_lookup.find_by_payer_number(tx, payer_id, keys),
    }
    sent_claims = await claim_lookup.find_sent(tx, payer_id, {id for _, id in pairs})
    for at, number in hashes.items():
        fitting = [one for one in sent_claims.values() if number.fits(one.claim_number, pairs)]
        if fitting:
            is_one = len(fitting) == 1
            found[at] = fitting[0]._replace(by_payer_number=True) if is_one else AMBIGUOUS
    return found


def _is_named_by_payer_number(reference: ClaimReference) -> bool:
    is_cut = len(reference.account_number) in {0, ACCOUNT_CHARACTERS_KEPT}
    return bool(reference.payer_control_number) and not reference.claim_number and is_cut


class _PayerNumber:
    """The keyed hashes of the payer's own number, and of the account number as the payer has cut it."""

    def __init__(self, vault: Vault, payer_id: str, reference: ClaimReference) -> None:
        number = reference.payer_control_number
        self.key = payer_number_key(vault, number)
        """The keyed hash of the number that counts."""
        self.reference = payer_number_reference(vault, payer_id, number)
        """The reference of a number that counted before."""
        account = reference.account_number
        self.cut_account = account and cut_account_reference(vault, payer_id, account)

    def fits(self, claim_number: str, pairs: set[tuple[str | int | None, str]]) -> bool:
        """Return whether a claim has these numbers."""
        has_account = not self.cut_account or (self.cut_account, claim_number) in pairs
        has_number = (self.key, claim_number) in pairs or (self.reference, claim_number) in pairs
        return has_account and has_number


@dataclass(slots=True)
class _WantedClaim:
    """A reference, its keyed hashes, and the claims that it may mean."""

    reference: ClaimReference
    account: str
    """Keyed hash of the account number; empty if that is our claim number."""
    lines: dict[str, str]
    """Keyed hashes of the line control numbers that vendors chose."""
    active: set[str]
    """Claims that have the number now."""
    former: set[str]
    """Rejected claims that had the account number."""

    @property
    def by_lines_alone(self) -> bool:
        """Whether only line control numbers can identify the claim.

        Otherwise they are not looked up: vendors may number the lines of every claim from 1, so that one number has
        thousands of claims.
        """
        return not self.reference.claim_number and not self.reference.account_number

    def candidates(self, sent_claims: dict[str, CandidateClaim]) -> list[CandidateClaim]:
        """Return the claims that have the numbers of the reference, or had them."""
        numbers = sorted(self.active | self.former)
        return [sent_claims[number] for number in numbers if number in sent_claims]


class _Candidates:
    """The claims that have, or had, certain keyed hashes."""

    def __init__(self, holders: set[tuple[str, str]], others: set[tuple[str, str]]) -> None:
        self.pairs = holders | others
        self.claim_numbers: set[str] = set()
        self._holders = _by_hash(holders)
        self._others = _by_hash(others)

    def find(self, wanted: _WantedClaim) -> None:
        """Add the candidates of a reference."""
        wanted.active.update(match.possible_claim_numbers(wanted.reference))
        for reference in wanted.lines.values() if wanted.by_lines_alone else ():
            wanted.active.update(self._others.get(reference, ()))
        wanted.active.update(self._holders.get(wanted.account, ()))
        wanted.former.update(self._others.get(wanted.account, ()))
        self.claim_numbers |= wanted.active | wanted.former


def _by_hash(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for reference, claim_number in pairs:
        found.setdefault(reference, []).append(claim_number)
    return found


# A claim number of ours (kernel.ids): a line control number that begins so was made by us.
_CLAIM_NUMBER = re.compile(r"C[0-9A-Z]{18}", re.ASCII)


def _wanted_claim(vault: Vault, payer_id: str, reference: ClaimReference) -> _WantedClaim:
    return _WantedClaim(
        reference,
        ""
        if reference.account_number in {"", reference.claim_number}
        else account_reference(vault, payer_id, reference.account_number),
        {
            control: line_reference(vault, payer_id, control)
            for control in reference.line_controls
            if not _CLAIM_NUMBER.fullmatch(match.claim_number_in(control))
        },
        set(),
        set(),
    )


def _choose(
    wanted: _WantedClaim, known: _Candidates, sent_claims: dict[str, CandidateClaim]
) -> CandidateClaim | NoMatch:
    # A rejected claim has released its account number: it is meant only if no active one can be.
    for some in (wanted.active, wanted.former):
        candidates = [
            _candidate(wanted, known, sent_claims[claim_number])
            for claim_number in some
            if claim_number in sent_claims
        ]
        found = match.choose_claim(wanted.reference, candidates)
        if isinstance(found, ClaimCandidate):
            return sent_claims[found.claim_number]
        if found is not UNKNOWN:
            return found
    return UNKNOWN


def _candidate(wanted: _WantedClaim, known: _Candidates, one: CandidateClaim) -> ClaimCandidate:
    """Return a candidate that has the numbers of the reference wherever it was sent with them."""
    number, reference = one.claim_number, wanted.reference
    account = number
    if one.account_as_number:
        account = (
            reference.account_number if (wanted.account, number) in known.pairs else OTHER_NUMBER
        )
    sent = {
        control
        for control in reference.line_controls
        if match.claim_number_in(control) == number
        or (wanted.lines.get(control, ""), number) in known.pairs
    }
    return ClaimCandidate(
        claim_number=number, account_number=account, line_controls=frozenset(sent or {OTHER_NUMBER})
    )
