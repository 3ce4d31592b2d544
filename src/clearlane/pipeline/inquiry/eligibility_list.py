"""Earlier requests about patients' insurance, as people look for them: the newest of a site, and those of a patient.

Every list is one audit row with the ids that it shows. Knows no page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from clearlane.accounts.model import Site
from clearlane.eligibility import model
from clearlane.eligibility.benefit_answer import decode_result
from clearlane.eligibility.benefit_table import patient_tables
from clearlane.eligibility.coverage import Verdict
from clearlane.eligibility.model import Inquiry
from clearlane.inquiry.inquiry_result import RequestStatus, request_status
from clearlane.kernel.clock import from_micros, moment_text
from clearlane.kernel.formats import last_first
from clearlane.kernel.ids import Scope, SiteId, VendorScope
from clearlane.kernel.redacted_repr import shows
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.work_context import WorkContext
from clearlane.store import inquiries
from clearlane.store.database.database import Actor, Tx
from clearlane.store.delivery.control_numbers import REQUEST_NUMBER_MAX
from clearlane.store.inquiries import (
    NumberedRequest,
    StoredInquiry,
    StoredRequest,
)
from clearlane.store.vault.vault import Vault

STATES = {one: one.value.replace(" ", "_") for one in RequestStatus}
VERDICT_NAMES = {one: one.value.lower().replace(" ", "_") for one in Verdict}
"""What programs call the verdicts."""
PATIENTS_LOOKED_UP_MAX = 20
"""How many patients of one request are searched for earlier requests."""


@shows("eligibility_request_id")
@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRequest:
    """A request as lists show it: its first patient, and how many there are."""

    eligibility_request_id: int
    asked_at: datetime
    patient: str
    born: date | None
    member_id: str
    payer_id: str
    payer_type: str
    is_answered: bool
    verdict: Verdict | None
    """What the payer states of the first patient's coverage; None without its answer."""
    patients: int


@shows("request_number")
@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedInquiry:
    """A request of a vendor's list, with the inquiry of its first patient."""

    request_number: int
    site: Site
    asked_at: datetime
    payer_id: str
    inquiry: Inquiry | None
    """None if no payer could be asked."""
    patients: int
    status: RequestStatus
    verdict: Verdict | None
    """What the payer states of the first patient's coverage; None without its answer."""


def listed_object(one: NumberedInquiry) -> dict[str, object]:
    """Return a request of a list as programs see it, over the service and on its machine."""
    inquiry = one.inquiry
    person = (inquiry.dependent or inquiry.subscriber) if inquiry else None
    born = person.birth if person else None
    return {
        "id": str(one.request_number),
        "eligibility_request_id": one.request_number,
        "site": one.site.vendor_site_id,
        "state": STATES[one.status],
        "verdict": None if one.verdict is None else VERDICT_NAMES[one.verdict],
        "asked_at": moment_text(one.asked_at),
        "payer_id": one.payer_id or None,
        "patient_name": last_first(person.last, person.first) if person else None,
        "birth_date": None if born is None else born.isoformat(),
        "member_id": inquiry.member_id if inquiry else None,
        "patients": one.patients,
    }


async def list_newest(
    context: WorkContext, site: Site, *, limit: int, actor: Actor
) -> list[ListedRequest]:
    """Return the newest requests of a site."""

    async def job(tx: Tx) -> list[ListedRequest]:
        requests = await inquiries.list_newest(tx, ELIGIBILITY.inquiry_set, limit)
        first = await inquiries.list_first_inquiries(tx, [one.id for one in requests])
        return await _listed_requests(tx, context.vault, site, requests, first)

    return await context.database.write(site.scope, job, actor=actor)


async def read_services(
    context: WorkContext, site: Site, eligibility_request_id: int
) -> Mapping[str, tuple[str, ...]]:
    """Return the service types that a request asks about, by the path of the patient. The caller has audited the look."""
    async with context.database.read(site.scope) as tx:
        first = await inquiries.list_first_inquiries(tx, [eligibility_request_id])
        await context.vault.load_keys_of(tx, [one.inquiry for one in first])
    opened = [
        model.restore(context.vault.open(site.scope, inquiries.INQUIRIES, one.trace, one.inquiry))
        for one in first
    ]
    return {one.path: one.services for one in opened}


async def list_numbered(
    context: WorkContext,
    scope: Scope | VendorScope,
    *,
    before: int = REQUEST_NUMBER_MAX + 1,
    limit: int,
    actor: Actor,
) -> list[NumberedInquiry]:
    """Return the requests of sites of a vendor with smaller numbers, the newest first."""

    async def job(tx: Tx) -> list[NumberedInquiry]:
        found = await inquiries.list_by_number(
            tx, ELIGIBILITY.inquiry_set, before=before, limit=limit
        )
        first = await inquiries.list_first_inquiries(tx, [one.id for one in found])
        await context.vault.load_keys_of(tx, [one.inquiry for one in first])
        tx.audit("eligibility.list", ids=[str(one.id) for one in found])
        incomplete = await inquiries.list_incomplete(tx, [one.id for one in found])
        by_request = {one.inquiry_request_id: one for one in first}
        sites = {site.id: site for site in context.accounts().sites}
        owners = {one.id: sites[SiteId(one.site_id)] for one in found}
        verdicts = {
            one.inquiry_request_id: await _read_verdict(
                tx, context.vault, owners[one.inquiry_request_id], one
            )
            for one in first
        }
        return [
            _numbered(
                context.vault, owners[one.id], one, by_request.get(one.id),
                is_complete=one.id not in incomplete, verdict=verdicts.get(one.id),
            )
            for one in found
        ]  # fmt: skip

    return await context.database.write(scope, job, actor=actor)


def _numbered(
    vault: Vault,
    site: Site,
    request: NumberedRequest,
    first: StoredInquiry | None,
    *,
    is_complete: bool,
    verdict: Verdict | None,
) -> NumberedInquiry:
    person = None
    if first is not None:
        sealed = vault.open(site.scope, inquiries.INQUIRIES, first.trace, first.inquiry)
        person = model.restore(sealed)
    return NumberedInquiry(
        request_number=request.request_number,
        site=site,
        asked_at=from_micros(request.created_at),
        payer_id=first.payer_id if first else "",
        inquiry=person,
        patients=request.inquiries,
        status=request_status(request.inquiries, 0 if is_complete else 1),
        verdict=verdict,
    )


async def list_of_same_patients(
    context: WorkContext, site: Site, eligibility_request_id: int, *, limit: int, actor: Actor
) -> list[ListedRequest]:
    """Return other requests of the site about the patients of one, newest first."""

    async def job(tx: Tx) -> list[ListedRequest]:
        keys = await inquiries.list_patient_keys(tx, eligibility_request_id, PATIENTS_LOOKED_UP_MAX)
        found: dict[int, StoredInquiry] = {}
        for key in keys:
            for one in await inquiries.list_of_patient(tx, key, limit + 1):
                found.setdefault(one.inquiry_request_id, one)
        found.pop(eligibility_request_id, None)
        newest = sorted(found, reverse=True)[:limit]
        requests = await inquiries.find_some(tx, newest)
        return await _listed_requests(
            tx, context.vault, site, requests, [found[id] for id in newest]
        )

    return await context.database.write(site.scope, job, actor=actor)


async def _listed_requests(
    tx: Tx,
    vault: Vault,
    site: Site,
    requests: Sequence[StoredRequest],
    first: Sequence[StoredInquiry],
) -> list[ListedRequest]:
    await vault.load_keys_of(tx, [one.inquiry for one in first])
    by_request = {one.inquiry_request_id: one for one in first}
    tx.audit("eligibility.list", ids=[str(one.id) for one in requests])
    verdicts = {one.trace: await _read_verdict(tx, vault, site, one) for one in first}
    return [_listed_request(vault, site, one, by_request.get(one.id), verdicts) for one in requests]


async def _read_verdict(tx: Tx, vault: Vault, site: Site, one: StoredInquiry) -> Verdict | None:
    """Return what the stored answer to an inquiry states; None if there is none."""
    if one.state != inquiries.ANSWERED:
        return None
    found = await inquiries.list_responses(tx, one.inquiry_request_id, [one.number])
    await vault.load_keys_of(tx, [row.response for row in found])
    for row in found:
        content = vault.open(site.scope, inquiries.RESPONSES, one.trace, row.response)
        answer = decode_result(content).answer
        for table in patient_tables([answer] if answer else ()):
            return table.coverage.verdict
    return Verdict.REFUSED


def _listed_request(
    vault: Vault,
    site: Site,
    request: StoredRequest,
    listed: StoredInquiry | None,
    verdicts: Mapping[str, Verdict | None],
) -> ListedRequest:
    """Return one request; if no payer could be asked about it, only its time is known."""
    asked_at = from_micros(request.created_at)
    if listed is None:
        return ListedRequest(
            eligibility_request_id=request.id, asked_at=asked_at, patient="", born=None, member_id="",
            payer_id="", payer_type="", is_answered=True, verdict=None, patients=request.inquiries,
        )  # fmt: skip
    inquiry = model.restore(
        vault.open(site.scope, inquiries.INQUIRIES, listed.trace, listed.inquiry)
    )
    person = inquiry.patient
    return ListedRequest(
        eligibility_request_id=request.id,
        asked_at=asked_at,
        patient=last_first(person.last, person.first),
        born=person.birth,
        member_id=inquiry.member_id,
        payer_id=listed.payer_id,
        payer_type=listed.type,
        is_answered=listed.state == inquiries.ANSWERED,
        verdict=verdicts.get(listed.trace),
        patients=request.inquiries,
    )
