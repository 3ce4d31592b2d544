"""Choose the site whose file a remittance is: the one that bills as its payee.

    owner = choose_owner(sites, paid)

A remittance goes whole to one site, with every claim payment in it, because a practice posts it against one deposit.
The site that a person named comes first. Without a name it must be certain that all of it is one vendor's: a payee that
sites of two vendors bill as, or a payment of another vendor's claim, waits for a person. Anyone can write an NPI into a file: beside
other vendors a payee that one vendor's files alone bill as is its own once a payer has paid one of its claims to it.

Knows sites by their numbers; knows no database.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

SiteKey = tuple[int, int]
"""Vendor and site."""


class PayeeCandidate(Protocol):
    """A site that bills as the payee."""

    @property
    def vendor_id(self) -> int: ...
    @property
    def site_id(self) -> int: ...
    @property
    def is_named(self) -> int: ...
    @property
    def is_proven(self) -> int: ...


def choose_owner(
    sites: Sequence[PayeeCandidate], paid: Collection[SiteKey], *, has_other_vendors: bool = False
) -> SiteKey | None:
    """Return the site that receives a remittance; None if there is none, or a person must name it.

    ``sites`` bill as the payee, those first that did so first; ``paid`` are the sites whose claims the payment names;
    ``has_other_vendors`` tells whether a remittance could be that of a vendor which sends no files.
    """
    named = [(one.vendor_id, one.site_id) for one in sites if one.is_named]
    if named:
        return named[0]
    candidates = [(one.vendor_id, one.site_id) for one in sites]
    vendors = {vendor for vendor, _ in candidates} | {vendor for vendor, _ in paid}
    if not candidates or len(vendors) > 1:
        return None
    if has_other_vendors and not any(one.is_proven for one in sites):
        return None
    own = [site for site in candidates if site in paid]
    return own[0] if len(own) == 1 else candidates[0]
