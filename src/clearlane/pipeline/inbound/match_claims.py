"""Matching: which of our claims the statements of a payer mean, a page of them at a time.

    found = await match(tx, vault, "TST01", [fact.claim, ...])    # for each a claim, or why none

Account numbers and the line numbers that callers chose are kept as keyed hashes, so a response is compared with
what was sent without opening a claim. Only claims that went to this payer are candidates. Knows keys; knows no
file.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clearlane.payments import match as choice
from clearlane.payments.match import UNKNOWN, Candidate, Named, Nobody
from clearlane.store import claim_lookup
from clearlane.store.claim_lookup import Went, account_reference, line_reference
from clearlane.store.database import Tx
from clearlane.store.vault import Vault

NOT_IT = "\0"
"""What a candidate is called by where it is not called what the response says: no file can hold it."""


async def match(tx: Tx, vault: Vault, payer_id: str, named: Sequence[Named]) -> list[Went | Nobody]:
    """For each name the one claim it means, or why there is none."""
    asked = [_asked(vault, payer_id, one) for one in named]
    accounts = {one.account for one in asked if one.account}
    lines = {line for one in asked for line in one.lines.values()}
    held = await claim_lookup.holders(tx, payer_id, accounts)
    only = {line for one in asked if one.by_lines_alone for line in one.lines.values()}
    known = _Known(held, await claim_lookup.others(tx, payer_id, accounts | only))
    for one in asked:
        known.find(one)
    went = await claim_lookup.went(tx, payer_id, known.request_ids)
    known.pairs |= await claim_lookup.lines_of(tx, payer_id, lines - only, went)
    return [_chosen(one, known, went) for one in asked]


@dataclass(slots=True)
class _Asked:
    """A name and what of ours may be called so."""

    named: Named
    account: str
    """Keyed hash."""
    lines: dict[str, str]
    """Keyed hashes of the line control numbers that are not made of our own number."""
    living: set[str]
    former: set[str]

    @property
    def by_lines_alone(self) -> bool:
        """Whether nothing but its lines can tell which claim is meant.

        Otherwise a claim that has the lines and not the number cannot be the one; and callers may count the lines of
        every claim from 1, so that each has thousands of claims.
        """
        return not self.named.trace and not self.named.account


class _Known:
    """Which claims have, or had, which keyed hashes."""

    def __init__(self, held: set[tuple[str, str]], others: set[tuple[str, str]]) -> None:
        self.pairs = held | others
        self.request_ids: set[str] = set()
        self._held = _by_hash(held)
        self._others = _by_hash(others)

    def find(self, asked: _Asked) -> None:
        """The candidates of a name."""
        asked.living.update(choice.numbers(asked.named))
        for reference in asked.lines.values() if asked.by_lines_alone else ():
            asked.living.update(self._others.get(reference, ()))
        asked.living.update(self._held.get(asked.account, ()))
        asked.former.update(self._others.get(asked.account, ()))
        self.request_ids |= asked.living | asked.former


def _by_hash(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for reference, request_id in pairs:
        found.setdefault(reference, []).append(request_id)
    return found


# What a claim number of ours looks like: such a line number was made by us, or means the same.
_OURS = re.compile(r"C[0-9A-Z]{18}", re.ASCII)


def _asked(vault: Vault, payer_id: str, named: Named) -> _Asked:
    return _Asked(
        named,
        ""
        if named.account in {"", named.trace}
        else account_reference(vault, payer_id, named.account),
        {
            control: line_reference(vault, payer_id, control)
            for control in named.controls
            if not _OURS.fullmatch(choice.number_in(control))
        },
        set(),
        set(),
    )


def _chosen(asked: _Asked, known: _Known, went: dict[str, Went]) -> Went | Nobody:
    # A refused claim has given its account number back: it is meant only where no living one can be.
    for some in (asked.living, asked.former):
        candidates = [
            _candidate(asked, known, went[request_id]) for request_id in some if request_id in went
        ]
        found = choice.choose(asked.named, candidates)
        if isinstance(found, Candidate):
            return went[found.number]
        if found is not UNKNOWN:
            return found
    return UNKNOWN


def _candidate(asked: _Asked, known: _Known, one: Went) -> Candidate:
    """A claim, called what the response says wherever it was sent so."""
    number, named = one.request_id, asked.named
    account = number
    if one.account_as_number:
        account = named.account if (asked.account, number) in known.pairs else NOT_IT
    sent = {
        control
        for control in named.controls
        if choice.number_in(control) == number
        or (asked.lines.get(control, ""), number) in known.pairs
    }
    return Candidate(number=number, account=account, controls=frozenset(sent or {NOT_IT}))
