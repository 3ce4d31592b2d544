"""C4: billing, rendering, referring and other providers, and the places they work at."""

from collections.abc import Iterator

from clearlane.claims.rules.registry import (
    GUIDE_FIXES,
    GUIDE_REQUIRES,
    OUR_WRITER,
    TEETH,
    V3_ALONE,
    WARNING,
    WRITER_FIXES,
    FieldFinding,
    RuleInputs,
    line_rule,
    listed,
    quoted,
    rule,
)
from clearlane.claims.view import (
    NO_PROVIDER,
    ClaimView,
    LineView,
    PayerView,
    ProviderView,
)
from clearlane.kernel import formats

AREAS_NEVER_GIVEN = ("000", "666")
OTHER_IDS = ("commercial_number", "license", "upin", "location_number")
STREETS = ("street", "street2")
ADDRESS = ("street", "city", "state", "zip")
NAMED_ADDRESS = ("last_name", *ADDRESS)
ROLES = ("referring", "supervising", "ordering")
LINE_RENDERING_NAME = "lines[].rendering.last_name"
SHADED = tuple(
    f"rendering.{name}"
    for name in ("taxonomy", "license", "upin", "commercial_number", "location_number")
)
"""The numbers of the rendering provider in the shaded part of box 24J."""
TREATING = ("first_name", "middle_name", "suffix", "license", "taxonomy", "commercial_number")


def _absent(provider: ProviderView, needs: tuple[str, ...]) -> list[str]:
    """Return what a provider lacks that is begun."""
    # Comparing all attributes takes longer than the whole rule; nearly every provider that is absent is this one.
    if provider is NO_PROVIDER or provider == NO_PROVIDER:
        return []
    return [name for name in needs if getattr(provider, name) is None]


def _names(view: ClaimView, at: str, names: tuple[str, ...]) -> str:
    return listed(view.form.name_of(f"{at}.{name}") for name in names)


@rule(
    "C401",
    paths=[f"billing.{name}" for name in STREETS],
    x12="2010AA/N3/01",
    covers=("VAL-STREET",),
    fixed=GUIDE_FIXES,
)
def billing_address_is_a_street(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The billing address is a street, not a post office box."""
    for name in STREETS:
        text = getattr(view.billing, name)
        if text and "B" in text and formats.is_po_box(text):
            yield (
                f"billing.{name}",
                f"The billing address {quoted(text)} is a post office box; give the street address. "
                "A box can be a pay-to address only.",
            )


@rule(
    "C402",
    paths=("facility",),
    x12="2310C/N3/01",
    if_form_lacks=TEETH,
    when_filled=("facility",),
    not_in_files=GUIDE_REQUIRES,
)
def facility_is_complete(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A service facility has a name and an address."""
    for name in _absent(view.facility, NAMED_ADDRESS):
        path = f"facility.{name}"
        yield (
            path,
            f"The facility is begun but {view.form.name_of(path)} is missing; "
            f"give {_names(view, 'facility', NAMED_ADDRESS)}.",
        )


@rule(
    "C403",
    paths=("facility",),
    x12="2310C/N3/01",
    if_form_has=TEETH,
    when_filled=("facility",),
    not_in_files=GUIDE_REQUIRES,
)
def treatment_location_is_complete(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A treatment location has an address."""
    for name in _absent(view.facility, ADDRESS):
        path = f"facility.{name}"
        yield (
            path,
            f"The treatment location is begun but {view.form.name_of(path)} is missing; "
            f"give {_names(view, 'facility', ADDRESS)}.",
        )


@rule(
    "C404",
    paths=[f"{role}.last_name" for role in ROLES] + list(ROLES),
    x12="2310A/NM1/03",
    when_filled=ROLES,
    not_in_files=GUIDE_REQUIRES,
)
def other_providers_have_names(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A referring, supervising or ordering provider has a last name."""
    for role in ROLES:
        for name in _absent(getattr(view, role), ("last_name",)):
            path = f"{role}.{name}"
            yield path, f"The {role} provider has no name; give {view.form.name_of(path)}."


@rule(
    "C405",
    paths=("lines[].rendering.npi", "rendering.npi", "rendering.last_name"),
    x12="2420A/NM1/09",
    if_form_lacks=LINE_RENDERING_NAME,
    not_in_files=V3_ALONE,
)
def lines_are_by_the_rendering_provider(
    view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A line's rendering provider is the claim's: only that one has a name."""
    npis = [line.rendering.npi for line in view.lines]
    if not any(npis):
        return
    named = view.rendering.last_name is not None
    own = view.rendering.npi or next((npi for npi in npis if npi), None)
    wanted = own if named else view.billing.npi
    for at, npi in enumerate(npis):
        if npi is None or npi == wanted:
            continue
        name_of = view.form.name_of
        yield (
            f"lines[{at}].rendering.npi",
            f"The line is rendered by {quoted(npi)}, the claim by {quoted(wanted)}; send lines of different "
            "rendering providers as different claims."
            if named
            else f"The line is rendered by {quoted(npi)}, who is not the billing provider and has no name; "
            f"give {name_of('rendering.last_name')} and {name_of('rendering.npi')}.",
        )


@line_rule(
    "C406",
    paths=SHADED,
    x12="2420A/REF/02",
    if_form_lacks=LINE_RENDERING_NAME,
    when_filled=SHADED,
    not_in_files=V3_ALONE,
)
def shaded_ids_belong_to_somebody(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Rendering provider ids on a line need the rendering provider's name on the claim."""
    if view.rendering.last_name is None:
        for path in SHADED:
            if getattr(line.rendering, path.removeprefix("rendering.")) is not None:
                yield (
                    path,
                    f"{view.form.name_of(f'lines[].{path}')} belongs to a rendering provider; "
                    f"give {view.form.name_of('rendering.last_name')}.",
                )


@rule(
    "C407",
    paths=("rendering.last_name", "rendering"),
    x12="2310B/NM1/03",
    if_form_has=TEETH,
    when_filled=("rendering",),
    not_in_files=GUIDE_REQUIRES,
)
def treating_dentist_has_a_name(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A treating dentist who is not the billing dentist has a last name."""
    dentist = view.rendering
    other = dentist.npi is not None and dentist.npi != view.billing.npi
    if dentist.last_name is None and (
        other or any(getattr(dentist, name) is not None for name in TREATING)
    ):
        yield (
            "rendering.last_name",
            "The treating dentist is begun but has no name; "
            f"give {view.form.name_of('rendering.last_name')}.",
        )


@line_rule(
    "C408",
    paths=("rendering.last_name", "rendering"),
    x12="2420A/NM1/03",
    when_filled=("rendering",),
    not_in_files=GUIDE_REQUIRES,
)
def line_treating_dentist_has_a_name(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A treating dentist of a line has a last name."""
    for name in _absent(line.rendering, ("last_name",)):
        own = view.form.name_of(f"lines[].rendering.{name}")
        yield (
            f"rendering.{name}",
            f"The line's treating dentist is begun but has no name; give {own}.",
        )


@rule(
    "C409",
    paths=[f"pay_to.{name}" for name in ADDRESS],
    x12="2010AB/N3/01",
    when_filled=("pay_to",),
    not_in_files=GUIDE_REQUIRES,
)
def pay_to_address_is_complete(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A pay-to address has street, city, state and ZIP code."""
    for name in _absent(view.pay_to, ADDRESS):
        path = f"pay_to.{name}"
        yield (
            path,
            f"The pay-to address is begun but {view.form.name_of(path)} is missing; "
            f"give {_names(view, 'pay_to', ADDRESS)}.",
        )


@rule(
    "C410",
    paths=("billing.second_ssn", "billing.ssn"),
    x12="2010AA/REF:SY/02",
    when_filled=("billing.second_ssn",),
    fixed=WRITER_FIXES,
)
def one_ssn(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The billing provider has one social security number."""
    ssn, other = view.billing.ssn, view.billing.second_ssn
    if ssn and other and ssn != other:
        name_of = view.form.name_of
        yield (
            "billing.second_ssn",
            f"{name_of('billing.second_ssn')} and {name_of('billing.ssn')} differ; give the same number or only one.",
        )


@rule(
    "C411",
    paths=("billing.npi",),
    x12="2010AA/NM1/09",
    severity=WARNING,
    not_in_files="C416 asks for an NPI or another id, which only a file can state.",
)
def billing_npi_is_given(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Payers expect the billing provider's NPI."""
    if view.billing.npi is None:
        yield (
            "billing.npi",
            "There is no billing NPI; most payers reject a claim without one.",
        )


@rule(
    "C412",
    paths=("billing.zip",),
    x12="2010AA/N4/03",
    severity=WARNING,
    not_in_files="X837-ADDRESS asks for the ZIP code of every address in the United States.",
)
def billing_zip_is_given(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Payers expect the billing provider's ZIP code."""
    is_required = inputs.payer is not None and inputs.payer.billing_zip_required  # C111
    if view.billing.zip is None and not is_required:
        yield (
            "billing.zip",
            "There is no billing ZIP code; most payers reject a claim without one.",
        )


PAYER_ADDRESSES = [f"{payer}.{name}" for payer in ("payer", "other_payers[0]") for name in ADDRESS]


@rule(
    "C413",
    paths=PAYER_ADDRESSES,
    x12="2010BB/N3/01",
    severity=WARNING,
    when_filled=PAYER_ADDRESSES,
    not_in_files=OUR_WRITER,
)
def addresses_are_whole(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A payer's address is given whole; a part of one is not sent."""
    payers: list[tuple[str, str, PayerView]] = [("payer's", "payer", view.payer)]
    payers += [
        ("other payer's", f"other_payers[{at}]", other)
        for at, other in enumerate(view.other_payers)
    ]
    for whose, at, payer in payers:
        missing = [name for name in ADDRESS if getattr(payer, name) is None]
        for name in missing if len(missing) < len(ADDRESS) else ():
            path = f"{at}.{name}"
            yield (
                path,
                f"The {whose} address lacks {view.form.name_of(path)}, so it is not sent; give it whole.",
            )


@rule("C414", paths=("billing.ssn",), x12="2010AA/REF:SY/02", when_filled=("billing.ssn",))
def ssn_was_given_out(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A social security number that is sent (no EIN is given) begins with an area that is in use: not 000, 666 or 900 to 999."""
    if view.billing.ein is not None:
        return
    number = (view.billing.ssn or "").replace("-", "")
    if number[:3] in AREAS_NEVER_GIVEN or number.startswith("9"):
        yield (
            "billing.ssn",
            "No social security number begins with 000, 666 or 9; give the provider's own, or the EIN.",
        )


@rule(
    "C415",
    paths=("supervising.npi", "rendering.npi"),
    x12="2310D/NM1/09",
    severity=WARNING,
    when_filled=("supervising.npi",),
)
def supervisor_is_another_person(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A supervising provider is not the rendering provider."""
    npi = view.supervising.npi
    if npi and npi == view.rendering.npi and view.supervising.last_name == view.rendering.last_name:
        yield (
            "supervising.npi",
            "The supervising provider is the rendering provider; leave one of them out.",
        )


def _has_other_id(view: ClaimView) -> bool:
    """Return whether an atypical provider is known to the payer by another id than an NPI."""
    return any(getattr(view.billing, name) is not None for name in OTHER_IDS)


@rule(
    "C416",
    paths=("billing.npi", *[f"billing.{name}" for name in OTHER_IDS]),
    x12="2010AA/NM1/09",
    not_in_json="V3 takes a claim with its required fields alone, of which the NPI is none: C411 warns.",
)
def billing_provider_is_identified(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A billing provider has an NPI or, if none can be had, an id that the payer has given."""
    if view.billing.npi is None and not _has_other_id(view):
        yield (
            "billing.npi",
            "The billing provider has neither an NPI nor an id that the payer has given; give one.",
        )


@rule(
    "C417",
    paths=("rendering.npi", "billing.npi"),
    x12="2310B/NM1/09",
    severity=WARNING,
    if_form_lacks=TEETH,
    not_in_json="A rendering provider who is the billing provider is left out of what is sent.",
)
def rendering_is_not_billing(view: ClaimView, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A person who renders and bills is named once, as the billing provider."""
    billing = view.billing
    if billing.first_name and billing.npi and billing.npi == view.rendering.npi:
        yield (
            "rendering.npi",
            "The rendering provider is the billing provider; leave the rendering provider out.",
        )


@line_rule("C418", paths=("referring.last_name",), x12="2420F/NM1/03", severity=WARNING)
def claim_names_the_referring_provider(
    line: LineView, view: ClaimView, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A referring provider is named for the claim; a line names one only if it is another."""
    if line.referring.last_name is not None and view.referring.last_name is None:
        yield (
            "referring.last_name",
            "Only the line names a referring provider; name the claim's too, as most payers read no other.",
        )
