"""I159 to I168: who is named on an institutional claim."""

from collections.abc import Iterator

from clearlane.claims.rules.institutional.bill_types import TAXONOMIES, BillElement, forbids
from clearlane.claims.rules.institutional.facility_codes import is_transport
from clearlane.claims.rules.institutional.stay import named_bill_type
from clearlane.claims.rules.registry import (
    BILL_TYPE,
    WARNING,
    FieldFinding,
    RuleInputs,
    edit_rule,
    quoted,
    rule,
)
from clearlane.claims.view import ClaimView, ProviderView
from clearlane.kernel.finding import Severity


def _is_named(provider: ProviderView) -> bool:
    return bool(provider.last_name or provider.npi)


@rule("I159", paths=("attending.last_name", "lines[].revenue_code"), x12="NM1/03")
def attending_provider_is_named(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A claim names the attending provider, unless all it has is transport that was not scheduled."""
    is_only_transport = bool(view.lines) and all(
        is_transport(line.revenue_code) for line in view.lines
    )
    if not _is_named(view.attending) and not is_only_transport:
        yield (
            "attending.last_name",
            "There is no attending provider; name who has the overall care of the patient, beginning with "
            f"{view.form.name_of('attending.last_name')}.",
        )


@edit_rule("I160", edit="attending_taxonomy", paths=("attending.taxonomy",), x12="PRV/03")
def attending_provider_has_a_taxonomy(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A payer that wants the attending provider's taxonomy code gets one."""
    if _is_named(view.attending) and view.attending.taxonomy is None:
        yield (
            "attending.taxonomy",
            f"The payer {quoted(view.payer.id)} wants the attending provider's taxonomy code; give "
            f"{view.form.name_of('attending.taxonomy')}.",
        )


@rule("I161", paths=("other_operating.last_name", "operating.last_name"), x12="NM1/03")
def second_surgeon_has_a_first(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Another operating physician is named beside the operating physician."""
    if _is_named(view.other_operating) and not _is_named(view.operating):
        yield (
            "other_operating.last_name",
            "There is another operating physician and no operating physician; give the first, beginning with "
            f"{view.form.name_of('operating.last_name')}.",
        )


@rule(
    "I162",
    paths=("rendering.npi", "attending.npi"),
    if_form_has=BILL_TYPE,
    x12="NM1/09",
    severity=WARNING,
)
def rendering_provider_is_another(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A rendering provider is named only if that is not the attending one."""
    npi = view.rendering.npi
    if npi and npi == view.attending.npi:
        yield (
            "rendering.npi",
            "The rendering provider is the attending one; leave the rendering provider out.",
        )


@rule(
    "I163",
    paths=("referring.npi", "attending.npi", BILL_TYPE),
    if_form_has=BILL_TYPE,
    x12="NM1/09",
    severity=WARNING,
)
def referring_provider_is_another(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A referring provider is named for outpatients only, and only if that is not the attending one."""
    npi = view.referring.npi
    if npi is None:
        return
    if forbids(BillElement.REFERRING, view.institutional.bill_type):
        yield (
            "referring.npi",
            f"The type of bill {named_bill_type(view)} has no referring provider; leave it out.",
        )
    elif npi == view.attending.npi:
        yield (
            "referring.npi",
            "The referring provider is the attending one; leave the referring provider out.",
        )


@rule(
    "I164",
    paths=("facility.street", "billing.street"),
    if_form_has=BILL_TYPE,
    x12="NM1/03",
    severity=Severity.INFO,
)
def facility_is_another_place(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A service facility is named only if its address is not the billing provider's."""
    places = [(one.street, one.city, one.state, one.zip) for one in (view.facility, view.billing)]
    if view.facility.street and places[0] == places[1]:
        yield (
            "facility.street",
            "The service facility may be left out: it is where the billing provider is.",
        )


@rule(
    "I166",
    paths=("billing.taxonomy", BILL_TYPE),
    if_form_has=BILL_TYPE,
    x12="2000A/PRV/03",
    severity=WARNING,
)
def billing_taxonomy_fits_the_bill_type(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """The billing provider's taxonomy code is one of facilities that have the type of bill."""
    wanted = TAXONOMIES.get(view.institutional.bill_type or "")
    given = view.billing.taxonomy
    if wanted and given and not given.startswith(wanted):
        yield (
            "billing.taxonomy",
            f"The taxonomy code {quoted(given)} is not of a facility with the type of bill {named_bill_type(view)}; "
            f"give one that begins with {' or '.join(wanted)}.",
        )


@rule(
    "I167",
    paths=("lines[].rendering.npi", "rendering.npi", "attending.npi"),
    if_form_has=BILL_TYPE,
    x12="NM1/09",
    severity=Severity.INFO,
)
def line_providers_are_others(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A line names who rendered or referred only if that is not the one of the claim."""
    own = {
        "rendering": view.rendering.npi or view.attending.npi,
        "referring": view.referring.npi,
    }
    for at, line in enumerate(view.lines):
        for role, npi in (("rendering", line.rendering.npi), ("referring", line.referring.npi)):
            if npi and npi == own[role]:
                yield (
                    f"lines[{at}].{role}.npi",
                    f"The {role} provider of the line may be left out: it is the one of the claim.",
                )


@rule(
    "I168",
    paths=("subscriber.street", "billing.street", BILL_TYPE),
    if_form_has=BILL_TYPE,
    x12="2010CA/N3/01",
    severity=Severity.INFO,
)
def patient_lives_elsewhere(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A patient has an address other than the billing provider's, except in facilities where patients live."""
    if not forbids(BillElement.FACILITY_ADDRESS, view.institutional.bill_type):
        return
    part = "patient" if view.patient.street else "subscriber"
    person = view.patient if view.patient.street else view.subscriber
    places = [(one.street, one.city, one.state) for one in (person, view.billing)]
    if person.street and places[0] == places[1]:
        yield (
            f"{part}.street",
            "The patient's address is the billing provider's; give the address where the patient lives.",
        )
