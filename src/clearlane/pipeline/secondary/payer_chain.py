"""The chain of a claim's payers, from the first to the patient, as one view.

    chain = await load_payer_chain(context, site, claim_number)
    chain.patient_balance           # what the last payer that decided left to the patient, less what the patient paid

What the patient owes is never a sum over payers: each of them states what is left. The claim that is to be billed next is
part of it while it is a draft. Reads rows, opens no claim.
"""

from dataclasses import dataclass

from clearlane.accounts.model import Site
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.payments import secondary_drafts
from clearlane.store.payments.secondary_drafts import ChainLink, DraftRow

LINKS_MAX = 11
"""The places that X12 has in the order of payment."""
DECIDED = "complete"
ORDINALS = ("primary", "secondary", "tertiary")


def place_of(position: int) -> str:
    """Return what the payer at a position of a chain is called, from 0: primary, secondary, tertiary, 4th."""
    return ORDINALS[position] if position < len(ORDINALS) else f"{position + 1}th"


@dataclass(frozen=True, slots=True)
class PayerChain:
    """The claims to the payers of one service, in the order of payment."""

    links: tuple[ChainLink, ...]
    patient_paid: int = 0
    """What the patient paid, in cents, as the claim says."""
    draft: DraftRow | None = None
    """The draft of the claim after the last one; None if there is none."""

    @property
    def decided(self) -> tuple[ChainLink, ...]:
        """The claims whose payers decided."""
        return tuple(one for one in self.links if one.state == DECIDED)

    @property
    def patient_balance(self) -> int | None:
        """What the patient owes after the last payer that decided, in cents; None before any did."""
        if not self.decided:
            return None
        return max(self.decided[-1].patient_cents - self.patient_paid, 0)


async def load_payer_chain(
    context: WorkContext, site: Site, claim_number: str, patient_paid: int = 0
) -> PayerChain:
    """Return the claims to the payers before and after that of a claim, with it."""
    links: dict[str, ChainLink] = {}
    async with context.database.read(site.scope) as tx:
        number: str | None = claim_number
        before: list[ChainLink] = []
        while number and len(links) < LINKS_MAX:
            link = await secondary_drafts.find_link(tx, number)
            if link is not None and before:
                # The claim of an earlier payer may have been replaced since.
                link = await secondary_drafts.find_in_force(tx, link)
            if link is None or link.claim_number in links:
                break
            links[link.claim_number] = link
            before.append(link)
            number = link.prior_payer_claim
        after: list[ChainLink] = []
        number = claim_number
        while number and len(links) < LINKS_MAX:
            link = await secondary_drafts.find_link_after(tx, number)
            if link is None or link.claim_number in links:
                break
            links[link.claim_number] = link
            after.append(link)
            number = link.claim_number
        last = (after or before)[-1 if after else 0].claim_number if before else claim_number
        draft = await secondary_drafts.find_draft(tx, last)
    return PayerChain((*reversed(before), *after), patient_paid, draft)
