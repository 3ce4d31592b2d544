"""Complete claims whose billing address has no ZIP code, from what the site has sent of that provider before.

For ``submit`` and ``enroll``: both record the ZIP codes they are given, and a claim without one takes that of the
site's enrollment of its billing NPI, else of an earlier claim. A ZIP code of another state is never taken. Nothing is
read if every claim has its ZIP code, and nothing is written for a provider that this node has recorded before.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from clearlane.claims.fields import Claim, JsonClaim
from clearlane.claims.forms import form_of
from clearlane.claims.read.repairs import Repair
from clearlane.enrollment.fields import Enrollment
from clearlane.kernel.ids import Scope
from clearlane.pipeline.enrollment.provider_progress import without_punctuation
from clearlane.store.claims import billing_zips
from clearlane.store.claims.billing_zips import BillingZip, ZipSource
from clearlane.store.database.database import Database
from clearlane.store.vault.vault import Vault

RECORDED_ZIPS_REMEMBERED_MAX = 20_000
BILLING_ZIP = "billing.zip"
BILLING_PROVIDER = ("billing.npi", "billing.state")

REPAIRS: Mapping[str, str] = {
    ZipSource.ENROLLMENT: "enrolled zip",
    ZipSource.CLAIM: "earlier zip",
}
"""The kind of repair by the source of the ZIP code."""


class BillingProvider(NamedTuple):
    """Whose ZIP code it is."""

    npi: str
    state: str


class GivenZip(NamedTuple):
    """The ZIP code that a claim gives for its billing provider."""

    provider: BillingProvider
    zip: str


def given_zip(claim: Claim) -> GivenZip | None:
    """Return what a claim as it was sent gives; None if it lacks the NPI or the ZIP code."""
    zip, npi, state = form_of(claim).values(claim, BILLING_ZIP, *BILLING_PROVIDER)
    if not zip or not npi:
        return None
    provider = _named(npi, state)
    return GivenZip(provider, without_punctuation(zip)) if provider.npi else None


@dataclass(frozen=True, slots=True)
class KnownZips:
    """The ZIP codes that claims of a document may take."""

    by_provider: Mapping[BillingProvider, tuple[str, ZipSource]] = field(
        default_factory=dict, repr=False
    )

    def complete(self, claim: JsonClaim) -> tuple[JsonClaim, tuple[Repair, ...]]:
        """Return a claim with the ZIP code that it lacks, and the repair; the same claim if there is none."""
        if not self.by_provider:  # most documents
            return claim, ()
        form, found = form_of(claim), self.by_provider.get(_provider(claim))
        if found is None or form.value(claim, BILLING_ZIP):
            return claim, ()
        zip, source = found
        repair = Repair(form.locate(BILLING_ZIP), REPAIRS[source])
        return form.with_changes(claim, {BILLING_ZIP: zip}), (repair,)


def provider_without_zip(claim: Claim) -> BillingProvider | None:
    """Return the billing provider of a claim that lacks the ZIP code; None if it has it, or lacks the NPI."""
    if form_of(claim).value(claim, BILLING_ZIP):
        return None
    provider = _provider(claim)
    return provider if provider.npi else None


async def find_known_zips(
    database: Database,
    vault: Vault,
    lacking: Collection[BillingProvider],
    *,
    scope: Scope,
    seconds_max: float,
) -> KnownZips:
    """Return the ZIP codes of providers whose claims have none: one statement, and none if each has its own."""
    if not lacking:
        return KnownZips()
    by_hash = {_provider_hash(vault, scope, one): one for one in lacking}
    async with asyncio.timeout(seconds_max), database.read(scope) as tx:
        rows = await billing_zips.find(tx, by_hash.keys())
    found: dict[BillingProvider, tuple[str, ZipSource]] = {}
    for row in rows:
        provider, source = by_hash[row.provider], ZipSource(row.source)
        if source is ZipSource.ENROLLMENT or provider not in found:
            found[provider] = (row.zip, source)
    return KnownZips(found)


class RecordedZips:
    """The ZIP codes of claims that this node has recorded, so that the next claim writes nothing."""

    def __init__(self) -> None:
        self._recorded: set[tuple[Scope, GivenZip]] = set()

    def new_rows(self, vault: Vault, scope: Scope, given: Iterable[GivenZip]) -> list[BillingZip]:
        """Return what is to be recorded of claims."""
        return [
            BillingZip(_provider_hash(vault, scope, one.provider), ZipSource.CLAIM, one.zip)
            for one in set(given)
            if (scope, one) not in self._recorded
        ]

    def mark(self, scope: Scope, given: Iterable[GivenZip]) -> None:
        """Remember what was recorded."""
        if len(self._recorded) > RECORDED_ZIPS_REMEMBERED_MAX:
            self._recorded.clear()  # they are recorded again, which changes nothing
        self._recorded.update((scope, one) for one in given)


def enrolled_zips(
    vault: Vault, scope: Scope, enrollments: Collection[Enrollment]
) -> list[BillingZip]:
    """Return the ZIP codes that enrollments give, to be recorded; one that no claim may have is left out."""
    return [
        BillingZip(
            _provider_hash(vault, scope, BillingProvider(one.Npi, one.State.strip().upper())),
            ZipSource.ENROLLMENT,
            one.Zip + (_extension(one)),
        )
        for one in enrollments
        if one.Zip.strip("0")
    ]


def _extension(enrollment: Enrollment) -> str:
    text = enrollment.ZipExtension or ""
    return text if text.isascii() and text.isdigit() else ""


def _provider(claim: Claim) -> BillingProvider:
    return _named(*form_of(claim).values(claim, *BILLING_PROVIDER))


def _named(npi: str | None, state: str | None) -> BillingProvider:
    return BillingProvider(without_punctuation(npi or ""), (state or "").strip().upper())


def _provider_hash(vault: Vault, scope: Scope, provider: BillingProvider) -> str:
    return vault.fingerprint(scope, "billing-zip", *provider).hex()
