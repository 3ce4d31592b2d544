"""Claims for the next payer of ``/clearlane/v1``: what is known of one, and sending it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.accounts.model import Site
from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.idempotency import RecordedResponse
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.http_responses import json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.claim_json import FindingJson, Money
from clearlane.api.v1.claim_verbs import require_active
from clearlane.api.v1.claims import no_claim, require_claim
from clearlane.api.v1.problems import problem, refuse
from clearlane.api.v1.resource import Resource, ResourceRows, read_body
from clearlane.claims.write.next_payer import NextInsurance
from clearlane.kernel.finding import Severity
from clearlane.kernel.formats import to_cents
from clearlane.payments.as_json import claim_payment_object, money_text
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.query.claim_list import ClaimRow
from clearlane.pipeline.query.history.claim_details import finding_object
from clearlane.pipeline.secondary.bill_next_payer import (
    BillingResult,
    bill_next_payer,
    settle_correction,
)
from clearlane.pipeline.secondary.correct_next_claim import correct_next_claim
from clearlane.pipeline.secondary.next_claim import SecondaryDraft, load_next_claim
from clearlane.pipeline.secondary.payer_chain import PayerChain, load_payer_chain, place_of
from clearlane.pipeline.secondary.send_by_itself import why_not_by_itself
from clearlane.store.database.database import Tx

endpoints = ResourceRows(Resource.CLAIMS, changes=KeyScope.CORRECT)


@dataclass(frozen=True, slots=True)
class NextInsuranceRequest:
    """What a person knows of the next insurance; what is left out stays as the claim and the draft have it."""

    payer_id: Annotated[str, Field(description="Id of the payer list.")] = ""
    payer_name: str = ""
    coverage: Annotated[str, Field(description="The type of coverage (SBR09), such as MB.")] = ""
    medicare_reason: Annotated[
        str, Field(description="Why Medicare pays after another payer (SBR05).")
    ] = ""
    member_id: str = ""
    group_number: str = ""
    plan_name: str = ""
    relationship: Annotated[
        str,
        Field(description="The patient's relationship to the insured, as X12 has it; 18: self."),
    ] = ""
    last_name: str = ""
    first_name: str = ""
    middle_name: str = ""
    suffix: str = ""
    although_forwarded: Annotated[
        bool, Field(description="Bill it although the payer before forwarded the claim by itself.")
    ] = False
    settled: Annotated[
        bool,
        Field(
            description="Of one that is `to_correct`: what was sent is corrected, or refunded. Nothing is sent."
        ),
    ] = False
    correct: Annotated[
        bool,
        Field(
            description="Of one that is `to_correct`: send what was sent again, with the decision in force, as its correction."
        ),
    ] = False


class OpenQuestionJson(JsonModel):
    """What must be known before the next payer can be billed."""

    field: Annotated[
        str,
        Field(
            description="The field that answers it; `claim_payment` if the decision is in the way."
        ),
    ]
    question: str


class ChainLinkJson(JsonModel):
    """A claim of the chain of payers."""

    place: Annotated[str, Field(description="`primary`, `secondary`, `tertiary`, `4th`, ...")]
    claim_number: str
    payer_id: str
    label: str
    charge: Money
    paid: Money
    patient: Money


class NextInsuranceJson(JsonModel):
    """What is known of the next insurance; empty if not."""

    payer_id: str
    payer_name: str
    coverage: str
    medicare_reason: str
    member_id: str
    group_number: str
    plan_name: str
    relationship: str
    last_name: str
    first_name: str
    middle_name: str
    suffix: str


class NextClaimJson(JsonModel):
    """The claim for the next payer."""

    claim_number: Annotated[str, Field(description="Number of the claim before.")]
    state: Annotated[
        Literal["open", "ready", "forwarded", "answered", "withdrawn", "sent", "to_correct"],
        Field(
            description="`open`: something must be known first. `forwarded`: the payer passed the claim on by itself. "
            "`answered`: and the next payer decided. `withdrawn`: it took its decision back. `to_correct`: that happened "
            "after the next payer was billed."
        ),
    ]
    secondary_claim: Annotated[
        str | None, Field(description="Number of the claim that was sent to the next payer.")
    ]
    forwarded_to: str | None
    insurance: NextInsuranceJson
    questions: list[OpenQuestionJson]
    not_by_itself: Annotated[
        list[str],
        Field(
            description="Why it waits for a person, if the site has claims for next payers sent by themselves."
        ),
    ]


class SecondaryJson(NextClaimJson):
    """What is known of the claim for the next payer, and of all payers before it."""

    claim_payment: Annotated[
        dict[str, Any] | None,
        Field(description="What the payer before paid and adjusted, as the claim itself shows it."),
    ]
    chain: Annotated[
        list[ChainLinkJson], Field(description="The claims to all payers, in the order of payment.")
    ]
    patient_balance: Annotated[
        Money | None,
        Field(
            description="What the last payer that decided left to the patient, less what the patient paid; never a sum "
            "over payers."
        ),
    ]


class BilledJson(NextClaimJson):
    """How the next payer is billed."""

    sent_as: Annotated[
        Literal["new", "replacement"] | None,
        Field(
            description="How a correction goes out; null for a claim that is sent the first time."
        ),
    ]
    findings: list[FindingJson]
    x12: Annotated[str | None, Field(description="For a dry run: the 837 that would be sent.")]


@endpoints.read(
    "GetSecondaryClaim",
    "claims/{claim_number}/secondary",
    "What is known of the claim for the next payer, and what must be asked.",
    SecondaryJson,
)
async def get_secondary(call: Call) -> Response:
    """Return the draft of the claim for the next payer."""
    claim = await require_claim(call)
    context = call.context.work_context
    found = await load_next_claim(context, claim.site, claim.number, actor=call.actor, now=call.now)
    if found is None:
        raise no_claim()
    patient_paid = to_cents(found.view.patient_paid) or 0
    chain = await load_payer_chain(context, claim.site, claim.number, patient_paid)
    return json_response(200, _secondary(found, claim.site, chain))


@endpoints.change(
    "BillNextPayer",
    "claims/{claim_number}/secondary",
    "Bill the next payer, with what the payer before decided.",
    BilledJson,
    request_type=NextInsuranceRequest,
    parameters=(parameters.DRY_RUN,),
    description="The claim before goes to the next payer with its payer's payment and adjustments by group and reason, of "
    "the claim and of its lines. 422 names what must be known first; what was answered is kept. 409 if it was sent "
    "already, or the payer before forwarded it.",
)
async def bill_next(call: Call) -> Response:
    """Send the claim for the next payer, or show what would be sent."""
    body = await read_body(call, NextInsuranceRequest)
    claim = await require_claim(call)
    require_active(claim.site)
    context = call.context.work_context
    given = asdict(body)
    although_forwarded, settled = given.pop("although_forwarded"), given.pop("settled")
    corrects, dry_run = given.pop("correct"), call.parameters["dry_run"] or False

    async def respond(_: Tx, result: BillingResult) -> Response:
        return json_response(200, _billed(result, claim.site))

    recorded = RecordedResponse(call, respond)
    try:
        if settled:
            return await _settle(call, claim)
        if corrects:
            result = await correct_next_claim(
                context,
                claim.site,
                claim.number,
                actor=call.actor,
                now=call.now,
                dry_run=dry_run,
                extend=recorded.extend,
            )
        else:
            result = await bill_next_payer(
                context,
                claim.site,
                claim.number,
                NextInsurance(**{name: text.strip() for name, text in given.items()}),
                actor=call.actor,
                now=call.now,
                dry_run=dry_run,
                although_forwarded=although_forwarded,
                extend=recorded.extend,
            )
    except CorrectionConflict as conflict:
        raise refuse(409, str(conflict), kind="claim_not_changeable") from None
    if result is None:
        raise no_claim()
    if not result.accepted:
        raise RequestRefusal(_not_billed(result))
    return json_response(200, _billed(result, claim.site))


async def _settle(call: Call, claim: ClaimRow) -> Response:
    """Record that what was sent to the next payer is corrected, or refunded."""
    context = call.context.work_context

    async def respond(_: Tx, settled: SecondaryDraft) -> Response:
        return json_response(200, _billed(BillingResult(next_claim=settled), claim.site))

    recorded = RecordedResponse(call, respond)
    settled = await settle_correction(
        context, claim.site, claim.number, actor=call.actor, now=call.now, extend=recorded.extend
    )
    if settled is None:
        raise no_claim()
    return json_response(200, _billed(BillingResult(next_claim=settled), claim.site))


def _next_claim(found: SecondaryDraft, site: Site) -> dict[str, object]:
    names = NextInsuranceJson.model_fields
    return {
        "claim_number": found.claim_number,
        "state": found.state.value,
        "secondary_claim": found.secondary_claim or None,
        "forwarded_to": found.forwarded_to or None,
        "insurance": {name: getattr(found.insurance, name) for name in names},
        "questions": [{"field": one.field, "question": one.sentence} for one in found.questions],
        "not_by_itself": list(why_not_by_itself(found)) if site.bills_next_payer else [],
    }


def _secondary(found: SecondaryDraft, site: Site, chain: PayerChain) -> Mapping[str, object]:
    return {
        **_next_claim(found, site),
        "claim_payment": claim_payment_object(found.paid) if found.paid else None,
        "chain": [
            {
                "place": place_of(at),
                "claim_number": one.claim_number,
                "payer_id": one.payer_id,
                "label": one.label,
                "charge": money_text(one.total_cents),
                "paid": money_text(one.paid_cents),
                "patient": money_text(one.patient_cents),
            }
            for at, one in enumerate(chain.links)
        ],
        "patient_balance": money_text(chain.patient_balance),
    }


def _billed(result: BillingResult, site: Site) -> Mapping[str, object]:
    sent = {"state": "sent", "secondary_claim": result.claim_number} if result.claim_number else {}
    return {
        **_next_claim(result.next_claim, site),
        **sent,
        "sent_as": result.sent_as or None,
        "findings": [finding_object(one) for one in result.findings],
        "x12": result.x12.decode() or None,
    }


def _not_billed(result: BillingResult) -> Response:
    errors = [one for one in result.findings if one.severity is Severity.ERROR]
    return problem(
        422,
        "The next payer cannot be billed yet; no claim was stored.",
        kind="claim_not_accepted",
        errors=[(str(finding_object(one)["field"]), one.message) for one in errors],
    )
