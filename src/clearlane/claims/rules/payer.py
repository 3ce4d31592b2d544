"""C1: the payer, the enrollment, and claims sent before. All of it needs facts from outside."""

from collections.abc import Iterator

from clearlane.claims.fields import Claim, kind_of
from clearlane.claims.rules.registry import Facts, Fault, Need, quoted, rule

PAYER = ("Svc_PayerId",)


@rule("C101", fields=PAYER, x12="2010BB/NM1/09", need=Need.DIRECTORY)
def payer_is_known(claim: Claim, facts: Facts) -> Iterator[Fault]:
    """The payer is in the directory."""
    if facts.payer is None and not facts.payer_of_other_type:
        yield (
            "Svc_PayerId",
            f"The payer id {quoted(claim.Svc_PayerId)} is not in the directory; "
            "give a PayerId or SvcPayerId of the payer list.",
        )


@rule("C102", fields=PAYER, x12="2010BB/NM1/09", need=Need.DIRECTORY)
def payer_takes_this_kind(claim: Claim, facts: Facts) -> Iterator[Fault]:
    """The payer takes claims of this kind."""
    if facts.payer is None and facts.payer_of_other_type:
        yield (
            "Svc_PayerId",
            f"The payer id {quoted(claim.Svc_PayerId)} takes no {kind_of(claim)} claims; "
            f"give a payer of the {kind_of(claim)} list.",
        )


@rule("C103", fields=PAYER, x12="2010BB/NM1/09", need=Need.DIRECTORY)
def payer_is_active(claim: Claim, facts: Facts) -> Iterator[Fault]:
    """The payer is active."""
    if facts.payer and not facts.payer.active:
        yield (
            "Svc_PayerId",
            f"The payer {quoted(claim.Svc_PayerId)} is not active; give a payer of the current list.",
        )


@rule("C104", fields=PAYER, x12="2010BB/NM1/09", need=Need.DIRECTORY)
def payer_can_be_reached(claim: Claim, facts: Facts) -> Iterator[Fault]:
    """There is an active route to the payer."""
    if facts.payer and facts.payer.active and not facts.payer.has_route:
        yield (
            "Svc_PayerId",
            f"The payer {quoted(claim.Svc_PayerId)} cannot be reached: there is no active route; "
            "ask the operator, or give another payer.",
        )


@rule("C105", fields=PAYER, x12="2010BB/NM1/09", need=Need.DIRECTORY)
def payer_is_right_for_the_mode(claim: Claim, facts: Facts) -> Iterator[Fault]:
    """A test payer is used on a sandbox only."""
    if facts.payer and facts.payer.is_test and not facts.sandbox:
        yield (
            "Svc_PayerId",
            f"The payer {quoted(claim.Svc_PayerId)} is a test payer, and this is production; "
            "give a live payer.",
        )


@rule("C106", fields=PAYER, x12="2010BB/NM1/09", need=Need.ENROLLMENT)
def provider_is_enrolled(claim: Claim, facts: Facts) -> Iterator[Fault]:
    """Where the payer wants an enrollment for claims, the billing provider has one."""
    if facts.payer and facts.payer.claim_enrollment_required and not facts.enrolled:
        yield (
            "Svc_PayerId",
            f"The payer {quoted(claim.Svc_PayerId)} takes claims of enrolled providers only, and the "
            "billing provider is not enrolled; send an enrollment first.",
        )


@rule("C107", fields=("Svc_VendorClaimId",), x12="2300/REF:D9/02", need=Need.HISTORY)
def id_is_free(claim: Claim, facts: Facts) -> Iterator[Fault]:
    """A claim id is not used again for other content while the first claim is alive."""
    if facts.earlier_request_id:
        yield (
            "Svc_VendorClaimId",
            f"The claim id {quoted(claim.Svc_VendorClaimId)} belongs to another claim with other "
            f"content, request {facts.earlier_request_id}; give a new id, or send the same content.",
        )
