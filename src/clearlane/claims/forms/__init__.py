"""The forms of claims by kind. Nothing outside this package and the catalogue distinguishes kinds of claim.

**To add a kind of claim:**

1. Add the kind to ``fields.ClaimKind`` and its models (claim, line, document) to the catalogue in ``fields``.
2. Write its placement tables, ``placements_837x.py``, which end with ``TABLES``.
3. Write its form, ``forms/<kind>.py``, which ends with ``FORM``, and add it to ``FORMS`` below. Write where its fields
   are in the view, ``forms/<kind>_view.py``.
4. Write the rules of its own, ``rules/<kind>.py``, and import the file in ``rules/__init__``. A rule without ``kinds``
   applies to every kind whose form can state the first of its paths: rules read the view, and know no form.
5. Add a row to the endpoints of the API that takes it, its sample to ``samples``, and a migration that lets the
   columns ``claims.kind`` and ``batches.kind`` hold it.

The tests in ``tests/claims`` run over every kind: they tell which field has no place, no sample or no rule.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from clearlane.claims.claim_form import AnyForm, ClaimForm, SharedFieldNames
from clearlane.claims.fields import Claim
from clearlane.claims.forms import dental, medical
from clearlane.claims.kinds import KINDS, ClaimKind

__all__ = [
    "FORMS",
    "V3_DENTAL",
    "V3_MEDICAL",
    "AnyForm",
    "ClaimForm",
    "SharedFieldNames",
    "form_of",
    "form_of_kind",
    "load_placements",
    "names_of_forms",
]

V3_MEDICAL, V3_DENTAL = medical.FORM, dental.FORM
FORMS: Mapping[str, AnyForm] = MappingProxyType(
    {form.name: form for form in (V3_MEDICAL, V3_DENTAL)}
)
"""The forms by name."""
_BY_MODEL: Mapping[type, AnyForm] = {form.claim: form for form in FORMS.values()}


def load_placements() -> None:
    """Load the placement tables of every form, so that the first claim of a node need not wait for them."""
    for form in FORMS.values():
        form.load_placements()


def form_of(claim: Claim) -> AnyForm:
    """Return the form of a claim."""
    return _BY_MODEL[type(claim)]


def form_of_kind(kind: str) -> AnyForm:
    """Return the first form that claims of a kind can be submitted on."""
    return FORMS[KINDS[ClaimKind(kind)].submitted_on[0]]


def names_of_forms(name: Callable[[SharedFieldNames], str]) -> tuple[str, ...]:
    """Return what the forms call a shared field, without those that lack it."""
    found = (name(form.names) for form in FORMS.values())
    return tuple(dict.fromkeys(filter(None, found)))
