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
from typing import TYPE_CHECKING, overload

from clearlane.claims.claim_form import AnyClaimForm, AnyForm, ClaimForm, field_at
from clearlane.claims.fields import ClaimPart
from clearlane.claims.forms import dental, medical, ub04
from clearlane.claims.kinds import KINDS, ClaimKind
from clearlane.claims.x12_claim import X12Claim

if TYPE_CHECKING:
    from clearlane.claims.forms.x12_form import X12Form

__all__ = [
    "FORMS",
    "UB04",
    "V3_DENTAL",
    "V3_FORMS",
    "V3_MEDICAL",
    "AnyClaimForm",
    "AnyForm",
    "ClaimForm",
    "field_at",
    "fields_of_forms",
    "form_of",
    "form_of_kind",
    "x12_forms",
]

V3_MEDICAL, V3_DENTAL, UB04 = medical.FORM, dental.FORM, ub04.FORM
V3_FORMS: tuple[AnyForm, ...] = (V3_MEDICAL, V3_DENTAL)
"""The forms of claims that V3 takes."""
FORMS: Mapping[str, AnyForm] = MappingProxyType(
    {form.name: form for form in (V3_MEDICAL, V3_DENTAL, UB04)}
)
"""The forms of claims that come as JSON, by name. Claims of files have one of ``x12_forms``."""


@overload
def form_of(claim: ClaimPart) -> AnyForm: ...
@overload
def form_of(claim: X12Claim) -> "X12Form": ...
@overload
def form_of(claim: ClaimPart | X12Claim) -> AnyClaimForm: ...
def form_of(claim: ClaimPart | X12Claim) -> "AnyForm | X12Form | AnyClaimForm":
    """Return the form of a claim."""
    if type(claim) is X12Claim:
        return x12_forms()[claim.transaction]
    return _form_of_model(type(claim))


@cache
def _form_of_model(model: type) -> AnyForm:
    return next(form for form in FORMS.values() if form.claim is model)


@cache
def x12_forms() -> "Mapping[str, X12Form]":
    """Return the forms of claims of 837 files by transaction, imported at their first use: they need the guides."""
    from clearlane.claims.forms.x12_form import FORMS_BY_TRANSACTION

    return FORMS_BY_TRANSACTION


def form_of_kind(kind: str) -> AnyForm:
    """Return the first form that claims of a kind can be submitted on."""
    return FORMS[KINDS[ClaimKind(kind)].submitted_on[0]]


def fields_of_forms(path: str) -> frozenset[str]:
    """Return what the forms call the value of a path of the view."""
    return frozenset(field_at(form, path) for form in FORMS.values() if form.has(path))
