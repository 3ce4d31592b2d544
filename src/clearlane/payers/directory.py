"""The payer directory in memory: look-up, search, and the interface's payer lists.

A snapshot, replaced as a whole when the payers' revision changes. Lists are encoded once, when the snapshot is
made, and compressed once, when a caller first accepts it. Knows no HTTP.
"""

import gzip
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Literal

import msgspec

from clearlane.kernel import limits
from clearlane.payers.match import PayerIndex, PayerMatch, words_of
from clearlane.payers.model import PAYER_TYPES, Payer, PayerType

PayerListName = Literal["live", "test", "eligibility"]

# Level 6 makes the 4 MB of 20,000 payers 5 % smaller and takes twice as long.
COMPRESSION_LEVEL = 4


class PayerListEntry(msgspec.Struct, frozen=True, gc=False):
    """A payer in the interface's lists, with names and order of the interface document."""

    Type: str
    Name: str
    SvcPayerId: str
    PayerId: str
    NationalPayerId: str
    EraAvailability: str
    OffersEligibility: bool
    ClaimEnrollmentRequired: bool


class PayerList:
    """One payer list, encoded and ready to send."""

    def __init__(self, payers: Sequence[Payer]) -> None:
        self.count = len(payers)
        self.body = msgspec.json.encode([_list_entry(payer) for payer in payers])

    @cached_property
    def gzipped(self) -> bytes:
        """The compressed body, the same bytes on every node."""
        return gzip.compress(self.body, COMPRESSION_LEVEL, mtime=0)


class PayerDirectory:
    """The payer directory of one installation."""

    def __init__(self, payers: Iterable[Payer], *, sandbox: bool) -> None:
        """Leave out test payers unless the installation is a sandbox."""
        self.all = tuple(sorted((p for p in payers if sandbox or not p.is_test), key=_by_name))
        self._lists = {
            (name, type): PayerList([p for p in self.all if p.type == type and includes(p)])
            for name, includes in PAYER_LISTS.items()
            for type in PAYER_TYPES
        }
        self._by_id = {type: _by_id(p for p in self.all if p.type == type) for type in PAYER_TYPES}

    def payer_list(self, name: PayerListName, type: PayerType) -> PayerList:
        """Return one of the interface's payer lists."""
        return self._lists[name, type]

    def compress(self) -> None:
        """Compress every list and index the names now, so that no caller waits for it. May run in a thread."""
        for payer_list in self._lists.values():
            _ = payer_list.gzipped
        _ = self._payers_by_name

    def find(self, payer_id: str, type: str) -> Payer | None:
        """Return the payer with this PayerId, else SvcPayerId, else the id of its institutional claims, else national id,
        ignoring case.

        Inactive payers are found too. A national id that several payers share finds none of them.
        """
        return self._by_id.get(type, {}).get(payer_id.casefold())

    def find_by_name(self, name: str, type: str) -> Payer | None:
        """Return the payer that has this name or alias, ignoring case, accents, blanks and punctuation.

        Payers of this type come first. A name that payers of different ids share finds none of them.
        """
        key = _name_key(name)
        for known in (type, *(other for other in PAYER_TYPES if other != type)):
            if key in self._payers_by_name.get(known, {}):
                return self._payers_by_name[known][key]
        return None

    def find_in_file(self, payer_id: str, type: str) -> Payer | None:
        """Return the payer that a sender's file names by an id: as ``find`` does, else the one that has it as an alias."""
        found = self.find(payer_id, type)
        if found is None and payer_id:
            found = self._payers_by_name[type].get(_name_key(payer_id))
        return found

    def search(
        self,
        words: str,
        *,
        among: Callable[[Payer], bool] = lambda _: True,
        limit: int = limits.SEARCH_MATCHES_MAX,
    ) -> list[PayerMatch]:
        """Return the payers that match words best: by name, alias or any id, tolerating typing mistakes."""
        return self._index.search(words, among=among, limit=limit)

    @cached_property
    def _index(self) -> PayerIndex:
        return PayerIndex(self.all)

    @cached_property
    def _payers_by_name(self) -> dict[str, dict[str, Payer | None]]:
        """Every payer by name and alias, by type; None for a name of several."""
        found: dict[str, dict[str, Payer | None]] = {type: {} for type in PAYER_TYPES}
        for payer in self.all:
            names = found[payer.type]
            for key in {_name_key(name) for name in (payer.name, *payer.aliases)} - {""}:
                known = names.setdefault(key, payer)
                if known is None or known.payer_id != payer.payer_id:
                    names[key] = None
        return found


PAYER_LISTS: dict[str, Callable[[Payer], bool]] = {
    "live": lambda payer: payer.active and not payer.is_test,
    "test": lambda payer: payer.active and payer.is_test,
    # Test payers are in the directory of a sandbox only.
    "eligibility": lambda payer: payer.active and payer.offers_eligibility,
}


def _name_key(name: str) -> str:
    """Return a name without what writers of it vary."""
    return "".join(words_of(name))


def _by_name(payer: Payer) -> tuple[str, str, str]:
    return payer.name.casefold(), payer.type, payer.payer_id


def _list_entry(payer: Payer) -> PayerListEntry:
    return PayerListEntry(
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
    """Map every id in folded case to its payer, preferred kinds of id over others."""
    by_payer_id, by_svc_id, by_institutional_id, by_national_id = {}, {}, {}, {}
    shared: set[str] = set()
    for payer in payers:
        by_payer_id[payer.payer_id.casefold()] = payer
        by_svc_id[payer.svc_payer_id.casefold()] = payer
        if payer.institutional_payer_id:
            by_institutional_id[payer.institutional_payer_id.casefold()] = payer
        if payer.national_payer_id:
            id = payer.national_payer_id.casefold()
            if id in by_national_id:
                shared.add(id)
            by_national_id[id] = payer
    unshared = {id: payer for id, payer in by_national_id.items() if id not in shared}
    return unshared | by_institutional_id | by_svc_id | by_payer_id
