"""What a field of a claim is about: the provider, the payer, or the patient and the service; and what was billed.

    field_subject("F33A_BillingProviderNpi")        # FieldSubject.PROVIDER: the same in all claims of a provider
    field_subject("F03_PatientDob")                 # FieldSubject.PATIENT: another one in each claim

A value that is right for one patient or one visit is wrong for the next. A field that the table does not name counts
as one of the patient or the service, so that a new field is never written into several claims at once.

Knows the catalogue; knows no claim.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache

from clearlane.claims.fields import fields_of, nested_parts
from clearlane.claims.forms import FORMS
from clearlane.claims.value_types import ValueType


class FieldSubject(StrEnum):
    """What a field is about."""

    PROVIDER = "provider"
    PAYER = "payer"
    PATIENT = "patient"
    """The patient, the insured, or the service."""


SHARED = frozenset({FieldSubject.PROVIDER, FieldSubject.PAYER})
"""Subjects whose facts are the same in several claims."""
SUBJECT_PREFIXES: Mapping[FieldSubject, tuple[str, ...]] = {
    FieldSubject.PROVIDER: (
        "F33_BillingProvider", "F33A_BillingProvider", "F33B_BillingProvider", "F25_FederalTaxId", "F32_Facility",
        "F32A_Facility", "F32B_Facility", "F24J_", "X12_RendProvider", "X12_RenderingNPI",
        "F23_ClinicalLaboratory", "F23_Mammography",
        "F48_BillingDentist", "F50_BillingDentist", "F51_BillingDentist", "F52_BillingDentist", "F52a_BillingDentist",
        "X12_TINorSSN", "F53_TreatingDentistNPI", "F55_TreatingDentist", "F56a_Dentist", "F58_TreatingDentist",
        "X12_RenderingProv", "X12_LineTreatingDentist", "X12_TreatmantLocation", "F56_Treatment", "X12_Payto",
        "FL01_", "FL02_", "FL05_", "FL56_", "FL57_", "FL81_", "X12_Facility",
        "2000A/", "2010A",
    ),
    FieldSubject.PAYER: ("Svc_PayerId", "F00_Payer", "F03_Payer", "FL38_Payer", "2010BB/"),
}  # fmt: skip
"""The beginnings of the names of fields, and of places in a sender's file. Referring, supervising and ordering providers are chosen for each patient."""
BILLED_TYPES = frozenset(
    {
        ValueType.DIAGNOSIS,
        ValueType.DIAGNOSES,
        ValueType.POINTER,
        ValueType.POINTERS,
        ValueType.PROCEDURE,
        ValueType.MODIFIERS,
        ValueType.NDC,
        ValueType.TOOTH,
        ValueType.AMOUNT,
        ValueType.COUNT,
        ValueType.ADJUSTMENTS,
    }
)
"""Types of values that say what was billed: diagnoses, procedures, modifiers and amounts."""
BILLED_PREFIXES = (
    "F24A_DateOfService", "F24_DateOfService", "X12_ServiceDate", "F18_Hospitalization", "F21_IcdIndicator",
    "F34_Diagnosis", "F25_AreaOfOralCavity", "F28_ToothSurface",
    "FL04_", "FL06_", "FL18_", "FL31_", "FL35_", "FL39_", "FL42_", "FL44_", "FL45_", "FL66_", "FL67_", "FL69_", "FL70_", "FL71_",
    "FL72_", "FL74_", "X12_LastServiceDate",
    "2300/AMT", "2300/CLM02", "2300/DTP", "2300/HI", "2320/AMT", "2320/CAS", "2400/AMT", "2400/DTP", "2400/SV", "2400/TOO",
    "2410/", "2430/",
)  # fmt: skip
"""The beginnings of the names of other fields that say what was billed: days of service, versions of diagnoses; and of places
in a sender's file."""


def field_subject(path: str) -> FieldSubject:
    """Return what the field at a path of a claim is about."""
    name = _name(path)
    for subject, prefixes in SUBJECT_PREFIXES.items():
        if name.startswith(prefixes):
            return subject
    return FieldSubject.PATIENT


def is_shared(path: str) -> bool:
    """Return whether claims of several patients may have one value at a path."""
    return field_subject(path) in SHARED


def is_billed(path: str) -> bool:
    """Return whether the field at a path says what was billed."""
    name = _name(path)
    return name.startswith(BILLED_PREFIXES) or name in _billed_by_type()


def _name(path: str) -> str:
    """Return the name of the field at a path: ``F24_ClaimLines[0].F24F_Charges`` is ``F24F_Charges``."""
    return path.rpartition(".")[2].partition("[")[0]


@cache
def _billed_by_type() -> frozenset[str]:
    return frozenset(
        field.name
        for form in FORMS.values()
        for part in (form.claim, form.line, *nested_parts(form.line).values())
        for field in fields_of(part).values()
        if field.value_type in BILLED_TYPES
    )
