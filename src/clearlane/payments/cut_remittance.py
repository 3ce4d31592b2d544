"""Cut a remittance (835) into parts, one for each site whose claims it pays.

    parts = plan_parts(owner, sites, claims, amount)      # none if it is to stay whole
    shows_another_vendor(owner, claims, parts.get(owner))  # then no site may have it
    made = cut_remittance(content, parts[site])

One site, the owner, has the provider adjustments (PLB) and every claim of no other site. Each part balances by itself: its
BPR02 is the sum of its claims less the adjustments in it. The trace number (TRN02) stays what the bank sends, since all
parts are one deposit, and a part says which one it is.

Knows sites by their numbers, and the segments of an 835; knows no database.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

import msgspec

from clearlane.payments.payee_owner import SiteKey
from clearlane.x12.reader.set_slices import slice_sets
from clearlane.x12.writer.encode import format_money

CENTS = Decimal(100)
CLAIM = "CLP"
"""The segment that a claim payment begins with."""
SUMS = ("TS3", "TS2")
"""Sums of a group of claims: left out if the group is cut."""
NOTHING_PAID = {1: "H", 4: "NON"} | dict.fromkeys(range(5, 16), "")
"""Elements of a BPR of 0.00: a notification without payment, method, banks or accounts."""


class PaidClaim(NamedTuple):
    """A claim payment, as far as it decides which part it is in."""

    number: int
    """Of the CLP in the payment, from 1."""
    site: SiteKey | None
    """The site whose claim it pays; None if it matches no claim."""
    paid: int
    """In cents, as all amounts."""
    has_interest: bool = False


class RemittancePart(msgspec.Struct, frozen=True):
    """One part of a remittance."""

    number: int
    """From 1, which is the owner's."""
    count: int
    claims: tuple[int, ...]
    """The numbers of its claim payments in the whole."""
    has_adjustments: bool
    amount: int
    whole: int
    """The amount of the payment as the bank sends it."""
    total: int
    """How many claim payments the whole has."""

    @property
    def words(self) -> str:
        """What the part says of itself."""
        return f"PART {self.number} OF {self.count} OF {self.whole / CENTS:.2f}"

    @property
    def sentence(self) -> str:
        """What people are shown beside the file."""
        return (
            f"Part {self.number} of {self.count} of a payment of {self.whole / CENTS:.2f}: {self.amount / CENTS:.2f} is "
            "in this part. The bank sends the payment whole, under the same trace number."
        )


def encode_part(part: RemittancePart) -> str:
    """Return a part as text, to be stored until it is written."""
    return msgspec.json.encode(part).decode()


decode_part = msgspec.json.Decoder(RemittancePart).decode


def remittance_key(payment_id: str) -> str:
    """Return the key under which a payment, or a part of it, is written once for a site."""
    return f"835:{payment_id}"


def plan_parts(
    owner: SiteKey, sites: Collection[SiteKey], claims: Sequence[PaidClaim], amount: int
) -> dict[SiteKey, RemittancePart]:
    """Return the parts of a payment that balances; none if it stays whole.

    ``sites`` are those that may have a part. A claim with interest stays with the owner, because a PLB pays its
    interest, and so do the claims of a site if they are less than nothing together: no payment is negative.
    """
    others: dict[SiteKey, list[PaidClaim]] = {}
    for one in claims:
        if (
            one.site is not None
            and one.site in sites
            and one.site != owner
            and not one.has_interest
        ):
            others.setdefault(one.site, []).append(one)
    others = {site: own for site, own in others.items() if _sum(own) >= 0}
    left = amount - sum(_sum(own) for own in others.values())
    if not others or left < 0:
        return {}
    taken = {one.number for own in others.values() for one in own}
    count, total = len(others) + 1, len(claims)
    kept = tuple(one.number for one in claims if one.number not in taken)
    parts = {owner: RemittancePart(1, count, kept, True, left, amount, total)}
    for number, (site, own) in enumerate(sorted(others.items()), 2):
        numbers = tuple(one.number for one in own)
        parts[site] = RemittancePart(number, count, numbers, False, _sum(own), amount, total)
    return parts


def shows_another_vendor(
    owner: SiteKey, claims: Sequence[PaidClaim], part: RemittancePart | None
) -> bool:
    """Return whether what the owner would get, a part or the whole payment, pays a claim of another vendor."""
    vendor, _ = owner
    others = {one.number for one in claims if one.site is not None and one.site[0] != vendor}
    return bool(others if part is None else others.intersection(part.claims))


def _sum(claims: Sequence[PaidClaim]) -> int:
    return sum(one.paid for one in claims)


class _Group(NamedTuple):
    """The claims of one LX."""

    head: list[str]
    claims: list[list[str]]


def cut_remittance(content: bytes, part: RemittancePart) -> bytes:
    """Return a file of one 835 with the claims of a part alone. Nothing inside a claim is changed.

    Raise ``ValueError`` if it has not as many claims as were counted for the part: their numbers would not fit.
    """
    [one] = slice_sets(content)
    element, terminator = one.delimiters.element, one.delimiters.terminator
    text = one.whole.of(content).decode("latin-1")
    heading, groups, trailer = _parse(text.split(terminator)[:-1], element)
    found = sum(len(group.claims) for group in groups)
    if found != part.total:
        raise ValueError(f"the payment has {found} claims, and {part.total} were counted")
    made = [
        *_heading(heading, part, element),
        *_claims(groups, frozenset(part.claims), element),
        *(
            segment
            for segment in trailer
            if part.has_adjustments or not _is(segment, "PLB", element)
        ),
    ]
    *made, end = made
    made.append(_with(end, element, {1: str(len(made) + 1)}))
    written = "".join(segment + terminator for segment in made).encode("latin-1")
    return content[: one.whole.start] + written + content[one.whole.end :]


def _parse(segments: Sequence[str], element: str) -> tuple[list[str], list[_Group], list[str]]:
    """Return the segments before the claims, the claims by group, and those after the claims."""
    heading: list[str] = []
    groups: list[_Group] = []
    trailer: list[str] = []
    current = heading
    for segment in segments:
        if _is(segment, "LX", element):
            groups.append(_Group([], []))
            current = groups[-1].head
        elif _is(segment, CLAIM, element):
            if not groups:  # a payer left the LX out
                groups.append(_Group([], []))
            current = []
            groups[-1].claims.append(current)
        elif _is(segment, "PLB", element) or _is(segment, "SE", element):
            current = trailer
        current.append(segment)
    return heading, groups, trailer


def _heading(heading: Sequence[str], part: RemittancePart, element: str) -> Iterator[str]:
    """Yield the heading with the amount of the part, and with words about the part unless the payer uses their place."""
    says = not any(_is(segment, f"REF{element}EV", element) for segment in heading)
    places = [
        at for at, one in enumerate(heading) if _is(one, "TRN", element) or _is(one, "CUR", element)
    ]
    for at, segment in enumerate(heading):
        yield _with(segment, element, _amount(part)) if _is(segment, "BPR", element) else segment
        if says and places and at == places[-1]:
            begin = segment[: len(segment) - len(segment.lstrip())]
            yield f"{begin}REF{element}EV{element}{part.words}"


def _amount(part: RemittancePart) -> dict[int, str]:
    """Return what a part changes in the BPR. A whole payment of nothing says so itself."""
    amount = {2: format_money(part.amount / CENTS)}
    return amount | NOTHING_PAID if part.whole and not part.amount else amount


def _claims(groups: Sequence[_Group], numbers: Collection[int], element: str) -> Iterator[str]:
    number = 0
    for group in groups:
        kept = [claim for at, claim in enumerate(group.claims, number + 1) if at in numbers]
        number += len(group.claims)
        is_whole = len(kept) == len(group.claims)
        if not kept:
            continue
        yield from (
            segment
            for segment in group.head
            if is_whole or not any(_is(segment, name, element) for name in SUMS)
        )
        for claim in kept:
            yield from claim


def _is(segment: str, begin: str, element: str) -> bool:
    """Return whether a segment begins so; there may be a line end before it."""
    return segment.lstrip().startswith(begin + element)


def _with(segment: str, element: str, values: Mapping[int, str]) -> str:
    elements = segment.split(element)
    for at, value in values.items():
        if at < len(elements):
            elements[at] = value
    return element.join(elements)
