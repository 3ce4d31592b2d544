"""C1: the payer, the enrollment, and earlier claims. All of these require external data."""

from collections.abc import Iterator

from clearlane.claims.fields import Claim
from clearlane.claims.forms import fields_of_forms, form_of, names_of_forms
from clearlane.claims.resubmission import ORIGINAL_ONLY, VOID
from clearlane.claims.rules.registry import (
    EnrollmentGap,
    ExternalData,
    FieldFinding,
    RuleInputs,
    quoted,
    rule,
)
from clearlane.kernel.finding import Severity

PAYER = ("Svc_PayerId",)
OTHER_PAYERS = fields_of_forms(lambda form: form.other_payer_names)
BILLING_ZIPS = names_of_forms(lambda names: names.billing_zip)
FREQUENCIES = names_of_forms(lambda names: names.frequency)
NOT_ENROLLED = {
    EnrollmentGap.NONE: "the billing provider is not enrolled; send an enrollment first.",
    EnrollmentGap.PENDING: (
        "the billing provider's enrollment has been pending since {since}; send the claim again after the payer "
        "has approved it."
    ),
    EnrollmentGap.REFUSED: (
        "the payer refused the billing provider's enrollment on {since}; ask the operator for the reason and to "
        "submit it to the payer again."
    ),
    EnrollmentGap.ENDED: (
        "the payer ended the billing provider's enrollment on {since}; ask the operator for the reason and to "
        "submit it to the payer again."
    ),
}
"""The second half of the finding about an enrollment, and what would pass."""


@rule("C101", fields=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_is_known(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The payer is in the directory."""
    if inputs.payer is None and not inputs.payer_of_other_type:
        yield (
            "Svc_PayerId",
            f"The payer id {quoted(claim.Svc_PayerId)} is not in the directory; "
            "give a PayerId or SvcPayerId of the payer list.",
        )


@rule("C102", fields=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_takes_this_kind(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The payer takes claims of this kind."""
    if inputs.payer is None and inputs.payer_of_other_type:
        kind = form_of(claim).kind
        yield (
            "Svc_PayerId",
            f"The payer id {quoted(claim.Svc_PayerId)} takes no {kind} claims; "
            f"give a payer of the {kind} list.",
        )


@rule("C103", fields=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_is_active(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The payer is active."""
    if inputs.payer and not inputs.payer.active:
        yield (
            "Svc_PayerId",
            f"The payer {quoted(claim.Svc_PayerId)} is not active; give a payer of the current list.",
        )


@rule("C104", fields=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_can_be_reached(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """There is an active route to the payer."""
    if inputs.payer and inputs.payer.active and not inputs.payer.has_route:
        yield (
            "Svc_PayerId",
            f"The payer {quoted(claim.Svc_PayerId)} cannot be reached: there is no active route; "
            "ask the operator, or give another payer.",
        )


@rule("C105", fields=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_is_right_for_the_mode(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A test payer is used on a sandbox only."""
    if inputs.payer and inputs.payer.is_test and not inputs.sandbox:
        yield (
            "Svc_PayerId",
            f"The payer {quoted(claim.Svc_PayerId)} is a test payer, and this is production; "
            "give a live payer.",
        )


@rule("C106", fields=PAYER, x12="2010BB/NM1/09", requires=ExternalData.ENROLLMENT)
def provider_is_enrolled(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Where the payer wants an enrollment for claims, the billing provider has one."""
    if inputs.payer and inputs.payer.claim_enrollment_required and not inputs.enrolled:
        yield (
            "Svc_PayerId",
            f"The payer {quoted(claim.Svc_PayerId)} takes claims of enrolled providers only, and "
            + NOT_ENROLLED[inputs.enrollment].format(since=inputs.enrollment_since),
        )


@rule("C108", fields=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_takes_claims(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The payer takes claims, not eligibility inquiries alone."""
    if inputs.payer and not inputs.payer.accepts_claims:
        yield (
            "Svc_PayerId",
            f"The payer {quoted(claim.Svc_PayerId)} is listed for eligibility alone and takes no claims; "
            "give a payer that takes claims.",
        )


@rule(
    "C119",
    fields=OTHER_PAYERS,
    x12="2330B/NM1/09",
    severity=Severity.WARNING,
    when_filled=OTHER_PAYERS,
    requires=ExternalData.DIRECTORY,
)
def other_payer_is_known(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Another payer is in the directory under its name or an alias; else its id is made from its name."""
    if inputs.other_payer_unknown:
        names = form_of(claim).other_payer_names
        name = next((name for name in names if name in claim.__dict__), names[0])
        yield (
            name,
            f"The directory has no payer, or several, of the name {quoted(claim.__dict__.get(name))}, so an id made "
            "from the name is sent as the other payer's; give a name or an alias of the payer list.",
        )


@rule("C107", fields=("Svc_VendorClaimId",), x12="2300/REF:D9/02", requires=ExternalData.HISTORY)
def id_is_free(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim id is not used again for other content while the first claim is on its way."""
    if inputs.earlier_claim_number and not inputs.is_settled_before:
        yield (
            "Svc_VendorClaimId",
            f"The claim id {quoted(claim.Svc_VendorClaimId)} belongs to another claim with other content, request "
            f"{inputs.earlier_claim_number}, which is {inputs.earlier_state or 'on its way'}; wait for its end, send a "
            "replacement (frequency 7) once it was delivered, or give a new id.",
        )


@rule("C112", fields=("Svc_VendorClaimId",), x12="2300/REF:D9/02", requires=ExternalData.HISTORY)
def replacement_is_asked_for(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim that was paid or left to the patient is replaced only by a resubmission code."""
    if inputs.earlier_claim_number and inputs.is_settled_before:
        names = form_of(claim).names
        yield (
            "Svc_VendorClaimId",
            f"The claim id {quoted(claim.Svc_VendorClaimId)} belongs to request {inputs.earlier_claim_number}, which the "
            "payer has paid or left to the patient; it is replaced only if you say so. To replace it, send "
            f"{names.frequency} 7, with the payer's number of it in {names.original_reference}. Another service needs a "
            "claim id of its own.",
        )


@rule(
    "C113",
    fields=PAYER,
    x12="2000B/SBR/01",
    severity=Severity.WARNING,
    requires=ExternalData.HISTORY,
)
def other_payer_has_not_paid(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim for services that another payer has paid carries that payer's decision."""
    if inputs.paid_by_another:
        yield (
            "Svc_PayerId",
            f"Another payer has paid for these services in the claim {inputs.paid_by_another}, and this claim does not "
            "carry that decision: it goes out as primary. If this payer is the second one, send the first one's decision.",
        )


@rule(
    "C109",
    fields=FREQUENCIES,
    x12="2300/CLM/05-3",
    severity=Severity.INFO,
    requires=ExternalData.HISTORY,
)
def correction_goes_out(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """How a claim sent again goes to the payer is recorded with it, and why."""
    if inputs.correction:
        yield form_of(claim).names.frequency, inputs.correction


@rule(
    "C110",
    fields=FREQUENCIES,
    x12="2300/CLM/05-3",
    when_filled=FREQUENCIES,
    requires=ExternalData.DIRECTORY,
)
def payer_takes_voids(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A void goes to a payer that takes voids."""
    name = form_of(claim).names.frequency
    if (
        inputs.payer
        and inputs.payer.replacements == ORIGINAL_ONLY
        and claim.__dict__.get(name) == VOID
    ):
        yield (
            name,
            f"The payer {quoted(claim.Svc_PayerId)} takes neither replacements nor voids; ask the payer to "
            "take the claim back, or send a corrected claim.",
        )


@rule("C111", fields=BILLING_ZIPS, x12="2010AA/N4/03", requires=ExternalData.DIRECTORY)
def payer_gets_the_billing_zip(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A payer that requires the billing provider's ZIP code gets one."""
    name = form_of(claim).names.billing_zip
    if inputs.payer and inputs.payer.billing_zip_required and claim.__dict__.get(name) is None:
        yield (
            name,
            f"There is no billing ZIP code, and the payer {quoted(claim.Svc_PayerId)} refuses a claim without one; "
            "give five or nine digits.",
        )
