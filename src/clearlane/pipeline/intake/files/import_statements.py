"""Import the statements of another clearinghouse: match them with the claims and sets of shadow files.

    matcher = await StatementMatcher.load(context, site)
    found = await matcher.match(page)              # for each statement the claim, or the sets, that it is about

A claim is known by what its sender wrote: CLM01, with charge, days, patient and billing provider as far as both state them;
among several that fit, by the sender's REF*D9 or batch number (BHT03). A set is known by its control numbers. If two
fit, neither is matched.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from clearlane.accounts.model import Site
from clearlane.claims.header import ClaimHeader
from clearlane.claims.read.decode import restore_claim
from clearlane.claims.responses.ack_messages import same_number
from clearlane.claims.responses.sender_set import SenderSet
from clearlane.claims.x12_claim import X12Claim
from clearlane.kernel.formats import to_cents
from clearlane.pipeline.intake.files.other_statements import OtherStatement
from clearlane.pipeline.load_claim import open_claim_content, open_header
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claims
from clearlane.store.claims.claim_search import account_key
from clearlane.store.files import file_sets, shadow_claims
from clearlane.store.files.file_sets import FileSet
from clearlane.store.files.shadow_claims import ShadowCandidate


@dataclass(frozen=True, slots=True)
class _ShadowSet:
    """A set of a shadow file, and the numbers that its sender gave it."""

    row: FileSet
    sender: SenderSet


_DECODER = msgspec.msgpack.Decoder(SenderSet | None)


class StatementMatcher:
    """Matches statements with the claims and sets of a site's shadow files."""

    def __init__(self, context: WorkContext, site: Site, sets: Sequence[_ShadowSet]) -> None:
        self._context = context
        self._site = site
        self._sets = sets
        self._batches = {one.row.set_id: one.sender.batch_number for one in sets}

    @classmethod
    async def load(cls, context: WorkContext, site: Site) -> "StatementMatcher":
        """Load the sets of the site's shadow files."""
        async with context.database.read(site.scope) as tx:
            rows = await shadow_claims.list_sets(tx)
            await context.vault.load_keys_of(tx, [row.payload for row in rows])
        opened = [
            (row, context.vault.open(site.scope, file_sets.TABLE, row.set_id, row.payload))
            for row in rows
        ]
        # A set without its heading has no numbers.
        senders = [(row, _DECODER.decode(content)) for row, content in opened]
        return cls(context, site, [_ShadowSet(row, one) for row, one in senders if one])

    async def match(self, page: Sequence[OtherStatement]) -> list[list[str]]:
        """Return the claims or sets that each statement is about; none if none fits, or two do."""
        vault, site = self._context.vault, self._site
        accounts = {
            one.account: account_key(vault, site.vendor_id, one.account)
            for one in page
            if one.account
        }
        async with self._context.database.read(site.scope) as tx:
            found = await shadow_claims.list_candidates(tx, accounts.values())
            await vault.load_keys_of(
                tx, [sealed for one in found for sealed in (one.header, one.payload)]
            )
        by_account: dict[int, list[ShadowCandidate]] = {}
        for one in found:
            by_account.setdefault(one.account_key, []).append(one)
        return [
            self._choose_claim(one, by_account.get(accounts[one.account], []))
            if one.account
            else self._choose_sets(one)
            for one in page
        ]

    def _choose_claim(
        self, statement: OtherStatement, candidates: Sequence[ShadowCandidate]
    ) -> list[str]:
        fits = [one for one in candidates if _agree(statement, self._header(one))]
        if len(fits) > 1 and statement.trace:
            fits = [one for one in fits if self._trace(one) == statement.trace] or fits
        if len(fits) > 1 and statement.batch:
            fits = [one for one in fits if self._batches.get(one.set_id) == statement.batch] or fits
        return [fits[0].claim_number] if len(fits) == 1 else []

    def _choose_sets(self, statement: OtherStatement) -> list[str]:
        """Return the sets that a statement is about: all of one file, or none if those of two files fit."""
        fits = [one for one in self._sets if _is_named(statement, one.sender)]
        files = {(one.row.file_id, one.row.interchange) for one in fits}
        return [one.row.set_id for one in fits] if len(files) == 1 else []

    def _header(self, one: ShadowCandidate) -> ClaimHeader:
        return open_header(self._context.vault, self._site.scope, one.claim_number, one.header)

    def _trace(self, one: ShadowCandidate) -> str:
        """Return the REF*D9 that the sender of a claim wrote."""
        opened = self._context.vault.open(
            self._site.scope, claims.TABLE, one.claim_number, one.payload
        )
        claim = restore_claim(one.form, bytes(open_claim_content(opened).claim))
        return claim.sender_trace if isinstance(claim, X12Claim) else ""


def _agree(statement: OtherStatement, header: ClaimHeader) -> bool:
    """Return whether nothing that a statement and a claim both state differs."""
    if statement.charge is not None and statement.charge != to_cents(header.charge):
        return False
    if statement.billing_npi and header.billing_npi and statement.billing_npi != header.billing_npi:
        return False
    one, other = _letters(statement.last_name), _letters(header.last_name)
    if not (one.startswith(other) or other.startswith(one)):
        return False
    first = header.service_day
    if statement.first_day is None or first is None:
        return True
    return first <= statement.first_day <= max(last for _, last in header.days)


def _letters(name: str) -> str:
    """Return the letters of a name, as names are compared: it may be cut, and written with or without marks."""
    return "".join(letter for letter in name.upper() if letter.isalpha())


def _is_named(statement: OtherStatement, sender: SenderSet) -> bool:
    """Return whether a statement about sets gives the numbers of this one."""
    if statement.interchange:
        return same_number(sender.interchange_control, statement.interchange)
    if statement.batch:
        return sender.batch_number == statement.batch
    is_in_group = same_number(sender.group_control, statement.group)
    return is_in_group and (not statement.set or same_number(sender.set_control, statement.set))
