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


KINDS: Mapping[ClaimKind, KindRow] = MappingProxyType(
    {
        ClaimKind.MEDICAL: KindRow(
            "Medical", "837P", "005010X222A1", "Medical", ("v3_medical", X12)
        ),
        ClaimKind.DENTAL: KindRow("Dental", "837D", "005010X224A2", "Dental", ("v3_dental", X12)),
        ClaimKind.INSTITUTIONAL: KindRow("Institutional", "837I", "005010X223A2", "Medical", ()),
    }
)
SUBMITTED_KINDS = tuple(kind for kind, row in KINDS.items() if row.submitted_on)
"""The kinds of claims that can be submitted."""
SUBMITTED_FORMS = tuple(dict.fromkeys(form for row in KINDS.values() for form in row.submitted_on))
"""The names of the forms that claims can be submitted on."""
