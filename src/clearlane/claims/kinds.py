"""The kinds of claim, and the forms that claims of each are submitted on.

A **kind** decides the guide, the type of payer and the batch; a **form** is how the claim was written. Both are columns
of a claim. Checks of the database, filters, options and literals come from these tables; what a form can do is in
``claims.forms``.

Knows no form beyond its name: commands that need no claim load it.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from clearlane.payers.model import Payer

X12 = "x12"
"""The name of the form of claims that come as 837 files: one for every kind."""


class ClaimKind(StrEnum):
    """A kind of claim."""

    MEDICAL = "medical"
    DENTAL = "dental"
    INSTITUTIONAL = "institutional"


class KindRow(NamedTuple):
    """What is special about a kind of claim."""

    label: str
    """What people call it."""
    file_tag: str
    """The transaction, as names of files have it."""
    guide: str
    """The implementation guide of its transaction."""
    payer_type: str
    """The type of payer in the directory that takes these claims."""
    submitted_on: tuple[str, ...]
    """The names of the forms that such claims can be submitted on."""
    payer_id: str = "payer_id"
    """The attribute of a payer that has its id in these claims, if it is filled."""
    has_series: bool = False
    """Whether several of these claims may bill one stay."""
    states_medicare_reason: bool = True
    """Whether its guide has the reason why Medicare pays after another payer (SBR05); an 837I tells it by a value code."""


KINDS: Mapping[ClaimKind, KindRow] = MappingProxyType(
    {
        ClaimKind.MEDICAL: KindRow(
            "Medical", "837P", "005010X222A1", "Medical", ("v3_medical", X12)
        ),
        ClaimKind.DENTAL: KindRow("Dental", "837D", "005010X224A2", "Dental", ("v3_dental", X12)),
        ClaimKind.INSTITUTIONAL: KindRow(
            "Institutional",
            "837I",
            "005010X223A2",
            "Medical",
            ("ub04", X12),
            "institutional_payer_id",
            has_series=True,
            states_medicare_reason=False,
        ),
    }
)


def id_in_claims(payer: Payer, kind: ClaimKind) -> str:
    """Return the id that a payer has in claims of a kind."""
    own: str = getattr(payer, KINDS[kind].payer_id)
    return own or payer.payer_id


SUBMITTED_KINDS = tuple(kind for kind, row in KINDS.items() if row.submitted_on)
"""The kinds of claims that can be submitted."""
JSON_KINDS = tuple(kind for kind, row in KINDS.items() if set(row.submitted_on) - {X12})
"""The kinds of claims that can be submitted as JSON."""
SUBMITTED_FORMS = tuple(dict.fromkeys(form for row in KINDS.values() for form in row.submitted_on))
"""The names of the forms that claims can be submitted on."""
