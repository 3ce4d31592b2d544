"""C4: billing, rendering, referring and other providers, and the places they work at."""

from collections.abc import Iterator, Mapping

from clearlane.claims.fields import (
    Claim,
    DentalClaim,
    DentalLine,
    MedicalClaim,
    MedicalLine,
)
from clearlane.claims.forms import fields_of_forms, form_of
from clearlane.claims.rendering_provider import SHADED, rendering_npi
from clearlane.claims.rules.registry import (
    DENTAL,
    MEDICAL,
    WARNING,
    FieldFinding,
    RuleInputs,
    line_rule,
    listed,
    on_line,
    quoted,
    rule,
)
from clearlane.kernel import formats

BILLING_STREETS = fields_of_forms(lambda form: form.billing_streets)
PAYER_ADDRESSES = fields_of_forms(
    lambda form: [name for names in form.payer_addresses.values() for name in names]
)
FACILITY_NEEDS = (
    "F32_FacilityName",
    "F32_FacilityAddress1",
    "F32_FacilityCity",
    "F32_FacilityState",
    "F32_FacilityZip",
)
FACILITY_ALSO = (
    "F32_FacilityAddress2",
    "F32A_FacilityNpi",
    "F32B_FacilityIdStateLicenseNumber",
    "F32B_FacilityIdProviderCommercialLicenseNumber",
    "F32B_FacilityIdLocationNumber",
)
LOCATION_NEEDS = (
    "F56_TreatmentAddress",
    "F56_TreatmentCity",
    "F56_TreatmentST",
    "F56_TreatmentZip",
)
LOCATION_ALSO = ("X12_TreatmantLocationName", "X12_TreatmantLocationNPI")
PAY_TO_NEEDS = ("X12_Paytoaddress", "X12_PaytoCity", "X12_PaytoST", "X12_PaytoZip")
TREATING_NEEDS = ("X12_RenderingProvLastName",)
TREATING_ALSO = (
    "X12_RenderingProvFirstName",
    "X12_RenderingProvMI",
    "X12_RenderingProvSuffix",
    "F55_TreatingDentistLicense",
    "F56a_DentistSpecialtyCode",
    "F58_TreatingDentistAddlID",
)
ROLES = ("Referring", "Supervising", "Ordering")
ROLE_NEEDS = {role: (f"F17_{role}ProviderNameLast",) for role in ROLES}
ROLE_ALSO = {
    role: (
        f"F17_{role}ProviderNameFirst",
        f"F17_{role}ProviderNameMiddle",
        f"F17_{role}ProviderSuffix",
        f"F17A_{role}ProviderIdNumber",
        f"F17B_{role}ProviderNpi",
    )
    for role in ROLES
}
ROLE_FIELDS = [name for role in ROLES for name in (*ROLE_NEEDS[role], *ROLE_ALSO[role])]
LINE_TREATING_NEEDS = ("X12_LineTreatingDentistLastname",)
LINE_TREATING_ALSO = (
    "X12_LineTreatingDentistFirstname",
    "X12_LineTreatingDentistMI",
    "X12_LineTreatingDentistSuffix",
    "X12_LineTreatingDentistNPI",
    "X12_LineTreatingDentistSpecialtyCode",
)


def absent(given: Mapping[str, object], needs: tuple[str, ...], also: tuple[str, ...]) -> list[str]:
    """Return the missing fields of a group if any of its fields is filled, else none."""
    if all(given.get(name) is None for name in needs) and all(
        given.get(name) is None for name in also
    ):
        return []
    return [name for name in needs if given.get(name) is None]


@rule("C401", fields=BILLING_STREETS, x12="2010AA/N3/01")
def billing_address_is_a_street(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The billing address is a street, not a post office box."""
    given = claim.__dict__
    for name in form_of(claim).billing_streets:
        text = given.get(name)
        if text and "B" in text and formats.is_po_box(text):
            yield (
                name,
                f"The billing address {quoted(text)} is a post office box; give the street address. "
                "A box can be a pay-to address only.",
            )


@rule(
    "C402",
    fields=(*FACILITY_NEEDS, *FACILITY_ALSO),
    x12="2310C/N3/01",
    kinds=(MEDICAL,),
    when_filled=(*FACILITY_NEEDS, *FACILITY_ALSO),
)
def facility_is_complete(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A service facility has a name and an address."""
    for name in absent(claim.__dict__, FACILITY_NEEDS, FACILITY_ALSO):
        yield name, f"The facility is begun but {name} is missing; give {listed(FACILITY_NEEDS)}."


@rule(
    "C403",
    fields=(*LOCATION_NEEDS, *LOCATION_ALSO),
    x12="2310C/N3/01",
    kinds=(DENTAL,),
    when_filled=(*LOCATION_NEEDS, *LOCATION_ALSO),
)
def treatment_location_is_complete(
    claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A treatment location has an address."""
    for name in absent(claim.__dict__, LOCATION_NEEDS, LOCATION_ALSO):
        yield (
            name,
            f"The treatment location is begun but {name} is missing; give {listed(LOCATION_NEEDS)}.",
        )


@rule(
    "C404",
    fields=ROLE_FIELDS,
    x12="2310A/NM1/03",
    kinds=(MEDICAL,),
    when_filled=ROLE_FIELDS,
)
def other_providers_have_names(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A referring, supervising or ordering provider has a last name."""
    given = claim.__dict__
    for role in ROLES:
        for name in absent(given, ROLE_NEEDS[role], ROLE_ALSO[role]):
            yield name, f"The {role.lower()} provider has no name; give {name}."


@rule(
    "C405",
    fields=("F24J_RenderingNpi", "X12_RenderingNPI", "X12_RendProviderNameLast"),
    x12="2420A/NM1/09",
    kinds=(MEDICAL,),
)
def lines_are_by_the_rendering_provider(
    claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A line's rendering provider is the claim's: only that one has a name."""
    named = claim.X12_RendProviderNameLast is not None
    wanted = rendering_npi(claim) if named else claim.F33A_BillingProviderNpi
    for at, line in enumerate(claim.F24_ClaimLines):
        npi = line.F24J_RenderingNpi
        if npi is None or npi == wanted:
            continue
        yield (
            on_line(claim, at, "F24J_RenderingNpi"),
            f"The line is rendered by {quoted(npi)}, the claim by {quoted(wanted)}; send lines of different "
            "rendering providers as different claims."
            if named
            else f"The line is rendered by {quoted(npi)}, who is not the billing provider and has no name; "
            "give X12_RendProviderNameLast and X12_RenderingNPI.",
        )


@line_rule(
    "C406",
    fields=(*SHADED, "X12_RendProviderNameLast"),
    x12="2420A/REF/02",
    kinds=(MEDICAL,),
    when_filled=SHADED,
)
def shaded_ids_belong_to_somebody(
    line: MedicalLine, claim: MedicalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """Rendering provider ids on a line need the rendering provider's name on the claim."""
    if claim.X12_RendProviderNameLast is None:
        given = line.__dict__
        for name in SHADED:
            if given.get(name) is not None:
                yield (
                    name,
                    f"{name} belongs to a rendering provider; give X12_RendProviderNameLast.",
                )


@rule(
    "C407",
    fields=(*TREATING_NEEDS, *TREATING_ALSO, "F53_TreatingDentistNPI"),
    x12="2310B/NM1/03",
    kinds=(DENTAL,),
    when_filled=(*TREATING_ALSO, "F53_TreatingDentistNPI"),
)
def treating_dentist_has_a_name(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A treating dentist who is not the billing dentist has a last name."""
    npi = claim.F53_TreatingDentistNPI
    other = npi is not None and npi != claim.F48_BillingDentistNPI
    if claim.X12_RenderingProvLastName is None and (
        other or absent(claim.__dict__, TREATING_NEEDS, TREATING_ALSO)
    ):
        yield (
            "X12_RenderingProvLastName",
            "The treating dentist is begun but has no name; give X12_RenderingProvLastName.",
        )


@line_rule(
    "C408",
    fields=(*LINE_TREATING_NEEDS, *LINE_TREATING_ALSO),
    x12="2420A/NM1/03",
    kinds=(DENTAL,),
    when_filled=(*LINE_TREATING_NEEDS, *LINE_TREATING_ALSO),
)
def line_treating_dentist_has_a_name(
    line: DentalLine, claim: DentalClaim, inputs: RuleInputs
) -> Iterator[FieldFinding]:
    """A treating dentist of a line has a last name."""
    for name in absent(line.__dict__, LINE_TREATING_NEEDS, LINE_TREATING_ALSO):
        yield name, f"The line's treating dentist is begun but has no name; give {name}."


@rule("C409", fields=PAY_TO_NEEDS, x12="2010AB/N3/01", kinds=(DENTAL,), when_filled=PAY_TO_NEEDS)
def pay_to_address_is_complete(claim: DentalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A pay-to address has street, city, state and ZIP code."""
    for name in absent(claim.__dict__, PAY_TO_NEEDS, ()):
        yield (
            name,
            f"The pay-to address is begun but {name} is missing; give {listed(PAY_TO_NEEDS)}.",
        )


@rule(
    "C410",
    fields=("F33B_BillingProviderSsn", "F25_FederalTaxIdSsn"),
    x12="2010AA/REF:SY/02",
    kinds=(MEDICAL,),
    when_filled=("F33B_BillingProviderSsn",),
)
def one_ssn(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """The billing provider has one social security number."""
    ssn, other = claim.F25_FederalTaxIdSsn, claim.F33B_BillingProviderSsn
    if ssn and other and ssn != other:
        yield (
            "F33B_BillingProviderSsn",
            "F33B_BillingProviderSsn and F25_FederalTaxIdSsn differ; give the same number or only one.",
        )


@rule(
    "C411",
    fields=("F33A_BillingProviderNpi",),
    x12="2010AA/NM1/09",
    kinds=(MEDICAL,),
    severity=WARNING,
)
def billing_npi_is_given(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Payers expect the billing provider's NPI."""
    if claim.F33A_BillingProviderNpi is None:
        yield (
            "F33A_BillingProviderNpi",
            "There is no billing NPI; most payers refuse a claim without one.",
        )


@rule(
    "C412",
    fields=("F33_BillingProviderZip",),
    x12="2010AA/N4/03",
    kinds=(MEDICAL,),
    severity=WARNING,
)
def billing_zip_is_given(claim: MedicalClaim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """Payers expect the billing provider's ZIP code."""
    is_required = inputs.payer is not None and inputs.payer.billing_zip_required  # C111
    if claim.F33_BillingProviderZip is None and not is_required:
        yield (
            "F33_BillingProviderZip",
            "There is no billing ZIP code; most payers refuse a claim without one.",
        )


@rule(
    "C413",
    fields=PAYER_ADDRESSES,
    x12="2010BB/N3/01",
    severity=WARNING,
    when_filled=PAYER_ADDRESSES,
)
def addresses_are_whole(claim: Claim, inputs: RuleInputs) -> Iterator[FieldFinding]:
    """A payer's address is given whole; a part of one is not sent."""
    given = claim.__dict__
    for whose, names in form_of(claim).payer_addresses.items():
        for name in absent(given, names, ()):
            yield (
                name,
                f"The {whose} address lacks {name}, so it is not sent; give it whole.",
            )
