"""The first steps of a new installation: send a sample claim, let 14 days pass, look at the payment.

In a sandbox each is a button that works; in production they are links to the guides.
"""

import json
import secrets
from dataclasses import dataclass
from datetime import timedelta

from starlette.responses import Response

from clearlane.claims.forms import V3_MEDICAL, samples
from clearlane.console.frame.act_question import ONLY_THE_SANDBOX
from clearlane.console.frame.page_request import NoSuchPage, PageRequest
from clearlane.console.frame.page_row import BILLERS, PageRows
from clearlane.pipeline.intake import submit
from clearlane.pipeline.query.claim_summary import SiteSummary, refresh_summary

pages = PageRows(roles=BILLERS)

SAMPLE_DAYS_AGO = 3
SAMPLE_MEMBER = "3002"
"""A scenario that is paid, with a deductible and a coinsurance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStep:
    """One step: what it says, and what its button does."""

    title: str
    text: str
    button: str = ""
    action: str = ""
    """The path of a form; empty for a link."""
    days: str = ""
    href: str = ""
    done: bool = False


GUIDE_STEPS = (
    FirstStep(
        title="Send a first claim",
        text="Your practice software sends claims by the interface; a person can send a file of them by command.",
        button="How to send a claim",
        href="/docs/tutorial/1-a-paid-claim/",
    ),
    FirstStep(
        title="Let the payer answer",
        text="Acknowledgements come within days. Rejected claims are listed here, with what to do.",
        button="How to work with claims",
        href="/docs/how-to/billing/",
    ),
    FirstStep(
        title="Look at the payment",
        text="Payments usually follow claims by 14 to 30 days.",
        button="How to read payments",
        href="/docs/how-to/payments/",
    ),
)
"""The steps of an installation in production: its first claim is not a sample."""


def steps(
    request: PageRequest, summary: SiteSummary | None, *, has_payments: bool
) -> list[FirstStep]:
    """Return the steps that a new installation shows; none once a payment has come."""
    has_claims = bool(summary and summary.tab("all").count)
    if has_payments or not request.sites:
        return []
    if request.context.sandbox_control is None:
        return [] if has_claims else list(GUIDE_STEPS)
    return [
        FirstStep(
            title="Send a sample claim",
            text="A claim of an invented patient goes to a test payer.",
            button="Send a sample claim",
            action="/first-claim",
            done=has_claims,
        ),
        FirstStep(
            title="Let 14 days pass",
            text="The payer acknowledges the claim after a day and pays after 14.",
            button="Let 14 days pass",
            action="/sandbox/advance",
            days="14",
        ),
        FirstStep(
            title="Look at the payment",
            text="The claim and the payment then show the money, and why.",
            href=request.url("/payments"),
            button="Look at payments",
        ),
    ]


@pages.act("/first-claim", ONLY_THE_SANDBOX)
async def send_sample(request: PageRequest) -> Response:
    """Submit a sample claim for the chosen site of a sandbox."""
    return await submit_sample(request, SAMPLE_MEMBER)


async def submit_sample(request: PageRequest, member: str) -> Response:
    """Submit a sample claim whose insured's id selects a scenario, and show the claim; with all sites, of the first."""
    site = request.site or next(iter(request.chosen_sites), None)
    if request.context.sandbox_control is None or site is None or not site.baa_accepted:
        raise NoSuchPage("Only a sandbox sends sample claims.")
    context, now = request.context.work_context, request.context.clock.now()
    document = samples.document(
        V3_MEDICAL,
        day=request.today - timedelta(days=SAMPLE_DAYS_AGO),
        insured_id=member,
        claim_id=f"SAMPLE-{secrets.token_hex(3).upper()}",
    )
    outcome = await submit.submit(
        context,
        json.dumps(document, default=str).encode(),
        V3_MEDICAL,
        site=site,
        actor=request.actor,
        now=now,
    )
    await refresh_summary(context, site)
    results = getattr(outcome, "results", ())
    if not results or not results[0].accepted:
        return request.message(
            409, "The sample was not accepted", "Look at it in the list of claims."
        )
    return request.redirect(f"/claims/{results[0].claim_number}", done="sample")
