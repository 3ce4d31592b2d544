"""What earlier claims of a site tell for a new one: its billing providers, and a patient with the insurance.

    providers = await list_billing_providers(context, site, actor=actor)
    values = await read_earlier_claim(context, site, "C193...", BILLING, actor=actor)     # {"billing.npi": "1234567893", ...}

Values are named by their paths in the view, so a claim on any form, or of a file, tells them for a claim on any other. Every
look is audited: at the billing providers once per person and hour, unless other claims tell of them. Knows no page.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from clearlane.accounts.model import Site
from clearlane.claims.fields import Claim
from clearlane.claims.forms import form_of
from clearlane.claims.read.decode import restore_claim
from clearlane.pipeline.load_claim import load_claim_in_scope, open_claim_content, open_header
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.claims import claims
from clearlane.store.claims.claim_query import ClaimListKey, ClaimListRow, ClaimQuery, list_claims
from clearlane.store.database.database import Actor, Tx

CLAIMS_READ_MAX = 200
"""How many of a site's newest claims are searched for billing providers."""
PROVIDERS_MAX = 20
_ADDRESS = ("street", "street2", "city", "state", "zip", "phone")
_NAME = ("last_name", "first_name", "middle_name", "suffix")
BILLING = tuple(
    f"billing.{name}" for name in (*_NAME, *_ADDRESS, "npi", "taxonomy", "ein", "ssn", "license")
)
"""What is remembered of a billing provider."""
PATIENT = (
    *(f"patient.{name}" for name in (*_NAME, *_ADDRESS, "birth", "sex")),
    *(f"subscriber.{name}" for name in (*_NAME, *_ADDRESS, "birth", "sex", "relationship", "member_id")),
    *(f"subscriber.{name}" for name in ("member_id_type", "entity_type", "group_number", "plan_name", "employer")),
    "payer.coverage",
)  # fmt: skip
"""What is remembered of a patient: the person, the insured, and the insurance. Nothing that is stated for each service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedProvider:
    """A billing provider of an earlier claim."""

    claim_number: str
    npi: str
    tax_id: str = field(repr=False)
    name: str = field(repr=False)
    city: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierValues:
    """Values of an earlier claim by their paths in the view, and the payer that it went to."""

    payer_id: str
    values: Mapping[str, Any] = field(repr=False)


async def list_billing_providers(
    context: WorkContext, site: Site, *, actor: Actor
) -> list[RememberedProvider]:
    """Return the billing providers of a site's newest claims, each once, the latest first.

    Claims are opened again only if the site has a newer one.
    """
    looks, scope, now = context.provider_looks, site.scope, context.clock.now()
    async with context.database.read(scope) as tx:
        newest = await list_claims(tx, ClaimQuery(limit=1), ClaimListKey)
        found = looks.find(scope, newest)
        if found is None:
            found = await _read_providers(context, site, tx)
            looks.keep(scope, newest, found)
    numbers = [one.claim_number for one in found]
    person = (actor.kind, actor.name, scope)
    if numbers and not looks.is_audited(person, numbers, now):

        async def audit(tx: Tx) -> None:
            tx.audit("claim.read", ids=numbers, detail="billing provider for a new claim")

        await context.database.write(scope, audit, actor=actor)
        looks.note_audited(person, numbers, now)
    return [*found]


async def _read_providers(context: WorkContext, site: Site, tx: Tx) -> list[RememberedProvider]:
    vault, scope = context.vault, site.scope
    rows = await list_claims(tx, ClaimQuery(limit=CLAIMS_READ_MAX), ClaimListRow)
    await vault.load_keys_of(tx, [sealed for one in rows for sealed in (one.header, one.payload)])
    found: dict[tuple[str, str], ClaimListRow] = {}
    for row in rows:
        header = open_header(vault, scope, row.claim_number, row.header)
        found.setdefault((header.billing_npi, header.billing_tax_id), row)
    kept = [*found.items()][:PROVIDERS_MAX]
    return [_provider(context, site, row, *key) for key, row in kept]


def _provider(
    context: WorkContext, site: Site, row: ClaimListRow, npi: str, tax_id: str
) -> RememberedProvider:
    number = row.claim_number
    opened = context.vault.open(site.scope, claims.TABLE, number, row.payload)
    claim = restore_claim(row.form, bytes(open_claim_content(opened).claim))
    values = values_at(claim, BILLING)
    names = (values.get(f"billing.{one}", "") for one in ("first_name", "last_name"))
    return RememberedProvider(
        claim_number=number,
        npi=npi,
        tax_id=tax_id,
        name=" ".join(filter(None, names)),
        city=values.get("billing.city", ""),
    )


async def read_earlier_claim(
    context: WorkContext, site: Site, claim_number: str, paths: Collection[str], *, actor: Actor
) -> EarlierValues | None:
    """Return values of a claim of the site; None if it has no claim of this number."""
    loaded = await load_claim_in_scope(
        context.database, context.vault, site.scope, claim_number, actor=actor
    )
    if loaded is None:
        return None
    return EarlierValues(payer_id=loaded.row.payer_id, values=values_at(loaded.claim, paths))


def values_at(claim: Claim, paths: Collection[str]) -> dict[str, Any]:
    """Return the values that a claim has at paths of the view."""
    form = form_of(claim)
    found = {path: form.value(claim, path) for path in paths if form.has(path)}
    return {path: value for path, value in found.items() if value is not None}
