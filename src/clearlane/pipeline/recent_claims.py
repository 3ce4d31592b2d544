"""The claims that this node has just accepted, decoded, for the batch that takes them.

Knows neither the store nor payers. A claim that is not here any more is opened and decoded from its row: the row is the
truth, and a claim is taken from here only if the row's sealed content is the one that was stored with it.
"""

from clearlane.claims.fields import Claim

RECENT_CLAIMS_MAX = 2_500


class RecentClaims:
    """Claims by number, each until a batch takes it; a bounded number of them."""

    def __init__(self, claims_max: int = RECENT_CLAIMS_MAX) -> None:
        """``claims_max`` is 0 in a process that writes no batches."""
        self._claims_max = claims_max
        self._kept: dict[str, tuple[bytes, Claim]] = {}
        self._turned_away = 0

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, claim_number: str, payload: bytes, claim: Claim) -> None:
        """Keep a stored claim with its sealed content.

        Batches take the oldest claims first, so a new one is turned away if there are too many. If as many were turned
        away and none was taken, no batch will take those that are kept, such as claims to a paused payer: they go.
        """
        if len(self._kept) >= self._claims_max:
            self._turned_away += 1
            if self._turned_away < self._claims_max or not self._claims_max:
                return
            self._kept.clear()
            self._turned_away = 0
        self._kept[claim_number] = payload, claim

    def take(self, claim_number: str, payload: bytes) -> Claim | None:
        """Remove a claim and return it; None if it is not kept, or its row has other content by now."""
        kept_payload, claim = self._kept.pop(claim_number, (b"", None))
        if claim is None:
            return None
        self._turned_away = 0
        return claim if kept_payload == payload else None
