"""All payers, answered from memory.

A snapshot, replaced as a whole when the payers' revision moves. Listings are encoded once, when
the snapshot is made, and compressed once, when a caller first accepts it. Knows no HTTP.
"""

import gzip
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Literal

import msgspec

from clearlane.kernel import limits
from clearlane.payers.match import Index, Match
from clearlane.payers.model import PAYER_TYPES, Payer, PayerType

Which = Literal["live", "test", "eligibility"]

# Level 6 makes the 4 MB of 20,000 payers 5 % smaller and takes twice as long.
COMPRESSION_LEVEL = 4


class Listed(msgspec.Struct, frozen=True, gc=False):
    """A payer as the interface's lists show it: names and order are the document's."""

    Type: str
    Name: str
    SvcPayerId: str
    PayerId: str
    NationalPayerId: str
    EraAvailability: str
    OffersEligibility: bool
    ClaimEnrollmentRequired: bool


class Listing:
    """One payer list, ready to send."""

    def __init__(self, payers: Sequence[Payer]) -> None:
        self.count = len(payers)
        self.body = msgspec.json.encode([_listed(payer) for payer in payers])

    @cached_property
    def gzipped(self) -> bytes:
        """The body compressed; the same bytes on every node."""
        return gzip.compress(self.body, COMPRESSION_LEVEL, mtime=0)


class Payers:
    """The payer directory of one installation."""

    def __init__(self, payers: Iterable[Payer], *, sandbox: bool) -> None:
        """A production installation has no test payers, whatever its tables hold."""
        self.all = tuple(sorted((p for p in payers if sandbox or not p.is_test), key=_by_name))
        self._listings = {
            (which, type): Listing([p for p in self.all if p.type == type and shows(p)])
            for which, shows in LISTINGS.items()
            for type in PAYER_TYPES
        }
        self._by_id = {type: _by_id(p for p in self.all if p.type == type) for type in PAYER_TYPES}

    def listing(self, which: Which, type: PayerType) -> Listing:
        """The list one of the interface's payer calls answers with."""
        return self._listings[which, type]

    def compress(self) -> None:
        """Compress every listing now, so that no caller waits for it. Fit for a thread."""
        for listing in self._listings.values():
            _ = listing.gzipped

    def find(self, identifier: str, type: str) -> Payer | None:
        """The payer of that PayerId, else SvcPayerId, else national id, in any case.

        Finds inactive payers too. A national id that several payers share names none of them.
        """
        return self._by_id.get(type, {}).get(identifier.casefold())

    def search(
        self,
        words: str,
        *,
        among: Callable[[Payer], bool] = lambda _: True,
        limit: int = limits.SEARCH_MATCHES_MAX,
    ) -> list[Match]:
        """The payers most like the words: by name, alias or any id, in spite of typing mistakes."""
        return self._index.search(words, among=among, limit=limit)

    @cached_property
    def _index(self) -> Index:
        return Index(self.all)


LISTINGS: dict[str, Callable[[Payer], bool]] = {
    "live": lambda payer: payer.active and not payer.is_test,
    "test": lambda payer: payer.active and payer.is_test,
    # Test payers are in the directory of a sandbox only.
    "eligibility": lambda payer: payer.active and payer.offers_eligibility,
}


def _by_name(payer: Payer) -> tuple[str, str, str]:
    return payer.name.casefold(), payer.type, payer.payer_id


def _listed(payer: Payer) -> Listed:
    return Listed(
        payer.type,
        payer.name,
        payer.svc_payer_id,
        payer.payer_id,
        payer.national_payer_id,
        payer.era_availability,
        payer.offers_eligibility,
        payer.claim_enrollment_required,
    )


def _by_id(payers: Iterable[Payer]) -> dict[str, Payer]:
    """Every id in folded case, the preferred kinds of id over the others."""
    ours, legacy, national = {}, {}, {}
    shared: set[str] = set()
    for payer in payers:
        ours[payer.payer_id.casefold()] = payer
        legacy[payer.svc_payer_id.casefold()] = payer
        if payer.national_payer_id:
            id = payer.national_payer_id.casefold()
            if id in national:
                shared.add(id)
            national[id] = payer
    alone = {id: payer for id, payer in national.items() if id not in shared}
    return alone | legacy | ours
