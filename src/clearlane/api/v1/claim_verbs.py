"""Verbs on claims of ``/clearlane/v1``: hold, release, cancel, void, resubmit, correct, send anyway, validate; and a claim's 837."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field
from starlette.responses import Response

from clearlane.accounts.api_keys import KeyScope
from clearlane.accounts.model import Site, SiteState
from clearlane.accounts.users import ConsoleRole
from clearlane.api.frame.endpoint import Call
from clearlane.api.frame.errors import RequestRefusal
from clearlane.api.frame.idempotency import RecordedResponse
from clearlane.api.frame.json_model import JsonModel
from clearlane.api.http.body import decode
from clearlane.api.http.http_responses import X12, json_response
from clearlane.api.v1 import parameters
from clearlane.api.v1.account.console_links import require_user
from clearlane.api.v1.claim_json import ClaimJson, FindingJson
from clearlane.api.v1.claims import no_claim, require_claim
from clearlane.api.v1.content.claim_content import x12_response
from clearlane.api.v1.problems import problem, refuse
from clearlane.api.v1.resource import Resource, ResourceRows, read_body
from clearlane.claims.finding import ClaimFinding
from clearlane.claims.forms import FORMS, AnyForm
from clearlane.kernel.finding import Severity
from clearlane.kernel.json_names import fold_names, take_fields
from clearlane.kernel.limits import REASON_CHARACTERS_MAX
from clearlane.pipeline.intake.correction_guard import CorrectionConflict
from clearlane.pipeline.intake.hold_claims import (
    CANCEL,
    HOLD,
    RELEASE,
    UnsentResult,
    UnsentVerb,
    change_unsent_claim,
)
from clearlane.pipeline.intake.read import MalformedDocument, TooManyClaims
from clearlane.pipeline.intake.resend_claim import (
    RESUBMIT_CLAIM,
    VOID_CLAIM,
    ResendVerb,
    resend_claim,
)
from clearlane.pipeline.intake.send_anyway import send_anyway
from clearlane.pipeline.intake.submit_correction import CorrectionResult, submit_correction
from clearlane.pipeline.intake.validate import ValidatedDocument, validate
from clearlane.pipeline.query.claim_list import claim_object, find_claim_within
from clearlane.pipeline.query.history.claim_details import finding_object
from clearlane.pipeline.query.history.load_history import load_history_in_scope
from clearlane.store.database.database import JobExtension, Tx, require_row

endpoints = ResourceRows(Resource.CLAIMS, changes=KeyScope.CORRECT)

ERRORS_SHOWN_MAX = 200
ANY_DOCUMENT = reduce(or_, (form.document for form in FORMS.values()))
"""A document of claims of any form, for the documentation."""
FORMS_BY_DOCUMENT = {form.document_type.lower(): form for form in FORMS.values()}


@dataclass(frozen=True, slots=True)
class CorrectionRequest:
    """The fields of a claim that change."""

    fields: Annotated[
        dict[str, Any],
        Field(
            description="New values by the paths that findings name, such as `F24_ClaimLines[0].F24F_Charges`, without regard to "
            "case; null removes what a path names. `F24_ClaimLines[2]` of a claim with two lines adds a third; a list under its own "
            "name is replaced as a whole."
        ),
    ]


@dataclass(frozen=True, slots=True)
class AnywayRequest:
    """Who decided that a claim is sent in spite of a rule, and why."""

    user: Annotated[
        str,
        Field(
            description="The name of a console user of the vendor who works on claims of the site.",
            min_length=1,
        ),
    ]
    reason: Annotated[
        str,
        Field(
            description="Why; kept sealed with the claim.",
            min_length=1,
            max_length=REASON_CHARACTERS_MAX,
        ),
    ]


@dataclass(frozen=True, slots=True)
class VoidRequest:
    """Why a claim is canceled at its payer."""

    reason: Annotated[
        str,
        Field(
            description="Why; kept sealed with the void.",
            min_length=1,
            max_length=REASON_CHARACTERS_MAX,
        ),
    ]


@dataclass(frozen=True, slots=True)
class ResubmissionRequest:
    """Why a claim is sent again as it is."""

    reason: Annotated[
        str,
        Field(
            description="Why, such as an enrollment that counts now; kept sealed with the claim.",
            max_length=REASON_CHARACTERS_MAX,
        ),
    ] = ""


class CorrectionJson(JsonModel):
    """How a correction goes out."""

    claim_number: Annotated[
        str | None, Field(description="The number of the new claim; null for a dry run.")
    ]
    predecessor: Annotated[str, Field(description="Number of the claim that it takes over from.")]
    sent_as: Literal["new", "corrected", "replacement", "void"]
    reason: Annotated[str, Field(description="Why it goes out as it does.")]
    findings: list[FindingJson]
    x12: Annotated[str | None, Field(description="For a dry run: the 837 that would be sent.")]


class ValidatedClaimJson(JsonModel):
    """What would become of one claim."""

    vendor_claim_id: str
    accepted: bool
    findings: list[FindingJson]


class ValidationJson(JsonModel):
    """What would become of a document. Nothing was stored."""

    accepted: Annotated[int, Field(description="How many claims would be accepted.")]
    claims: Annotated[list[ValidatedClaimJson], Field(description="In the order of the document.")]


@endpoints.change(
    "ValidateClaims",
    "claims/validate",
    "What would become of a document of claims, with every finding.",
    ValidationJson,
    request_type=ANY_DOCUMENT,
    scope=KeyScope.SUBMIT,
    stores_answer=False,
    description="Takes the document that `POST /clearlane/v1/claims` takes and stores nothing. Name the `site` if "
    "enrollments matter.",
)
async def validate_claims(call: Call) -> Response:
    """Return every finding of a document."""
    document = await call.body.read_document()
    site = call.named_site or _any_site(call)
    outcome = await validate(
        call.context.work_context, document, named_form(call, document), site=site, now=call.now
    )
    if not isinstance(outcome, ValidatedDocument):
        raise unreadable(call, outcome)
    call.ignored_fields.extend(outcome.ignored)
    return json_response(200, _validation(outcome))


def _unsent(name: str, path: str, summary: str, verb: UnsentVerb) -> None:
    """Declare the endpoint of a verb on a claim that no batch has taken."""

    @endpoints.change(
        name, f"claims/{{claim_number}}/{path}", summary, ClaimJson,
        description="Only before a batch takes the claim; 409 afterward. Repeating it changes nothing.",
    )  # fmt: skip
    async def handle(call: Call) -> Response:
        claim = await require_claim(call)
        context = call.context.work_context

        async def respond(tx: Tx, result: UnsentResult) -> Response:
            if result.refusal:
                raise refuse(409, result.refusal, kind="claim_not_changeable")
            changed = await find_claim_within(tx, context, claim.number)
            return json_response(200, claim_object(require_row(changed, "the claim")))

        recorded = RecordedResponse(call, respond)
        await change_unsent_claim(
            context,
            claim.site,
            claim.number,
            verb,
            actor=call.actor,
            now=call.now,
            extend=recorded.extend,
        )
        return recorded.response


_unsent("HoldClaim", "hold", "Keep a claim back until it is released.", HOLD)
_unsent("ReleaseClaim", "release", "Let a held claim be sent.", RELEASE)
_unsent("CancelClaim", "cancel", "Take a claim back before it is sent.", CANCEL)


@endpoints.change(
    "CorrectClaim",
    "claims/{claim_number}/correct",
    "Correct a claim with the fields that change.",
    CorrectionJson,
    request_type=CorrectionRequest,
    parameters=(parameters.DRY_RUN,),
    description="It goes out as a new claim, a replacement or a void, as the payer needs it. A claim that no batch "
    "has taken is canceled and the corrected one sent in its place. If two corrections meet, one wins; the other "
    "is 409.",
)
async def correct(call: Call) -> Response:
    """Correct a claim, or show how the correction would go out."""
    body = await read_body(call, CorrectionRequest)
    claim = await require_claim(call)
    require_active(claim.site)

    return await _send_correction(
        call,
        lambda extend: submit_correction(
            call.context.work_context,
            claim.site,
            claim.number,
            body.fields,
            actor=call.actor,
            now=call.now,
            dry_run=call.parameters["dry_run"] or False,
            extend=extend,
        ),
    )


async def _send_correction(
    call: Call,
    send: Callable[[JobExtension[CorrectionResult]], Awaitable[CorrectionResult | None]],
) -> Response:
    """Answer a call that sends a claim in the place of another; a repetition of the call gets the same answer."""

    async def respond(_: Tx, stored: CorrectionResult) -> Response:
        return json_response(200, _correction(stored))

    try:
        outcome = await send(RecordedResponse(call, respond).extend)
    except CorrectionConflict as conflict:
        raise refuse(409, str(conflict), kind="claim_not_changeable") from None
    if outcome is None:
        raise no_claim()
    if not outcome.accepted:
        raise RequestRefusal(_not_accepted(outcome.findings))
    return json_response(200, _correction(outcome))


@endpoints.change(
    "VoidClaim",
    "claims/{claim_number}/void",
    "Cancel a claim at its payer, with a void (frequency 8).",
    CorrectionJson,
    request_type=VoidRequest,
    parameters=(parameters.DRY_RUN,),
    description="For a claim that the payer has and gave a number. The payer takes back what it paid and closes the claim; a void "
    "cannot be undone, and the services can then be billed with a new claim. Of a claim that was not sent yet, use `cancel`: 409. "
    "If two corrections or voids meet, one wins; the other is 409.",
)
async def void_claim(call: Call) -> Response:
    """Cancel a claim at its payer, or show the void that would be sent."""
    body = await read_body(call, VoidRequest)
    reason = body.reason.strip()
    if not reason:
        raise RequestRefusal(call.errors.invalid_fields({"reason": ["Give the reason."]}))
    return await _resend(call, VOID_CLAIM, reason)


@endpoints.change(
    "ResubmitClaim",
    "claims/{claim_number}/resubmit",
    "Send a claim again as it is.",
    CorrectionJson,
    request_type=ResubmissionRequest,
    parameters=(parameters.DRY_RUN,),
    description="For a claim that its payer rejected or never answered, or that was not accepted here, once what was wrong is "
    "resolved elsewhere, such as by an enrollment. 409 if the payer has it, since a second one would be a duplicate.",
)
async def resubmit_claim(call: Call) -> Response:
    """Send a claim again unchanged, or show what would be sent."""
    body = await read_body(call, ResubmissionRequest)
    return await _resend(call, RESUBMIT_CLAIM, body.reason.strip())


async def _resend(call: Call, verb: ResendVerb, reason: str) -> Response:
    """Answer a call that sends a claim again or cancels it at its payer."""
    if len(reason) > REASON_CHARACTERS_MAX:
        sentence = f"At most {REASON_CHARACTERS_MAX} characters are expected."
        raise RequestRefusal(call.errors.invalid_fields({"reason": [sentence]}))
    claim = await require_claim(call)
    require_active(claim.site)
    context = call.context.work_context
    history = await load_history_in_scope(
        context.database, context.vault, claim.site.scope, claim.number, actor=call.actor
    )
    if history is None:
        raise no_claim()

    return await _send_correction(
        call,
        lambda extend: resend_claim(
            context,
            claim,
            history,
            verb,
            actor=call.actor,
            now=call.now,
            reason=reason,
            dry_run=call.parameters["dry_run"] or False,
            extend=extend,
        ),
    )


@endpoints.change(
    "SendClaimAnyway",
    "claims/{claim_number}/send_anyway",
    "Send a claim in spite of the rules of ours that stopped it.",
    CorrectionJson,
    request_type=AnywayRequest,
    description="For a claim that was not accepted. A person decides it, whom the vendor's software vouches for; the claim's "
    "history names them. Rules of the X12 guide cannot be overruled: 409.",
)
async def send_claim_anyway(call: Call) -> Response:
    """Send a claim in spite of our rules, as a person of the vendor decided."""
    body = await read_body(call, AnywayRequest)
    claim = await require_claim(call)
    require_active(claim.site)
    user = await require_user(call, body.user)
    if user.role is ConsoleRole.VIEWER or not user.may_see(claim.site):
        sentence = "A user who works on claims of the site, as biller or support, is expected."
        raise RequestRefusal(call.errors.invalid_fields({"user": [sentence]}))
    if not body.reason.strip():
        raise RequestRefusal(call.errors.invalid_fields({"reason": ["Give the reason."]}))

    return await _send_correction(
        call,
        lambda extend: send_anyway(
            call.context.work_context,
            claim.site,
            claim.number,
            reason=body.reason.strip(),
            person=user.name,
            actor=call.actor,
            now=call.now,
            extend=extend,
        ),
    )


@endpoints.read(
    "GetClaimX12",
    "claims/{claim_number}/x12",
    "A claim as the 837 that its payer gets.",
    None,
    media_type=X12,
)
async def claim_x12(call: Call) -> Response:
    """Return a claim as the 837 that its payer gets."""
    return await x12_response(call, await require_claim(call))


def _correction(outcome: CorrectionResult) -> Mapping[str, object]:
    return {
        "claim_number": outcome.claim_number or None,
        "predecessor": outcome.predecessor,
        "sent_as": outcome.sent_as,
        "reason": outcome.reason,
        "findings": [finding_object(one) for one in outcome.findings],
        "x12": outcome.x12.decode() or None,
    }


def _any_site(call: Call) -> Site:
    """Return a site to judge claims for, if the caller names none."""
    active = [site for site in call.sites if site.state is SiteState.ACTIVE]
    if not active:
        raise RequestRefusal(call.errors.baa_missing())
    return active[0]


def require_active(site: Site) -> None:
    """Refuse a call for a site that may not submit."""
    if site.state is SiteState.SUSPENDED:
        raise refuse(403, "The client account is suspended.", kind="account_suspended")


_DOCUMENT_TYPE = fold_names(("DocumentType",))


def unreadable(call: Call, outcome: MalformedDocument | TooManyClaims) -> RequestRefusal:
    """Return the refusal of a document that cannot be read, with every fault by its path."""
    if isinstance(outcome, TooManyClaims):
        return refuse(413, f"A document may have {outcome.claims_max} claims at most.")
    faults: dict[str, list[str]] = {}
    for one in outcome.findings[:ERRORS_SHOWN_MAX]:
        faults.setdefault(one.location, []).append(one.message)
    return RequestRefusal(call.errors.invalid_fields(faults))


def named_form(call: Call, document: bytes) -> AnyForm:
    """Return the form that the ``DocumentType`` of a document names."""
    top = decode(document, dict[str, msgspec.Raw], call.errors)
    named = take_fields(top, _DOCUMENT_TYPE).fields.get("DocumentType")
    text = decode(named, str, call.errors) if named is not None else ""
    form = FORMS_BY_DOCUMENT.get(text.strip().lower())
    if form is None:
        expected = " or ".join(form.document_type for form in FORMS.values())
        faults = {"DocumentType": [f"{expected} is expected."]}
        raise RequestRefusal(call.errors.invalid_fields(faults))
    return form


def _validation(outcome: ValidatedDocument) -> Mapping[str, object]:
    return {
        "accepted": sum(one.accepted for one in outcome.claims),
        "claims": [
            {
                "vendor_claim_id": one.vendor_claim_id,
                "accepted": one.accepted,
                "findings": [finding_object(finding) for finding in one.findings],
            }
            for one in outcome.claims
        ],
    }


def _not_accepted(findings: tuple[ClaimFinding, ...]) -> Response:
    errors = [one for one in findings if one.severity is Severity.ERROR][:ERRORS_SHOWN_MAX]
    return problem(
        422,
        "The claim would not be accepted; nothing was stored.",
        kind="claim_not_accepted",
        errors=[(str(finding_object(one)["field"]), one.message) for one in errors],
    )
