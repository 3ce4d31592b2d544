"""Submit an eligibility request: read it, check it, and have its inquiries asked.

Reading and checking happen a few patients at a time, so that a request of thousands delays no other call. Knows no HTTP.
"""

import asyncio
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from clearlane.accounts.model import Site
from clearlane.eligibility import decode, rules
from clearlane.eligibility.decode import RequestFinding
from clearlane.eligibility.fields import EligibilityRequest
from clearlane.eligibility.rules import InquiryFacts
from clearlane.eligibility.stepwise import StepwiseCall
from clearlane.kernel.clock import to_local
from clearlane.kernel.json_names import note_repeated_fields
from clearlane.payers.enrolled_transactions import EnrolledTransaction
from clearlane.payers.model import PAYER_TYPES, Payer
from clearlane.payers.sender_payers import FindPayer
from clearlane.pipeline.enrollment.inquiry_enrollment import load_inquiry_enrollments
from clearlane.pipeline.inquiry.ask import ask
from clearlane.pipeline.inquiry.eligibility_transaction import ELIGIBILITY
from clearlane.pipeline.route_connections import takes_inquiries
from clearlane.pipeline.work_context import WorkContext
from clearlane.store.database.database import Actor

ELIGIBILITY_PATIENTS_AT_ONCE = 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MalformedInquiry:
    """A request that cannot be read; nothing was stored. It has every finding, not only the first."""

    findings: tuple[RequestFinding, ...]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InquiryReceipt:
    """A stored request whose inquiries were started."""

    eligibility_request_id: int
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What was done with the request that its response has no place for."""


async def inquire(
    context: WorkContext, document: bytes, *, site: Site, actor: Actor, now: datetime
) -> MalformedInquiry | InquiryReceipt:
    """Store a request and start its inquiries. ``ask.await_answers`` waits for the answers."""
    read = await _run_stepwise(decode.decode_stepwise(document))
    if read.request is None:
        return MalformedInquiry(read.findings, read.ignored)
    today = to_local(now, site.time_zone).date()
    access = context.payer_access
    find = PayerFinder(access.payers().find, partial(takes_inquiries, access.connections())).find
    enrolled = await load_inquiry_enrollments(
        context, site, EnrolledTransaction.ELIGIBILITY, _asked(read.request, find), now
    )
    facts = InquiryFacts(
        find=find,
        sandbox=context.sandbox,
        today=today,
        why_not_asked=lambda payer, npi: enrolled.why_not_asked(payer, [npi]),
    )
    checked = await _run_stepwise(rules.check_stepwise(read.request, facts))
    eligibility_request_id = await ask(
        context, ELIGIBILITY, checked.inquiries, checked.results, site=site, actor=actor, now=now
    )
    return InquiryReceipt(eligibility_request_id, read.ignored, note_repeated_fields(read.repeated))


def _asked(request: EligibilityRequest, find: FindPayer) -> Iterator[tuple[Payer, list[str]]]:
    """Yield each payer of a request, of every type, with the NPIs of those who ask it."""
    for inquiry in request.BenefitInquiries:
        for requested in inquiry.Payers:
            npis = [npi for one in requested.Payees if (npi := one.NationalProviderId)]
            for type in PAYER_TYPES:
                if payer := find(requested.PayerId, type):
                    yield payer, npis


@dataclass(frozen=True, slots=True)
class PayerFinder:
    """Finds payers with the routes for inquiries counted: a payer may take inquiries and no claims, or claims alone."""

    by_id: FindPayer
    can_reach: Callable[[str, str], bool]

    def find(self, id: str, type: str) -> Payer | None:
        """Return the payer with an id."""
        payer = self.by_id(id, type)
        if payer is None:
            return None
        return replace(payer, has_route=self.can_reach(payer.type, payer.payer_id))


async def _run_stepwise(work: Generator[None, None, T]) -> T:
    """Run stepwise work, letting other calls run every few patients; return its result."""
    steps = StepwiseCall(work)
    for at, _ in enumerate(steps, start=1):
        if not at % ELIGIBILITY_PATIENTS_AT_ONCE:
            await asyncio.sleep(0)
    return steps.result
