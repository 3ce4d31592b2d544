"""The forms of claims by name: how claims are written. Nothing outside this package, the catalogue and the placements
knows the fields of a form.

**To add a form:**

1. Add its name to the row of its kind in ``claims.kinds``; a new kind is a row there. Checks of the database, filters,
   options and enumerations follow; ``HEAD`` of the schema gets its next letter.
2. Add its models (claim, line, document) to the catalogue in ``fields``.
3. Write where its fields are in the view, ``forms/<form>_view.py``, and the form itself, ``forms/<form>.py``, which ends
   with ``FORM``; add it to ``FORMS`` below.
4. Write its placement tables, ``placements_837x.py``, which end with ``TABLES``.
5. Write the rules of its own, ``rules/<subject>.py``, and import the file in ``rules/__init__``. A rule applies to every
   form that can state the first of its paths: rules read the view, and know no form.
6. Add the call of an API that takes it, and its sample to ``samples``.

The tests in ``tests/claims`` run over every form: they tell which field has no place, no sample or no rule.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from clearlane.claims.claim_form import AnyForm, ClaimForm, field_at
from clearlane.claims.fields import ClaimPart
from clearlane.claims.forms import dental, medical
from clearlane.claims.kinds import KINDS, ClaimKind

__all__ = [
    "FORMS",
    "V3_DENTAL",
    "V3_MEDICAL",
    "AnyForm",
    "ClaimForm",
    "field_at",
    "fields_of_forms",
    "form_of",
    "form_of_kind",
    "load_placements",
]

V3_MEDICAL, V3_DENTAL = medical.FORM, dental.FORM
FORMS: Mapping[str, AnyForm] = MappingProxyType(
    {form.name: form for form in (V3_MEDICAL, V3_DENTAL)}
)
"""The forms by name."""


def load_placements() -> None:
    """Load the placement tables of every form, so that the first claim of a node need not wait for them."""
    for form in FORMS.values():
        form.load_placements()


def form_of(claim: ClaimPart) -> AnyForm:
    """Return the form of a claim."""
    return _form_of_model(type(claim))


@cache
def _form_of_model(model: type) -> AnyForm:
    return next(form for form in FORMS.values() if form.claim is model)


def form_of_kind(kind: str) -> AnyForm:
    """Return the first form that claims of a kind can be submitted on."""
    return FORMS[KINDS[ClaimKind(kind)].submitted_on[0]]


def fields_of_forms(path: str) -> frozenset[str]:
    """Return what the forms call the value of a path of the view."""
    return frozenset(field_at(form, path) for form in FORMS.values() if form.has(path))
