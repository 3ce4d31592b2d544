"""What only institutional claims state: the type of bill, the stay, and the codes of the UB-04.

    view.institutional.bill_type                # "11": facility and classification
    view.institutional.value_codes[0].amount

A claim of another kind has an empty one. Knows no form and no segment of X12.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from clearlane.kernel.redacted_repr import redact_repr


@redact_repr
@dataclass(frozen=True, kw_only=True)
class CodeView:
    """A code of the claim with what belongs to it."""

    code: str
    first_day: date | None = None
    """The day of an occurrence or a procedure, or the first of a span."""
    last_day: date | None = None
    amount: Decimal | None = None
    """What a value code states: an amount, days, a measure."""
    present_on_admission: str | None = None
    """Of a diagnosis: Y, N, U or W."""


@redact_repr
@dataclass(frozen=True, kw_only=True)
class InstitutionalView:
    """What a bill of a hospital, a nursing home or another facility states beside other claims."""

    bill_type: str | None = None
    """Facility and classification, two characters; the third of the type of bill is the claim's frequency."""
    first_day: date | None = None
    """The first day of the statement, and its last."""
    last_day: date | None = None
    admission_time: str | None = None
    """Day of admission or start of care as X12 writes it, with hour and minute if they are stated."""
    discharge_hour: str | None = None
    """Hour and minute."""
    admission_type: str | None = None
    origin: str | None = None
    """Where the patient came from (point of origin)."""
    status: str | None = None
    """Where the patient is at the end of the statement (discharge status)."""
    patient_share: Decimal | None = None
    """What the patient is expected to owe."""
    diagnoses: tuple[CodeView, ...] = ()
    """The principal diagnosis and the others, with what was present on admission."""
    admitting_diagnosis: tuple[CodeView, ...] = ()
    visit_reasons: tuple[CodeView, ...] = ()
    external_causes: tuple[CodeView, ...] = ()
    procedures: tuple[CodeView, ...] = ()
    """ICD procedures with their days; the principal one is first."""
    drg: tuple[CodeView, ...] = ()
    """The diagnosis related group."""
    occurrence_spans: tuple[CodeView, ...] = ()
    occurrences: tuple[CodeView, ...] = ()
    value_codes: tuple[CodeView, ...] = ()
    condition_codes: tuple[CodeView, ...] = ()
    treatment_codes: tuple[CodeView, ...] = ()
    """Treatment authorization codes of home health."""

    def amount_of(self, code: str) -> Decimal | None:
        """Return what the claim states by a value code; None if it does not have it."""
        return next((one.amount for one in self.value_codes if one.code == code), None)
