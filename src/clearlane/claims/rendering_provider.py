"""The rendering provider of a medical claim, which the claim and each of its lines may name."""

from clearlane.claims.fields import MedicalClaim

SHADED = (
    "F24J_Shaded_RendProviderTaxonomyCode",
    "F24J_Shaded_RendProviderStateLicenseNumber",
    "F24J_Shaded_RendProviderUpinNumber",
    "F24J_Shaded_RendProviderCommercialNumber",
    "F24J_Shaded_RendProviderLocationNumber",
)
"""The fields in the shaded part of box 24J: numbers of the rendering provider on a line."""


def rendering_npi(claim: MedicalClaim) -> str | None:
    """Return the NPI of the rendering provider: the claim's own, or the first one on its lines."""
    own = claim.X12_RenderingNPI
    return own or next(
        (npi for line in claim.F24_ClaimLines if (npi := line.F24J_RenderingNpi)), None
    )
