"""Find what closes claims besides their own facts, with what is stored of the claims before and after them.

For ``claim_status``, in its transaction. ``claims.succession`` decides; here the related claims are opened for it. A claim
that no other took over from, and that is not a void, costs nothing here.
"""

from collections.abc import Iterable, Mapping, Sequence

from clearlane.claims.claim_status import ClaimStatus
from clearlane.claims.lifecycle import REFUSED_OR_CANCELED, Closing
from clearlane.claims.responses.facts import Fact, FactKind
from clearlane.claims.succession import close_predecessor, close_void, reversals_in_effect
from clearlane.kernel.claim_label import ClaimLabel
from clearlane.kernel.clock import from_micros, to_local
from clearlane.payments.model import ClaimPaymentFact
from clearlane.pipeline.stored_facts import (
    AnyFact,
    KnownFacts,
    load_known_facts,
    open_claim_status,
)
from clearlane.store.claims import claim_updates, documents
from clearlane.store.claims.claim_updates import ClaimStateRow
from clearlane.store.database.database import Tx
from clearlane.store.vault.vault import Vault

NO_ANSWERS_TO_A_VOID = frozenset({ClaimLabel.FORWARDED, ClaimLabel.PREDETERMINED})
"""Labels of a claim payment that leave a void undecided."""


def open_status(vault: Vault, claim: ClaimStateRow) -> ClaimStatus:
    """Return the status of a claim as it is stored. The caller has loaded its data key."""
    if claim.status is None:
        raise LookupError(f"claim {claim.claim_number} was not accepted, so it has no status")
    return open_claim_status(vault, claim.vendor_id, claim.claim_number, claim.status)


def is_void_answer(payment: ClaimPaymentFact) -> bool:
    """Return whether a claim payment that names a void carries it out: nothing is paid, whatever the reason."""
    return payment.paid <= 0 and payment.label not in NO_ANSWERS_TO_A_VOID


async def find_closings(
    tx: Tx, vault: Vault, statuses: Mapping[ClaimStateRow, ClaimStatus], known: KnownFacts
) -> dict[str, Closing]:
    """Return what closes claims, by their numbers. ``known`` has the facts of these claims."""
    closings: dict[str, Closing] = {}
    await _add_voids(tx, vault, [one for one in statuses if statuses[one].is_void], known, closings)
    succeeded = [one for one in statuses if one.successor_id and one.claim_number not in closings]
    if succeeded:
        successors = await follow_successors(tx, succeeded)
        await vault.load_keys_of(tx, [one.status for one in successors.values() if one.status])
        for claim in succeeded:
            after = successors.get(claim.claim_number)
            if after is None or after.status is None or after.payer_id != claim.payer_id:
                continue
            if closing := close_predecessor(open_status(vault, after)):
                closings[claim.claim_number] = closing
    return closings


async def follow_successors(tx: Tx, claims: Sequence[ClaimStateRow]) -> dict[str, ClaimStateRow]:
    """Return the claims that were sent last in the place of others, by the numbers of those.

    A successor that was canceled or rejected may have been taken over in turn, by one that takes effect.
    """
    last: dict[str, ClaimStateRow] = {}
    following = {one.claim_number: one.successor_id for one in claims if one.successor_id}
    while following:
        found = await claim_updates.lock_claims(tx, list(following.values()))
        last |= {number: found[after] for number, after in following.items() if after in found}
        following = {
            number: after.successor_id
            for number in following
            if (after := last.get(number))
            and after.successor_id
            and after.is_superseded
            and after.state in REFUSED_OR_CANCELED
        }
    return last


async def _add_voids(
    tx: Tx,
    vault: Vault,
    voids: Sequence[ClaimStateRow],
    known: KnownFacts,
    closings: dict[str, Closing],
) -> None:
    """Add what closes voids: their own claim payments, else that the claim before them was taken back."""
    silent: list[ClaimStateRow] = []
    for claim in voids:
        payments = _payments(known[claim.claim_number].values())
        answers = [one for one in payments if is_void_answer(one)]
        if closing := close_void(answers, taken_back=None):
            closings[claim.claim_number] = closing
        elif claim.predecessor_id and not payments:
            silent.append(claim)
    if not silent:
        return
    voided = await _find_voided(tx, silent)
    before = await load_known_facts(tx, vault, sorted(set(voided.values())))
    for claim in silent:
        reversals = reversals_in_effect(_payments(before[voided[claim.claim_number]].values()))
        ids = [one.document_id for one in reversals]
        created = await documents.list_created(tx, ids) if reversals else []
        sent = _first_sent(known[claim.claim_number].values())
        if sent is None or not created:
            continue
        recorded = to_local(from_micros(max(created)), claim.time_zone).replace(tzinfo=None)
        # What was taken back before the void left is not an answer to it.
        if recorded >= sent.at:
            day = max(one.day for one in reversals)
            if closing := close_void((), taken_back=day):
                closings[claim.claim_number] = closing


async def _find_voided(tx: Tx, voids: Sequence[ClaimStateRow]) -> dict[str, str]:
    """Return the claims that voids are about, by the numbers of these: not those that never took effect."""
    found = {one.claim_number: one.predecessor_id or "" for one in voids}
    links: dict[str, ClaimStateRow] = {}
    while wanted := sorted(set(found.values()) - links.keys()):
        listed = await claim_updates.list_links(tx, wanted)
        if not listed:
            break
        links |= listed
        found = {number: pass_refused(before, links) for number, before in found.items()}
    return found


def pass_refused(claim_number: str, links: Mapping[str, ClaimStateRow]) -> str:
    """Return a claim, or the one before it that took effect if it was canceled or rejected."""
    link = links.get(claim_number)
    while link and link.predecessor_id and link.state in REFUSED_OR_CANCELED:
        claim_number = link.predecessor_id
        link = links.get(claim_number)
    return claim_number


def _payments(known_facts: Iterable[AnyFact]) -> list[ClaimPaymentFact]:
    return [fact for fact in known_facts if isinstance(fact, ClaimPaymentFact)]


def _first_sent(known_facts: Iterable[AnyFact]) -> Fact | None:
    sent = [one for one in known_facts if isinstance(one, Fact) and one.kind is FactKind.SENT]
    return min(sent, key=lambda one: one.at, default=None)
