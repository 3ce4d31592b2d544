"""C1: the payer, the enrollment, and earlier claims. All of these require external data."""

from collections.abc import Iterator

from clearlane.claims.resubmission import ORIGINAL_ONLY, VOID
from clearlane.claims.rules.registry import (
    EnrollmentGap,
    ExternalData,
    FieldFinding,
    RuleInputs,
    listed,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView
from clearlane.kernel.finding import Severity

PAYER = ("payer.id",)
OTHER_PAYER = ("other_payers[0].name", "other_payers[0].plan_name")
FREQUENCY = ("frequency",)
NOT_ENROLLED = {
    EnrollmentGap.NONE: "the billing provider is not enrolled; send an enrollment first.",
    EnrollmentGap.PENDING: (
        "the billing provider's enrollment has been pending since {since}; send the claim again after the payer "
        "has approved it."
    ),
    EnrollmentGap.LATER: (
        "the billing provider's enrollment counts from {since} on; send the claim again then."
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
WAITS = {
    EnrollmentGap.PENDING: (
        "the billing provider's enrollment has been pending since {since}; the claim waits until the payer has approved it."
    ),
    EnrollmentGap.LATER: (
        "the billing provider's enrollment counts from {since} on; the claim waits until then."
    ),
}
"""The same of a claim that waits."""


@rule("C101", paths=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_is_known(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The payer is in the directory."""
    if inputs.payer is None and not inputs.payer_of_other_type:
        near = inputs.near_payers
        are = "A near one is" if len(near) == 1 else "Near ones are"
        offered = f" {are} {listed(near)}." if near else ""
        yield (
            "payer.id",
            f"The payer id {quoted(view.payer.id)} is not in the directory; "
            f"{view.form.payer_id_hint}.{offered}",
        )


@rule("C102", paths=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_takes_this_kind(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The payer takes claims of this kind."""
    if inputs.payer is None and inputs.payer_of_other_type:
        kind = view.form.kind
        yield (
            "payer.id",
            f"The payer id {quoted(view.payer.id)} takes no {kind} claims; "
            f"give a payer of the {kind} list.",
        )


@rule("C103", paths=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_is_active(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The payer is active."""
    if inputs.payer and not inputs.payer.active:
        yield (
            "payer.id",
            f"The payer {quoted(view.payer.id)} is not active; give a payer of the current list.",
        )


@rule("C104", paths=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_can_be_reached(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """There is an active route to the payer."""
    if inputs.payer and inputs.payer.active and not inputs.payer.has_route:
        yield (
            "payer.id",
            f"The payer {quoted(view.payer.id)} cannot be reached: there is no active route; "
            "ask the operator, or give another payer.",
        )


@rule("C105", paths=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_is_right_for_the_mode(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A test payer is used on a sandbox only."""
    if inputs.payer and inputs.payer.is_test and not inputs.sandbox:
        yield (
            "payer.id",
            f"The payer {quoted(view.payer.id)} is a test payer, and this is production; "
            "give a live payer.",
        )


@rule("C106", paths=PAYER, x12="2010BB/NM1/09", requires=ExternalData.ENROLLMENT)
def provider_is_enrolled(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Where the payer wants an enrollment for claims, the billing provider has one."""
    if inputs.payer and inputs.payer.claim_enrollment_required and not inputs.enrolled:
        why = WAITS if inputs.waits_for_enrollment else NOT_ENROLLED
        yield (
            "payer.id",
            f"The payer {quoted(view.payer.id)} takes claims of enrolled providers only, and "
            + why[inputs.enrollment].format(since=inputs.enrollment_since),
        )


@rule("C108", paths=PAYER, x12="2010BB/NM1/09", requires=ExternalData.DIRECTORY)
def payer_takes_claims(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The payer takes claims, not eligibility inquiries alone."""
    if inputs.payer and not inputs.payer.accepts_claims:
        yield (
            "payer.id",
            f"The payer {quoted(view.payer.id)} is listed for eligibility alone and takes no claims; "
            "give a payer that takes claims.",
        )


@rule(
    "C119",
    paths=OTHER_PAYER,
    x12="2330B/NM1/09",
    severity=Severity.WARNING,
    when_filled=OTHER_PAYER,
    requires=ExternalData.DIRECTORY,
)
def other_payer_is_known(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Another payer is in the directory under its name or an alias; else its id is made from its name."""
    if inputs.other_payer_unknown:
        (other, *_) = view.other_payers
        is_plan = other.name is None and other.plan_name is not None
        name = other.plan_name if is_plan else other.name
        yield (
            OTHER_PAYER[is_plan],
            f"The directory has no payer, or several, of the name {quoted(name)}, so an id made "
            "from the name is sent as the other payer's; give a name or an alias of the payer list.",
        )


@rule("C107", paths=("vendor_claim_id",), x12="2300/REF:D9/02", requires=ExternalData.HISTORY)
def id_is_free(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim id is not used again for other content while the first claim is on its way."""
    if inputs.earlier_claim_number and not inputs.is_settled_before:
        yield (
            "vendor_claim_id",
            f"The claim id {quoted(view.vendor_claim_id)} belongs to another claim with other content, request "
            f"{inputs.earlier_claim_number}, which is {inputs.earlier_state or 'on its way'}; wait for its end, send a "
            "replacement (frequency 7) once it was delivered, or give a new id.",
        )


@rule("C112", paths=("vendor_claim_id",), x12="2300/REF:D9/02", requires=ExternalData.HISTORY)
def replacement_is_asked_for(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim that was paid or left to the patient is replaced only by a resubmission code."""
    if inputs.earlier_claim_number and inputs.is_settled_before:
        name_of = view.form.name_of
        yield (
            "vendor_claim_id",
            f"The claim id {quoted(view.vendor_claim_id)} belongs to request {inputs.earlier_claim_number}, which the "
            "payer has paid or left to the patient; it is replaced only if you say so. To replace it, give 7 in "
            f"{name_of('frequency')} and the payer's number of it in {name_of('original_reference')}. Another service needs a "
            "claim id of its own.",
        )


@rule("C120", paths=("vendor_claim_id",), x12="2300/REF:D9/02", requires=ExternalData.HISTORY)
def claim_was_not_sent_before(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim of a file is not sent twice within 30 days while the first is open."""
    if inputs.equal_claim:
        yield (
            "vendor_claim_id",
            f"The claim {inputs.equal_claim} of the last 30 days has the same payer, number, days, lines and charge, and is "
            "not rejected; wait for its answer, or send a replacement (frequency 7).",
        )


@rule(
    "C113",
    paths=PAYER,
    x12="2000B/SBR/01",
    severity=Severity.WARNING,
    requires=ExternalData.HISTORY,
)
def other_payer_has_not_paid(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim for services that another payer has paid carries that payer's decision."""
    if inputs.paid_by_another:
        yield (
            "payer.id",
            f"Another payer has paid for these services in the claim {inputs.paid_by_another}, and this claim does not "
            "carry that decision: it goes out as primary. If this payer is the second one, send the first one's decision.",
        )


@rule(
    "C109",
    paths=FREQUENCY,
    x12="2300/CLM/05-3",
    severity=Severity.INFO,
    requires=ExternalData.HISTORY,
)
def correction_goes_out(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """How a claim sent again goes to the payer is recorded with it, and why."""
    if inputs.correction:
        yield "frequency", inputs.correction


@rule(
    "C110",
    paths=FREQUENCY,
    x12="2300/CLM/05-3",
    when_filled=FREQUENCY,
    requires=ExternalData.DIRECTORY,
    fixed="",
)
def payer_takes_voids(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A void goes to a payer that takes voids."""
    if inputs.payer and inputs.payer.replacements == ORIGINAL_ONLY and view.frequency == VOID:
        yield (
            "frequency",
            f"The payer {quoted(view.payer.id)} takes neither replacements nor voids; ask the payer to "
            "take the claim back, or send a corrected claim.",
        )


@rule("C111", paths=("billing.zip",), x12="2010AA/N4/03", requires=ExternalData.DIRECTORY, fixed="")
def payer_gets_the_billing_zip(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A payer that requires the billing provider's ZIP code gets one."""
    if inputs.payer and inputs.payer.billing_zip_required and view.billing.zip is None:
        yield (
            "billing.zip",
            f"There is no billing ZIP code, and the payer {quoted(view.payer.id)} rejects a claim without one; "
            "give five or nine digits.",
        )
