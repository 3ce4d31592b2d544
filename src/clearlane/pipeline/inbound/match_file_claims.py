"""Decide which claim of a sender's file a payer's statement is about, if it names no number of ours.

CLM01 of a file is usually a patient's account number, so that several claims share it, and after a move most
remittances with it are about claims that another clearinghouse sent. It is never enough by itself for a payment: the
number that the payer gave the claim decides (REF*1K of an earlier 277CA), else payee, charge and days must agree. If two
claims fit, neither is matched. Knows no file.
"""

from collections.abc import Collection, Iterable, Sequence

from clearlane.claims.header import ClaimHeader
from clearlane.claims.lifecycle import REFUSED_OR_CANCELED
from clearlane.kernel.formats import to_cents
from clearlane.payments.match import AMBIGUOUS, UNKNOWN, ClaimReference, NoMatch
from clearlane.payments.model import ClaimPaymentFact
from clearlane.pipeline.load_claim import open_header
from clearlane.store.claims import claim_lookup
from clearlane.store.claims.claim_lookup import CandidateClaim, CandidateHeader
from clearlane.store.claims.claim_search import payer_number_key
from clearlane.store.database.database import Tx
from clearlane.store.vault.vault import Vault

REFUSED = frozenset(state.value for state in REFUSED_OR_CANCELED)


class FileClaimMatcher:
    """Chooses among the claims that have an account number, some of which came in files."""

    def __init__(self, vault: Vault, rows: Iterable[CandidateHeader]) -> None:
        self._vault = vault
        self._rows = {row.claim_number: row for row in rows}

    @classmethod
    async def load(
        cls, tx: Tx, vault: Vault, candidates: Collection[CandidateClaim]
    ) -> "FileClaimMatcher":
        """Load what is compared of the candidates that came in files."""
        numbers = [one.claim_number for one in candidates if one.is_of_file]
        rows = await claim_lookup.find_headers(tx, numbers)
        await vault.load_keys_of(tx, [row.header for row in rows])
        return cls(vault, rows)

    def choose(
        self,
        reference: ClaimReference,
        candidates: Sequence[CandidateClaim],
        found: CandidateClaim | NoMatch,
    ) -> CandidateClaim | NoMatch:
        """Return the claim that a reference means; ``found`` is what the numbers alone say.

        A branch for each step, surest first: our own number, the payer's, what fits, and of these what was not rejected.
        """
        of_files = [one for one in candidates if one.is_of_file]
        if reference.claim_number or not of_files:
            return found
        number = reference.payer_control_number
        key = payer_number_key(self._vault, number) if number else None
        numbered = [one for one in of_files if key is not None and self._key(one) == key]
        if len(numbered) == 1:
            return numbered[0]._replace(by_payer_number=True)
        fitting = [one for one in of_files if self._fits(reference, one, key)]
        live = [one for one in fitting if self._rows[one.claim_number].state not in REFUSED]
        fitting = live or fitting
        if isinstance(found, CandidateClaim) and not found.is_of_file:
            fitting.append(found)
        if len(fitting) > 1:
            return AMBIGUOUS
        return fitting[0] if fitting else UNKNOWN

    def _key(self, one: CandidateClaim) -> int | None:
        return self._rows[one.claim_number].payer_number_key

    def _fits(self, reference: ClaimReference, one: CandidateClaim, key: int | None) -> bool:
        """Return whether nothing that both state differs."""
        known = self._key(one)
        if known is not None and key is not None and known != key:
            return False
        if not isinstance(reference, ClaimPaymentFact):
            return True
        row = self._rows[one.claim_number]
        header = open_header(self._vault, one.vendor_id, one.claim_number, row.header)
        return _agree(reference, header)


def _agree(paid: ClaimPaymentFact, header: ClaimHeader) -> bool:
    """Return whether payee, charge and days of a claim payment are those of a claim."""
    payee = paid.payment.payee_npi
    if payee and header.billing_npi and payee != header.billing_npi:
        return False
    if abs(paid.charged) != to_cents(header.charge):
        return False
    first = header.service_day
    if paid.service_from is None or first is None:
        return True
    return first <= paid.service_from <= max(last for _, last in header.days)
